"""The Python engine of a stack of contexts, where this Python has one."""

from __future__ import annotations

import functools
import hashlib
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from overlay import _native
from overlay.code.versions import TESTED, is_readable, require_interceptable
from overlay.core.cache_folder import Folder
from overlay.core.errors import UnsupportedPython
from overlay.core.in_force import outside
from overlay.core.own_builtins import __builtins__

if TYPE_CHECKING:
    from overlay.contexts.stack import Stack
    from overlay.python.interception import InterceptingEngine

__all__ = ["can_intercept", "engine_for", "self_test_fault"]

_LONGEST = 120  # seconds that the self-test may take


def engine_for(stack: Stack) -> InterceptingEngine:
    """Return a new engine for a stack. Raises UnsupportedPython where this Python has none for
    these tables."""
    require_interceptable()
    if _native.intercept is None:
        raise _without_extension()
    if (fault := self_test_fault()) is not None:
        raise _not_as_expected(fault)
    from overlay.python.interception import InterceptingEngine, not_all, obstacles

    found = obstacles(stack)
    if found:
        raise not_all(found)
    return InterceptingEngine(stack)


def can_intercept() -> bool:
    """Whether this Python has an engine."""
    return _native.intercept is not None and is_readable() and self_test_fault() is None


@functools.cache
def self_test_fault() -> str | None:
    """The fault found where targets are intercepted on this Python; None if there is none.

    A release that the project's own tests have not run on is tested once, in a separate process,
    since a fault there may kill the process. The verdict is stored on disk.
    """
    if sys.version_info[:3] in TESTED:
        return None
    tested = Path(_native.intercept.__file__).read_bytes(), sys.version.encode()
    key = hashlib.sha256(b"\0".join((b"self-test", *tested))).hexdigest()
    folder = Folder.of()
    safe = folder.is_safe()
    if safe and any(folder.entries(key)):
        return None
    fault = outside(_tested_apart)
    if safe and fault is None:
        folder.put(key, "passed", sys.version.encode(), b"")
    return fault


def _tested_apart() -> str | None:
    """Run the self-test in another process; return its fault, if any."""
    program = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        "from overlay.python import self_test; self_test.main()"
    )
    try:
        ran = subprocess.run(
            [sys.executable, "-c", program],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_LONGEST,
        )
    except subprocess.TimeoutExpired:
        return f"it does not end in {_LONGEST} seconds"
    except OSError as error:
        return f"no process can be started: {error}"
    if ran.returncode == 0:
        return None
    at = (ran.stdout.split("\n")[:-1] or ["before the first kind"])[-1]
    said = ran.stderr.strip().split("\n")[-1]
    if ran.returncode < 0:
        said = f"the process ended by signal {-ran.returncode}"
    return f"{at}: {said}"


def _without_extension() -> UnsupportedPython:
    return UnsupportedPython(
        "overlays in ordinary code, ctx(f), need the C part of overlay, which is not installed",
        notes=[("overlay._native", _native.why_not or "")],
        help="install overlay from a wheel, or from source with a C compiler and Python's headers; "
        "or compile with ctx.jit, or declare functions generic",
    )


def _not_as_expected(fault: str) -> UnsupportedPython:
    version = ".".join(map(str, sys.version_info[:3]))
    return UnsupportedPython(
        f"overlays in ordinary code, ctx(f), do not work on Python {version}, which is not among "
        "the tested releases",
        notes=[("self-test", fault)],
        help="run on "
        + ", ".join(".".join(map(str, each)) for each in TESTED)
        + "; or compile with ctx.jit, or declare functions generic",
    )
