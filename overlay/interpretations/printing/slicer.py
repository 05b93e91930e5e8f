"""Program slicing: programs without their prints, and without the computations only these need."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from overlay import (
    Context,
    MethodTable,
    OverlayError,
    Plugin,
    call_next,
    current_context,
    recurse,
)
from overlay.contexts.rules_alone import runs_alone
from overlay.core.location import caller
from overlay.core.short_repr import short_repr
from overlay.core.target import canonical, describe
from overlay.interpretations.printing.ir_slicing import slice_ir
from overlay.interpretations.printing.slicing import sliced, sliced_source
from overlay.ir import IR

__all__ = ["Slicer"]


class Slicer:
    """Runs programs without calls of some functions, whose results are unused, and without the
    computations that only these calls need.

    ``slicer(f, ...)`` runs ``f``, ``slicer.jit(f)`` compiles it, and ``slicer.source(f)`` shows
    its slice.

    Parameters
    ----------
    *targets : callable
        The functions whose calls are removed; ``print`` by default.
    pure : iterable of callable
        Functions without effects, besides those of ``math`` and builtins such as ``len``, ``str``
        and ``sum``.

    Attributes
    ----------
    context, compiling : Context
        The contexts of interpreted and of compiled runs.

    Examples
    --------
    >>> from overlay.interpretations.printing import Slicer
    >>> Slicer()(lambda: print("hello") or 5)
    5

    References
    ----------
    M. Weiser, "Program slicing", ICSE 1981.
    """

    @runs_alone
    def __init__(self, *targets: Any, pure: Iterable[Any] = ()) -> None:
        self.targets = tuple(map(canonical, targets)) or (print,)
        self.pure = tuple(pure)
        table = MethodTable("sliced")
        for target in self.targets:
            table.overlay(target)(_nothing)
        self.context = Context(table, plugins=(_SlicesFunctions(self),))
        self.compiling = Context(plugins=(_SlicesIR(self),))

    def __repr__(self) -> str:
        return short_repr("Slicer", f"of {', '.join(map(describe, self.targets))}")

    def __call__(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run a function, and all code that it calls, without the calls.

        Parameters
        ----------
        f : callable
            The function to run.
        *args, **kwargs
            Its arguments.

        Returns
        -------
        object
            Its result.
        """
        return self.context(f, *args, **kwargs)

    def jit(self, f: Callable[..., Any], /, **options: Any) -> Callable[..., Any]:
        """Compile a function without the calls.

        Parameters
        ----------
        f : callable
            The function to compile.
        **options
            As for ``ctx.jit``.

        Returns
        -------
        callable
            The compiled function.
        """
        return self.compiling.jit(f, **options)

    def source(self, f: Callable[..., Any]) -> str:
        """The source of the slice of a function.

        Parameters
        ----------
        f : function
            A Python function or method.

        Returns
        -------
        str
            The source without comments; empty if the source of ``f`` is not available.

        Raises
        ------
        OverlayError
            ``f`` is not a Python function.
        """
        found = getattr(f, "__func__", f)  # a bound method's function
        if type(found) is not FunctionType:
            raise OverlayError(
                f"{describe(f)} is not a Python function: there is no source to slice",
                where=caller(),
                help="pass a function or method that is written in Python",
            )
        return sliced_source(found, self.targets, self.pure)


def _nothing(*args: Any, **kwargs: Any) -> Any:
    """Replacement of a target called as part of an expression."""
    if kwargs.get("file") in (None, sys.stdout, sys.stderr):
        return None
    return call_next(*args, **kwargs)


class _SlicesFunctions(Plugin):
    """Runs the slice of each function in its place."""

    shares_native_cache = True
    preserves = frozenset({"values", "types"})

    def __init__(self, slicer: Slicer) -> None:
        self.slicer = slicer

    def around(self, callee: Any, run: Callable[..., Any]) -> Callable[..., Any] | None:
        if type(callee) is not FunctionType:
            return None
        rest = sliced(callee, self.slicer.targets, self.slicer.pure)
        if rest is None:
            return None
        context: Any = current_context

        def run_rest(*args: Any, **kwargs: Any) -> Any:
            return recurse(context(), rest, *args, **kwargs)

        return run_rest


class _SlicesIR(Plugin):
    """Slices the IR of each function before it is compiled."""

    preserves = frozenset({"values", "types"})

    def __init__(self, slicer: Slicer) -> None:
        self.slicer = slicer

    def before_inference(self, ir: IR) -> None:
        slice_ir(ir, self.slicer.targets, self.slicer.pure)
