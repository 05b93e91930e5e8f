"""Figures that other pages quote from the report: links to its lines, with numbers in their text.

``[1.39](report.md#python-never)`` quotes the line's figure, ``[1.1 to 1.4](...)`` the least and the
most of its cases. A quote has the precision of its digits, in the unit after the number.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Figure", "Quote", "quotes", "renewed"]

LINK = re.compile(r"\[([^\]\n]*)\]\(((?:docs/|\.\./)?report\.md)#([\w-]+)\)")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "%": 1e-2}
UNIT = re.compile(r"(?<=\d) ?(ns|µs|ms|%)")


@dataclass(frozen=True)
class Figure:
    """The figure of a line, and the least and the most of its cases."""

    value: float
    least: float
    most: float


@dataclass(frozen=True)
class Quote:
    """One link. line: its target. stands, right: its present text, and the right one."""

    page: Path
    line: str
    stands: str
    right: str


def quotes(pages: list[Path], figures: Mapping[str, Figure]) -> Iterator[Quote]:
    """All links to lines of the report; for a line without a figure the text counts as right."""
    for page in pages:
        for text, _, line in LINK.findall(page.read_text()):
            yield Quote(page, line, text, requoted(text, figures.get(line)))


def renewed(page: str, figures: Mapping[str, Figure]) -> str:
    """The page with corrected quotes."""

    def link(found: re.Match[str]) -> str:
        text, path, line = found.groups()
        return f"[{requoted(text, figures.get(line))}]({path}#{line})"

    return LINK.sub(link, page)


def requoted(text: str, figure: Figure | None) -> str:
    """The text of a link with the figure in it, or unchanged where it quotes none."""
    count = len(NUMBER.findall(text))
    if figure is None or count not in (1, 2):
        return text
    values = iter([figure.value] if count == 1 else [figure.least, figure.most])
    unit = UNIT.search(text)
    size = UNITS[unit[1]] if unit else 1.0
    return NUMBER.sub(lambda found: as_exact_as(found[0], next(values) / size), text)


def as_exact_as(number: str, value: float) -> str:
    """The value with as many digits after the point as a number has."""
    return f"{value:,.{len(number.partition('.')[2])}f}"
