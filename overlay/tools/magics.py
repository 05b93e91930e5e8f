"""``%overlay`` and ``%%overlay``: contexts for the cells of a notebook."""

from __future__ import annotations

import re
from typing import Any

from overlay.contexts.context import Context
from overlay.core.errors import OverlayError
from overlay.tools.install import Installed, install

__all__ = ["Magics", "load"]

_CELL = re.compile(r"%%overlay[ \t]+(\S.*?)[ \t]*")
_FOR_CELL = "--cell "


def load(shell: Any) -> Magics:
    """Add the magics to an IPython shell; a second time it gives those that are there."""
    found = shell.__dict__.get("_overlay_magics")
    if found is None:
        found = shell.__dict__["_overlay_magics"] = Magics(shell)
    return found


class Magics:
    """The magics of one IPython shell.

    ``%overlay ctx``: every later cell runs in the context. ``%overlay off``: none does any more.
    ``%overlay``: what is in force. ``%%overlay ctx``, the first line of a cell: the cell alone.
    """

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.installed: list[Installed] = []
        self.of_cell: list[Installed] = []
        self.cell = ""
        shell.input_transformers_cleanup.append(first_line_as_statement)
        shell.register_magic_function(self.overlay, "line_cell", "overlay")
        shell.events.register("pre_run_cell", self._before)
        shell.events.register("post_run_cell", self._after)

    def overlay(self, line: str, cell: str | None = None) -> Any:
        """``%overlay CONTEXT`` for all later cells, ``%overlay off`` for none, ``%overlay`` to see
        what is in force; ``%%overlay CONTEXT`` as the first line for one cell.

        CONTEXT is any expression. Raises OverlayError where it is no context.
        """
        text = line.strip()
        if cell is not None or (text.startswith(_FOR_CELL) and not self._is_first_line):
            raise OverlayError("%%overlay has to be the first line of its cell")
        if not text:
            return [handle.context for handle in (*self.installed, *self.of_cell)]
        if text == "off":
            self._remove(self.installed)
            return None
        held = self.of_cell if text.startswith(_FOR_CELL) else self.installed
        held.append(install(self._context(text.removeprefix(_FOR_CELL))))
        return None

    @property
    def _is_first_line(self) -> bool:
        return self.cell.lstrip().startswith("%%overlay")

    def _context(self, text: str) -> Context:
        found = eval(text, self.shell.user_ns)
        if not isinstance(found, Context):
            raise OverlayError(
                f"{text} is no context: {found!r}", help="%overlay takes a Context, or `off`"
            )
        return found

    def _before(self, info: Any) -> None:
        self.cell = info.raw_cell or ""

    def _after(self, result: Any) -> None:
        self._remove(self.of_cell)

    def _remove(self, handles: list[Installed]) -> None:
        while handles:
            handles.pop().remove()


def first_line_as_statement(lines: list[str]) -> list[str]:
    """The lines of a cell, ``%%overlay ctx`` at its top as a magic for one line: what follows are
    statements of the cell like any others, which may await, and keep their line numbers."""
    found = _CELL.fullmatch(lines[0].rstrip()) if lines else None
    return [f"%overlay {_FOR_CELL}{found[1]}\n", *lines[1:]] if found else lines
