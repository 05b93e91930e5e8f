"""Proofs by interval analysis that indices are in bounds and divisors are not zero."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from overlay.analysis.abstract_values import (
    BOTTOM,
    Array,
    ItemValues,
    KnownValue,
    Number,
    made,
    number,
)
from overlay.analysis.element_access import element_written, is_limited, writes_unseen
from overlay.analysis.interpreter import Interpreter
from overlay.analysis.interval_domain import Intervals
from overlay.analysis.runs import Step
from overlay.core.errors import OverlayError
from overlay.core.location import caller, name_of
from overlay.core.markup import badge, code, facts, listed, place, sheet, shown_value
from overlay.core.short_repr import counted, short_repr

if TYPE_CHECKING:
    from overlay.contexts.context import Context

__all__ = ["Proofs", "Site", "prove", "sites"]

_DIVISIONS = (
    *(operator.truediv, operator.floordiv, operator.mod),
    *(operator.itruediv, operator.ifloordiv, operator.imod, divmod),
)


@dataclass(frozen=True)
class Site:
    """An index, divisor or written element of a program, and whether it is proved to be safe.

    Attributes
    ----------
    kind
        ``"index"``, ``"divisor"``, or ``"element"``: a write to an array with restricted
        elements.
    proved
        Whether the index is in bounds, the divisor not zero, or the element within its range. If
        False, that may still hold.
    value
        The abstract value of the index, divisor or element.
    where
        ``file:line`` of the site.
    function
        The function that contains the site.

    Examples
    --------
    >>> from overlay.analysis import integers, prove
    >>> (site,) = prove(lambda n: 1 // n, integers(2, 9)).sites
    >>> site.kind, site.proved, site.value
    ('divisor', True, int [2, 9])
    """

    kind: str
    proved: bool
    value: Any
    where: str
    function: Callable[..., Any]

    def __repr__(self) -> str:
        word = "proved" if self.proved else "not proved"
        return short_repr("Site", f"{self.kind} {word}: {self.value!r}", self.where)

    def __str__(self) -> str:
        word = "proved" if self.proved else "not proved"
        return f"{self.where}  {name_of(self.function)}: {self.kind} {word}: {self.value!r}"


@dataclass(frozen=True)
class Proofs:
    """Result of ``prove``.

    Attributes
    ----------
    sites
        The sites of the function, then those of its callees.
    result
        The abstract value of the function's result.
    unknown
        ``file:line`` of each call whose code is not known or cannot be read; ``sites`` lacks the
        sites in that code.

    Examples
    --------
    >>> from overlay.analysis import integers, prove
    >>> prove(lambda n: 1 // n, integers(0, 9)).proved
    False
    """

    sites: tuple[Site, ...]
    result: Any
    unknown: tuple[str, ...] = ()

    def __repr__(self) -> str:
        proved = sum(site.proved for site in self.sites)
        facts = f"{proved} of {counted(len(self.sites), 'site')} proved"
        unread = f", {len(self.unknown)} unknown" if self.unknown else ""
        return short_repr("Proofs", facts + unread)

    def _repr_html_(self) -> str:
        word = {True: badge("proved", "green"), False: badge("not proved", "orange")}
        proved = sum(site.proved for site in self.sites)
        sites = listed(
            ("where", "function", "site", "", "value"),
            self.sites,
            lambda site: (
                place(site.where),
                code(name_of(site.function)),
                site.kind,
                word[site.proved],
                code(repr(site.value)),
            ),
        )
        unread = listed(
            ("calls whose code is not known",), self.unknown, lambda where: (place(where),)
        )
        more = f"{proved} of {counted(len(self.sites), 'site')} proved"
        return sheet("proofs", "", more, facts(("result", shown_value(self.result))), sites, unread)

    @property
    def proved(self) -> bool:
        """Whether every site is proved, and all code was read."""
        return not self.unknown and all(site.proved for site in self.sites)

    def __str__(self) -> str:
        return "\n".join(map(str, self.sites))


def prove(function: Callable[..., Any], *arguments: Any, context: Context | None = None) -> Proofs:
    """Prove that each index below a call is in bounds, and that no divisor is zero.

    Calls whose code cannot be read may return anything, and are listed in ``unknown``.

    Parameters
    ----------
    function
        A Python, @njit or generic function.
    *arguments
        For each parameter an abstract value (``integers(0, 9)``, ``floats(...)``,
        ``array("n")``), a number, or a function.
    context
        The context in which the call is made: methods of its tables are entered.

    Returns
    -------
    Proofs
        Each site, and whether it is proved.

    Raises
    ------
    NotCompilable
        If the function's code cannot be read.
    OverlayError
        If an argument is not one of these.

    Examples
    --------
    >>> from overlay.analysis import integers, prove
    >>> print(prove(lambda n: 1 // n, integers(2, 9)).result)
    int [0, 0]
    """
    domain = Intervals()
    values = tuple(_value(domain, i, given) for i, given in enumerate(arguments))
    result, runs = Interpreter(domain, context).enter(function, *values)
    limited = any(map(is_limited, values))
    found: dict[tuple[int, str], Site] = {}
    unknown: dict[str, None] = {}
    for step in (step for run in runs for inner in run.walk() for step in inner.steps):
        _note(domain, found, sites(step), step)
        if limited and writes_unseen(step):
            unseen = Site("element", False, domain.top, step.where, step.caller)
            _note(domain, found, (unseen,), step)
        if not step.followed:
            unknown[step.where] = None
    return Proofs(tuple(found.values()), result, tuple(unknown))


def _value(domain: Intervals, place: int, given: Any) -> Any:
    if isinstance(given, (Number, ItemValues)) or given in (domain.top,):
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


def _note(
    domain: Intervals,
    found: dict[tuple[int, str], Site],
    inside: tuple[Site, ...],
    step: Step,
) -> None:
    """Add the sites in a step, joined with those of other analyses of the same statement."""
    for site in inside:
        key = id(step.statement), site.kind
        old = found.get(key)
        if old is not None:
            value = domain.join(old.value, site.value)
            site = replace(site, proved=site.proved and old.proved, value=value)
        found[key] = site


def sites(step: Step) -> tuple[Site, ...]:
    """The sites of one call that was analysed over intervals.

    Parameters
    ----------
    step : Step
        A call in a run over ``Intervals``.

    Returns
    -------
    tuple of Site
        Its index, its divisor, or its write to an array with restricted elements.

    Examples
    --------
    >>> from overlay.analysis import Interpreter, Intervals, integers, sites
    >>> run = Interpreter(Intervals()).run(lambda n: 1 // n, integers(0, 9))
    >>> [(site.kind, site.proved) for step in run.steps for site in sites(step)]
    [('divisor', False)]
    """
    found: list[tuple[str, bool, Any]] = []
    if any(step.function is each for each in _DIVISIONS) and len(step.args) == 2:
        one, divisor = step.args
        if not isinstance(one, KnownValue):  # such as "%s" % x
            found.append(("divisor", _is_not_zero(divisor) or one == BOTTOM, divisor))
    if step.function is operator.getitem or step.function is operator.setitem:
        held, index = step.args[:2]
        if not _is_slice(index):
            found.append(("index", held == BOTTOM or _is_inside(held, index), index))
    written = element_written(step)
    found += [] if written is None else [("element", *written)]
    return tuple(Site(*each, step.where, step.caller) for each in found)


def _is_not_zero(value: Any) -> bool:
    return value == BOTTOM or (isinstance(value, Number) and not value.has_zero)


def _is_slice(index: Any) -> bool:
    return isinstance(index, KnownValue) and (index.value is slice or type(index.value) is slice)


def _is_inside(held: Any, index: Any) -> bool:
    """Whether an index is in bounds of a container in every case."""
    if isinstance(held, ItemValues):
        return _is_below(index, made(len(held.items), len(held.items), "int"), None)
    if not isinstance(held, Array):
        return index == BOTTOM
    parts = index.items if isinstance(index, ItemValues) else (index,)
    return len(parts) <= len(held.shape) and all(
        _is_below(i, held.shape[axis], held.keys[axis]) for axis, i in enumerate(parts)
    )


def _is_below(index: Any, length: Number, key: Any) -> bool:
    if index == BOTTOM:
        return True
    if not isinstance(index, Number) or index.kind != "int" or index.low < -length.low:
        return False
    known = None if key is None else index.ceiling(key)
    return index.high < length.low or (known is not None and known <= -1)
