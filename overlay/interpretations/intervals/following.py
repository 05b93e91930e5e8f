"""Undecided branches: refused with an error, or explored on all execution paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from overlay import MethodTable, OverlayError, nonoverlay
from overlay.core.location import name_of
from overlay.interpretations.intervals.errors import Undecided, watched
from overlay.interpretations.intervals.interval_numbers import Interval, shown
from overlay.interpretations.intervals.methods import choose, outside, some_integer
from overlay.sets import Bounds

__all__ = ["both_ways", "fill_following", "fill_leaving", "fill_refusing"]

LONGEST = 500
"""The maximal number of undecided questions in one run."""


def _not_decided(question: str, x: Bounds, y: Bounds) -> Undecided:
    return Undecided(f"whether {Interval(*x)} {question} {Interval(*y)} is not decided")


def _has_no_value(nowhere: bool, function: str, raises: Any, x: Bounds, y: Bounds) -> Exception:
    given = f"it is given {' and '.join(shown(Interval(*one)) for one in dict.fromkeys((x, y)))}"
    if not nowhere:
        return Undecided(f"whether {function} has a value is not decided: {given}")
    if raises is Undecided:
        return Undecided(f"{function} has no real value: {given}")
    return raises("math domain error" if raises is ValueError else "division by zero")


def fill_refusing(table: MethodTable) -> None:
    """Declare methods that raise Undecided with the question."""

    @table.overlay(choose)
    def refuse(question: str, x: Any, y: Any) -> bool:
        raise nonoverlay(_not_decided)(question, x, y)

    @table.overlay(outside)
    def refuse_call(nowhere: bool, function: str, raises: Any, x: Any, y: Any) -> bool:
        raise nonoverlay(_has_no_value)(nowhere, function, raises, x, y)


def fill_leaving(table: MethodTable) -> None:
    """Declare the method that excludes the numbers for which a function is undefined."""

    @table.overlay(outside)
    def leave_out(nowhere: bool, function: str, raises: Any, x: Any, y: Any) -> bool:
        return True


# ---- execution paths ----------------------------------------------------------------------


class _Way:
    """One execution path: the prescribed answers, and those chosen by this run."""

    def __init__(self, answers: list[bool]) -> None:
        self.answers = answers
        self.given = len(answers)
        self.met = 0

    def answer(self) -> bool:
        self.met += 1
        if self.met > LONGEST:
            raise _too_many(f"a run meets more than {LONGEST} questions that are not decided")
        if self.met > len(self.answers):
            self.answers.append(True)
        return self.answers[self.met - 1]

    def others(self) -> Iterator[list[bool]]:
        """The answers of the paths that branch off from this one."""
        for place in range(self.given, len(self.answers)):
            yield [*self.answers[:place], False]


_way: ContextVar[_Way] = ContextVar("way")


def _too_many(why: str) -> Undecided:
    return Undecided(why, help="pass narrower intervals, or split them: enclose(..., pieces=n)")


def _answer() -> bool:
    return _way.get().answer()


def _one_of(a: Bounds) -> int:
    if not a[1] - a[0] < LONGEST:
        raise _too_many(f"int() gives more than {LONGEST} integers")
    found = int(a[0])
    while found < a[1] and not _answer():
        found += 1
    return found


def fill_following(table: MethodTable) -> None:
    """Declare methods that answer questions as the current path prescribes."""

    @table.overlay(choose)
    def answer(question: str, x: Any, y: Any) -> bool:
        return nonoverlay(_answer)()

    @table.overlay(outside)
    def answer_call(nowhere: bool, function: str, raises: Any, x: Any, y: Any) -> bool:
        if nowhere or raises is Undecided:
            raise nonoverlay(_has_no_value)(nowhere, function, raises, x, y)
        if not nonoverlay(_answer)():
            raise nonoverlay(_has_no_value)(True, function, raises, x, y)
        return True

    @table.overlay(some_integer)
    def answer_integer(a: Any) -> int:
        return nonoverlay(_one_of)(a)


def both_ways(run: Callable[[], Any], most: int) -> list[Any]:
    """The results of a program on all execution paths; those that raise ValueError or
    ArithmeticError have none."""
    found: list[Any] = []
    left: list[list[bool]] = [[]]
    gone = 0
    while left:
        gone += 1
        if gone > most:
            raise _too_many(f"there are more than {most} ways through {name_of(run)}")
        way = _Way(left.pop())
        token = _way.set(way)
        try:
            found.append(watched(run))
        except OverlayError:
            raise
        except (ValueError, ArithmeticError):
            pass
        finally:
            _way.reset(token)
        left.extend(way.others())
    return found
