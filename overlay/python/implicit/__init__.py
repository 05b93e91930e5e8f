"""Calls that the interpreter makes by itself, in a context with ``implicit=True``.

Each instruction that may call a Python function is replaced by a call of one of these
functions. They follow the protocol of the language, and call the functions of the program that
take part through the callee map. Where none takes part they do the native operation.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable
from types import BuiltinFunctionType, MethodWrapperType, ModuleType
from typing import TYPE_CHECKING, Any

from overlay.python.implicit.arithmetic import (
    COMPARISONS,
    binaries,
    compare,
    resolve_compare,
    resolve_unary,
)
from overlay.python.implicit.attributes import Attributes
from overlay.python.implicit.blocks import Blocks
from overlay.python.implicit.builtin_functions import Standing, table
from overlay.python.implicit.classes import Classes
from overlay.python.implicit.formatting import Formatting, Remainder
from overlay.python.implicit.items import Items
from overlay.python.implicit.iteration import Iteration
from overlay.python.implicit.numbers import Numbers
from overlay.python.implicit.ordering import Ordering
from overlay.python.implicit.patterns import Patterns
from overlay.python.implicit.text import Text
from overlay.python.unseen import all_unseen, unseen
from overlay.target import type_attribute

if TYPE_CHECKING:
    from overlay.python.callees import Callees

__all__ = ["Implicit"]


class Implicit:
    """The functions of one engine.

    resolvers: by operator function, what gives the function to call on the operands in place of
    the operator, or None. standing: by id, what stands for builtins where they are called.
    """

    def __init__(self, callees: Callees) -> None:
        self.callees = callees
        self.attributes = Attributes(callees)
        self.numbers = Numbers(callees)
        self.text = Text(callees)
        self.iteration = Iteration(self)
        self.items = Items(self)
        self.blocks = Blocks(self)
        self.patterns = Patterns(self)
        self.classes = Classes(self)
        self.ordering = Ordering(self)
        self.formatting = Formatting(self)
        self.binaries = {**binaries(self), "mod": Remainder(self)}
        self.resolvers = self._resolvers()
        self.standing: dict[int, Standing] = table(self)

    def _resolvers(self) -> dict[Any, Callable[..., Any]]:
        found: dict[Any, Callable[..., Any]] = {}
        for binary in self.binaries.values():
            if binary.native_in_place is not None:
                found[binary.native] = binary.resolver()
                found[binary.native_in_place] = binary.resolver(in_place=True)
        for name in ("neg", "pos", "invert"):
            found[getattr(operator, name)] = resolve_unary(self, name)
        for name in COMPARISONS:
            found[getattr(operator, name)] = resolve_compare(name, compare(self, name))
        return found

    def stands_for(self, callee: Any, found: Any) -> Any:
        """What to call in place of a builtin; ``found`` where that is to be called anyway."""
        standing = self.standing.get(id(callee))
        if standing is not None and standing.of is callee:
            return standing.over(found)
        kind: Any = type(callee)
        if found is not callee or kind not in (MethodWrapperType, BuiltinFunctionType):
            return found
        owner = callee.__self__
        if type(owner) is ModuleType or callee.__name__ == "__new__":  # bound to nothing
            return found
        if kind is MethodWrapperType:
            descriptor = callee.__objclass__.__dict__.get(callee.__name__)
        else:
            descriptor = type_attribute(type(owner), callee.__name__)
        standing = self.standing.get(id(descriptor))
        if standing is None or standing.of is not descriptor:
            return found
        return functools.partial(standing.over(descriptor), owner)


all_unseen(*(found for name, found in sys.modules.items() if name.startswith(f"{__name__}.")))
unseen(type_attribute)
