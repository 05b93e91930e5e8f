"""Effects of builtins, ``math``, numpy and the methods of plain data: those that compute from their
arguments and do nothing else."""

from __future__ import annotations

import builtins
import cmath
import inspect
import math
import types
from typing import Any, Final

import numpy as np

__all__ = [
    "CONTAINERS",
    "FRESH",
    "IMMUTABLE_RESULT",
    "ITERATING",
    "ITERATORS",
    "MUTATORS",
    "NO_EFFECT",
    "NO_ERROR",
    "NO_ERROR_COMPILED",
    "READERS",
    "SETS",
    "computes",
    "place_of_out",
]


def _of(module: Any, names: str) -> list[Any]:
    return [getattr(module, name) for name in names.split() if hasattr(module, name)]


_NUMBERS = """
abs all any ascii bin bool bytes chr complex divmod float format hex int isinstance len oct ord
pow range repr round slice str
"""
_CONTAINERS = """
dict enumerate frozenset list max min reversed set sorted sum tuple zip
"""
_NUMPY_NEW = """
allclose any all arange argmax argmin argsort array_equal average bincount clip concatenate
convolve copy corrcoef correlate count_nonzero cov cross cumprod cumsum digitize dot
eye full full_like gradient histogram hstack identity inner interp isclose kron linspace logspace
max mean median min nanmax nanmean nanmin nansum ones ones_like outer percentile polyfit polyval
prod ptp quantile repeat roll searchsorted sort stack std sum tensordot tile trace trapezoid
unique var vdot vstack where zeros zeros_like
"""
_NUMPY_VIEWS = """
array asarray atleast_1d atleast_2d broadcast_to diag diagonal diff einsum expand_dims flip moveaxis
ravel reshape rot90 squeeze swapaxes transpose tril triu
"""
_LINALG = "cholesky cond det eig eigh eigvals eigvalsh inv lstsq matrix_rank norm pinv qr solve svd"

_EXCEPTIONS = [
    each
    for each in vars(builtins).values()
    if isinstance(each, type) and issubclass(each, Exception)
]
_MATHS = [
    f
    for module in (math, cmath)
    for f in vars(module).values()
    if isinstance(f, types.BuiltinFunctionType)
]
_NEW = [*_MATHS, *_of(np, _NUMPY_NEW), *_of(np.linalg, _LINALG), *_of(builtins, _NUMBERS)]
_TYPES = [np.float64, np.float32, np.int64, np.int32, np.uint8, np.complex128, np.bool_]
_ALL: Final = {
    id(f): f
    for f in (
        *_NEW,
        *_TYPES,
        *_EXCEPTIONS,
        *_of(builtins, _CONTAINERS),
        *_of(np, _NUMPY_VIEWS),
    )
}
FRESH: Final = frozenset(id(f) for f in (*_NEW, *_TYPES))
"""The ids of functions whose results share nothing with their arguments."""
IMMUTABLE_RESULT: Final = frozenset(id(f) for f in (*_MATHS, *_of(builtins, _NUMBERS), *_TYPES))
"""The ids of functions whose results are immutable if the arguments are."""

_MUTATORS = """
add append clear difference_update discard extend fill insert intersection_update itemset partition
pop popitem put remove resize reverse setdefault setfield setflags sort symmetric_difference_update
update
"""
MUTATORS: Final = frozenset(_MUTATORS.split())
"""The methods of plain data that mutate it."""
_READERS = """
all any argmax argmin argsort as_integer_ratio astype bit_count bit_length capitalize casefold
center clip conjugate copy count cumprod cumsum decode diagonal difference dot encode endswith
expandtabs find flatten format get hex index intersection is_integer isalnum isalpha isascii
isdecimal isdigit isdisjoint isidentifier islower isnumeric isprintable isspace issubset
issuperset istitle isupper item items join keys ljust lower lstrip max mean min nonzero
partition prod ptp ravel removeprefix removesuffix repeat replace reshape rfind rindex rjust
rpartition rsplit rstrip round split splitlines squeeze startswith std strip sum swapaxes
swapcase symmetric_difference take title to_bytes tolist trace translate transpose union upper
values var zfill
"""
READERS: Final = frozenset(_READERS.split()) - MUTATORS
"""The methods of plain data that only read it."""


_SETS = (set, frozenset)
SETS: Final = frozenset(map(id, _SETS))
"""The ids of set types, whose iteration order differs between processes."""


NO_EFFECT: Final = {
    id(f): f
    for f in (
        *_of(builtins, _NUMBERS + _CONTAINERS + "issubclass type"),
        *filter(callable, vars(math).values()),
    )
}
"""Builtins and functions of ``math`` that are taken to have no effect on any object."""

_FOR_SOME_VALUES = "bytes chr complex dict divmod float format int max min ord pow round"
_TOTAL = """
atan atan2 cbrt copysign degrees erf erfc fabs hypot isclose isfinite isinf isnan radians tanh
"""
_FAILING: Final = frozenset(
    map(id, [*_of(builtins, _FOR_SOME_VALUES), *filter(callable, vars(math).values())])
) - frozenset(map(id, _of(math, _TOTAL)))
NO_ERROR: Final = {key: f for key, f in NO_EFFECT.items() if key not in _FAILING}
"""Those of them that raise no error for any value of the types that they take."""
NO_ERROR_COMPILED: Final = NO_ERROR | {id(f): f for f in _MATHS}
"""Those that raise none in compiled code, where functions of ``math`` give nan or infinity."""

ITERATORS: Final = frozenset(map(id, _of(builtins, "enumerate filter iter map reversed zip")))
"""The ids of builtins that return a new iterator."""
CONTAINERS: Final = frozenset(
    map(id, _of(builtins, "bytes dict frozenset list range set sorted str tuple"))
)
"""The ids of builtins that return a container or text."""
ITERATING: Final = frozenset(
    map(
        id,
        (
            *_of(builtins, "all any bytes dict enumerate filter frozenset list map max min"),
            *_of(builtins, "reversed set sorted sum tuple zip"),
            *_of(math, "dist fsum prod sumprod"),
            str.join,
        ),
    )
)
"""The ids of functions that iterate over their arguments, or whose results do so."""


def place_of_out(function: Any) -> int | None:
    """The position of the argument that receives the result, or None."""
    if isinstance(function, np.ufunc):
        return function.nin
    if function in (np.dot, np.concatenate):
        return 2
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return None
    return names.index("out") if "out" in names else None


def computes(function: Any) -> bool:
    """Whether a function computes from plain data and does nothing else."""
    if isinstance(function, np.ufunc):  # ufuncs from elsewhere may call Python code
        return getattr(np, function.__name__, None) is function
    return _ALL.get(id(function)) is function
