"""Arrays as objects: which a program makes, and which are views of others."""

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
    """The array of which a view shows elements. places: of these, in the shape of the view; None
    where a branch or a loop decides which.
    """

    base: Operand
    places: Index | None


class ArrayObjects:
    """The arrays that a program makes, which it may write to, and the views among all arrays.

    made: the arrays that calls have made. views: for each view the array that holds its elements.
    """

    def __init__(self) -> None:
        self.made: set[Operand] = set()
        self.views: dict[Operand, ArrayView] = {}

    def base(self, operand: Operand) -> Operand:
        """The array that holds the elements of an array: itself, if it is no view."""
        return self.views[operand].base if operand in self.views else operand

    def places(self, operand: Operand) -> Index | None:
        """Where the elements of an array are in the one that holds them; None where a branch or a
        loop decides. It has the strides of the array, so that views of it show what numpy makes.
        """
        if operand in self.views:
            return self.views[operand].places
        shape = shape_of(operand.kind)
        return np.arange(math.prod(shape)).reshape(shape)

    def show(self, view: Operand, operand: Operand, places: Index | None) -> None:
        """Note that an array is a view of another's elements, which are at these places."""
        self.views[view] = ArrayView(self.base(operand), places)

    def own(self, value: Value, given: Collection[Operand]) -> None:
        """Note that a call has made the arrays in its result. given: the arrays that it took."""
        for operand in arrays_in(value):
            if operand not in self.views and operand not in given:
                self.made.add(operand)

    def joined(self, result: Operand, parts: Collection[Operand]) -> None:
        """Note that an array is one of several, as a branch or a loop decides."""
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
