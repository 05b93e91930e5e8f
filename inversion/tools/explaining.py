"""Explanation of a missing answer: the statement, its line, and the attempts."""

from __future__ import annotations

from typing import Any

from inversion.emitting.definition import Definition, as_text
from inversion.errors import NoSolution
from inversion.intrinsics.checks import taken_refusals
from overlay.core.location import is_ours, shown
from primitives.errors import reason_of

__all__ = ["explained"]


def explained(
    definition: Definition, error: Exception, given: tuple[Any, ...], *, is_changed: bool
) -> NoSolution:
    """The error for a refusal, with the statement and line that left its domain.

    given: the known values, and θ. is_changed: whether the function has changed since it was
    inverted.
    """
    reason = reason_of(error)
    has_parameters = len(definition.parameters) > 0
    notes = [("θ", as_text(given[-1]))] if given and has_parameters else []
    notes += [("element", note) for note in getattr(error, "__notes__", ())]
    statement, where, more = _place(definition, error)
    notes += more
    for way, tried in taken_refusals():
        why = reason_of(tried)
        notes.append((f"tried {way}", why))
    values = zip(definition.axes.known, given, strict=False)
    shown_values = ", ".join(f"{axis} = {as_text(value)}" for axis, value in values)
    at = f" at {shown_values}" if given else ""
    what = f"`{statement}`" if statement is not None else definition.name
    return NoSolution(
        f"{what} has no solution{at}: {reason}",
        where=where,
        notes=notes,
        help=_advice(has_parameters, is_changed),
    )


def _place(definition: Definition, error: Exception) -> tuple[Any, str, list[tuple[str, str]]]:
    """The statement that raised an error, its ``file:line``, and notes on the function's result."""
    statement, where = None, definition.where
    notes: list[tuple[str, str]] = []
    trace = error.__traceback__
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        if path == definition.filename:
            statement = definition.source.lines.get(trace.tb_lineno)
            where = statement.where if statement is not None else where
            if "again" in trace.tb_frame.f_locals:
                notes.append(("the function gives", as_text(trace.tb_frame.f_locals["again"])))
        elif statement is None and not is_ours(path):
            where = shown(path, trace.tb_lineno)
        trace = trace.tb_next
    return statement, where, notes


def _advice(has_parameters: bool, is_changed: bool) -> str:
    if is_changed:
        return "the function or a table of the context has changed since: call invert again"
    if has_parameters:
        return "leave out θ, or some of its coordinates: the call searches for them"
    return (
        "the inverse has no parameters: the function does not give this value, or only up to "
        "rounding errors, which larger rtol and atol accept"
    )
