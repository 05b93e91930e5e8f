"""Functions that are made, called and dropped inside one function.

A function object that is made in a context belongs to the program, and so do its code and its
behaviour outside. One that is bound to a local variable once, and only ever called through it,
never gets outside: it is made from rewritten code in the first place.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

from overlay.code.listing import COMPREHENSIONS
from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.python.emit.writer import OP, Writer

__all__ = ["LocalFunction", "local_functions"]

# Names of functions that see local variables.
_LOOKERS = frozenset({"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe"})
_MAKERS = frozenset(OP[n] for n in ("MAKE_FUNCTION", "SET_FUNCTION_ATTRIBUTE") if n in OP)
_LOADS = frozenset(OP[n] for n in ("LOAD_FAST", "LOAD_FAST_CHECK") if n in OP)
_SLOTS = frozenset(op for op in dis.haslocal if op < 256)
_PAIRS = {  # whether each of the two loads its slot
    OP[name]: loads
    for name, loads in {
        "LOAD_FAST_LOAD_FAST": (True, True),
        "STORE_FAST_LOAD_FAST": (False, True),
        "STORE_FAST_STORE_FAST": (False, False),
    }.items()
    if name in OP
}


_LOAD_TWO = OP.get("LOAD_FAST_LOAD_FAST")
_LOADED_BELOW = -1  # the first of two that are loaded at once is not what is called


@dataclass(frozen=True)
class LocalFunction:
    """One such function: its code, the instruction that loads that, and those that load the
    function."""

    code: CodeType
    made_at: int
    loads: tuple[int, ...]

    def write(self, w: Writer, new: CodeType) -> None:
        """Make it from ``new``, and call it as it is."""
        for k in self.loads:
            del (w.edits.after if w.listing.ops[k] in _PAIRS else w.edits.replaced)[k]
        w.edits.replaced[self.made_at] = [w.const(new)]


def local_functions(w: Writer) -> Iterator[LocalFunction]:
    """Those of a code object whose calls were edited."""
    code, listing = w.listing.code, w.listing
    if not w.optimized or not any(type(c) is CodeType for c in code.co_consts):
        return
    if not _LOOKERS.isdisjoint(code.co_names):
        return
    stores, loads = _uses(w)
    arguments = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4)
    arguments += bool(code.co_flags & 8)
    for slot, places in stores.items():
        if not arguments <= slot < code.co_nlocals or len(places) > 1:
            continue
        if slot in loads and w.mapped.issuperset(loads[slot]):
            made_at = _made_at(w, places[0], slot)
            if made_at is not None:
                made = code.co_consts[listing.args[made_at]]
                yield LocalFunction(made, made_at, tuple(loads[slot]))


def _uses(w: Writer) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    """Instructions that store or delete each local variable, and those that load it; among
    these, for one that also loads another variable on top, ``_LOADED_BELOW``."""
    stores, loads = dict[int, list[int]](), dict[int, list[int]]()
    for k, op in enumerate(w.listing.ops):
        if op in _SLOTS:
            arg = w.listing.args[k]
            slots = (arg >> 4, arg & 15) if op in _PAIRS else (arg,)
            for slot, loaded in zip(slots, _PAIRS.get(op, (op in _LOADS,)), strict=True):
                (loads if loaded else stores).setdefault(slot, []).append(k)
            if op == _LOAD_TWO:
                loads[slots[0]].append(_LOADED_BELOW)
    return stores, loads


def _made_at(w: Writer, store: int, slot: int) -> int | None:
    """Where the code of the function that is stored is loaded, or None if it is not one."""
    listing = w.listing
    arg = listing.args[store]
    stored = arg >> 4 if listing.ops[store] in _PAIRS else arg
    joined = store in listing.targets.values()
    if stored != slot or listing.ops[store] == OP["DELETE_FAST"] or joined:
        return None
    k = store - 1
    while k > 0 and listing.ops[k] in _MAKERS:
        k -= 1
    if k == store - 1 or listing.ops[k] != OP["LOAD_CONST"]:
        return None
    code = listing.code.co_consts[listing.args[k]]
    function = type(code) is CodeType and code.co_name not in COMPREHENSIONS
    return k if function else None
