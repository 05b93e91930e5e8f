"""Who makes calls beside the program: threads, and processes that are kept."""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from overlay.interpretations.parallel.shipping import call_all, unpacked

__all__ = ["Results", "begin", "in_processes", "in_threads", "serve"]

Results = tuple[int, list[Any]]
"""Who made some calls, and what each gave, alone in a tuple; None for one that raised."""

_BEGIN = "from overlay.interpretations.parallel.workers import serve; serve()"
_lock = threading.Lock()
_pools: dict[str, ThreadPoolExecutor] = {}


def _pool(kind: str, count: int) -> ThreadPoolExecutor:
    with _lock:
        key = f"{kind} {count}"
        if key not in _pools:
            _pools[key] = ThreadPoolExecutor(count, thread_name_prefix=f"parallel-{kind}")
        return _pools[key]


# ---- threads ----------------------------------------------------------------------------------


def in_threads(count: int, function: Callable[..., Any], calls: list[Any]) -> Future[Results]:
    """Calls of a function, in a thread."""

    def run() -> Results:
        found: list[Any] = []
        for args, kwargs in calls:
            try:
                found.append((function(*args, **kwargs),))
            except Exception:  # the program makes the call again, and raises it itself
                found.append(None)
        return threading.get_ident(), found

    return _pool("threads", count).submit(run)


# ---- processes --------------------------------------------------------------------------------


class _Process:
    """A process that makes calls, one message at a time."""

    def __init__(self) -> None:
        path = os.pathsep.join(each or os.getcwd() for each in sys.path)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _BEGIN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
        )
        self.known: set[int] = set()
        self.is_ready = threading.Event()
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        """Wait until it can be asked, which takes as long as to import numpy."""
        assert self.process.stdout is not None
        with contextlib.suppress(EOFError, OSError, ValueError):
            _received(self.process.stdout)
            _idle.put(self)
        self.is_ready.set()

    def ask(
        self, number: int, function: bytes, calls: list[Any], errors: dict[str, str]
    ) -> Results:
        """What calls of a function give, which is sent once. number: what it is known by.
        errors: what numpy does about events in floating-point arithmetic."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        sent = None if number in self.known else function
        self.known.add(number)
        _send(self.process.stdin, (number, sent, calls, errors))
        return self.process.pid, _received(self.process.stdout)

    def end(self) -> None:
        with contextlib.suppress(OSError):
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            self.process.stdin.close()
            self.process.stdout.close()
        self.process.wait(5)
        self.is_ready.set()


_idle: queue.SimpleQueue[_Process] = queue.SimpleQueue()
_processes: list[_Process] = []


def begin(count: int, *, wait: bool = False) -> bool:
    """Begin processes, if there are not as many; whether one can be asked."""
    with _lock:
        _processes[:] = [each for each in _processes if each.process.poll() is None]
        while len(_processes) < count:
            _processes.append(_Process())
        begun = list(_processes)
    if wait:
        for each in begun:
            each.is_ready.wait()
    return any(each.is_ready.is_set() for each in begun)


def in_processes(count: int, number: int, function: bytes, calls: list[Any]) -> Future[Results]:
    """Calls of a function that was packed, in a process: those that ``begin`` began."""
    errors = {k: "ignore" if v == "ignore" else "raise" for k, v in np.geterr().items()}

    def run() -> Results:
        process = _idle.get(timeout=60)
        found = process.ask(number, function, calls, errors)
        _idle.put(process)  # not where it has ended
        return found

    return _pool("processes", count).submit(run)


def serve() -> None:
    """Make calls that come on the standard input, until it ends."""
    come, go = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a call prints does not come between
    functions: dict[int, Any] = {}
    _send(go, None)
    while True:
        try:
            number, function, calls, errors = _received(come)
        except EOFError:
            return
        if function is not None:
            functions[number] = unpacked(pickle.loads(function))
        _send(go, call_all(functions[number], calls, errors))


def _send(stream: Any, message: Any) -> None:
    data = pickle.dumps(message, protocol=5)
    stream.write(struct.pack("<Q", len(data)))
    stream.write(data)
    stream.flush()


def _received(stream: Any) -> Any:
    head = stream.read(8)
    if len(head) < 8:
        raise EOFError
    return pickle.loads(stream.read(struct.unpack("<Q", head)[0]))


@atexit.register
def end() -> None:
    """End what was begun: the next call begins anew."""
    with _lock:
        for pool in _pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
        _pools.clear()
        while _processes:
            _processes.pop().end()
        while not _idle.empty():
            _idle.get()
