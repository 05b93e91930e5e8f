"""Values that depend on choices, in a run that is being recorded.

A value computed from one is another, and a step of the tape. Where plain code needs the value
itself (a condition, an index, a C function), a guard is added to the tape, so no dependence is
lost.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np

from overlay import nonoverlay
from overlay.core.in_force import current_stack
from overlay.interpretations.probabilistic.errors import NotTraceable, place
from overlay.interpretations.probabilistic.tape import LEAF, Packed, StepKind, Tape

__all__ = [
    "ArrayMethod",
    "Dependent",
    "apply",
    "class_of",
    "flattened",
    "has_class",
    "has_dependent",
    "resolved",
]

_PLAIN = (int, float, bool, complex, str, type(None), type(Ellipsis))
_RESULTS = (int, float, bool, complex)
_FUNCTIONS_TEXT = """
all any argmax argmin argsort array asarray average clip concatenate cross cumprod cumsum diag
diagonal diff dot einsum expand_dims flip hstack inner interp kron linspace matmul max maximum
mean median min minimum moveaxis nan_to_num ones_like outer prod ravel repeat reshape roll round
sort squeeze stack std sum swapaxes take tensordot tile trace transpose trapezoid tril triu var
vdot vstack where zeros_like
"""
NUMPY_FUNCTIONS = frozenset(_FUNCTIONS_TEXT.split())
"""The functions of numpy that compute from their arguments and do nothing else."""
_METHODS_TEXT = """
all any argmax argmin argsort astype clip conj copy cumprod cumsum diagonal dot flatten item max
mean min prod ravel repeat reshape round squeeze std sum swapaxes take trace transpose var
"""
_METHODS = frozenset(_METHODS_TEXT.split())


class Dependent:
    """A value that depends on choices: its tape, its slot on it, and its current value."""

    __slots__ = ("slot", "tape", "value")
    __overlay_underlying__ = "plain"

    def __init__(self, tape: Tape, slot: int, value: Any) -> None:
        self.tape = tape
        self.slot = slot
        self.value = value

    def fixed(self, what: str) -> Any:
        """The value itself, with a guard: the tape is valid only while the value stays the same.
        what: the use that needs it."""
        self.tape.guard(self.slot, self.value, what)
        return self.value

    @property
    def plain(self) -> Any:
        """The value by which methods of contexts inside are chosen, with a guard on what chooses
        them. Methods of the recording itself take dependent values as they are."""
        chosen_by = self.tape.chosen_by(current_stack())
        if chosen_by == "value":
            return self.fixed("the value that chooses a method")
        if chosen_by == "type":
            _guard_class(self)
        return self.value

    # ---- uses that need the value ----

    def __bool__(self) -> bool:
        truth = self if type(self.value) is bool else _applied(operator.truth, self)
        return truth.fixed("a condition")

    def __index__(self) -> int:
        return operator.index(self.fixed("an index or a count"))

    def __int__(self) -> int:
        return int(self.fixed("int() in C code"))

    def __float__(self) -> float:
        return float(self.fixed("a C function that takes a float"))

    def __complex__(self) -> complex:
        return complex(self.fixed("a C function that takes a complex number"))

    def __hash__(self) -> int:
        return hash(self.fixed("a key of a dict or set"))

    def __repr__(self) -> str:
        return repr(self.fixed("text"))

    def __str__(self) -> str:
        return str(self.fixed("text"))

    def __format__(self, form: str) -> str:
        return format(self.fixed("text"), form)

    def __len__(self) -> int:
        return _applied(len, self).fixed("a length")

    def __copy__(self) -> Dependent:
        return self

    def __deepcopy__(self, memo: Any) -> Dependent:
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if isinstance(self.value, np.ndarray) and name in _METHODS:
            return _Bound(name, self)
        return getattr(self.fixed(f"the attribute {name}"), name)

    # ---- arrays ----

    def __getitem__(self, index: Any) -> Any:
        return _applied(operator.getitem, self, index)

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        refuse_write()

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotTraceable(
            "numpy makes an array of values that depend on choices",
            where=place(),
            help="make it by np.array([...]) in the program, or sample with incremental=False",
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        if "out" in kwargs or method == "at":
            refuse_write()
        if getattr(np, ufunc.__name__, None) is not ufunc and not _is_of_scipy(ufunc):
            return NotImplemented  # the ufunc may call Python code
        return _applied(ufunc if method == "__call__" else getattr(ufunc, method), *args, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if getattr(np, function.__name__, None) is not function or "out" in kwargs:
            return NotImplemented
        if function.__name__ not in NUMPY_FUNCTIONS:
            return NotImplemented
        return _applied(function, *args, **kwargs)


def _is_of_scipy(ufunc: Any) -> bool:
    return getattr(sys.modules.get("scipy.special"), ufunc.__name__, None) is ufunc


class ArrayMethod(NamedTuple):
    """A method of an array, as a function."""

    name: str

    def __call__(self, array: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(array, self.name)(*args, **kwargs)


class _Bound(NamedTuple):
    name: str
    array: Dependent

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _applied(ArrayMethod(self.name), self.array, *args, **kwargs)


def refuse_write() -> NoReturn:
    """Raise NotTraceable for a write into an array."""
    raise NotTraceable(
        "the program writes into an array that depends on choices",
        where=place(),
        help="make a new array, or sample with incremental=False",
    )


# ---- recording --------------------------------------------------------------------------------


def apply(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of a function that computes from its arguments alone, recorded as a step of the
    tape.

    Returns NotImplemented for arguments of unknown classes. A result that is no number or array is
    returned as it is, with guards on the arguments.
    """
    leaves: list[Any] = []
    shape = flattened((*args, *kwargs.values()), leaves)
    if shape is None:
        return NotImplemented
    called = function
    if kwargs or shape != (tuple, (LEAF,) * len(args)):
        function = Packed(function, shape, tuple(kwargs))
    try:
        value = function(*[each.value if type(each) is Dependent else each for each in leaves])
    except Exception:  # which the program may catch
        for each in leaves:
            if type(each) is Dependent:
                each.fixed("an exception")
        raise
    if value is NotImplemented:
        return value
    tape = next(each.tape for each in leaves if type(each) is Dependent)
    if not isinstance(value, (*_RESULTS, np.generic, np.ndarray)):
        if called is operator.getitem and type(args[0]) in (tuple, list):
            return _row(tape, args[0], args[1], value)
        for each in leaves:
            if type(each) is Dependent:
                each.fixed("a result that is no number")
        return value
    slots = tuple(_slot(tape, each) for each in leaves)
    return Dependent(tape, tape.step(function, slots, value, StepKind.VALUE), value)


def _row(tape: Tape, rows: Any, index: Dependent, value: Any) -> Any:
    """An item that is no number: of a table a copy that depends on the index, else the item itself,
    to which the program may write, with a guard on the index."""
    if not (tape.copies_rows and _is_table(rows, value)):
        return rows[index]
    row = [_applied(_cell, rows, index, k) for k in range(len(value))]
    if type(value) is list:
        tape.note_row(row)
        tape.note_row(rows[index.value])
        return row
    return tuple(row)


def _is_table(rows: Any, row: Any) -> bool:
    """Whether a tuple or list has rows of numbers, all like one of them."""
    return all(
        type(each) is type(row) in (tuple, list)
        and len(each) == len(row)
        and all(type(part) in _RESULTS for part in each)
        for each in rows
    )


def _cell(rows: Any, index: Any, place: int) -> Any:
    """A number of a table."""
    return rows[index][place]


_applied = nonoverlay(apply)  # for methods that the interpreter calls in the recorded run


def _slot(tape: Tape, leaf: Any) -> int:
    return leaf.slot if type(leaf) is Dependent else tape.slot(leaf)


def has_class(value: Any, cls: type, dtype: str = "", ndim: int = 0) -> bool:
    """Whether a value is an instance of a class itself, not of one below it; an array also has this
    dtype and number of dimensions."""
    if type(value) is not cls:
        return False
    return cls is not np.ndarray or (value.dtype.str, value.ndim) == (dtype, ndim)


def class_of(x: Dependent) -> type:
    """The class of a value, with a guard on it."""
    cls = type(x.value)
    if x.slot not in x.tape.of_one_class:
        x.tape.of_one_class.add(x.slot)
        array = (x.value.dtype.str, x.value.ndim) if cls is np.ndarray else ()
        apply(has_class, x, cls, *array).fixed("its class")
    return cls


_guard_class = nonoverlay(class_of)  # where dispatch reads a value


def has_dependent(value: Any) -> bool:
    """Whether a value, or a nested tuple or list, contains one that depends on choices."""
    if isinstance(value, (tuple, list)):
        return any(map(has_dependent, value))
    return type(value) is Dependent


def flattened(value: Any, leaves: list[Any]) -> Any:
    """The structure of nested tuples and lists, whose leaves are added to ``leaves``; None if there
    is a leaf of an unknown class. Mutable leaves are copied."""
    if isinstance(value, (tuple, list)) and has_dependent(value):
        parts = [flattened(part, leaves) for part in value]
        if None in parts:
            return None
        return (type(value), tuple(parts))
    kept = _kept(value)
    if kept is None:
        return None
    leaves.append(kept[0])
    return LEAF


def _kept(value: Any) -> tuple[Any] | None:
    """A snapshot of a value, in a tuple of one; None for objects of other classes."""
    if type(value) is Dependent or type(value) in _PLAIN or isinstance(value, (np.generic, type)):
        return (value,)
    if type(value) is np.ndarray:
        return None if value.dtype.hasobject else (value.copy(),)
    if type(value) is slice:
        parts = (value.start, value.stop, value.step)
        return (value,) if all(type(each) in _PLAIN for each in parts) else None
    if isinstance(value, (tuple, list)):
        return None if None in map(_kept, value) else (_copied(value),)
    return None


def _copied(value: Any) -> Any:
    if type(value) is list:
        return [_copied(part) for part in value]
    if type(value) is tuple:
        return tuple(_copied(part) for part in value)
    return value.copy() if type(value) is np.ndarray else value


def resolved(value: Any, slots: list[Any]) -> Any:
    """Nested tuples, lists and dicts, with each dependent value replaced by that of its slot."""
    if type(value) is Dependent:
        return slots[value.slot]
    if isinstance(value, dict):
        return {key: resolved(part, slots) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        parts = [resolved(part, slots) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


# ---- operators --------------------------------------------------------------------------------


def _operator(function: Callable[..., Any], swapped: bool) -> Callable[..., Any]:
    def method(self: Dependent, *others: Any) -> Any:
        return _applied(function, *others, self) if swapped else _applied(function, self, *others)

    return method


def _in_place(self: Dependent, other: Any) -> Any:
    if isinstance(self.value, np.ndarray):
        refuse_write()
    return NotImplemented


_BINARY_TEXT = """
add sub mul truediv floordiv mod pow matmul and or xor lshift rshift
"""
_BINARY = _BINARY_TEXT.split()
for _name in _BINARY:
    _function: Any = getattr(operator, f"{_name}_" if _name in ("and", "or") else _name)
    setattr(Dependent, f"__{_name}__", _operator(_function, swapped=False))
    setattr(Dependent, f"__r{_name}__", _operator(_function, swapped=True))
    setattr(Dependent, f"__i{_name}__", _in_place)
for _name in ["lt", "le", "gt", "ge", "eq", "ne", "neg", "pos", "abs", "invert"]:
    setattr(Dependent, f"__{_name}__", _operator(getattr(operator, _name), swapped=False))
for _name, _function in {"round": round, "divmod": divmod}.items():
    setattr(Dependent, f"__{_name}__", _operator(_function, swapped=False))
_SWAPPED = {"rdivmod": divmod}
for _name, _function in _SWAPPED.items():
    setattr(Dependent, f"__{_name}__", _operator(_function, swapped=True))
_PROPERTIES = {"T": np.transpose}
for _name, _function in _PROPERTIES.items():
    setattr(Dependent, _name, property(_operator(_function, swapped=False)))
