"""The tape of reverse mode: linear maps that a run records, and that cotangents pass backwards.

A tangent on a tape is an array of *places*: for each of its numbers the index of a variable, 0 for
the constant zero. So whatever moves numbers about, views and writes into arrays among it, is the
same operation on an array of integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from overlay import nonoverlay

__all__ = ["Tape", "TapeTangent", "recording", "tape_zeros"]

MOST_TERMS = 3
"""The maximal number of terms of a sum that is recorded as one map."""


class Tape:
    """Linear maps between numbered variables, in the order in which a run made them."""

    def __init__(self) -> None:
        self.count = 1
        self.is_complex = False
        self._maps: list[Callable[[Any], None]] = []

    def variables(self, shape: tuple[int, ...], is_complex: bool = False) -> TapeTangent:
        """New variables."""
        size = int(np.prod(shape))
        places = np.arange(self.count, self.count + size).reshape(shape)
        self.count += size
        self.is_complex |= is_complex
        return TapeTangent(self, places, is_complex)

    def record(
        self,
        shapes: Sequence[tuple[tuple[int, ...], bool]],
        sources: Sequence[TapeTangent],
        vjp: Callable[..., Sequence[Any]],
    ) -> list[TapeTangent]:
        """The results of a linear map. shapes: their shapes, and whether they are complex. vjp:
        maps the cotangents of the results to those of the sources."""
        results = [self.variables(*each) for each in shapes]
        starts = [int(each.places.flat[0]) if each.places.size else 0 for each in results]
        # read when the map is made: a later write into an array changes its places
        into = [(each.places.copy(), each.is_complex) for each in sources]

        def back(total: Any) -> None:
            found = [
                total[start : start + each.places.size].reshape(each.places.shape)
                for start, each in zip(starts, results, strict=True)
            ]
            if not any(np.any(d) for d in found):
                return
            given = [
                (d if each.is_complex else np.real(d))[()]
                for d, each in zip(found, results, strict=True)
            ]
            for (places, is_complex), change in zip(into, vjp(*given), strict=True):
                _add(total, places, change, is_complex)

        self._maps.append(back)
        return results

    def add_terms(self, terms: Sequence[Any], shape: tuple[int, ...], is_complex: bool) -> Any:
        """The places of a sum of multiples."""
        made = self.variables(shape, is_complex)
        if not shape:
            self._maps.append(_sum_of_numbers(int(made.places), terms))
        elif made.places.size:
            self._maps.append(_sum_of_arrays(int(made.places.flat[0]), shape, terms))
        return made.places

    def pull_back(self, results: Sequence[tuple[TapeTangent, Any]]) -> Any:
        """The cotangent of each variable, from those of the results."""
        is_complex = self.is_complex or any(np.iscomplexobj(d) for _, d in results)
        seeds = [(each.places, d, each.is_complex) for each, d in results]
        total = np.zeros(self.count, np.complex128 if is_complex else np.float64)
        for seed in seeds:
            _add(total, *seed)
        with np.errstate(all="ignore"):
            for back in reversed(self._maps):
                back(total)
        return total


def _add(total: Any, places: Any, change: Any, is_complex: bool) -> None:
    if not is_complex:
        change = np.real(change)
    np.add.at(total, places.reshape(-1), np.broadcast_to(change, places.shape).reshape(-1))


def _sum_of_numbers(place: int, terms: Sequence[Any]) -> Callable[[Any], None]:
    into = [(factor, int(places), is_complex) for factor, places, is_complex in terms]

    def back(total: Any) -> None:
        d = total[place]
        if d != 0:
            for factor, source, is_complex in into:
                change = d * np.conj(factor) if isinstance(factor, complex) else d * factor
                total[source] += change if is_complex else change.real

    return back


def _sum_of_arrays(
    start: int, shape: tuple[int, ...], terms: Sequence[Any]
) -> Callable[[Any], None]:
    size = int(np.prod(shape))

    def back(total: Any) -> None:
        d = total[start : start + size].reshape(shape)
        if np.any(d):
            for factor, places, is_complex in terms:
                change = d * np.conj(factor)
                _add(total, np.broadcast_to(places, shape), change, is_complex)

    return back


class TapeTangent:
    """The tangent of a number or an array on a tape.

    terms: for a sum that is not recorded yet, its factors and places.
    """

    __slots__ = ("_places", "is_complex", "shape", "tape", "terms")
    __array_ufunc__ = None  # arrays leave their operators to it

    def __init__(self, tape: Tape, places: Any, is_complex: bool = False) -> None:
        self.tape = tape
        self._places = np.asarray(places)
        self.shape: tuple[int, ...] = self._places.shape
        self.is_complex = is_complex
        self.terms: tuple[Any, ...] | None = None

    @property
    def places(self) -> Any:
        """The variables of its numbers."""
        if self.terms is not None:
            self._places = self.tape.add_terms(self.terms, self.shape, self.is_complex)
            self.terms = None
        return self._places

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def _own_terms(self) -> tuple[Any, ...]:
        if self.terms is None:
            # a later write into an array changes its places
            return ((1.0, self._places.copy(), self.is_complex),)
        return self.terms

    def _made(self, terms: tuple[Any, ...], shape: tuple[int, ...], is_complex: bool) -> Any:
        made = TapeTangent(self.tape, 0, is_complex)
        made.terms, made.shape = terms, shape
        return made

    def _scaled(self, factor: Any) -> Any:
        return _outside_scaled(self, factor)

    def _scale(self, factor: Any) -> Any:
        if isinstance(factor, np.ndarray):
            factor = factor.copy()  # the program may write into it
            shape = np.broadcast_shapes(self.shape, factor.shape)
        else:
            shape = self.shape
        is_complex = self.is_complex or np.iscomplexobj(factor)
        self.tape.is_complex |= is_complex
        return self._made(((factor, self.places.copy(), self.is_complex),), shape, is_complex)

    def __mul__(self, factor: Any) -> Any:
        return self._scaled(factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        return self._scaled(1.0 / divisor)

    def __neg__(self) -> Any:
        return self._scaled(-1.0)

    def __pos__(self) -> Any:
        return _outside_copied(self)

    def _copied(self) -> Any:
        return TapeTangent(self.tape, self.places.copy(), self.is_complex)

    def __add__(self, other: Any) -> Any:
        return _outside_added(self, other)

    def _added(self, other: Any) -> Any:
        shape = np.broadcast_shapes(self.shape, np.shape(other))
        if not isinstance(other, TapeTangent):  # zeros in the shape of the result
            return self._made(self._own_terms(), shape, self.is_complex)
        terms = (*self._own_terms(), *other._own_terms())
        if len(terms) > MOST_TERMS:
            both = [each for each in (self, other) if each.places is not None]
            terms = tuple(term for each in both for term in each._own_terms())
        return self._made(terms, shape, self.is_complex or other.is_complex)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __getitem__(self, index: Any) -> Any:
        return _outside_item(self, index)

    def _item(self, index: Any) -> Any:
        return TapeTangent(self.tape, self.places[index], self.is_complex)

    def __setitem__(self, index: Any, value: Any) -> None:
        _outside_set(self, index, value)

    def _set(self, index: Any, value: Any) -> None:
        if isinstance(value, TapeTangent):
            self.places[index] = value.places
        else:
            self.places[index] = 0  # a constant


# a context has methods for arrays that a program makes, and a user's tables may have others
_outside_scaled, _outside_added = nonoverlay(TapeTangent._scale), nonoverlay(TapeTangent._added)
_outside_copied, _outside_item = nonoverlay(TapeTangent._copied), nonoverlay(TapeTangent._item)
_outside_set = nonoverlay(TapeTangent._set)
_current: ContextVar[Tape] = ContextVar("tape")


@contextmanager
def recording(tape: Tape) -> Iterator[None]:
    """Record on a tape: arrays that the program makes get places on it."""
    token = _current.set(tape)
    try:
        yield
    finally:
        _current.reset(token)


def tape_zeros(like: Any) -> TapeTangent:
    """The tangent of a constant."""
    return _outside_zeros(np.shape(like))


def _zeros(shape: tuple[int, ...]) -> TapeTangent:
    return TapeTangent(_current.get(), np.zeros(shape, np.int64))


_outside_zeros = nonoverlay(_zeros)
