"""Application of the rules of functions of whole arrays to active arguments, in interpreted code.

numpy itself calls these: its functions and ufuncs pass a call with active arguments to the
arguments' ``__array_function__`` or ``__array_ufunc__``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from overlay import Context, MethodTable, nonoverlay, tables_in_force
from overlay.contexts.rules_alone import as_c_calls, context_alone
from overlay.core.in_force import runs_natively
from overlay.core.interpreted_values import underlying
from overlay.interpretations.autodiff.duals import Active, ActiveArray
from overlay.interpretations.autodiff.errors import refuse_call, refuse_form
from overlay.interpretations.autodiff.plain_values import has_no_derivative, is_container
from overlay.interpretations.autodiff.rules.array_rule import ArrayRule
from overlay.interpretations.autodiff.rules.array_rules import array_rule_of
from overlay.interpretations.autodiff.ufunc_methods import METHODS_OF_UFUNCS

if TYPE_CHECKING:
    from overlay.interpretations.autodiff.levels import Level

__all__ = [
    "applied",
    "applied_ufunc",
    "bound_arguments",
    "called_in_levels",
    "context_in_force",
    "in_this_context",
    "is_active",
    "levels_of",
    "without_lists",
]


Tables = tuple[MethodTable, ...]
NOT_GIVEN: Any = getattr(np, "_NoValue", None)
"""numpy's default of arguments that it passes on only if they are given."""
KEPT = 64
"""The maximal number of cached contexts."""


def _leaves(x: Any) -> Iterator[Active]:
    """The active values in an argument, also in lists, tuples and dicts."""
    if isinstance(x, Active):
        yield x
    elif _has_parts(x):
        for part in x:
            yield from _leaves(part)
    elif type(x) is dict:
        for part in x.values():
            yield from _leaves(part)


def _has_parts(x: Any) -> bool:
    return is_container(x) and (type(x) in (list, tuple) or hasattr(x, "_fields"))


def is_active(*args: Any) -> bool:
    """Whether there are active values in arguments."""
    return any(True for arg in args for _ in _leaves(arg))


def _mapped(x: Any, each: Callable[[Any], Any]) -> Any:
    """An argument in which each part other than a list, tuple or dict is replaced."""
    if not isinstance(x, Active):
        if _has_parts(x):
            parts = [_mapped(part, each) for part in x]
            return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
        if type(x) is dict:
            return {name: _mapped(part, each) for name, part in x.items()}
    return each(x)


def levels_of(*args: Any) -> set[Level]:
    """The levels in which values are active, with those of the numbers of lists."""
    found: set[Level] = set()
    for x in (x for arg in args for x in _leaves(arg)):
        found |= {x.level} | levels_of(x.value)
        if not x.level.is_taped:
            found |= levels_of(*x.tangents)
    return found


def _context_of_levels(levels: set[Level], around: Tables = ()) -> Context:
    ordered = sorted(levels, key=lambda level: level.depth, reverse=True)
    return context_alone((*(level.table for level in ordered), *around))


def _around(level: Level) -> Tables:
    """The tables in force of other interpretations around a level, which compute with its values,
    as with intervals; innermost first."""
    tables = tables_in_force()
    if level.table not in tables:
        return ()
    outer, kind = tables[tables.index(level.table) + 1 :], type(level.table)
    return tuple(each for each in outer if each.interprets and not isinstance(each, kind))


def called_in_levels(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function, from outside of all contexts, in the levels in which arguments are
    active."""
    levels = levels_of(args)
    if not levels:
        return function(*args)
    run: Any = nonoverlay(_context_of_levels(levels))
    return run(function, *args)


def _innermost(*args: Any) -> Level | None:
    """The innermost level of the active values in arguments; None if there are none."""
    levels = [x.level for arg in args for x in _leaves(arg)]
    return max(levels, key=lambda level: level.depth, default=None)


@runs_natively
def applied(function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The result of a function of active arguments, by its rule. Raises NotDifferentiable if it has
    none."""
    rule = array_rule_of(function)
    if rule is not None and rule.calls_back:
        args, named = (_mapped(x, in_this_context) for x in (args, named))
    level = _innermost(args, named)
    assert level is not None
    return _applied(level, _around(level), function, args, named)


def context_in_force() -> Context | None:
    """The context of all tables in force, those of enclosing derivatives among them; None if there
    are none."""
    tables = tables_in_force()
    return _context_of(tables) if tables else None


@functools.lru_cache(maxsize=KEPT)
def _context_of(tables: tuple[MethodTable, ...]) -> Context:
    return Context(*reversed(tables))


def in_this_context(x: Any) -> Any:
    """A function that runs in the context in force at its creation, wherever it is called; any
    other value unchanged.
    """
    context = context_in_force()
    if context is None or isinstance(x, (Active, type)) or not callable(x):
        return x
    return nonoverlay(context.wrap(x))


def _outside_applied(
    level: Level, around: Tables, function: Any, args: Sequence[Any], named: dict[str, Any]
) -> Any:
    rule = array_rule_of(function)
    context = _context_of_levels({level}, around)
    if rule is None:
        kinds = [type(x) for x in args]
        if named or level.context.method(function, *kinds) is None:
            refuse_call(function)
        return as_c_calls(context, function, *args)
    named = {**named}
    out = named.pop("out", None)
    if rule.lists:
        args = [without_lists(x) for x in args]
        named = {name: without_lists(x) for name, x in named.items()}
    if out is None and "out" in rule.signature.parameters:
        bound = rule.signature.bind(*args, **named)
        out = bound.arguments.pop("out", None)
        args, named = bound.args, bound.kwargs
    if out is not None:
        found = _result(level, around, rule, function, args, named)
        return _written_into(context, out, found)
    return _result(level, around, rule, function, args, named)


def without_lists(x: Any) -> Any:
    """An argument; as an array, if it is a list that holds active values."""
    if type(x) not in (list, tuple):
        return x
    # numpy passes np.array to no level
    return called_in_levels(np.array, x) if is_active(x) else x


@runs_natively
def applied_ufunc(ufunc: Any, method: str, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The result of a ufunc, or of one of its methods, of active arguments."""
    level = _innermost(args, named)
    assert level is not None
    return _applied_ufunc(level, _around(level), ufunc, method, args, named)


def _outside_applied_ufunc(
    level: Level,
    around: Tables,
    ufunc: Any,
    method: str,
    args: Sequence[Any],
    named: dict[str, Any],
) -> Any:
    context = _context_of_levels({level}, around)
    casting = {name: x for name, x in named.items() if name == "casting"}
    named = {name: x for name, x in named.items() if name not in ("casting", "order", "subok")}
    out, dtype = named.pop("out", None), named.pop("dtype", None)
    if type(out) is tuple and out and type(out[0]) is tuple:
        out = out[0]  # an engine passes a tuple by place
    if dtype is not None and not _keeps_floats(dtype):
        if np.dtype(dtype).kind not in "iub":
            refuse_call(ufunc)
        plain, others = _mapped(args, _plain), _mapped(named, _plain)
        found = nonoverlay(getattr(ufunc, method))(*plain, **others, dtype=dtype, **casting)
    elif method == "__call__":
        found = _called(level, context, ufunc, args, named, out)
    else:
        defined: Any = METHODS_OF_UFUNCS.get(method) or refuse_call(ufunc)
        found = as_c_calls(context, defined, ufunc, *args, **named)
    return found if out is None else _written_into(context, out, found)


def _keeps_floats(dtype: Any) -> bool:
    return np.dtype(dtype).char in "dD"


def _plain(x: Any) -> Any:
    """A value without the tangents of any level."""
    while isinstance(x, Active):
        x = x.value
    return x


def _called(
    level: Level,
    context: Context,
    ufunc: Any,
    args: Sequence[Any],
    named: dict[str, Any],
    out: Any,
) -> Any:
    """The result of a call of a ufunc. out: where it is written afterwards."""
    where = named.get("where", True)
    rule = array_rule_of(ufunc)
    rest = set(named) - {"where"}
    if rest and (rule is None or not rest <= set(rule.signature.parameters)):
        refuse_call(ufunc)
    if out is None and where is not True:
        refuse_call(ufunc)  # without ``out`` there are numbers that nothing has set
    if not any(True for x in args for _ in _leaves(x)):
        found = nonoverlay(ufunc)(*args)
    elif rule is not None:
        found = as_c_calls(context, applied, ufunc, args, {name: named[name] for name in rest})
    else:
        kinds = [type(x) for x in args]
        if level.context.method(ufunc, *kinds) is None:
            refuse_call(ufunc)
        found = as_c_calls(context, ufunc, *args)
    if where is True:
        return found
    into = out[0] if type(out) is tuple else out
    return as_c_calls(context, np.where, where, found, into)


# rules run outside of the context: it has methods for arrays that a program makes
_applied, _applied_ufunc = nonoverlay(_outside_applied), nonoverlay(_outside_applied_ufunc)


def _written_into(context: Context, out: Any, found: Any) -> Any:
    """Write a result into the array of an argument ``out``, and return that."""
    # an active array is a tuple, too
    if type(out) is tuple and type(found) is tuple:  # several results
        return tuple(
            part if into is None else _written_into(context, into, part)
            for into, part in zip(out, found, strict=True)
        )
    into = out[0] if type(out) is tuple else out
    as_c_calls(context, _setitem, into, Ellipsis, found)
    return into


def _setitem(into: Any, index: Any, value: Any) -> None:
    into[index] = value


def _result(
    level: Level,
    around: Tables,
    rule: ArrayRule,
    function: Any,
    args: Sequence[Any],
    named: dict[str, Any],
) -> Any:
    if rule.by is not None:
        if any(x is NOT_GIVEN or x is None for x in (*args, *named.values())):
            bound = bound_arguments(rule, args, named)
            args, named = bound.args, bound.kwargs
        if not rule.is_defined_for(args, named):
            _refuse_arguments(function)
        context = _context_of_levels(levels_of(args, named), around)
        return as_c_calls(context, rule.by, *args, **named)
    application = _Application(level, around, rule, function, args, named)
    return application.result()


class _Application:
    """One call of a function with active arguments. bound: its arguments by parameter; data: the
    active values in those of each data parameter; context: of the levels and of the other
    interpretations around."""

    def __init__(
        self,
        level: Level,
        around: Tables,
        rule: ArrayRule,
        function: Any,
        args: Sequence[Any],
        named: Any,
    ) -> None:
        self.level, self.rule, self.function = level, rule, function
        self.bound = bound_arguments(rule, args, named)
        own = (level.number, level.array)
        self.own = own
        for name, value in self.bound.arguments.items():
            if name in rule.data or rule.kind == "constant":
                continue
            if any(isinstance(x, own) for x in _leaves(value)):
                refuse_call(function)
        self.active = [
            name
            for name in rule.data
            if any(isinstance(x, own) for x in _leaves(self.bound.arguments.get(name)))
        ]
        levels = {each for each in levels_of(args, named) if each.depth < level.depth}
        self.context = _context_of_levels(levels, around) if levels or around else None
        self.args = [_mapped(x, self._value) for x in self.bound.args]
        self.named = {name: _mapped(x, self._value) for name, x in self.bound.kwargs.items()}

    def _value(self, x: Any) -> Any:
        return x.value if isinstance(x, self.own) else x

    def call(self, function: Any, *args: Any, **named: Any) -> Any:
        """Call a function outside this level, in those around it in which arguments are active,
        and in the interpretations around."""
        if self.context is None:
            return nonoverlay(function)(*args, **named)
        return as_c_calls(self.context, function, *args, **named)

    def result(self) -> Any:
        ret = self.call(self.function, *self.args, **self.named)
        parts = ret if is_container(ret) else (ret,)
        if self.rule.kind == "constant" or all(has_no_derivative(part) for part in parts):
            return ret
        if self.level.is_taped:
            tangents = [self._taped(ret)]
        else:
            tangents = [self._forward(ret, k) for k in range(self.level.count)]
        return self._packed(ret, tangents)

    def _packed(self, ret: Any, tangents: list[Any]) -> Any:
        if is_container(ret):
            parts = [
                self._packed(part, [each[i] for each in tangents]) for i, part in enumerate(ret)
            ]
            return type(ret)(*parts) if hasattr(ret, "_fields") else type(ret)(parts)
        if has_no_derivative(ret):
            return ret
        if isinstance(ret, (np.ndarray, ActiveArray)) and np.ndim(ret):
            return self.level.array(ret, tuple(tangents))
        if type(ret) is np.ndarray:
            ret = ret[()]
        return self.level.number(ret, tuple(tangents))

    # ---- maps of tangents ----

    def _with(self, name: str | None, each: Callable[[Any], Any], others: Any) -> Any:
        """The call's arguments, with the leaves of a data argument replaced, or of all of them, and
        those of the other data."""
        changed = inspect.BoundArguments(self.rule.signature, self.bound.arguments.copy())
        for parameter, value in self.bound.arguments.items():
            by = (
                each
                if parameter == name or (name is None and parameter in self.rule.data)
                else (others if parameter in self.rule.data else self._value)
            )
            changed.arguments[parameter] = _mapped(value, by)
        return changed

    def _forward(self, ret: Any, k: int) -> Any:
        def tangent(x: Any) -> Any:
            return x.tangents[k] if isinstance(x, self.own) else _zero_of(x)

        if self.rule.kind in ("rearranging", "linear"):
            changed = self._with(None, tangent, None)
            return self.call(self.function, *changed.args, **changed.kwargs)
        total: Any = None
        for place, name in enumerate(self.rule.data):
            if name not in self.active:
                continue
            for term in self._terms(name, place, tangent, ret):
                total = term if total is None else self.call(_sum, total, term)
        return total

    def _terms(self, name: str, place: int, tangent: Any, ret: Any) -> Iterator[Any]:
        given = self.bound.arguments[name]
        if self.rule.kind == "smooth":
            jvp = self.rule.jvp[place]
            if jvp is None:
                refuse_call(self.function)
            yield self.call(jvp, _mapped(given, tangent), ret, *self.args, **self.named)
            return
        for count, _ in enumerate(_leaves(given)):  # a variadic parameter has several
            turn = iter(range(count + 1))

            def only(x: Any, count: int = count, turn: Any = turn) -> Any:
                if isinstance(x, self.own) and next(turn, None) == count:
                    return tangent(x)
                return self._value(x)

            changed = self._with(name, only, self._value)
            yield self.call(self.function, *changed.args, **changed.kwargs)

    # ---- recording ----

    def _taped(self, ret: Any) -> Any:
        if self.rule.kind == "rearranging":
            return self._rearranged()
        names = [name for name in self.rule.data if name in self.active]
        vjps: list[Callable[..., Any]] = []
        for name in names:
            vjp = self.rule.vjp[self.rule.data.index(name)]
            vjps.append(vjp or refuse_call(self.function))
        # copies, as the program may write into arrays
        kept = [_mapped(x, _copied) for x in (self.args, self.named, ret)]
        args, named, copied = kept[0], kept[1], kept[2]
        given = [self.bound.arguments[name] for name in names]
        sources = self._sources(names)
        # the tape holds no active values
        active = [_mapped(value, lambda x: isinstance(x, self.own)) for value in given]
        several = is_container(ret)
        parts = list(ret) if several else [ret]
        shapes = [np.shape(_plain(part)) for part in parts]
        floats = [i for i, part in enumerate(parts) if not has_no_derivative(part)]

        def back(*found: Any) -> list[Any]:
            ds: Any = found[0]
            if several:
                ds = [np.zeros(shape) for shape in shapes]
                for i, d in zip(floats, found, strict=True):
                    ds[i] = d
                ds = tuple(ds)
            changes: list[Any] = []
            for vjp, where in zip(vjps, active, strict=True):
                changes += _at_leaves(vjp(ds, copied, *args, **named), where)
            return changes

        made = sources[0].tape.record([parts[i] for i in floats], sources, back)
        for i, tangent in zip(floats, made, strict=True):
            if self._shares_memory(parts[i]):
                for source in sources:
                    tangent.shares_values(source)
        if not several:
            return made[0]
        found: list[Any] = [None] * len(parts)
        for i, tangent in zip(floats, made, strict=True):
            found[i] = tangent
        return found

    def _sources(self, names: Sequence[str]) -> list[Any]:
        """The tangents of this level on its tape in some arguments."""
        every = (x for name in names for x in _leaves(self.bound.arguments[name]))
        return [x.tangents[0] for x in every if isinstance(x, self.own)]

    def _shares_memory(self, part: Any) -> bool:
        """Whether a result shares memory with an argument, as the real part of complex numbers."""
        every = (*self.args, *self.named.values())
        part, *given = map(_plain, (part, *every))
        return isinstance(part, np.ndarray) and any(
            isinstance(x, np.ndarray) and np.may_share_memory(part, x) for x in given
        )

    def _rearranged(self) -> Any:
        """The places of the result, by the function itself."""
        sources = self._sources(self.active)
        source = next((each for each in sources if each.is_complex), sources[0])

        def places(x: Any) -> Any:
            if isinstance(x, self.own):
                return x.tangents[0].places
            return _places_of_constant(x)

        changed = self._with(None, places, None)
        found = nonoverlay(self.function)(*changed.args, **changed.kwargs)
        if is_container(found):
            return [source.with_places(part) for part in found]
        return source.with_places(found)


def bound_arguments(rule: ArrayRule, args: Sequence[Any], named: Any) -> inspect.BoundArguments:
    """The arguments by parameter, without those that are the parameters' defaults: an engine may
    pass these, and a rule need not know them all."""
    try:
        bound = rule.signature.bind(*args, **named)
    except TypeError:
        _refuse_arguments(rule.function)
    for name, parameter in rule.signature.parameters.items():
        if name in bound.arguments and bound.arguments[name] is parameter.default:
            del bound.arguments[name]
    return bound


def _refuse_arguments(function: Any) -> NoReturn:
    refuse_form(
        function,
        "these arguments",
        "call it in a form that its rule has, or wrap the call in inactive(...) where its "
        "derivative does not matter",
    )


def _at_leaves(change: Any, active: Any) -> list[Any]:
    """The cotangents of the active values in an argument. active: whether each of its parts is."""
    if isinstance(active, (list, tuple)):
        pairs = zip(change, active, strict=True)
        return [found for part, each in pairs for found in _at_leaves(part, each)]
    return [change] if active is True else []


def _sum(a: Any, b: Any) -> Any:
    if is_container(a):
        return [_sum(p, q) for p, q in zip(a, b, strict=True)]
    return a + b


def _copied(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


_NUMBERS = (int, float, complex, np.generic)


def _zero_of(x: Any) -> Any:
    """The tangent of a constant."""
    if isinstance(x, (np.ndarray, ActiveArray)):
        return np.zeros(x.shape)
    return 0.0 if isinstance(underlying(x), _NUMBERS) else x


def _places_of_constant(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return np.zeros(x.shape, np.int64)
    return 0 if isinstance(underlying(x), _NUMBERS) else x
