"""Methods of lists, dicts and sets, applied to contents that are known item by item.

The items may be anything that represents a value: the methods only move them. Keys and places are
known. A reader of programs gives each argument by its role, and applies the method itself.
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Iterable, Mapping
from typing import Any

from overlay.core.own_builtins import __builtins__

__all__ = ["DUNDERS", "METHODS", "ON_CLASSES", "REFLECTED", "Role", "applied"]


class Role(enum.Enum):
    """Role of an argument: a key or place, an item, all items of an iterable, or a mapping."""

    KEY = enum.auto()
    ITEM = enum.auto()
    ITEMS = enum.auto()
    KEYS = enum.auto()
    MAPPING = enum.auto()


_KEY, _ITEM, _ITEMS, _KEYS, _MAPPING = Role
METHODS: Mapping[Any, tuple[Role, ...]] = {
    list.append: (_ITEM,),
    list.extend: (_ITEMS,),
    list.insert: (_KEY, _ITEM),
    list.pop: (_KEY,),
    list.reverse: (),
    list.copy: (),
    list.clear: (),
    dict.get: (_KEY, _ITEM),
    dict.pop: (_KEY, _ITEM),
    dict.popitem: (),
    dict.setdefault: (_KEY, _ITEM),
    dict.update: (_MAPPING,),
    dict.copy: (),
    dict.clear: (),
    set.add: (_KEY,),
    set.discard: (_KEY,),
    set.remove: (_KEY,),
    set.update: (_KEYS,),
    set.union: (_KEYS,),
    set.intersection: (_KEYS,),
    set.difference: (_KEYS,),
    set.symmetric_difference: (_KEYS,),
    set.issubset: (_KEYS,),
    set.issuperset: (_KEYS,),
    set.copy: (),
    set.clear: (),
    bytearray.append: (_ITEM,),
    bytearray.extend: (_ITEMS,),
    bytearray.insert: (_KEY, _ITEM),
    bytearray.pop: (_KEY,),
    bytearray.reverse: (),
    bytearray.copy: (),
    bytearray.clear: (),
}
"""The roles of the arguments of each method; those at the end may be left out."""


def applied(method: Any, held: Any, args: Iterable[Any]) -> Any:
    """Apply a method to a list, dict or set, which is changed, and return its result. A byte array
    is a list of its items. Raises LookupError where the method does.
    """
    if getattr(method, "__objclass__", None) is bytearray:
        method = getattr(list, method.__name__)
    return method(held, *args)


def _named(name: str) -> str:
    return f"__{name.strip('_')}__"


_ALONE = ("neg", "pos", "invert", "getitem", "setitem", "delitem", "contains")
_OF_TWO = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor"),
    *("lshift", "rshift"),
)
_COMPARED = ("lt", "gt"), ("le", "ge"), ("gt", "lt"), ("ge", "le"), ("eq", "eq"), ("ne", "ne")


DUNDERS: dict[Any, tuple[str, ...]] = {
    **{getattr(operator, name): (_named(name),) for name in (*_ALONE, *_OF_TWO)},
    **{getattr(operator, name): (_named(name),) for name, _ in _COMPARED},
    **{
        getattr(operator, f"i{name.strip('_')}"): (_named(f"i{name.strip('_')}"), _named(name))
        for name in _OF_TWO
    },
    **{each: (_named(each.__name__),) for each in (abs, len, float, int, iter, round, divmod)},
    operator.abs: ("__abs__",),
    bool: ("__bool__", "__len__"),
}
"""The methods of its first operand that an operator or builtin calls, in order."""
REFLECTED: dict[Any, str] = {
    **{getattr(operator, name): _named(f"r{name.strip('_')}") for name in _OF_TWO},
    **{getattr(operator, f"i{name.strip('_')}"): _named(f"r{name.strip('_')}") for name in _OF_TWO},
    **{getattr(operator, name): _named(other) for name, other in _COMPARED},
}
"""The method of its second operand that an operator calls where the first has none."""
ON_CLASSES = frozenset((list, dict, set, bytearray))
"""The classes whose methods are applied here."""
