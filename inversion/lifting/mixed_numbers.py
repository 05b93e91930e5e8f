"""Numbers whose Python type depends on the path: items of tables with several types, numbers that
have different types in the arms of a branch, and results computed from them.

Each is one variable of the widest type, which arithmetic uses. If a result depends on the type, as
that of ``str`` does, the call is lifted for each type: for each key of the table if nothing else
varies, else as a branch for each type. The arms of a branch have results for each type only if the
program needs them: it is then lifted again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import BuiltinFunctionType, MethodDescriptorType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from inversion.lifting.lifted_values import (
    CallSite,
    Constant,
    KnownObject,
    Named,
    Raises,
    Value,
    Values,
    Variable,
    is_known,
    plain,
    refused,
    value_of,
)
from inversion.lifting.number_functions import larger, smaller
from inversion.lifting.resolve import body_of, promotions
from overlay.core.target import describe
from primitives.arrays.domain import is_array
from primitives.sequences.formats import OF_FLOATS, Format

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter

__all__ = [
    "MIXED",
    "Computed",
    "Deferred",
    "InType",
    "Items",
    "OfWays",
    "Source",
    "TypesAsked",
    "by_type",
    "extreme",
    "in_widest_type",
    "joined_kinds",
    "note_computed",
    "parts_of",
]

MIXED: Final = (float, int, bool)
"""The types of numbers that may be mixed, the widest first."""
OPERANDS: Final = (Variable, Constant, KnownObject)


@dataclass(frozen=True, eq=False)
class Items:
    """The origin of an item of a table.

    index: its key, which is not constant. items: the possible items, by key. look: makes the item
    of another table with some of the keys. member: whether the key is one of some.
    """

    index: Variable
    items: Mapping[Any, Any]
    look: Callable[..., Value]
    member: Callable[..., Value]


@dataclass(frozen=True, eq=False)
class Computed:
    """The origin of a result of a function with arguments of several types."""

    target: Any
    args: tuple[Value, ...]
    site: CallSite


@dataclass(frozen=True, eq=False)
class OfWays:
    """The origin of a number that has different types in the arms of a branch, or in a loop.

    kinds: the types. parts: for each type whether the number has it, and the number in this type;
    empty if these are not computed.
    """

    kinds: tuple[type, ...]
    parts: tuple[InType, ...] = ()


@dataclass(frozen=True, eq=False)
class InType:
    """A number in one of its types.

    is_one, value: make the condition that it has this type, and the number; the number is only
    needed if the condition holds.
    """

    is_one: Callable[[CallSite], Value]
    value: Callable[[CallSite], Value]

    @classmethod
    def of(cls, is_one: Value, value: Value) -> InType:
        """The part for a condition and a number that are already made."""
        return cls(partial(_given, is_one), partial(_given, value))


class TypesAsked(Exception):
    """A result depends on the type of a number that was not lifted in all its types: the program is
    lifted again, with all of them.
    """


Source = Items | Computed | OfWays
Types = dict[Variable, Value]
"""The values of some numbers, in their types."""
Kinds = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Deferred:
    """A function without arguments that makes a value, in one arm of a branch."""

    make: Callable[[], Value]

    def __call__(self) -> None:
        """Never called: makes the object callable."""


def in_widest_type(values: Sequence[Any]) -> list[Any] | None:
    """Numbers of several types in the widest of them; None if the conversion would change one."""
    kinds = {type(value) for value in values}
    if not kinds <= {*MIXED}:
        return None
    kind = next(kind for kind in MIXED if kind in kinds)
    try:
        found = [kind(value) for value in values]
    except OverflowError:
        return None
    pairs = zip(found, values, strict=True)
    return found if all(type(b) is kind or a == b for a, b in pairs) else None


def extreme(lifter: Lifter, site: CallSite, target: Any, args: Values) -> Value | None:
    """The larger or smaller of two numbers of different types, where the type matters."""
    if not _is_extreme(target) or len(args) != 2 or not joined_kinds(lifter, args):
        return None
    return lifter.called(site, KnownObject(larger if target is max else smaller), args)


def _is_extreme(target: Any) -> bool:
    return target is max or target is min


def note_computed(lifter: Lifter, site: CallSite, target: Any, args: Values, found: Value) -> None:
    """Record whether the type of a result depends on the path."""
    if not isinstance(found, Variable):
        return
    kinds = joined_kinds(lifter, args) if _is_extreme(target) else ()
    if kinds:
        lifter.mixed[found] = OfWays(kinds)
    if kinds or lifter.mixed.keys().isdisjoint(args):
        return
    if len(_results(lifter, target, args)) > 1:
        lifter.mixed[found] = Computed(target, tuple(args), site)


def by_type(
    lifter: Lifter, site: CallSite, targets: tuple[Any, ...], args: Values, kwargs: Named
) -> Value | None:
    """The result of a call that depends on the type of a number with several types, else None."""
    given = (*args, *kwargs.values())
    mixed = [arg for arg in given if isinstance(arg, Variable) and arg in lifter.mixed]
    if not mixed or _is_blind(lifter, site, targets, args, kwargs):
        return None

    def call(site: CallSite, types: Types) -> Value:
        now = [_in_types(lifter, site, arg, types) for arg in args]
        named = {name: _in_types(lifter, site, arg, types) for name, arg in kwargs.items()}
        return _called(lifter, site, targets, now, named)

    roots: dict[Variable, Items | OfWays] = {}
    others = [arg for arg in given if arg not in mixed]
    for arg in mixed:
        others += _taken_apart(lifter, arg, roots)
    tables = {root: origin for root, origin in roots.items() if isinstance(origin, Items)}
    of_one = len({items.index for items in tables.values()}) == 1 and len(tables) == len(roots)
    if of_one and all(map(is_known, others)):
        return _by_key(site, tables, call)
    parts = [(root, _parts(lifter, site, origin)) for root, origin in roots.items()]
    return _by_way(lifter, site, parts, {}, call)


def joined_kinds(lifter: Lifter, values: Sequence[Value]) -> tuple[type, ...]:
    """The types of a number that is one of several; empty if all have one type."""
    found = dict.fromkeys(kind for value in values for kind in _kinds(lifter, value))
    return tuple(found) if len(found) > 1 and found.keys() <= {*MIXED} else ()


def parts_of(
    lifter: Lifter, site: CallSite, value: Value
) -> dict[type, tuple[Value, Value]] | None:
    """For each type of a number whether it has this type, and the number in this type, or zero if
    it has another. None if it was not lifted in its types.
    """
    origin = lifter.mixed.get(value) if isinstance(value, Variable) else None
    if origin is None:
        return {value.kind: (Constant(True), value)}
    if isinstance(origin, Computed) or (isinstance(origin, OfWays) and not origin.parts):
        return None
    found: dict[type, tuple[Value, Value]] = {}
    for kind, part in zip(_kinds(lifter, value), _parts(lifter, site, origin), strict=True):
        is_one, zero = part.is_one(site), Constant(kind(0))
        found[kind] = is_one, _either(lifter, site, is_one, part.value, partial(_given, zero))
    return found


def _given(value: Value, site: CallSite) -> Value:
    return value


def _parts(lifter: Lifter, site: CallSite, origin: Items | OfWays) -> Sequence[InType]:
    """The number in each of its types."""
    if isinstance(origin, Items):
        groups: dict[Any, dict[Any, Value]] = {}
        for key, item in origin.items.items():
            groups.setdefault(type(item), {})[key] = Constant(item)
        return [
            InType(partial(origin.member, part=group), partial(origin.look, part=group))
            for group in groups.values()
        ]
    if origin.parts:
        return origin.parts
    if not lifter.typed:
        raise TypesAsked
    shown = " and ".join(kind.__name__ for kind in origin.kinds)
    help = "convert it, as with float(...), before its type matters"
    raise refused(f"a result that depends on which of {shown} a number is", site.where, help)


def _is_blind(
    lifter: Lifter, site: CallSite, targets: tuple[Any, ...], args: Values, kwargs: Named
) -> bool:
    """Return whether a call can be lifted with the number in its widest type: the result is the
    same number for each type, or the calls inside the function are handled one by one.
    """
    target, given = targets[-1], (*args, *kwargs.values())
    if not all(isinstance(arg, OPERANDS) or is_known(arg) for arg in given):
        return True  # a container stores the number unchanged
    if any(is_array(arg.kind) for arg in given) or isinstance(target, np.ufunc):
        return True
    if site.overlaid and any(
        site.resolver.overlaid(one, kinds, tuple(kwargs))
        for one in targets
        for kinds in _all_kinds(lifter, given)
    ):
        return False
    if body_of(target) is not None or target in (float, complex):
        return True
    if target is format and len(args) == 2 and is_known(args[1]):
        read = Format.read(str(plain(args[1])))
        return read is not None and bool(read.type) and read.type in OF_FLOATS
    numbers = not kwargs and all(isinstance(arg, (Variable, Constant)) for arg in args)
    results = _results(lifter, target, args) if numbers else set[Kinds | None]()
    if not results or not all(kinds and {*kinds} <= {*MIXED, complex} for kinds in results):
        return False
    return len(results) == 1 or all(kinds is not None and len(kinds) == 1 for kinds in results)


def _results(lifter: Lifter, target: Any, args: Values) -> set[Kinds | None]:
    """The types of the results of a call, for all types of its arguments; None without
    a relation.
    """
    found: set[Kinds | None] = set()
    for kinds in _all_kinds(lifter, args):
        asked = [Variable("", kind) for kind in kinds]
        ways = (lifter.resolver.relation(target, each, base=True) for each in promotions(asked))
        rule = next((each for each in ways if each is not None), None)
        found.add(None if rule is None else tuple(map(rule.kinds.__getitem__, rule.outputs)))
    return found


def _all_kinds(lifter: Lifter, args: Values) -> list[Kinds]:
    return list(itertools.product(*(_kinds(lifter, arg) for arg in args)))


def _kinds(lifter: Lifter, value: Value) -> list[Any]:
    """The types that a value may have."""
    origin = lifter.mixed.get(value) if isinstance(value, Variable) else None
    if isinstance(origin, Items):
        return list(dict.fromkeys(map(type, origin.items.values())))
    if isinstance(origin, OfWays):
        return list(origin.kinds)
    if isinstance(origin, Computed):
        found = _results(lifter, origin.target, origin.args)
        return list(dict.fromkeys(kind for kinds in found for kind in kinds or ()))
    return [value.kind]


def _taken_apart(
    lifter: Lifter, value: Value, roots: dict[Variable, Items | OfWays]
) -> list[Value]:
    """The values, of one type each, from which a number is computed. roots: receives those with
    several types.
    """
    origin = lifter.mixed.get(value) if isinstance(value, Variable) else None
    if isinstance(origin, Computed):
        return [v for arg in origin.args for v in _taken_apart(lifter, arg, roots)]
    if origin is None:
        return [value]
    assert isinstance(value, Variable)
    roots[value] = origin
    return []


def _in_types(lifter: Lifter, site: CallSite, value: Value, types: Types) -> Value:
    """A number computed again, from items of tables in their types."""
    origin = lifter.mixed.get(value) if isinstance(value, Variable) else None
    if isinstance(origin, Computed):
        args = [_in_types(lifter, site, arg, types) for arg in origin.args]
        return _called(lifter, origin.site, (origin.target,), args, {})
    return types.get(value, value) if isinstance(value, Variable) else value


def _called(
    lifter: Lifter, site: CallSite, targets: tuple[Any, ...], args: Values, kwargs: Named
) -> Value:
    """The result of a call; for known values it is that of Python, in its type."""
    target, given = targets[-1], (*args, *kwargs.values())
    if site.overlaid or not _is_of_python(target) or not all(map(is_known, given)):
        return lifter.call(site, targets, args, kwargs)
    try:
        found = target(*map(plain, args), **{name: plain(arg) for name, arg in kwargs.items()})
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise Raises(f"{describe(target)} raises {error!r}", site.where) from None
    return value_of(found)


def _is_of_python(target: Any) -> bool:
    """Return whether a function is an operator, one of the builtins for numbers, or a method of
    str.
    """
    if isinstance(target, MethodDescriptorType):
        return target.__objclass__ is str
    of_module = isinstance(target, BuiltinFunctionType) and target.__module__ in (
        "_operator",
        "math",
    )
    return of_module or any(target is each for each in BUILTINS)


BUILTINS = (
    abs, ascii, bin, bool, chr, complex, divmod, float, format, hash, hex, int, isinstance, max,
    min, oct, pow, repr, round, str,
)  # fmt: skip
Call = Callable[[CallSite, Types], Value]


def _by_key(site: CallSite, tables: Mapping[Variable, Items], call: Call) -> Value:
    """The results for each key of some tables, as the items of another table; some keys
    may raise.
    """
    first, *others = tables.values()
    found: dict[Any, Value] = {}
    raised: Raises | None = None
    for key in first.items:
        if all(key in other.items for other in others):
            types: Types = {root: Constant(table.items[key]) for root, table in tables.items()}
            try:
                found[key] = call(site, types)
            except Raises as error:
                raised = error
    if raised is not None and not found:
        raise raised
    return first.look(site, found)


def _by_way(
    lifter: Lifter,
    site: CallSite,
    roots: Sequence[tuple[Variable, Sequence[InType]]],
    types: Types,
    call: Call,
) -> Value:
    """The results for the numbers of each type, as arms of branches."""
    if not roots:
        return call(site, types)
    (root, (part, *others)), *rest = roots

    def one(site: CallSite) -> Value:
        return _by_way(lifter, site, rest, {**types, root: part.value(site)}, call)

    def other(site: CallSite) -> Value:
        return _by_way(lifter, site, [(root, others), *rest], types, call)

    return _either(lifter, site, part.is_one(site), one, other) if others else one(site)


def _either(
    lifter: Lifter,
    site: CallSite,
    condition: Value,
    one: Callable[[CallSite], Value],
    other: Callable[[CallSite], Value],
) -> Value:
    """The value that one function or another makes."""
    if isinstance(condition, Constant):
        return one(site) if condition.value else other(site)
    # each is made as if here, so that a choice inside another is not a recursive call
    made = (KnownObject(Deferred(lambda each=each: each(site))) for each in (one, other))
    args = condition, *made
    return lifter.called(site, KnownObject(on_either), args)


def on_either(condition: bool, one: Any, other: Any) -> Any:
    """The value of one function or another. This function is lifted."""
    return one() if condition else other()
