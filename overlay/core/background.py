"""Work in the background: values that one thread makes, one after the other.

The thread is a daemon, and lasts as long as there is something to make. The code that it runs
calls ``goes_on`` where the work can be abandoned: at the end of the process, before a fork (the
child would have the thread's locks but not the thread), and where the value is no longer needed.
The parent of a fork starts the work again.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from overlay.core.in_force import outside

__all__ = ["GivenUp", "Later", "goes_on", "rest"]

LOG: Final = logging.getLogger("overlay.compiled")
LONGEST: Final = 30.0
"""The most seconds that the end of a process, and a fork, wait until the work is abandoned."""


class GivenUp(BaseException):
    """Ends a compilation in the background that is abandoned. It is no ``Exception``: code that
    handles errors lets it pass.
    """


class Later[T]:
    """A value that is made once: in the background, or at once by the first thread that asks for
    it.

    make: makes the value. name: of the value, in the log.
    """

    def __init__(self, make: Callable[[], T], name: str) -> None:
        self._make, self._name = make, name
        self._making = threading.RLock()  # held by the thread that makes it
        self._wanted: Callable[[], bool] = bool
        self._has_begun = False
        self._settled = threading.Event()  # made, failed or put off, after the work was started
        self._found: tuple[T] | None = None

    @property
    def is_made(self) -> bool:
        """Whether there is a value."""
        return self._found is not None

    def begin(self, wanted: Callable[[], bool]) -> None:
        """Make the value in the background, unless that was started, or has failed, before.

        wanted: whether the value is still needed.
        """
        if not self._has_begun and not self.is_made:
            self._has_begun, self._wanted = True, wanted
            self._settled.clear()
            _worker.take(self)

    def wait(self) -> None:
        """Wait until the value is made, has failed or was put off."""
        self._settled.wait()

    def now(self) -> T:
        """The value, made here if it is not made yet; if it is being made, this waits. Raises
        what ``make`` raises.
        """
        if self._found is None:
            with self._making:
                if self._found is None:
                    self._found = (self._make(),)
        return self._found[0]

    def made_in_background(self) -> None:
        """Make the value, and log a failure."""
        try:
            if not self.goes_on():
                raise GivenUp
            self.now()
        except GivenUp:
            self.put_off()
            raise
        except Exception as error:
            # a value that cannot be made is no fault of the program, which continues without it
            LOG.warning("not compiled in the background: %s: %s", self._name, error)
            LOG.debug("the failure of %s", self._name, exc_info=True)
        finally:
            self._settled.set()

    def goes_on(self) -> bool:
        """Whether the value is still needed."""
        return self._wanted()

    def put_off(self) -> None:
        """Allow the work to be started again."""
        self._has_begun = False
        self._settled.set()


class _Worker:
    """The thread, and the queue of values to make; the first is in work."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left: deque[weakref.ref[Later[Any]]] = deque()
        self._thread: threading.Thread | None = None
        self._current: Later[Any] | None = None
        self._stops = False
        self._is_registered = False

    def take(self, later: Later[Any]) -> None:
        """Add a value to the queue."""
        with self._lock:
            self._left.append(weakref.ref(later))
        self._start()
        if self._thread is None:  # the process ends, or there are no more threads
            self._leave()

    def _start(self) -> None:
        with self._lock:
            if self._thread is not None or self._stops or not self._left:
                return
            if not self._is_registered:  # late: the function registered last runs first
                self._is_registered = True
                atexit.register(self.stop)
                if hasattr(os, "register_at_fork"):
                    os.register_at_fork(
                        before=self.stop,
                        after_in_parent=self._resume,
                        after_in_child=self._resume_in_child,
                    )
            thread = threading.Thread(target=self._run, name="overlay-background", daemon=True)
            self._thread = thread
            with contextlib.suppress(RuntimeError):  # there are no more threads
                outside(thread.start)
            if thread.ident is None:
                self._thread = None

    def _run(self) -> None:
        while (later := self._next()) is not None:
            with contextlib.suppress(GivenUp):
                later.made_in_background()
            with self._lock:
                self._current = None
                if not self._stops:
                    self._left.popleft()
            del later

    def _next(self) -> Later[Any] | None:
        """The first value that somebody still holds; None at the end of the thread."""
        with self._lock:
            while self._left and not self._stops:
                self._current = self._left[0]()
                if self._current is not None:
                    return self._current
                self._left.popleft()
            self._thread = None
            return None

    def goes_on(self) -> None:
        """Raise GivenUp in the thread where it has to stop, or the value is no longer needed."""
        if threading.current_thread() is not self._thread:
            return
        current = self._current
        if self._stops or (current is not None and not current.goes_on()):
            raise GivenUp

    def rest(self, seconds: float | None = None) -> None:
        """Wait until nothing is left to make, at most so many seconds."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(seconds)

    def stop(self) -> None:
        """Make the thread abandon its work, and wait for its end."""
        if self._thread is not threading.current_thread():
            self._stops = True
            self.rest(LONGEST)

    def _resume(self) -> None:
        self._stops = False
        self._start()
        if self._thread is None:
            self._leave()

    def _resume_in_child(self) -> None:
        """Start without a thread or a queue: values that the child needs as well are started
        again.
        """
        self._lock = threading.Lock()
        self._thread, self._current, self._stops = None, None, False
        self._leave()

    def _leave(self) -> None:
        """Put off all values that are left."""
        while self._left:
            later = self._left.popleft()()
            if later is not None:
                later.put_off()


_worker: Final = _Worker()
goes_on: Final = _worker.goes_on
rest: Final = _worker.rest
