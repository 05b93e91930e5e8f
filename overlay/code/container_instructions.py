"""Statements of the instructions for containers, iteration, unpacking, patterns and ``with``."""

from __future__ import annotations

from collections.abc import Callable

from overlay.code import marks
from overlay.code.body import WithBlock
from overlay.code.decoding import (
    MADE,
    Instruction,
    conversion_of,
    iterator_place,
    iterator_slots,
    made_by,
)
from overlay.code.marks import Pattern
from overlay.code.statements import NULL, Statements

__all__ = ["CONTAINER_INSTRUCTIONS", "next_item"]

# those that add to a container that is being built
_PUTS = (
    *("LIST_APPEND", "LIST_EXTEND", "SET_ADD", "SET_UPDATE", "MAP_ADD", "DICT_UPDATE"),
    "DICT_MERGE",
)


# ---- containers ----


def _make(to: Statements, ins: Instruction) -> None:
    items = to.taken(ins)
    cls = to.constant(MADE[ins.name])
    conversion = conversion_of(ins)
    if conversion is not None:
        both = (items[0], to.constant(conversion))
        converted = to.apply(marks.new, cls, native=both, instruction="CONVERT_VALUE")
        if made_by(ins) == "CONVERT_VALUE":
            to.stack[-1] = converted
            return
        items = (converted, *items[1:])
    to.stack[-1] = to.apply(marks.new, cls, native=items, instruction=made_by(ins))


def _build_named(to: Statements, ins: Instruction) -> None:
    """Build a dict whose keys are in a constant tuple."""
    keys = map(to.constant, to.constants[to.stack.pop()])
    items = tuple(each for item in zip(keys, to.take(ins.arg), strict=True) for each in item)
    made = to.apply(marks.new, to.constant(dict), native=items, instruction=ins.name)
    to.stack.append(made)


def _build_tuple(to: Statements, ins: Instruction) -> None:
    items = to.take(ins.arg)
    made = to.apply(marks.pack, *items)
    to.packs[made] = items
    to.stack.append(made)


def _build_slice(to: Statements, ins: Instruction) -> None:
    to.stack.append(to.apply(slice, *to.take(ins.arg)))


def _put(to: Statements, ins: Instruction) -> None:
    """Add the topmost items to the container ``ins.arg`` slots below them."""
    added = to.take(2 if ins.name == "MAP_ADD" else 1)
    to.apply(marks.put, to.stack[-ins.arg], *added, instruction=ins.name)


def _length(to: Statements, ins: Instruction) -> None:
    to.stack.append(to.apply(len, to.stack[-1]))


# ---- iteration and unpacking ----


def _get_iterator(to: Statements, ins: Instruction) -> None:
    to.stack += iterator_slots(to.apply(iter, to.stack.pop()), NULL)


def next_item(to: Statements) -> str:
    """Push the next item of the iterator on the stack; return the step that says whether there
    was one."""
    advanced = to.apply(marks.advance, to.stack[-1 - iterator_place()])
    to.stack.append(to.apply(marks.first, advanced))
    return to.apply(marks.succeeds, advanced)


def _yield(to: Statements, ins: Instruction) -> None:
    to.stack.append(to.apply(marks.give, to.stack.pop()))


def _unpack(to: Statements, ins: Instruction) -> None:
    items = to.apply(marks.unpack, to.stack.pop(), to.constant(ins.arg))
    for place in reversed(range(ins.arg)):
        to.stack.append(to.apply(marks.pick, items, to.constant(place)))


def _unpack_rest(to: Statements, ins: Instruction) -> None:
    """Unpack into targets of which one is starred."""
    value, before, after = to.stack.pop(), ins.arg & 0xFF, ins.arg >> 8
    parts = [to.apply(marks.part, value, native=-1 - i) for i in range(after)]
    parts.append(to.apply(marks.rest, value, native=slice(before, -after or None)))
    parts += [to.apply(marks.part, value, native=i) for i in reversed(range(before))]
    to.stack += parts


# ---- exceptions, patterns, and with statements ----


def _match_exception(to: Statements, ins: Instruction) -> None:
    value = to.stack.pop()
    to.stack.append(to.apply(marks.caught, value))
    names = to.packs.get(value, (value,))
    if all(name in to.constants for name in names):
        to.matches[to.stack[-1]] = tuple(to.constants[name] for name in names)


def _match_class(to: Statements, ins: Instruction) -> None:
    subject, cls, names = to.take(3)
    plain = ins.arg == 0 and to.constants.get(names) == ()
    pattern = to.constant(Pattern.PLAIN if plain else Pattern.WITH_PARTS)
    native = ins.arg, to.constants.get(names, ())
    to.stack.append(to.apply(marks.matched, subject, cls, pattern, native=native))


def _match_keys(to: Statements, ins: Instruction) -> None:
    to.stack.append(to.apply(marks.keyed, *to.stack[-2:]))


def _match_kind(to: Statements, ins: Instruction) -> None:
    found = to.apply(marks.holds_items, to.stack[-1], instruction=ins.name)
    to.stack.append(found)


def _enter_block(to: Statements, ins: Instruction) -> None:
    manager = to.stack.pop()
    leaves = to.fresh()
    to.stack += [leaves, to.apply(None, manager, native=WithBlock(ins.name, leaves))]


CONTAINER_INSTRUCTIONS: dict[str, Callable[[Statements, Instruction], None]] = {
    **dict.fromkeys(MADE, _make),
    "BUILD_CONST_KEY_MAP": _build_named,
    "BUILD_TUPLE": _build_tuple,
    "BUILD_SLICE": _build_slice,
    **dict.fromkeys(_PUTS, _put),
    "GET_LEN": _length,
    "GET_ITER": _get_iterator,
    "YIELD_VALUE": _yield,
    "UNPACK_SEQUENCE": _unpack,
    "UNPACK_EX": _unpack_rest,
    "CHECK_EXC_MATCH": _match_exception,
    "MATCH_CLASS": _match_class,
    "MATCH_KEYS": _match_keys,
    **dict.fromkeys(("MATCH_SEQUENCE", "MATCH_MAPPING"), _match_kind),
    **dict.fromkeys(("BEFORE_WITH", "BEFORE_ASYNC_WITH"), _enter_block),
}
