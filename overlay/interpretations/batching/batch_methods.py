"""The table of methods for batches: functions that neither Python's nor numpy's protocols pass to
them.
"""

from __future__ import annotations

import inspect
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overlay import Context, MethodTable, call_next, nonoverlay
from overlay.catalogue import FUNCTIONS
from overlay.interpretations.batching.batched_calls import applied, checked, operate
from overlay.interpretations.batching.batches import Batch, leaves
from overlay.interpretations.batching.one_by_one import looped, name_of
from overlay.interpretations.batching.sample_runs import current
from overlay.interpretations.batching.shaping import aligned, depth_of, rows_of

__all__ = ["CONTEXT"]

TABLE = MethodTable("batching", interprets=True)
CONVERSIONS = (np.array, np.asarray, np.asanyarray)
MADE = (np.zeros, np.ones, np.empty, np.zeros_like, np.ones_like, np.empty_like, np.full_like)
QUESTIONS = {math.isnan: np.isnan, math.isinf: np.isinf, math.isfinite: np.isfinite}


def _declare(target: Any, method: Callable[..., Any], types: Sequence[Any]) -> None:
    names = [f"x{i}" for i in range(len(types))]
    given = ", ".join(names)
    space: dict[str, Any] = {"method": nonoverlay(method)}
    exec(f"def of_batches({given}):\n    return method({given})", space)
    made = space["of_batches"]
    made.__annotations__ = dict(zip(names, types, strict=True))
    TABLE.overlay(target)(made)


def _own(arity: int) -> Any:
    """The combinations of arguments with at least one batch."""
    kinds = itertools.product((Batch, Any), repeat=arity)
    return (types for types in kinds if Batch in types)


def _of_math(function: Any, ufunc: Any) -> Callable[..., Any]:
    def method(*args: Any) -> Any:
        (run, *_) = [x.run for x in args if type(x) is Batch]
        if ufunc is None or ufunc.nin != len(args) or any(depth_of(x) for x in args):
            return looped(run, function, args, {}, name_of(function))
        numbers = [
            Batch(x.run, x.value.astype(float), python=True) if type(x) is Batch else x
            for x in args
        ]
        return checked(run, function, ufunc, numbers)

    return method


def _arity(function: Any) -> tuple[int, ...]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return (1, 2)
    kinds = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return (len(kinds),)


def _question(ufunc: Any) -> Callable[..., Any]:
    def method(x: Batch) -> Any:
        return Batch(x.run, ufunc(x.value), python=True)

    return method


def _floats(x: Batch) -> Any:
    if x.ndim or x.dtype.kind not in "fiub":
        return looped(x.run, float, (x,), {}, "float")
    return Batch(x.run, x.value.astype(float), python=True)


def _type(x: Batch) -> Any:
    return x.__class__


def _extreme(target: Any, compare: Any) -> Callable[..., Any]:
    """``max`` or ``min`` of several numbers: each is taken where it is beyond those before it."""

    def method(*args: Any) -> Any:
        numbers = [x for x in args if type(x) in (Batch, int, float) or isinstance(x, np.generic)]
        if len(numbers) < len(args) or any(depth_of(x) for x in args):
            return target(args)
        (run, *_) = [x.run for x in args if type(x) is Batch]
        if any(x.run is not run for x in args if type(x) is Batch):
            return target(args)
        kinds = {
            x.value.dtype if type(x) is Batch and not x.python else None
            for x in args
            if type(x) is Batch
        }
        if len(kinds) > 1 or any(isinstance(x, np.generic) for x in args if type(x) is not Batch):
            return target(args)
        kind = next(iter(kinds))
        if kind is not None and kind.kind != "f":
            return target(args)
        if kind is None and any(type(x) is int for x in args):
            return target(args)
        best: Any = args[0]
        for x in args[1:]:
            p, q = (rows_of(run, each) for each in (best, x))
            best = Batch(run, np.where(compare(q, p), q, p).astype(kind or float))
        return Batch(run, best.value, python=kind is None)

    return method


def _item(a: Any, index: Any) -> Any:
    return operate(operator.getitem, (a, index))


def _of_parts(a: np.ndarray, index: tuple) -> Any:  # type: ignore[type-arg]
    if holds(index):
        return item(a, index)
    return call_next(a, index)


holds, item = nonoverlay(leaves), nonoverlay(_item)


def _conversion(function: Any) -> None:
    def of_list(x: Any, *args: Any, **named: Any) -> Any:
        if holds(x):
            return applied(function, (x, *args), named)
        return call_next(x, *args, **named)

    def of_batch(x: Batch, *args: Any, **named: Any) -> Any:
        return applied(function, (x, *args), named)

    sequences: Any = operator.or_(list, tuple)
    for method, kind in ((of_list, sequences), (of_batch, Batch)):
        method.__annotations__ = {"x": kind, "args": Any, "named": Any}
        TABLE.overlay(function)(method)


def _spread(found: Any) -> Any:
    """A new array as a batch, so that the program can write those in it."""
    run = current.get()
    if run is None or type(found) is Batch or not found.ndim or found.dtype.kind not in "biufc":
        return found
    return Batch(run, np.array(rows_of(run, found)))


spread = nonoverlay(_spread)


def _made(function: Any) -> None:
    def method(*args: Any, **named: Any) -> Any:
        return spread(call_next(*args, **named))

    TABLE.overlay(function)(method)


def _full(shape: Any, fill_value: Any, *args: Any, **named: Any) -> Any:
    if not holds(fill_value):
        return spread(call_next(shape, fill_value, *args, **named))
    return filled(shape, fill_value, *args, **named)


def _filled(shape: Any, value: Batch, dtype: Any = None, **named: Any) -> Any:
    sizes = tuple(shape) if isinstance(shape, (list, tuple)) else (operator.index(shape),)
    sizes = tuple(operator.index(each) for each in sizes)
    (given,) = aligned(value.run, (value,), least=len(sizes))
    made = np.empty((value.run.size, *sizes), dtype or value.dtype)
    made[...] = given
    return Batch(value.run, made)


filled = nonoverlay(_filled)


def _fill_table() -> None:
    questions: dict[Any, Any] = dict(QUESTIONS)
    ufuncs: dict[Any, Any] = {row.function: row.numpy[0] for row in FUNCTIONS if row.numpy}
    for function in vars(math).values():
        if callable(function) and not isinstance(function, type):
            question = questions.get(function)
            if question is not None:
                _declare(function, _question(question), (Batch,))
                continue
            for arity in _arity(function):
                for types in _own(arity):
                    _declare(function, _of_math(function, ufuncs.get(function)), types)
    _declare(float, _floats, (Batch,))
    _declare(type, _type, (Batch,))
    for target, compare in ((max, np.greater), (min, np.less)):
        for arity in (2, 3, 4):
            for types in _own(arity):
                _declare(target, _extreme(target, compare), types)
    _declare(operator.getitem, _item, (np.ndarray, Batch))
    TABLE.overlay(operator.getitem)(_of_parts)
    for function in CONVERSIONS:
        _conversion(function)
    for function in MADE:
        _made(function)
    TABLE.overlay(np.full)(_full)


_fill_table()
CONTEXT = Context(TABLE)
