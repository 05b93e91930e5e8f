"""Concatenation of strings and lists: solved for any parts, from the whole and the others."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from primitives.domains import Domain, Strings, domain_of
from primitives.errors import NoSolution
from primitives.integers.integer_kinds import Natural
from primitives.relation import RETURN, Mode, Relation
from primitives.sequences.lists import element_of_sequence

__all__ = ["ConcatenationRelation", "chain", "concatenation", "domain_for"]

INDEX = "index"
Counts = list[list[int]]


def domain_for(kind: type) -> Domain:
    """The domain of all values of a type."""
    found = domain_of(kind)
    assert found is not None
    return found


class ConcatenationRelation(Relation):
    """The relation of a concatenation of parts, in order: sequences, and single items of a list.

    Each set of parts has a mode, created on first use. If several sequences are unknown, ``index``
    numbers the possible splits of the whole, the shortest first part first, modulo their number, so
    that each index has an answer if there is one.

    singles: for each part, whether it is an item and not a sequence. domains: the domains of the
    parts; the whole is split only into members of these.
    """

    def __init__(
        self, kind: type, singles: tuple[bool, ...], domains: tuple[Domain, ...] | None = None
    ) -> None:
        names = ("a", "b") if singles == (False, False) else _names(singles)
        item = element_of_sequence(kind)
        types = tuple(item if single else kind for single in singles)
        whole = text_of if kind is str else list_with(singles)
        super().__init__(
            operator.add if names == ("a", "b") else whole,
            types,
            f"return = {_written(names, singles)}",
            domain=dict(zip(names, domains or map(domain_for, types), strict=True)),
            codomain=domain_for(kind),
            returns=kind,
            where=None,
            joint=True,
        )
        self.singles = singles
        self.domains = None if domains is None else tuple(map(_bounds, domains))
        self.modes[frozenset([RETURN])] = Mode((RETURN,), whole, self.axes, {})
        for unknown in (*((name,) for name in names), names):
            self.mode(unknown)

    def mode(self, unknown: Iterable[str]) -> Mode | None:
        wanted = frozenset(unknown)
        if wanted not in self.modes and wanted and wanted <= set(self.axes):
            self.modes[wanted] = self._made(wanted)
        return self.modes.get(wanted)

    def _made(self, wanted: frozenset[str]) -> Mode:
        names = tuple(name for name in self.axes if name in wanted)
        others = tuple(name for name in self.axes if name not in wanted)
        places = tuple(map(self.axes.index, names))
        is_open = sum(not self.singles[place] for place in places) > 1
        if self.domains is not None and is_open:
            ends = [
                domain if i in places else _once_known(domain)
                for i, domain in enumerate(self.domains)
            ]
            is_open = not is_clear(ends)
        coordinates = {INDEX: Natural} if is_open else {}
        solve, recover = solving(self.singles, places, self.domains, is_open=is_open)
        takes = (RETURN, *others, *coordinates)
        recovers = (RETURN, *self.axes) if is_open else ()
        overdetermined = not any(not self.singles[place] for place in places) and bool(others)
        return Mode(
            names, solve, takes, coordinates,
            recover if is_open else None, recovers, overdetermined=overdetermined,
        )  # fmt: skip

    def count(self, known: Mapping[str, Any]) -> int:
        """The number of splits, if these parts and the whole are known."""
        pieces = [known.get(name) for name in self.axes]
        is_open = [name not in known for name in self.axes]
        return ways(known[RETURN], pieces, is_open, self.singles, self.domains)[0][0]


def _once_known(domain: Strings | None) -> Strings:
    """A domain like that of a part with a known length."""
    return Strings(domain.alphabet if domain is not None and domain.low else "", 1, 1)


def is_clear(domains: Sequence[Strings | None]) -> bool:
    """Return whether a string can be split into parts in only one way: each part, except for one,
    has a fixed length, or ends where none of its characters can follow; counted from the left
    before that part, and from the right after it.
    """
    left = _clear_before(domains)
    return left >= len(domains) - 1 - _clear_before(domains[::-1])


def _clear_before(domains: Sequence[Strings | None]) -> int:
    """The number of leading parts that can be split in only one way."""
    for i, domain in enumerate(domains):
        if domain is not None and domain.is_fixed:
            continue
        after = domains[i + 1] if i + 1 < len(domains) else None
        apart = domain is not None and after is not None and domain.alphabet and after.alphabet
        if not apart or not after or not domain or not after.low:
            return i
        if not set(domain.alphabet).isdisjoint(after.alphabet):
            return i
    return len(domains)


def _bounds(domain: Domain) -> Strings | None:
    """The domain of a string that determines where it may end, or None."""
    return domain if isinstance(domain, Strings) and not domain.total else None


def _names(singles: Sequence[bool]) -> tuple[str, ...]:
    return tuple(f"{'x' if single else 'p'}{i}" for i, single in enumerate(singles))


def _written(names: Sequence[str], singles: Sequence[bool]) -> str:
    """The concatenation of the parts as an expression."""
    shown: list[str] = []
    pairs = zip(names, singles, strict=True)
    for single, group in itertools.groupby(pairs, key=lambda pair: pair[1]):
        part = [name for name, _ in group]
        shown += [f"[{', '.join(part)}]"] if single else part
    return " + ".join(shown)


@functools.lru_cache(maxsize=4096)
def chain(
    kind: type, singles: tuple[bool, ...], domains: tuple[Domain, ...] | None = None
) -> ConcatenationRelation:
    """The relation of a string or list concatenated from these parts; cached."""
    return ConcatenationRelation(kind, singles, domains)


def concatenation(kind: type) -> Relation:
    """The relation of ``a + b``."""
    return chain(kind, (False, False))


# ---- forward ------------------------------------------------------------------------------


def text_of(*parts: str) -> str:
    """The concatenation of strings."""
    return "".join(parts)


def list_with(singles: tuple[bool, ...]) -> Callable[..., Any]:
    """The function that concatenates lists and single items."""

    def whole(*parts: Any) -> Any:
        found: list[Any] = []
        for part, single in zip(parts, singles, strict=True):
            found += [part] if single else part
        return found

    return whole


# ---- backwards ----------------------------------------------------------------------------


def is_same(one: Any, other: Any) -> bool:
    """Return whether items are equal; floats up to rounding."""
    if isinstance(one, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return one == other


def stands_at(ret: Any, at: int, part: Any) -> bool:
    """Return whether a sequence contains another one at a position."""
    found = ret[at : at + len(part)]
    if isinstance(part, str):
        return found == part
    pairs = zip(found, part, strict=False)
    return len(found) == len(part) and all(is_same(one, other) for one, other in pairs)


def ends_of(ret: Any, at: int, within: Strings | None) -> range:
    """The positions at which a part that begins at a position may end."""
    if within is None:
        return range(at, len(ret) + 1)
    last = len(ret) if within.high is None else min(len(ret), at + within.high)
    if within.alphabet:
        letters = within.alphabet
        last = next((i for i in range(at, last) if ret[i] not in letters), last)
    return range(at + within.low, last + 1)


def ways(ret: Any, parts: Any, is_open: Any, singles: Any, domains: Any = None) -> Counts:
    """For each part, and each position in ``ret``, the number of splits of the rest into this part
    and those after it.
    """
    size = len(ret)
    counts: Counts = [[0] * size + [1]]
    domains = domains or (None,) * len(singles)
    every = list(zip(parts, is_open, singles, domains, strict=True))
    for part, unknown, single, within in reversed(every):
        after = counts[0]
        if single:
            here = [
                after[at + 1] if is_item(ret[at], part, within, unknown=unknown) else 0
                for at in range(size)
            ] + [0]
        elif unknown and within is not None:
            here = [sum(after[end] for end in ends_of(ret, at, within)) for at in range(size + 1)]
        elif unknown:
            here = list(itertools.accumulate(reversed(after)))[::-1]
        else:
            here = [
                after[at + len(part)] if stands_at(ret, at, part) else 0
                for at in range(size + 1 - len(part))
            ] + [0] * min(len(part), size + 1)
        counts = [here, *counts]
    return counts


def is_item(found: Any, part: Any, within: Strings | None, *, unknown: bool) -> bool:
    """Return whether an item of the whole is a part, or may be one that is not known."""
    if unknown:
        return within is None or within.contains(found)
    return is_same(found, part)


def solving(
    singles: tuple[bool, ...],
    places: tuple[int, ...],
    domains: tuple[Strings | None, ...] | None = None,
    *,
    is_open: bool,
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The solver that maps a whole, the parts at other positions, and the index if there is a
    choice, to the parts at these positions; and the function from the whole and all parts to the
    index.
    """
    unknown = [i in places for i in range(len(singles))]
    within = domains or (None,) * len(singles)

    def solve(ret: Any, *known: Any) -> Any:
        given = iter(known)
        parts: list[Any] = [None if lacks else next(given) for lacks in unknown]
        counts = ways(ret, parts, unknown, singles, domains)
        if counts[0][0] == 0:
            raise NoSolution("the known parts are not at the required positions")
        index = known[-1] % counts[0][0] if is_open else 0
        at, found = 0, list[Any]()
        for after, part, lacks, single, inside in zip(
            counts[1:], parts, unknown, singles, within, strict=True
        ):
            if single:
                found += [ret[at]] if lacks else []
                at += 1
                continue
            if not lacks:
                at += len(part)
                continue
            ends = iter(ends_of(ret, at, inside))
            end = next(ends)
            while index >= after[end]:
                index, end = index - after[end], next(ends)
            found.append(ret[at:end])
            at = end
        return tuple(found) if len(found) > 1 else found[0]

    def recover(ret: Any, *parts: Any) -> tuple[int]:
        counts = ways(ret, parts, unknown, singles, domains)
        at = index = 0
        for after, part, lacks, single, inside in zip(
            counts[1:], parts, unknown, singles, within, strict=True
        ):
            end = at + (1 if single else len(part))
            if lacks and not single:
                index += sum(after[each] for each in ends_of(ret, at, inside) if each < end)
            at = end
        return (index,)

    return solve, recover
