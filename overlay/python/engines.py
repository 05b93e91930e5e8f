"""Which engine runs code in a stack of contexts.

Targets are intercepted (``interception``) wherever that is possible. Plugins, and the functions
that statements call, need rewritten code (``engine``), which is made for some versions of Python
only.
"""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlay import _native
from overlay.cache_folder import Folder
from overlay.code.versions import (
    TESTED,
    is_readable,
    require_interceptable,
    require_rewritable,
)
from overlay.errors import UnsupportedPython
from overlay.in_force import outside
from overlay.target import describe

if TYPE_CHECKING:
    from overlay.stack import Stack

__all__ = ["can_intercept", "engine_for", "intercepts", "self_test_fault"]

_LONGEST = 120  # seconds that the self-test may take


def engine_for(stack: Stack) -> Any:
    """A new engine. Raises UnsupportedPython where this Python has none for these tables."""
    if _wants_interception():
        require_interceptable()
        if _native.intercept is None:
            raise _without_extension()
        if (fault := self_test_fault()) is not None:
            raise _not_as_expected(fault)
        from overlay.python.interception import InterceptingEngine, obstacles

        found = obstacles(stack)
        if not found:
            return InterceptingEngine(stack)
        notes = [("intercepted, but for", f"{describe(t)}: {why}") for t, why in found[:5]]
    else:
        notes = []
    require_rewritable(notes=notes)
    from overlay.python.engine import PythonEngine

    return PythonEngine(stack)


def can_intercept(stack: Stack) -> bool:
    """Whether the targets of a stack can be intercepted."""
    if not _wants_interception() or _native.intercept is None:
        return False
    if not is_readable() or self_test_fault() is not None:
        return False
    from overlay.python.interception import obstacles

    return not obstacles(stack)


def intercepts(engine: Any) -> bool:
    """Whether an engine, or None, intercepts its targets."""
    return getattr(engine, "pins", False)


@functools.cache
def self_test_fault() -> str | None:
    """What fails where targets are intercepted on this Python; None where it works.

    It is tested once on each release that the project's own tests have not run on, in a process
    of its own, since a fault there may be the end of a process. The verdict is kept on disk.
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
    """Run the self-test in another process."""
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


def _wants_interception() -> bool:
    # the other engine, as an oracle for this one
    return os.environ.get("OVERLAY_ENGINE") != "rewriting"


def _without_extension() -> UnsupportedPython:
    return UnsupportedPython(
        "overlays in ordinary code, ctx(f), need the part of overlay in C, which is not there",
        notes=[("overlay._native", _native.why_not or "")],
        help="install overlay from a wheel, or again where a C compiler and Python's headers are; "
        "or compile with ctx.jit, or declare functions generic",
    )


def _not_as_expected(fault: str) -> UnsupportedPython:
    version = ".".join(map(str, sys.version_info[:3]))
    return UnsupportedPython(
        f"overlays in ordinary code, ctx(f), do not work on Python {version}, "
        "on which they had not been run before",
        notes=[("self-test", fault)],
        help="run on "
        + ", ".join(".".join(map(str, each)) for each in TESTED)
        + "; or compile with ctx.jit, or declare functions generic",
    )
