"""Calls of a function that have no effect, by the rules of ``Slicer``.

The instructions of the function, and of functions defined in it, are read. A call in the source is
matched to an instruction by its end position, which is unique.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Mapping
from types import CodeType, FunctionType, MethodDescriptorType, MethodType
from typing import Any

from overlay.code.constants import captured_by, stored_in
from overlay.code.events import CallEvent
from overlay.code.known_values import UNKNOWN, BoundFunction, Known, Made, Value, type_of
from overlay.code.listing import COMPREHENSIONS
from overlay.code.reading import CodeReading
from overlay.interpretations.parallel.known_effects import NO_EFFECT

__all__ = ["CallsInSource"]

_EFFECTS = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
_NOT_KNOWN = object()


class CallsInSource:
    """The calls of a function, by their source positions.

    pure: functions without effects, besides those that are known.
    """

    def __init__(self, function: FunctionType, pure: Iterable[Any]) -> None:
        self.pure = NO_EFFECT | {id(f): f for f in pure}
        self._calls: dict[tuple[int | None, int | None], list[CallEvent]] = {}
        code = function.__code__
        rebound = dict.fromkeys(stored_in(code, ("STORE_GLOBAL", "DELETE_GLOBAL")), _NOT_KNOWN)
        namespace = function.__globals__ | rebound if rebound else function.__globals__
        self._read(code, namespace, {n: Known(v) for n, v in captured_by(function).items()})

    def _read(self, code: CodeType, namespace: dict[str, Any], cells: Mapping[str, Value]) -> None:
        """Read code and all code defined in it. cells: the values of enclosing variables."""
        known = {name: cells[name] for name in code.co_freevars if name in cells}
        given = dict.fromkeys(code.co_varnames, UNKNOWN)
        for event in CodeReading(code, namespace, given, known, _result).events.values():
            end = event.at.end_lineno, event.at.end_col_offset
            if isinstance(event, CallEvent) and not _is_implied(event.callee) and None not in end:
                self._calls.setdefault(end, []).append(event)
        inner = {name: value for name, value in cells.items() if name not in code.co_cellvars}
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._read(constant, namespace, inner)

    def is_call_of(self, node: ast.expr, targets: Iterable[Any]) -> bool:
        """Whether a node calls one of these functions, and does not print to a given file."""
        if not isinstance(node, ast.Call) or any(key.arg is None for key in node.keywords):
            return False
        found = self._at(node)
        return bool(found) and all(
            any(_function(call.callee) is target for target in targets) and not _has_file(call)
            for call in found
        )

    def is_pure(self, node: ast.expr) -> bool:
        """Whether a node calls only functions without effects."""
        return all(
            self._is_pure_call(part)
            if isinstance(part, ast.Call)
            else not isinstance(part, _EFFECTS)
            for part in ast.walk(node)
        )

    def _is_pure_call(self, node: ast.Call) -> bool:
        found = self._at(node)
        return bool(found) and all(
            _is_of_text(call.callee) or id(_function(call.callee)) in self.pure for call in found
        )

    def _at(self, node: ast.Call) -> list[CallEvent]:
        """The call events of a node: none where the source is not the code that runs, or is
        unreachable; several in a ``finally``."""
        return self._calls.get((node.end_lineno, node.end_col_offset), [])


def _result(event: object) -> Value:
    return UNKNOWN


def _is_implied(callee: Value) -> bool:
    """Whether a comprehension or a class statement makes the call, and thus ends where it ends."""
    if isinstance(callee, Known):
        return callee.object is builtins.__build_class__
    return isinstance(callee, Made) and callee.code.co_name in COMPREHENSIONS


def _function(callee: Value) -> Any:
    """The called function, without its receiver."""
    found = callee.function if isinstance(callee, BoundFunction) else callee
    value = found.object if isinstance(found, Known) else _NOT_KNOWN
    return value.__func__ if isinstance(value, MethodType) else value


def _is_of_text(callee: Value) -> bool:
    """Whether a callee is a method of ``str``: ``"...".join``, ``"...".format``."""
    function = _function(callee)
    if not isinstance(callee, BoundFunction) or type(function) is not MethodDescriptorType:
        return False
    return function.__objclass__ is str and type_of(callee.receiver) is str


def _has_file(call: CallEvent) -> bool:
    """Whether a call prints to a given file."""
    named = dict(call.spread)
    if call.args is not None and call.names:
        named |= zip(call.names, call.args[-len(call.names) :], strict=True)
    file = named.get("file")
    shown = sys.stdout, sys.stderr
    return file is not None and not (
        isinstance(file, Known) and any(file.object is each for each in shown)
    )
