"""The call that raised an error, read from the error's traceback."""

from __future__ import annotations

import builtins
from types import TracebackType
from typing import Any, NamedTuple

from overlay.core.own_builtins import __builtins__, own_copy

__all__ = ["RaisingCall", "raising_call"]

_dis: Any = own_copy("dis")


class RaisingCall(NamedTuple):
    """A call of a function in C that raised an error.

    traceback: of the frame that made it. name: of the callee, as the program spells it. callee:
    None if it is unknown. values: those of the variables in its arguments, without those in the
    arguments of further calls.
    """

    traceback: TracebackType
    name: str
    callee: Any
    values: tuple[Any, ...]


def raising_call(error: BaseException) -> RaisingCall | None:
    """The call of a function in C that raised an error; None if a statement raised it."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return None
    rows = [*_dis.get_instructions(trace.tb_frame.f_code)]
    call = next((row for row in rows if row.offset == trace.tb_lasti), None)
    if call is None or not call.opname.startswith("CALL") or call.positions.lineno is None:
        return None
    inside = [row for row in rows if _is_within(row, call)]
    calls = [row for row in inside if row.opname.startswith("CALL") and not _is_within(call, row)]
    loads = [row for row in inside if not any(_is_within(row, each) for each in calls)]
    names = [(row, name) for row in loads for name in _names(row)]
    if not names:
        return None
    found = _variables(trace)
    path = [names[0][1]]
    for row in loads[loads.index(names[0][0]) + 1 :]:
        if row.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
            break
        path.append(row.argval)
    callee = found.get(path[0])
    for part in path[1:]:
        callee = getattr(callee, part, None)
    values = tuple(found[name] for _, name in names[1:] if name in found)
    return RaisingCall(trace, ".".join(path), callee, values)


def _is_within(row: Any, other: Any) -> bool:
    """Whether an instruction's text lies within that of another."""
    inner, outer = row.positions, other.positions
    if inner is None or None in inner or None in outer:
        return False
    begins = (outer.lineno, outer.col_offset) <= (inner.lineno, inner.col_offset)
    ends = (inner.end_lineno, inner.end_col_offset) <= (outer.end_lineno, outer.end_col_offset)
    return begins and ends


def _names(row: Any) -> tuple[str, ...]:
    """The variables that an instruction reads."""
    if not row.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_GLOBAL", "LOAD_NAME")):
        return ()
    return row.argval if isinstance(row.argval, tuple) else (row.argval,)


def _variables(trace: TracebackType) -> dict[str, Any]:
    frame = trace.tb_frame
    return {**vars(builtins), **frame.f_globals, **frame.f_locals}
