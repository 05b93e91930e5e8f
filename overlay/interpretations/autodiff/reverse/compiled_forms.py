"""Forms of functions of numpy in adjoints that are compiled.

numba takes seconds to compile its own forms of these functions; loops take a tenth of that, and run
as fast. Matrices are still multiplied by numba, but all in one layout, so that it compiles that
once.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["in_compiled_forms"]


def outer(a: Any, b: Any) -> Any:
    found = np.empty((a.size, b.size))
    if a.ndim != 1 or b.ndim != 1:
        return np.outer(a, b)
    for i in range(len(a)):
        for j in range(len(b)):
            found[i, j] = a[i] * b[j]
    return found


def sum_along_0(a: Any) -> Any:
    if a.ndim != 2:
        return np.sum(a, axis=0)
    found = np.zeros(a.shape[1], a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            found[j] += a[i, j]
    return found


def sum_along_1(a: Any) -> Any:
    if a.ndim != 2:
        return np.sum(a, axis=1)
    found = np.zeros(a.shape[0], a.dtype)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            found[i] += a[i, j]
    return found


def onto_1(change: Any, like: Any) -> Any:
    """See ``running.onto_1``."""
    if change.shape[0] == like.shape[0]:
        return change
    found = np.zeros(1, change.dtype)
    for each in change:
        found[0] += each
    return found


def onto_2(change: Any, like: Any) -> Any:
    """See ``running.onto_2``."""
    rows, columns = like.shape
    if rows == change.shape[0] and columns == change.shape[1]:
        return change
    found = np.zeros((rows, columns), change.dtype)
    for i in range(change.shape[0]):
        for j in range(change.shape[1]):
            found[i if rows > 1 else 0, j if columns > 1 else 0] += change[i, j]
    return found


def transposed_times(a: Any, b: Any) -> Any:
    """``np.transpose(a) @ b``."""
    if a.ndim != 2:
        return a @ b
    if b.ndim != 1:
        return transposed(a) @ b
    found = np.zeros(a.shape[1])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            found[j] += a[i, j] * b[i]
    return found


def times_transposed(a: Any, b: Any) -> Any:
    """``a @ np.transpose(b)``."""
    if b.ndim != 2 or a.ndim != 2:
        return a @ np.transpose(b)
    return a @ transposed(b)


def moved_back(d: Any, places: Any, like: Any) -> Any:
    """See ``running.moved_back``."""
    found = np.zeros(like.size + 1)
    order, changes = np.ravel(places), np.ravel(d)
    for i in range(order.size):
        found[int(order[i])] += changes[i]
    return found[1:].reshape(like.shape)


def reshaped(a: Any, like: Any) -> Any:
    """``np.reshape(a, like.shape)``."""
    if a.ndim == 1 and like.ndim == 1:
        return a
    return np.reshape(a, like.shape)


def argmax(a: Any) -> Any:
    if a.ndim != 1 or a.size == 0:
        return np.argmax(a)
    best = 0
    for i in range(len(a)):
        if a[i] > a[best] or (a[i] != a[i] and a[best] == a[best]):
            best = i
    return best


def transposed(a: Any) -> Any:
    """The transpose of a matrix, in rows."""
    found = np.empty((a.shape[1], a.shape[0]))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            found[j, i] = a[i, j]
    return found


_FORMS = {
    form.__name__: form
    for form in (
        *(outer, sum_along_0, sum_along_1, onto_1, onto_2),
        *(transposed_times, times_transposed, moved_back, reshaped, argmax),
    )
}
TOP = "    "
"""The indentation of a line that runs once."""
_NEW = {
    *("outer", "transposed_times", "times_transposed", "sum_along_0", "sum_along_1"),
    "moved_back",
}
"""The forms that make an array."""


def in_compiled_forms(source: str, space: dict[str, Any]) -> str:
    """The source of an adjoint with these forms, which are added to its namespace."""
    lines = list(map(_Line, source.splitlines()))
    forms = _Forms(space)
    for line in lines:
        line.tree = None if line.tree is None else forms.visit(line.tree)
    kept = [lines[0]]
    for i, line in enumerate(lines[1:], 1):
        begun = _begun(kept[-1], line, forms.begun, lines[i + 1 :])
        if begun is None:
            kept.append(line)
        else:
            kept[-1] = begun
    return "\n".join(map(str, kept)) + "\n"


class _Line:
    """A line of an adjoint. tree: its statement, or None where it is the header of a block."""

    def __init__(self, text: str) -> None:
        code, self.mark, self.comment = text.partition("  # ")
        stripped = code.lstrip()
        self.indent = code[: len(code) - len(stripped)]
        self.code = stripped
        try:
            (self.tree,) = ast.parse(stripped).body
        except SyntaxError:
            self.tree = None
        self._before = None if self.tree is None else ast.dump(self.tree)

    def __str__(self) -> str:
        is_changed = self.tree is not None and ast.dump(self.tree) != self._before
        code = ast.unparse(self.tree) if self.tree is not None and is_changed else self.code
        return f"{self.indent}{code}{self.mark}{self.comment}"


def _begun(first: _Line, then: _Line, begun: set[str], later: Sequence[_Line]) -> _Line | None:
    """One line for two that begin the adjoint of an array with zeros and add to it, where the
    summand has the shape of the array; else None. later: the lines after them.
    """
    match first.tree, then.tree:
        case (
            ast.Assign([ast.Name(name)], ast.Call(function)),
            ast.AugAssign(ast.Name(added), ast.Add(), value),
        ) if name == added and ast.unparse(function) == "np.zeros_like":
            begun.add(name)
            if first.indent != then.indent:
                return None
            if not _is_new(value, begun):
                if not _is_whole(value, begun):
                    return None
                if then.indent != TOP or _mentions(later, _array_in(value)):
                    value = ast.BinOp(value, ast.Add(), ast.Constant(0.0))
            line = _Line(str(then))
            line.tree = ast.Assign([ast.Name(name, ast.Store())], value, lineno=0)
            return line
        case _:
            return None


def _array_in(node: ast.expr) -> str:
    """The name of the array that an expression may be."""
    while isinstance(node, ast.Call):
        node = node.args[0]
    return node.id if isinstance(node, ast.Name) else ""


def _mentions(lines: Sequence[_Line], name: str) -> bool:
    return any(name in re.findall(r"\w+", line.code) for line in lines)


def _is_whole(node: ast.expr, arrays: set[str]) -> bool:
    """Whether an expression is an array of the shape that it is added to, perhaps one that exists
    already."""
    match node:
        case ast.Name(name):
            return name in arrays
        case ast.Call(ast.Name("reshaped" | "onto_1" | "onto_2"), [of, _]):
            return _is_whole(of, arrays)
        case _:
            return _is_new(node, arrays)


def _is_new(node: ast.expr, arrays: set[str]) -> bool:
    """Whether an expression makes an array of the shape that it is added to."""
    match node:
        case ast.Call(ast.Name("onto_1" | "onto_2"), [of, _]):
            return _is_new(of, arrays)
        case ast.Call(ast.Name(name)):
            return name in _NEW
        case ast.UnaryOp(ast.USub(), of):
            return _is_whole(of, arrays)
        case ast.BinOp(left, ast.Mult() | ast.Div(), right):
            return _is_whole(left, arrays) or _is_whole(right, arrays)
        case _:
            return False


class _Forms(ast.NodeTransformer):
    """Puts the forms in the place of calls. begun: the adjoints of arrays that are begun with
    zeros."""

    def __init__(self, space: dict[str, Any]) -> None:
        self.space = space
        self.begun: set[str] = set()

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match ast.unparse(node.func), node.args, [ast.unparse(k) for k in node.keywords]:
            case "np.outer", [a, b], []:
                return self._form("outer", a, b)
            case "np.argmax", [a], []:
                return self._form("argmax", a)
            case "np.sum", [a], ["axis=0" | "axis=1" as axis]:
                return self._form(f"sum_along_{axis[-1]}", a)
            case "np.reshape", [a, ast.Attribute(like, "shape")], []:
                return self._form("reshaped", a, like)
            case "moved_back", [d, places, like], []:
                return self._form("moved_back", d, places, like)
            case "onto_1" | "onto_2" as name, [change, like], []:
                return self._form(name, change, like)
            case _:
                return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.MatMult):
            return node
        if (a := _of_transpose(node.left)) is not None:
            return self._form("transposed_times", a, node.right)
        if (b := _of_transpose(node.right)) is not None:
            return self._form("times_transposed", node.left, b)
        return node

    def _form(self, name: str, *args: ast.expr) -> ast.Call:
        self.space[name] = _FORMS[name]
        return ast.Call(ast.Name(name, ast.Load()), list(args), [])


def _of_transpose(node: ast.expr) -> ast.expr | None:
    """The argument of a call of ``np.transpose``, or None."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "np.transpose":
        return node.args[0]
    return None
