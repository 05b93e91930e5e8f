"""Log records of the engines: noted anywhere, and logged where no lock of ours is held.

A handler is code of the program, which may take locks of its own and call what is overlaid: it runs
in no context, and not while the lock of the tables is held.
"""

from __future__ import annotations

import logging
import threading
from typing import Any, Final

from overlay.core.in_force import outside
from overlay.core.own_builtins import __builtins__

__all__ = ["PYTHON", "noted", "tell"]

PYTHON: Final = logging.getLogger("overlay.python")
"""The logger of the Python engine."""
logging.getLogger("overlay").addHandler(logging.NullHandler())


class _Noted(threading.local):
    """The records that the thread has noted and not logged: level, message and arguments."""

    def __init__(self) -> None:
        self.records: list[tuple[int, str, tuple[Any, ...]]] = []


_noted: Final = _Noted()


def noted(level: int, message: str, *args: Any) -> None:
    """Note a record of the Python engine, which the next ``tell`` of the thread logs."""
    _noted.records.append((level, message, args))


def tell(lock: Any) -> None:
    """Log what the thread has noted, unless it holds the lock: whoever took it tells then."""
    if _noted.records and not lock._is_owned():
        records, _noted.records = _noted.records, []
        for level, message, args in records:
            outside(PYTHON.log, level, message, *args)
