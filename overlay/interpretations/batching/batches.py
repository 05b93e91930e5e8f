"""Batches: the values that a program has at one place for several samples."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from overlay import nonoverlay
from overlay.core.in_force import methods_run_natively, runs_natively
from overlay.core.late_binding import LateBound
from overlay.interpretations.batching.sample_runs import BatchRun

__all__ = ["Batch", "distinct", "leaves", "mapped"]

# bound late: the code that applies functions makes batches
applied: LateBound[Callable[..., Any]] = LateBound()
applied_ufunc: LateBound[Callable[..., Any]] = LateBound()
applied_operator: LateBound[Callable[..., Any]] = LateBound()
applied_method: LateBound[Callable[..., Any]] = LateBound()


@methods_run_natively
class Batch:
    """A value for each sample of a run: ``value[i]`` is that of the i-th.

    python: whether each sample's value is a number of Python's, and not one of numpy's. Code that
    needs one answer of a batch, such as ``if``, splits the run where the samples' answers differ.
    """

    __slots__ = ("python", "run", "value")

    def __init__(self, run: BatchRun, value: Any, *, python: bool = False) -> None:
        self.run, self.value, self.python = run, value, python

    @property
    @runs_natively
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The class of a sample's value."""
        if self.value.ndim > 1:
            return np.ndarray
        kind = self.value.dtype
        return _PYTHON[kind.kind] if self.python else kind.type

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape[1:]

    @property
    def ndim(self) -> int:
        return self.value.ndim - 1

    @property
    def size(self) -> int:
        return int(np.prod(self.value.shape[1:]))

    @property
    def dtype(self) -> Any:
        return self.value.dtype

    @property
    def itemsize(self) -> int:
        return self.value.itemsize

    def sample(self, i: int) -> Any:
        """The value of a sample; of an array a view."""
        return self.value[i].item() if self.python else self.value[i]

    def _one(self) -> Any:
        """The number that all samples have; the run is split if they differ."""
        if self.value.ndim > 1:
            if self.size != 1:
                return self.value[0].__index__()  # numpy raises its error
            return Batch(self.run, self.value.reshape(-1))._one()
        distinct(self)
        return self.sample(0)

    def __bool__(self) -> bool:
        if self.value.ndim > 1 and self.size != 1:
            return bool(self.value[0])  # numpy raises its error
        answers = self.value.astype(bool).reshape(-1)
        if not (answers == answers[0]).all():
            self.run.split(answers.tolist())
        return bool(answers[0])

    def __int__(self) -> int:
        if self.size != 1:
            return int(self.value[0])  # numpy raises its error
        whole = [int(each) for each in self.value.reshape(-1)]
        if any(each != whole[0] for each in whole):
            self.run.split(whole)
        return whole[0]

    def __index__(self) -> int:
        return operator.index(self._one())

    def __float__(self) -> float:
        return float(self._one())

    def __complex__(self) -> complex:
        return complex(self._one())

    def __hash__(self) -> int:
        return hash(self._one()) if self.value.ndim == 1 else hash(self.value)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        self.run.one_by_one("a function in C that takes an array")

    def __str__(self) -> str:
        distinct(self)
        return str(self.sample(0))

    def __repr__(self) -> str:
        distinct(self)
        return repr(self.sample(0))

    def __format__(self, form: str) -> str:
        distinct(self)
        return format(self.sample(0), form)

    def __copy__(self) -> Batch:
        return Batch(self.run, self.value.copy(), python=self.python)

    def __deepcopy__(self, memo: Any) -> Batch:
        return self.__copy__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        self.run.one_by_one("pickle")

    def __len__(self) -> int:
        if self.value.ndim == 1:
            raise TypeError("len() of unsized object")
        return self.value.shape[1]

    def __iter__(self) -> Any:
        if self.value.ndim == 1:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.value.shape[1]))  # type: ignore[index]

    def __contains__(self, x: Any) -> bool:
        return bool((self == x).any())

    def __round__(self, *digits: Any) -> Any:
        return applied_method.load()(self, "__round__", digits, {})

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        return applied_ufunc.load()(ufunc, method, args, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return applied.load()(function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        kind = self.__class__
        found = getattr(kind, name)  # raises as the sample's would
        if name.startswith("__") or name in _BUFFERS:
            self.run.one_by_one(f"the attribute {name}")
        if not callable(found):
            return applied_method.load()(self, name, None, {})

        def method(*args: Any, **kwargs: Any) -> Any:
            return applied_method.load()(self, name, args, kwargs)

        return method

    @property
    def flat(self) -> Any:
        return FlatBatch(self)


@methods_run_natively
class FlatBatch:
    """The elements of a batch of arrays, as ``ndarray.flat``."""

    def __init__(self, base: Batch) -> None:
        flat = base.value.reshape(len(base.value), -1)
        if not np.may_share_memory(flat, base.value) and base.size:
            base.run.one_by_one("the attribute flat")
        self.base, self.elements = base, Batch(base.run, flat)

    def __iter__(self) -> Any:
        return iter(self.elements)

    def __len__(self) -> int:
        return self.base.size

    def __getitem__(self, index: Any) -> Any:
        found = self.elements[index]  # type: ignore[index]
        return found.__copy__()

    def __setitem__(self, index: Any, value: Any) -> None:
        self.elements[index] = value  # type: ignore[index]

    def __getattr__(self, name: str) -> Any:
        self.base.run.one_by_one(f"the attribute flat.{name}")


_PYTHON = {"f": float, "b": bool, "c": complex, "i": int}
_BUFFERS = ("ctypes", "data", "base", "flags", "tobytes", "tofile", "dump", "dumps", "resize")


def _bits(value: Any) -> Any:
    """An array of bytes, equal for equal values, signs of zeros among them."""
    flat = np.ascontiguousarray(value.reshape(len(value), -1))
    return [row.tobytes() for row in flat]


def _distinct(x: Batch) -> None:
    labels: list[Hashable] = _bits(x.value)
    if any(each != labels[0] for each in labels):
        x.run.split(labels)


distinct: Any = nonoverlay(_distinct)
"""Split the run of a batch by its values, unless all samples have the same."""


def mapped(x: Any, each: Callable[[Any], Any], wanted: type = Batch) -> Any:
    """A structure of lists, tuples and dicts, with each batch replaced, or with each other
    requested part.
    """
    kind = type(x)
    if kind is wanted:
        return each(x)
    if kind is list:
        return [mapped(part, each, wanted) for part in x]
    if issubclass(kind, tuple):  # the values of derivatives are tuples, too
        parts = [mapped(part, each, wanted) for part in tuple.__iter__(x)]
        return kind(*parts) if hasattr(kind, "_fields") else tuple(parts)
    if kind is dict:
        return {key: mapped(part, each, wanted) for key, part in x.items()}
    if kind is slice:
        return slice(*(mapped(part, each, wanted) for part in (x.start, x.stop, x.step)))
    return x


def leaves(x: Any) -> list[Batch]:
    """The batches in a structure of lists, tuples and dicts."""
    found: list[Batch] = []
    mapped(x, found.append)
    return found


def _special(function: Any, swapped: bool = False) -> Callable[..., Any]:
    def method(self: Batch, *others: Any) -> Any:
        args = (*others, self) if swapped else (self, *others)
        return applied_operator.load()(function, args)

    return method


_BINARY = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"),
    *("lshift", "rshift"),
)
for _name in _BINARY:
    _function = getattr(operator, f"{_name}_" if _name in ("and", "or") else _name)
    setattr(Batch, f"__{_name}__", _special(_function))
    setattr(Batch, f"__r{_name}__", _special(_function, swapped=True))
    setattr(Batch, f"__i{_name}__", _special(getattr(operator, f"i{_name}")))
for _name in ("lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "abs", "invert"):
    setattr(Batch, f"__{_name}__", _special(getattr(operator, _name)))
for _name in ("getitem", "setitem"):
    setattr(Batch, f"__{_name}__", _special(getattr(operator, _name)))
setattr(Batch, "__divmod__", _special(divmod))  # noqa: B010
setattr(Batch, "__rdivmod__", _special(divmod, swapped=True))  # noqa: B010
