"""The source of functions, found in their files."""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import linecache
import textwrap
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

__all__ = ["global_names", "local_names", "node_of"]

Node = ast.FunctionDef | ast.Lambda


def node_of(function: FunctionType) -> Node | None:
    """The definition of a function; None if no source is its own."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    for text, first, indent in _texts(lines, code):
        tree = _parsed(text)
        found = None if tree is None else _found(tree, code, first, indent)
        if found is not None and _is_source_of(found, code):
            return found
    return None


def _texts(lines: list[str], code: CodeType) -> Iterator[tuple[str, int, int]]:
    """The texts to parse: the file, or the statement if the file is not all Python; each with the
    number of lines before it and the number of columns cut.
    """
    yield "".join(lines), 0, 0
    first = code.co_firstlineno - 1
    if first < len(lines):
        try:
            block = inspect.getblock(lines[first:])
        except (SyntaxError, IndentationError):
            return
        text = "".join(block)
        cut = len(block[0]) - len(block[0].lstrip())
        yield textwrap.dedent(text), first, cut


@functools.lru_cache(64)
def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def _found(tree: ast.Module, code: CodeType, first: int, indent: int) -> Node | None:
    """The definition at the position that the code object gives."""
    line = code.co_firstlineno - first
    best: Node | None = None
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            begins = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if begins == line:
                return node
        elif isinstance(node, ast.Lambda):
            inside = all(_within(node.body, span, first, indent) for span in _spans(code))
            inner = best is None or _start(node) > _start(best)
            if inside and node.lineno == line and inner:
                best = node
    return best


def _start(node: Node) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _spans(code: CodeType) -> Iterator[tuple[int, int, int, int]]:
    """The positions of a function's instructions: lines and columns, from and to."""
    for line, end, column, last in code.co_positions():
        if line is None or end is None or column is None or last is None or last == 0:
            continue
        yield line, column, end, last


def _within(node: Any, span: tuple[int, int, int, int], first: int, indent: int) -> bool:
    line, column, end, last = span
    starts = (line - first, column - indent) >= (node.lineno, node.col_offset)
    return starts and (end - first, last - indent) <= (node.end_lineno, node.end_col_offset)


def _is_source_of(node: Node, code: CodeType) -> bool:
    """Return whether a definition compiles to this code: files may change after they are loaded."""
    row = node if isinstance(node, ast.FunctionDef) else ast.copy_location(ast.Expr(node), node)
    try:
        module = compile(ast.Module([row], []), code.co_filename, "exec")
    except (SyntaxError, ValueError):
        return False
    return any(_told(each) == _told(code) for each in _codes(module) if each is not module)


def _told(code: CodeType) -> tuple[Any, ...]:
    """A key that identifies code, whether or not it is nested in another function."""
    constants = [repr(c) for c in code.co_consts if not isinstance(c, CodeType)]
    names = {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
    return code.co_varnames[: code.co_argcount], sorted(constants), names


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def global_names(function: FunctionType) -> set[str]:
    """The names that a function looks up outside itself."""
    code = function.__code__
    found = set(code.co_freevars)
    for each in _codes(code):
        for instruction in dis.get_instructions(each):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                found.add(instruction.argval)
    return found


def local_names(function: FunctionType) -> set[str]:
    """The names of variables of a function and of its nested functions."""
    codes = list(_codes(function.__code__))
    return {name for code in codes for name in (*code.co_varnames, *code.co_cellvars)}
