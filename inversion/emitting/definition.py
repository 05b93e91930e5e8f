"""Definition of an inverse, and conversion of its arguments and answers."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inversion.emitting.module_text import Source
from inversion.errors import NoSolution, OutsideDomain, WrongArguments
from inversion.intrinsics.checks import margin
from inversion.planning.parameters import ParameterSpace
from inversion.planning.plan import Plan
from inversion.program.statements import Program
from inversion.program.trees import (
    Axes,
    Node,
    Tree,
    Trees,
    classes_of,
    leaves,
    mapped,
    rebuilt,
    taken_apart,
    written,
)
from overlay import Context, NotCompilable, nonoverlay
from overlay.core.errors import closest, near_names
from overlay.core.location import caller
from overlay.core.short_repr import a_or_an, counted
from overlay.sets import Interval
from primitives import Domain
from primitives.arrays.domain import Arrays, is_array
from primitives.domains import domain_of
from primitives.sequences.lists import element_of_sequence, is_list, is_sequence

__all__ = ["Definition", "as_text", "cast", "dtype_of", "example_of", "fitted", "is_close"]

_is_a = nonoverlay(isinstance)  # in a context of intervals, an interval counts as a float
THETAS = (tuple, list, Mapping, np.ndarray, np.void)
FINITE = "give a finite number: inverses are of finite results"


@dataclass(frozen=True)
class Definition:
    """The function, plan, source and settings that define an inverse.

    function: the inverted function. source: the code for the plan. context: the context in which
    calls are resolved. domains: the declared domains, by axis of the program. tolerance: rtol and
    atol. origin: the program that was lifted from the function, before planning. hides_errors:
    whether the compiled function may return a result where it raises in Python.
    """

    function: Callable[..., Any]
    plan: Plan
    axes: Axes
    source: Source
    context: Context | None
    domains: Mapping[str, Domain]
    tolerance: tuple[float, float]
    origin: Program
    hides_errors: bool = False

    @property
    def name(self) -> str:
        """The function's name."""
        return self.plan.program.name

    @property
    def where(self) -> str:
        """The function's ``file:line``."""
        return self.plan.program.where

    @property
    def is_plain(self) -> bool:
        """Whether no context is entered, whose methods would be for numbers and not for columns."""
        return self.context is None and not self.origin.tables

    @property
    def filename(self) -> str:
        """The file name of the generated code, for tracebacks."""
        return f"<inverse of {self.name}>"

    @property
    def parameters(self) -> ParameterSpace:
        """The parameters: one for each degree of freedom."""
        return self.plan.parameters

    def __repr__(self) -> str:
        known, unknown = ", ".join(self.axes.known), ", ".join(self.axes.unknown)
        return f"<Inverse of {self.name}: {known} -> {unknown}>"

    # ---- types ----

    @cached_property
    def kinds(self) -> Mapping[str, Tree]:
        """The types of the numbers of each axis, by axis."""
        return Trees(
            (axis, mapped(tree, lambda _, leaf: self.plan.operand(leaf).kind))
            for axis, tree in self.axes.trees.items()
        )

    @cached_property
    def unknown_kinds(self) -> list[Tree]:
        """The types of the numbers of the unknown axes."""
        return [self.kinds[axis] for axis in self.axes.unknown]

    def leaf_kinds(self, axes: Iterable[str]) -> list[Any]:
        """The types of the leaves of these axes, in order."""
        return [kind for axis in axes for kind in leaves(self.kinds[axis])]

    def parts(self, axis: str, value: Any) -> list[Any]:
        """The leaves of a value of an axis. Raises WrongArguments."""
        tree = self.axes.trees[axis]
        if not isinstance(tree, Node):
            return [value]
        try:
            return taken_apart(tree, value)
        except TypeError:
            kept = any(not issubclass(cls, tuple) for cls in classes_of(tree))
            shape = mapped(self.kinds[axis], lambda _, kind: getattr(kind, "__name__", kind))
            raise WrongArguments(
                f"{axis} = {value!r} does not have the structure {written(shape)}",
                where=caller(),
                help=f"give a {'value' if kept else 'tuple or a list'} with this structure",
            ) from None

    def cast(self, axis: str, value: Any) -> Any:
        """Convert a value of an axis to the types of the program."""
        kinds = self.kinds[axis]
        if not isinstance(kinds, Node):
            return cast(axis, kinds, value)
        parts = zip(leaves(kinds), self.parts(axis, value), strict=True)
        return rebuilt(kinds, iter([cast(axis, kind, number) for kind, number in parts]))

    def given_wrong(self, shown: str, axis: str) -> WrongArguments:
        """The error for a value of the wrong type. shown: this type."""
        help = "give a value of the type for which the function was inverted"
        if shown == Interval.__name__:
            help = "contract(f, Interval(low, high), returns=interval) encloses the solutions"
        return WrongArguments(
            f"the inverse of {self.name} is given {a_or_an(shown)} for {axis}",
            where=self.where,
            help=help,
        )

    def cast_known(self, values: Sequence[Any]) -> list[Any]:
        """Convert values of the known axes to the types of the program.

        Raises OutsideDomain for a value outside a declared domain.
        """
        for axis, value in zip(self.axes.known, values, strict=True):
            if _is_a(value, Interval):
                raise self.given_wrong(Interval.__name__, axis)
        given = list(map(self.cast, self.axes.known, values))
        for axis, value in zip(self.axes.known, given, strict=True) if self.domains else ():
            for leaf, number in zip(
                leaves(self.axes.trees[axis]), self.parts(axis, value), strict=True
            ):
                if leaf in self.domains and not self.domains[leaf].contains(number):
                    raise OutsideDomain(
                        f"{leaf} = {number!r} is outside {self.domains[leaf]!r}",
                        where=caller(),
                        help="give a value in this domain, or declare a wider one with domain=",
                    )
        return given

    def cast_alone(self, known: Sequence[Any]) -> tuple[Any, ...]:
        """Convert values of the known axes, given without θ, to the types of the program."""
        axes = self.axes.known
        if len(known) != len(axes):
            raise WrongArguments(
                f"{self!r} takes a value for each known axis ({', '.join(axes)}); "
                f"{len(known)} {'value was' if len(known) == 1 else 'values were'} given",
                where=caller(),
                help="give the known values in this order, without θ; nearest takes a guess after "
                "them",
            )
        return tuple(map(self.cast, axes, known))

    # ---- calls ----

    def asked(
        self, values: Sequence[Any], theta: Any, named: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The known values of a call, in order, and the given coordinates of θ, by name."""
        axes, space = self.axes.known, self.parameters
        if len(values) == len(axes) and theta is None and not named:
            return tuple(values), {}
        by_axis = {axis: value for axis, value in named.items() if axis in axes}
        named = {name: value for name, value in named.items() if name not in by_axis}
        taken = len(axes) - len(by_axis)
        if set(by_axis) != set(axes[taken:]) or not taken <= len(values) <= taken + 1:
            raise self._wrong_values(len(values), by_axis)
        if len(values) > taken:
            if theta is not None:
                raise WrongArguments(
                    "θ is given twice: by position, and as theta=",
                    where=caller(),
                    help="give it once",
                )
            theta = values[taken]
        known = (*values[:taken], *(by_axis[axis] for axis in axes[taken:]))
        is_one = "theta" in space.names and not isinstance(theta, THETAS)
        chosen = {}
        if theta is not None:
            if not len(space) and (not isinstance(theta, (tuple, list, Mapping)) or len(theta)):
                raise self._wrong_values(len(values), by_axis)
            chosen = space.chosen({"theta": theta} if is_one else theta)
        twice = [name for name in named if name in chosen]
        if twice:
            raise WrongArguments(
                f"{', '.join(twice)} is given twice: by name, and in θ",
                where=caller(),
                help="give it once",
            )
        unknown = [name for name in named if name not in space.names]
        if unknown:
            raise self._unknown_names(unknown)
        return known, {**chosen, **space.chosen(named)} if named else chosen

    def _wrong_values(self, count: int, by_axis: Mapping[str, Any]) -> WrongArguments:
        known, has_parameters = self.axes.known, len(self.parameters) > 0
        also = f", {', '.join(by_axis)} by name" if by_axis else ""
        theta = ", and optionally θ" if has_parameters else ""
        return WrongArguments(
            f"{self!r} takes {', '.join(known)}{theta}; "
            f"{counted(count, 'value')} {'were' if count != 1 else 'was'} given{also}",
            where=caller(),
            help="give each known value once, in this order; then θ as one tuple, or coordinates "
            "by name"
            if has_parameters
            else "give each known value once; it has no parameters",
        )

    def _unknown_names(self, names: Sequence[str]) -> WrongArguments:
        known, space = self.axes.known, self.parameters
        every = [*space.names, *known]
        near = near_names(names[0], every)
        return WrongArguments(
            f"{self!r} has no parameter or known axis {names[0]!r}",
            where=caller(),
            notes=closest(near),
            help=f"its parameters are {', '.join(space.names)}"
            if len(space)
            else "it has no parameters",
        )

    def as_argument(self, theta: tuple[Any, ...]) -> tuple[tuple[Any, ...], ...]:
        """θ as the arguments of the generated code: none, if there are no parameters."""
        return (theta,) if len(self.parameters) else ()

    def are_close(self, axis: str, answer: Any, wanted: Any) -> bool:
        """Return whether two values of an axis are equal within the tolerances."""
        tree = self.axes.trees[axis]
        pairs = zip(taken_apart(tree, answer), taken_apart(tree, wanted), strict=True)
        return all(is_close(found, value, *self.tolerance) for found, value in pairs)


def cast(axis: str, kind: Any, value: Any) -> Any:
    """Convert a value of an axis to a type of the program.

    Raises NoSolution for NaN and infinities, WrongArguments for values of another type.
    """
    if is_array(kind):
        return _cast_array(axis, kind.domain, value)
    if isinstance(value, np.ndarray) and value.ndim == 0:  # np.where returns these for numbers
        value = value[()]
    if kind is float and isinstance(value, (int, float, np.integer, np.floating)):
        try:
            number = float(value)
        except OverflowError as error:
            raise NoSolution(f"{axis} is too large for a float", where=caller()) from error
        if not math.isfinite(number):
            raise NoSolution(f"{axis} = {value!r} is not finite", where=caller(), help=FINITE)
        return number
    if kind is complex and isinstance(value, (int, float, complex, np.number)):
        whole = complex(value)
        if not cmath.isfinite(whole):
            raise NoSolution(f"{axis} = {value!r} is not finite", where=caller(), help=FINITE)
        return whole
    if is_list(kind) and isinstance(value, list):
        return [
            cast(f"{axis}[{i}]", element_of_sequence(kind), item) for i, item in enumerate(value)
        ]
    domain = domain_of(kind)
    if kind is float or (domain is not None and not domain.contains(value)):
        raise WrongArguments(
            f"{axis} = {value!r} is not a value of type {getattr(kind, '__name__', kind)}",
            where=caller(),
            help="give a value of this type, or for several values inv.batch(array); or invert the "
            "function for the type of this value",
        )
    return value if domain is None else domain.cast(value)


def _cast_array(axis: str, domain: Arrays, value: Any) -> Any:
    try:
        array = np.asarray(value)
    except ValueError as error:  # rows of different lengths
        raise WrongArguments(
            f"{axis} is not an array: {error}", where=caller(), help="give rows of one length"
        ) from error
    if array.shape != domain.shape:
        empty = ", without elements" if not array.size else ""
        raise WrongArguments(
            f"{axis} is an array of shape {array.shape}{empty}; the inverse takes shape "
            f"{domain.shape}",
            where=caller(),
            help="give an array of this shape, or call invert with an example of another shape",
        )
    numbers = fitted(array, domain.element) if array.dtype.kind in "biufc" else None
    if numbers is None:
        raise WrongArguments(
            f"{axis} is an array of {array.dtype}; the inverse takes {domain.element.dtype}",
            where=caller(),
            help="convert it with .astype(...)",
        )
    if numbers.dtype.kind in "fc" and not np.isfinite(numbers).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(numbers))[0])
        raise NoSolution(
            f"{axis}[{', '.join(map(str, at))}] = {numbers[at]} is not finite", where=caller()
        )
    return np.array(numbers, order="C")


def is_close(answer: Any, wanted: Any, rtol: float, atol: float) -> bool:
    """Return whether two numbers, or all elements of two arrays or lists, agree within the
    tolerances.
    """
    if isinstance(wanted, list):
        pairs = zip(answer, wanted, strict=False)
        return len(answer) == len(wanted) and all(
            is_close(one, other, rtol, atol) for one, other in pairs
        )
    if isinstance(wanted, (float, complex)) or (
        isinstance(wanted, np.ndarray) and wanted.dtype.kind in "fc"
    ):
        return bool(np.all(abs(answer - wanted) <= margin(wanted, rtol, atol)))
    return bool(np.all(answer == wanted))


def dtype_of(kind: Any) -> np.dtype[Any]:
    """The dtype of an array of values of a type."""
    domain = domain_of(kind)
    return np.dtype(object) if domain is None else domain.dtype


def example_of(kind: Any) -> Any:
    """An example value of a type, for compilation. Raises NotCompilable if there is none."""
    domain = domain_of(kind)
    if domain is None or is_sequence(kind):
        shown = getattr(kind, "__name__", repr(kind))
        raise NotCompilable(
            f"values of type {shown} are not compiled",
            where=caller(),
            help="call the inverse itself, which is interpreted",
        )
    return domain.default


def as_text(value: Any) -> str:
    """One line of text for a value in a message. Large arrays, and integers with more digits than
    Python writes, are abbreviated.
    """
    try:
        with np.printoptions(threshold=6, edgeitems=2):
            return " ".join(repr(value).split())
    except ValueError:
        return "an integer of thousands of digits"


def fits(array: NDArray[Any], domain: Domain) -> bool:
    """Return whether the conversion of an array to a domain's dtype changes no value."""
    wanted = domain.dtype.base
    if wanted.kind in "fc":
        return np.can_cast(array.dtype, wanted, "same_kind")
    if array.dtype.kind not in "biu":
        return False
    if array.dtype == wanted or not array.size:
        return True
    low, high = (0, 1) if wanted.kind == "b" else (np.iinfo(wanted).min, np.iinfo(wanted).max)
    return int(low) <= int(array.min()) and int(array.max()) <= int(high)


def fitted(array: NDArray[Any], domain: Domain) -> NDArray[Any] | None:
    """The array converted to the dtype of a domain, or of its elements for a domain of arrays; None
    if that would change values.
    """
    return array.astype(domain.dtype.base, copy=False) if fits(array, domain) else None
