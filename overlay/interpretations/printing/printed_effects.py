"""Which expressions of a function have no effect, by the rules of ``Slicer``."""

from __future__ import annotations

import ast
import builtins
import math
import sys
from collections.abc import Iterable
from types import FunctionType, MethodType, ModuleType
from typing import Any

__all__ = ["UNKNOWN", "Names"]

UNKNOWN = object()
_BUILTINS = (
    *(abs, all, any, ascii, bin, bool, bytes, chr, complex, dict, divmod, enumerate, float),
    *(format, frozenset, hex, int, isinstance, issubclass, len, list, max, min, oct, ord, pow),
    *(range, repr, reversed, round, set, slice, sorted, str, sum, tuple, type, zip),
)
PURE = {id(f): f for f in (*_BUILTINS, *filter(callable, vars(math).values()))}
_EFFECTS = (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)


class Names:
    """What the names of a function stand for, as far as its source says.

    pure: functions that have no effect, besides those that are known.
    """

    def __init__(self, function: FunctionType, node: ast.AST, pure: Iterable[Any]) -> None:
        self.pure = PURE | {id(f): f for f in pure}
        self._globals: dict[str, Any] = function.__globals__
        self._cells = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )
        self._local = {
            *(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and _binds(n)),
            *(a.arg for a in ast.walk(node) if isinstance(a, ast.arg)),
        }

    def value_of(self, node: ast.expr) -> Any:
        """What a name, or an attribute of a module or object, stands for now; else UNKNOWN."""
        if isinstance(node, ast.Attribute):
            holder = self.value_of(node.value)
            if holder is UNKNOWN:
                return UNKNOWN
            if isinstance(holder, (ModuleType, type)):
                return vars(holder).get(node.attr, UNKNOWN)
            found = getattr(type(holder), node.attr, UNKNOWN)
            return found if isinstance(found, FunctionType) else UNKNOWN
        if not isinstance(node, ast.Name) or node.id in self._local:
            return UNKNOWN
        if node.id in self._cells:
            return _contents(self._cells[node.id])
        return self._globals.get(node.id, getattr(builtins, node.id, UNKNOWN))

    def calls(self, node: ast.expr, targets: Iterable[Any]) -> bool:
        """Whether it is a call of one of these functions."""
        if not isinstance(node, ast.Call) or any(self._is_file(k) for k in node.keywords):
            return False
        found = self.value_of(node.func)
        found = found.__func__ if isinstance(found, MethodType) else found
        return any(found is target for target in targets)

    def _is_file(self, keyword: ast.keyword) -> bool:
        """Whether it says that something is printed to a file of its own."""
        shown = sys.stdout, sys.stderr
        return keyword.arg in ("file", None) and self.value_of(keyword.value) not in shown

    def is_pure(self, node: ast.expr) -> bool:
        """Whether it calls only functions that have no effect."""
        return all(
            self._is_pure_call(part)
            if isinstance(part, ast.Call)
            else not isinstance(part, _EFFECTS)
            for part in ast.walk(node)
        )

    def _is_pure_call(self, call: ast.Call) -> bool:
        function = call.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Constant):
            return isinstance(function.value.value, str)  # "...".join, "...".format
        return self.pure.get(id(self.value_of(function)), UNKNOWN) is not UNKNOWN


def _binds(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _contents(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty yet
        return UNKNOWN
