"""Pictures of the gallery of contexts.

A function for each program that has a picture, with the program's name: it draws the program's
values into axes, and its docstring is the alternative text.
"""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.patches import Rectangle

STYLE = [
    Path(__file__).with_name("pictures.mplstyle"),
    {"svg.fonttype": "none", "svg.hashsalt": "contexts"},  # equal pictures are equal files
]


def call_tree(p: dict[str, Any], axes: Any) -> None:
    """A tree of calls from left to right: area calls perimeter, product and math.sqrt; below
    product are three calls of abs and one of math.prod."""
    row, last = 0, dict[int, int]()
    for depth, call in p["found"].walk():
        if depth:
            x, y = depth - 0.97, -last[depth - 1]
            axes.plot([x, x, depth - 0.03], [y - 0.3, -row, -row], color="C5", linewidth=1)
        axes.text(depth, -row, f"{call.name} \u2192 {call.result}", va="center", color="C0")
        last[depth] = row
        row += 1
    axes.set(xlim=(-0.1, 3.4), ylim=(-row + 0.4, 0.6))
    axes.axis("off")


def calls_profiled(p: dict[str, Any], axes: Any) -> None:
    """Bars of how often a function was called with floats, with integers and with fractions:
    20, 10 and 6 times."""
    rows = sorted(p["found"].of("term"), key=lambda row: row.calls)
    bars = axes.barh([str(row) for row in rows], [row.calls for row in rows], height=0.6)
    axes.bar_label(bars, padding=3)
    axes.set(xlabel="calls", xticks=range(0, 25, 5))


def fast_sine(p: dict[str, Any], axes: Any) -> None:
    """The sine over one half period, and the cubic that stands in its place in the context: they
    part where the argument is above one."""
    x = np.linspace(0, np.pi, 100)
    axes.plot(x, np.sin(x), label="outside: math.sin")
    axes.plot(x, [p["Context"](p["table"])(p["waves"], a) / 3 for a in x], label="in the context")
    axes.set(xlabel="x", ylabel="what math.sin(x) gives")
    axes.legend()


def nested_derivatives(p: dict[str, Any], axes: Any) -> None:
    """A wave in a bell, with its first and its second derivative."""
    x = np.linspace(-3, 3, 200)
    for order, f in enumerate(p["orders"]):
        label = ("the wave", "its slope", "its curvature")[order]
        axes.plot(x, [f(float(a)) for a in x], label=label)
    axes.set(xlabel="x")
    axes.legend()


def intervals(p: dict[str, Any], axes: Any) -> None:
    """A wave in a bell, and boxes that enclose it: 16 wide ones, and 64 that are much closer to
    the curve."""
    for pieces, colour in ((16, "C1"), (64, "C2")):
        for piece in p["everywhere"].split(pieces):
            found = p["enclose"](p["wave"], piece)
            corner, size = (piece.low, found.low), (piece.width, found.width)
            label = f"{pieces} pieces" if piece.low == p["everywhere"].low else None
            axes.add_patch(Rectangle(corner, *size, color=colour, alpha=0.35, lw=0, label=label))
    x = np.linspace(-2, 2, 300)
    axes.plot(x, [p["wave"](a) for a in x], color="C0")
    axes.set(xlabel="x")
    axes.legend()


def constraints_contracted(p: dict[str, Any], axes: Any) -> None:
    """A ring of boxes: those of which each point is a solution are filled, those at the border
    that may hold some are outlined."""
    for boxes, style in (
        (p["cover"].inner, {"facecolor": "C2", "alpha": 0.5, "label": "solutions alone"}),
        (p["cover"].boundary, {"facecolor": "none", "edgecolor": "C1", "label": "may hold some"}),
    ):
        for x, y in boxes:
            axes.add_patch(Rectangle((x.low, y.low), x.width, y.width, lw=0.6, **style))
            style.pop("label", None)
    axes.set(aspect="equal", xlim=(-2.3, 2.3), ylim=(-2.3, 2.3), xlabel="x", ylabel="y")
    axes.legend(bbox_to_anchor=(1.02, 1), loc="upper left")


def digits_that_rounding_leaves(p: dict[str, Any], axes: Any) -> None:
    """Significant digits over x, from 1 down to a ten-millionth: of the formula with the cosine
    they fall from sixteen to two, of the rewritten one they all stay."""
    x = [10.0 ** (-k / 2) for k in range(15)]
    for label, f in (("1 - cos(x)", p["written"]), ("2 sin(x/2)\u00b2", p["rewritten"])):
        axes.plot(x, [max(p["digits"](f, a), 0.0) for a in x], "o-", label=label)
    axes.set(xscale="log", xlabel="x", ylabel="significant digits")
    axes.legend()
