"""The compiled engine: functions compiled by numba, whose calls are resolved against the tables.

This package decides what a program means, by the resolver that the Python engine uses; only
``overlay.compiled.numba`` knows how numba is made to compile it.

Importing this raises NotCompilable where numba's internals are unknown.
"""

import math
import warnings
from typing import Final

from numba import __version__

from overlay.core.errors import NotCompilable, OverlayWarning

__all__ = ["TESTED", "CompiledContext", "is_dispatcher", "is_kernel"]

TESTED: Final = (0, 61), (0, 68)  # numba's minor versions, first and last
_VERSION: Final = tuple(int(number) for number in __version__.split(".")[:2])


def _try_out() -> None:
    """Compile a small program under a table, through the whole engine."""
    from overlay.contexts.context import Context
    from overlay.core.table import MethodTable

    table = MethodTable("try-out")
    table.overlay(math.sin)(_ten)
    if Context(table).jit(_program)(1.0) != _ten(1.0) + 1.0:
        raise AssertionError("a compiled program gave another result than an interpreted one")


def _ten(x: float) -> float:
    return x * 10.0


def _program(x: float) -> float:
    return math.sin(x) + math.sqrt(x)


def _unknown(error: Exception) -> NotCompilable:
    first, last = (".".join(map(str, version)) for version in TESTED)
    return NotCompilable(
        f"cannot compile with numba {__version__}, whose internals are not known here",
        notes=[
            ("tested", f"numba {first} to {last}"),
            ("numba", f"{type(error).__name__}: {error}"),
        ],
        help="install one of these versions, or run the context interpreted: ctx(f, ...)",
    )


try:
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.numba.held_bodies import is_kernel
    from overlay.compiled.numba.numba_types import is_dispatcher

    if not TESTED[0] <= _VERSION <= TESTED[1]:
        _try_out()
        warnings.warn(
            f"numba {__version__} is not among the versions that overlay was tested with; "
            "a program that was compiled to try it out gave the right result",
            OverlayWarning,
            stacklevel=2,
        )
except Exception as error:
    raise _unknown(error) from error
