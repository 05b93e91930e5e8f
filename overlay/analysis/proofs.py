"""Proofs by intervals: that indices are in bounds, and that divisors are not zero."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from overlay.analysis.interpreter import Interpreter, Step
from overlay.analysis.intervals import Intervals
from overlay.analysis.values import BOTTOM, Array, Interval, Items, Known, made, number
from overlay.errors import OverlayError
from overlay.location import caller, name_of

__all__ = ["Proofs", "Site", "prove"]

_DIVISIONS = (
    *(operator.truediv, operator.floordiv, operator.mod),
    *(operator.itruediv, operator.ifloordiv, operator.imod, divmod),
)


@dataclass(frozen=True)
class Site:
    """An index, or a divisor: whether it is proved to be in bounds, or not to be zero.

    value: the abstract value of the index or divisor. where: ``file:line``. function: in which
    it stands. An index of ``proved=False`` may still be in bounds.
    """

    kind: str
    proved: bool
    value: Any
    where: str
    function: Callable[..., Any]

    def __str__(self) -> str:
        word = "proved" if self.proved else "not proved"
        return f"{self.where}  {name_of(self.function)}: {self.kind} {word}: {self.value!r}"


@dataclass(frozen=True)
class Proofs:
    """What ``prove`` found.

    sites: those of the function, then those of what it calls. result: what the function gives.
    unread: functions below it whose code cannot be read, so that sites in them are not here.
    """

    sites: tuple[Site, ...]
    result: Any
    unread: tuple[Callable[..., Any], ...] = ()

    @property
    def proved(self) -> bool:
        """Whether each site is, and all code was read."""
        return not self.unread and all(site.proved for site in self.sites)

    def __str__(self) -> str:
        return "\n".join(map(str, self.sites))


def prove(function: Callable[..., Any], *arguments: Any) -> Proofs:
    """Prove that each index below a call is in bounds, and that no divisor is zero.

    arguments: for each parameter an abstract value (``integers(0, 9)``, ``floats(...)``,
    ``array("n")``), a number, or a function. Raises NotCompilable where the function's code
    cannot be read, and OverlayError for an argument that means nothing here. Calls whose code
    cannot be read give anything, and are told in ``unread``.
    """
    domain = Intervals()
    values = tuple(_value(domain, i, given) for i, given in enumerate(arguments))
    interpreter = Interpreter(domain)
    run = interpreter.run(function, *values)
    found: dict[tuple[int, str], Site] = {}
    for inner in run.walk():
        for step in inner.steps:
            _note(domain, found, step)
    return Proofs(tuple(found.values()), run.result, interpreter.unread)


def _value(domain: Intervals, place: int, given: Any) -> Any:
    if isinstance(given, (Interval, Items)) or given in (domain.top,):
        return given
    if isinstance(given, Array):
        keys = tuple((place, axis) if key is None else key for axis, key in enumerate(given.keys))
        return Array(given.shape, given.item, keys)
    if type(given) in (bool, int, float):
        return number(given)
    if callable(given) and not isinstance(given, type):
        return domain.constant(given)
    raise OverlayError(
        f"argument {place} says nothing about intervals: {given!r}",
        where=caller(),
        help="give integers(low, high), floats(low, high), array(length), a number or a function",
    )


def _note(domain: Intervals, found: dict[tuple[int, str], Site], step: Step) -> None:
    """Add the sites in a step, to what other calls of the same function gave for them."""
    for kind, proved, value in _sites(domain, step):
        key = id(step.statement), kind
        old = found.get(key)
        if old is not None:
            proved, value = proved and old.proved, domain.join(old.value, value)
        found[key] = Site(kind, proved, value, step.where, step.caller)


def _sites(domain: Intervals, step: Step) -> list[tuple[str, bool, Any]]:
    if step.function in _DIVISIONS and len(step.args) == 2:
        one, divisor = step.args
        if isinstance(one, Known):  # such as "%s" % x
            return []
        return [("divisor", _is_not_zero(divisor) or one == BOTTOM, divisor)]
    if step.function not in (operator.getitem, operator.setitem):
        return []
    held, index = step.args[:2]
    if _is_slice(index):
        return []
    sites = [("index", held == BOTTOM or _is_inside(held, index), index)]
    if step.function is operator.setitem and isinstance(held, Array):
        value = step.args[2]
        sites.append(("element", domain.is_below(value, held.item), value))
    return sites


def _is_not_zero(value: Any) -> bool:
    return value == BOTTOM or (isinstance(value, Interval) and not value.has_zero)


def _is_slice(index: Any) -> bool:
    return isinstance(index, Known) and (index.value is slice or type(index.value) is slice)


def _is_inside(held: Any, index: Any) -> bool:
    """Whether an index is in bounds of a container in every case."""
    if isinstance(held, Items):
        return _is_below(index, made(len(held.items), len(held.items), "int"), None)
    if not isinstance(held, Array):
        return index == BOTTOM
    parts = index.items if isinstance(index, Items) else (index,)
    return len(parts) <= len(held.shape) and all(
        _is_below(i, held.shape[axis], held.keys[axis]) for axis, i in enumerate(parts)
    )


def _is_below(index: Any, length: Interval, key: Any) -> bool:
    if index == BOTTOM:
        return True
    if not isinstance(index, Interval) or index.kind != "int" or index.low < -length.low:
        return False
    known = None if key is None else index.ceiling(key)
    return index.high < length.low or (known is not None and known <= -1)
