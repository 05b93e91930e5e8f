"""Workers that make calls concurrently with the program: threads, and persistent processes."""

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
"""The id of a worker, and the results of its calls, each in a tuple of one; None for a call that
raised."""

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
    """Make calls of a function in a thread."""

    def run() -> Results:
        found: list[Any] = []
        for args, kwargs in calls:
            try:
                found.append((function(*args, **kwargs),))
            except Exception:  # the program repeats the call, and raises the error itself
                found.append(None)
        return threading.get_ident(), found

    return _pool("threads", count).submit(run)


# ---- processes --------------------------------------------------------------------------------


class _Process:
    """A worker process, which handles one message at a time."""

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
        """Wait until the process is ready, which takes as long as importing numpy."""
        assert self.process.stdout is not None
        with contextlib.suppress(EOFError, OSError, ValueError):
            _received(self.process.stdout)
            _idle.put(self)
        self.is_ready.set()

    def ask(
        self, number: int, function: bytes, calls: list[Any], errors: dict[str, str]
    ) -> Results:
        """The results of calls of a function, which is sent once. number: its id. errors: numpy's
        handling of floating-point errors."""
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
    """Start worker processes up to ``count``, and return whether one is ready."""
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
    """Make calls of a packed function in one of the processes started by ``begin``."""
    errors = {k: "ignore" if v == "ignore" else "raise" for k, v in np.geterr().items()}

    def run() -> Results:
        process = _idle.get(timeout=60)
        found = process.ask(number, function, calls, errors)
        _idle.put(process)  # skipped if the process has ended: ask raises
        return found

    return _pool("processes", count).submit(run)


def serve() -> None:
    """Make calls received on standard input, until end of file."""
    come, go = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of calls goes to stderr, not between messages
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
    """Shut down all workers; the next call starts new ones."""
    with _lock:
        for pool in _pools.values():
            pool.shutdown(wait=False, cancel_futures=True)
        _pools.clear()
        while _processes:
            _processes.pop().end()
        while not _idle.empty():
            _idle.get()
