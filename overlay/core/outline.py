"""Lines of text with others below them: indented as text, a tree in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from overlay.core.own_builtins import __builtins__

if TYPE_CHECKING:
    from rich.tree import Tree

__all__ = ["Outline"]


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
