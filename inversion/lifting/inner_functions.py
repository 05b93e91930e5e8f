"""Functions that the function makes: their calls, and generators."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from types import CellType, CodeType, FunctionType
from typing import TYPE_CHECKING

from inversion.errors import NotInvertible
from inversion.lifting.execution_paths import Giving
from inversion.lifting.exits import Returned
from inversion.lifting.heap import contents_of, made
from inversion.lifting.lifted_values import (
    CallSite,
    Generating,
    HeapObject,
    InnerFunction,
    Known,
    Tupled,
    Value,
    Values,
    refused,
)
from inversion.lifting.recursion import ActiveCall, entered
from inversion.program.statements import Constant

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter

__all__ = ["begun", "function_of", "gives", "run_generator"]


def function_of(inner: InnerFunction) -> FunctionType:
    """A function with the code and the defaults of one that a lifted function makes. It is read,
    not run.
    """
    cells = tuple(CellType() for _ in inner.code.co_freevars)
    found = FunctionType(inner.code, inner.module, inner.code.co_name, inner.defaults, cells)
    found.__kwdefaults__ = dict(inner.named)
    return found


def gives(code: CodeType) -> bool:
    """Whether a call of a function with this code gives a generator."""
    return bool(code.co_flags & inspect.CO_GENERATOR)


def begun(
    known: Known,
    site: CallSite,
    function: FunctionType,
    given: Values,
    cells: tuple[HeapObject, ...],
) -> Generating:
    """The generator of a call with these arguments."""
    return Generating(function, tuple(given), cells, site, made(known, CellType, ()))


def run_generator(
    lifter: Lifter,
    site: CallSite,
    generator: Generating,
    first: Value,
    add: Callable[[Value, Value], Value],
) -> Value:
    """What a function makes of the values that a generator yields, one by one, from ``first``."""
    if contents_of(lifter.known, generator.used, site.where).items:
        raise refused(
            "a generator that is used again", site.where, "make a list or a tuple of its items"
        )
    lifter.known[generator.used] = Tupled(CellType, (Constant(True),))
    held = made(lifter.known, CellType, (first,))
    function, outer = generator.function, generator.site
    key = function.__code__, outer.overlaid, outer.chain
    active = ActiveCall(
        key, generator.given, lifter.depth, cells=generator.cells, giving=Giving(held, add)
    )
    inside = replace(site, overlaid=outer.overlaid, chain=outer.chain)
    found = entered(lifter, inside, function, active)
    if not isinstance(found, Returned):
        raise NotInvertible(
            f"cannot invert {function.__qualname__}: it raises whatever its arguments are",
            where=site.where,
        )
    lifter.known.update(found.heap)
    return contents_of(lifter.known, held, site.where).items[0]
