"""The deadline of a search: what takes long looks whether it is over, and is broken off if not."""

from __future__ import annotations

import ctypes
import math
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar

__all__ = ["OutOfTime", "check_deadline", "limited"]

AGAIN = 1.0
"""Seconds after which what has not ended is broken off once more."""

_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
_end: ContextVar[float] = ContextVar("_end", default=math.inf)


class OutOfTime(BaseException):
    """The deadline has passed. No ``except Exception`` on the way takes it for a failed trial."""


def limited[T](seconds: float, run: Callable[[], T]) -> T:
    """Call a function that has so many seconds, or what is left of those of a call around it.

    Raises OutOfTime in it, also where it runs Python code that does not look: a loop of a relation
    or of the user's function. Code in C is waited for.
    """
    if seconds == math.inf:
        return run()
    token = _end.set(min(_end.get(), time.monotonic() + seconds))
    alarm = _Alarm(seconds)
    is_set, is_late = True, False
    try:
        alarm.start()
        return run()
    finally:  # in this frame, and in no context manager's: it may go off where such a one begins
        while is_set:
            try:
                alarm.stop()
                is_set = False
            except OutOfTime:  # it, or that of a call around, went off on the way here
                is_late = True
        _end.reset(token)
        if is_late:
            check_deadline()


class _Alarm:
    """Raises OutOfTime in the thread that has made it, some seconds after its start, and again
    where that is lost, as in a finaliser, until it is stopped."""

    def __init__(self, seconds: float) -> None:
        self._seconds = min(max(seconds, 0.0), threading.TIMEOUT_MAX)
        self._target = ctypes.c_ulong(threading.get_ident())
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """The seconds begin."""
        self._thread.start()

    def _run(self) -> None:
        wait = self._seconds
        while not self._stopped.wait(wait):
            with self._lock:
                if not self._stopped.is_set():
                    _raise_in(self._target, ctypes.py_object(OutOfTime))
            wait = AGAIN

    def stop(self) -> None:
        """Nothing is raised once this has returned."""
        with self._lock:
            self._stopped.set()
        _raise_in(self._target, None)


def check_deadline() -> None:
    """Raise OutOfTime where the seconds are over."""
    end = _end.get()
    if end != math.inf and time.monotonic() > end:
        raise OutOfTime
