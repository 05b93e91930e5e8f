"""The functions that a program calls: their code, their arguments, the types these take."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from inversion.errors import NotInvertible
from inversion.lifting.lifted_values import Named, Site, Value, Values, shown_kind, value_of
from inversion.program.statements import Constant, Operand
from overlay.core.location import location_of
from overlay.core.target import describe
from primitives import Relation, relation


def body_of(function: Any) -> types.FunctionType | None:
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


def python_code(target: Any) -> Iterator[types.FunctionType]:
    """The code of a function that is not entered, and of what it calls in its own module."""
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


def bound(site: Site, body: types.FunctionType, args: Values, kwargs: Named) -> list[Value]:
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
    return [value_of(bound.arguments[name]) for name in names]


def forward_only(target: Any, args: Sequence[Operand], returns: type) -> Relation:
    """A function without a relation, which can still be run forward."""
    names = ", ".join("abcdefghijklmnopqrstuvwxyz"[: len(args)])
    short = describe(target).rpartition(".")[2]
    equation = f"return = {short if short.isidentifier() else 'f'}({names})"
    return relation(target, *(arg.kind for arg in args), equation, returns=returns)


def no_relation(site: Site, target: Any, args: Values) -> NotInvertible:
    name = describe(target)
    shown = ", ".join(map(shown_kind, args))
    return NotInvertible(
        f"cannot solve a call of {name}({shown}): it has no relation",
        where=site.where,
        notes=[("modes available", "none")],
        help=f"give it one in a method table: @table.generated(relation_of({name}))",
    )


WORDS = (np.int64, np.uint64)


def promotions(args: Sequence[Operand]) -> Iterator[tuple[Any, ...]]:
    """The types that arithmetic gives to these arguments: constants take the type of a word
    beside them; else they stay, or integers become floats, or all become complex."""
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
