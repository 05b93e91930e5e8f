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

from overlay.python.emit.writer import COMPREHENSIONS, OP, Writer
from overlay.python.own_builtins import __builtins__  # noqa: F401

__all__ = ["LocalFunction", "local_functions"]

# Names of functions that see local variables.
_LOOKERS = frozenset({"locals", "vars", "dir", "eval", "exec", "_getframe", "currentframe"})
_MAKERS = frozenset(OP[n] for n in ("MAKE_FUNCTION", "SET_FUNCTION_ATTRIBUTE") if n in OP)
_LOADS = frozenset(OP[n] for n in ("LOAD_FAST", "LOAD_FAST_CHECK") if n in OP)
_SLOTS = frozenset(op for op in dis.haslocal if op < 256)
_PAIRS = frozenset(
    OP[n]
    for n in ("LOAD_FAST_LOAD_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_STORE_FAST")
    if n in OP
)


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
            del w.edits.replaced[k]
        w.edits.replaced[self.made_at] = [w.const(new)]


def local_functions(w: Writer) -> Iterator[LocalFunction]:
    """Those of a code object whose calls were edited."""
    code, listing = w.listing.code, w.listing
    if not w.optimized or not any(type(c) is CodeType for c in code.co_consts):
        return
    if not _LOOKERS.isdisjoint(code.co_names):
        return
    uses: dict[int, list[int]] = {}
    for k, op in enumerate(listing.ops):
        if op in _SLOTS:
            arg = listing.args[k]
            for slot in (arg >> 4, arg & 15) if op in _PAIRS else (arg,):
                uses.setdefault(slot, []).append(k)
    arguments = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4)
    arguments += bool(code.co_flags & 8)
    for slot, places in uses.items():
        if not arguments <= slot < code.co_nlocals:
            continue
        stores = [k for k in places if listing.ops[k] not in _LOADS]
        loads = tuple(k for k in places if listing.ops[k] in _LOADS)
        if len(stores) == 1 and loads and w.mapped.issuperset(loads):
            made_at = _made_at(w, stores[0], slot)
            if made_at is not None:
                yield LocalFunction(code.co_consts[listing.args[made_at]], made_at, loads)


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
