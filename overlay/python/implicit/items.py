"""Subscripts and ``in`` on containers whose special methods are Python functions."""

from __future__ import annotations

import operator
from collections import defaultdict
from types import FunctionType
from typing import TYPE_CHECKING, Any

from overlay.python.implicit.arithmetic import compare
from overlay.python.implicit.protocols import (
    MISSING,
    PLAIN,
    in_python,
    invoke,
    lookup,
    python_function,
)

if TYPE_CHECKING:
    from overlay.python.implicit import Implicit

__all__ = ["Items"]

_DICT_READS: Any = dict.__dict__["__getitem__"]
_SEQUENCES = (list, tuple)
_DEFAULT: Any = defaultdict.__dict__["__missing__"]


class Items:
    """``x[key]``, ``x[key] = value``, ``del x[key]`` and ``value in x``."""

    def __init__(self, implicit: Implicit) -> None:
        self.implicit = implicit
        self.callees = implicit.callees
        self._equal = compare(implicit, "eq")

    # ---- what to call on the operands, or None where no function of the program takes part ----

    def resolve_get(self, x: Any, key: Any) -> Any:
        """For ``x[key]``."""
        kind: Any = type(x)
        if id(kind) not in PLAIN:
            found = lookup(kind, "__getitem__")
            if type(found) is FunctionType:
                return self.callees[found]
            if in_python(found):
                return self.get
            if found is _DICT_READS:
                absent = lookup(kind, "__missing__")
                return self.get if absent is _DEFAULT or in_python(absent) else None
            if found is MISSING and issubclass(type(kind), type) and issubclass(kind, type):
                taken = lookup(x, "__class_getitem__")
                inner = taken.__func__ if type(taken) is classmethod else taken
                return self.get if in_python(inner) else None
        return self.get if self.implicit.numbers.converts(x, key) else None

    def resolve_set(self, x: Any, key: Any, value: Any) -> Any:
        """For ``x[key] = value``."""
        kind: Any = type(x)
        found = MISSING if id(kind) in PLAIN else python_function(kind, "__setitem__")
        if found is not MISSING:
            return self.callees[found] if type(found) is FunctionType else self.set
        iterates = type(key) is slice and id(type(value)) not in PLAIN
        return self.set if iterates or self.implicit.numbers.converts(x, key) else None

    def resolve_delete(self, x: Any, key: Any) -> Any:
        """For ``del x[key]``."""
        kind: Any = type(x)
        found = MISSING if id(kind) in PLAIN else python_function(kind, "__delitem__")
        if found is not MISSING:
            return self.callees[found] if type(found) is FunctionType else self.delete
        return self.delete if self.implicit.numbers.converts(x, key) else None

    def resolve_contains(self, x: Any, value: Any) -> Any:
        """For ``value in x``, of the container first."""
        kind: Any = type(x)
        if id(kind) in PLAIN:
            asked = kind in _SEQUENCES and _may_compare(x, value)
            return self.among if asked else None
        found = lookup(kind, "__contains__")
        if found is MISSING:
            names = ("__iter__", "__getitem__", "__next__")
            return self.contains if any(in_python(lookup(kind, n)) for n in names) else None
        return self.contains if in_python(found) else None

    # ---- the operations ----

    def get(self, x: Any, key: Any) -> Any:
        """``x[key]``."""
        kind: Any = type(x)
        if id(kind) in PLAIN:
            if id(type(key)) in PLAIN and type(key) is not slice:
                return x[key]
            return x[self.implicit.numbers.subscript(x, key)]
        found = lookup(kind, "__getitem__")
        if in_python(found):
            return invoke(self.callees, found, x, key)
        if found is _DICT_READS:
            return self._of_dict(x, kind, key)
        if found is MISSING and issubclass(type(kind), type) and issubclass(kind, type):
            return self._of_class(x, key)
        return x[self.implicit.numbers.subscript(x, key)]

    def _of_dict(self, x: Any, kind: Any, key: Any) -> Any:
        absent = lookup(kind, "__missing__")
        factory = None
        if absent is _DEFAULT:
            factory = defaultdict.default_factory.__get__(x)  # type: ignore[attr-defined]
        if not in_python(absent) and factory is None:
            return x[key]
        value = dict.get(x, key, MISSING)
        if value is not MISSING:
            return value
        if factory is None:
            return invoke(self.callees, absent, x, key)
        value = self.callees[factory]()
        self.set(x, key, value)
        return value

    def _of_class(self, cls: Any, key: Any) -> Any:
        found = lookup(cls, "__class_getitem__")
        if found is MISSING or cls is type or lookup(type(cls), "__getitem__") is not MISSING:
            return cls[key]
        inner = found.__func__ if type(found) is classmethod else found
        if not in_python(inner):
            return cls[key]
        return self.callees[self.implicit.attributes.read(cls, "__class_getitem__")](key)

    def set(self, x: Any, key: Any, value: Any) -> None:
        """``x[key] = value``."""
        found = MISSING if id(type(x)) in PLAIN else python_function(type(x), "__setitem__")
        if found is not MISSING:
            invoke(self.callees, found, x, key, value)
            return
        if id(type(key)) not in PLAIN or type(key) is slice:
            key = self.implicit.numbers.subscript(x, key)
            if type(key) is slice:
                value = self.implicit.iteration.listed(value)
        x[key] = value

    def delete(self, x: Any, key: Any) -> None:
        """``del x[key]``."""
        found = MISSING if id(type(x)) in PLAIN else python_function(type(x), "__delitem__")
        if found is MISSING:
            del x[self.implicit.numbers.subscript(x, key)]
        else:
            invoke(self.callees, found, x, key)

    def contains(self, x: Any, value: Any) -> bool:
        """``value in x``."""
        kind: Any = type(x)
        if id(kind) in PLAIN:
            return self.among(x, value) if kind in _SEQUENCES else operator.contains(x, value)
        found = lookup(kind, "__contains__")
        if in_python(found):
            return self.implicit.numbers.truth(invoke(self.callees, found, x, value))
        if found is MISSING:
            return operator.contains(self.implicit.iteration.entered(x), value)
        return operator.contains(x, value)

    def among(self, x: Any, value: Any) -> bool:
        """``value in x`` for a list or tuple."""
        if not _may_compare(x, value):
            return operator.contains(x, value)
        truth = self.implicit.numbers.truth
        return any(item is value or truth(self._equal(item, value)) for item in x)


def _may_compare(x: Any, value: Any) -> bool:
    """Whether functions of the program may compare a value with the items of a list."""
    if python_function(type(value), "__eq__") is not MISSING:
        return True
    if PLAIN.issuperset(map(id, map(type, x))):
        return False
    return any(python_function(type(item), "__eq__") is not MISSING for item in x)
