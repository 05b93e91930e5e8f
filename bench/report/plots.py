"""Pictures of the figures, as small SVG files."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.ticker import EngFormatter, LogLocator

from report.lines import UNREADABLE

__all__ = ["draw_all"]

COLOURS = ("#1f6f8b", "#d1603d", "#7a8b3c", "#6a4c93")
STYLE = {
    "svg.fonttype": "none",  # text stays text: smaller, and can be searched
    "svg.hashsalt": "report",  # the same figures give the same file
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "white",
}
FACTOR = 3  # ratio of the largest to the least value that still fits a linear axis
Series = Mapping[str, Mapping[str, float]]


def draw_all(figures: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Draw the figures that exist; return the file names by benchmark."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {}
    matplotlib.use("svg")
    with plt.rc_context(STYLE):
        for bench, draw in DRAWN.items():
            path = folder / f"{bench}.svg"
            if bench in figures:
                path.unlink(missing_ok=True)
                try:
                    drawn[bench] = saved(draw(figures[bench]), path)
                except UNREADABLE as error:
                    print(f"no picture of {bench}: {type(error).__name__} {error}")
    return drawn


def saved(figure: Any, path: Path) -> str:
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)
    return path.name


def dots(series: Series, label: str) -> Any:
    """Ratios by case, a row each, on a logarithmic axis; 1 is marked."""
    cases = list(dict.fromkeys(case for found in series.values() for case in found))[::-1]
    figure, axes = plt.subplots(figsize=(7.5, 0.9 + 0.19 * len(cases)))
    axes.axvline(1.0, color="#999999", linewidth=1)
    for colour, (name, found) in zip(COLOURS, series.items(), strict=False):
        places = [cases.index(case) for case in found]
        axes.plot(list(found.values()), places, "o", color=colour, markersize=4, label=name)
    axes.set(yticks=range(len(cases)), yticklabels=cases, xlabel=label)
    values = [value for found in series.values() for value in found.values()]
    if max(values) > FACTOR * min(values):
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.minorticks_off()
    axes.xaxis.set_major_formatter("{x:g}")
    axes.grid(axis="y", color="#eeeeee")
    axes.set_axisbelow(True)
    if len(series) > 1:
        columns = len(series) if len(series) < 4 else 2
        axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=columns, frameon=False)
    axes.set_ylim(-0.7, len(cases) - 0.3)
    return figure


def growing(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Costs by sizes, one plot for each quantity that grows, on logarithmic axes."""
    names = list(dict.fromkeys(row["grows"] for row in rows))
    columns = 3
    height = math.ceil(len(names) / columns)
    figure, fields = plt.subplots(height, columns, figsize=(10.5, 3.3 * height))
    for field in fields.flat[len(names) :]:
        field.remove()
    for field, name in zip(fields.flat, names, strict=False):
        for colour, row in zip(COLOURS, [r for r in rows if r["grows"] == name], strict=False):
            what = f"{row['what'].replace('`', '')}: {row['exponents']['ours']:.2f}"
            field.plot(*points(row["ours"]), "o-", color=colour, markersize=3, label=what)
            if "peer" in row:
                field.plot(*points(row["peer"]), ":", color=colour, linewidth=1)
        field.set(xscale="log", yscale="log", title=name)
        field.yaxis.set_major_formatter(EngFormatter(unit="s"))
        least, most = field.get_ylim()
        if most / least < 30:  # a constant cost has to look constant
            middle = math.sqrt(least * most)
            field.set_ylim(middle / 12, middle * 12)
        field.minorticks_off()
        sizes = sorted({int(size) for row in rows if row["grows"] == name for size in row["ours"]})
        if max(sizes) < 10_000:
            field.set_xticks(sizes, map(str, sizes))
        field.legend(
            loc="upper center",
            bbox_to_anchor=(0.45, -0.1),
            fontsize=7.5,
            frameon=False,
        )
    figure.suptitle(
        "time by size; behind each cost its exponent; dotted: the peer", fontsize=9, y=1.005
    )
    figure.tight_layout()
    return figure


def points(found: Mapping[str, Mapping[str, float]]) -> tuple[list[int], list[float]]:
    return [int(size) for size in found], [each["median"] for each in found.values()]


# ---- the data drawn of each benchmark ------------------------------------------------------


def of_python(figures: Any) -> Series:
    rows = figures["kernels"]
    return {
        "never reached": {row["kernel"]: row["never"] for row in rows},
        "reached": {row["kernel"]: row["reached"] for row in rows},
    }


def of_calls(figures: Any) -> Series:
    return {
        f"{arity} argument{'s' if arity == '2' else ''}": {
            name: each["ns"] / figures[arity]["direct call"]["ns"]
            for name, each in figures[arity].items()
        }
        for arity in ("1", "2")
    }


def of_compiled(figures: Any) -> Series:
    found: dict[str, dict[str, float]] = {}
    for row in figures["programs"]:
        program, _, how = row["case"].partition(", ")
        found.setdefault(how, {})[program] = row["ratio"]
    compiling = [row for row in figures["compiling"] if row["case"].startswith("compiling ")]
    names = {row["case"].split()[1].rstrip(","): row["ratio"] for row in compiling}
    programs = next(iter(found.values()), {})
    return {**found, "compile time": {name: names[name] for name in programs if name in names}}


def of_inverses(figures: Any) -> Series:
    series: dict[str, dict[str, float]] = {}
    for title, ours, to in (
        ("A million elements", "ours", "by hand"),
        ("A million elements", "ours", "Oryx, jitted"),
        ("A scalar call", "compiled", "by hand"),
        ("A scalar call", "compiled", "Oryx, jitted"),
    ):
        kind = "10⁶ elements" if ours == "ours" else "a call"
        series[f"{kind}, to {to}"] = {
            program: ways[ours]["median"] / ways[to]["median"]
            for program, ways in figures[title].items()
            if ours in ways and to in ways
        }
    return {name: found for name, found in series.items() if found}


def of_derivatives(figures: Any) -> Series:
    rows = [*figures["rows"], *figures["reverse"]]
    jax = dict(zip((row["case"] for row in figures["rows"]), figures["jax"], strict=True))
    others = {row["case"]: p for row, p in zip(figures["reverse"], figures["peers"], strict=True)}
    jax |= {case: found.get("JAX") for case, found in others.items()}
    series = {
        "ours": {row["case"]: row["ratio"] for row in rows},
        "JAX": {case: ratio for case, ratio in jax.items() if ratio},
        "autograd": {c: found["autograd"] for c, found in others.items() if "autograd" in found},
    }
    return {name: found for name, found in series.items() if found}


DRAWN: dict[str, Callable[[Any], Any]] = {
    "python_engine": lambda figures: dots(of_python(figures), "times native"),
    "dispatch": lambda figures: dots(of_calls(figures), "times a direct call"),
    "compiled_engine": lambda figures: dots(of_compiled(figures), "times njit"),
    "inverses": lambda figures: dots(of_inverses(figures), "times the other"),
    "derivatives": lambda figures: dots(of_derivatives(figures), "times the derivative by hand"),
    "growth": lambda figures: growing(figures["rows"]),
}
