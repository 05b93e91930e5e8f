"""Modules of the standard library with an error planted in a function, made one by one."""

from __future__ import annotations

import ast
import builtins
import importlib.util
import inspect
import itertools
import random
import re
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, ModuleType
from typing import Any

from overlay.analysis.program_checks import analysed
from overlay.core.location import shown

__all__ = ["KINDS", "Planted", "analysed_lines", "planted", "raised_by", "run_lines"]

KINDS = ("name", "attribute", "argument", "keyword")
_ARITY = re.compile("missing|takes|unexpected keyword|expected|not enough arguments: |needs an")
_ERRORS = (NameError, AttributeError, TypeError)
_MOST = 500_000  # lines, calls and returns of a program that ends


@dataclass(frozen=True)
class Planted:
    """A planted error: its kind, its line, and what was changed."""

    module: str
    kind: str
    line: int
    what: str
    tree: ast.Module

    def made(self) -> ModuleType:
        """The module with the error."""
        original = importlib.import_module(self.module)
        code = compile(self.tree, str(original.__file__), "exec")
        module = ModuleType(self.module, original.__doc__)
        module.__dict__.update(
            __file__=original.__file__,
            __package__=original.__package__,
            __loader__=_Loader(code),
        )
        sys.modules[self.module] = module
        try:
            exec(code, module.__dict__)
        finally:
            sys.modules[self.module] = original
        return module


class _Loader:
    """Loader that gives the code of one module."""

    def __init__(self, code: CodeType) -> None:
        self.code = code

    def get_code(self, name: str) -> CodeType:
        return self.code


def planted(module: str, kind: str, lines: set[int], count: int, seed: int = 0) -> list[Planted]:
    """Some errors of a kind, each planted alone on one of these lines of a module."""
    source = inspect.getsource(importlib.import_module(module))
    places = [place for place in _places(ast.parse(source), kind) if place[0] in lines]
    chosen = random.Random(f"{module} {kind} {seed}").sample(places, min(count, len(places)))
    return [_plant(module, kind, source, number) for _, number in sorted(chosen)]


def _places(tree: ast.Module, kind: str) -> list[tuple[int, int]]:
    """The line, and the number in the order of the walk, of each place for an error."""
    return [(node.lineno, number) for number, node in _nodes(tree, kind)]


def _nodes(tree: ast.Module, kind: str) -> Iterator[tuple[int, Any]]:
    inside = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    seen: set[int] = set()
    number = 0
    for function in inside:
        for statement in function.body:
            for node in ast.walk(statement):
                if id(node) not in seen and _is_meant(node, kind):
                    seen.add(id(node))
                    yield number, node
                    number += 1


def _is_meant(node: Any, kind: str) -> bool:
    if kind == "name":
        return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    if kind == "attribute":
        return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    if not isinstance(node, ast.Call) or any(isinstance(a, ast.Starred) for a in node.args):
        return False
    return kind == "keyword" or bool(node.args)


def _plant(module: str, kind: str, source: str, number: int) -> Planted:
    tree = ast.parse(source)
    node = next(each for i, each in _nodes(tree, kind) if i == number)
    before = ast.unparse(node)
    if kind == "name":
        node.id = _misspelt(node.id)
    elif kind == "attribute":
        node.attr = _misspelt(node.attr)
    elif kind == "argument":
        node.args.pop()
    else:
        added = ast.copy_location(ast.Constant(None), node)
        node.keywords.append(ast.copy_location(ast.keyword("unexpected_one", added), node))
    return Planted(module, kind, node.lineno, f"{before} -> {ast.unparse(node)}", tree)


def _misspelt(name: str) -> str:
    """A name with two letters changed in place, or one doubled, which nothing has."""
    changed = name[:-2] + name[-1] + name[-2] if len(name) > 2 else name + name[-1]
    return changed + "x" if changed == name or hasattr(builtins, changed) else changed


class _Endless(BaseException):
    """The program has run more lines than one that ends."""


def _limited(most: int) -> Any:
    """A trace function that ends a program after a number of lines: a planted error may make a
    loop endless."""
    left = itertools.count(most, -1)

    def traced(frame: Any, event: str, arg: Any) -> Any:
        if next(left) < 0:
            raise _Endless
        return traced

    return traced


def raised_by(function: Any, args: tuple[Any, ...], line: int) -> BaseException | None:
    """The error about a name, attribute or call that a call raises at a line, if it does."""
    outside = sys.gettrace()
    sys.settrace(_limited(_MOST))
    try:
        found = function(*args)
        if inspect.isgenerator(found):
            list(found)
    except _Endless:
        return None
    except _ERRORS as error:
        *_, (_, last) = traceback.walk_tb(error.__traceback__)
        is_about_call = type(error) is not TypeError or _ARITY.search(str(error))
        return error if last == line and is_about_call else None
    except Exception:
        return None
    finally:
        sys.settrace(outside)
    return None


def _files(module: ModuleType) -> tuple[str, str]:
    """The files that the code of a module names: a frozen module has a name of its own."""
    return str(module.__file__), f"<frozen {module.__name__}>"


def run_lines(module: ModuleType, function: Any, args: tuple[Any, ...]) -> set[int]:
    """The lines of a module that a call runs."""
    lines: set[int] = set()

    def traced(frame: Any, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename not in _files(module):
            return None
        lines.add(frame.f_lineno)
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        found = function(*args)
        if inspect.isgenerator(found):
            list(found)
    finally:
        sys.settrace(before)
    return lines


def analysed_lines(module: ModuleType, function: Any, types: tuple[Any, ...]) -> set[int]:
    """The lines of a module in which the analysis of a call has a step."""
    files = [shown(file, None) for file in _files(module)]
    found: set[int] = set()
    for run in analysed(function, *types):
        for inner in run.walk():
            for step in inner.steps:
                name, _, line = step.where.rpartition(":")
                found |= {int(line)} if name in files else set()
    return found
