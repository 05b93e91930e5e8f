"""Stack depth before each instruction, which CPython 3.12 and 3.13 do not record.

A wrong depth is a crash, not an exception: code with inconsistent depths is refused.
"""

from __future__ import annotations

import itertools
from types import CodeType
from typing import Any

from overlay.code.versions import GENERATORS_START_EMPTY
from overlay.core.own_builtins import __builtins__, own_copy

__all__ = ["BadCode", "depths"]


_dis: Any = own_copy("dis")


class BadCode(ValueError):
    """The stack depths of a code object are inconsistent."""


def depths(code: CodeType) -> dict[int, int]:
    """The stack depth before each reachable instruction of ``code``, by offset.

    Raises BadCode if an empty stack is popped, if two paths reach an instruction with different
    depths, if the stack is deeper than ``co_stacksize``, or if an exception handler expects a
    deeper stack than there is.
    """
    instructions = {i.offset: i for i in _dis.get_instructions(code, show_caches=False)}
    order = sorted(instructions)
    following = dict(itertools.pairwise(order))
    listing: Any = _dis.Bytecode(code)
    entries: list[Any] = listing.exception_entries
    found: dict[int, int] = {}
    work = [(order[0], 0)]
    while work:
        offset, depth = work.pop()
        if offset in found:
            _expect(found[offset] == depth, code, offset, f"depth {depth}, was {found[offset]}")
            continue
        found[offset] = depth
        ins = instructions[offset]
        for entry in entries:
            if entry.start <= offset < entry.end:
                _expect(
                    entry.depth <= depth, code, offset, f"handler depth {entry.depth} > {depth}"
                )
                work.append((entry.target, entry.depth + 1 + bool(entry.lasti)))
        for target, effect in _ways(ins, following.get(offset)):
            _expect(depth + effect >= 0, code, offset, f"{ins.opname} pops an empty stack")
            work.append((target, depth + effect))
        _expect(depth <= code.co_stacksize, code, offset, f"deeper than {code.co_stacksize}")
    return found


_FINAL = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"}


def _ways(ins: Any, after: int | None) -> list[tuple[int, int]]:
    """The successors of an instruction, each with the change of depth."""
    jumps = ins.opcode in _dis.hasjrel or ins.opcode in _dis.hasjabs
    arg = ins.arg if ins.opcode >= _dis.HAVE_ARGUMENT else None
    ways: list[tuple[int, int]] = []
    if jumps:
        ways.append((int(ins.argval), _dis.stack_effect(ins.opcode, arg, jump=True)))
    unconditional = jumps and ins.opname.startswith("JUMP_") and "IF" not in ins.opname
    if ins.opname not in _FINAL and not unconditional and after is not None:
        # dis does not count the value that is sent to a generator when it starts
        started = ins.opname == "RETURN_GENERATOR" and not GENERATORS_START_EMPTY
        ways.append((after, _dis.stack_effect(ins.opcode, arg, jump=False) + started))
    return ways


def _expect(holds: bool, code: CodeType, offset: int, what: str) -> None:
    if not holds:
        raise BadCode(f"{code.co_qualname} at {offset}: {what}")
