"""Operators on objects whose special methods are Python functions.

The order in which operands are asked is that of ``binary_op1``, ``slot_nb_add`` and
``do_richcompare`` in CPython.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from overlay.python.implicit.numbers import asks_index
from overlay.python.implicit.protocols import (
    MISSING,
    PLAIN,
    bound,
    derives,
    in_python,
    invoke,
    is_slot,
    lookup,
    python_function,
    shown_type,
)

if TYPE_CHECKING:
    from overlay.python.implicit import Implicit

__all__ = [
    "COMPARISONS",
    "Binary",
    "binaries",
    "compare",
    "power",
    "resolve_compare",
    "resolve_unary",
    "unary",
]

_BINARY = {
    **{"add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//"},
    **{"mod": "%", "divmod": "divmod()", "pow": "** or pow()", "lshift": "<<", "rshift": ">>"},
    **{"and": "&", "or": "|", "xor": "^"},
}
_POWER = ("base", "exp", "mod")
COMPARISONS = {
    "lt": ("<", "gt"),
    "le": ("<=", "ge"),
    "eq": ("==", "eq"),
    "ne": ("!=", "ne"),
    "gt": (">", "lt"),
    "ge": (">=", "le"),
}
Operation = Callable[..., Any]


class Binary:
    """One binary operator: ``operate(a, b)`` and ``in_place(a, b)``."""

    def __init__(self, implicit: Implicit, name: str) -> None:
        self.implicit = implicit
        self.callees = implicit.callees
        self.name = name
        self.symbol = _BINARY[name]
        self.dunder, self.reflected = f"__{name}__", f"__r{name}__"
        self.own = f"__i{name}__"
        spelled = f"{name}_" if name in ("and", "or") else name
        self.native: Operation = divmod if name == "divmod" else getattr(operator, spelled)
        self.native_in_place: Operation | None = getattr(operator, f"i{name}", None)

    def resolver(self, *, in_place: bool = False) -> Operation:
        """Gives what to call for the operator, or None where no function of the program takes
        part."""
        resolve = self._resolve_in_place if in_place else self._resolve
        plain = PLAIN

        def of(a: Any, b: Any) -> Any:
            one, other = type(a), type(b)
            return None if id(one) in plain and id(other) in plain else resolve(a, b)

        return of

    def _resolve(self, a: Any, b: Any) -> Any:
        one, other = type(a), type(b)
        takes_part = self._takes_part(one) or self._takes_part(other) or self._counts(one, other)
        return self.operate if takes_part else None

    def _resolve_in_place(self, a: Any, b: Any) -> Any:
        one, other = type(a), type(b)
        own = lookup(one, self.own)
        if in_python(own) or self._takes_part(one) or self._takes_part(other):
            return self.in_place
        return self.in_place if is_slot(own) and self._is_of_sequence(own) else None

    def operate(self, a: Any, b: Any) -> Any:
        """What the operator gives."""
        one, other = type(a), type(b)
        if id(one) in PLAIN and id(other) in PLAIN:
            return self.native(a, b)
        if not (self._takes_part(one) or self._takes_part(other) or self._counts(one, other)):
            return self.native(a, b)
        result = self._numeric(a, b)
        if result is NotImplemented:
            result = self._sequence(a, b, self.dunder)
        return self._unsupported(a, b, self.symbol) if result is NotImplemented else result

    def in_place(self, a: Any, b: Any) -> Any:
        """What the operator followed by ``=`` gives."""
        native: Any = self.native_in_place
        one, other = type(a), type(b)
        if id(one) in PLAIN and id(other) in PLAIN:
            return native(a, b)
        own = lookup(one, self.own)
        if not (in_python(own) or self._takes_part(one) or self._takes_part(other)):
            return self._extended(own, a, b) if is_slot(own) else native(a, b)
        result = NotImplemented
        if own is not MISSING and not (is_slot(own) and self._is_of_sequence(own)):
            result = invoke(self.callees, own, a, b) if in_python(own) else own(a, b)
        if result is NotImplemented:
            result = self._numeric(a, b)
        if result is NotImplemented and is_slot(own) and self._is_of_sequence(own):
            return self._extended(own, a, b)
        if result is NotImplemented:
            result = self._sequence(a, b, self.dunder)
        symbol = "**=" if self.name == "pow" else f"{self.symbol}="
        return self._unsupported(a, b, symbol) if result is NotImplemented else result

    def _takes_part(self, kind: Any) -> bool:
        """Whether its type has the slot that calls functions of the program."""
        if id(kind) in PLAIN:
            return False
        return in_python(lookup(kind, self.dunder)) or in_python(lookup(kind, self.reflected))

    def _counts(self, one: type, other: type) -> bool:
        """Whether one of them may tell how often a sequence is repeated."""
        if self.name != "mul":
            return False
        kinds = (kind for kind in (one, other) if id(kind) not in PLAIN)
        return any(map(asks_index, kinds))

    def _in_c(self, kind: Any) -> bool:
        """Whether it has a C function for the operator of numbers."""
        reflected = lookup(kind, self.reflected)
        return is_slot(reflected) and not self._is_of_sequence(reflected)

    def _is_of_sequence(self, slot: Any) -> bool:
        """Whether a slot is one of sequences, which numbers of C types never share."""
        if self.name not in ("add", "mul"):
            return False
        return lookup(slot.__objclass__, "__sub__") is MISSING

    def _numeric(self, a: Any, b: Any) -> Any:
        one, other = type(a), type(b)
        inherits = one is not other and derives(other, one)
        if self._takes_part(one):
            native = one is not other and not self._takes_part(other) and self._in_c(other)
            if native and inherits:
                result = lookup(other, self.reflected)(b, a)
                if result is not NotImplemented:
                    return result
            result = self._asked(a, b)
            if result is NotImplemented and native and not inherits:
                return lookup(other, self.reflected)(b, a)
            return result
        if self._in_c(one):
            if inherits and self._takes_part(other):
                result = self._asked(a, b)
                return lookup(one, self.dunder)(a, b) if result is NotImplemented else result
            result = lookup(one, self.dunder)(a, b)
            if result is not NotImplemented:
                return result
        return self._asked(a, b)

    def _asked(self, a: Any, b: Any) -> Any:
        """What the functions of the program answer."""
        one, other = type(a), type(b)
        reflects = one is not other and self._takes_part(other)
        if self._takes_part(one):
            if reflects and derives(other, one) and self._overridden(one, other):
                result = self._maybe(b, self.reflected, a)
                if result is not NotImplemented:
                    return result
                reflects = False
            result = self._maybe(a, self.dunder, b)
            if result is not NotImplemented or one is other:
                return result
        return self._maybe(b, self.reflected, a) if reflects else NotImplemented

    def _overridden(self, one: type, other: type) -> bool:
        inner = lookup(other, self.reflected)
        return inner is not MISSING and inner is not lookup(one, self.reflected)

    def _maybe(self, owner: Any, name: str, operand: Any) -> Any:
        found = lookup(type(owner), name)
        if found is MISSING:
            return NotImplemented
        return invoke(self.callees, found, owner, operand)

    # ---- sequences ----

    def _sequence(self, a: Any, b: Any, name: str) -> Any:
        if self.name not in ("add", "mul"):
            return NotImplemented
        slot = lookup(type(a), name)
        if is_slot(slot) and self._is_of_sequence(slot):
            return slot(a, b) if self.name == "add" else self._repeated(slot, a, b)
        slot = lookup(type(b), name)
        if self.name == "mul" and is_slot(slot) and self._is_of_sequence(slot):
            return self._repeated(slot, b, a)
        return NotImplemented

    def _extended(self, slot: Any, a: Any, b: Any) -> Any:
        """In place, by a C function that may iterate over its operand."""
        if not self._is_of_sequence(slot):
            return self.native_in_place(a, b) if self.native_in_place else NotImplemented
        if self.name == "mul":
            return self._repeated(slot, a, b)
        return slot(a, self.implicit.iteration.sized(b))

    def _repeated(self, slot: Any, sequence: Any, count: Any) -> Any:
        if asks_index(type(count)):
            return slot(sequence, self.implicit.numbers.index(count))
        if lookup(type(count), "__index__") is MISSING:
            message = f"can't multiply sequence by non-int of type '{shown_type(count)}'"
            raise TypeError(message)
        return slot(sequence, count)

    def _unsupported(self, a: Any, b: Any, symbol: str) -> Any:
        raise TypeError(
            f"unsupported operand type(s) for {symbol}: '{shown_type(a)}' and '{shown_type(b)}'"
        )


def power(binary: Binary) -> Operation:
    """``pow``, which may have a third operand: then only the first one is asked."""

    def operate(*args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(_POWER, args, strict=False)), **kwargs}
        fits = len(given) == len(args) + len(kwargs)
        base, exp, mod = map(given.pop, _POWER, (MISSING, MISSING, None))
        if given or not fits or base is MISSING or exp is MISSING:
            return pow(*args, **kwargs)
        if mod is None:
            return binary.operate(base, exp)
        own = python_function(type(base), "__pow__")
        if own is MISSING:
            return pow(base, exp, mod)
        result = invoke(binary.callees, own, base, exp, mod)
        if result is NotImplemented:
            names = ", ".join(f"'{shown_type(x)}'" for x in (base, exp, mod))
            raise TypeError(f"unsupported operand type(s) for ** or pow(): {names}")
        return result

    return operate


def binaries(implicit: Implicit) -> dict[str, Binary]:
    """All binary operators, by name."""
    return {name: Binary(implicit, name) for name in _BINARY}


def resolve_unary(implicit: Implicit, name: str) -> Operation:
    """Gives what to call for an operator of one operand, or None."""
    dunder = f"__{name}__"

    def resolve(a: Any) -> Any:
        kind = type(a)
        found = MISSING if id(kind) in PLAIN else python_function(kind, dunder)
        if found is MISSING:
            return None
        if type(found) is FunctionType:
            return implicit.callees[found]
        return functools.partial(invoke, implicit.callees, found)

    return resolve


def resolve_compare(name: str, operate: Operation) -> Operation:
    """Gives ``operate``, or None where no function of the program takes part."""
    dunder, reflected = f"__{name}__", f"__{COMPARISONS[name][1]}__"

    def resolve(a: Any, b: Any) -> Any:
        one, other = type(a), type(b)
        if id(one) in PLAIN and id(other) in PLAIN:
            return None
        return operate if _compares(one, dunder) or _compares(other, reflected) else None

    return resolve


def unary(implicit: Implicit, name: str, native: Operation) -> Operation:
    """An operator of one operand."""
    dunder = f"__{name}__"

    def operate(a: Any) -> Any:
        kind = type(a)
        if id(kind) in PLAIN:
            return native(a)
        found = lookup(kind, dunder)
        return invoke(implicit.callees, found, a) if in_python(found) else native(a)

    return operate


def compare(implicit: Implicit, name: str) -> Operation:
    """A comparison."""
    symbol, swapped = COMPARISONS[name]
    native: Operation = getattr(operator, name)
    dunder, reflected = f"__{name}__", f"__{swapped}__"

    def operate(a: Any, b: Any) -> Any:
        one, other = type(a), type(b)
        if id(one) in PLAIN and id(other) in PLAIN:
            return native(a, b)
        if not (_compares(one, dunder) or _compares(other, reflected)):
            return native(a, b)
        first = one is not other and derives(other, one)
        asked = [(a, dunder, b), (b, reflected, a)]
        for owner, spelled, operand in reversed(asked) if first else asked:
            result = _compared(implicit, owner, spelled, operand)
            if result is not NotImplemented:
                return result
        if name in ("eq", "ne"):
            return (a is b) is (name == "eq")
        raise TypeError(
            f"'{symbol}' not supported between instances of '{shown_type(a)}' and '{shown_type(b)}'"
        )

    return operate


def _compares(kind: type, name: str) -> bool:
    """Whether a function of the program compares its objects."""
    if id(kind) in PLAIN:
        return False
    found = lookup(kind, name)
    return found is None or in_python(found) or _by_equality(kind, found)


def _by_equality(kind: type, found: Any) -> bool:
    """Whether ``!=`` is the contrary of what ``__eq__`` of the program answers."""
    return found is object.__dict__["__ne__"] and in_python(lookup(kind, "__eq__"))


def _compared(implicit: Implicit, owner: Any, name: str, operand: Any) -> Any:
    found = lookup(type(owner), name)
    if found is MISSING:
        return NotImplemented
    if _by_equality(type(owner), found):
        return unequal(implicit, owner, operand)
    return _asked(implicit, found, owner, operand)


def _asked(implicit: Implicit, found: Any, owner: Any, operand: Any) -> Any:
    if type(found) is FunctionType or not in_python(found):
        return invoke(implicit.callees, found, owner, operand)
    try:
        call = bound(implicit.callees, found, owner)
    except Exception:  # a comparison takes it as no answer
        return NotImplemented
    return call(operand)


def unequal(implicit: Implicit, owner: Any, operand: Any) -> Any:
    """``object.__ne__``."""
    equal = python_function(type(owner), "__eq__")
    if equal is MISSING:
        return object.__dict__["__ne__"](owner, operand)
    result = _asked(implicit, equal, owner, operand)
    return result if result is NotImplemented else not implicit.numbers.truth(result)
