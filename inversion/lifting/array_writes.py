"""Writes to arrays, to items and slices, and in place.

After a write, another operand represents the array. It replaces the old one in all values that
contain the array or a view of it, so that all names of one array still refer to the same array.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from inversion.errors import NotInvertible
from inversion.lifting.array_calls import ArrayCall, common_element, converted, gathered
from inversion.lifting.array_objects import arrays_in
from inversion.lifting.lifted_values import (
    CallSite,
    Iterating,
    Meaningless,
    Tupled,
    Value,
    refused,
)
from inversion.program.statements import Constant, Operand, Variable
from primitives.arrays.domain import element_of, shape_of

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter

__all__ = ["ArrayWrite"]


@dataclass
class ArrayWrite:
    """A write to an array by a function.

    known: the values of the function's variables, in which the array is replaced. lent: its
    arguments, which it must not write to. base: the array.
    """

    lifter: Lifter
    site: CallSite
    known: dict[str, Value]
    lent: Collection[Value]
    base: Operand
    done: dict[Operand, Value] = field(default_factory=dict[Operand, Value])

    def item(self, index: Value, value: Value) -> None:
        """Assign to items: ``base[index] = value``."""
        call = ArrayCall(self.lifter, self.site, np.put, [self.base, index, value], {})
        shape = shape_of(self.base.kind)
        if self._is_mask(index) and not shape_of(value.kind):
            self.whole(self.lifter.call(self.site, (np.where,), [index, value, self.base], {}))
            return
        where = call.known(index)
        at = call.of_numpy(lambda: np.arange(math.prod(shape)).reshape(shape)[where])
        if np.size(at):
            self._write(np.asarray(at), call.filling(value, self.base, np.shape(at)))

    def _is_mask(self, index: Value) -> bool:
        """Return whether an index is a truth value for each element that is not constant."""
        same = shape_of(index.kind) == shape_of(self.base.kind)
        return isinstance(index, Variable) and same and element_of(index.kind) is bool

    def whole(self, value: Value) -> Value:
        """Replace all elements, as ``base += other`` does; return the array after the write."""
        shape = shape_of(self.base.kind)
        call = ArrayCall(self.lifter, self.site, np.copyto, [self.base, value], {})
        at = np.arange(math.prod(shape)).reshape(shape)
        self._write(at, call.filling(value, self.base, shape))
        return self.done[self.base]

    def _write(self, at: NDArray[Any], value: Operand) -> None:
        """Put elements at positions of the array, in all values that contain it."""
        objects = self.lifter.arrays
        base, places = objects.base(self.base), objects.places(self.base)
        lent = {objects.base(each) for given in self.lent for each in arrays_in(given)}
        if base not in objects.made or base in lent:
            raise self._not_own()
        if places is None:
            what = "a write to an array that is a view of another one on some execution paths only"
            raise refused(what, self.site.where, "write to a copy of it")
        count = math.prod(shape_of(base.kind))
        new = np.arange(count).reshape(shape_of(base.kind))
        flat = new.ravel()
        flat[places.ravel()[at.ravel()]] = count + np.arange(at.size)
        name = base.source if isinstance(base, Variable) and base.source else self.site.name
        parts = [base, value]
        kind = common_element(parts)
        if kind is not element_of(base.kind) and isinstance(base, Constant):
            call = ArrayCall(self.lifter, self.site, np.copyto, parts, {})
            parts[0] = converted(call, base, kind)
        made = gathered(self.lifter, replace(self.site, name=name), parts, flat.reshape(new.shape))
        objects.made.add(made)
        self.done = {base: made}
        self.known.update({each: self._changed(held) for each, held in self.known.items()})
        self._changed(self.base)

    def _not_own(self) -> NotInvertible:
        shown = self.base.source or self.base.name if isinstance(self.base, Variable) else ""
        what = f"{shown or 'an array'}, which the function did not make"
        copied = f"write to a copy: {shown} = {shown}.copy()" if shown else "write to a copy"
        return refused(f"a write to {what}", self.site.where, copied)

    def _changed(self, value: Value) -> Value:
        """A value after the write."""
        if isinstance(value, (Tupled, Iterating)):
            return replace(value, items=tuple(map(self._changed, value.items)))
        if not isinstance(value, (Variable, Constant)):
            return value
        if value not in self.done:
            self.done[value] = self._shown(value)
        return self.done[value]

    def _shown(self, operand: Operand) -> Value:
        """An array after the write: a view has the new elements of the other array."""
        objects = self.lifter.arrays
        new = self.done.get(objects.base(operand))
        if operand not in objects.views or not isinstance(new, (Variable, Constant)):
            return operand
        places = objects.places(operand)
        if places is None:
            help = "read it before the write, or write to it by its own name"
            what = "an array that a write may have changed"
            return Meaningless(refused(what, self.site.where, help))
        found = gathered(self.lifter, self.site, [new], np.array(places))
        objects.show(found, new, places)
        return found
