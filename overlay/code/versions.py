"""Supported Python versions and the differences between them. This module runs on any version."""

from __future__ import annotations

import sys
import sysconfig

from overlay.core.errors import UnsupportedPython
from overlay.core.own_builtins import __builtins__

__all__ = [
    "DICT_ALWAYS_PASSED",
    "EMPTY_PLACE_FIRST",
    "ENTERS_GETTERS",
    "ENTERS_INIT",
    "EXIT_HAS_RECEIVER",
    "FLAGS",
    "FRAMES_TELL_DEPTH",
    "GENERATORS_START_EMPTY",
    "INDEX_ABOVE_ITERATOR",
    "LOCALS_ARE_PROXIES",
    "NOT_TAKES_BOOL",
    "NUMBA_TESTED",
    "READABLE",
    "TESTED",
    "is_readable",
    "require_interceptable",
    "require_readable",
]

# Versions whose instructions can be read, for analyses, derivatives and ``explain``.
READABLE = ((3, 12), (3, 13), (3, 14), (3, 15))
# Releases on which the tests of interception have run.
TESTED = ((3, 12, 1), (3, 13, 0), (3, 13, 18), (3, 14, 10), (3, 15, 2))
# numba's minor versions that the compiled engine is tested with, first and last.
NUMBA_TESTED = (0, 61), (0, 68)

_VERSION = sys.version_info[:2]
# Calls: of the two slots for a callee and its receiver, the empty one comes first.
EMPTY_PLACE_FIRST = _VERSION < (3, 13)
# CALL_FUNCTION_EX always pops a slot for keywords: a mapping, or NULL.
DICT_ALWAYS_PASSED = _VERSION >= (3, 14)
# A ``with`` statement calls ``__exit__`` with a slot for its receiver.
EXIT_HAS_RECEIVER = _VERSION >= (3, 14)
# Above an iterator lies a slot: if GET_ITER has left a list or a tuple unchanged, the index of its
# next item.
INDEX_ABOVE_ITERATOR = _VERSION >= (3, 15)
# UNARY_NOT takes a bool, which TO_BOOL makes.
NOT_TAKES_BOOL = _VERSION >= (3, 13)
# The number of low bits of an instruction's argument that are flags; the others are an index.
FLAGS = {
    **{"LOAD_GLOBAL": 1, "LOAD_ATTR": 1, "LOAD_SUPER_ATTR": 2},
    "COMPARE_OP": 4 if _VERSION < (3, 13) else 5,
    "IMPORT_NAME": 0 if _VERSION < (3, 15) else 2,
}
# RETURN_GENERATOR pushes nothing by itself, as ``dis.stack_effect`` says.
GENERATORS_START_EMPTY = _VERSION >= (3, 13)
# Frames record the end of their stack before each instruction.
FRAMES_TELL_DEPTH = _VERSION >= (3, 14)
# ``f_locals`` of a function is a write-through proxy, and eval takes its namespaces by name.
LOCALS_ARE_PROXIES = _VERSION >= (3, 13)
# The specializing interpreter inlines calls of ``__init__``, and of property getters.
ENTERS_INIT = _VERSION >= (3, 13)
ENTERS_GETTERS = _VERSION == (3, 14)


def is_readable(version: tuple[int, int] = sys.version_info[:2]) -> bool:
    """Whether this is a CPython build whose code can be read, and the version is supported."""
    return version in READABLE and _is_cpython() and not _has_free_threads()


def require_readable(version: tuple[int, int] = sys.version_info[:2]) -> None:
    """Raise UnsupportedPython for a version whose instructions are not known."""
    _require(
        "reading the code of functions is",
        READABLE,
        version,
        "run on a supported version, or declare functions generic",
    )


def require_interceptable() -> None:
    """Raise UnsupportedPython for a version on which ``ctx(f)`` cannot run ordinary code."""
    _require(
        "overlays in ordinary code, ctx(f), are",
        READABLE,
        sys.version_info[:2],
        "compile with ctx.jit, declare functions generic, or run on a supported version",
    )


def _require(
    what: str,
    known: tuple[tuple[int, int], ...],
    version: tuple[int, int],
    remedy: str,
) -> None:
    threads = _has_free_threads()
    if version in known and _is_cpython() and not threads:
        return
    name = "Python" if _is_cpython() else sys.implementation.name
    build = ", free-threaded build" if threads else ""
    supported = "supported", "CPython " + ", ".join(f"{a}.{b}" for a, b in known)
    asked = f"{what} not supported on {name} {version[0]}.{version[1]}{build}"
    raise UnsupportedPython(asked, notes=[supported], help=remedy)


def _is_cpython() -> bool:
    return sys.implementation.name == "cpython"


def _has_free_threads() -> bool:
    return bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
