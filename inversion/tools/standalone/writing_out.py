"""Values of the names in generated code, written as Python source."""

from __future__ import annotations

import ast
import builtins
import importlib
import keyword
import math
import sys
import textwrap
from collections.abc import Iterable, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from inversion.errors import NotWritable
from inversion.lifting.recursion import Interpreted
from inversion.program.statements import renumbered
from inversion.program.trees import fields_of, is_dataclass, is_record
from inversion.tools.standalone.reading_back import global_names, local_names, node_of
from overlay import OverlayError
from overlay.core.location import home_of, location_of, name_of
from primitives.solver_forms import compiled_forms

__all__ = ["ModuleWriter", "documented"]

OURS = ("inversion", "overlay", "primitives")
EVERYWHERE = ("numpy", "scipy")
RECORDS = (("collections", "namedtuple"), ("dataclasses", "make_dataclass"))


class ModuleWriter:
    """The definitions of a module, each written once, under unique names."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = {*taken, *keyword.kwlist, *dir(builtins)}
        self.imports: list[str] = []
        self.classes: list[str] = []
        self.definitions: list[str] = []
        self.needs: list[str] = []  # imports from packages outside the standard library
        self._names: dict[Any, str] = {}
        self._kept: list[Any] = []  # keeps the values alive, so that ids stay unique

    def define(self, name: str, value: Any) -> None:
        """Define a name for a value."""
        key = _key(value)
        if key in self._names:
            self.definitions.append(f"{name} = {self._names[key]}")
            return
        self._write(name, key, value)

    def named(self, wanted: str, value: Any) -> str:
        """The name of a value, which is defined on first use."""
        key = _key(value)
        if key not in self._names:
            if hasattr(builtins, wanted) and getattr(builtins, wanted) is value:
                return wanted
            name = renumbered(wanted, self.taken)
            self.taken.add(name)
            self._write(name, key, value)
        return self._names[key]

    def _write(self, name: str, key: Any, value: Any) -> None:
        self._names[key] = name
        self._kept.append(value)
        try:
            self._written(name, value)
        except NotWritable:
            del self._names[key]
            raise

    def _written(self, name: str, value: Any) -> None:
        function = _function_in(value)
        if isinstance(value, ModuleType):
            self._import_module(name, value)
        elif isinstance(function, FunctionType) and not _is_everywhere(function.__module__):
            self._function(name, function)
        elif is_record(value) and not _is_everywhere(value.__module__):
            fields = list(fields_of(value))
            module, make = RECORDS[is_dataclass(value)]
            self._import(module, make, make)
            self.classes.append(f"{name} = {make}({value.__name__!r}, {fields!r})")
        elif isinstance(value, type) and issubclass(value, OverlayError):
            self._exception(name, value)
        elif isinstance(value, (type, BuiltinFunctionType, FunctionType, np.ufunc)):
            self._import_by_name(name, value)
        elif callable(value):
            raise _unwritable(value)
        else:
            self._constant(name, value)

    # ---- imports ----

    def _import_module(self, name: str, module: ModuleType) -> None:
        path = module.__name__
        if path.partition(".")[0] in OURS:
            raise NotWritable(f"the module {path} is not imported by code that runs by itself")
        if not _is_everywhere(path):
            self.needs.append(path)
        self._add(f"import {path}" if name == path else f"import {path} as {name}")

    def _import_by_name(self, name: str, value: Any) -> None:
        known = getattr(value, "__name__", "")
        module = "numpy" if isinstance(value, np.ufunc) else home_of(value)
        try:
            found = getattr(importlib.import_module(str(module)), known, None)
        except ImportError:
            found = None
        if found is not value or str(module).partition(".")[0] in OURS:
            raise _unwritable(value)
        if not _is_everywhere(str(module)):
            self.needs.append(f"{module}.{known}")
        self._import(str(module), known, name)

    def _import(self, module: str, known: str, name: str) -> None:
        self._add(f"from {module} import {known}" + ("" if known == name else f" as {name}"))

    def _add(self, line: str) -> None:
        if line not in self.imports:
            self.imports.append(line)

    # ---- classes and constants ----

    def _exception(self, name: str, cls: type) -> None:
        bases = [c for c in cls.__mro__ if c.__module__ == "builtins" and c is not object]
        document = documented((cls.__doc__ or name).partition("\n")[0])
        self.classes.append(f"class {name}({bases[0].__name__}):\n    {document}\n")

    def _constant(self, name: str, value: Any) -> None:
        self.definitions.append(f"{name} = {self.text(value)}")

    def text(self, value: Any) -> str:
        """The expression of a value. Raises NotWritable."""
        kind = type(value)
        if kind is float and not math.isfinite(value):
            return f'float("{value}")'
        if kind is complex and not (math.isfinite(value.real) and math.isfinite(value.imag)):
            return f"complex({self.text(value.real)}, {self.text(value.imag)})"
        if value is None or kind in (bool, int, float, complex, str, bytes):
            return repr(value)
        if kind in (tuple, list):
            items = ", ".join(map(self.text, value))
            return f"[{items}]" if kind is list else f"({items}{',' * (len(value) == 1)})"
        if kind is dict:
            items = (f"{self.text(k)}: {self.text(v)}" for k, v in value.items())
            return f"{{{', '.join(items)}}}"
        if isinstance(value, np.generic) and not value.dtype.hasobject:
            return f"{self.named('np', np)}.{kind.__name__}({self.text(value.item())})"
        if kind is np.ndarray and value.dtype.kind in "biufc":
            numbers = self.text(value.tolist())
            return f"{self.named('np', np)}.array({numbers}, {value.dtype.name!r})"
        if isinstance(value, np.dtype) and value.names is None:
            return f"{self.named('np', np)}.dtype({value.str!r})"
        if callable(value) and getattr(value, "__name__", ""):
            return self.named(value.__name__, value)
        raise _unwritable(value)

    # ---- functions ----

    def _function(self, name: str, function: FunctionType) -> None:
        marks, names = [len(part) for part in self._parts()], dict(self._names)
        try:
            self._function_as_it_is(name, function)
        except NotWritable:
            for part, mark in zip(self._parts(), marks, strict=True):
                del part[mark:]
            self._names = names
            forms = compiled_forms.methods(function)
            if not forms:
                raise
            self._function_as_it_is(name, forms[0].function)

    def _parts(self) -> tuple[list[str], ...]:
        return self.imports, self.classes, self.definitions, self.needs

    def _function_as_it_is(self, name: str, function: FunctionType) -> None:
        node = node_of(function)
        if node is None:
            raise _unwritable(function)
        local = local_names(function)
        renamed: dict[str, str] = {}
        for wanted in sorted(global_names(function)):
            found, value = _looked_up(function, wanted)
            if not found:
                continue  # a builtin, or a name that is undefined
            if wanted in local and wanted not in function.__code__.co_freevars:
                raise _unwritable(function)
            if isinstance(value, ModuleType) and value.__name__.partition(".")[0] in OURS:
                raise _unwritable(function)
            renamed[wanted] = self.named(wanted, value)
            if renamed[wanted] in local - {wanted}:
                raise _unwritable(function)
        arguments = self._arguments(node.args, function)
        self.definitions.append(f"def {name}({arguments}):\n{_body_of(node, renamed)}\n")

    def _arguments(self, given: ast.arguments, function: FunctionType) -> str:
        """The parameters, with their defaults and without annotations."""
        names = [a.arg for a in (*given.posonlyargs, *given.args)]
        defaults = list(function.__defaults__ or ())
        first = len(names) - len(defaults)
        shown = [
            name if i < first else f"{name}={self.text(defaults[i - first])}"
            for i, name in enumerate(names)
        ]
        if given.vararg is not None:
            shown.append(f"*{given.vararg.arg}")
        elif given.kwonlyargs:
            shown.append("*")
        keywords = function.__kwdefaults__ or {}
        for a in given.kwonlyargs:
            has = a.arg in keywords
            shown.append(f"{a.arg}={self.text(keywords[a.arg])}" if has else a.arg)
        if given.kwarg is not None:
            shown.append(f"**{given.kwarg.arg}")
        return ", ".join(shown)


def _body_of(node: ast.FunctionDef | ast.Lambda, renamed: Mapping[str, str]) -> str:
    """The body of a function with renamed globals, and without annotations."""
    copied = ast.parse(ast.unparse(node)).body[0]
    rows: list[ast.stmt]
    if isinstance(copied, ast.FunctionDef):
        rows = copied.body
    else:
        assert isinstance(copied, ast.Expr)
        assert isinstance(copied.value, ast.Lambda)
        rows = [ast.Return(copied.value.body)]
    whole = ast.Module(rows, [])
    for inner in ast.walk(whole):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load):
            inner.id = renamed.get(inner.id, inner.id)
        elif isinstance(inner, ast.arg):
            inner.annotation = None
        elif isinstance(inner, ast.FunctionDef):
            inner.returns = None
        for field in ("body", "orelse", "finalbody"):
            block: Any = getattr(inner, field, None)
            if isinstance(block, list):
                block[:] = map(_unannotated, block)
    return textwrap.indent(ast.unparse(ast.fix_missing_locations(whole)), "    ")


def _unannotated(row: ast.stmt) -> ast.stmt:
    if not isinstance(row, ast.AnnAssign):
        return row
    return ast.Pass() if row.value is None else ast.Assign([row.target], row.value)


def documented(text: str) -> str:
    """The docstring literal of a text."""
    return ast.unparse(ast.Module([ast.Expr(ast.Constant(text))], []))


# ---- values -------------------------------------------------------------------------------


def _key(value: Any) -> Any:
    """A key for values: numbers by type and value, others by identity."""
    if value is None or type(value) in (bool, int, float, complex, str, bytes):
        return type(value), repr(value)
    return id(value)


def _function_in(value: Any) -> Any:
    """The Python function inside a compiled one, or inside one that is never compiled."""
    if isinstance(value, Interpreted):
        return _function_in(value.function)
    return getattr(value, "py_func", value)


def _looked_up(function: FunctionType, name: str) -> tuple[bool, Any]:
    """Return whether a name is found outside a function, apart from builtins, and its value."""
    code = function.__code__
    if name in code.co_freevars:
        cell = (function.__closure__ or ())[code.co_freevars.index(name)]
        return True, cell.cell_contents
    return name in function.__globals__, function.__globals__.get(name)


def _is_everywhere(module: object) -> bool:
    """Return whether a module is available wherever the code may run."""
    package = str(module).partition(".")[0]
    return package in sys.stdlib_module_names or package in EVERYWHERE


def _unwritable(value: Any) -> NotWritable:
    return NotWritable(
        f"{name_of(value) if callable(value) else repr(value)} cannot be written as Python: it has "
        "no source, and no module has it under its name",
        where=location_of(value) if isinstance(value, FunctionType) else None,
        help="define it in a module that can be imported",
    )
