"""Calls of array functions: lifted by a relation, or as a permutation of elements."""

from __future__ import annotations

import functools
import inspect
import math
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from inversion.errors import NotInvertible
from inversion.lifting.array_objects import arrays_in
from inversion.lifting.lifted_values import (
    CallSite,
    KnownObject,
    Named,
    Tupled,
    Value,
    Values,
    plain,
    value_of,
)
from inversion.lifting.resolve import no_relation
from inversion.program.moved_elements import moved
from inversion.program.statements import Constant, Operand, Variable
from overlay.interpretations.autodiff.rules.array_rules import array_rule_of
from overlay.interpretations.autodiff.rules.tables.layouts import astype
from primitives.arrays.array_table import ARRAY_RELATIONS, MOVES, OF_ITSELF
from primitives.arrays.domain import array_of, element_of, is_array, shape_of

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter

__all__ = [
    "ArrayCall",
    "common_element",
    "converted",
    "data_of",
    "gathered",
    "of_one_type",
    "operands_in",
    "value_as",
]


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

    def refused(self, why: str, help: str = "") -> NotInvertible:
        """The error for the call. help: the remedy, if there is a better one than a relation."""
        error = no_relation(self.site, self.target, self.args, self.kwargs)
        error.notes = (*error.notes, ("reason", why))
        error.help = help or error.help
        return error

    def not_taken(self, error: Exception) -> NotInvertible:
        """The error for a call that numpy rejects."""
        return self.refused(str(error), "give it arguments that numpy takes")

    def folded(self) -> Value:
        """The result for constants."""
        args, kwargs = self.filled(plain)
        try:
            return value_of(self.target(*args, **kwargs))
        except (TypeError, ValueError, IndexError) as error:
            raise self.not_taken(error) from error

    def array(self) -> Value | None:
        """The result for constants if it is an array, or a number that a function of arrays
        returns; else None.
        """
        try:
            args, kwargs = self.filled(plain)
            value = value_of(self.target(*args, **kwargs))
        except (NotInvertible, TypeError, ValueError, IndexError):
            return None
        is_number = isinstance(value, Constant) and array_rule_of(self.target) is not None
        return value if is_number or is_array(value.kind) else None

    def known(self, value: Value) -> Any:
        """A parameter that has to be a constant, such as an index, as a Python object."""
        if any(isinstance(v, Variable) for v in operands_in(value)):
            raise self.refused(TO_BE_KNOWN, CHOSEN)
        return plain(value)

    # ---- relations of arrays ----

    def related(self) -> Value | None:
        """The result of a function with a relation in ``ARRAY_RELATIONS``; None if it has none for
        these arguments.
        """
        args, kwargs = self.filled(
            lambda operand: operand.kind if isinstance(operand, Variable) else operand.value
        )
        maker = ARRAY_RELATIONS[self.target]
        try:
            inspect.signature(maker).bind(*args, **kwargs)
        except TypeError:
            return None
        variables = self.variables
        if len(args) == 2 and len(variables) == 2 and variables[0] == variables[1]:
            maker, args, variables = OF_ITSELF.get(self.target, maker), args[:1], variables[:1]
        found = _made(maker, args, kwargs)
        return None if found is None else self.lifter.state(self.site, found, variables)

    # ---- moved elements ----

    @property
    def is_move(self) -> bool:
        """Return whether the function moves elements, and all its other arguments are constants."""
        names = data_of(self.target)
        if names is None:
            return False
        given = self.by_name()
        if given is None:
            return False
        others = (value for name, value in given.arguments.items() if name not in names)
        return not any(isinstance(v, Variable) for value in others for v in operands_in(value))

    def by_name(self) -> inspect.BoundArguments | None:
        """The arguments by the names of the function's parameters; None if they do not fit, or the
        names are not known.
        """
        rule = array_rule_of(self.target)
        try:
            signature = rule.signature if rule is not None else inspect.signature(self.target)
            found = signature.bind(*self.args, **self.kwargs)
        except (TypeError, ValueError):
            return None
        for name, value in [*found.arguments.items()]:
            if isinstance(value, KnownObject) and value.value is NOT_GIVEN:
                del found.arguments[name]
            if type(value) is tuple:
                found.arguments[name] = Tupled(tuple, value)
            if type(value) is dict:
                found.arguments[name] = KnownObject({k: self.known(v) for k, v in value.items()})
        return found

    def moved(self) -> Value | None:
        """The result of a function that moves elements; None if it does more than that.

        The function runs on arrays of element numbers, which shows where each element goes.
        """
        given = self.by_name()
        assert given is not None
        names = data_of(self.target) or ()
        data = [given.arguments[name] for name in names if name in given.arguments]
        # numpy takes a list of numbers for an array
        operands = of_one_type(self, [v for value in data for v in operands_in(value)])
        kinds = [v.kind for v in operands]
        sizes = [math.prod(shape_of(kind)) for kind in kinds]
        dtype = NUMBERING.get(element_of(kinds[0]), np.int64)
        count = sum(sizes)
        # elements that stay the same when the numbers are permuted are constants
        order = count + 1 + np.random.default_rng(0).permutation(count)
        found = self._run(given, names, _numbered(kinds, sizes, np.arange(1, count + 1), dtype))
        others = self._run(given, names, _numbered(kinds, sizes, order, dtype))
        if isinstance(found, (tuple, list)):
            pairs = zip(found, others, strict=True)
            parts = [self._placed(operands, *pair, order) for pair in pairs]
            whole = [part for part in parts if part is not None]
            return Tupled(type(found), tuple(whole)) if len(whole) == len(parts) else None
        return self._placed(operands, found, others, order)

    def _run(
        self, given: inspect.BoundArguments, names: Collection[str], arrays: Sequence[Any]
    ) -> Any:
        """Run the function with these arrays in place of the operands in its data."""
        left = iter(arrays)

        def filled(value: Value) -> Any:
            if isinstance(value, Tupled):
                items = map(filled, value.items)
                return list(items) if value.kind is list else tuple(items)
            if isinstance(value, (Variable, Constant)):
                return next(left)
            return self.known(value)

        call = inspect.BoundArguments(given.signature, OrderedDict(given.arguments))
        for name, value in given.arguments.items():
            if name not in names:
                call.arguments[name] = self.known(value)
            else:
                call.arguments[name] = filled(value)
        # elements keep the type of the numbers; their conversion is determined afterwards
        call.arguments.pop("dtype", None)
        return self.of_numpy(lambda: self.target(*call.args, **call.kwargs))

    def of_numpy(self, run: Callable[[], Any]) -> Any:
        """Run a function of numpy; its errors become those of the call."""
        try:
            with np.errstate(all="ignore"):
                return run()
        except (TypeError, ValueError, IndexError) as error:
            raise self.not_taken(error) from error

    def _placed(
        self, operands: list[Operand], numbers: Any, others: Any, order: NDArray[np.int64]
    ) -> Value | None:
        first, second = np.asarray(numbers), np.asarray(others)
        if not first.size:
            raise self.refused("the result has no elements", "take one element or more")
        same = first == second
        element, count = element_of(operands[0].kind), len(order)
        places = np.asarray(np.where(same, 1, np.real(first)).astype(np.int64) - 1)
        if np.any((places < 0) | (places >= count)) or np.any(~same & (second != order[places])):
            return None
        if same.any():
            values = np.asarray(first[same], dtype=np.dtype(element))
            places[same] = count + np.arange(len(values))
            operands = [*operands, Constant(np.ascontiguousarray(values))]
        made = gathered(self.lifter, self.site, operands, places, anew=not self.shows_one)
        dtype = self._dtype()
        return made if dtype is None else self.lifter.call(self.site, (astype,), [made, dtype], {})

    def _dtype(self) -> Value | None:
        """The type to which the elements of the result are converted, if it is given."""
        given = self.by_name()
        found = None if given is None else given.arguments.get("dtype")
        return None if found is None or plain(found) is None else found

    # ---- views ----

    @functools.cached_property
    def _base(self) -> Operand | None:
        """The only array of which the result may be a view."""
        names, given = data_of(self.target), self.by_name()
        if names is None or given is None:
            return None
        data = [given.arguments[name] for name in names if name in given.arguments]
        if len(data) != 1 or not isinstance(data[0], (Variable, Constant)):
            return None
        return data[0] if is_array(data[0].kind) else None

    @functools.cached_property
    def _views(self) -> Any:
        """The result for the numbers of the elements in memory, if it is a view of these."""
        base, given = self._base, self.by_name()
        if base is None or given is None or not self.is_move:
            return None
        numbers = self.lifter.arrays.places(base)
        if numbers is None:
            return None
        try:
            found = self._run(given, data_of(self.target) or (), [numbers])
        except NotInvertible:
            return None
        parts = found if isinstance(found, (tuple, list)) else (found,)
        return found if all(np.may_share_memory(part, numbers) for part in parts) else None

    @property
    def shows_one(self) -> bool:
        """Return whether the result is a view of an argument."""
        return self._views is not None

    def noted(self, result: Value) -> Value:
        """Record the result as made by the call, or as a view of an argument."""
        objects, base = self.lifter.arrays, self._base
        given = {v for value in (*self.args, *self.kwargs.values()) for v in arrays_in(value)}
        if self.shows_one and base is not None:
            parts = result.items if isinstance(result, Tupled) else (result,)
            views = self._views if isinstance(result, Tupled) else (self._views,)
            for part, places in zip(parts, views, strict=True):
                if isinstance(part, (Variable, Constant)) and part not in given:
                    objects.show(part, base, places)
        else:
            objects.own(result, given)
        return result

    # ---- written elements ----

    def filling(self, value: Value, base: Operand, shape: tuple[int, ...]) -> Operand:
        """A value assigned to elements of an array, converted to their type and this shape."""
        if isinstance(value, Tupled):
            value = self.lifter.call(self.site, (np.array,), [value], {})
        if not isinstance(value, (Variable, Constant)):
            raise self.refused(ARRAYS_ONLY, "give it arrays and numbers")
        wanted, kind = element_of(base.kind), element_of(value.kind)
        if wanted is not kind and not (wanted is np.int64 and kind in (int, bool)):
            if kind is complex:
                help = "take the real or the imaginary part"
                raise self.refused("its elements are not complex numbers", help)
            value = converted(self, value, wanted)
        if shape_of(value.kind) == shape:
            return value
        if is_array(value.kind):
            extra = len(shape_of(value.kind)) - len(shape)
            if extra > 0:  # numpy leaves out leading axes of length 1
                value = self.lifter.call(
                    self.site, (np.reshape,), [value, value_of(shape_of(value.kind)[extra:])], {}
                )
        assert isinstance(value, (Variable, Constant))
        numbers = np.arange(math.prod(shape_of(value.kind))).reshape(shape_of(value.kind))
        places = self.of_numpy(lambda: np.broadcast_to(numbers, shape))
        return gathered(self.lifter, self.site, [value], places) if shape else value


TO_BE_KNOWN: Final = "its indices, axes and shapes have to be known beforehand"
CHOSEN: Final = "choose by numpy.where or with if, and with a known index on each way"
ARRAYS_ONLY: Final = "it takes arrays and numbers"

NOT_GIVEN: Any = inspect.signature(np.sum).parameters["keepdims"].default
"""The default of numpy's functions that stands for an argument that is not given."""

NUMBERING: Mapping[Any, Any] = {float: np.float64, complex: np.complex128}
"""The types of element numbers, which can represent the values that a function puts between
elements.
"""


@functools.cache
def _first_parameter(function: Any) -> tuple[str, ...]:
    return (next(iter(inspect.signature(function).parameters)),)


def data_of(target: Any) -> tuple[str, ...] | None:
    """The names of the parameters whose elements a function moves; None if it moves none."""
    rule = array_rule_of(target)
    if rule is not None and rule.kind == "rearranging" and target not in NOT_MOVED:
        return rule.data
    if type(target).__hash__ is None or target not in MOVES:
        return None
    return FIRST.get(target, ()) or _first_parameter(target)


FIRST: Mapping[Any, tuple[str, ...]] = {np.pad: ("array",), np.ascontiguousarray: ("a",)}
NOT_MOVED: frozenset[Any] = frozenset((np.linalg.matrix_rank,))


def _numbered(
    kinds: Sequence[Any], sizes: Sequence[int], numbers: NDArray[np.int64], dtype: Any
) -> list[Any]:
    """Arrays of these element numbers."""
    parts = np.split(numbers.astype(dtype), np.cumsum(sizes)[:-1])
    return [
        part.reshape(shape_of(kind)) if is_array(kind) else part[0]
        for part, kind in zip(parts, kinds, strict=True)
    ]


def gathered(
    lifter: Lifter,
    site: CallSite,
    operands: Sequence[Operand],
    places: NDArray[np.int64],
    *,
    anew: bool = True,
) -> Operand:
    """The array of the elements at these positions of the operands, concatenated.

    anew: make a new array even if all elements keep their positions.
    """
    shape, flat = places.shape, places.ravel()
    element = element_of(operands[0].kind)
    kept, moved_to, at = list[Operand](), np.zeros_like(flat), dict[Operand, int]()
    start = count = 0
    for operand in operands:  # an operand that is constant or not used is not part of the equation
        size = math.prod(shape_of(operand.kind))
        here = (flat >= start) & (flat < start + size)
        if here.any() and isinstance(operand, Constant):
            used, back = np.unique(flat[here] - start, return_inverse=True)
            values = np.asarray(operand.value).ravel()[used]
            kept.append(Constant(np.ascontiguousarray(values, dtype=np.dtype(element))))
            moved_to[here] = count + back
            count += len(used)
        elif here.any():
            if operand not in at:
                at[operand] = count
                kept.append(operand)
                count += size
            moved_to[here] = at[operand] + flat[here] - start
        start += size
    if all(isinstance(operand, Constant) for operand in kept):
        pool = np.concatenate([np.ravel(v.value) for v in kept if isinstance(v, Constant)])
        return value_as(pool[moved_to].reshape(shape))
    same = len(kept) == 1 and shape == shape_of(kept[0].kind)
    if same and not anew and np.array_equal(moved_to, np.arange(len(flat))):
        return kept[0]
    variables = [
        v if isinstance(v, Variable) else Variable(lifter.fresh("constant"), v.kind) for v in kept
    ]
    result = lifter.variable(site.name, array_of(element, shape) if shape else element, "elements")
    name = lifter.fresh(f"moved_{site.where.rpartition(':')[2]}")
    lifter.statements.append(moved(name, variables, kept, {result: moved_to}, site.where))
    return result


def value_as(array: Any) -> Operand:
    """A constant array, or number."""
    found = value_of(array if np.ndim(array) else array.item())
    assert isinstance(found, (Variable, Constant))
    return found


def of_one_type(call: ArrayCall, operands: Sequence[Operand]) -> list[Operand]:
    """Operands converted to the element type that numpy chooses for an array of all of them."""
    kind = common_element(operands)
    return [v if element_of(v.kind) is kind else converted(call, v, kind) for v in operands]


def common_element(operands: Sequence[Operand]) -> Any:
    """The type of the elements of an array of all operands."""
    every = {element_of(v.kind) for v in operands}
    if len(every) == 1:
        return every.pop()
    for kind in (complex, float):
        if kind in every:
            return kind
    varying = {element_of(v.kind) for v in operands if isinstance(v, Variable)}
    words = [kind for kind in (np.int64, np.uint64) if kind in varying]
    return words[0] if words else int


def converted(call: ArrayCall, value: Operand, kind: Any) -> Operand:
    """An array, or a number, with elements of another type."""
    if isinstance(value, Constant):
        if is_array(value.kind):
            return Constant(np.asarray(value.value).astype(np.dtype(kind)))
        return Constant(kind(value.value))
    if not is_array(value.kind):
        return call.lifter.converted(call.site, value, kind)
    found = call.lifter.call(call.site, (astype,), [value, KnownObject(kind)], {})
    assert isinstance(found, (Variable, Constant))
    return found
