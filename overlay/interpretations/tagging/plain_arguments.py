"""C functions that look at the exact classes of their arguments: they are given plain values.

``sum`` and ``math.sumprod`` compensate rounding errors for instances of float itself, and not for
those of subclasses; ``marshal.dumps`` refuses instances of subclasses.
"""

from __future__ import annotations

import itertools
import marshal
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from overlay import nonoverlay
from overlay.interpretations.tagging.tagged_values import bare, base_of, combined, found_in, plain

__all__ = ["given_plain"]

# Computes a result from arguments, and returns it with the values that it comes from.
Computes = Callable[[Sequence[Any], Mapping[str, Any]], tuple[Any, list[Any]]]

_NUMBERS = (float, int, complex)


def given_plain(callee: Any, run: Callable[..., Any]) -> Computes | None:
    """A function that computes the result of a callee from plain values; None for a callee that
    takes instances of subclasses for what they are."""
    if callee is sum:
        return lambda args, kwargs: _summed(run, args, kwargs)
    if callee is math.sumprod:
        return lambda args, kwargs: _multiplied(run, args, kwargs)
    if callee is marshal.dumps:
        return lambda args, kwargs: (run(*map(bare, args), **kwargs), [*args])
    return None


def _summed(
    run: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, list[Any]]:
    """A sum. The numbers that it begins with are added as plain ones; from the first other object
    on, C code adds one by one."""
    given = [*args, *kwargs.values()]
    start = kwargs.get("start", args[1] if len(args) > 1 else 0)
    binds = len(args) in (1, 2) and kwargs.keys() <= {"start"} and len(given) < 3
    if not binds or not _is_number(start):
        return run(*args, **kwargs), given
    items = args[0]
    if type(items) in (list, tuple):
        numbers = [*itertools.takewhile(_is_number, items)]
        if not any(True for each in (start, *numbers) for _ in found_in(each)):
            return run(*args, **kwargs), given
        if len(numbers) == len(items):
            return run(type(items)(map(plain, numbers)), plain(start)), given
    beginning = _Items(items, stops=True)
    result = run(beginning.plain, plain(start))
    found = [*beginning.found, start]
    if beginning.others:
        result = combined(sum, found, result)
        found += beginning.others
        result = run(itertools.chain(beginning.others[:1], beginning.plain), result)
    return result, found


def _multiplied(
    run: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, list[Any]]:
    """A sum of products, of plain numbers."""
    lists = [type(arg) in (list, tuple) for arg in args]
    if all(lists):
        return run(*map(bare, args), **kwargs), [*args]
    items = [_Items(arg) for arg in args]
    result = run(*(each.plain for each in items), **kwargs)
    return result, [value for each in items for value in each.found]


class _Items:
    """The items of an iterable, which is read as C code asks for them.

    stops: whether the plain numbers end before the first other object; the items after it follow
    as they are.

    ``plain``: an iterator over plain numbers. ``found``: those read with metadata. ``others``: the
    object that it has ended before.
    """

    def __init__(self, items: Iterable[Any], *, stops: bool = False) -> None:
        self.stops = stops
        self.found: list[Any] = []
        self.others: list[Any] = []
        # iter(items) may be code of the program: chain calls it at the first item
        every = itertools.chain.from_iterable((items,))
        self.plain: Iterator[Any] = map(nonoverlay(self._plain), every)

    def _plain(self, item: Any) -> Any:
        if self.others:
            return item
        if self.stops and not _is_number(item):
            self.others.append(item)
            raise StopIteration
        self.found += found_in(item, 0)
        return plain(item)


def _is_number(value: Any) -> bool:
    return type(value) is bool or base_of(value) in _NUMBERS
