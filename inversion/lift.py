"""From a function to a program of relations: calls are resolved, user functions inlined."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from inversion.errors import NotInvertible
from inversion.numba_ir import (
    Apply,
    Argument,
    Attribute,
    Copy,
    Literal,
    Op,
    result_type,
    straight_line,
)
from inversion.program import Constant, Operand, Program, Statement, Variable, renumbered
from inversion.resolve import Resolver
from overlay import Context, Method, call_next, nonoverlay
from overlay.dispatch import Chain
from overlay.location import location_of
from overlay.target import as_positional, describe, signature_of
from primitives import Relation, relation

__all__ = ["lift"]

WORDS = (np.int64, np.uint64)


def lift(
    function: Callable[..., Any], inputs: Sequence[tuple[str, Any]], context: Context | None
) -> Program:
    """The program of a function for inputs of these names and types, as ``context`` sees it.

    Raises NotInvertible, with the line, at a statement that is not a call of something that
    has a relation, an overlay method, or Python code without control flow.
    """
    lifter = _Lifter(Resolver(context))
    variables = tuple(Variable(lifter.fresh(name), kind) for name, kind in inputs)
    where = location_of(function)
    site = _Site("result", where, overlaid=context is not None)
    result = lifter.call(site, (function,), variables, {})
    if isinstance(result, _Object):
        raise NotInvertible(
            f"cannot invert {describe(function)}: it returns {result.value!r}",
            where=where,
            help="return one number",
        )
    return Program(
        describe(function),
        variables,
        tuple(lifter.statements),
        result,
        where,
        tuple(lifter.functions),
    )


@dataclass(frozen=True)
class _Object:
    """A value known while lifting that is no number: a function, a module, an instance."""

    value: Any

    @property
    def kind(self) -> Any:
        return type(self.value)


Value = Operand | _Object
Values = Sequence[Value]
Named = Mapping[str, Value]


@dataclass(frozen=True)
class _Site:
    """Where a call stands: what it assigns, its line, and inside of what.

    overlaid: whether the context is in force. chain: the methods of ``target`` that
    ``call_next`` has gone through to get here. active: the calls being inlined.
    """

    name: str
    where: str
    overlaid: bool
    target: Any = None
    chain: Chain = ()
    active: tuple[Any, ...] = ()


class _Lifter:
    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self.statements: list[Statement] = []
        self.functions: dict[types.FunctionType, None] = {}
        self.names: set[str] = set()

    def fresh(self, wanted: str) -> str:
        """A variable name that is not taken, after the name in the source where it has one."""
        base = wanted.partition(".")[0]
        base = base if base.isidentifier() else f"v{len(self.statements) + 1}"
        name = renumbered(base, self.names)
        self.names.add(name)
        return name

    # ---- calls ----

    def call(self, site: _Site, targets: tuple[Any, ...], args: Values, kwargs: Named) -> Value:
        """The value of a call. targets: the function, and what stands for it if it has no rule."""
        target = targets[0]
        if target is nonoverlay and len(args) == 1 and isinstance(args[0], _Object):
            return _Object(nonoverlay(args[0].value))
        if isinstance(target, nonoverlay):
            return self.call(replace(site, overlaid=False), (target.function,), args, kwargs)
        if target is call_next:
            return self._call_next(site, args, kwargs)
        if isinstance(target, types.MethodType):
            return self.call(site, (target.__func__,), (_Object(target.__self__), *args), kwargs)
        args, kwargs = as_positional(signature_of(target), tuple(args), kwargs)
        args = tuple(map(_value, args))
        if site.overlaid:
            for one in targets:
                found = self.resolver.overlaid(one, _kinds(args, kwargs), tuple(kwargs))
                if isinstance(found, Relation):
                    return self.state(site, found, _numbers(args))
                if found is not None:
                    return self._enter(site, one, (found,), args, kwargs)
        return self._base(site, targets, args, kwargs)

    def _call_next(self, site: _Site, args: Values, kwargs: Named) -> Value:
        if not site.chain:
            raise NotInvertible(
                "call_next() stands outside a method",
                where=site.where,
                help="call it directly in the body of an overlay method",
            )
        below = self.resolver.below(site.chain, site.target, _kinds(args, kwargs), tuple(kwargs))
        if below is None:
            return self._base(site, (site.target,), args, kwargs)
        return self._enter(site, site.target, (*site.chain, below), args, kwargs)

    def _enter(self, site: _Site, target: Any, chain: Chain, args: Values, kwargs: Named) -> Value:
        """Inline the last method of a chain."""
        method: Method = chain[-1]
        body = method.implementation(_kinds(args, kwargs))
        return self._inline(replace(site, target=target, chain=chain), body, args, kwargs)

    def _base(self, site: _Site, targets: tuple[Any, ...], args: Values, kwargs: Named) -> Value:
        """A call that no overlay method takes: its relation, its body, or a refusal."""
        numbers = [arg for arg in args if not isinstance(arg, _Object)]
        plain = not kwargs and len(numbers) == len(args)
        for target in targets if plain else ():
            for kinds in _promotions(numbers):
                found = self.resolver.relation(target, kinds, base=not site.overlaid)
                if found is not None:
                    converted = [
                        self._converted(site, value, kind)
                        for value, kind in zip(numbers, kinds, strict=True)
                    ]
                    return self.state(site, found, converted)
        target = targets[-1]
        if _body(target) is not None:
            return self._inline(replace(site, target=None, chain=()), target, args, kwargs)
        returns = result_type(target, _kinds(args, kwargs)) if plain else None
        if returns is None:
            raise _no_relation(site, target, args)
        return self.state(site, _forward_only(target, numbers, returns), numbers)

    def _converted(self, site: _Site, value: Operand, kind: Any) -> Operand:
        if isinstance(value, Constant):
            return Constant(kind(value.value))
        if value.kind is kind:
            return value
        found = self.resolver.relation(kind, [value.kind], base=True)
        if found is None:
            raise _no_relation(site, kind, [value])
        return self.state(replace(site, name=f"{kind.__name__}_{value.name}"), found, [value])

    # ---- statements ----

    def state(self, site: _Site, found: Relation, args: Sequence[Operand]) -> Variable:
        """Add the statement that a relation holds between these arguments and a new variable."""
        cast = tuple(
            Constant(kind(value.value))
            if isinstance(value, Constant) and kind in (int, float)
            else value
            for value, kind in zip(args, found.types, strict=True)
        )
        self.functions.update(dict.fromkeys(_python_code(found.target)))
        result = Variable(self.fresh(site.name), found.returns)
        self.statements.append(Statement(found, result, cast, site.where))
        return result

    def _inline(self, site: _Site, function: Any, args: Values, kwargs: Named) -> Value:
        """The value of a function's body for these arguments."""
        body = _body(function)
        if body is None:
            raise _no_relation(site, function, args)
        if not isinstance(function, types.FunctionType) and not hasattr(function, "py_func"):
            args = (_Object(function), *args)
        call = body.__code__, site.overlaid, len(site.chain), _kinds(args, kwargs)
        if call in site.active:
            raise NotInvertible(
                f"cannot invert {describe(function)}: it calls itself for ever",
                where=site.where,
                help="a method goes on to what lies below with call_next or nonoverlay",
            )
        self.functions[body] = None
        given = _bound(site, body, args, kwargs)
        ops, returned = straight_line(body)
        inside = replace(site, active=(*site.active, call))
        known: dict[str, Value] = {}
        for op in ops:
            known[op.name] = self._op(inside, op, known, given)
        return known[returned]

    def _op(self, site: _Site, op: Op, known: Named, given: Values) -> Value:
        match op:
            case Argument(index=index):
                return given[index]
            case Literal(value=value):
                return _value(value)
            case Copy(source=source):
                return known[source]
            case Attribute(base=base, attribute=attribute):
                return _attribute(op, known[base], attribute)
            case Apply(function=function, args=args, kwargs=kwargs, fallback=fallback):
                targets = (function,) if fallback is None else (function, fallback)
                if isinstance(function, str):
                    targets = (_function(op, known[function]),)
                return self.call(
                    replace(site, name=op.name, where=op.where),
                    targets,
                    [known[name] for name in args],
                    {key: known[name] for key, name in kwargs.items()},
                )
            case _:
                raise NotInvertible(f"cannot invert {op!r}", where=op.where)


# ---- values -------------------------------------------------------------------------------


def _value(value: Any) -> Value:
    if isinstance(value, (Variable, Constant, _Object)):
        return value
    if isinstance(value, np.float64):
        return Constant(float(value))
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return Constant(value)
    return _Object(value)


def _kinds(args: Values, kwargs: Named) -> tuple[Any, ...]:
    return tuple(value.kind for value in (*args, *kwargs.values()))


def _numbers(args: Values) -> list[Operand]:
    return [Constant(arg.value) if isinstance(arg, _Object) else arg for arg in args]


def _promotions(args: Sequence[Operand]) -> Iterator[tuple[Any, ...]]:
    """The types that arithmetic gives to these arguments: constants take the type of a word
    beside them; else they stay, or integers become floats."""
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


def _fits(value: Operand, word: Any) -> bool:
    if not isinstance(value, Constant) or not isinstance(value.value, int):
        return False
    info = np.iinfo(word)
    return int(info.min) <= value.value <= int(info.max)


def _attribute(op: Op, base: Value, attribute: str) -> Value:
    if not isinstance(base, _Object) or not hasattr(base.value, attribute):
        raise NotInvertible(
            f"cannot invert the attribute {attribute!r} of a {_shown_kind(base)}",
            where=op.where,
            help="attributes of modules and of objects that the function closes over are read",
        )
    return _value(getattr(base.value, attribute))


def _function(op: Op, value: Value) -> Any:
    if not isinstance(value, _Object) or not callable(value.value):
        raise NotInvertible(f"cannot invert a call of a {_shown_kind(value)}", where=op.where)
    return value.value


def _shown_kind(value: Value) -> str:
    return getattr(value.kind, "__name__", str(value.kind))


# ---- functions ----------------------------------------------------------------------------


def _body(function: Any) -> types.FunctionType | None:
    """The Python code behind a function, an @njit dispatcher or a callable object."""
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


def _python_code(target: Any) -> Iterator[types.FunctionType]:
    """The code of a function that is not entered, and of what it calls in its own module."""
    first = _body(target)
    found = dict.fromkeys([] if first is None else [first])
    waiting = list(found)
    while waiting:
        function = waiting.pop()
        yield function
        for name in function.__code__.co_names:
            called = _body(function.__globals__.get(name))
            if called is None or called in found:
                continue
            if called.__globals__ is function.__globals__:
                found[called] = None
                waiting.append(called)


def _bound(site: _Site, body: types.FunctionType, args: Values, kwargs: Named) -> list[Value]:
    """The arguments of a call in the order in which the code holds them."""
    signature = inspect.signature(body)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise NotInvertible(
            f"cannot call {describe(body)} like this: {error}", where=site.where
        ) from error
    bound.apply_defaults()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in signature.parameters.values()):
        raise NotInvertible(
            f"cannot invert {describe(body)}: it takes any number of arguments",
            where=location_of(body),
            help="name its parameters",
        )
    code = body.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return [_value(bound.arguments[name]) for name in names]


def _forward_only(target: Any, args: Sequence[Operand], returns: type) -> Relation:
    """A function without a relation, which can still be run forward."""
    names = ", ".join("abcdefghijklmnopqrstuvwxyz"[: len(args)])
    short = describe(target).rpartition(".")[2]
    equation = f"return = {short if short.isidentifier() else 'f'}({names})"
    return relation(target, *(arg.kind for arg in args), equation, returns=returns)


def _no_relation(site: _Site, target: Any, args: Values) -> NotInvertible:
    name = describe(target)
    shown = ", ".join(map(_shown_kind, args))
    return NotInvertible(
        f"cannot solve a call of {name}({shown}): it has no relation",
        where=site.where,
        notes=[("modes available", "none")],
        help=f"give it one in a method table: @table.generated(relation_of({name}))",
    )
