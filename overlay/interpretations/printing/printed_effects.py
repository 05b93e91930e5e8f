"""Calls of a function that have no effect, and raise no error, by the rules of ``Slicer``.

The instructions of the function, and of functions defined in it, are read. A call in the source is
matched to an instruction by its end position, which is unique.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import CodeType, FunctionType, MethodDescriptorType, MethodType
from typing import Any

from overlay.code.callbacks import CALLBACKS
from overlay.code.constants import captured_by, stored_in
from overlay.code.events import CallEvent
from overlay.code.known_values import UNKNOWN, BoundFunction, Known, Made, Value, type_of
from overlay.code.listing import COMPREHENSIONS
from overlay.code.reading import CodeReading
from overlay.interpretations.parallel.known_effects import (
    CONTAINERS,
    ITERATING,
    ITERATORS,
    NO_ERROR,
)

__all__ = ["CallsInSource"]

_EFFECTS = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
_DISPLAYS = (
    *(ast.List, ast.Tuple, ast.Set, ast.Dict, ast.JoinedStr, ast.ListComp, ast.SetComp),
    *(ast.DictComp, ast.Constant),
)
_NOT_KNOWN = object()


class CallsInSource:
    """The calls of a function, by their source positions.

    node: its definition. pure: functions without effects, besides those that are known.
    """

    def __init__(self, function: FunctionType, node: ast.AST, pure: Iterable[Any]) -> None:
        self.node = node
        self.pure = NO_ERROR | {id(f): f for f in pure}
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
        """Whether a node calls only functions without effects, and uses up no iterator that other
        code may have."""
        return all(map(self._is_pure_part, ast.walk(node)))

    def _is_pure_part(self, part: ast.AST) -> bool:
        match part:
            case ast.Call():
                return self._is_pure_call(part)
            case ast.comprehension():
                return not part.is_async and self.keeps_iterators(part.iter)
            case ast.Starred():
                return self.keeps_iterators(part.value)
            case ast.Compare():
                looked_into = zip(part.ops, part.comparators, strict=True)
                return all(
                    self.keeps_iterators(container)
                    for operation, container in looked_into
                    if isinstance(operation, (ast.In, ast.NotIn))
                )
            case _:
                return not isinstance(part, _EFFECTS)

    def _is_pure_call(self, node: ast.Call) -> bool:
        found = self._at(node)
        if not found or not all(self._has_no_effect(call, node) for call in found):
            return False
        if node.keywords and any(_function(call.callee) is zip for call in found):
            return False  # strict=True raises an error for some lengths
        iterates = any(id(_function(call.callee)) in ITERATING for call in found)
        return not iterates or all(map(self.keeps_iterators, node.args))

    def _has_no_effect(self, call: CallEvent, node: ast.Call) -> bool:
        """Whether a call of a function has no effect, and neither have those of its arguments that
        it calls."""
        function = _function(call.callee)
        if not _is_of_text(call.callee) and id(function) not in self.pure:
            return False
        _, positions, names = CALLBACKS.get(id(function), (None, (), ()))
        if not positions and not names:
            return True
        # the bodies of lambdas are parts of the argument, and asked with it
        known = {key.arg for key in node.keywords if isinstance(key.value, ast.Lambda)}
        called = {key.arg for key in node.keywords if key.arg in names} - known
        if call.args is None or any(place < len(node.args) for place in positions):
            return False
        values = dict(zip(reversed(call.names), reversed(call.args), strict=False))
        return all(name in values and id(_function(values[name])) in self.pure for name in called)

    def keeps_iterators(self, node: ast.expr) -> bool:
        """Whether iterating over a value uses up no iterator that other code may have: it is a
        container, or an iterator that is made here."""
        if isinstance(node, ast.Starred):
            return self.keeps_iterators(node.value)
        if isinstance(node, ast.GeneratorExp):
            return True
        if isinstance(node, ast.Call):
            found = self._at(node)
            if found and all(id(_function(call.callee)) in ITERATORS for call in found):
                return True
        return self._is_container(node) or (
            isinstance(node, ast.Name) and node.id in self._containers
        )

    def _is_container(self, node: ast.expr) -> bool:
        """Whether a node makes a container or text."""
        if isinstance(node, ast.Subscript):
            return isinstance(node.slice, ast.Slice)
        if isinstance(node, ast.IfExp):
            return self._is_container(node.body) and self._is_container(node.orelse)
        if isinstance(node, ast.Call):
            found = self._at(node)
            return bool(found) and all(
                _is_of_text(call.callee) or id(_function(call.callee)) in CONTAINERS
                for call in found
            )
        return isinstance(node, _DISPLAYS)

    @cached_property
    def _containers(self) -> set[str]:
        """The variables that are only bound to containers made here."""
        stored: Counter[str] = Counter()
        others: set[str] = set()
        for node in ast.walk(self.node):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                stored[node.id] += 1
            if isinstance(node, (ast.Global, ast.Nonlocal)):
                others.update(node.names)
            others |= _bound_otherwise(node)
            value = getattr(node, "value", None)
            if isinstance(node, ast.AugAssign):
                stored.subtract(_names((node.target,)))
            elif isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(value, ast.expr):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if self._is_container(value):
                    stored.subtract(_names(targets))
        bound = {node.id for node in ast.walk(self.node) if isinstance(node, ast.Name)}
        return {name for name in bound - others if name in stored and not stored[name]}

    def _at(self, node: ast.Call) -> list[CallEvent]:
        """The call events of a node: none where the source is not the code that runs, or is
        unreachable; several in a ``finally``."""
        return self._calls.get((node.end_lineno, node.end_col_offset), [])


def _bound_otherwise(node: ast.AST) -> set[str]:
    """The name that a node binds, other than by an assignment."""
    names = ("arg",) if isinstance(node, ast.arg) else ("asname", "name", "rest")
    found = next((name for name in (getattr(node, each, None) for each in names) if name), None)
    return {found.partition(".")[0]} if isinstance(found, str) else set()


def _names(targets: Iterable[ast.expr]) -> list[str]:
    return [target.id for target in targets if isinstance(target, ast.Name)]


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
