"""Static dispatch on abstract arguments: the methods that a call resolves to, or may."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Any

from overlay.code.known_values import Known, Value, type_of
from overlay.core.dispatch import Call, MethodChain
from overlay.core.errors import AmbiguousMethod
from overlay.core.signature import plum_signature, shown_hint
from overlay.core.table import Method, MethodTable
from overlay.core.target import INPLACE, type_attribute

__all__ = ["Choice", "choose"]

_UNIONS = (typing.Union, UnionType)
_LITERALS: set[Any] = {int, str, bytes, bool, type(None)}


@dataclass(frozen=True)
class Choice:
    """Resolution of a call: the method ``certain``, or one of ``maybe``. base: whether it may fall
    through to the base. note: the error, if no method is the most specific."""

    certain: Method | None
    maybe: tuple[Method, ...]
    base: bool
    note: str = ""


def choose(chain: MethodChain, args: Sequence[Value] | None, names: Sequence[str] = ()) -> Choice:
    """Resolve a call at a position in a chain. args: None if their number is not known."""
    if args is None:
        left = tuple(m for m in chain.methods() if m not in chain.passed)
        return Choice(None, left, True)
    shape = len(args) - len(names), tuple(names)
    matches: dict[int, bool | None] = {}  # by the identity of a method's signature
    maybe: list[Method] = []
    sure: list[Method] = []
    for table in (*chain.plain_tables, *chain.rules):
        if sure and not table.interprets:
            continue
        methods = [m for m in _candidates(chain, table, args) if m not in chain.passed]
        found = {m: _match(m, shape, args) for m in methods}
        matches |= {id(m.signature(*shape)): match for m, match in found.items()}
        maybe += [method for method, match in found.items() if match is None]
        sure += [method for method, match in found.items() if match]
        if sure and (table.interprets or not table.faithful):
            break
    if sure and maybe:
        return Choice(None, (*maybe, *sure), False)
    if sure:
        return _certain(chain, _call(shape, args, matches), sure)
    return Choice(None, tuple(maybe), True)


def _candidates(chain: MethodChain, table: MethodTable, args: Sequence[Value]) -> list[Method]:
    """The methods of the target; of an in-place operator that falls back, the plain one's too."""
    if id(chain.target) not in INPLACE:
        return list(table.find(chain.target))
    plain, dunder = INPLACE[id(chain.target)]
    kind = type_of(args[0]) if args else None
    own = isinstance(kind, type) and type_attribute(kind, dunder) is not None
    return [*table.find(chain.target), *(() if own else table.find(plain))]


def _call(
    shape: tuple[int, tuple[str, ...]], args: Sequence[Value], matches: dict[int, bool | None]
) -> Call:
    """The call in the form used by dispatch, with the signatures that are known to accept it."""
    return Call(
        *shape,
        matches=lambda signature: bool(matches.get(id(signature))),
        first=type_of(args[0]) if args else None,
        shown=lambda: ", ".join(shown_hint(_asked(value)) for value in args),
    )


def _certain(chain: MethodChain, call: Call, sure: list[Method]) -> Choice:
    try:
        method = chain.resolve(call)
    except AmbiguousMethod as error:
        return Choice(None, tuple(sure), False, f"ambiguous: {error.asked}")
    return Choice(method, (), method is None)


def _asked(value: Value) -> Any:
    """The most precise annotation of a value: a literal, its type, or Any."""
    if isinstance(value, Known) and type(value.object) in _LITERALS:
        return typing.Literal[value.object]
    kind = type_of(value)
    return Any if kind is None else kind


def _match(
    method: Method, shape: tuple[int, tuple[str, ...]], args: Sequence[Value]
) -> bool | None:
    """Whether a method accepts a call; None if that depends on unknown values."""
    hints = method.parameters.bind(*shape)
    if hints is None:
        return False
    found = [_accepts(method, hint, value) for hint, value in zip(hints, args, strict=True)]
    if False in found:
        return False
    return None if None in found else True


def _accepts(method: Method, hint: Any, value: Value) -> bool | None:
    hint = method._translate(hint)
    if hint is Any or hint is object:
        return True
    asked = _asked(value)
    if asked is Any:
        return None
    if _within(asked, hint):
        return True
    if typing.get_origin(asked) is typing.Literal:
        return False
    parts = typing.get_args(asked) if typing.get_origin(asked) in _UNIONS else (asked,)
    narrows = method.depends_on != "type" or len(parts) > 1 or not isinstance(asked, type)
    if narrows and any(_within(part, hint) or _within(hint, part) for part in parts):
        return None
    return False


def _within(one: Any, other: Any) -> bool:
    """Whether one annotation is a subtype of the other. Plain classes are compared by identity,
    since their metaclass may be the program's."""
    if typing.get_origin(other) in _UNIONS:
        return any(_within(one, part) for part in typing.get_args(other))
    if isinstance(one, type) and type(other) is type:
        return any(base is other for base in one.__mro__)
    narrow, wide = (plum_signature([hint]) for hint in (one, other))
    return narrow <= wide
