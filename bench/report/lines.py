"""The lines of the report: text, limit, and measurement of each."""

import statistics
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common.rows import duration

from report.measures import MEASURES, Cases

__all__ = [
    *("MISSED", "REACHED", "UNKNOWN", "UNREADABLE", "WITHIN"),
    *("Found", "Line", "found", "lines", "shown"),
]

REACHED, WITHIN, MISSED, UNKNOWN = "reached", "within spread", "MISSED", "not measured"
UNREADABLE = (LookupError, TypeError, ValueError, ArithmeticError)  # raised by incomplete figures
LEAST_SPREAD = 0.02  # difference of two runs of the same code on an idle machine
MOST_SPREAD = 0.1  # limit on the spread that excuses a figure
UNMEASURED_SPREAD = 0.1  # assumed spread of a figure that is measured once in a run


@dataclass(frozen=True)
class Line:
    """One line of lines.toml, which documents the fields."""

    name: str
    part: str
    text: str
    bench: str
    measure: str
    only: tuple[str, ...] = ()
    take: str = "worst"
    unit: str = "times"
    asked: str = ""
    more: bool = False
    noise: float = 0.0
    missing: str = ""

    def __post_init__(self) -> None:
        if self.take not in TAKEN or self.unit not in SHOWN:
            raise ValueError(f"{self.name}: no such take or unit")
        if (self.bench, self.measure) not in MEASURES:
            raise ValueError(f"{self.name}: no measure {self.measure!r} of {self.bench!r}")

    @property
    def limit(self) -> float | None:
        """The limit, as a number."""
        return float(self.asked.split()[-1]) if self.asked else None

    @property
    def asked_shown(self) -> str:
        kind = self.asked.rpartition(" ")[0]
        return f"{kind} {shown(self.limit, self.unit)}" if self.limit is not None else "-"

    def verdict(self, found: "Found | str") -> str:
        """The comparison of a measurement with its limit: REACHED, WITHIN, MISSED or UNKNOWN."""
        if isinstance(found, str) or self.limit is None:
            return UNKNOWN
        sign = -1 if self.more else 1
        beyond = sign * (found.value - self.limit) - self.noise
        if beyond <= 0:
            return REACHED
        return WITHIN if beyond <= min(found.spread, MOST_SPREAD) * found.value else MISSED


@dataclass(frozen=True)
class Found:
    """value: aggregated from the cases. least, most: of these. spread: relative to the value."""

    value: float
    least: float
    most: float
    spread: float
    cases: int

    @property
    def noise(self) -> float:
        """The expected variation of a figure like this one between runs."""
        return max(self.spread, LEAST_SPREAD) if self.spread else UNMEASURED_SPREAD

    def worse_than(self, before: "Found", more: bool) -> bool:
        """Whether the value got worse by more than the noise of either."""
        share = max(self.noise, before.noise)
        if more:
            return self.value < before.value * (1 - share)
        return self.value > before.value * (1 + share)


def lines() -> list[Line]:
    """All lines, in order. Raises ValueError for an invalid one."""
    read = tomllib.loads(Path(__file__).with_name("lines.toml").read_text())
    return [
        Line(name, **{k: tuple(v) if isinstance(v, list) else v for k, v in fields.items()})
        for name, fields in read.items()
    ]


def found(line: Line, figures: Mapping[str, Mapping[str, Any]]) -> Found | str:
    """The measurement in the benchmarks' figures, or the reason why there is none."""
    if line.bench not in figures:
        return f"{UNKNOWN}: {line.missing}" if line.missing else UNKNOWN
    try:
        cases = MEASURES[line.bench, line.measure](figures[line.bench])
    except KeyError:
        return f"{UNKNOWN} in the last run"
    except UNREADABLE as error:
        return f"{UNKNOWN}: {type(error).__name__} {error}"
    if line.only:
        cases = {name: cases[name] for name in line.only if name in cases}
    if not cases:
        return f"{UNKNOWN}: what it is made of is not there"
    values = [value for value, _ in cases.values()]
    value = TAKEN[line.take](values, line.more)
    return Found(value, min(values), max(values), spread(line, value, cases), len(values))


def spread(line: Line, value: float, cases: Cases) -> float:
    """The spread of the case that has the value, or the median spread of the cases."""
    alone = [each for at, each in cases.values() if at == value]
    return alone[0] if alone else statistics.median(each for _, each in cases.values())


TAKEN: dict[str, Callable[[list[float], bool], float]] = {
    "worst": lambda values, more: min(values) if more else max(values),
    "mean": lambda values, _: statistics.geometric_mean(values),
    "sum": lambda values, _: sum(values),
}


def times(value: float) -> str:
    """A ratio as text."""
    for most, digits in ((10, 2), (100, 1)):
        if abs(value) < most:
            return f"{value:.{digits}f}"
    return f"{value:,.0f}"


SHOWN: dict[str, Callable[[float], str]] = {
    "times": times,
    "seconds": lambda value: f"{value / 60:.0f} min" if value >= 100 else duration(value),
    "count": lambda value: f"{value:,.0f}",
    "bytes": lambda value: f"{value:.3g} bytes",
    "megabytes": lambda value: f"{value:.1f} MB",
    "share": lambda value: f"{value:.1%}",
    "exponent": lambda value: f"{value:.2f}",
}


def shown(value: float, unit: str) -> str:
    """A figure in this unit as text."""
    return SHOWN[unit](value)
