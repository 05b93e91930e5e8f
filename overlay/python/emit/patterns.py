"""Sequences of instructions that are written once for each shape of a call, and filled in for
each call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Protocol

from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.python.assembly import Filled, Hole, Item, Pattern
from overlay.python.emit.writer import OP, Writer

__all__ = ["SLOTS", "Arguments", "Patterns"]

# Slots of the stack that are needed to map a callee, from its own on.
SLOTS = 4


class Arguments(Protocol):
    """What sequences ask for the arguments of their instructions."""

    optimized: bool
    slots: int

    def const(self, value: Any) -> Item:
        """The instruction that loads ``value``."""
        ...

    def name(self, text: str, flags: int = 0) -> Any:
        """Index of a name, above so many bits for flags."""
        ...

    def temporary(self) -> Any:
        """The local variable that holds a method for a few instructions."""
        ...


class _Part:
    """Stands for a site, or for an attribute of it."""

    def __init__(self, of: Callable[[Any], Any]) -> None:
        self.of = of


class _AnySite(_Part):
    other = _Part(attrgetter("other"))
    as_value = _Part(attrgetter("as_value"))
    pick = _Part(attrgetter("pick"))


_ANY_SITE = _AnySite(lambda site: site)
_Source = Callable[[Writer, Any, Sequence[int]], int]


class _Draft:
    """Notes what the arguments of a sequence stand for."""

    def __init__(self, optimized: bool) -> None:
        self.optimized = optimized
        self.slots = SLOTS
        self.sources: list[_Source] = []
        self._holes: dict[Any, Hole] = {}

    def const(self, value: Any) -> Item:
        if isinstance(value, _Part):
            source = lambda w, site, given: w.const_at(value.of(site))  # noqa: E731
        else:
            source = lambda w, site, given: w.const_at(value)  # noqa: E731
        return OP["LOAD_CONST"], self._hole(id(value), source)

    def name(self, text: str, flags: int = 0) -> Hole:
        return self._hole((text, flags), lambda w, site, given: w.name(text, flags))

    def temporary(self) -> Hole:
        return self._hole(None, lambda w, site, given: w.temporary())

    def given(self, index: int) -> Hole:
        """What is given with the shape."""
        return self._hole((index,), lambda w, site, given: given[index])

    def _hole(self, key: Any, source: _Source) -> Hole:
        if key not in self._holes:
            self._holes[key] = Hole(len(self.sources))
            self.sources.append(source)
        return self._holes[key]


class Patterns:
    """Fills in what it has written before."""

    def __init__(self) -> None:
        self._written: dict[Any, tuple[Pattern, list[_Source], int]] = {}

    def filled(
        self,
        w: Writer,
        site: Any,
        write: Callable[..., Sequence[Item]],
        loads: Sequence[tuple[int, int]] = (),
        *shape: Any,
    ) -> Filled:
        """What ``write(w, site, loads, *shape)`` gives.

        loads: instructions whose arguments the sequence only hands on.
        """
        key = write, w.optimized, tuple(op for op, _ in loads), *shape
        known = self._written.get(key)
        if known is None:
            draft = _Draft(w.optimized)
            holes = [(op, draft.given(i)) for i, (op, _) in enumerate(loads)]
            items = write(draft, _ANY_SITE, holes, *shape)
            known = self._written[key] = Pattern(items), draft.sources, draft.slots
        pattern, sources, w.slots = known
        given = [arg for _, arg in loads]
        return Filled(pattern, [source(w, site, given) for source in sources])
