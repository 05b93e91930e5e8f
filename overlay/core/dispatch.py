"""Method resolution: tables are searched from the inside out, each by plum's specificity."""

from __future__ import annotations

import abc
import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Any, Protocol

from overlay.core.errors import AmbiguousMethod
from overlay.core.interpreted_values import has_underlying, stands_for_another, underlying
from overlay.core.location import caller
from overlay.core.own_builtins import __builtins__
from overlay.core.signature import (
    as_python_type,
    key_of,
    loaded_types,
    most_dependent,
    plum_signature,
    shown_hint,
)
from overlay.core.table import LOCK, Method, MethodTable
from overlay.core.target import INPLACE, describe, key_of_target, type_attribute

__all__ = [
    "Call",
    "MethodChain",
    "by_types",
    "by_values",
    "compares_by_identity",
    "limited",
    "may_keep",
    "reads",
    "types_for",
]

_MOST = 10_000


def _no_key() -> None:
    """The key of a call whose resolution is not cached."""


@dataclass(frozen=True)
class Call:
    """The arguments of a call as dispatch sees them: positional first, then keywords.

    matches: whether a plum signature accepts them. first: the type of the first, or None.
    shown: prints their types. underlying: the call with the plain values that those of an
    interpretation represent; None where all are plain. key: makes a cache key, equal for calls
    that resolve to one method where no method depends on values; it returns None where no key
    is sound. has_values: whether the call holds values, and not types alone.
    """

    count: int
    names: tuple[str, ...]
    matches: Callable[[Any], bool]
    first: Any
    shown: Callable[[], str]
    underlying: Call | None = None
    key: Callable[[], Hashable | None] = _no_key
    has_values: bool = False


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
        key=lambda: _key_of_values(values, tuple(kwargs)),
        has_values=True,
    )


def _key_of_values(values: Sequence[Any], names: tuple[str, ...]) -> Hashable | None:
    # an instance may be accepted where its class is not: __instancecheck__ may look at the value
    return (names, "values", *map(key_of, values)) if all(map(may_keep, values)) else None


def may_keep(value: Any) -> bool:
    """Whether the resolution of calls with a value may be cached by its type."""
    return compares_by_identity(type(value)) and not has_underlying(value)


def compares_by_identity(cls: type) -> bool:
    """Whether a class can be a key: its metaclass may define how classes compare."""
    kind: Any = type(cls)
    own = type.__hash__, type.__eq__
    return (type_attribute(kind, "__hash__"), type_attribute(kind, "__eq__")) == own


def _accepts(signature: Any, values: tuple[Any, ...]) -> bool:
    """Whether a plum signature, made for so many values, accepts them. Plain classes are checked
    here: plum would generate code for each, which samples elements where a base is ``list[int]``.
    """
    pairs = list(zip(values, signature.expand_varargs(len(values)), strict=True))
    if any(map(stands_for_another, values)):
        return all(starmap(_takes, pairs))
    others = [(value, hint) for value, hint in pairs if type(hint) is not type]
    if len(others) == len(pairs):
        return signature.match(values)
    classes = all(isinstance(value, hint) for value, hint in pairs if type(hint) is type)
    return classes and all(starmap(_takes, others))


def _takes(value: Any, hint: Any) -> bool:
    if stands_for_another(value):
        return plum_signature([type(value)]) <= plum_signature([hint])
    return isinstance(value, hint) if type(hint) is type else plum_signature([hint]).match((value,))


def by_types(
    types: Sequence[Any], names: Sequence[str] = (), underlying: Call | None = None
) -> Call:
    """A call with arguments of these types (the compiler's view); the last are given by these
    keywords.
    """
    asked = plum_signature(types)
    return Call(
        count=len(types) - len(names),
        names=tuple(names),
        matches=lambda signature: asked <= signature,
        first=types[0] if types else None,
        shown=lambda: ", ".join(map(shown_hint, types)),
        underlying=underlying,
        key=lambda: _key_of_types(types, tuple(names), underlying),
    )


def _key_of_types(
    types: Sequence[Any], names: tuple[str, ...], underlying: Call | None
) -> Hashable | None:
    if not all(isinstance(kind, type) and compares_by_identity(kind) for kind in types):
        return None
    below = None if underlying is None else underlying.key()
    if below is None and underlying is not None:
        return None
    return (names, "types", *types, below)


def types_for(method: Method, args: Sequence[Any]) -> tuple[type, ...]:
    """The argument types by which a method is chosen.

    They are those of the underlying plain values where the method is no rule and accepts these.
    For a generated method, numpy's scalar types that have a Python equivalent are replaced by it,
    as in compiled code.
    """
    if method.generated and not method.table.interprets:
        call = by_values(args, {})
        if call.underlying is not None and reads(method, call.underlying):
            args = tuple(map(underlying, args))
    types = tuple(map(type, args))
    return tuple(map(as_python_type, types)) if method.generated else types


def reads(method: Method, call: Call) -> bool:
    """Whether a method accepts the arguments of a call as they are."""
    signature = method.signature(call.count, call.names)
    return signature is not None and call.matches(signature)


# ---- chains -------------------------------------------------------------------------------


class Keeper(Protocol):
    """Cache of the resolutions of a chain's calls, which is cleared when the chain changes."""

    def forget(self) -> None:
        """Clear the cache: methods of the target were added, replaced or removed."""
        ...


class MethodChain:
    """A position in the chain of methods of a target; the chain ends with the base.

    target: the callable. tables: in force, innermost first. passed: the methods that
    ``call_next`` has left behind; the last of them makes the call, and the search continues
    below it. plain_tables, rules: the tables that are still searched, first those that define the
    target, then those that interpret it. version: the number of changes to the target's methods.

    ``MethodChain.of`` returns one object for each position, shared by the interpreted and the
    compiled engine, the analysis and ``ctx.explain``. It caches which method each call resolves
    to, until a table's methods of the target change. The code that an engine runs for a method
    belongs to the engine: a chain does not hold it, but notifies its listeners to drop it.
    """

    def __init__(
        self, target: Any, tables: tuple[MethodTable, ...], passed: tuple[Method, ...]
    ) -> None:
        self.target = target
        self.tables = tables
        self.passed = passed
        self.plain_tables = self._to_come(interprets=False)
        self.rules = self._to_come(interprets=True)
        self.version = 0
        plain = INPLACE.get(id(target))
        self._targets = (target,) if plain is None else (target, plain[0])
        self._keys = frozenset(map(key_of_target, self._targets))
        self._found: dict[Hashable, Method | None] = {}
        self._read_with: Hashable = None  # the imports and ABC registrations that _found depends on
        self._kind: str | None = None
        self._keepers: weakref.WeakSet[Keeper] = weakref.WeakSet()
        for table in tables:
            table.listen(self)

    @classmethod
    def of(
        cls, target: Any, tables: Sequence[MethodTable], passed: tuple[Method, ...] = ()
    ) -> MethodChain:
        """The position in the chain of a target below these methods."""
        # by identity, as it holds them: a key must not keep them alive
        key = key_of_target(target), *map(id, tables), None, *map(id, passed)
        with LOCK:
            found = _chains.get(key)
            if found is None:
                found = _chains[key] = cls(target, tuple(tables), passed)
            return found

    def after(self, method: Method) -> MethodChain:
        """The position below one more method."""
        return MethodChain.of(self.target, self.tables, (*self.passed, method))

    @property
    def key(self) -> Hashable:
        """Identity of the position, independent of which tables are in force: target and passed
        methods.
        """
        return key_of_target(self.target), self.passed

    def methods(self) -> list[Method]:
        """Every method that a call of the target may resolve to, the passed ones included."""
        return [m for table in self.tables for each in self._targets for m in table.find(each)]

    @property
    def depends_on(self) -> str:
        """The part of the arguments that decides between the methods: one of ``DEPENDENCES``."""
        kind, version = self._kind, self.version
        if kind is None:
            kind = most_dependent(method.depends_on for method in self.methods())
            if version == self.version:
                self._kind = kind
        return kind

    def may_keep(self, value: Any) -> bool:
        """Whether the resolution of calls with a value may be cached by its type. That of a value
        of an interpretation may if its plain value chooses no method: all methods of plain tables
        take any value, or only values of this class.
        """
        kind = type(value)
        if not stands_for_another(value):
            return may_keep(value)
        if not compares_by_identity(kind):
            return False
        methods = (m for t in self.plain_tables for each in self._targets for m in t.find(each))
        return all(hint is Any or hint is kind for method in methods for hint in method.hints)

    # ---- changes ----

    def listen(self, keeper: Keeper) -> None:
        """Notify ``keeper`` when methods of the target change; it is held weakly."""
        self._keepers.add(keeper)

    def table_changed(self, target: Any) -> None:
        """Clear the caches if ``target`` is the chain's, or the plain operator of its in-place
        one.
        """
        if key_of_target(target) not in self._keys:
            return
        with LOCK:
            self.version += 1
            self._found.clear()
            self._kind = None
            for keeper in list(self._keepers):
                keeper.forget()

    # ---- which method ----

    def resolve(self, call: Call, otherwise: Call | None = None) -> Method | None:
        """The method for a call, or None for the base.

        otherwise: another reading of the same call, for the tables in which ``call`` matches
        nothing. Raises AmbiguousMethod where no method of a table is the most specific.

        Plain tables define a function. A table that interprets says what the function, as it is
        outside of all tables, does to other kinds of values. Its methods apply where the plain
        tables have no method, neither for the values as they are nor for the plain values that
        they represent, or only a faithful one.
        """
        readings = (call,) if otherwise is None else (call, otherwise)
        if self._kind in ("literal", "value") and call.has_values:
            return self._find(readings)[1]
        self._read_anew()
        keys = tuple(reading.key() for reading in readings)
        try:
            return self._found[keys]
        except KeyError:
            pass
        version, found = self._find(readings)
        if None not in keys and self._keeps(call):
            with LOCK:
                if version == self.version:
                    limited(self._found)[keys] = found
        return found

    def _keeps(self, call: Call) -> bool:
        if any(method.unresolved for method in self.methods()):
            return False
        return not call.has_values or self.depends_on not in ("literal", "value")

    def _read_anew(self) -> None:
        """Clear the cache if numpy or numba was imported since, which changes the meaning of
        annotations, or a class was registered with an abstract class.
        """
        read_with = abc.get_cache_token(), *loaded_types()
        if self._read_with != read_with:
            with LOCK:
                self._found.clear()
                self._read_with = read_with

    def _find(self, readings: Sequence[Call]) -> tuple[int, Method | None]:
        """The version of the chain, and the method for a call in it; the search is repeated if
        methods changed meanwhile.
        """
        while True:
            version = self.version
            found = self._search(readings)
            if version == self.version:
                return version, found

    def _search(self, readings: Sequence[Call]) -> Method | None:
        found = None
        for table in self.plain_tables:
            found = self._in_table(table, readings)
            if found is not None:
                break
        if found is not None and not found.table.faithful:
            return found
        for table in self.rules:
            rule = self._chosen(table, readings)
            if rule is not None:
                return rule if found is None or self._holds(rule, found, readings) else found
        return found

    def _to_come(self, *, interprets: bool) -> tuple[MethodTable, ...]:
        """The tables of one kind, interpreting or plain, in which the search continues. A rule
        calls the function for plain values, which is searched from the innermost plain table.
        """
        passed = (m.table for m in self.passed if m.table.interprets is interprets)
        start = max(map(self.tables.index, passed), default=0)
        return tuple(table for table in self.tables[start:] if table.interprets is interprets)

    def _holds(self, rule: Method, faithful: Method, readings: Sequence[Call]) -> bool:
        """Whether a rule takes precedence over a faithful method found for the same call: the
        rule is further inside, or the method does not accept the values as they are.
        """
        if self.tables.index(rule.table) < self.tables.index(faithful.table):
            return True
        return not any(reads(faithful, reading) for reading in readings)

    def _in_table(self, table: MethodTable, readings: Sequence[Call]) -> Method | None:
        """The method of a table for the values as they are, or else for the plain values that they
        represent. If the method found accepts both, the one that a call with the plain values
        reaches is taken: it may be more specific.
        """
        found = self._chosen(table, readings)
        plain = [r.underlying for r in readings if r.underlying is not None]
        if plain and (found is None or any(reads(found, each) for each in plain)):
            return self._chosen(table, plain) or found
        return found

    def _chosen(self, table: MethodTable, readings: Sequence[Call]) -> Method | None:
        for reading in readings:
            matching = self._matching(table, reading)
            if matching:
                return _most_specific(table, self.target, reading, matching)
        return None

    def _matching(self, table: MethodTable, call: Call) -> list[tuple[Method, Any]]:
        found = self._accepting(table.find(self.target), call)
        if not found and id(self.target) in INPLACE:
            plain, dunder = INPLACE[id(self.target)]
            if not hasattr(call.first, dunder):
                found = self._accepting(table.find(plain), call)
        own = [method for method in self.passed if method.table is table]
        return _below(own[-1], found, call) if own else found

    def _accepting(self, methods: Sequence[Method], call: Call) -> list[tuple[Method, Any]]:
        """The methods that accept a call, with the signatures that it matches.

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
        return [(method, signature) for method, signature in entries if method not in self.passed]


_chains: weakref.WeakValueDictionary[Hashable, MethodChain] = weakref.WeakValueDictionary()


def limited[K, V](memo: dict[K, V]) -> dict[K, V]:
    """``memo`` itself; its older half is dropped where it has grown beyond the limit."""
    if len(memo) > _MOST:
        for key in list(memo)[: _MOST // 2]:
            memo.pop(key, None)
    return memo


def _below(
    method: Method, matching: list[tuple[Method, Any]], call: Call
) -> list[tuple[Method, Any]]:
    """The matching methods that are not strictly more specific than ``method``."""
    own = method.registered(call.count, call.names)
    if own is None:
        return matching
    return [(m, s) for m, s in matching if not (s <= own and not own <= s)]


def _most_specific(
    table: MethodTable, target: Any, call: Call, matching: list[tuple[Method, Any]]
) -> Method:
    """The most specific method, by plum's algorithm: of two equally specific signatures the later
    one is taken.
    """
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
        notes=[("candidate", str(m)) for m, _ in minimal],
        help="add a method for exactly these types, or give one of them a precedence",
    )
