"""Code objects taken apart into instructions, and put together with others put in.

Only what changes is touched: stretches between changes are copied byte for byte, jumps are
measured anew, and the tables of exception regions and source positions are moved along. The
formats are those of CPython 3.12 and 3.13; which instructions there are is the emitters' matter.
"""

from __future__ import annotations

import dis
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CodeType
from typing import Any, NamedTuple

from overlay.code.listing import CACHES, EXTENDED_ARG, Listing
from overlay.code.own_builtins import __builtins__  # noqa: F401

__all__ = [
    "Edits",
    "Filled",
    "Hole",
    "Item",
    "Label",
    "Pattern",
    "Protected",
    "assemble",
    "narrowed",
]

# instructions that name a slot among locals, cells and free variables
SLOTS = frozenset(op for op in (*dis.haslocal, *dis.hasfree) if op < 256)
FREE = frozenset(op for op in dis.hasfree if op < 256)
_PADDING = [b"\0\0" * count for count in CACHES]


class Label:
    """A place in the new code that a jump or an exception region refers to, so many units of
    two bytes ahead of where the label stands."""

    __slots__ = ("ahead", "at")

    def __init__(self, ahead: int = 0) -> None:
        self.ahead = ahead
        self.at = 0


class Protected(NamedTuple):
    """One instruction with an exception handler of its own, which runs with one more slot on
    a stack that is ``depth`` deep."""

    op: int
    arg: int
    handler: Label
    depth: int


class Hole(int):
    """An argument in a pattern: which of the values it is."""

    __slots__ = ()


class Filled(NamedTuple):
    """A pattern, and the values of its holes."""

    pattern: Pattern
    values: Sequence[int]

    def encoded(self) -> bytearray:
        """Its instructions, where all values are less than 256."""
        out, values = bytearray(self.pattern.code), self.values
        for at, which in self.pattern.holes:
            out[at] = values[which]
        return out

    def items(self) -> Iterator[Item]:
        """Its instructions, with labels of their own."""
        labels = {i: Label(i.ahead) for i in self.pattern.items if type(i) is Label}

        def own(arg: Any) -> Any:
            if type(arg) is Hole:
                return self.values[arg]
            return labels[arg] if type(arg) is Label else arg

        for item in self.pattern.items:
            if type(item) is Protected:
                yield item._replace(arg=own(item.arg), handler=own(item.handler))
            else:
                yield (item[0], own(item[1])) if type(item) is tuple else own(item)


Item = tuple[int, Any] | Label | Protected | Filled


class Pattern:
    """Instructions that stand in many places with other arguments, and are encoded once.

    items: the instructions; some arguments are holes, and jumps stay among them. holes: at
    which bytes of the code the values go, and which, where each value is less than 256.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        layout = _Layout(items, b"")
        self.items = items
        self.code = layout.encoded()
        self.size = layout.size
        self.protected = layout.protected
        self.holes = layout.holes
        # those that number cells and free variables
        self.free = {which for at, which in self.holes if self.code[at - 1] in FREE}


class Edits:
    """What is put before, after and in place of instructions, by index."""

    def __init__(self) -> None:
        self.before: dict[int, list[Item]] = {}
        self.after: dict[int, list[Item]] = {}
        self.replaced: dict[int, list[Item]] = {}
        self.labels: dict[int, Label] = {}

    def label(self, index: int) -> Label:
        """For a jump of an edit to an instruction that jumps go to already."""
        return self.labels.setdefault(index, Label())

    def __len__(self) -> int:
        return len(self.before) + len(self.after) + len(self.replaced)

    def once(self, index: int) -> bool:
        """Whether nothing was done yet where a callee is pushed: the compiler may have copied
        a call to the end of several branches."""
        return index not in self.replaced and index not in self.after

    def indexes(self) -> set[int]:
        """Of all instructions that are edited."""
        return {*self.before, *self.after, *self.replaced}


def assemble(
    listing: Listing,
    edits: Edits,
    *,
    consts: Sequence[Any],
    names: Sequence[str],
    local: str | None,
    depth: int,
) -> CodeType:
    """The code with its edits.

    consts, names: to go after those that are there. local: one more local variable, or None.
    depth: of the stack.
    """
    code = listing.code
    if local is not None:
        _shift_slots(listing, edits)
    layout = _Layout(_items(listing, edits), code.co_code)
    # Locals of comprehensions that were inlined into a module or class body are hidden from
    # its namespace, but not in a copy: there they need names that no program has.
    hidden = () if code.co_flags & 1 else code.co_varnames
    varnames = tuple(f".{name}" for name in hidden) or code.co_varnames
    # one that a function in there refers to is a local and a cell of one name
    cellvars = tuple(f".{name}" if name in hidden else name for name in code.co_cellvars)
    return code.replace(
        co_code=layout.encoded(),
        co_exceptiontable=layout.regions(listing),
        co_linetable=layout.lines(code.co_linetable),
        co_consts=(*code.co_consts, *consts),
        co_names=(*code.co_names, *names),
        co_varnames=varnames if local is None else (*varnames, local),
        co_cellvars=cellvars,
        co_nlocals=code.co_nlocals + (local is not None),
        co_stacksize=depth,
    )


def _shift_slots(listing: Listing, edits: Edits) -> None:
    """Make room for one more local: cells and free variables are numbered after the locals."""
    first = listing.code.co_nlocals

    def shifted(item: Item) -> Item:
        if type(item) is Filled and item.pattern.free:
            moved = {i for i in item.pattern.free if item.values[i] >= first}
            return item._replace(values=[v + (i in moved) for i, v in enumerate(item.values)])
        if type(item) is tuple and item[0] in FREE and type(item[1]) is int and item[1] >= first:
            return item[0], item[1] + 1
        return item

    for put_in in (edits.before, edits.after, edits.replaced):
        for k, items in put_in.items():
            put_in[k] = list(map(shifted, items))
    for k, op in enumerate(listing.ops):
        if op in SLOTS and listing.args[k] >= first:
            edits.replaced.setdefault(k, [(op, listing.args[k] + 1)])


class _Raw(NamedTuple):
    start: int
    end: int


class _Mark(NamedTuple):
    unit: int


class _Layout:
    """Where everything comes to lie, found by growing jumps until they reach."""

    def __init__(self, items: Sequence[Any], raw: bytes) -> None:
        self.items = items
        self.raw = raw
        self.wide: dict[int, int] = {}  # item -> EXTENDED_ARGs of a jump
        while self._place():
            pass

    def _place(self) -> bool:
        """Place the items; whether a jump had to grow, so that all must be placed again."""
        moved, jumps, at = list[tuple[int, int, bool]](), list[tuple[int, int]](), 0
        # where each begins, and what the places of its labels count from
        self.protected: list[tuple[int, int, Protected]] = []
        for i, item in enumerate(self.items):
            kind = type(item)
            if kind is _Raw:
                moved.append((item.start, at, True))
                at += item.end - item.start
            elif kind is _Mark:
                moved.append((item.unit, at, False))
            elif kind is Filled:
                inner = item.pattern.protected
                self.protected += [(at + start, at, protected) for start, _, protected in inner]
                at += item.pattern.size
            elif kind is Label:
                item.at = at + item.ahead
            elif kind is Protected:
                self.protected.append((at, 0, item))
                at += 1 + _extra(item.arg)
            elif type(item[1]) is Label:
                at += 1 + self.wide.get(i, 0) + CACHES[item[0]]
                jumps.append((i, at))
            else:
                at += 1 + _extra(item[1]) + CACHES[item[0]]
        self.moved, self.size = moved, at
        self.distances = {i: abs(self.items[i][1].at - end) for i, end in jumps}
        grown = {i: _extra(d) for i, d in self.distances.items() if _extra(d) > self.wide.get(i, 0)}
        self.wide.update(grown)
        return bool(grown)

    def encoded(self) -> bytes:
        out = bytearray()
        self.holes: list[tuple[int, int]] = []
        for i, item in enumerate(self.items):
            kind = type(item)
            if kind is _Raw:
                out += self.raw[2 * item.start : 2 * item.end]
            elif kind is Filled:
                out += item.encoded()
            elif kind is Protected or kind is tuple:
                op, arg, *_ = item
                if type(arg) is Hole:
                    self.holes.append((len(out) + 1, arg))
                wide = self.wide.get(i, 0)
                _encode(out, op, self.distances[i] if type(arg) is Label else arg, wide)
        return bytes(out)

    def _mover(self) -> Callable[[int], int]:
        """From places in the old code to places in the new, asked for in rising order."""
        moved = [*self.moved, (len(self.raw) // 2, self.size, False)]
        after = 0  # the first that lies at or behind the place asked for

        def move(unit: int) -> int:
            nonlocal after
            while moved[after][0] < unit:
                after += 1
            if moved[after][0] > unit:
                old, new, raw = moved[after - 1]
                if raw:
                    return new + unit - old
            return moved[after][1]  # also from within an instruction that was replaced

        return move

    def _edited(self) -> Iterator[tuple[int, int]]:
        """Stretches of the old code that are not in the new one as they were, and its end."""
        last = len(self.raw) // 2
        places = [*self.moved, (last, self.size, False)]
        for (old, new, raw), (old_end, new_end, _) in itertools.pairwise(places):
            if new_end - new != old_end - old or not (raw or old == old_end):
                yield old, old_end
        yield last, last

    def lines(self, table: bytes) -> bytes:
        """The positions, those of put-in instructions being those of the edited one. A table of
        the program's own making may say more than there are instructions."""
        move, out, last = self._mover(), bytearray(), len(self.raw) // 2
        edited = self._edited()
        at = unit = new = kept = 0
        first, behind = next(edited)
        while at < len(table):
            after = at + 1 + _payload(table, at)
            length = (table[at] & 7) + 1
            end = unit + length
            if end <= first:
                new += length
            else:
                end = min(end, last)
                new, old = move(end), new
                if new - old != length:
                    out += table[kept:at]
                    _stretch(out, table[at:after], new - old)
                    kept = after
                while first < end and behind <= end:
                    first, behind = next(edited)
            unit, at = end, after
        out += table[kept:]
        return bytes(out)

    def regions(self, listing: Listing) -> bytes:
        """The exception regions, each with gaps where an instruction has a handler of its own."""
        move, out = self._mover(), bytearray()
        edges = sorted({e for r in listing.regions for e in (r.start, r.end, r.target)})
        new = {edge: move(listing.starts[edge]) for edge in edges}
        inner = [
            (at, at + 1 + _extra(p.arg), base + p.handler.at, p.depth, False)
            for at, base, p in self.protected
        ]
        entries = list(inner)
        for region in listing.regions:
            start, end = new[region.start], new[region.end]
            rest = new[region.target], region.depth, region.lasti
            for a, b, *_ in inner:
                if start <= a < end:
                    entries.append((start, a, *rest))
                    start = b
            entries.append((start, end, *rest))
        for entry in sorted(e for e in entries if e[0] < e[1]):
            _write_region(out, *entry)
        return bytes(out)


def narrowed(code: CodeType, op: int) -> CodeType:
    """The code with each exception region ending behind its last instruction ``op``, if it has
    one."""
    listing, out = Listing(code), bytearray()
    for region in listing.regions:
        places = range(region.start, region.end)
        last = max((k for k in places if listing.ops[k] == op), default=region.end - 1)
        start, end = listing.starts[region.start], listing.starts[last + 1]
        _write_region(out, start, end, listing.starts[region.target], region.depth, region.lasti)
    return code.replace(co_exceptiontable=bytes(out))


def _items(listing: Listing, edits: Edits) -> list[Any]:
    starts, targets = listing.starts, listing.targets
    labels = {k: edits.labels.get(k) or Label() for k in targets.values()}
    items: list[Any] = []
    at = 0
    for k in sorted({*targets, *labels, *edits.indexes()}):
        if at < starts[k]:
            items.append(_Raw(at, starts[k]))
        items.append(_Mark(starts[k]))
        if k in labels:
            items.append(labels[k])
        items += _fitting(edits.before.get(k, ()))
        if k in edits.replaced:
            items += _fitting(edits.replaced[k])
        elif k in targets:
            items.append((listing.ops[k], labels[targets[k]]))
        else:
            items.append(_Raw(starts[k], starts[k + 1]))
        items += _fitting(edits.after.get(k, ()))
        at = starts[k + 1]
    if at < starts[-1]:
        items.append(_Raw(at, starts[-1]))
    return items


def _fitting(items: Iterable[Item]) -> Iterator[Item]:
    """The items, patterns as their instructions where a value needs more than a byte."""
    for item in items:
        if type(item) is Filled and max(item.values, default=0) >= 0x100:
            yield from item.items()
        else:
            yield item


def _extra(arg: int) -> int:
    """How many EXTENDED_ARGs an argument needs."""
    return 0 if arg < 0x100 else 1 if arg < 0x10000 else 2 if arg < 0x1000000 else 3


def _encode(out: bytearray, op: int, arg: int, wide: int) -> None:
    for shift in range(8 * max(wide, _extra(arg)), 0, -8):
        out += bytes((EXTENDED_ARG, arg >> shift & 255))
    out += bytes((op, arg & 255))
    out += _PADDING[op]


# ---- exception regions --------------------------------------------------------------------


def _write_region(
    out: bytearray, start: int, end: int, target: int, depth: int, lasti: bool
) -> None:
    first = len(out)
    for value in (start, end - start, target, depth << 1 | lasti):
        shift = 0
        while value >> shift + 6:
            shift += 6
        while shift:
            out.append(64 | value >> shift & 63)
            shift -= 6
        out.append(value & 63)
    out[first] |= 128


# ---- source positions ---------------------------------------------------------------------

_SHORT, _ONE_LINE, _NO_COLUMNS, _LONG, _NONE = 9, 12, 13, 14, 15


def _payload(table: bytes, at: int) -> int:
    """How many bytes follow the head of the entry at ``at``."""
    form = table[at] >> 3 & 15
    if form <= _SHORT:
        return 1
    if form <= _ONE_LINE:
        return 2
    if form == _NONE:
        return 0
    end = at + 1
    for _ in range(1 if form == _NO_COLUMNS else 4):
        while table[end] & 64:
            end += 1
        end += 1
    return end - at - 1


def _stretch(out: bytearray, entry: bytes, units: int) -> None:
    """Write an entry for so many units; only its first part moves on to another line."""
    form, payload = entry[0] >> 3 & 15, entry[1:]
    again, rest = form, payload
    if _SHORT < form <= _ONE_LINE:
        again = 10
    elif form in (_NO_COLUMNS, _LONG):
        step = 0
        while payload[step] & 64:
            step += 1
        rest = b"\0" + payload[step + 1 :]
    while units > 0:
        size = min(units, 8)
        out.append(128 | form << 3 | size - 1)
        out += payload
        form, payload = again, rest
        units -= size
