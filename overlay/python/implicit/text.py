"""``str``, ``repr``, ``format`` and what prints, by Python functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from overlay.python.implicit.protocols import Given, in_python, invoke, lookup

if TYPE_CHECKING:
    from overlay.python.callees import Callees

__all__ = ["TEXT", "Text"]

_STR: Any = object.__dict__["__str__"]
_FORMAT: Any = object.__dict__["__format__"]
# Builtin types, by id, whose text C functions give.
TEXT = frozenset(map(id, (int, float, complex, bool, str, bytes, bytearray, type(None), range)))


class Text:
    """The text of objects. That of what a container holds is C code's matter."""

    def __init__(self, callees: Callees) -> None:
        self.callees = callees
        self.conversions: dict[int, Callable[[Any], Any]] = {
            1: self._resolver(self.string, ("__str__", "__repr__")),
            2: self._resolver(self.representation, ("__repr__",)),
            3: self._resolver(self.escaped, ("__repr__",)),
        }

    def _resolver(
        self, convert: Callable[[Any], str], names: tuple[str, ...]
    ) -> Callable[[Any], Any]:
        """What gives ``convert``, or None where no function of the program takes part."""

        def resolve(x: Any) -> Any:
            kind = type(x)
            if id(kind) in TEXT:
                return None
            return convert if any(in_python(lookup(kind, name)) for name in names) else None

        return resolve

    def resolve(self, x: Any, spec: Any = "") -> Any:
        """What to call for ``format(x, spec)``, or None."""
        kind = type(x)
        if id(kind) in TEXT:
            return None
        names = ("__format__", "__str__", "__repr__")
        return self.formatted if any(in_python(lookup(kind, name)) for name in names) else None

    def converting(self, conversion: int) -> Callable[..., Any]:
        """The same for an instruction that converts first."""
        resolve = self.conversions[conversion]

        def of(x: Any, spec: Any = "") -> Any:
            convert = resolve(x)
            if convert is None:
                return None

            def formatted(x: Any, spec: Any = "") -> str:
                return self.formatted(convert(x), spec)

            return formatted

        return of

    def string(self, x: Any) -> str:
        """``str(x)``."""
        kind = type(x)
        if id(kind) in TEXT:
            return str(x)
        found = lookup(kind, "__str__")
        if found is _STR:
            return self._checked(x, "__repr__", str)
        return self._checked(x, "__str__", str)

    def representation(self, x: Any) -> str:
        """``repr(x)``."""
        return repr(x) if id(type(x)) in TEXT else self._checked(x, "__repr__", repr)

    def escaped(self, x: Any) -> str:
        """``ascii(x)``."""
        if id(type(x)) in TEXT:
            return ascii(x)
        return ascii(Given(self.representation(x)))

    def _checked(self, x: Any, name: str, native: Callable[[Any], str]) -> str:
        found = lookup(type(x), name)
        if not in_python(found):
            return native(x)
        result = invoke(self.callees, found, x)
        return result if isinstance(result, str) else _refused(name, result)

    def formatted(self, x: Any, spec: Any = "") -> str:
        """``format(x, spec)``."""
        kind = type(x)
        if id(kind) in TEXT:
            return format(x, spec)
        found = lookup(kind, "__format__")
        if found is _FORMAT and type(spec) is str and not spec:
            return self.string(x)
        if not in_python(found) or not isinstance(spec, str):
            return format(x, spec)
        result = invoke(self.callees, found, x, spec)
        return result if isinstance(result, str) else format(Given(result), spec)

    def table(self) -> dict[Callable[..., Any], Callable[..., Any]]:
        """What stands for builtin functions and classes."""
        return {
            str: self.string,
            repr: self.representation,
            ascii: self.escaped,
            format: self.formatted,
            print: self._print,
            _STR: self._by_representation,
            _FORMAT: self._plainly,
        }

    def _by_representation(self, x: Any) -> str:
        return self._checked(x, "__repr__", str)

    def _plainly(self, x: Any, spec: Any) -> str:
        return _FORMAT(x, spec) if spec or type(spec) is not str else self.string(x)

    def _print(self, /, *args: Any, **kwargs: Any) -> None:
        print(*map(self.shown, args), **kwargs)

    def shown(self, x: Any) -> Any:
        """What C code may ask for the text of ``x``."""
        kind = type(x)
        if id(kind) in TEXT:
            return x
        texts = in_python(lookup(kind, "__str__")) or in_python(lookup(kind, "__repr__"))
        return _Shown(self, x) if texts else x


class _Shown:
    """Stands for an object where C code asks for its text alone."""

    __slots__ = ("of", "text")

    def __init__(self, text: Text, of: Any) -> None:
        self.text = text
        self.of = of

    def __str__(self) -> str:
        return self.text.string(self.of)


def _refused(name: str, result: Any) -> Any:
    return (str if name == "__str__" else repr)(Given(result))
