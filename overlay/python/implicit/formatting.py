"""``str.format`` and ``%`` on objects whose text or number is a matter of Python functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from overlay.python.implicit.arithmetic import Binary
from overlay.python.implicit.protocols import (
    MISSING,
    PLAIN,
    derives,
    in_python,
    invoke,
    lookup,
    shown_type,
)
from overlay.python.implicit.text import TEXT

if TYPE_CHECKING:
    from overlay.python.implicit import Implicit

__all__ = ["Formatting", "Remainder"]

_NUMBERS = ("__int__", "__index__", "__float__", "__trunc__")
_ASKED = ("__str__", "__repr__", *_NUMBERS)
# What makes a number or text without its class, for those that C functions know by theirs.
_VALUES: dict[Any, Any] = {int: int.__int__, float: float.__float__, str: str.__str__}


class Formatting:
    """The native functions, given objects that stand for the arguments."""

    def __init__(self, implicit: Implicit) -> None:
        self.implicit = implicit

    # ---- str.format ----

    def table(self) -> dict[Any, Callable[..., Any]]:
        """What stands for builtin functions."""
        return {str.format: self._format, str.format_map: self._format_map}

    def _format(self, template: Any, /, *args: Any, **kwargs: Any) -> Any:
        named = {name: self.field(value) for name, value in kwargs.items()}
        return str.format(template, *map(self.field, args), **named)

    def _format_map(self, template: Any, mapping: Any) -> Any:
        return str.format_map(template, self.field(mapping))

    def field(self, x: Any) -> Any:
        """What ``str.format`` may read and format in place of ``x``."""
        return x if id(type(x)) in TEXT else _field(self.implicit, x)

    # ---- % ----

    def resolve(self, operand: Any) -> Any:
        """What to call for ``text % operand``, or None where no function of the program takes
        part."""
        kind: Any = type(operand)
        if id(kind) in TEXT:
            return None
        if derives(kind, tuple):
            asked = any(map(_is_asked, tuple.__iter__(operand)))
        elif kind is dict:
            asked = any(map(_is_asked, operand.values()))
        else:
            asked = id(kind) not in PLAIN and (_is_asked(operand) or _has_items(kind))
        return self.percent if asked else None

    def percent(self, text: str, operand: Any) -> str:
        """``text % operand``."""
        if derives(type(operand), tuple):
            return text % tuple(map(self.argument, tuple.__iter__(operand)))
        has_items = _has_items(type(operand)) and not derives(type(operand), str)
        return text % (self._standing(operand, has_items) if has_items else self.argument(operand))

    def argument(self, x: Any) -> Any:
        """What ``%`` may ask in place of ``x``."""
        return self._standing(x, False) if _is_asked(x) else x

    def _standing(self, x: Any, has_items: bool) -> Any:
        kind: Any = type(x)
        base: Any = next((base for base in _VALUES if derives(kind, base)), object)
        found = {name: lookup(kind, name) for name in _ASKED}
        if base is object:
            names = [name for name in _ASKED if found[name] is not MISSING]
        else:
            names = ["__str__", "__repr__", *(n for n in _NUMBERS if in_python(found[n]))]
        names += ["__getitem__"] if has_items else []
        value = () if base is object else (_VALUES[base](x),)
        made = _class_for(shown_type(x), base, tuple(names))(*value)
        made.implicit, made.of = self.implicit, x
        return made


class Remainder(Binary):
    """``%``, which formats where its left operand is a ``str``."""

    def __init__(self, implicit: Implicit) -> None:
        super().__init__(implicit, "mod")

    def resolver(self, *, in_place: bool = False) -> Callable[..., Any]:
        numeric, formats = super().resolver(in_place=in_place), self.implicit.formatting.resolve

        def of(a: Any, b: Any) -> Any:
            return formats(b) if _formats(a, b) else numeric(a, b)

        return of

    def operate(self, a: Any, b: Any) -> Any:
        if _formats(a, b) and self.implicit.formatting.resolve(b) is not None:
            return self.implicit.formatting.percent(a, b)
        return Binary.operate(self, a, b)

    def in_place(self, a: Any, b: Any) -> Any:
        return self.operate(a, b) if _formats(a, b) else Binary.in_place(self, a, b)


def _formats(a: Any, b: Any) -> bool:
    if type(a) is not str:
        return False
    kind = type(b)
    return not (kind is not str and derives(kind, str) and in_python(lookup(kind, "__rmod__")))


def _has_items(kind: Any) -> bool:
    return lookup(kind, "__getitem__") is not MISSING


def _is_asked(x: Any) -> bool:
    """Whether a function of the program gives its text or number."""
    kind = type(x)
    return id(kind) not in TEXT and any(in_python(lookup(kind, name)) for name in _ASKED)


class _Field:
    """Stands for an argument of ``str.format``, and for what a field reads from it."""

    __slots__ = ("implicit", "of")


_slots: Any = _Field.__dict__
_implicit, _of = _slots["implicit"].__get__, _slots["of"].__get__
_set_implicit, _set_of = _slots["implicit"].__set__, _slots["of"].__set__


def _field(implicit: Implicit, x: Any) -> Any:
    made = object.__new__(_Field)
    _set_implicit(made, implicit)
    _set_of(made, x)
    return made


def _read(field: Any, name: str) -> Any:
    implicit = _implicit(field)
    return implicit.formatting.field(implicit.attributes.read(_of(field), name))


def _read_item(field: Any, key: Any) -> Any:
    implicit = _implicit(field)
    return implicit.formatting.field(implicit.items.get(_of(field), key))


def _format_field(field: Any, spec: str) -> str:
    return _implicit(field).text.formatted(_of(field), spec)


def _string_of_field(field: Any) -> str:
    return _implicit(field).text.string(_of(field))


def _representation_of_field(field: Any) -> str:
    return _implicit(field).text.representation(_of(field))


# put in from outside: every attribute of a field is one of the object that it stands for
_FIELD: dict[str, Callable[..., Any]] = {
    "__getattribute__": _read,
    "__getitem__": _read_item,
    "__format__": _format_field,
    "__str__": _string_of_field,
    "__repr__": _representation_of_field,
}
for _name, _function in _FIELD.items():
    setattr(_Field, _name, _function)


def _string(self: Any) -> str:
    return self.implicit.text.string(self.of)


def _representation(self: Any) -> str:
    return self.implicit.text.representation(self.of)


def _item(self: Any, key: Any) -> Any:
    return self.implicit.formatting.argument(self.implicit.items.get(self.of, key))


def _number(name: str) -> Callable[[Any], Any]:
    def convert(self: Any) -> Any:
        return invoke(self.implicit.callees, lookup(type(self.of), name), self.of)

    return convert


_METHODS: dict[str, Callable[..., Any]] = {
    **{name: _number(name) for name in _NUMBERS},
    **{"__str__": _string, "__repr__": _representation, "__getitem__": _item},
}


@functools.lru_cache(256)
def _class_for(name: str, base: type, names: tuple[str, ...]) -> Any:
    """A class for what stands for objects, under the name that errors give."""
    return type(name, (base,), {each: _METHODS[each] for each in names})
