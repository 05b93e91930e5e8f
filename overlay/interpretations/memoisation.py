"""Memoisation of functions of a program without editing it.

>>> from overlay.interpretations.memoisation import memoised
>>> def fib(n):
...     return n if n < 2 else fib(n - 1) + fib(n - 2)
>>> memo = memoised(fib)
>>> memo(fib, 80), memo.misses
(23416728348467685, 81)
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Generator,
    Hashable,
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any

from overlay import Context, MethodTable, OverlayError, call_next, nonoverlay
from overlay.contexts.rules_alone import runs_alone
from overlay.core.in_force import runs_natively, stack_in_force
from overlay.core.location import caller
from overlay.core.metadata import metadata_key
from overlay.core.public_names import completes
from overlay.core.short_repr import counted, short_repr
from overlay.core.target import describe
from overlay.python.own_objects import OwnValues

__all__ = ["Memo", "memoised"]
__dir__ = completes(__all__)

_ABSENT = object()
# Results that are used up by their first use, with what they are.
_USED_UP: Any = {
    Generator: "a generator",
    Coroutine: "a coroutine",
    AsyncIterator: "an asynchronous iterator",
    Iterator: "an iterator",
}
_LAZY: Any = {
    inspect.isgeneratorfunction: "a generator function",
    inspect.iscoroutinefunction: "a coroutine function",
    inspect.isasyncgenfunction: "an asynchronous generator function",
}


class _Kept(OrderedDict[Hashable, Any]):
    """Cached results by arguments. It may store values of other interpretations: a lookup finds
    them only with the same values.
    """

    __overlay_keeps_interpreted__ = True


class Memo:
    """A cache of results of functions by their arguments: each function runs once for equal
    arguments, with the same contexts in force and the same methods in their tables.

    Parameters
    ----------
    *functions : callable
        The functions to memoise, in all code that runs with the cache.
    limit : int or None
        The number of results cached of each function, with the same contexts in force: the most
        recently used ones; None: all.

    Attributes
    ----------
    context : Context
        The context that memoises, to be combined with others.
    hits, misses : int
        The numbers of calls answered from the cache, and of calls that ran the function.

    Examples
    --------
    >>> from overlay.interpretations.memoisation import Memo
    >>> def square(x):
    ...     return x * x
    >>> memo = Memo(square)
    >>> memo(lambda: square(3) + square(3)), memo.hits
    (18, 1)
    """

    @runs_alone
    def __init__(self, *functions: Any, limit: int | None = None) -> None:
        self.limit = limit
        self.hits = 0
        self.misses = 0
        self._stores: list[OwnValues[_Kept]] = []
        table = MethodTable("memoised")
        for function in functions:
            for is_lazy, kind in _LAZY.items():
                if is_lazy(function):
                    raise _used_up(function, f"it is {kind}, whose results their first use uses up")
            store = OwnValues[_Kept]()
            self._stores.append(store)
            table.overlay(function)(self._method(store, function))
        self.context = Context(table)

    def __repr__(self) -> str:
        names = ", ".join(map(describe, self.context.tables[0].targets()))
        return short_repr(
            "Memo",
            f"of {names}: {counted(self.hits, 'hit')}, {counted(self.misses, 'miss', 'misses')}",
        )

    def __call__(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run a function, with the memoised functions cached in all code that it calls.

        Parameters
        ----------
        f : callable
            The function to run.
        *args, **kwargs
            Its arguments.

        Returns
        -------
        object
            Its result.

        Raises
        ------
        OverlayError
            An argument of a memoised function cannot be hashed, or its result is an iterator or a
            coroutine.
        """
        return self.context(f, *args, **kwargs)

    @runs_alone
    def wrap(self, f: Callable[..., Any], /) -> Callable[..., Any]:
        """A function that runs with the cache.

        Parameters
        ----------
        f : callable
            The function.

        Returns
        -------
        callable
            ``f``, each call of which runs with the cache.
        """
        return self.context.wrap(f)

    @runs_alone
    def clear(self) -> None:
        """Remove all cached results."""
        for store in self._stores:
            store.clear()

    def __len__(self) -> int:
        return sum(len(kept) for store in self._stores for _, kept in store.values())

    def _method(self, store: OwnValues[_Kept], function: Any) -> Callable[..., Any]:
        find, keep = nonoverlay(self._find), nonoverlay(self._keep)

        def found(*args: Any, **kwargs: Any) -> Any:
            kept = _in_force(store)
            key, result, is_new = find(kept, function, args, kwargs)
            if is_new:
                result = call_next(*args, **kwargs)
                keep(kept, function, key, result)
            return result

        return found

    def _find(
        self, kept: _Kept, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Hashable, Any, bool]:
        key = _key(function, args, kwargs)
        result = kept.get(key, _ABSENT)
        if result is _ABSENT:
            self.misses += 1
        else:
            self.hits += 1
            if self.limit is not None:
                kept.move_to_end(key)
        return key, result, result is _ABSENT

    def _keep(self, kept: _Kept, function: Any, key: Hashable, result: Any) -> None:
        for used_up, kind in _USED_UP.items():
            if isinstance(result, used_up):
                raise _used_up(function, f"its result is {kind}, which its first use uses up")
        kept[key] = result
        if self.limit is not None and len(kept) > self.limit:
            kept.popitem(last=False)


def memoised(*functions: Any, limit: int | None = None) -> Memo:
    """Memoise functions.

    Parameters
    ----------
    *functions : callable
        The functions, each of which runs once for equal arguments.
    limit : int or None
        The number of results cached of each function, the most recently used ones; None: all.

    Returns
    -------
    Memo
        The cache, which runs programs: ``memoised(g)(f, ...)``.

    Raises
    ------
    OverlayError
        One is a generator function or a coroutine function: the first use of a result uses it up.

    Examples
    --------
    >>> from overlay.interpretations.memoisation import memoised
    >>> def fib(n):
    ...     return n if n < 2 else fib(n - 1) + fib(n - 2)
    >>> memoised(fib)(fib, 80)
    23416728348467685
    """
    return Memo(*functions, limit=limit)


@runs_natively
def _in_force(store: OwnValues[_Kept]) -> _Kept:
    """The results that hold for the contexts in force and the present methods of their tables."""
    stack = stack_in_force.get()
    assert stack is not None  # a method of a memo's table asks
    return stack.python.own.kept_in(store, _Kept)


def _key(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Hashable:
    """A key that is equal for arguments of equal types and values."""
    try:
        return metadata_key((tuple(args), tuple(sorted(kwargs.items()))))
    except OverlayError as error:
        raise OverlayError(
            f"cannot memoise {describe(function)}: an argument cannot be hashed",
            where=caller(),
            notes=[("arguments", ", ".join(type(value).__name__ for value in args))],
            help="memoise a function that takes numbers, text or tuples, or leave this one out",
        ) from error


def _used_up(function: Any, why: str) -> OverlayError:
    return OverlayError(
        f"cannot memoise {describe(function)}: {why}",
        where=caller(),
        help="memoise a function that returns a value, such as a list of the items, or leave this "
        "one out",
    )
