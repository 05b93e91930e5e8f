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
    """Register the magics with an IPython shell, once, and return them."""
    found = shell.__dict__.get("_overlay_magics")
    if found is None:
        found = shell.__dict__["_overlay_magics"] = Magics(shell)
    return found


class Magics:
    """The magics of one IPython shell.

    ``%overlay ctx``: run every later cell in the context. ``%overlay off``: uninstall all contexts.
    ``%overlay``: list the contexts in force. ``%%overlay ctx``, on the first line of a cell: run
    this cell alone in the context.
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
        """``%overlay CONTEXT`` for all later cells, ``%overlay off`` for none, ``%overlay`` to
        show the contexts in force; ``%%overlay CONTEXT`` as the first line for one cell.

        CONTEXT is any expression. Raises OverlayError where it is no context.
        """
        text = line.strip()
        if cell is not None or (text.startswith(_FOR_CELL) and not self._is_first_line):
            raise OverlayError(
                "%%overlay has to be the first line of its cell", help="move it there"
            )
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
    """The lines of a cell with a leading ``%%overlay ctx`` rewritten to a line magic. The rest of
    the cell stays ordinary code: it may use ``await``, and its line numbers stay."""
    found = _CELL.fullmatch(lines[0].rstrip()) if lines else None
    return [f"%overlay {_FOR_CELL}{found[1]}\n", *lines[1:]] if found else lines
