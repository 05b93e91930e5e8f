"""The tape of reverse mode: linear maps that a run records, and that cotangents pass backwards.

A tangent on a tape is an array of *places*: for each of its numbers the index of a variable, 0
for the constant zero. So an operation that moves numbers, views and writes into arrays among
them, is the same operation on an array of integers.

Tapes nest in each other and in forward levels: places are plain, while the factors and the values
in the maps of a tape may be active in the enclosing levels. Its backward pass is then a program
that these levels differentiate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from overlay import nonoverlay
from overlay.interpretations.autodiff.duals import Active
from overlay.interpretations.autodiff.errors import refuse_stale
from overlay.interpretations.autodiff.plain_values import plain

__all__ = ["LinearTape", "TapeTangent", "recording", "tape_zeros"]

MOST_TERMS = 3
"""The maximal number of terms of a sum that is recorded as one map."""


class LinearTape:
    """Linear maps between numbered variables, in the order in which a run made them."""

    def __init__(self) -> None:
        self.count = 1
        self.is_complex = False
        self._maps: list[Callable[[Any], None]] = []

    def variables(self, like: Any) -> TapeTangent:
        """New variables, one for each number of a value."""
        like = plain(like)
        shape, is_complex = np.shape(like), np.iscomplexobj(like)
        places = self._new(shape, is_complex, _is_fortran(like))
        return TapeTangent(self, places, shape, is_complex)

    def _new(self, shape: tuple[int, ...], is_complex: bool, is_fortran: bool) -> Any:
        """New places, laid out in memory as the value is, so that views of one correspond to
        views of the other.
        """
        start = self.count
        self.is_complex |= is_complex
        if not shape:
            self.count += 1
            return start
        self.count += math.prod(shape)
        places = np.arange(start, self.count).reshape(shape)
        return np.asfortranarray(places) if is_fortran else places

    def record(
        self,
        values: Sequence[Any],
        sources: Sequence[TapeTangent],
        vjp: Callable[..., Sequence[Any]],
    ) -> list[TapeTangent]:
        """The tangents of the results of a call, which are a linear map of the sources. values: the
        results. vjp: maps their cotangents to those of the sources."""
        # read when the map is made: a later write into an array changes its places
        into = [(_kept(each.places), each.is_complex) for each in sources]
        starts: list[int] = []
        results: list[TapeTangent] = []
        shapes = [(np.shape(value), np.iscomplexobj(value)) for value in map(plain, values)]
        for value in values:
            starts.append(self.count)
            results.append(self.variables(value))

        def back(total: Any) -> None:
            found = [_part(total, start, *of) for start, of in zip(starts, shapes, strict=True)]
            if not any(map(_may_matter, found)):
                return
            given = [d[()] for d in found]
            for (places, is_complex), change in zip(into, vjp(*given), strict=True):
                _add(total, places, change, is_complex)

        self._maps.append(back)
        return results

    def add_terms(self, terms: Sequence[Any], shape: tuple[int, ...], is_complex: bool) -> Any:
        """The places of a sum of multiples."""
        start = self.count
        if not shape:
            self.count += 1
            self.is_complex |= is_complex
            self._maps.append(_sum_of_numbers(start, is_complex, terms))
            return start
        whole = [places for _, places, _ in terms if np.shape(places) == shape]
        made = self._new(shape, is_complex, bool(whole) and all(map(_is_fortran, whole)))
        self._maps.append(_sum_of_arrays(start, shape, is_complex, terms))
        return made

    def pull_back(self, results: Sequence[tuple[TapeTangent, Any]]) -> Any:
        """The cotangent of each variable, from those of the results. In the context of enclosing
        levels the array of them is active."""
        is_complex = self.is_complex or any(np.iscomplexobj(d) for _, d in results)
        seeds = [(each.places, d, each.is_complex) for each, d in results]
        total = np.zeros(self.count)
        if is_complex:
            total = total + 0j
        for seed in seeds:
            _add(total, *seed)
        with np.errstate(all="ignore"):
            for back in reversed(self._maps):
                back(total)
        return total


def _part(total: Any, start: int, shape: tuple[int, ...], of_complex: bool) -> Any:
    """The cotangent of an array, whose variables follow each other."""
    d = total[start : start + math.prod(shape)].reshape(shape)
    if isinstance(d, Active):
        whole: Any = d
        d = +whole  # on an enclosing tape, a part is not read after a write to the whole
    return np.real(d) if np.iscomplexobj(d) and not of_complex else d


def _may_matter(d: Any) -> bool:
    """Whether a cotangent has to be propagated: it or its tangents may differ from zero."""
    return isinstance(d, Active) or bool(np.any(d))


def _is_fortran(x: Any) -> bool:
    return type(x) is np.ndarray and x.flags.fnc  # column-major, and not both


def _kept(places: Any) -> Any:
    """Places that do not change with an array that is written to."""
    return places if isinstance(places, int) else places.copy(order="K")


def _add(total: Any, places: Any, change: Any, is_complex: bool) -> None:
    if not is_complex:
        change = np.real(change)
    if isinstance(places, int):
        total[places] += np.sum(change)
    else:
        np.add.at(total, places.reshape(-1), np.broadcast_to(change, places.shape).reshape(-1))


def _sum_of_numbers(place: int, of_complex: bool, terms: Sequence[Any]) -> Callable[[Any], None]:
    def back(total: Any) -> None:
        d = total[place] if of_complex else total[place].real
        if _may_matter(d):
            for factor, source, is_complex in terms:
                change = d * (np.conj(factor) if isinstance(factor, complex) else factor)
                total[source] += change if is_complex else change.real

    return back


def _sum_of_arrays(
    start: int, shape: tuple[int, ...], of_complex: bool, terms: Sequence[Any]
) -> Callable[[Any], None]:
    def back(total: Any) -> None:
        d = _part(total, start, shape, of_complex)
        if _may_matter(d):
            for factor, places, is_complex in terms:
                change = d * np.conj(factor)
                if not isinstance(places, int):
                    places = np.broadcast_to(places, shape)
                _add(total, places, change, is_complex)

    return back


class _Memory:
    """State that the tangents of an array and its views share. linked: those whose values share
    memory with these, and whose places do not; is_stale: whether one of these was written to."""

    __slots__ = ("is_stale", "linked")

    def __init__(self) -> None:
        self.is_stale = False
        self.linked: list[_Memory] = []


class TapeTangent:
    """The tangent of a number or an array on a tape.

    shape: that of the value. places: the variables of its numbers: an integer, or an array of them.
    terms: for a sum that is not recorded yet, its factors and places.
    """

    __slots__ = ("_memory", "_places", "_terms", "is_complex", "shape", "tape")
    __array_ufunc__ = None  # arrays leave their operators to it

    def __init__(
        self,
        tape: LinearTape,
        places: Any,
        shape: tuple[int, ...],
        is_complex: bool = False,
        terms: tuple[Any, ...] | None = None,
        memory: _Memory | None = None,
    ) -> None:
        self.tape, self.shape, self.is_complex = tape, shape, is_complex
        self._places, self._terms = places, terms
        self._memory = memory or (_Memory() if shape else None)

    @property
    def places(self) -> Any:
        """The variables of its numbers."""
        if self._memory is not None and self._memory.is_stale:
            refuse_stale()
        if self._terms is not None:
            self._places = self.tape.add_terms(self._terms, self.shape, self.is_complex)
            self._terms = None
        return self._places

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def _own_terms(self) -> tuple[Any, ...]:
        if self._terms is None:
            return ((1.0, _kept(self.places), self.is_complex),)
        if self._memory is not None and self._memory.is_stale:
            refuse_stale()
        return self._terms

    def shares_values(self, other: TapeTangent) -> None:
        """Note that the values share memory with those of another tangent, and the places do not,
        as of the real part of complex numbers: after a write to one, the other is not read."""
        if self._memory is not None and other._memory is not None:
            self._memory.linked.append(other._memory)
            other._memory.linked.append(self._memory)

    def _scaled(self, factor: Any) -> TapeTangent:
        shape, is_complex = self.shape, self.is_complex
        if isinstance(factor, Active):
            given: Any = factor
            factor = +given  # the program may write into it
            like = plain(factor)
            shape = np.broadcast_shapes(shape, np.shape(like))
            is_complex = is_complex or np.iscomplexobj(like)
        elif isinstance(factor, np.ndarray):
            # the program may write into it; one number is no array
            factor = factor.copy() if factor.shape else factor[()]
            if np.shape(factor) != shape:
                shape = np.broadcast_shapes(shape, np.shape(factor))
            is_complex = is_complex or np.iscomplexobj(factor)
        elif isinstance(factor, complex):
            is_complex = True
        terms = ((factor, _kept(self.places), self.is_complex),)
        return TapeTangent(self.tape, 0, shape, is_complex, terms)

    def __mul__(self, factor: Any) -> Any:
        if not self.shape and type(factor) in _PLAIN:
            terms = ((factor, self.places, self.is_complex),)
            return TapeTangent(self.tape, 0, (), self.is_complex, terms)
        return _outside_scaled(self, factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        return self * (1.0 / divisor)

    def __neg__(self) -> Any:
        return self * -1.0

    def __pos__(self) -> Any:
        return TapeTangent(self.tape, _outside_kept(self.places), self.shape, self.is_complex)

    def __add__(self, other: Any) -> Any:
        return _outside_added(self, other)

    def _added(self, other: Any) -> Any:
        shape = self.shape
        if not isinstance(other, TapeTangent):  # zeros in the shape of the result
            like = plain(other)
            shape = np.broadcast_shapes(shape, np.shape(like))
            is_complex = self.is_complex or np.iscomplexobj(like)
            return TapeTangent(self.tape, 0, shape, is_complex, self._own_terms())
        if other.shape != shape:
            shape = np.broadcast_shapes(shape, other.shape)
        terms = (*self._own_terms(), *other._own_terms())
        if len(terms) > MOST_TERMS:
            both = [each for each in (self, other) if each.places is not None]
            terms = tuple(term for each in both for term in each._own_terms())
        is_complex = self.is_complex or other.is_complex
        return TapeTangent(self.tape, 0, shape, is_complex, terms)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __getitem__(self, index: Any) -> Any:
        return _outside_item(self, index)

    def _item(self, index: Any) -> Any:
        return self.with_places(self.places[index])

    def with_places(self, places: Any) -> TapeTangent:
        """A tangent of other variables on this tape."""
        if isinstance(places, np.ndarray) and places.shape:
            shared = None if places.base is None else self._memory
            return TapeTangent(self.tape, places, places.shape, self.is_complex, None, shared)
        return TapeTangent(self.tape, int(places), (), self.is_complex)

    def __setitem__(self, index: Any, value: Any) -> None:
        _outside_set(self, index, value)

    def _set(self, index: Any, value: Any) -> None:
        # a constant has no variables
        places = value.places if isinstance(value, TapeTangent) else 0
        if self.shape:
            self.places[index] = places
        else:
            self._places, self._terms = int(np.asarray(places).item()), None
        for other in self._memory.linked if self._memory is not None else ():
            other.is_stale = True


_PLAIN = (float, np.float64, int)
# a context has methods for arrays that a program makes, and a user's tables may have others
_outside_scaled, _outside_added = nonoverlay(TapeTangent._scaled), nonoverlay(TapeTangent._added)
_outside_item, _outside_set = nonoverlay(TapeTangent._item), nonoverlay(TapeTangent._set)
_outside_kept = nonoverlay(_kept)
_current: ContextVar[dict[int, LinearTape]] = ContextVar("tapes")


@contextmanager
def recording(tape: LinearTape | None, depth: int) -> Generator[None]:
    """Record on a tape in the level at this depth: arrays that the program makes get places on
    it."""
    around = _current.get({})
    token = _current.set(around if tape is None else {**around, depth: tape})
    try:
        yield
    finally:
        _current.reset(token)


def tape_zeros(depth: int, like: Any) -> TapeTangent:
    """The tangent of a constant, on the tape of the level at this depth."""
    return _outside_zeros(depth, like)


def _zeros(depth: int, like: Any) -> TapeTangent:
    like = plain(like)
    shape = np.shape(like)
    places = np.zeros_like(like, dtype=np.int64) if shape else 0
    return TapeTangent(_current.get()[depth], places, shape, np.iscomplexobj(like))


_outside_zeros = nonoverlay(_zeros)
