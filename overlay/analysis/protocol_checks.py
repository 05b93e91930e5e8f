"""Checks of what the language asks of objects beside attributes that are named: calls, ``with``,
``await``, subscripts, assignments to attributes, formats."""

from __future__ import annotations

import enum
import io
import operator
import re
import string
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from overlay.analysis.abstract_values import TOP, ItemValues, KnownValue
from overlay.analysis.attribute_names import in_class, is_of_program, names_of
from overlay.analysis.kind_functions import NONE, SAMPLES, Exactly, Kinds
from overlay.analysis.object_attributes import text_of
from overlay.analysis.unpacked_arguments import REST
from overlay.code.body import Body, ConstantValue, Return
from overlay.code.read_bodies import body_of
from overlay.core.errors import NotCompilable, OverlayError, closest, near_names
from overlay.core.short_repr import counted
from overlay.core.target import type_attribute

if TYPE_CHECKING:
    from overlay.analysis.checked_types import CheckedTypes

__all__ = [
    "ARRAYS",
    "LacksProtocol",
    "ReadOnlyAttribute",
    "WrongFormat",
    "check_called",
    "check_format",
    "check_native",
    "checked_awaitable",
    "manager_of",
    "member_class",
]

_MANAGED = {
    "BEFORE_WITH": ("__enter__", "__exit__"),
    "BEFORE_ASYNC_WITH": ("__aenter__", "__aexit__"),
}
_SEQUENCES = (list, tuple, str, bytes)
# context managers in C that let each exception pass
_KEEPING = (io.IOBase, type(threading.Lock()), type(threading.RLock()), memoryview)
# conversions of % that take a number alone
_OF_NUMBERS = "diouxXeEfFgGc"
# the conversion letter is group 1; none has a name, or a width or precision that is a value
_SPECIFIER = re.compile(r"%(?:\(|[#0\- +]*(?:\*|\d*(?:\.\*|(?:\.\d*)?[hlL]?(.))))", re.DOTALL)


class LacksProtocol(OverlayError):
    """An object that the language asks for a special method that its class does not have."""


class ReadOnlyAttribute(OverlayError):
    """An attribute that cannot be set."""


class WrongFormat(OverlayError):
    """A format that does not fit what is formatted. raised: the exception that it raises."""

    raised: type[Exception] = ValueError


def classes_of_value(value: Any) -> frozenset[type] | None:
    """The classes that a value may have; None where they are not known."""
    if isinstance(value, Kinds):
        return value.types
    if isinstance(value, KnownValue):
        return frozenset({type(value.value)})
    return frozenset({tuple}) if isinstance(value, ItemValues) else None


def _lack(value: Any, *names: str) -> str | None:
    """The special method of these that no possible class of a value has, None among them, and that
    is not that of None alone; None if there is none."""
    classes = classes_of_value(value)
    left = None if classes is None else classes - {types.NoneType}
    if not left:
        return None
    for name in names:
        if all(type_attribute(cls, name) is None for cls in left):
            return name
    return None


def _shown(value: Any) -> str:
    classes = (classes_of_value(value) or frozenset()) - {types.NoneType}
    return " or ".join(sorted(cls.__qualname__ for cls in classes))


def check_called(value: Any) -> None:
    """Raise LacksProtocol if a value can certainly not be called."""
    if _lack(value, "__call__"):
        raise LacksProtocol(
            f"an object of class {_shown(value)} is called, which cannot be called",
            help="call a function, or leave out the parentheses",
        )


def check_native(
    domain: CheckedTypes, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Raise the error of a call of a native function that certainly fails by what it is given."""
    if kwargs and function is not str.format:
        return
    if function is setattr and len(args) == 3:
        name = text_of(args[1])
        if name is not None:
            check_stored(domain, args[0], name)
    elif function is operator.getitem and len(args) == 2:
        check_subscript(*args)
    elif function is operator.mod or function is str.format:
        check_formatted(function, args, kwargs)


def manager_of(value: Any, instruction: str) -> tuple[Callable[..., Any] | None, bool]:
    """The method that enters a context manager, None if it is not known; and whether exceptions of
    the block may end there."""
    enters, leaves = _MANAGED[instruction]
    missing = _lack(value, enters, leaves)
    if missing is not None:
        raise LacksProtocol(
            f"an object of class {_shown(value)} is no context manager: it has no {missing}",
            help="enter one that has __enter__ and __exit__, or leave out the with statement",
        )
    classes = classes_of_value(value)
    if classes is None:
        return None, True
    if all(issubclass(cls, io.IOBase) for cls in classes):
        return io.IOBase.__enter__, False
    if len(classes) != 1:
        return None, True
    (cls,) = classes
    found = type_attribute(cls, enters)
    method = found if type(found) is types.FunctionType else None
    keeps = issubclass(cls, _KEEPING) or gives_nothing(type_attribute(cls, leaves))
    return method, not keeps


def gives_nothing(function: Any) -> bool:
    """Whether a function in Python returns nothing that is true."""
    if type(function) is not types.FunctionType:
        return False
    try:
        body = body_of(function)
    except NotCompilable:
        return False
    return body.kind != "generator" and all(_is_false(body, end) for end in _returned(body))


def _returned(body: Body) -> list[tuple[Any, str]]:
    ends = ((block, block.end) for block in body.blocks.values())
    return [(b, e.value) for b, e in ends if isinstance(e, Return) and e.value is not None]


def _is_false(body: Body, returned: tuple[Any, str]) -> bool:
    block, name = returned
    held = [s for s in block.statements if s.target == name]
    return len(held) == 1 and isinstance(held[0], ConstantValue) and not held[0].value


def checked_awaitable(value: Any, name: str = "__await__") -> Any:
    """The value itself; LacksProtocol if it can certainly not be awaited. name: the special method
    that is asked for."""
    if _lack(value, name) and classes_of_value(value) != frozenset({types.GeneratorType}):
        asked = "awaited" if name == "__await__" else "gone through by async for"
        raise LacksProtocol(
            f"an object of class {_shown(value)} is {asked}: it has no {name}",
            help="await a coroutine, a task or a future",
        )
    return value


def check_subscript(value: Any, place: Any) -> None:
    """Raise LacksProtocol if a sequence is certainly indexed by what is no index."""
    classes, places = classes_of_value(value), classes_of_value(place)
    if not classes or not places or not all(cls in _SEQUENCES for cls in classes):
        return
    if all(cls in SAMPLES and not hasattr(cls, "__index__") for cls in places):
        raise LacksProtocol(
            f"an object of class {_shown(value)} is indexed by {_shown(place) or None}",
            help="index it by a whole number or a slice",
        )


def check_stored(domain: CheckedTypes, value: Any, name: str) -> None:
    """Raise ReadOnlyAttribute if an attribute can certainly not be set."""
    classes = classes_of_value(value)
    if classes is None or len(classes) != 1 or classes == NONE.types:
        return
    (cls,) = classes
    if type(type_attribute(cls, "__setattr__")) is not types.WrapperDescriptorType:
        return
    found = type_attribute(cls, name)
    if type(found) is property and found.fset is None:
        raise ReadOnlyAttribute(
            f"the property {name!r} of class {cls.__qualname__} is set, which has no setter",
            help="give it a setter, or set what it is computed from",
        )
    is_open = isinstance(value, KnownValue) or cls.__dictoffset__ or in_class(cls, name)
    if not is_open and is_of_program(cls):
        near = near_names(name, names_of(cls, known=False))
        raise ReadOnlyAttribute(
            f"an object of class {cls.__qualname__} has no attribute {name!r}, and none can be "
            "added: its class has __slots__",
            notes=closest(near),
            help="correct the spelling, or name it in __slots__",
        )


# ---- formats ------------------------------------------------------------------------------


def check_format(value: Any, spec: Any) -> None:
    """Raise WrongFormat if the specification of a format certainly does not fit a value."""
    text = spec.only if isinstance(spec, Exactly) else None
    classes = classes_of_value(value)
    if not isinstance(text, str) or not text or not classes:
        return
    if all(cls in SAMPLES and not _formats(cls, text) for cls in classes):
        raise _wrong(f"the format {text!r} does not fit an object of class {_shown(value)}")


def _formats(cls: type, text: str) -> bool:
    try:
        format(SAMPLES[cls](), text)
    except (ValueError, TypeError):
        return False
    except (OverflowError, MemoryError):
        return True
    return True


def check_formatted(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Raise WrongFormat if a call of ``str.format``, or ``text % values``, certainly asks for more
    than it is given."""
    text = args[0].only if args and isinstance(args[0], Exactly) else None
    if not isinstance(text, str):
        return
    if function is str.format and REST not in args and "**" not in kwargs:
        _check_fields(text, len(args) - 1, kwargs)
    elif function is not str.format and len(args) == 2:
        _check_specifiers(text, args[1])


def _check_fields(text: str, count: int, kwargs: Mapping[str, Any]) -> None:
    try:
        fields = [field for _, field, _, _ in string.Formatter().parse(text) if field is not None]
    except ValueError as error:
        raise _wrong(f"the format {text!r} cannot be read: {error}") from None
    number = 0
    for field in fields:
        name = re.split(r"[.\[]", field)[0]
        place = number if not name else int(name) if name.isdecimal() else None
        number += not name
        if place is not None and place >= count:
            raise _wrong(
                f"the format {text!r} asks for {place + 1} arguments, and is given {count}",
                LookupError,
            )
        if place is None and name not in kwargs:
            near = closest(near_names(name, kwargs))
            raise _wrong(f"the format {text!r} asks for {name!r}", LookupError, near)


def _check_specifiers(text: str, values: Any) -> None:
    found = list(_SPECIFIER.finditer(text.replace("%%", "")))
    if any(each[1] is None for each in found):
        return
    classes = classes_of_value(values)
    if isinstance(values, ItemValues):
        given = list(values.items)
    elif classes and all(cls in SAMPLES and cls not in (tuple, dict) for cls in classes):
        given = [values]
    else:
        return
    if len(found) != len(given):
        raise _wrong(
            f"the format {text!r} asks for {counted(len(found), 'value')}, and is given "
            f"{len(given)}",
            TypeError,
        )
    for each, value in zip(found, given, strict=True):
        kinds = classes_of_value(value)
        texts = (str, bytes, list, dict, set, tuple, types.NoneType)
        is_wrong = kinds and all(cls in texts for cls in kinds) and each[1] in _OF_NUMBERS
        if is_wrong and not (each[1] == "c" and str in (kinds or ())):
            raise _wrong(
                f"the format {text!r} asks for a number, and is given one of class {_shown(value)}",
                TypeError,
            )


def _wrong(
    asked: str, raised: type[Exception] = ValueError, notes: Sequence[tuple[str, str]] = ()
) -> WrongFormat:
    error = WrongFormat(asked, notes=notes, help="correct the format, or what is formatted")
    error.raised = raised
    return error


# ---- enumerations and arrays --------------------------------------------------------------


def member_class(value: Any) -> Any:
    """The members of an enumeration that a value is the class of; TOP for other values."""
    is_known = isinstance(value, KnownValue) and isinstance(value.value, enum.EnumType)
    return Kinds(frozenset({value.value})) if is_known else TOP


# what arithmetic of arrays and numbers gives
ARRAYS = Kinds(frozenset({np.ndarray, np.float64, np.int64, np.bool_}))
