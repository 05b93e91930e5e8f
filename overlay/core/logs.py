"""Log records of the engines: noted anywhere, and logged where no lock of ours is held.

A handler is code of the program, which may take locks and call overlaid functions. So it runs in
no context, and never while the lock of the tables is held.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Final

from overlay.core.in_force import natively, outside
from overlay.core.own_builtins import __builtins__

__all__ = ["DEBUG", "INFO", "noted", "tell", "timed"]

DEBUG, INFO = 10, 20
"""The levels, as ``logging`` numbers them. ``logging`` takes long to import, and where the
program has not imported it there is no handler.
"""

Record = tuple[int, Callable[[], tuple[Any, ...]]]


class _PendingRecords(threading.local):
    """The records that the thread has noted and not logged: the level, and a function that makes
    the message and its arguments.
    """

    def __init__(self) -> None:
        self.records: list[Record] = []


_noted: Final = _PendingRecords()


def noted(level: int, made: Callable[[], tuple[Any, ...]]) -> None:
    """Note a record of the Python engine, which the next ``tell`` of the thread logs."""
    _noted.records.append((level, made))


def tell(lock: Any) -> None:
    """Log what the thread has noted, unless it holds the lock: the holder calls this later."""
    if _noted.records and not lock._is_owned():
        records, _noted.records = _noted.records, []
        if "logging" in sys.modules:
            outside(_log, records)


def _log(records: list[Record]) -> None:
    logger = sys.modules["logging"].getLogger("overlay.python")
    for level, made in records:
        if logger.isEnabledFor(level):
            logger.log(level, *made())


@contextmanager
def timed(logger: str, what: str) -> Generator[None]:
    """Log, at INFO, that the block begins, and the time that it took or the error that ended it.

    logger: its name. what: the work of the block.
    """
    logging = sys.modules.get("logging")
    if logging is None or not natively(logging.getLogger, logger).isEnabledFor(INFO):
        yield
        return
    begun, ending = natively(time.perf_counter), ""
    outside(_told, logger, f"{what} ...")
    try:
        yield
    except BaseException as error:
        ending = f", ended by {type(error).__name__}"
        raise
    finally:
        seconds = natively(time.perf_counter) - begun
        outside(_told, logger, f"{what}: {seconds:.3f} s{ending}")


def _told(logger: str, message: str) -> None:
    sys.modules["logging"].getLogger(logger).info("%s", message)
