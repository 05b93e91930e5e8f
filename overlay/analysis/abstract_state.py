"""Abstract state at a point of a function: the values of variables, and their definitions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from overlay.analysis.lattice import Domain
from overlay.code.body import is_step

__all__ = ["CONSTANT", "COPY", "AbstractState", "Fact", "assume", "is_below", "joined"]


@dataclass(frozen=True, eq=False)
class Fact:
    """Definition of a variable: the result of ``function`` on variables that have not changed
    since. function: COPY for a copy; CONSTANT for the constant ``value``.
    """

    function: Any
    names: tuple[str, ...] = ()
    value: Any = None

    def same(self, other: Fact | None) -> bool:
        """Whether two facts are equal; functions and values are compared by identity."""
        return other is not None and (
            self.function is other.function
            and self.names == other.names
            and self.value is other.value
        )


COPY, CONSTANT = object(), object()


@dataclass
class AbstractState:
    """Abstract state at a point of a function: values and facts by variable."""

    values: dict[str, Any]
    facts: dict[str, Fact] = field(default_factory=dict[str, Fact])

    def copy(self) -> AbstractState:
        """Return a copy that can be changed independently."""
        return AbstractState(self.values.copy(), self.facts.copy())

    def set(self, name: str, value: Any, fact: Fact | None = None) -> None:
        """Assign a value to a variable, and drop all facts about its old value."""
        if name in self.values:
            for key in [k for k, f in self.facts.items() if k == name or name in f.names]:
                del self.facts[key]
        self.values[name] = value
        if fact is not None and name not in fact.names:
            self.facts[name] = fact

    def forget(self, name: str) -> None:
        """Leave a variable without a value, as ``del`` does."""
        self.set(name, None)
        del self.values[name]

    def set_copy(self, name: str, value: Any, source: str) -> None:
        """Assign to a variable the value of another. If that is a step of an expression, later
        refinements of the step refine the variable too."""
        fact = self.facts.get(source)
        self.set(name, value)
        if not is_step(source):
            self.facts[name] = Fact(COPY, (source,))
            return
        if fact is not None and name not in fact.names:
            self.facts[name] = fact
        self.facts[source] = Fact(COPY, (name,))

    def constant(self, name: str) -> tuple[Any] | None:
        """The object of the program that a variable holds, in a tuple of one; None if not known."""
        fact = self.facts.get(self.origin(name))
        return (fact.value,) if fact is not None and fact.function is CONSTANT else None

    def origin(self, name: str) -> str:
        """The variable that another is a copy of, directly or through further copies."""
        seen = {name}
        fact = self.facts.get(name)
        while fact is not None and fact.function is COPY and fact.names[0] not in seen:
            name = fact.names[0]
            seen.add(name)
            fact = self.facts.get(name)
        return name

    def keep(self, names: frozenset[str]) -> None:
        """Drop all but these variables, and the constants that their facts refer to."""
        facts = {k: f for k, f in self.facts.items() if k in names}
        used = {name for f in facts.values() for name in f.names}
        constants = {k for k in used if (f := self.facts.get(k)) and f.function is CONSTANT}
        kept = names | constants
        self.values = {k: v for k, v in self.values.items() if k in kept}
        facts |= {k: self.facts[k] for k in constants}
        self.facts = {k: f for k, f in facts.items() if kept.issuperset(f.names)}


def joined(
    old: AbstractState, new: AbstractState, join: Callable[[Any, Any], Any]
) -> AbstractState:
    """The join of two states. A variable that only one of them has keeps its value: to read it
    after the other is an error of the program."""
    values = old.values.copy()
    for name, value in new.values.items():
        known = values.get(name, value)
        values[name] = value if known is value else join(known, value)
    return AbstractState(values, {k: f for k, f in old.facts.items() if f.same(new.facts.get(k))})


def is_below(domain: Domain, one: AbstractState, other: AbstractState) -> bool:
    """Whether ``one`` is at least as precise as ``other``: all that ``other`` states holds in
    it."""
    for name, value in one.values.items():
        if name not in other.values:
            return False
        held = other.values[name]
        if held is not value and not domain.is_below(value, held):
            return False
    return all(f.same(one.facts.get(k)) for k, f in other.facts.items())


# ---- conditions ---------------------------------------------------------------------------


def assume(domain: Domain, state: AbstractState, name: str, truth: bool) -> bool:
    """Refine a state by the truth of a variable; return whether that truth is possible."""
    value = state.values.get(name, domain.top)
    refined = domain.assume(bool, (value,), truth)
    if refined is None:
        return False
    _refine(domain, state, name, refined[0])
    fact = state.facts.get(name)
    if fact is None or fact.function is CONSTANT:
        return True
    if fact.function is COPY or fact.function is bool:
        return assume(domain, state, fact.names[0], truth)
    if fact.function is operator.not_:
        return assume(domain, state, fact.names[0], not truth)
    args = tuple(state.values.get(n, domain.top) for n in fact.names)
    found = domain.assume(fact.function, args, truth)
    if found is None:
        return False
    for each, better in zip(fact.names, found, strict=True):
        _refine(domain, state, each, better)
    return True


def _refine(domain: Domain, state: AbstractState, name: str, value: Any) -> None:
    """Refine a variable to a value; propagate that to its copies, to the variable that it is a
    copy of, and backwards to the arguments that it was computed from."""
    if state.values.get(name, domain.top) == value:
        return
    state.values[name] = value
    for copy in [k for k, f in state.facts.items() if f.function is COPY and f.names[0] == name]:
        _refine(domain, state, copy, value)
    fact = state.facts.get(name)
    if fact is None or fact.function is CONSTANT:
        return
    if fact.function is COPY:
        _refine(domain, state, fact.names[0], value)
        return
    args = tuple(state.values.get(n, domain.top) for n in fact.names)
    found = domain.backwards(fact.function, args, value)
    for each, better in zip(fact.names, found, strict=True):
        _refine(domain, state, each, better)
