"""Text for terminals and files: lines with others below them, a tree in a terminal, and rows, a
table in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from overlay.core.own_builtins import __builtins__

if TYPE_CHECKING:
    from rich.table import Table
    from rich.tree import Tree

__all__ = ["Outline", "Rows"]


class Outline(NamedTuple):
    """A line of text, and the outlines below it. ``str`` gives it with indents; rich prints it as a
    tree, as wide as the terminal.

    >>> print(Outline("animals", (Outline("birds", (Outline("owl"),)), Outline("fish"))))
    animals
      birds
        owl
      fish
    """

    text: str
    below: tuple[Outline, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self._lines(""))

    def _lines(self, indent: str) -> Iterator[str]:
        yield f"{indent}{self.text}"
        for each in self.below:
            yield from each._lines(f"{indent}  ")

    def __rich__(self) -> Tree:
        from rich.highlighter import ReprHighlighter
        from rich.text import Text
        from rich.tree import Tree

        def filled(tree: Tree, outline: Outline) -> Tree:
            for each in outline.below:
                filled(tree.add(shown(each.text)), each)
            return tree

        shown = ReprHighlighter()
        return filled(Tree(shown(Text(self.text)), guide_style="dim"), self)


class Rows(NamedTuple):
    """Rows of text under a title. ``str`` gives a line for each; rich prints them as a table, as
    wide as the terminal, without the columns that are empty.

    between: what stands between the cells after the first in a line of text.

    >>> rows = ("owl", "2 times", "barn"), ("kite", "", "")
    >>> print(Rows("birds", ("name", "seen", "place"), rows))
    owl: 2 times   barn
    kite
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    between: str = "   "

    def __str__(self) -> str:
        lines = ((first, self.between.join(filter(None, others))) for first, *others in self.rows)
        return "\n".join(": ".join(filter(None, line)) for line in lines)

    def __rich__(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(self.title), title_justify="left")
        used = [i for i in range(len(self.columns)) if any(row[i] for row in self.rows)]
        for i in used:
            table.add_column(Text(self.columns[i]), overflow="fold")
        for row in self.rows:
            table.add_row(*(Text(row[i]) for i in used))
        return table
