"""Instrumented sites: instructions that apply targets without a call, and calls where a stack has
plugins.

Code that starts or resumes in a stack is examined once: ``sys.monitoring`` instruments its
requested instructions, and the C part (``overlay/_native/traps.h``) handles the events. Code
without such an instruction is never examined again.
"""

from __future__ import annotations

import functools
import sys
import weakref
from types import CodeType
from typing import TYPE_CHECKING, Any

from overlay import _native
from overlay.code.applied import APPLIED, INLINED, applied, calls
from overlay.code.depths import depths
from overlay.code.versions import FRAMES_TELL_DEPTH
from overlay.core.errors import OverlayError
from overlay.core.in_force import stack_in_force
from overlay.core.location import caller, is_ours
from overlay.core.logs import DEBUG, noted, tell
from overlay.core.own_builtins import __builtins__
from overlay.core.table import LOCK
from overlay.python.hidden_frames import is_hidden

if TYPE_CHECKING:
    from overlay._native.intercept import Interception

__all__ = ["NUMBERS", "leave", "leave_alone", "leave_calls", "want", "want_calls"]

intercept: Any = _native.intercept

_TOOLS = (4, 3)  # tool ids of sys.monitoring: the two that no kind of tool reserves

NUMBERS: dict[int, int] = {id(function): number for number, function in enumerate(APPLIED)}
"""Maps the identity of a target that instructions apply to its number in C."""

_users: dict[int, int] = {}  # by number: the number of stacks that request it
_stacks_with_plugins = 0  # the number of stacks that request calls
_left_alone: dict[int, weakref.ref[CodeType]] = {}  # the code of plugins, by identity
_prepared: dict[int, weakref.ref[CodeType]] = {}  # instrumented code objects, by identity
INSTRUMENTED = "instrumented %s, %s:%d; instructions: %d"

_tool: int | None = None


def want(target: Any, interception: Interception) -> None:
    """Instrument the instructions that apply a target, from now on, and pass them to its
    interception."""
    number = NUMBERS[id(target)]
    with LOCK:
        _begin()
        intercept.set_operator(number, interception)
        _users[number] = _users.get(number, 0) + 1
        if _users[number] == 1:
            _look_anew()


def leave(target: Any) -> None:
    """Undo one ``want`` of a target."""
    number = NUMBERS[id(target)]
    with LOCK:
        _users[number] -= 1
        if not _users[number]:
            del _users[number]
            intercept.set_operator(number, None)
        _end()


def want_calls() -> None:
    """Instrument calls from now on, for a stack with plugins."""
    global _stacks_with_plugins
    with LOCK:
        _begin()
        _stacks_with_plugins += 1
        if _stacks_with_plugins == 1:
            _look_anew()


def leave_calls() -> None:
    """Undo one ``want_calls``: its stack is gone."""
    global _stacks_with_plugins
    with LOCK:
        _stacks_with_plugins -= 1
        _end()


def leave_alone(code: CodeType) -> None:
    """Exclude a plugin's own code from instrumentation."""
    key = id(code)
    _left_alone[key] = weakref.ref(code, functools.partial(_left_alone.pop, key))


def _look_anew() -> None:
    intercept.other_traps()
    sys.monitoring.restart_events()
    if stack_in_force.get() is not None:
        intercept.prepare_frames()  # running frames get it, too


def _begin() -> None:
    global _tool
    if _tool is not None:
        return
    monitoring = sys.monitoring
    free = [tool for tool in _TOOLS if monitoring.get_tool(tool) is None]
    if not free:
        taken = ", ".join(f"{tool}: {monitoring.get_tool(tool)}" for tool in _TOOLS)
        raise OverlayError(
            "operators cannot be overlaid, nor calls passed to plugins: all tool ids of "
            "sys.monitoring are taken",
            where=caller(),
            notes=[("taken", taken)],
            help="free one of these by sys.monitoring.free_tool_id",
        )
    _tool = free[0]
    events = monitoring.events
    monitoring.use_tool_id(_tool, "overlay")
    intercept.set_up_traps(_prepare, monitoring.DISABLE)
    for event in (events.PY_START, events.PY_RESUME, events.PY_THROW):
        monitoring.register_callback(_tool, event, intercept.started)
    monitoring.register_callback(_tool, events.INSTRUCTION, intercept.trap)
    monitoring.set_events(_tool, events.PY_START | events.PY_RESUME | events.PY_THROW)


def _end() -> None:
    global _tool
    monitoring, tool = sys.monitoring, _tool
    if tool is None or _users or _stacks_with_plugins:
        return
    monitoring.set_events(tool, 0)
    for reference in list(_prepared.values()):
        code = reference()
        if code is not None:
            monitoring.set_local_events(tool, code, 0)
    _prepared.clear()
    intercept.other_traps()
    monitoring.free_tool_id(tool)
    _tool = None


def _prepare(code: CodeType) -> None:
    """Instrument the requested instructions of a code object."""
    with LOCK:
        ours = is_ours(code.co_filename) or id(code) in _left_alone or is_hidden(code)
        rows = [] if ours else _rows(code)
        intercept.set_sites(code, rows, ours)
        if _tool is None:
            return
        known = id(code) in _prepared
        if known:  # fewer may be requested now
            sys.monitoring.set_local_events(_tool, code, 0)
        if rows:
            intercept.keep_tools_of(code)  # of other tools, if ours is the second
            sys.monitoring.set_local_events(_tool, code, sys.monitoring.events.INSTRUCTION)
            intercept.keep_tools_of(code)  # ours, if another comes later
            if not known:
                key = id(code)
                _prepared[key] = weakref.ref(code, functools.partial(_prepared.pop, key))
                place = code.co_qualname, code.co_filename, code.co_firstlineno
                noted(DEBUG, lambda: (INSTRUMENTED, *place, len(rows)))
    tell(LOCK)


def _rows(code: CodeType) -> list[tuple[int, int, int, int, int]]:
    """The requested instructions of a code object, as rows for the C part."""
    found = {
        offset // 2: (shape, NUMBERS[id(function)], argument)
        for offset, shape, function, argument in applied(code)
        if NUMBERS[id(function)] in _users or (_stacks_with_plugins and shape == INLINED)
    }
    if _stacks_with_plugins:
        found |= {offset // 2: (shape, 0, argument) for offset, shape, argument in calls(code)}
    if not found:
        return []
    known = {} if FRAMES_TELL_DEPTH else depths(code)
    return [
        (unit, *site, known.get(2 * unit, 0))
        for unit, site in found.items()
        if FRAMES_TELL_DEPTH or 2 * unit in known  # the others are unreachable
    ]
