"""The time limit of a search: long computations check it; those that do not are interrupted."""

from __future__ import annotations

import ctypes
import math
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar

from overlay.core.late_binding import is_importing

__all__ = ["OutOfTime", "check_deadline", "limited"]

AGAIN = 1.0
"""Seconds until a computation that did not end is interrupted again."""
SOON = 0.01
"""Seconds until a thread that imports late is looked at again: it is not interrupted meanwhile."""

_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
_end: ContextVar[float] = ContextVar("_end", default=math.inf)


class OutOfTime(BaseException):
    """The time limit has passed. It is a BaseException, so that ``except Exception`` does not catch
    it as a failed trial.
    """


def limited[T](seconds: float, run: Callable[[], T]) -> T:
    """Call a function with a time limit, shortened to the remaining time of an enclosing call.

    Raises OutOfTime in the function, even in Python code that does not check the deadline: loops of
    a relation or of the user's function. Code in C is not interrupted.
    """
    if seconds == math.inf:
        return run()
    token = _end.set(min(_end.get(), time.monotonic() + seconds))
    alarm = _Alarm(seconds)
    is_set, is_late = True, False
    try:
        alarm.start()
        return run()
    # in this frame and not in a context manager, at whose entry the exception could be raised
    finally:
        while is_set:
            try:
                alarm.stop()
                is_set = False
            except OutOfTime:  # raised by this alarm or by an enclosing one before it
                is_late = True
        _end.reset(token)
        if is_late:
            check_deadline()


class _Alarm:
    """A timer that raises OutOfTime in the thread that made it, some seconds after its start.

    It raises repeatedly until it is stopped, because a single exception may be lost, for example in
    a finaliser.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = min(max(seconds, 0.0), threading.TIMEOUT_MAX)
        self._thread_id = threading.get_ident()
        self._target = ctypes.c_ulong(self._thread_id)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Start the timer."""
        self._thread.start()

    def _run(self) -> None:
        wait = self._seconds
        while not self._stopped.wait(wait):
            with self._lock:
                if is_importing(self._thread_id):
                    wait = SOON
                    continue
                if not self._stopped.is_set():
                    _raise_in(self._target, ctypes.py_object(OutOfTime))
            wait = AGAIN

    def stop(self) -> None:
        """Stop the timer; once this returns, it raises no exception."""
        with self._lock:
            self._stopped.set()
        _raise_in(self._target, None)


def check_deadline() -> None:
    """Raise OutOfTime if the deadline has passed."""
    end = _end.get()
    if end != math.inf and time.monotonic() > end:
        raise OutOfTime
