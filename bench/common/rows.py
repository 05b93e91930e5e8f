"""Comparisons against their limits."""

from dataclasses import asdict, dataclass
from typing import Any

from common.timing import median_ratio, ratio_spread, table

__all__ = ["NOISE", "Row", "compared", "duration", "growth", "shown"]

NOISE = 0.02  # difference of two runs of the same code on an idle machine


@dataclass(frozen=True)
class Row:
    """One comparison.

    njit, ours: seconds of the fastest runs. asked: the limit on the ratio, or None. noise: the
    difference of two equal programs, or the spread of the runs. median, spread: of the rounds'
    ratios. instructions: of njit and ours. same_instructions: whether these are equal. additional:
    the instructions beyond those in a context without tables, or None. wrappers: instructions of
    the wrappers for Python. size: the quantity that grows in a series, or None.
    """

    case: str
    njit: float
    ours: float
    asked: float | None = None
    noise: float = 0.0
    instructions: tuple[int, int] | None = None
    same_instructions: bool | None = None
    additional: int | None = None
    wrappers: tuple[int, int] | None = None
    size: int | None = None
    median: float | None = None
    spread: float = 0.0

    @property
    def ratio(self) -> float:
        return self.ours / self.njit

    @property
    def verdict(self) -> str:
        """Whether the ratio is within its limit; for a limit of 1, up to the noise."""
        if self.asked is None:
            return "-"
        sure = self.asked + (NOISE if self.asked == 1.0 else 0.0)
        if self.ratio <= sure:
            return f"at most {self.asked:.2f}: reached"
        if self.asked == 1.0 and self.ratio <= 1.0 + self.noise:
            return f"at most {self.asked:.2f}: reached within noise"
        return f"at most {self.asked:.2f}: MISSED"


def compared(
    case: str,
    taken: dict[str, list[float]],
    to: str,
    ours: str = "ours",
    each: int = 1,
    **more: Any,
) -> Row:
    """The row of alternating measurements. each: the number of repetitions in a run."""
    fastest = min(taken[to]) / each, min(taken[ours]) / each
    median, spread = median_ratio(taken, ours, to), ratio_spread(taken, ours, to)
    return Row(case, *fastest, median=median, spread=spread, **more)


HEAD = ("case", "njit", "ours", "ratio", "noise", "instructions", "asked")


def cells(row: Row) -> tuple[str, ...]:
    counts = "-"
    if row.instructions:
        counts = "{} / {}".format(*row.instructions)
        if row.same_instructions:
            counts = f"{row.instructions[0]}, the same"
    times = (duration(row.njit), duration(row.ours), f"{row.ratio:.3f}", f"{row.noise:.1%}")
    return (row.case, *times, counts, row.verdict)


def duration(value: float) -> str:
    """Seconds as text, in a suitable unit, with three digits."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(value) >= size:
            number = value / size
            return f"{number:.3g} {unit}" if abs(number) < 999.5 else f"{number:,.0f} {unit}"
    return f"{value * 1e9:.0f} ns"


def shown(rows: list[Row]) -> list[dict[str, Any]]:
    """Print rows, and return them in a form for JSON."""
    print(table([HEAD, *map(cells, rows)]), flush=True)
    return [{**asdict(row), "ratio": row.ratio, "verdict": row.verdict} for row in rows]


def growth(what: str, rows: list[Row]) -> None:
    """Print the cost of one more in a series, from its first row to its last."""
    first, last = rows[0], rows[-1]
    more = (last.size or 0) - (first.size or 0)
    ours, njit = (last.ours - first.ours) / more, (last.njit - first.njit) / more
    print(f"{what}: {duration(ours)} for each more (njit {duration(njit)})")
