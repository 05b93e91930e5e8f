"""A console in a context: ``python -m overlay run`` without a script."""

from __future__ import annotations

import code
from types import CodeType
from typing import Any

from overlay.contexts.context import Context
from overlay.tools.install import Session, sessions

__all__ = ["Console"]


class Console(code.InteractiveConsole):
    """An interactive console that runs each input in the installed contexts."""

    def __init__(self, namespace: dict[str, Any], *contexts: Context) -> None:
        super().__init__(namespace)
        self.session = Session()
        self.session.contexts += contexts

    def runcode(self, code: CodeType) -> None:
        """Run one input in the contexts."""
        with self.session.prepared(code, self.locals) as piece:  # pyright: ignore[reportArgumentType]
            super().runcode(piece)

    def interact(self, banner: str | None = None, exitmsg: str | None = None) -> None:
        """Read and run inputs until end of file."""
        sessions.append(self.session)
        try:
            super().interact(banner, exitmsg)
        finally:
            sessions.remove(self.session)
