"""Linear and multilinear functions of arrays: lifted as a product with a matrix.

The matrix is computed from the function itself, by unit vectors. The registry of derivatives says
which functions are linear in which arguments; ``DATA`` says it for the other linear ones.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inversion.lifting.array_calls import ArrayCall, operands_in
from inversion.lifting.elements import each
from inversion.lifting.lifted_values import Tupled, Value, value_of
from inversion.program.statements import Constant, Operand, Variable
from overlay.interpretations.autodiff.rules.array_rules import array_rule_of
from primitives.arrays.domain import element_of, is_array, shape_of

__all__ = ["linear_call"]

MOST_COEFFICIENTS = 1 << 22
"""The largest number of elements of a matrix that is computed from unit vectors."""

_TRAPEZOID: Any = getattr(np, "trapezoid", None) or getattr(np, "trapz", None)

DATA: Mapping[Any, tuple[str, ...]] = {
    np.gradient: ("f",),
    _TRAPEZOID: ("y",),
    np.average: ("a",),
    np.cross: ("a", "b"),
    np.interp: ("fp",),
    np.polyval: ("p",),
    np.polyder: ("p",),
    np.polyint: ("p",),
    np.pad: ("array",),
    **dict.fromkeys((np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn), ("a",)),
    **dict.fromkeys((np.fft.rfft2, np.fft.rfftn, np.fft.irfft2, np.fft.irfftn), ("a",)),
}
"""The arguments in each of which a function is linear, for functions that are defined by others."""

APART = frozenset((np.real, np.imag, np.conjugate, operator.getitem))
"""Functions that are linear, and have a relation for each element."""


def linear_call(call: ArrayCall) -> Value | None:
    """The result of a call of a function that is linear in the arguments that are not constant;
    None for any other.
    """
    target, rule = call.target, array_rule_of(call.target)
    together = rule is not None and rule.kind == "linear"
    names = rule.data if rule is not None and (together or rule.kind == "multilinear") else None
    names = DATA.get(target) if names is None else names
    if names is None or target in APART:
        return None
    given = call.by_name()
    if given is None:
        return None
    parts = {n: [*operands_in(value)] for n, value in given.arguments.items()}
    varying = {n: [v for v in vs if isinstance(v, Variable)] for n, vs in parts.items()}
    if any(varying[n] for n in varying if n not in names):
        return None
    every = [v for n in names for v in varying.get(n, ())]
    groups = [every] if together else [[v] for v in every]
    if len(groups) > 2 or not all(groups):
        return None
    if every != call.variables:  # they have another order
        return None
    map_ = _Map(call, [_Vector(tuple(group)) for group in groups])
    return map_.value()


@dataclass(frozen=True)
class _Vector:
    """Operands as one vector of real numbers: for complex numbers the real parts, then the
    imaginary ones.
    """

    operands: tuple[Variable, ...]

    @property
    def size(self) -> int:
        return sum(map(_reals, self.operands))

    def units(self) -> Iterator[list[Any]]:
        """The operands' values for each unit vector."""
        for i in range(self.size):
            unit = np.zeros(self.size)
            unit[i] = 1.0
            yield self.values(unit)

    def values(self, vector: NDArray[np.float64]) -> list[Any]:
        """The operands' values for a vector."""
        found: list[Any] = []
        start = 0
        for operand in self.operands:
            count, element = math.prod(shape_of(operand.kind)), element_of(operand.kind)
            flat = vector[start : start + count]
            if element is complex:
                flat = flat + 1j * vector[start + count : start + 2 * count]
            elif element is not float:
                flat = flat.astype(np.int64)
            start += _reals(operand)
            shape = shape_of(operand.kind)
            found.append(flat.reshape(shape) if is_array(operand.kind) else flat[0])
        return found

    def lifted(self, call: ArrayCall) -> Operand:
        """The vector, as an operand of the program."""
        parts: list[Value] = []
        for operand in self.operands:
            reals: list[Value] = [operand]
            if element_of(operand.kind) is complex:
                reals = [_call(call, np.real, operand), _call(call, np.imag, operand)]
            parts += [
                _call(call, np.ravel, part) if is_array(part.kind) else part for part in reals
            ]
        parts = [part if is_array(part.kind) else _array(call, [part]) for part in parts]
        found = parts[0]
        if len(parts) > 1:
            found = _call(call, np.concatenate, Tupled(tuple, tuple(parts)))
        assert isinstance(found, (Variable, Constant))
        return found


def _reals(operand: Variable) -> int:
    count = math.prod(shape_of(operand.kind))
    return 2 * count if element_of(operand.kind) is complex else count


def _call(call: ArrayCall, target: Any, *args: Value) -> Value:
    return call.lifter.call(call.site, (target,), args, {})


def _array(call: ArrayCall, items: Sequence[Value]) -> Value:
    return _call(call, np.array, Tupled(list, tuple(items)))


@dataclass(frozen=True)
class _Map:
    """A function that is linear in one vector, or in each of two."""

    call: ArrayCall
    vectors: list[_Vector]

    def value(self) -> Value | None:
        """The result in the program; None if the matrix would be too large."""
        sizes = [vector.size for vector in self.vectors]
        origin = self.at([vector.values(np.zeros(vector.size)) for vector in self.vectors])
        if math.prod(sizes) * max(origin.size, 1) > MOST_COEFFICIENTS or not origin.size:
            return None
        # for a function linear in each of two vectors, constant elements are 0
        offset = origin if len(sizes) == 1 else np.zeros_like(origin)
        columns = [
            (self.at([*values]) - offset).ravel()
            for values in itertools.product(*(vector.units() for vector in self.vectors))
        ]
        matrix = np.stack(columns, axis=1)
        if not self.holds(matrix, offset):
            return None
        vector = self.vectors[0].lifted(self.call)
        if len(sizes) == 2:
            both = self.vectors[1].lifted(self.call)
            tall = _call(self.call, np.reshape, vector, value_of((sizes[0], 1)))
            vector = _call(self.call, np.ravel, _call(self.call, operator.mul, tall, both))
        found = self.parts(matrix, vector, origin.shape)
        if np.any(offset):
            found = _call(self.call, operator.add, found, value_of(offset))
        return found

    def holds(self, matrix: NDArray[Any], offset: NDArray[Any]) -> bool:
        """Return whether the function agrees with the product at another point."""
        rng = np.random.default_rng(0)
        points = [rng.integers(-9, 10, vector.size).astype(float) for vector in self.vectors]
        given = [v.values(point) for v, point in zip(self.vectors, points, strict=True)]
        product = points[0] if len(points) == 1 else np.outer(*points).ravel()
        wanted = self.at(given) - offset
        return bool(np.allclose(matrix @ product, wanted.ravel(), rtol=1e-9, atol=1e-9))

    def parts(self, matrix: NDArray[Any], vector: Value, shape: tuple[int, ...]) -> Value:
        """The product, as an array or number of this shape."""
        if np.iscomplexobj(matrix):
            real = self.product(np.ascontiguousarray(np.real(matrix)), vector, shape)
            imag = self.product(np.ascontiguousarray(np.imag(matrix)), vector, shape)
            return self.complex(real, imag)
        return self.product(matrix, vector, shape)

    def complex(self, real: Value, imag: Value) -> Value:
        """Complex numbers, from their parts."""
        if not is_array(real.kind):
            return _call(self.call, complex, real, imag)
        return each(ArrayCall(self.call.lifter, self.call.site, complex, [real, imag], {}))

    def product(self, matrix: NDArray[Any], vector: Value, shape: tuple[int, ...]) -> Value:
        """The product with a real matrix; for integers, as sums."""
        if not np.any(matrix):
            return value_of(np.zeros(shape) if shape else 0.0)
        if element_of(vector.kind) is float:
            found = _call(self.call, np.matmul, value_of(np.asarray(matrix, np.float64)), vector)
        else:
            terms = _call(self.call, operator.mul, value_of(matrix), vector)
            found = self.call.lifter.call(self.call.site, (np.sum,), [terms], {"axis": value_of(1)})
        return (
            _call(self.call, np.reshape, found, value_of(shape))
            if shape
            else _first(self.call, found)
        )

    def at(self, values: Sequence[Sequence[Any]]) -> NDArray[Any]:
        """The function at values of the operands that are not constant."""
        left = iter([value for given in values for value in given])
        args, kwargs = self.call.filled(
            lambda v: next(left) if isinstance(v, Variable) else v.value
        )
        found = self.call.of_numpy(lambda: self.call.target(*args, **kwargs))
        return np.asarray(found)


def _first(call: ArrayCall, vector: Value) -> Value:
    return _call(call, operator.getitem, vector, value_of(0))
