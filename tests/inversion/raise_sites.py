"""The sites in the packages that make an error of some classes, found in their source.

A site is a call of the class of an error, or of a function that is annotated to return one. Calls
inside such a function are not sites; its callers are.
"""

from __future__ import annotations

import ast
import functools
import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGES = ("inversion", "primitives")


@dataclass(frozen=True)
class RaiseSite:
    """One place: a function, and the words of a message that it makes, at one or several lines.

    Attributes
    ----------
    name
        ``module.function: message``, with ``{}`` for what is filled in.
    file
        The path of the module.
    lines
        The lines of the calls.
    """

    name: str
    file: str
    lines: frozenset[int]

    def is_in(self, stack: list[tuple[str, int]]) -> bool:
        """Whether one of these frames, files with lines, is at this place."""
        return any(file == self.file and line in self.lines for file, line in stack)


@functools.cache
def raise_sites(*errors: type[Exception]) -> dict[str, RaiseSite]:
    """The places that make an error of these classes or of subclasses of them, by name."""
    found: dict[str, RaiseSite] = {}
    for path in (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))):
        parts = path.relative_to(ROOT).with_suffix("").parts
        module = importlib.import_module(".".join(parts).removesuffix(".__init__"))
        tree = ast.parse(path.read_text())
        texts = _texts(tree)
        for function, call in _calls(tree, module, errors, ""):
            name = f"{path.stem}.{function}: {_message(call, texts, module)}"
            lines = frozenset(range(call.lineno, (call.end_lineno or call.lineno) + 1))
            if name in found:
                lines |= found[name].lines
            found[name] = RaiseSite(name, str(path), lines)
    return found


def _calls(
    node: ast.AST, module: ModuleType, errors: tuple[type[Exception], ...], inside: str
) -> Iterator[tuple[str, ast.Call]]:
    """The calls that make an error, each with the function that it is in."""
    for child in ast.iter_child_nodes(node):
        within = inside
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            if isinstance(child, ast.FunctionDef) and _makes(_returned(child), module, errors):
                continue
            within = f"{inside}.{child.name}".lstrip(".")
        if isinstance(child, ast.Call):
            function = child.func
            if isinstance(function, ast.Name):
                makes = _is_maker(getattr(module, function.id, None), errors)
            else:
                name = getattr(function, "attr", "")
                classes = [held for held in _named(module) if isinstance(held, type)]
                modules = [held for held in _named(module) if isinstance(held, ModuleType)]
                held_by = [vars(held).get(name) for held in (*classes, *modules)]
                makes = any(_is_maker(held, errors) for held in held_by)
            if makes:
                yield within, child
        yield from _calls(child, module, errors, within)


def _named(module: ModuleType) -> list[Any]:
    return list(vars(module).values())


def _returned(function: ast.FunctionDef) -> str:
    return function.returns.id if isinstance(function.returns, ast.Name) else ""


def _makes(returned: str, module: ModuleType, errors: tuple[type[Exception], ...]) -> bool:
    return _is_error(getattr(module, returned, None), errors)


def _is_error(thing: Any, errors: tuple[type[Exception], ...]) -> bool:
    return isinstance(thing, type) and issubclass(thing, errors)


def _is_maker(thing: Any, errors: tuple[type[Exception], ...]) -> bool:
    """Return whether an object is the class of an error, or a function annotated to return one."""
    if not isinstance(thing, FunctionType):
        return _is_error(thing, errors)
    returned = thing.__annotations__.get("return")
    named = thing.__globals__.get(returned) if isinstance(returned, str) else returned
    return _is_error(named, errors)


def _texts(tree: ast.AST) -> list[tuple[int, str, str]]:
    """The line, the name and the text of each name that is assigned a text."""
    return [
        (node.lineno, target.id, _text(node.value))
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and _text(node.value)
    ]


def _message(call: ast.Call, texts: list[tuple[int, str, str]], module: ModuleType) -> str:
    """The text of the first argument that is a text, with ``{}`` for inserted values.

    texts: the texts of names, of which an argument may be one.
    """
    for given in call.args:
        text = _text(given)
        if isinstance(given, ast.Name):
            before = (
                t for line, name, t in texts if name == given.id and 0 < call.lineno - line < 9
            )
            constant = getattr(module, given.id, "")
            text = next(before, constant if isinstance(constant, str) else "")
        if text:
            return text
    return getattr(call.func, "id", None) or getattr(call.func, "attr", "")


def _text(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in parts)
        case ast.BinOp(left=left, op=ast.Add()):
            return _text(left) + "{}"
        case _:
            return ""
