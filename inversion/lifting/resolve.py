"""Resolution of calls: to a relation, a method to inline, Python code to enter, or none
of these.
"""

from __future__ import annotations

import functools
import inspect
import random
import types
from collections.abc import Iterator, Sequence
from inspect import Parameter
from typing import Any, Final

import numpy as np

from inversion.errors import NotInvertible
from inversion.lifting.heap import made
from inversion.lifting.lifted_values import (
    CallSite,
    Known,
    Named,
    Tupled,
    Value,
    Values,
    list_limit,
    shown_kind,
    value_of,
    variables_in,
)
from inversion.numba_compilation import result_type
from inversion.program.statements import Constant, Operand, Variable, constant
from overlay import Context, Method, MethodTable, OverlayError
from overlay.code.read_bodies import Default, signature_of_code
from overlay.core.dispatch import MethodChain, by_types
from overlay.core.location import location_of
from overlay.core.signature import NO_VARARGS
from overlay.core.target import LRU_CACHE, canonical, describe
from primitives import NoSolution, Relation, base_relations, relation, relation_of
from primitives.arrays.domain import is_array
from primitives.integers.integer_powers import power_int
from primitives.sequences.lists import is_list

__all__ = [
    "NUMBERS",
    "Resolver",
    "body_of",
    "bound",
    "called_by",
    "check_named",
    "compiled",
    "folded",
    "forward_only",
    "no_relation",
    "promotions",
    "python_code",
]

NUMBERS: Final = (float, int, bool, complex, np.int64, np.uint64)


class Resolver:
    """Resolver of calls: finds relations and overlay methods in the tables of a context, and base
    relations.
    """

    def __init__(self, context: Context | None) -> None:
        self.context = context
        self.tables: tuple[MethodTable, ...] = ()
        self.inner: dict[Context, Resolver] = {}
        if context is not None:
            self.tables = tuple(reversed(context.tables))
        for table in self.tables:
            table.settle()
        # cache of relations; it keeps the functions alive, whose ids are in the keys
        self.asked: dict[tuple[Any, ...], tuple[Any, Relation | None]] = {}

    def under(self, context: Context) -> Resolver:
        """The resolver for a context that is entered inside this one."""
        if context not in self.inner:
            outer = self.context
            self.inner[context] = Resolver(context if outer is None else outer | context)
        return self.inner[context]

    def overlaid(
        self, target: Any, kinds: Sequence[Any], names: Sequence[str]
    ) -> Relation | Method | None:
        """The relation or method of the context's tables for a call, or None. names: the keywords
        of the last arguments.

        The inner table takes precedence; in the same table the relation does, so that a function
        with a relation is not entered.
        """
        if not self.tables:
            return None
        method = self.chain(target).resolve(by_types(kinds, names))
        found = None if names else _found(self.tables, target, kinds)
        if found is None:
            return method
        depth = self.tables.index
        if method is not None and depth(method.table) < depth(found.table):
            return method
        return _made(found, kinds)

    def chain(self, target: Any) -> MethodChain:
        """The chain of methods of a function in the context."""
        return MethodChain.of(canonical(target), self.tables)

    def relation(self, target: Any, kinds: Sequence[Any], *, base: bool) -> Relation | None:
        """The relation of a function for these types. base: ignore the tables of the context."""
        key = id(target), tuple(kinds), base
        if key not in self.asked:
            tables = (base_relations,) if base else (*self.tables, base_relations)
            found = _found(tables, target, kinds)
            self.asked[key] = target, None if found is None else _made(found, kinds)
        return self.asked[key][1]


def _found(tables: Sequence[MethodTable], target: Any, kinds: Sequence[Any]) -> Method | None:
    asked = relation_of(canonical(target))
    for i, table in enumerate(tables):
        methods = ((method, _given_by_position(method)) for method in table.find(asked))
        accepting = [(method, hints) for method, hints in methods if _may_accept(hints, kinds)]
        exact = [method for method, hints in accepting if hints == tuple(kinds)]
        if exact and all(hints and all(map(_is_number, hints)) for _, hints in accepting):
            return max(exact, key=_added)  # no relation is more specific
        if accepting:
            return MethodChain.of(asked, tables[i:]).resolve(by_types(kinds))
    return None


# Dispatch is slow, the first time by a tenth of a second: it is avoided for calls with numbers of
# exactly a relation's types, or of types that no relation accepts.


def _given_by_position(method: Method) -> tuple[Any, ...] | None:
    """The parameter types of a method whose parameters are all positional and required;
    else None.
    """
    given = method.declared
    hints = tuple(p.hint for p in given.positional if p.required)
    plain = given.unresolved is None and given.varargs is NO_VARARGS and not given.keyword_only
    return hints if plain and len(hints) == len(given.positional) else None


def _is_number(kind: Any) -> bool:
    return any(kind is number for number in NUMBERS)


def _may_accept(hints: tuple[Any, ...] | None, kinds: Sequence[Any]) -> bool:
    """Return whether a method may accept a call with values of these types. hints: from
    ``_given_by_position``.
    """
    if hints is None or not all(map(_is_number, kinds)):
        return True
    return len(hints) == len(kinds) and all(map(_accepts, hints, kinds))


def _accepts(hint: Any, number: type) -> bool:
    """Return whether numbers of a type may match an annotation."""
    if _is_number(hint):
        return hint is number or (hint is int and number in (bool, np.int64))
    if is_list(hint) or is_array(hint):
        return False
    # other metaclasses may define which classes are subclasses
    return type(hint) is not type or hint is Parameter.empty or issubclass(number, hint)


def _added(method: Method) -> int:
    """The serial number of a method, from when it was added or replaced another one."""
    return max(method.placed, method.serial)


def _made(method: Method, kinds: Sequence[Any]) -> Relation:
    made = method.function(*kinds) if method.generated else None
    if not isinstance(made, Relation):
        raise OverlayError(
            f"{method} gave {made!r}, which is not a relation",
            where=method.where,
            help="register it with @table.generated(relation_of(f)) and return relation(...)",
        )
    return made


def folded(rule: Relation, arguments: Sequence[Operand]) -> tuple[Constant, ...] | None:
    """The results of a relation for constants; None if an argument is not constant, or if the
    function may be impure.
    """
    values = [a.value for a in arguments if isinstance(a, Constant)]
    # a relation with a forward mode only may be impure
    if len(values) < len(arguments) or len(rule.modes) == 1:
        return None
    if rule is power_int and values[0] != 0 and values[1] < 0:
        return (Constant(values[0] ** values[1]),)  # a float
    try:
        with np.errstate(all="ignore"):
            found = rule(*values)
            given = found if len(rule.outputs) > 1 else (found,)
            kinds = map(rule.kinds.__getitem__, rule.outputs)
            return tuple(map(constant, given, kinds))
    except (NoSolution, ValueError, ArithmeticError, LookupError):
        return None


def body_of(function: Any) -> types.FunctionType | None:
    """The Python function behind a function, an @njit dispatcher or a callable object."""
    for found in (
        function,
        getattr(function, "py_func", None),
        getattr(function, "__func__", None),
    ):
        if isinstance(found, types.FunctionType):
            return found
    if isinstance(function, type):
        return None
    method = inspect.getattr_static(type(function), "__call__", None)
    return method if isinstance(method, types.FunctionType) else None


def called_by(function: Any) -> functools.partial[Any] | None:
    """The call that a ``functools.partial`` or a cached function makes: the function, and the
    arguments that are given to it first. None for other callables.
    """
    if type(function) is functools.partial:
        return function
    return functools.partial(function.__wrapped__) if type(function) is LRU_CACHE else None


def python_code(target: Any) -> Iterator[types.FunctionType]:
    """The Python function of a callable that is not entered, and the functions of the same module
    that it calls, transitively.
    """
    first = body_of(target)
    found = dict.fromkeys([] if first is None else [first])
    waiting = list(found)
    while waiting:
        function = waiting.pop()
        yield function
        for name in function.__code__.co_names:
            called = body_of(function.__globals__.get(name))
            if called is None or called in found:
                continue
            if called.__globals__ is function.__globals__:
                found[called] = None
                waiting.append(called)


def bound(
    site: CallSite, body: types.FunctionType, args: Values, kwargs: Named, known: Known
) -> list[Value]:
    """The arguments of a call in the order of the code's parameters. known: receives the dict of
    further named arguments.
    """
    # the signature of the code itself, which may differ from what a wrapper declares
    signature = signature_of_code(body)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise NotInvertible(
            f"cannot call {describe(body)} like this: {error}",
            where=site.where,
            help="give it the arguments that it takes",
        ) from error
    bound.apply_defaults()
    given: list[Value] = []
    for name, parameter in signature.parameters.items():
        found: Any = bound.arguments[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            found = Tupled(tuple, tuple(found))
        elif parameter.kind is parameter.VAR_KEYWORD:
            found = made(known, dict, found.values(), tuple(found))
        given.append(value_of(found.value if isinstance(found, Default) else found))
    return given


def check_named(function: Any) -> None:
    """Raise NotInvertible for a function that takes any number of arguments."""
    if body_of(function) is None and called_by(function) is None:
        return
    kinds = {each.kind for each in inspect.signature(function).parameters.values()}
    if kinds & {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD}:
        raise NotInvertible(
            f"cannot invert {describe(function)}: it takes any number of arguments",
            where=location_of(function),
            help="name its parameters, or invert a function that calls it: lambda x: f(x)",
        )


def compiled(target: Any, args: Sequence[Operand]) -> Relation | None:
    """A relation with a forward mode only, for a function that numba compiles; None for other
    functions.
    """
    returns = result_type(target, tuple(arg.kind for arg in args))
    return None if returns is None else forward_only(target, args, returns)


def forward_only(target: Any, args: Sequence[Operand], returns: type) -> Relation:
    """A relation with a forward mode only, for a function without one."""
    names = ", ".join("abcdefghijklmnopqrstuvwxyz"[: len(args)])
    short = describe(target).rpartition(".")[2]
    equation = f"return = {short if short.isidentifier() else 'f'}({names})"
    return relation(target, *(arg.kind for arg in args), equation, returns=returns)


_GENERATORS = random.Random, np.random.RandomState, np.random.Generator
_OF_CHANCE = {owner for kind in _GENERATORS for owner in kind.__mro__} - {object}
_CLOCKS = {"time", "time_ns", "perf_counter", "perf_counter_ns", "monotonic", "monotonic_ns"}


def is_of_chance(target: Any) -> bool:
    """Return whether a function returns a different result at each call: a function of random
    numbers or of the clock.
    """
    if isinstance(getattr(target, "__self__", None), _GENERATORS):
        return True
    if getattr(target, "__module__", None) == "time":
        return target.__name__ in _CLOCKS
    name = getattr(target, "__name__", "")
    return any(name in vars(owner) and vars(owner)[name] is target for owner in _OF_CHANCE)


def of_chance(site: CallSite, target: Any) -> NotInvertible:
    """The error for a call of such a function."""
    return NotInvertible(
        f"{describe(target)} returns a different result at each call: it cannot be inverted",
        where=site.where,
        help="compute the value outside the function, and pass it as an argument",
    )


def no_relation(site: CallSite, target: Any, args: Values, kwargs: Named) -> NotInvertible:
    """The error for a call that cannot be solved."""
    name, given = describe(target), (*args, *kwargs.values())
    named = [f"{key}={shown_kind(value)}" for key, value in kwargs.items()]
    shown = ", ".join([*map(shown_kind, args), *named])
    notes, remedy = list_limit([arg for arg in given if isinstance(arg, Variable)])
    remedy += (
        "leave the call out, pass its result as an argument, or give it a relation in a method "
        f"table: @table.generated(relation_of({name}))"
        if any(map(variables_in, given))
        else "leave the call out, or compute its result outside the function, as a constant of the "
        "module"
    )
    return NotInvertible(
        f"cannot solve a call of {name}({shown}): it has no relation",
        where=site.where,
        notes=[("modes available", "none"), *notes],
        help=remedy,
    )


WORDS = (np.int64, np.uint64)


def promotions(args: Sequence[Operand]) -> Iterator[tuple[Any, ...]]:
    """The promoted types of arguments in arithmetic, to be tried in order. Constants take the type
    of a word among the arguments; otherwise the types are unchanged, or integers become floats, or
    all become complex.
    """
    kinds = tuple(arg.kind for arg in args)
    words = {kind for kind in kinds if kind in WORDS}
    if len(words) == 1:
        word = words.pop()
        if all(arg.kind is word or _fits(arg, word) for arg in args):
            yield (word,) * len(args)
            return
    yield kinds
    if kinds and all(issubclass(kind, (int, float)) for kind in kinds):
        yield (float,) * len(args)
    if complex in kinds:
        yield (complex,) * len(args)


def _fits(value: Operand, word: Any) -> bool:
    if not isinstance(value, Constant) or not isinstance(value.value, int):
        return False
    info = np.iinfo(word)
    return int(info.min) <= value.value <= int(info.max)
