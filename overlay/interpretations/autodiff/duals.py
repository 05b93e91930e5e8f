"""Dual numbers: a value with its tangents, one class for each nesting level.

A nested derivative has its own duals, whose values and tangents are those of the enclosing level.
So perturbations are never confused, in either engine.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from overlay import Context
from overlay.contexts.rules_alone import as_c_calls
from overlay.core.in_force import methods_run_natively
from overlay.core.late_binding import LateBound
from overlay.interpretations.autodiff.errors import refuse_use
from overlay.interpretations.autodiff.rules.tables.layouts import astype

__all__ = ["Active", "ActiveArray", "ActiveNumber", "array_class", "number_class", "primal"]


# bound late: rules make duals
applied: LateBound[Callable[..., Any]] = LateBound()
applied_ufunc: LateBound[Callable[..., Any]] = LateBound()


def primal(x: Any) -> Any:
    """A value without the tangents of any level."""
    return x


@methods_run_natively
class Active:
    """A value that carries tangents. ``value`` and each of the ``tangents`` have the same shape.

    C code calls its operators directly; code in the context does not need them. Conversions that
    would lose the tangents are refused.
    """

    __slots__ = ()
    value: Any
    tangents: tuple[Any, ...]
    context: Context
    level: Any
    __overlay_interpreted__ = True
    __overlay_underlying__ = "value"

    @property
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The class of the value, as ``isinstance``, patterns and ``singledispatch`` read it in C
        code and in Python. ``type(x)`` has a method in the context."""
        return self.value.__class__

    def __hash__(self) -> int:
        refuse_use("a set or dict, which finds things by their hashes")

    def __float__(self) -> float:
        refuse_use("a C function that takes a float")

    def __complex__(self) -> complex:
        refuse_use("a C function that takes a complex number")

    def __int__(self) -> int:
        return int(self.value)

    def as_integer_ratio(self) -> tuple[int, int]:
        refuse_use("a function that computes with exact fractions")

    def __reduce_ex__(self, protocol: Any) -> Any:
        refuse_use("pickle, or a copy by its protocol")

    def __repr__(self) -> str:
        return repr(self.value)

    def __str__(self) -> str:
        return str(self.value)

    def __format__(self, form: str) -> str:
        return format(self.value, form)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        refuse_use("numpy, which makes an array of it")

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return applied_ufunc.load()(ufunc, method, args, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return applied.load()(function, args, kwargs)


def _refuse_attribute(kind: type, shown: str, name: str) -> NoReturn:
    """Refuse an attribute that plain values have and active ones do not."""
    if not name.startswith("_") and hasattr(kind, name):
        refuse_use(f"{shown}.{name}")
    raise AttributeError(f"an active value has no attribute {name!r}")


@methods_run_natively
class Flat:
    """The elements of an active array, an iterator as ``ndarray.flat`` is one.

    index: the number of elements that were iterated over.
    """

    def __init__(self, base: ActiveArray) -> None:
        self.base, self.index = base, 0

    @property
    def coords(self) -> tuple[Any, ...]:
        """The index of the next element."""
        if self.index == len(self):
            return self.base.shape
        return tuple(map(int, np.unravel_index(self.index, self.base.shape)))

    def _items(self) -> Any:
        return as_c_calls(self.base.context, np.ravel, self.base)

    def __iter__(self) -> Any:
        self.index = 0
        return self

    def __next__(self) -> Any:
        if self.index == len(self):
            raise StopIteration
        place = self.coords
        self.index += 1
        return self.base[place]  # type: ignore[index]

    def __len__(self) -> int:
        return self.base.size

    def __getitem__(self, index: Any) -> Any:
        return self._items()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        places = np.arange(len(self))[index]
        as_c_calls(self.base.context, np.put, self.base, places, value)


class ActiveNumber(Active):
    """An active number."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return bool(self.value)

    def __iter__(self) -> Any:
        raise TypeError("an active number is not iterable")

    def __len__(self) -> int:
        raise TypeError("an active number has no length")

    def __getitem__(self, index: Any) -> Any:
        if type(index) is tuple and not index:
            return self  # also for rules: a float of the program stands for one of numpy in them
        raise TypeError("an active number is not subscriptable")

    def __round__(self, *digits: int) -> Any:
        return as_c_calls(self.context, round, self, *digits)

    def __getattr__(self, name: str) -> Any:
        _refuse_attribute(np.float64, "float", name)


class ActiveArray(Active):
    """An active array: an array of values, and one of the same shape for each tangent."""

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def size(self) -> int:
        return self.value.size

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    @property
    def flat(self) -> Any:
        return Flat(self)

    def fill(self, value: Any) -> None:
        self[:] = value  # type: ignore[index]

    def __getattr__(self, name: str) -> Any:
        _refuse_attribute(np.ndarray, "ndarray", name)

    def reshape(self, *shape: Any) -> Any:
        return as_c_calls(self.context, np.reshape, self, shape[0] if len(shape) == 1 else shape)

    @property
    def mT(self) -> Any:  # noqa: N802 (numpy's name)
        return as_c_calls(self.context, np.swapaxes, self, -1, -2)

    def compress(self, condition: Any, axis: Any = None) -> Any:
        return as_c_calls(self.context, np.compress, condition, self, axis)

    def transpose(self, *axes: Any) -> Any:
        given = axes[0] if len(axes) == 1 else axes or None
        return as_c_calls(self.context, np.transpose, self, given)

    def item(self, *index: Any) -> Any:
        if not index and self.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        if len(index) == 1 and not isinstance(index[0], tuple):
            return self.flat[index[0]]
        place = (index[0] if len(index) == 1 else index) or (0,) * self.ndim
        return self[place]  # type: ignore[index]

    def tolist(self) -> Any:
        if not self.ndim:
            return self.item()
        return [part.tolist() if isinstance(part, ActiveArray) else part for part in self]

    def astype(
        self,
        dtype: Any,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> Any:
        if np.dtype(dtype) == object:
            refuse_use("ndarray.astype(object)")
        if np.dtype(dtype) == self.dtype and not copy:
            return self
        return applied.load()(astype, (self, dtype), {})

    def __bool__(self) -> bool:
        return bool(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Any:
        item: Any = operator.getitem
        return (as_c_calls(self.context, item, self, i) for i in range(len(self.value)))


def _reflected(function: Callable[..., Any], swapped: bool) -> Callable[..., Any]:
    """A special method that calls an operator with the rules of its class."""

    def method(self: Active, *others: Any, **named: Any) -> Any:
        args = (*others, self) if swapped else (self, *others)
        return as_c_calls(self.context, function, *args, **named)

    return method


def _copied(a: Any, order: Any = "C") -> Any:
    """``ndarray.copy``, whose default order is not that of ``np.copy``."""
    return np.copy(a, order=order)


def _flattened(a: Any, order: Any = "C") -> Any:
    """``ndarray.flatten``: always a copy."""
    return np.copy(np.ravel(a, order=order))


def _sorted(a: Any, axis: int = -1, kind: Any = None, order: Any = None, **named: Any) -> None:
    """``ndarray.sort``: in place."""
    a[...] = np.sort(a, axis, kind, order, **named)


def _partitioned(a: Any, kth: Any, axis: int = -1, kind: Any = "introselect") -> None:
    """``ndarray.partition``: in place."""
    a[...] = np.partition(a, kth, axis, kind)


def _clipped(a: Any, min: Any = None, max: Any = None, out: Any = None) -> Any:
    found = np.clip(a, min, max)
    if out is None:
        return found
    out[...] = found
    return out


BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
METHODS = {
    **{name: getattr(np, name) for name in ("sum", "mean", "prod", "dot", "ravel")},
    **{name: getattr(np, name) for name in ("cumsum", "max", "min", "swapaxes", "squeeze")},
    **{name: getattr(np, name) for name in ("repeat", "take", "put")},
    **{name: getattr(np, name) for name in ("argmax", "argmin", "trace", "diagonal")},
    **{name: getattr(np, name) for name in ("std", "var", "cumprod", "argsort", "any", "all")},
    **{name: getattr(np, name) for name in ("argpartition", "searchsorted", "conj", "conjugate")},
    **{name: getattr(np, name) for name in ("round", "nonzero")},
    "clip": _clipped,
    "sort": _sorted,
    "partition": _partitioned,
    "copy": _copied,
    "flatten": _flattened,
}
for _name in (*BINARY, *COMPARISONS, "neg", "pos", "abs"):
    setattr(Active, f"__{_name}__", _reflected(getattr(operator, _name), swapped=False))
for _name in BINARY:
    setattr(Active, f"__r{_name}__", _reflected(getattr(operator, _name), swapped=True))
for _name in ("floor", "ceil", "trunc"):
    setattr(ActiveNumber, f"__{_name}__", _reflected(getattr(math, _name), swapped=False))
for _name in ("getitem", "setitem"):
    setattr(ActiveArray, f"__{_name}__", _reflected(getattr(operator, _name), swapped=False))
ActiveArray.__abs__ = _reflected(np.absolute, swapped=False)  # type: ignore[attr-defined]
Active.real = property(_reflected(np.real, swapped=False))  # type: ignore[attr-defined]
Active.imag = property(_reflected(np.imag, swapped=False))  # type: ignore[attr-defined]
ActiveArray.T = property(_reflected(np.transpose, swapped=False))  # type: ignore[attr-defined]
for _name, _function in METHODS.items():
    setattr(ActiveArray, _name, _reflected(_function, swapped=False))


class _Fields(NamedTuple):
    value: Any
    tangents: Any


def _class(name: str, base: type[Active]) -> Any:
    return type(name, (base, _Fields), {"__slots__": (), "__module__": __name__})


def number_class(depth: int, count: int) -> Any:
    """The class of active numbers of a nesting level, with this number of tangents."""
    made = _class(f"Dual{depth}_{count}", ActiveNumber)
    made.__overlay_level__ = depth
    return made


def array_class(depth: int, count: int) -> Any:
    """The class of active arrays of a nesting level, with this number of tangents."""
    return _class(f"DualArray{depth}_{count}", ActiveArray)
