"""Functions and methods of strings and bytes with constant arguments: formats, parts, conversions.

A string or bytes object of known length is a structure of its items, ``Tupled``; each item of a
string is one character. A string of unknown length is one operand.
"""

from __future__ import annotations

import base64
import binascii
import functools
import operator
import re
import string
import struct
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inversion.lifting import text_functions
from inversion.lifting.container_calls import both_of, either_of, held_by
from inversion.lifting.heap import made
from inversion.lifting.lifted_values import (
    CallSite,
    KnownObject,
    Named,
    Raises,
    Tupled,
    Value,
    Values,
    is_known,
    numbers_of,
    plain,
    refused,
    value_of,
)
from inversion.lifting.lookups import member
from inversion.lifting.sequence_calls import characters_of, sequence_call, sequence_of
from inversion.program.statements import Constant, Operand, Variable
from primitives.domains import Integers, Strings
from primitives.sequences.changes import CHANGES, CONDITIONS, changed, condition
from primitives.sequences.formats import OF_FLOATS, Format, int_of_base, of_format, padded
from primitives.sequences.items import from_bytes

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter

__all__ = ["joined", "text_call"]

EMPTY, NONE, BIG, UTF_8 = (KnownObject(each) for each in ("", None, "big", "utf-8"))
NO, ONE, TEN, ALL = (Constant(each) for each in (False, 1, 10, -1))


def text_call(
    lifter: Lifter, site: CallSite, target: Any, args: Values, kwargs: Named
) -> Value | None:
    """The result of a function or a method of strings or bytes; None for any other call."""
    owner = getattr(target, "__self__", None)
    if isinstance(target, types.BuiltinMethodType) and isinstance(owner, (str, bytes)):
        target, args = getattr(type(owner), target.__name__), (KnownObject(owner), *args)
    if type(target).__hash__ is None or not args:
        return None
    if target is str.format:
        return _filled(lifter, site, args[0], args[1:], kwargs)
    if kwargs or all(map(is_known, args)):
        return _with_names(lifter, site, target, args, kwargs)
    if target is operator.mod and _is_text(args[0]) and is_known(args[0]):
        return _percent(lifter, site, plain(args[0]), args[1])
    found = CALLS.get(target)
    if found is not None:
        return found(lifter, site, *args)
    name = getattr(target, "__name__", "")
    if getattr(str, name, None) is target and _is_text(args[0]):
        return _method(lifter, site, name, args[0], args[1:])
    return None


def _with_names(
    lifter: Lifter, site: CallSite, target: Any, args: Values, kwargs: Named
) -> Value | None:
    if all(map(is_known, (*args, *kwargs.values()))):
        names = {**vars(str), **vars(bytes)}
        name = getattr(target, "__name__", "")
        if names.get(name) is target or target in CALLS or target in FOLDED:
            given = {key: plain(value) for key, value in kwargs.items()}
            try:
                return value_of(target(*map(plain, args), **given))
            except (ValueError, TypeError, LookupError, struct.error) as error:
                raise Raises(f"{name}: {error}", site.where) from None
        return None
    found = NAMED.get(target)
    return None if found is None else found(lifter, site, *args, **kwargs)


def _is_text(value: Value) -> bool:
    if isinstance(value, KnownObject):
        return isinstance(value.value, str)
    return isinstance(value, (Variable, Constant, Tupled)) and value.kind is str


def operands(lifter: Lifter, site: CallSite, values: Values) -> list[Operand]:
    """Strings and numbers as operands."""
    return numbers_of([sequence_of(lifter, site, value) for value in values])


def octets(lifter: Lifter, site: CallSite, data: Value | None) -> tuple[Value, ...] | None:
    """The items of bytes, if their number is known, else None."""
    if data is None or data.kind not in (bytes, bytearray):
        return None
    held = held_by(lifter, site, data)
    return None if held is None else held.items


# ---- texts of known length ----------------------------------------------------------------


def _length_of(lifter: Lifter, value: Value) -> tuple[int, int | None]:
    """The smallest and the largest length of a string."""
    if isinstance(value, (KnownObject, Constant)):
        return len(value.value), len(value.value)
    if isinstance(value, Tupled):
        return len(value.items), len(value.items)
    domain = lifter.domains.get(value) if isinstance(value, Variable) else None
    return (domain.low, domain.high) if isinstance(domain, Strings) else (0, None)


def joined(lifter: Lifter, site: CallSite, parts: Sequence[Value]) -> Value:
    """The concatenation of strings: as characters if all are, else as one operand."""
    parts = [part for part in parts if part != EMPTY]
    if not parts:
        return EMPTY
    if all(map(is_known, parts)):
        return KnownObject("".join(map(_plain_text, parts)))
    if len(parts) == 1:
        return parts[0]
    if all(_is_of_characters(lifter, part) for part in parts):
        items = [characters_of(lifter, site, part) or () for part in parts]
        return Tupled(str, tuple(item for part in items for item in part))

    def add(one: Value, other: Value) -> Value:
        return lifter.call(site, (operator.add,), (one, other), {})

    return functools.reduce(add, parts)


def _plain_text(value: Value) -> str:
    return "".join(map(plain, value.items)) if isinstance(value, Tupled) else plain(value)


def _is_of_characters(lifter: Lifter, value: Value) -> bool:
    return not isinstance(value, Variable) or _length_of(lifter, value) == (1, 1)


def note_length(lifter: Lifter, one: Value, other: Value, found: Value) -> None:
    """Record the bounds of the length of a concatenation of two strings."""
    if isinstance(found, Variable) and found.kind is str:
        (low, high), (least, most) = _length_of(lifter, one), _length_of(lifter, other)
        longest = None if high is None or most is None else high + most
        lifter.domains[found] = Strings("", low + least, longest)


# ---- formats ------------------------------------------------------------------------------


def _formatted(lifter: Lifter, site: CallSite, value: Value, spec: Value = EMPTY) -> Value | None:
    if not is_known(spec):
        help = "write the choice with if, with a constant format in each branch"
        raise refused("a format that depends on the arguments", site.where, help)
    return formatted(lifter, site, value, _plain_text(spec))


def formatted(lifter: Lifter, site: CallSite, value: Value, spec: str) -> Value | None:
    """The text of a value by a format."""
    if is_known(value):
        return KnownObject(format(plain(value), spec))
    if not spec:
        return lifter.call(site, (str,), (value,), {})
    read = Format.read(spec)
    if value.kind is str and read is not None and read.precision is not None:
        part = KnownObject(slice(None, read.precision, None))
        value = lifter.call(site, (operator.getitem,), (value, part), {})
        spec = re.sub(r"\.\d+", "", spec)
    (value,) = operands(lifter, site, [value])
    if not isinstance(value, Variable) or read is None:
        return None
    if value.kind is bool:
        value = lifter.call(site, (int,), (value,), {})
    if value.kind is int and read.type == "c":
        value = lifter.call(site, (chr,), (value,), {})
        spec = spec[:-1]
    elif value.kind is int and read.type and read.type in OF_FLOATS:
        value = lifter.call(site, (float,), (value,), {})
    if not isinstance(value, Variable):
        return None
    found = of_format(value.kind, spec, lifter.domains.get(value))
    return None if found is None else lifter.state(site, found, [value])


def _filled(
    lifter: Lifter, site: CallSite, text: Value, args: Values, kwargs: Named
) -> Value | None:
    """The result of ``str.format``."""
    if not is_known(text):
        return None
    parts: list[Value] = []
    count = 0
    for literal, name, spec, conversion in string.Formatter().parse(_plain_text(text)):
        parts.append(KnownObject(literal))
        if name is None:
            continue
        first = re.split(r"[.[]", name, maxsplit=1)[0]
        rest = name[len(first) :]
        if rest or "{" in (spec or ""):
            help = "pass the item or attribute as a separate argument"
            raise refused("an item, an attribute or a format within a format", site.where, help)
        if not first:
            first, count = str(count), count + 1
        value = args[int(first)] if first.isdigit() else kwargs[first]
        if conversion:
            value = lifter.call(site, (CONVERSIONS[conversion],), (value,), {})
        parts.append(lifter.call(site, (format,), (value, KnownObject(spec or "")), {}))
    return joined(lifter, site, parts)


CONVERSIONS: Mapping[str, Any] = {"s": str, "r": repr, "a": ascii}
_PERCENT = re.compile(r"%(?:(%)|([-+ #0]*)(\d*)(?:\.(\d+))?([diuxXoeEfFgGsrac]))")


def _percent(lifter: Lifter, site: CallSite, text: str, values: Value) -> Value | None:
    """The result of ``text % values``."""
    given = list(values.items) if isinstance(values, Tupled) and values.kind is tuple else [values]
    parts: list[Value] = []
    at = 0
    for found in _PERCENT.finditer(text):
        parts.append(KnownObject(text[at : found.start()]))
        at = found.end()
        if found[1]:
            parts.append(KnownObject("%"))
            continue
        if not given:
            raise Raises("not enough arguments for a format", site.where)
        shown = _of_percent(lifter, site, given.pop(0), *found.group(2, 3, 4, 5))
        if shown is None:
            return None
        parts.append(shown)
    parts.append(KnownObject(text[at:]))
    if "%" in _PERCENT.sub("", text):
        help = "use an f-string, or str.format"
        raise refused("a format with % of another kind", site.where, help)
    return joined(lifter, site, parts)


def _of_percent(
    lifter: Lifter, site: CallSite, value: Value, flags: str, width: str, precision: str | None,
    kind: str,
) -> Value | None:  # fmt: skip
    if kind in "sra":
        value = lifter.call(site, ({"s": str, "r": repr, "a": ascii}[kind],), (value,), {})
    elif kind in "diuxXo" and value.kind is float:
        value = lifter.call(site, (int,), (value,), {})
    is_text = kind in "srac"
    align = "<" if "-" in flags else ">" if is_text or "0" not in flags else ""
    sign = "" if is_text else "+" if "+" in flags else " " if " " in flags else ""
    zero = "0" if "0" in flags and "-" not in flags and not is_text else ""
    ending = {"d": "d", "i": "d", "u": "d", "s": "s", "r": "s", "a": "s"}.get(kind, kind)
    if precision is not None and kind in "diuxXo":
        return None
    dot = "" if precision is None else f".{precision}"
    spec = (align if width else "") + sign + "#" * ("#" in flags) + zero + width + dot + ending
    return formatted(lifter, site, value, spec)


def _repr(lifter: Lifter, site: CallSite, value: Value) -> Value | None:
    if value.kind in (int, float, bool):
        return lifter.call(site, (str,), (value,), {})
    return None


def _number_as(spec: str) -> Callable[..., Value | None]:
    def found(lifter: Lifter, site: CallSite, value: Value) -> Value | None:
        return formatted(lifter, site, value, spec) if value.kind in (int, bool) else None

    return found


def _int(lifter: Lifter, site: CallSite, text: Value, base: Value = TEN) -> Value | None:
    if not _is_text(text) or not is_known(base):
        return None
    low, high = _length_of(lifter, text)
    width = low if low == high else None
    if base == Constant(10) and width is None:
        return None
    found = int_of_base(plain(base), width)
    return lifter.state(site, found, operands(lifter, site, [text]))


def _str(lifter: Lifter, site: CallSite, value: Value = EMPTY) -> Value | None:
    if _is_text(value) and isinstance(value, (Tupled, Variable)):
        return value
    bounds = lifter.domains.get(value) if isinstance(value, Variable) else None
    if isinstance(bounds, Integers) and value.kind is int and bounds.high is not None:
        return formatted(lifter, site, value, "d")
    return None


# ---- methods ------------------------------------------------------------------------------


def _method(lifter: Lifter, site: CallSite, name: str, text: Value, args: Values) -> Value | None:
    """The result of a method of a string, with arguments that are not constant."""
    items = characters_of(lifter, site, text)
    known = [plain(arg) for arg in args] if all(map(is_known, args)) else None
    if items is not None and name in OF_CHARACTERS:
        found = OF_CHARACTERS[name](lifter, site, items, *args)
        if found is not None:
            return found
    if known is None:
        return None
    if name in ("ljust", "rjust", "center", "zfill"):
        found = padded(name, tuple(known))
    elif name in CONDITIONS:
        found = condition(name, single=_length_of(lifter, text) == (1, 1))
    elif name in CHANGES:
        found = changed(name, tuple(known))
    else:
        return None
    return lifter.state(site, found, operands(lifter, site, [text]))


def _each(name: str) -> Callable[..., Value | None]:
    """A method that changes each character separately."""

    def found(lifter: Lifter, site: CallSite, items: Values, *args: Value) -> Value | None:
        if len(items) < 2 or not all(map(is_known, args)):
            return None
        return Tupled(str, tuple(_character(lifter, site, name, item, args) for item in items))

    return found


def _character(lifter: Lifter, site: CallSite, name: str, item: Value, args: Values) -> Value:
    found = lifter.call(site, (getattr(str, name),), (item, *args), {})
    if isinstance(found, Variable):
        lifter.domains[found] = Strings("", 1, 1)
    return found


def _differs(lifter: Lifter, site: CallSite, item: Value, others: str | None) -> None:
    """Require that a character that depends on the arguments is none of some others; of white space
    for None.
    """
    asked = ("isspace", "") if others is None else ("in", others)
    is_one = lifter.state(site, condition(*asked, single=True), operands(lifter, site, [item]))
    if isinstance(is_one, Variable):
        lifter.holds.append((is_one, False))


def _marks(lifter: Lifter, site: CallSite, items: Values, others: str | None) -> list[bool]:
    """For each character, whether it is one of some others. A character that depends on the
    arguments is none.
    """
    lifter.marks.update(" " if others is None else others)
    found: list[bool] = []
    for item in items:
        if is_known(item):
            one = plain(item)
            found.append(one.isspace() if others is None else one in others)
        else:
            _differs(lifter, site, item, others)
            found.append(False)
    return found


def _pieces(lifter: Lifter, site: CallSite, items: Values, separator: Value) -> list[Values] | None:
    if separator == NONE:
        marks = _marks(lifter, site, items, None)
        found: list[list[Value]] = [[]]
        for item, is_mark in zip(items, marks, strict=True):
            if is_mark:
                found.append([])
            else:
                found[-1].append(item)
        return [piece for piece in found if piece]
    if not is_known(separator) or len(plain(separator)) != 1:
        return None
    marks = _marks(lifter, site, items, plain(separator))
    ends = [i for i, is_mark in enumerate(marks) if is_mark]
    starts = [0, *(end + 1 for end in ends)]
    return [items[a:b] for a, b in zip(starts, [*ends, len(items)], strict=True)]


def text_with(items: Values) -> Value:
    """The string of some characters."""
    if all(map(is_known, items)):
        return KnownObject("".join(map(plain, items)))
    return Tupled(str, tuple(items))


def _split(*, from_right: bool) -> Callable[..., Value | None]:
    def found(
        lifter: Lifter, site: CallSite, items: Values, separator: Value = NONE,
        most: Value = ALL,
    ) -> Value | None:  # fmt: skip
        pieces = _pieces(lifter, site, items, separator)
        if pieces is None or not is_known(most):
            return None
        limit = plain(most)
        if 0 <= limit < len(pieces) - 1:
            if separator == NONE:
                return None
            extra = len(pieces) - limit
            rest = pieces[:extra] if from_right else pieces[limit:]
            whole = [item for piece in rest for item in (separator, *piece)][1:]
            pieces = [whole, *pieces[extra:]] if from_right else [*pieces[:limit], whole]
        return made(lifter.known, list, map(text_with, pieces))

    return found


def _partition(*, from_right: bool) -> Callable[..., Value | None]:
    def found(lifter: Lifter, site: CallSite, items: Values, separator: Value) -> Value | None:
        pieces = _pieces(lifter, site, items, separator)
        if pieces is None:
            return None
        whole = text_with(items)
        if len(pieces) == 1:
            parts = (EMPTY, EMPTY, whole) if from_right else (whole, EMPTY, EMPTY)
        else:
            at = len(items) - len(pieces[-1]) - 1 if from_right else len(pieces[0])
            parts = text_with(items[:at]), separator, text_with(items[at + 1 :])
        return Tupled(tuple, parts)

    return found


def _strip(*, left: bool, right: bool) -> Callable[..., Value | None]:
    def found(lifter: Lifter, site: CallSite, items: Values, chars: Value = NONE) -> Value | None:
        if not is_known(chars):
            return None
        others = plain(chars)
        items = tuple(items)
        lifter.marks.update(" " if others is None else others)
        for is_asked, end in ((left, 0), (right, -1)):
            while is_asked and items and _marks(lifter, site, (items[end],), others)[0]:
                items = items[1:] if end == 0 else items[:-1]
        return text_with(items)

    return found


def _replace(lifter: Lifter, site: CallSite, items: Values, old: Value, new: Value) -> Value | None:
    if not is_known(old) or len(plain(old)) != 1:
        return None
    marks = _marks(lifter, site, items, plain(old))
    parts = [new if is_mark else item for item, is_mark in zip(items, marks, strict=True)]
    return joined(lifter, site, parts)


def _find(*, from_right: bool, must: bool) -> Callable[..., Value | None]:
    def found(lifter: Lifter, site: CallSite, items: Values, part: Value) -> Value | None:
        if not is_known(part) or len(plain(part)) != 1:
            return None
        marks = _marks(lifter, site, items, plain(part))
        if True not in marks:
            if must:
                raise Raises("a part that is not in the string", site.where)
            return Constant(-1)
        return Constant(
            len(marks) - 1 - marks[::-1].index(True) if from_right else marks.index(True)
        )

    return found


def _starts(*, at_end: bool) -> Callable[..., Value | None]:
    def found(lifter: Lifter, site: CallSite, items: Values, part: Value) -> Value | None:
        parts = part.items if isinstance(part, Tupled) and part.kind is tuple else (part,)
        result: Value = Constant(False)
        for each in parts:
            wanted = characters_of(lifter, site, each)
            if wanted is None:
                return None
            if len(wanted) > len(items):
                continue
            here = items[len(items) - len(wanted) :] if at_end else items[: len(wanted)]
            same = lifter.call(
                site, (operator.eq,), (Tupled(tuple, tuple(here)), Tupled(tuple, wanted)), {}
            )
            result = either_of(lifter, site, result, same)
        return result

    return found


def _condition(name: str) -> Callable[..., Value | None]:
    """A condition on strings that holds if it holds for each character."""

    def found(lifter: Lifter, site: CallSite, items: Values) -> Value | None:
        if len(items) < 2:
            return None
        result: Value = Constant(True)
        for item in items:
            one = lifter.call(site, (getattr(str, name),), (item,), {})
            result = both_of(lifter, site, result, one)
        return result

    return found


def _encode(lifter: Lifter, site: CallSite, items: Values, encoding: Value = UTF_8) -> Value | None:
    """The bytes of a string; one byte for each character that depends on the arguments."""
    name = str(plain(encoding)).lower().replace("_", "-")
    if name not in LIMITS:
        return None
    found: list[Value] = []
    for item in items:
        if is_known(item):
            found += map(value_of, plain(item).encode(name))
            continue
        point = lifter.call(site, (ord,), (item,), {})
        fits = lifter.call(site, (operator.lt,), (point, Constant(LIMITS[name])), {})
        if isinstance(fits, Variable):
            lifter.holds.append((fits, True))
        if isinstance(point, Variable):
            lifter.domains[point] = Integers(0, LIMITS[name] - 1)
        found.append(point)
    return Tupled(bytes, tuple(found))


LIMITS: Mapping[str, int] = {
    "ascii": 128, "utf-8": 128, "utf8": 128, "latin-1": 256, "latin1": 256, "iso-8859-1": 256,
}  # fmt: skip
"""The code points below which a character is one byte, by encoding."""


def _decode(lifter: Lifter, site: CallSite, data: Value, encoding: Value = UTF_8) -> Value | None:
    items = octets(lifter, site, data)
    name = str(plain(encoding)).lower().replace("_", "-")
    if items is None or name not in LIMITS:
        return None
    found: list[Value] = []
    for item in items:
        fits = lifter.call(site, (operator.lt,), (item, Constant(LIMITS[name])), {})
        if isinstance(fits, Variable):
            lifter.holds.append((fits, True))
        elif not plain(fits):
            help = "decode the known bytes outside the function, and add the text"
            what = "characters of several bytes that are written out"
            raise refused(what, site.where, help)
        found.append(lifter.call(site, (chr,), (item,), {}))
    return text_with(found)


OF_CHARACTERS: Mapping[str, Callable[..., Value | None]] = {
    **{name: _each(name) for name in ("upper", "lower", "swapcase", "casefold", "translate")},
    **{name: _condition(name) for name in
       ("isdigit", "isalpha", "isalnum", "isspace", "isdecimal", "isnumeric", "isascii",
        "isprintable")},
    "split": _split(from_right=False),
    "rsplit": _split(from_right=True),
    "partition": _partition(from_right=False),
    "rpartition": _partition(from_right=True),
    "strip": _strip(left=True, right=True),
    "lstrip": _strip(left=True, right=False),
    "rstrip": _strip(left=False, right=True),
    "replace": _replace,
    "find": _find(from_right=False, must=False),
    "rfind": _find(from_right=True, must=False),
    "index": _find(from_right=False, must=True),
    "rindex": _find(from_right=True, must=True),
    "startswith": _starts(at_end=False),
    "endswith": _starts(at_end=True),
    "encode": _encode,
}  # fmt: skip
"""The methods of strings of known length."""


# ---- bytes and integers -------------------------------------------------------------------


def _from_bytes(
    lifter: Lifter, site: CallSite, data: Value, byteorder: Value = BIG,
    signed: Value = NO,
) -> Value | None:  # fmt: skip
    if isinstance(data, KnownObject) and data.value is int:
        return None
    items = octets(lifter, site, data)
    if items is None or not is_known(byteorder) or not is_known(signed):
        return None
    return number_of(lifter, site, items, plain(byteorder), signed=bool(plain(signed)))


def number_of(lifter: Lifter, site: CallSite, items: Values, order: str, *, signed: bool) -> Value:
    """The integer of bytes."""
    items = items if order == "big" else items[::-1]
    if not items:
        return Constant(0)
    if len(items) == 1 and not signed:
        return items[0]
    return lifter.state(site, from_bytes(len(items), signed=signed), operands(lifter, site, items))


def _to_bytes(
    lifter: Lifter, site: CallSite, number: Value, length: Value = ONE,
    byteorder: Value = BIG, signed: Value = NO,
) -> Value | None:  # fmt: skip
    if not all(map(is_known, (length, byteorder, signed))):
        return None
    args = number, length, byteorder, signed
    return lifter.called(site, KnownObject(text_functions.bytes_of), args)


_FIELD = re.compile(r"(\d*)([xcbB?hHiIlLqQs])")
SIZES: Mapping[str, int] = dict(zip("bBhHiIlLqQ?", (1, 1, 2, 2, 4, 4, 4, 4, 8, 8, 1), strict=True))


def _fields(site: CallSite, layout: str) -> tuple[str, list[str]]:
    """The byte order of a layout of ``struct``, and its fields."""
    order = {"<": "little", ">": "big", "!": "big"}.get(layout[:1])
    body = layout[1:].replace(" ", "")
    if order is None or not re.fullmatch(f"(?:{_FIELD.pattern})*", body):
        raise refused(
            f"the layout {layout!r}", site.where,
            "begin it with <, > or !, and use fields of integers and bytes",
        )  # fmt: skip
    found: list[str] = []
    for count, kind in _FIELD.findall(body):
        found += [f"{count or 1}s"] if kind == "s" else [kind] * int(count or 1)
    return order, found


def _pack(lifter: Lifter, site: CallSite, layout: Value, *values: Value) -> Value | None:
    if not is_known(layout):
        return None
    order, fields = _fields(site, plain(layout))
    given = list(values)
    items: list[Value] = []
    for kind in fields:
        if kind == "x":
            items.append(Constant(0))
            continue
        if not given:
            raise Raises("too few values to pack", site.where)
        value = given.pop(0)
        if kind[-1] in "sc":
            found = octets(lifter, site, value)
            size = int(kind[:-1] or 1)
            if found is None:
                return None
            items += (*found, *[Constant(0)] * size)[:size]
            continue
        signed = Constant(kind.islower())
        packed = _to_bytes(lifter, site, value, Constant(SIZES[kind]), KnownObject(order), signed)
        items += octets(lifter, site, packed) or () if packed is not None else ()
    return Tupled(bytes, tuple(items))


def _unpack(lifter: Lifter, site: CallSite, layout: Value, data: Value) -> Value | None:
    items = octets(lifter, site, data)
    if items is None or not is_known(layout):
        return None
    order, fields = _fields(site, plain(layout))
    found: list[Value] = []
    at = 0
    for kind in fields:
        size = 1 if kind in "xc" else int(kind[:-1]) if kind[-1] == "s" else SIZES[kind]
        part = items[at : at + size]
        at += size
        if kind == "x":
            continue
        if kind[-1] in "sc":
            found.append(Tupled(bytes, tuple(part)))
        else:
            number = number_of(lifter, site, part, order, signed=kind.islower())
            found.append(number)
    if at != len(items):
        raise Raises("as many bytes as the layout says are unpacked", site.where)
    return Tupled(tuple, tuple(found))


def _through(function: Any) -> Callable[..., Value | None]:
    """A function with a Python definition for bytes of known length."""

    def found(lifter: Lifter, site: CallSite, data: Value, *others: Value) -> Value | None:
        items = octets(lifter, site, data)
        if items is None:
            return None
        return lifter.called(site, KnownObject(function), (Tupled(bytes, items), *others))

    return found


def _fromhex(lifter: Lifter, site: CallSite, text: Value) -> Value | None:
    items = characters_of(lifter, site, text)
    if items is None or len(items) % 2:
        return None
    pairs = zip(items[::2], items[1::2], strict=True)
    found = (lifter.call(site, (int,), (text_with(pair), Constant(16)), {}) for pair in pairs)
    return Tupled(bytes, tuple(found))


def _compared(target: Any) -> Callable[..., Value | None]:
    """A comparison of single characters, by their code points."""

    def found(lifter: Lifter, site: CallSite, one: Value, other: Value) -> Value | None:
        if not (_is_text(one) and _is_text(other)):
            return None
        if {_length_of(lifter, value) for value in (one, other)} != {(1, 1)}:
            return None
        points = [lifter.call(site, (ord,), (value,), {}) for value in (one, other)]
        return lifter.call(site, (target,), points, {})

    return found


def _item(lifter: Lifter, site: CallSite, text: Value, index: Value) -> Value | None:
    """An item or a slice of a string of known length, where the string is one operand."""
    items = characters_of(lifter, site, text) if isinstance(text, Variable) else None
    if items is None:
        return None
    return lifter.call(site, (operator.getitem,), (Tupled(str, items), index), {})


def _length(lifter: Lifter, site: CallSite, text: Value) -> Value | None:
    low, high = _length_of(lifter, text) if _is_text(text) else (0, None)
    return Constant(low) if low == high else None


def _add(lifter: Lifter, site: CallSite, one: Value, other: Value) -> Value | None:
    if not (_is_text(one) and _is_text(other)):
        return None
    both = [part for part in (one, other) if part != EMPTY]
    if len(both) < 2 or all(_is_of_characters(lifter, part) for part in both):
        return joined(lifter, site, both)
    found = sequence_call(lifter, site, operator.add, tuple(both), {})
    if found is not None:
        note_length(lifter, one, other, found)
    return found


def _join(lifter: Lifter, site: CallSite, separator: Value, parts: Value) -> Value | None:
    if not isinstance(parts, Tupled) or parts.kind not in (list, tuple, str):
        return None
    if not all(map(_is_text, parts.items)):
        return None
    every = [part for item in parts.items for part in (separator, item)][1:]
    return joined(lifter, site, every)


def _contains(lifter: Lifter, site: CallSite, text: Value, part: Value) -> Value | None:
    if not (_is_text(text) and _is_text(part)):
        return None
    items = characters_of(lifter, site, text)
    if items is None or _length_of(lifter, part) != (1, 1):
        return None
    return member(lifter, site, Tupled(tuple, items), part)


FOLDED = (base64.b64encode, base64.b64decode, binascii.hexlify, binascii.unhexlify)
CALLS: Mapping[Any, Callable[..., Value | None]] = {
    format: _formatted,
    repr: _repr,
    ascii: _repr,
    hex: _number_as("#x"),
    oct: _number_as("#o"),
    bin: _number_as("#b"),
    int: _int,
    str: _str,
    int.from_bytes: _from_bytes,
    int.to_bytes: _to_bytes,
    bytes.hex: _through(text_functions.hex_of),
    bytearray.hex: _through(text_functions.hex_of),
    bytes.decode: _decode,
    bytearray.decode: _decode,
    bytes.fromhex: _fromhex,
    struct.pack: _pack,
    struct.unpack: _unpack,
    binascii.hexlify: _through(text_functions.hexlified),
    base64.b64encode: _through(text_functions.base64_of),
    base64.b32encode: _through(text_functions.base32_of),
    base64.b16encode: _through(text_functions.base16_of),
    operator.contains: _contains,
    operator.getitem: _item,
    operator.add: _add,
    operator.iadd: _add,
    len: _length,
    str.join: _join,
    **{
        target: _compared(target) for target in (operator.lt, operator.le, operator.gt, operator.ge)
    },
}
"""The functions of strings and bytes."""
NAMED: Mapping[Any, Callable[..., Value | None]] = {
    int.from_bytes: _from_bytes,
    int.to_bytes: _to_bytes,
    bytes.decode: _decode,
}
"""Those with arguments by name."""
