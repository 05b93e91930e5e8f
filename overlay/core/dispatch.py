"""Which method a call resolves to: tables from the inside out, in each by plum's specificity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from overlay.core.errors import AmbiguousMethod
from overlay.core.interpreted_values import has_underlying, stands_for_another, underlying
from overlay.core.location import caller
from overlay.core.own_builtins import __builtins__  # noqa: F401
from overlay.core.signature import NO_VARARGS, as_python_type, plum_signature, shown_hint
from overlay.core.table import Method, MethodTable
from overlay.core.target import INPLACE, describe, type_attribute

__all__ = ["Call", "by_types", "by_values", "reachable", "reads", "resolve", "types_for"]

Chain = tuple[Method, ...]


@dataclass(frozen=True)
class Call:
    """The arguments of a call as dispatch sees them: positional first, then keywords.

    matches: whether a plum signature accepts them. first: the type of the first, or None.
    shown: prints their types. underlying: the call with the plain values that those of an
    interpretation stand for; None where all are plain.
    """

    count: int
    names: tuple[str, ...]
    matches: Callable[[Any], bool]
    first: Any
    shown: Callable[[], str]
    underlying: Call | None = None


def by_values(args: Sequence[Any], kwargs: dict[str, Any]) -> Call:
    """A call with these values (the interpreter's view)."""
    values = (*args, *kwargs.values())
    plain = None
    if any(map(has_underlying, values)):
        named = {name: underlying(value) for name, value in kwargs.items()}
        plain = by_values(list(map(underlying, args)), named)

    def shown() -> str:
        named = (f"{name}: {shown_hint(type(value))}" for name, value in kwargs.items())
        return ", ".join([*(shown_hint(type(value)) for value in args), *named])

    return Call(
        count=len(args),
        names=tuple(kwargs),
        matches=lambda signature: _accepts(signature, values),
        first=type(args[0]) if args else None,
        shown=shown,
        underlying=plain,
    )


def _accepts(signature: Any, values: tuple[Any, ...]) -> bool:
    """Whether a plum signature accepts the values. plum has code made for each annotation that it
    meets; classes of no other meaning need none."""
    types = signature.types
    if any(map(stands_for_another, values)):
        types = signature.expand_varargs(len(values))
        return len(types) == len(values) and all(map(_takes, values, types))
    if signature.has_varargs or len(types) != len(values):
        return signature.match(values)
    pairs = list(zip(values, types, strict=True))
    if any(_is_class_alone(t) and not isinstance(value, t) for value, t in pairs):
        return False
    return all(_is_class_alone(t) for t in types) or signature.match(values)


def _takes(value: Any, hint: Any) -> bool:
    parameter = plum_signature([hint], NO_VARARGS, 0)
    if stands_for_another(value):
        return plum_signature([type(value)], NO_VARARGS, 0) <= parameter
    return parameter.match((value,))


def _is_class_alone(hint: Any) -> bool:
    """Whether its instances are all that an annotation means: not what its bases say of their
    elements too."""
    return type(hint) is type and type_attribute(hint, "__orig_bases__") is None


def by_types(
    types: Sequence[Any], names: Sequence[str] = (), underlying: Call | None = None
) -> Call:
    """A call with values of these types, of which the last are given by these keywords."""
    asked = plum_signature(types, NO_VARARGS, 0)
    return Call(
        count=len(types) - len(names),
        names=tuple(names),
        matches=lambda signature: asked <= signature,
        first=types[0] if types else None,
        shown=lambda: ", ".join(map(shown_hint, types)),
        underlying=underlying,
    )


def types_for(method: Method, args: Sequence[Any]) -> tuple[type, ...]:
    """The types of arguments that a method is chosen for: of the plain values where it is no rule
    and accepts these. A generated method has one type for numpy's scalars that are a Python type
    too, as in compiled code."""
    if method.generated and not method.table.interprets:
        call = by_values(args, {})
        if call.underlying is not None and reads(method, call.underlying):
            args = tuple(map(underlying, args))
    types = tuple(map(type, args))
    return tuple(map(as_python_type, types)) if method.generated else types


def reachable(tables: Sequence[MethodTable], target: Any) -> list[Method]:
    """Every method that some call of ``target`` may resolve to."""
    plain = INPLACE.get(id(target))
    targets = (target,) if plain is None else (target, plain[0])
    return [method for table in tables for each in targets for method in table.find(each)]


def resolve(
    tables: Sequence[MethodTable],
    target: Any,
    call: Call,
    after: Chain = (),
    otherwise: Call | None = None,
) -> Method | None:
    """The method for a call, or None for the base.

    tables: innermost first. after: the methods that ``call_next`` has already been through,
    the last of them being the one that asks; the search goes on below it.
    otherwise: another reading of the same call, for the tables in which ``call`` matches nothing.
    Raises AmbiguousMethod where no method of a table is the most specific.

    Tables say what a function is, and a table that interprets what the function as it is outside
    of all tables does to other kinds of values: its methods hold where the other tables have
    none, for the values as they are or for those that they stand for, or a faithful one.
    """
    readings = (call,) if otherwise is None else (call, otherwise)
    found = None
    for table in tables[_start(tables, after) :]:
        if not table.interprets:
            found = _found(table, target, readings, after)
            if found is not None:
                break
    if found is not None and not found.table.faithful:
        return found
    for table in tables[_start(tables, after, interprets=True) :]:
        if table.interprets:
            rule = _chosen(table, target, readings, after)
            if rule is not None:
                return rule if found is None or _holds(tables, rule, found, readings) else found
    return found


def _start(tables: Sequence[MethodTable], after: Chain, *, interprets: bool = False) -> int:
    """Where the search goes on below these methods, among tables of one kind. What a rule asks
    for is the function for plain values: from the innermost of the other tables on."""
    return max(
        (tables.index(m.table) for m in after if m.table.interprets is interprets), default=0
    )


def _holds(
    tables: Sequence[MethodTable], rule: Method, faithful: Method, readings: Sequence[Call]
) -> bool:
    """Whether a rule, and not a faithful method, is for a call that both are found for: the rule
    is further inside, or the method does not take the values as they are."""
    if tables.index(rule.table) < tables.index(faithful.table):
        return True
    return not any(reads(faithful, reading) for reading in readings)


def reads(method: Method, call: Call) -> bool:
    """Whether a method accepts the arguments of a call as they are."""
    signature = method.signature(call.count, call.names)
    return signature is not None and call.matches(signature)


def _found(
    table: MethodTable, target: Any, readings: Sequence[Call], after: Chain
) -> Method | None:
    """The method of a table for the values as they are, or else for those that they stand for.
    Of one that takes both, a method that takes the plain values alone may be the more specific:
    then it is this one that a call with them reaches."""
    found = _chosen(table, target, readings, after)
    plain = [r.underlying for r in readings if r.underlying is not None]
    if plain and (found is None or any(reads(found, each) for each in plain)):
        return _chosen(table, target, plain, after) or found
    return found


def _chosen(
    table: MethodTable, target: Any, readings: Sequence[Call], after: Chain
) -> Method | None:
    for reading in readings:
        matching = _matching(table, target, reading, after)
        if matching:
            return _most_specific(table, target, reading, matching)
    return None


def _matching(
    table: MethodTable, target: Any, call: Call, after: Chain
) -> list[tuple[Method, Any]]:
    found = _accepting(table.find(target), call, after)
    if not found and id(target) in INPLACE:
        plain, dunder = INPLACE[id(target)]
        if not hasattr(call.first, dunder):
            found = _accepting(table.find(plain), call, after)
    if not after:
        return found
    own = [method for method in after if method.table is table]
    return _below(own[-1], found, call) if own else found


def _accepting(methods: Sequence[Method], call: Call, after: Chain) -> list[tuple[Method, Any]]:
    """The methods that accept a call, with the signatures that it meets.

    As in plum, a method with defaults counts as one method for each number of arguments, and a
    method takes the place of an earlier one with the same signature.
    """
    entries: list[tuple[Method, Any]] = []
    added = sorted({(n, i) for i, m in enumerate(methods) for n in (m.placed, m.serial)})
    for method in (methods[i] for _, i in added):
        signature = method.signature(call.count, call.names)
        if signature is None or not call.matches(signature):
            continue
        registered = method.registered(call.count, call.names)
        same = [i for i, (_, other) in enumerate(entries) if other == registered]
        if same:
            entries[same[0]] = method, registered
        else:
            entries.append((method, registered))
    return [(method, signature) for method, signature in entries if method not in after]


def _below(
    method: Method, matching: list[tuple[Method, Any]], call: Call
) -> list[tuple[Method, Any]]:
    """Those that are not strictly more specific than ``method``."""
    own = method.registered(call.count, call.names)
    if own is None:
        return matching
    return [(m, s) for m, s in matching if not (s <= own and not own <= s)]


def _most_specific(
    table: MethodTable, target: Any, call: Call, matching: list[tuple[Method, Any]]
) -> Method:
    """As plum finds it, which does not only depend on the order between signatures: of two that
    are as specific as each other, the later one is taken."""
    minimal: list[tuple[Method, Any]] = []
    for method, signature in matching:
        if not any(signature.is_comparable(s) for _, s in minimal):
            minimal.append((method, signature))
            continue
        kept = [(m, s) for m, s in minimal if not signature < s]
        as_specific = any(signature <= s for _, s in minimal)
        minimal = [*kept, (method, signature)] if as_specific else kept
    if len(minimal) > 1:
        top = max(m.precedence for m, _ in minimal)
        highest = [(m, s) for m, s in minimal if m.precedence == top]
        minimal = highest if len(highest) == 1 else minimal
    if len(minimal) == 1:
        return minimal[0][0]
    raise AmbiguousMethod(
        f"table {table.name!r} has {len(minimal)} equally specific methods for "
        f"{describe(target)}({call.shown()})",
        where=caller(),
        notes=[("candidate", repr(m)) for m, _ in minimal],
        help="add a method for exactly these types, or give one of them a precedence",
    )
