"""The compiled engine: functions compiled by numba, whose calls are resolved against the tables.

This package decides what a program means, by the resolver that the Python engine uses; only
``overlay.compiled.numba`` knows how numba is made to compile it.

Importing this raises NotCompilable where numba's internals are unknown.

``barrier``: calls from compiled code into contexts that are known only at run time.
``basis``: the basis of compiled code: all queries to the world that its compilation has made.
``causes``: the reasons for which functions are compiled again.
``compilation_reports``: log records of compilations, the line shown while one lasts, and the
history of a context.
``cpu_attempts``: implementation of ``overlay.kernels.attempted`` in compiled code of the CPU.
``dispatch_types``: annotations of numba types: the Python type of their values, so that a
signature means the same in both engines (docs/types.md).
``failures``: errors found while numba infers types, carried through its own messages to the user.
``glue``: generated functions that wrap another one and forward their arguments.
``gpu``: kernels: functions that ``Context.jit`` compiles with ``target="cuda"``.
``linked_contexts``: links between compiled contexts: those that a context's code enters, and
those that enter it.
``outcomes``: resolution of calls in code of a world: to a method, a function of the program, or
numba's own.
``sharing``: sharing of compiled code between contexts, and between states of one context.
``stand_ins``: objects that compiled code of a world holds in place of the program's callables.
``targets``: targets of code generation: the processor that Python runs on, or a device beside it.
``traces``: tracebacks of exceptions that are raised in compiled code.
``watching``: detection of changes in the parts of the program that compiled code has read.
``world``: a snapshot of a context's tables, and the code compiled under it.
``cache``: compiled code on disk.
``cuda``: functions and kernels for a GPU: the only code that knows numba-cuda.
"""

import math
import warnings
from typing import Final

from numba import __version__

from overlay.code.versions import NUMBA_TESTED
from overlay.core.errors import NotCompilable, OverlayWarning

__all__ = ["CompiledContext", "is_dispatcher", "is_kernel", "misses_methods"]

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
    first, last = (".".join(map(str, version)) for version in NUMBA_TESTED)
    return NotCompilable(
        f"cannot compile with numba {__version__}, which is not supported",
        notes=[
            ("tested", f"numba {first} to {last}"),
            ("numba", f"{type(error).__name__}: {error}"),
        ],
        help="install one of these versions, or run the context interpreted: ctx(f, ...)",
    )


try:
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.numba.first_class import misses_methods
    from overlay.compiled.numba.held_bodies import is_kernel
    from overlay.compiled.numba.numba_types import is_dispatcher

    if not NUMBA_TESTED[0] <= _VERSION <= NUMBA_TESTED[1]:
        _try_out()
        warnings.warn(
            f"numba {__version__} is not among the versions that overlay was tested with; "
            "a program that was compiled to try it out gave the right result",
            OverlayWarning,
            stacklevel=2,
        )
except Exception as error:
    raise _unknown(error) from error
