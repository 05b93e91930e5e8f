"""Calls of array functions: lifted by a relation, or as a permutation of elements."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from inversion.errors import NotInvertible
from inversion.lifting.lifted_values import CallSite, Named, Tupled, Value, Values, plain, value_of
from inversion.lifting.resolve import no_relation
from inversion.program.moved_elements import moved, offsets, size_of
from inversion.program.statements import Constant, Operand, Variable
from primitives.arrays.array_table import ARRAY_RELATIONS, MOVES, OF_ITSELF
from primitives.arrays.domain import array_of, element_of, is_array, shape_of

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter

__all__ = ["ArrayCall", "operands_in"]

FIRST_ONLY = MOVES - {
    np.concatenate, np.stack, np.hstack, np.vstack, np.column_stack, np.append, np.array,
    np.asarray, np.ascontiguousarray,
}  # fmt: skip
"""Functions that move elements of their first argument only; other arguments are parameters."""


def operands_in(value: Value) -> Iterator[Operand]:
    """The numbers and arrays in a value."""
    if isinstance(value, Tupled):
        for item in value.items:
            yield from operands_in(item)
    elif isinstance(value, (Variable, Constant)):
        yield value


@functools.lru_cache(maxsize=1024)
def _cached(maker: Any, args: tuple[Any, ...], named: tuple[tuple[str, Any], ...]) -> Any:
    return maker(*args, **dict(named))


def _made(maker: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The relation, cached by its arguments, so that equal statements share it."""
    if any(isinstance(value, np.ndarray) for value in (*args, *kwargs.values())):
        return maker(*args, **kwargs)
    return _cached(maker, tuple(args), tuple(kwargs.items()))


class ArrayCall:
    """A call of an array function, with access to the operands in its arguments."""

    def __init__(
        self, lifter: Lifter, site: CallSite, target: Any, args: Values, kwargs: Named
    ) -> None:
        self.lifter = lifter
        self.site = site
        self.target = target
        self.args = args
        self.kwargs = kwargs

    @property
    def variables(self) -> list[Variable]:
        found = [v for value in (*self.args, *self.kwargs.values()) for v in operands_in(value)]
        return [v for v in found if isinstance(v, Variable)]

    @property
    def is_constant(self) -> bool:
        return not self.variables

    def filled(self, change: Callable[[Operand], Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments as Python objects, with ``change`` applied to each operand."""

        def of(value: Value) -> Any:
            if isinstance(value, Tupled):
                return (
                    list(map(of, value.items))
                    if value.kind is list
                    else (tuple(map(of, value.items)))
                )
            return change(value) if isinstance(value, (Variable, Constant)) else plain(value)

        return [of(a) for a in self.args], {name: of(v) for name, v in self.kwargs.items()}

    def refused(self, why: str) -> NotInvertible:
        error = no_relation(self.site, self.target, self.args)
        error.notes = (*error.notes, ("reason", why))
        return error

    def folded(self) -> Value:
        """The result for constants."""
        args, kwargs = self.filled(plain)
        try:
            return value_of(self.target(*args, **kwargs))
        except (TypeError, ValueError, IndexError) as error:
            raise self.refused(str(error)) from error

    def array(self) -> Value | None:
        """The result for constants if it is an array, else None."""
        try:
            args, kwargs = self.filled(plain)
            value = value_of(self.target(*args, **kwargs))
        except (NotInvertible, TypeError, ValueError, IndexError):
            return None
        return value if is_array(value.kind) else None

    def known(self, value: Value) -> Any:
        """A parameter that has to be known, such as an index, as a Python object."""
        if any(isinstance(v, Variable) for v in operands_in(value)):
            raise self.refused("its indices, axes and shapes have to be known beforehand")
        return plain(value)

    # ---- relations of arrays ----

    def related(self) -> Value:
        """The result of a function with a relation in ``ARRAY_RELATIONS``."""
        args, kwargs = self.filled(
            lambda operand: operand.kind if isinstance(operand, Variable) else operand.value
        )
        maker = ARRAY_RELATIONS[self.target]
        try:
            inspect.signature(maker).bind(*args, **kwargs)
        except TypeError as error:
            raise self.refused(f"{error}") from error
        variables = self.variables
        if len(args) == 2 and len(variables) == 2 and variables[0] == variables[1]:
            maker, args, variables = OF_ITSELF.get(self.target, maker), args[:1], variables[:1]
        found = _made(maker, args, kwargs)
        if found is None:
            raise self.refused("it has none for arguments of these shapes, types and axes")
        return self.lifter.state(self.site, found, variables)

    # ---- moved elements ----

    def moved(self) -> Value:
        """The result of a function that moves elements. The function is run on arrays of element
        numbers, which shows where each element goes.
        """
        operands = self.of_one_type()
        variables = [
            v if isinstance(v, Variable) else Variable(self.lifter.fresh("constant"), v.kind)
            for v in operands
        ]
        start = offsets(variables)
        # number 0 marks an element of the result that is in no argument: a 0
        numbered = iter(
            [
                (1 + start[v.name] + np.arange(size_of(v))).reshape(shape_of(v.kind))
                for v in variables
            ]
        )
        args, kwargs = self._numbered(numbered)
        try:
            places = np.asarray(self.target(*args, **kwargs))
        except (TypeError, ValueError, IndexError) as error:
            raise self.refused(str(error)) from error
        if not places.size:
            raise self.refused("the result has no elements")
        return self._placed(operands, variables, places)

    def _numbered(self, numbered: Iterator[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments, with arrays of element numbers in place of the moved operands."""
        if self.target in FIRST_ONLY:
            args = [next(numbered), *(self.known(value) for value in self.args[1:])]
            return args, {name: self.known(value) for name, value in self.kwargs.items()}
        if self.target in (np.array, np.asarray, np.ascontiguousarray):
            return [self._inside(self.args[0], numbered)], {}
        args = [self._inside(value, numbered) for value in self.args]
        return args, {name: self.known(value) for name, value in self.kwargs.items()}

    def _inside(self, value: Value, numbered: Iterator[Any]) -> Any:
        if isinstance(value, Tupled):
            return [self._inside(item, numbered) for item in value.items]
        if value in self._moving:
            return next(numbered)
        return self.known(value)

    @functools.cached_property
    def _moving(self) -> list[Operand]:
        """The operands whose elements are moved."""
        first = list(operands_in(self.args[0]))
        if self.target is np.append:
            first += operands_in(self.args[1])
        return first

    def of_one_type(self) -> list[Operand]:
        """The moved operands, with constants converted to the common element type."""
        operands = self._moving
        kinds = list(dict.fromkeys(element_of(v.kind) for v in operands))
        varying = {element_of(v.kind) for v in operands if isinstance(v, Variable)}
        if len(kinds) == 1:
            return operands
        kind = float if {float, int} >= varying else next(iter(varying))
        if varying - {kind}:
            shown = ", ".join(getattr(k, "__name__", str(k)) for k in kinds)
            raise self.refused(f"it joins elements of the types {shown}")
        dtype = np.dtype(kind)
        return [
            v
            if isinstance(v, Variable)
            else Constant(v.value.astype(dtype) if is_array(v.kind) else kind(v.value))
            for v in operands
        ]

    def _placed(self, operands: list[Operand], variables: list[Variable], places: Any) -> Value:
        element = element_of(variables[0].kind)
        flat = places.ravel().astype(np.int64)
        if np.any(flat == 0):
            zero = np.zeros(1, dtype=np.dtype(element))
            operands = [Constant(zero), *operands]
            variables = [Variable(self.lifter.fresh("zero"), Constant(zero).kind), *variables]
        else:
            flat = flat - 1
        shape = places.shape
        same = len(operands) == 1 and shape == shape_of(variables[0].kind)
        if same and np.array_equal(flat, np.arange(len(flat))):
            return operands[0]
        kind = array_of(element, shape) if shape else element
        result = self.lifter.variable(self.site.name, kind, "elements")
        name = self.lifter.fresh(f"moved_{self.site.where.rpartition(':')[2]}")
        made = moved(name, variables, operands, {result: flat}, self.site.where)
        self.lifter.statements.append(made)
        return result
