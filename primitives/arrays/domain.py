"""Arrays of one shape: their types, and their domains."""

from __future__ import annotations

import ast
import functools
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay.core.location import caller
from overlay.core.public_names import hides
from overlay.core.signature import _ArrayMeta, array_type
from primitives.domains import Domain, different_members, domain_of
from primitives.errors import OutsideDomain, WrongArguments

__all__ = [
    "ELEMENTS",
    "Arrays",
    "Shape",
    "array_of",
    "element_of",
    "is_array",
    "shape_of",
    "type_of_array",
]

ELEMENTS: dict[Any, Any] = {
    np.float64: float,
    np.complex128: complex,
    np.bool_: bool,
    np.int64: np.int64,
    np.uint64: np.uint64,
}
"""The types of elements, by numpy's scalar type."""


class _Shaped(_ArrayMeta):
    """The metaclass of the types of arrays with known shape."""

    shape: tuple[int, ...]
    element: type

    @property
    def domain(self) -> Arrays:
        """The domain of all arrays of the type."""
        element = domain_of(self.element)
        assert element is not None
        return Arrays(element, self.shape)


@functools.cache
def array_of(element: type, shape: tuple[int, ...]) -> type:
    """The type of the arrays with a given shape and element type.

    It is a subclass of the type that ``NDArray[...]`` stands for in a signature, so that methods
    for arrays accept it.

    Parameters
    ----------
    element : type
        ``float``, ``complex``, ``bool``, ``numpy.int64`` or ``numpy.uint64``.
    shape : tuple of int
        The length of each axis, at least 1.

    Returns
    -------
    type
        The type; calls with equal arguments return one and the same type.

    Examples
    --------
    >>> array_of(float, (2, 3))
    <class 'primitives.arrays.domain.float64[2, 3]'>
    """
    scalar = np.dtype(element).type
    base = array_type(scalar, len(shape))
    name = f"{scalar.__name__}[{', '.join(map(str, shape))}]"
    parts: dict[str, Any] = {"dtype": scalar, "ndim": len(shape), "shape": shape}
    return _Shaped(name, (base,), {**parts, "element": element, "__module__": __name__})


def is_array(kind: Any) -> bool:
    """Return whether a type is one of arrays with known shape."""
    return isinstance(kind, _Shaped)


def shape_of(kind: Any) -> tuple[int, ...]:
    """The shape of arrays of a type; () for numbers."""
    return kind.shape if isinstance(kind, _Shaped) else ()


def element_of(kind: Any) -> Any:
    """The element type of arrays of a type; for the type of a number, the type itself."""
    return kind.element if isinstance(kind, _Shaped) else kind


def type_of_array(value: NDArray[Any]) -> type:
    """The type of an array. Raises WrongArguments for unsupported elements, or an empty array."""
    element = ELEMENTS.get(value.dtype.type)
    if element is None or not value.dtype.isnative:
        raise WrongArguments(
            f"arrays of {value.dtype} have no relations",
            where=caller(),
            help="use float64, complex128, int64, uint64 or bool: convert with .astype(...)",
        )
    if not value.size:
        raise WrongArguments(
            f"an array of shape {value.shape} has no elements",
            where=caller(),
            help="give an array with at least one element",
        )
    return array_of(element, value.shape) if value.shape else element


class Shape:
    """The shape of an array, in its annotation: ``Annotated[NDArray[float64], Shape(3, 4)]``.

    Parameters
    ----------
    *lengths : int
        The length of each axis, at least 1.

    Raises
    ------
    WrongArguments
        No length is given, or one is less than 1: the array would have no elements.

    Examples
    --------
    >>> Shape(3, 4)
    Shape(3, 4)
    """

    def __init__(self, *lengths: int) -> None:
        if not lengths or any(length < 1 for length in lengths):
            raise WrongArguments(
                f"an array of shape {lengths} has no elements",
                where=caller(),
                help="give the length of each axis, at least 1",
            )
        self.lengths = lengths

    def __repr__(self) -> str:
        return f"Shape({', '.join(map(str, self.lengths))})"


@hides("size")
@dataclass(frozen=True)
class Arrays(Domain):
    """The domain of arrays of one shape whose elements lie in a domain.

    Attributes
    ----------
    element : Domain
        The domain of the elements.
    shape : tuple of int
        The length of each axis.

    Examples
    --------
    >>> from primitives import Reals
    >>> Arrays(Reals(0, 1), (2,)).contains([0.5, 1.0])
    True
    """

    element: Domain
    shape: tuple[int, ...]
    kind: type = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", array_of(self.element.kind, self.shape))

    def __repr__(self) -> str:
        return f"Arrays({self.element!r}, {self.shape})"

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def contains(self, value: Any) -> bool:
        try:
            array = np.asarray(value)
        except ValueError:  # rows of different lengths
            return False
        if array.shape != self.shape or array.dtype.kind not in "biufc":
            return False
        with np.errstate(invalid="ignore"):
            return bool(np.all(_test(self.element)(array)))

    def spread(self, units: NDArray[np.float64]) -> NDArray[Any]:
        return self.element.spread(units.reshape(-1)).reshape((*units.shape[:-1], *self.shape))

    def from_unit(self, u: Any) -> Any:
        """Map ``size`` numbers in [0, 1] to an array.

        Parameters
        ----------
        u : array_like of float
            The numbers, one for each element.

        Returns
        -------
        ndarray
            The array, of shape ``shape``.

        Raises
        ------
        OutsideDomain
            There are not ``size`` numbers, or one is outside [0, 1].
        """
        units = np.asarray(u, dtype=np.float64).reshape(-1)
        if units.size != self.size or not np.all((units >= 0) & (units <= 1)):
            raise OutsideDomain(
                f"{u!r} is not {self.size} numbers in [0, 1]",
                where=caller(),
                help="give one number in [0, 1] for each element",
            )
        return self.spread(units)

    def sample(self, rng: np.random.Generator, size: int | None = None) -> Any:
        lead = () if size is None else (size,)
        count = self.size * (1 if size is None else size)
        return np.asarray(self.element.sample(rng, count)).reshape((*lead, *self.shape))

    @property
    def default(self) -> Any:
        return np.full(self.shape, self.element.default, dtype=self.element.dtype)

    @property
    def edges(self) -> tuple[Any, ...]:
        found = self.element.edges
        mixed = [found[(3 * i) % len(found)] for i in range(self.size)]
        last = np.array(mixed, dtype=self.element.dtype).reshape(self.shape)
        full = [np.full(self.shape, e, dtype=self.element.dtype) for e in found]
        return (*full, last)

    def condition(self, name: str, kind: type | None = None) -> str:
        text = self.element.condition(name, element_of(kind) if kind is not None else None)
        return "True" if text == "True" else f"({_of_arrays(text)}).all()"

    def meet(self, other: Domain) -> Domain:
        if not isinstance(other, Arrays) or other.shape != self.shape:
            raise different_members(self, other)
        return Arrays(self.element.meet(other.element), self.shape)

    @property
    def total(self) -> bool:
        return self.element.total

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype((self.element.dtype, self.shape))

    def cast(self, value: Any) -> Any:
        return np.array(value, dtype=self.element.dtype, order="C")


class _Elementwise(ast.NodeTransformer):
    """Rewriter of a test of one number into an elementwise test of an array."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        sign = ast.BitAnd() if isinstance(node.op, ast.And) else ast.BitOr()
        return _joined([self.visit(value) for value in node.values], sign)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        sides = [node.left, *node.comparators]
        parts = [ast.Compare(sides[i], [sign], [sides[i + 1]]) for i, sign in enumerate(node.ops)]
        return _joined(parts, ast.BitAnd())


def _joined(parts: list[Any], sign: ast.operator) -> ast.AST:
    return functools.reduce(lambda one, other: ast.BinOp(one, sign, other), parts)


def _of_arrays(condition: str) -> str:
    tree = ast.parse(condition, mode="eval")
    return ast.unparse(ast.fix_missing_locations(_Elementwise().visit(tree)))


@functools.cache
def _test(element: Domain) -> Any:
    """The function that tests each element of an array for membership in a domain."""
    text = element.condition("x", float if element.kind is not complex else None)
    return eval(f"lambda x: {_of_arrays(text)}", {"inf": math.inf})
