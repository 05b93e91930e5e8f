"""Programs that test the class or the capabilities of a value, and multiply by 9.0 for a float and
by 1.0 for anything else.
"""

import functools
import math
import numbers

import numpy as np


def by_isinstance(x):
    return x * 9.0 if isinstance(x, float) else x


def by_union(x):
    return x * 9.0 if isinstance(x, float | int) else x


def by_abstract_class(x):
    return x * 9.0 if isinstance(x, numbers.Real) else x


def by_not_a_sequence(x):
    return x if isinstance(x, (tuple, list, np.ndarray)) else x * 9.0


def by_type(x):
    return x * 9.0 if type(x) is float else x


def by_type_equal(x):
    return x * 9.0 if type(x) == float else x  # noqa: E721


def by_subclass(x):
    return x * 9.0 if issubclass(type(x), float) else x


def by_name_of_class(x):
    return x * 9.0 if type(x).__name__ == "float" else x


def by_class_attribute(x):
    return x * 9.0 if x.__class__ is float else x


def by_table(x):
    return x * {float: 9.0, int: 1.0}.get(type(x), 1.0)


def by_class_pattern(x):
    match x:
        case int():
            return x
        case float():
            return x * 9.0
        case _:
            return x


def by_capturing_pattern(x):
    match x:
        case float(y):
            return y * 9.0
        case _:
            return x


def by_sequence_pattern(x):
    match x:
        case [_, _]:
            return x
        case _:
            return x * 9.0


@functools.singledispatch
def _scaled(x):
    return x


@_scaled.register
def _(x: float):
    return x * 9.0


def by_singledispatch(x):
    return _scaled(x)


def by_hasattr(x):
    return x * 9.0 if hasattr(x, "is_integer") else x


def by_getattr(x):
    return x * 9.0 if getattr(x, "hex", None) is not None else x


def by_missing_attribute(x):
    return x if hasattr(x, "__len__") or hasattr(x, "shape") else x * 9.0


def by_iterability(x):
    try:
        iter(x)
    except TypeError:
        return x * 9.0
    return x


def by_length(x):
    try:
        len(x)
    except TypeError:
        return x * 9.0
    return x


def by_item(x):
    try:
        return x[0]
    except TypeError:
        return x * 9.0


def by_isscalar(x):
    return x * 9.0 if np.isscalar(x) else x


def by_ndim(x):
    return x * 9.0 if np.ndim(x) == 0 else x


def by_isreal(x):
    return x * 9.0 if np.isreal(x) else x


def by_iscomplexobj(x):
    return x if np.iscomplexobj(x) else x * 9.0


def by_callable(x):
    return x if callable(x) else x * 9.0


def by_finite(x):
    return x * 9.0 if math.isfinite(x) else x


def by_hash(x):
    try:
        hash(x)
    except TypeError:
        return x
    return x * 9.0


def by_membership(x):
    return x * 9.0 if type(x) in (float, int) else x


def by_mro(x):
    return x * 9.0 if float in type(x).__mro__ else x


def by_map(x):
    return x * 9.0 if list(map(type, [x])) == [float] else x


PROGRAMS = [f for name, f in dict(globals()).items() if name.startswith("by_")]
