"""Runs programs on intervals."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from overlay import Context, Method, MethodTable, nonoverlay
from overlay.contexts.rules_alone import (
    alone,
    in_program,
    meets_others,
    runs_alone,
    used_by,
)
from overlay.core.location import caller, name_of
from overlay.core.short_repr import counted
from overlay.interpretations.intervals.errors import Undecided, watched
from overlay.interpretations.intervals.following import (
    both_ways,
    fill_following,
    fill_leaving,
    fill_refusing,
)
from overlay.interpretations.intervals.interval_arrays import fill_arrays
from overlay.interpretations.intervals.interval_numbers import EMPTY, Interval
from overlay.interpretations.intervals.interval_programs import fill_containers, fill_plain
from overlay.interpretations.intervals.methods import fill
from overlay.sets import NotAnInterval

__all__ = ["OUTSIDE", "enclose", "intervals"]

MOST_PIECES = 100_000


class _Table(MethodTable):
    """A table of rules, which are computed without dispatch.

    runs_python: whether functions compiled by numba are interpreted in it.
    """

    def __init__(self, name: str, *, runs_python: bool = False) -> None:
        super().__init__(name, interprets=True)
        self.runs_python = runs_python

    def chosen(
        self, method: Method, after: tuple[Method, ...], tables: Sequence[MethodTable]
    ) -> Callable[..., Any] | None:
        if all(table.faithful for table in tables):
            return None
        used = used_by(method.function)
        return alone(method, tuple(tables)) if meets_others(used, tables) else None


intervals: MethodTable = _Table("intervals")
"""The methods of intervals, for both engines."""
_containers = _Table("containers of intervals")
_plain = _Table("plain numbers", runs_python=True)
_refusing = _Table("refusing")
_following = _Table("following")
_leaving = _Table("leaving out")
fill(intervals)
fill_containers(_containers)
fill_arrays(_containers)
fill_plain(_plain)
fill_refusing(_refusing)
fill_following(_following)
fill_leaving(_leaving)
OUTSIDE = Context(intervals, _refusing, _leaving)
"""The context in which operators of intervals run outside of programs."""
_CONTEXTS = {
    "refuse": Context(intervals, _containers, _plain, _refusing),
    "follow": Context(intervals, _containers, _plain, _following),
}


@runs_alone
def enclose(
    f: Callable[..., Any],
    *args: Any,
    undecided: Literal["refuse", "follow"] = "refuse",
    pieces: int = 1,
    most_ways: int = 1000,
) -> Any:
    """An interval that contains the results of a function, in exact real arithmetic, for all
    numbers in the argument intervals.

    Parameters
    ----------
    f : callable
        A function of numbers.
    *args
        Intervals, or any other arguments; lists and arrays may contain intervals.
    undecided : {"refuse", "follow"}
        The treatment of a branch that is taken for some numbers only, and of a call that raises
        an error for some. ``"refuse"`` raises Undecided. ``"follow"`` runs ``f`` once for each
        execution path and returns the hull of the results; then ``f`` must not depend on side
        effects of earlier runs.
    pieces : int
        The number of parts into which each interval among the arguments is split, for a tighter
        result; those in lists and arrays are not split.
    most_ways : int
        The maximal number of execution paths.

    Returns
    -------
    Interval or container
        The structure of the result of ``f``, with intervals for numbers.

    Raises
    ------
    Undecided
        A branch or a call is undecided, and ``undecided`` is ``"refuse"``.
    NotAnInterval
        ``undecided`` has another value, or there are too many pieces.

    Examples
    --------
    >>> from overlay.interpretations.intervals import Interval, enclose
    >>> enclose(lambda x: x * (1 - x), Interval(0, 1))
    Interval(0.0, 1.0)
    >>> enclose(lambda x: x * (1 - x), Interval(0, 1), pieces=64).high < 0.26
    True
    >>> enclose(lambda x: x if x > 0 else -x, Interval(-1, 2), undecided="follow")
    Interval(-2.0, 2.0)

    References
    ----------
    R. E. Moore, R. B. Kearfott and M. J. Cloud, "Introduction to Interval Analysis", SIAM 2009.
    """
    context = _CONTEXTS.get(undecided)
    if context is None:
        raise NotAnInterval(
            f'undecided is "refuse" or "follow", not {undecided!r}',
            where=caller(),
            help='pass undecided="refuse" to raise an error, "follow" to run each path',
        )
    found: list[Any] = []
    for given in _pieces(args, pieces):
        if undecided == "refuse":
            found.append(watched(lambda given=given: in_program(context, f, *given)))
        else:
            found += both_ways(
                lambda given=given: in_program(context, f, *copy.deepcopy(given)), most_ways
            )
    return _numbers(_joined(found, name_of(f))) if found else EMPTY


def _pieces(args: Sequence[Any], pieces: int) -> Any:
    """The arguments with each interval split: one tuple of arguments per combination."""
    count = pieces ** sum(isinstance(arg, Interval) for arg in args)
    if pieces < 1 or count > MOST_PIECES:
        raise NotAnInterval(
            f"{counted(pieces, 'piece')} of each interval: {counted(count, 'run')}, of "
            f"{MOST_PIECES} at most",
            where=caller(),
            help="pass fewer pieces, 1 or more, or split only some arguments yourself",
        )
    each = [arg.split(pieces) if isinstance(arg, Interval) else [arg] for arg in args]
    return itertools.product(*each)


# ---- results ------------------------------------------------------------------------------


def _numbers(found: Any) -> Any:
    # inside a derivative, type() of an active number returns the class of its value
    kind = nonoverlay(type)(found)
    return Interval(found) if kind in (float, np.float64) else found


def _joined(found: Sequence[Any], name: str) -> Any:
    """One result that contains all of these."""
    first = found[0]
    if len(found) == 1:
        return first
    if all(isinstance(one, (Interval, int, float)) for one in found) and _differ(found):
        if any(isinstance(one, bool) for one in found):
            raise _apart(found, name)
        joined = EMPTY
        for one in found:
            joined = joined.hull(one if isinstance(one, Interval) else Interval(one))
        return joined
    if all(type(one) is type(first) for one in found) and not isinstance(first, Interval):
        joined = _joined_parts(found, name)
        if joined is not None:
            return joined
    if _differ(found):
        raise _apart(found, name)
    return first


def _joined_parts(found: Sequence[Any], name: str) -> Any:
    """The join of containers of the same structure, part by part; None for others."""
    first = found[0]
    if isinstance(first, (list, tuple)) and all(len(one) == len(first) for one in found):
        parts = [_joined(each, name) for each in zip(*found, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if isinstance(first, dict) and all(one.keys() == first.keys() for one in found):
        return {key: _joined([one[key] for one in found], name) for key in first}
    if isinstance(first, np.ndarray) and all(one.shape == first.shape for one in found):
        joined = np.empty(first.shape, dtype=object)
        for place in np.ndindex(first.shape):
            joined[place] = _joined([one[place] for one in found], name)
        return joined
    return None


def _differ(found: Sequence[Any]) -> bool:
    return any(not _same(one, found[0]) for one in found[1:])


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, Interval) or isinstance(other, Interval):
        return isinstance(one, Interval) and isinstance(other, Interval) and one.equals(other)
    return type(one) is type(other) and bool(one == other)


def _apart(found: Sequence[Any], name: str) -> Undecided:
    shown = sorted({repr(one) for one in found})[:3]
    return Undecided(f"the result of {name} is not decided: {' or '.join(shown)}")
