"""The deadline of a search: what takes long looks whether it is over."""

from __future__ import annotations

import math
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["OutOfTime", "check_deadline", "deadline"]

_end: ContextVar[float] = ContextVar("_end", default=math.inf)


class OutOfTime(BaseException):
    """The deadline has passed. No ``except Exception`` on the way takes it for a failed trial."""


@contextmanager
def deadline(seconds: float) -> Generator[None, None, None]:
    """A block that has so many seconds, or what is left of those of a block around it."""
    token = _end.set(min(_end.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _end.reset(token)


def check_deadline() -> None:
    """Raise OutOfTime where the block's seconds are over."""
    end = _end.get()
    if end != math.inf and time.monotonic() > end:
        raise OutOfTime
