"""Structure of the packages, read from their text: imports and their cycles, classes, functions.

Nothing is imported: the modules are parsed.
"""

import ast
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import PurePath

PACKAGES = ("overlay", "primitives", "inversion")
SUFFIXES = (".py", ".c", ".h")


@dataclass(frozen=True)
class Import:
    """An import of one module by another, at a line, either ``inside`` a function or at import
    time."""

    importer: str
    imported: str
    place: str
    inside: bool

    @property
    def pair(self) -> tuple[str, str]:
        """Both modules, without the line."""
        return self.importer, self.imported

    def __str__(self) -> str:
        return f"{self.place}: {self.importer} imports {self.imported}"


@dataclass(frozen=True)
class Definition:
    """A class with the names of its methods, or a function; ``name`` is its path in the module."""

    module: str
    name: str
    place: str
    lines: int
    methods: tuple[str, ...] = ()

    @property
    def last(self) -> str:
        """The name without its enclosing scopes."""
        return self.name.rpartition(".")[2]


@dataclass
class Structure:
    """Modules by name, with their files and their contents."""

    modules: dict[str, str] = field(default_factory=dict)
    imports: list[Import] = field(default_factory=list)
    classes: list[Definition] = field(default_factory=list)
    functions: list[Definition] = field(default_factory=list)
    lines: Counter[str] = field(default_factory=Counter)

    def importers(self) -> dict[str, set[str]]:
        """Maps each module to its importers."""
        found: dict[str, set[str]] = {name: set() for name in self.modules}
        for each in self.imports:
            found[each.imported].add(each.importer)
        return found

    def imported(self) -> dict[str, set[str]]:
        """Maps each module to the modules that it imports."""
        found: dict[str, set[str]] = {name: set() for name in self.modules}
        for each in self.imports:
            found[each.importer].add(each.imported)
        return found

    def cycles(self) -> list[list[str]]:
        """Import cycles: sets of modules that all reach one another, the largest first."""
        imported = self.imported()
        reached = {name: _reached(name, imported) for name in self.modules}
        found = {
            tuple(sorted(other for other in reached[name] if name in reached[other]))
            for name in self.modules
            if name in reached[name]
        }
        return sorted(map(list, found), key=lambda cycle: (-len(cycle), cycle))


def package_of(name: str) -> str:
    """The package of a module, from its dotted name or its path."""
    return name.replace("/", ".").partition(".")[0]


def is_product(path: str) -> bool:
    """Whether a path is a source file of one of the packages."""
    return package_of(path) in PACKAGES and "/" in path and path.endswith(SUFFIXES)


def read(texts: dict[str, str]) -> Structure:
    """Structure of source files, given as texts by their paths."""
    structure = Structure()
    for path, text in sorted(texts.items()):
        structure.lines[package_of(path)] += text.count("\n")
        if path.endswith(".py"):
            structure.modules[_module_of(path)] = path
    for module, path in structure.modules.items():
        _Reader(structure, module, path).visit(ast.parse(texts[path], path))
    return structure


def by_last_name(definitions: list[Definition]) -> dict[str, list[Definition]]:
    """Names of more than one definition, with these.

    Two definitions with the same path in a module, as in both branches of an ``if``, count as one.
    """
    found: dict[str, dict[tuple[str, str], Definition]] = defaultdict(dict)
    for each in definitions:
        found[each.last].setdefault((each.module, each.name), each)
    return {name: list(each.values()) for name, each in sorted(found.items()) if len(each) > 1}


def _lines_of_docstring(node) -> int:
    """The number of lines of a definition's docstring; 0 without one."""
    if ast.get_docstring(node, clean=False) is None:
        return 0
    first = node.body[0]
    return first.end_lineno - first.lineno + 1


def _module_of(path: str) -> str:
    return ".".join(PurePath(path).with_suffix("").parts).removesuffix(".__init__")


def _reached(start: str, imported: dict[str, set[str]]) -> set[str]:
    """All modules reachable by imports; the first is among them if it is in a cycle."""
    found: set[str] = set()
    ahead = [start]
    while ahead:
        new = imported[ahead.pop()] - found
        found |= new
        ahead.extend(new)
    return found


def _is_for_types(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


class _Reader(ast.NodeVisitor):
    """Adds the contents of one module to a structure."""

    def __init__(self, structure: Structure, module: str, path: str):
        self.structure, self.module, self.path = structure, module, path
        self.names: list[str] = []  # of the enclosing classes and functions
        self.in_function = self.for_types = False

    def visit_If(self, node: ast.If) -> None:
        if not _is_for_types(node.test):
            self.generic_visit(node)
            return
        before, self.for_types = self.for_types, True
        for each in node.body:
            self.visit(each)
        self.for_types = before
        for each in node.orelse:
            self.visit(each)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._add_import(node, alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        parts: list[str] = []
        if node.level:
            parts = self.module.split(".")
            is_package = PurePath(self.path).name == "__init__.py"
            del parts[len(parts) - node.level + is_package :]
        source = ".".join([*parts, *([node.module] if node.module else [])])
        for alias in node.names:
            name = f"{source}.{alias.name}"
            self._add_import(node, name if name in self.structure.modules else source)

    def visit_Call(self, node: ast.Call) -> None:
        """Record ``importlib.import_module("a.b")`` with a literal name, and the modules of
        ``lazy_names``, which a package imports late."""
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if called == "import_module" and node.args and isinstance(node.args[0], ast.Constant):
            self._add_import(node, str(node.args[0].value))
        if called == "lazy_names" and len(node.args) == 2 and isinstance(node.args[1], ast.Dict):
            for home in node.args[1].keys:
                if isinstance(home, ast.Constant):
                    self._add_import(home, f"{self.module}.{home.value}", inside=True)
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        methods = {each.name for each in node.body if isinstance(each, kinds)}
        self.structure.classes.append(self._definition(node, tuple(sorted(methods))))
        self._visit_inside(node, self.in_function)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.structure.functions.append(self._definition(node))
        self._visit_inside(node, True)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815, the name that ast asks for

    def _visit_inside(self, node, in_function: bool) -> None:
        before, self.in_function = self.in_function, in_function
        self.names.append(node.name)
        self.generic_visit(node)
        self.names.pop()
        self.in_function = before

    def _definition(self, node, methods: tuple[str, ...] = ()) -> Definition:
        lines = node.end_lineno - node.lineno + 1 - _lines_of_docstring(node)
        name = ".".join([*self.names, node.name])
        return Definition(self.module, name, f"{self.path}:{node.lineno}", lines, methods)

    def _add_import(self, node, name: str, inside: bool = False) -> None:
        if self.for_types or name == self.module or name not in self.structure.modules:
            return
        place = f"{self.path}:{node.lineno}"
        self.structure.imports.append(Import(self.module, name, place, self.in_function or inside))
