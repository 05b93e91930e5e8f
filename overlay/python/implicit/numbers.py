"""Truth, length, hash and conversions to numbers by Python functions."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from overlay.python.implicit.protocols import (
    MISSING,
    PLAIN,
    derives,
    in_python,
    invoke,
    lookup,
    python_function,
)

if TYPE_CHECKING:
    from overlay.python.callees import Callees

__all__ = ["Numbers", "asks_index"]

_SEQUENCES = (list, tuple, str, bytes, bytearray, range)
_SUBSCRIPTS = tuple(kind.__dict__["__getitem__"] for kind in _SEQUENCES)
_index = operator.index


class Numbers:
    """What the interpreter makes of objects where it needs a truth value or a number."""

    def __init__(self, callees: Callees) -> None:
        self.callees = callees
        self._ask_index = self.converted(_index, ("__index__",))

    def truth(self, x: Any) -> bool:
        """``bool(x)``."""
        if x is True or x is False:
            return x
        kind = type(x)
        if id(kind) in PLAIN:
            return True if x else False  # noqa: SIM210 (bool may be overlaid, this is not)
        found = lookup(kind, "__bool__")
        if found is MISSING:
            found = lookup(kind, "__len__")
            if in_python(found):
                return self.length(x) != 0
        elif in_python(found):
            result = invoke(self.callees, found, x)
            if result is True or result is False:
                return result
            return bool(_only("__bool__")(result))
        return bool(x)

    def tested(self, x: Any) -> Any:
        """``x``, or its truth where a function of the program tells it."""
        kind = type(x)
        if id(kind) in PLAIN:
            return x
        found = lookup(kind, "__bool__")
        if found is MISSING:
            found = lookup(kind, "__len__")
        return self.truth(x) if in_python(found) else x

    def resolve_length(self, x: Any) -> Any:
        """What to call for ``len(x)``, or None."""
        found = MISSING if id(type(x)) in PLAIN else python_function(type(x), "__len__")
        return None if found is MISSING else self.length

    def length(self, x: Any) -> int:
        """``len(x)``."""
        found = MISSING if id(type(x)) in PLAIN else python_function(type(x), "__len__")
        if found is MISSING:
            return len(x)
        result = invoke(self.callees, found, x)
        return (
            result
            if type(result) is int and 0 <= result < 1 << 31
            else len(_only("__len__")(result))
        )

    def index(self, x: Any) -> int:
        """``operator.index(x)``, which asks no ``int``."""
        return _index(x) if derives(type(x), int) else self._ask_index(x)

    def subscript(self, container: Any, key: Any) -> Any:
        """The key to look up in a C sequence: its ``__index__`` called, where it has one."""
        kind = type(key)
        if id(kind) in PLAIN and kind is not slice:
            return key
        if not self._by_place(container):
            return key
        if kind is not slice:
            return self.index(key) if asks_index(kind) else key
        parts = key.start, key.stop, key.step
        if all(id(type(part)) in PLAIN for part in parts):
            return key
        return slice(*(self._bound_of_slice(part) for part in parts))

    def converts(self, container: Any, key: Any) -> bool:
        """Whether ``subscript`` may call a function of the program."""
        kind = type(key)
        if id(kind) in PLAIN and kind is not slice:
            return False
        parts = (key.start, key.stop, key.step) if kind is slice else (key,)
        return any(asks_index(type(part)) for part in parts) and self._by_place(container)

    def _by_place(self, container: Any) -> bool:
        reads = lookup(type(container), "__getitem__")
        return any(reads is each for each in _SUBSCRIPTS)

    def _bound_of_slice(self, part: Any) -> Any:
        return self.index(part) if asks_index(type(part)) else part

    def converted(self, native: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
        """A function of one argument that asks the first of these special methods that its
        class has; what that returns is checked by ``native`` itself."""

        def convert(*args: Any, **kwargs: Any) -> Any:
            if len(args) != 1 or kwargs or id(type(args[0])) in PLAIN:
                return native(*args, **kwargs)
            for name in names:
                found = lookup(type(args[0]), name)
                if found is not MISSING:
                    break
            else:
                return native(*args)
            if not in_python(found):
                return native(*args)
            return native(_only(name)(invoke(self.callees, found, args[0])))

        return convert

    def asked(self, native: Callable[..., Any], name: str) -> Callable[..., Any]:
        """A function that gives what a special method of its argument returns."""

        def ask(x: Any) -> Any:
            found = python_function(type(x), name)
            return native(x) if found is MISSING else invoke(self.callees, found, x)

        return ask

    def table(self) -> dict[Callable[..., Any], Callable[..., Any]]:
        """What stands for builtin functions and classes."""
        asked, converted = self.asked, self.converted
        return {
            bool: self.truth,
            len: self.length,
            hash: converted(hash, ("__hash__",)),
            int: converted(int, ("__int__", "__index__", "__trunc__")),
            float: converted(float, ("__float__", "__index__")),
            complex: converted(complex, ("__complex__", "__float__", "__index__")),
            round: self._round,
            math.floor: asked(math.floor, "__floor__"),
            math.ceil: asked(math.ceil, "__ceil__"),
            math.trunc: asked(math.trunc, "__trunc__"),
            _index: self.index,
        }

    def _round(self, /, *args: Any, **kwargs: Any) -> Any:
        number, digits = (*args, None, None)[:2]
        digits = kwargs.get("ndigits", digits)
        odd = len(args) not in (1, 2) or kwargs.keys() - {"ndigits"}
        found = MISSING if odd else python_function(type(number), "__round__")
        if found is MISSING:
            return round(*args, **kwargs)
        given = () if digits is None else (digits,)
        return invoke(self.callees, found, number, *given)


def asks_index(kind: type) -> bool:
    """Whether a function of the program gives the index that an object of the class is."""
    return not derives(kind, int) and python_function(kind, "__index__") is not MISSING


@functools.cache
def _only(name: str) -> Any:
    """Gives a result to be checked by the native function that asks for ``name``."""
    return type("Given", (_Held,), {"__slots__": (), name: _Held.give})


class _Held:
    __slots__ = ("result",)

    def __init__(self, result: Any) -> None:
        self.result = result

    def give(self, *ignored: Any) -> Any:
        """The result."""
        return self.result
