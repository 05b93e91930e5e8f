"""Arrays as objects: those that a program makes, and views of other arrays."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inversion.lifting.lifted_values import Iterating, Tupled, Value
from inversion.program.statements import Constant, Operand, Variable
from primitives.arrays.domain import is_array, shape_of

__all__ = ["ArrayObjects", "ArrayView", "arrays_in"]

Index = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ArrayView:
    """The array whose elements a view contains.

    places: the positions of these elements, in the shape of the view; None if a branch or a loop
    determines them.
    """

    base: Operand
    places: Index | None


class ArrayObjects:
    """The arrays that a program makes, which it may write to, and the views among all arrays.

    made: the arrays that calls make. views: for each view the array that owns its elements.
    """

    def __init__(self) -> None:
        self.made: set[Operand] = set()
        self.views: dict[Operand, ArrayView] = {}

    def base(self, operand: Operand) -> Operand:
        """The array that owns the elements of an array: the array itself, if it is not a view."""
        return self.views[operand].base if operand in self.views else operand

    def places(self, operand: Operand) -> Index | None:
        """The positions of the elements of an array in the array that owns them; None if a branch
        or a loop determines them. They have the strides of the array, so that views of it agree
        with numpy.
        """
        if operand in self.views:
            return self.views[operand].places
        shape = shape_of(operand.kind)
        return np.arange(math.prod(shape)).reshape(shape)

    def show(self, view: Operand, operand: Operand, places: Index | None) -> None:
        """Record that an array is a view of another one, with the elements at these positions."""
        self.views[view] = ArrayView(self.base(operand), places)

    def own(self, value: Value, given: Collection[Operand]) -> None:
        """Record that a call makes the arrays in its result. given: its array arguments."""
        for operand in arrays_in(value):
            if operand not in self.views and operand not in given:
                self.made.add(operand)

    def joined(self, result: Operand, parts: Collection[Operand]) -> None:
        """Record that an array is one of several, depending on a branch or a loop."""
        if all(part in self.made for part in parts):
            self.made.add(result)
        for part in parts:
            if part in self.views:
                self.show(result, part, None)


def arrays_in(value: Value) -> Iterator[Operand]:
    """The arrays in a value."""
    if isinstance(value, (Tupled, Iterating)):
        for item in value.items:
            yield from arrays_in(item)
    elif isinstance(value, (Variable, Constant)) and is_array(value.kind):
        yield value
