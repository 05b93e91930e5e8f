"""Slices of functions: without some calls, and without the statements only these need."""

from __future__ import annotations
import __future__

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from types import CodeType, FunctionType
from typing import Any

from overlay.core.target import with_code
from overlay.interpretations.printing.printed_effects import CallsInSource

__all__ = ["sliced", "sliced_source"]

Definition = ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = ("body", "orelse", "finalbody")
_FUTURES = __future__.annotations.compiler_flag
_GUARDS = (ast.Try, ast.TryStar, ast.With, ast.AsyncWith)
_LOOKING = ("locals", "vars", "eval", "exec", "dir")


def sliced(
    function: FunctionType, targets: Sequence[Any], pure: Iterable[Any] = ()
) -> FunctionType | None:
    """The function without statements that call one of the targets, and without those only these
    need; None if there are none, or without source."""
    node = _definition(function)
    if node is None or not _slice(node, CallsInSource(function, node, pure), targets):
        return None
    return _compiled(function, node)


def sliced_source(function: FunctionType, targets: Sequence[Any], pure: Iterable[Any] = ()) -> str:
    """The source of ``sliced``, without comments; empty without source."""
    node = _definition(function)
    if node is None:
        return ""
    _slice(node, CallsInSource(function, node, pure), targets)
    return ast.unparse(node)


def _definition(function: FunctionType) -> Definition | None:
    """The AST of the statement that defines a function, with the line numbers of its file."""
    try:
        source = inspect.getsource(function.__code__)
        tree = ast.parse("if 1:\n" + source if source[:1].isspace() else source)
    except (OSError, TypeError, SyntaxError):
        return None
    shift = function.__code__.co_firstlineno - (2 if source[:1].isspace() else 1)
    ast.increment_lineno(tree, shift)
    found = [n for n in ast.walk(tree) if isinstance(n, _DEFINITIONS)]
    if not found or found[0].name != function.__code__.co_name:
        return None  # a lambda, or code from elsewhere
    found[0].decorator_list = []
    return found[0]


# ---- slicing ------------------------------------------------------------------------------


def _slice(node: Definition, calls: CallsInSource, targets: Sequence[Any]) -> bool:
    """Slice a definition in place, and return whether it has changed."""
    guarded = _guarded(node)

    def rest_of(statement: ast.stmt) -> list[ast.stmt]:
        if not isinstance(statement, ast.Expr) or not calls.is_call_of(statement.value, targets):
            return [statement]
        is_needless = _is_safe if id(statement) in guarded else calls.is_pure
        return _arguments_of(statement.value, is_needless)

    if not _replaced(_blocks(node), rest_of):
        return False
    looks = any(isinstance(n, ast.Name) and n.id in _LOOKING for n in ast.walk(node))
    while not looks and _leave_out_needless(node, calls, guarded):
        pass
    for block in _blocks(node):
        if not block:
            block.append(ast.Pass())
    ast.fix_missing_locations(node)
    return True


def _guarded(node: Definition) -> set[int]:
    """The ids of the statements in a ``try`` or ``with``, which may handle their errors."""
    guards = [inner for inner in ast.walk(node) if isinstance(inner, _GUARDS)]
    return {id(inner) for guard in guards for inner in ast.walk(guard) if inner is not guard}


def _is_safe(value: ast.expr) -> bool:
    """Whether a value cannot raise an error."""
    return isinstance(value, ast.Constant)


def _leave_out_needless(node: Definition, calls: CallsInSource, guarded: set[int]) -> bool:
    counters = _counters(node)
    needed = _names_needed(node, calls, counters)

    def rest_of(statement: ast.stmt) -> list[ast.stmt]:
        if id(statement) in guarded and not _is_safe_assignment(statement):
            return [statement]
        return [] if _is_needless(statement, calls, needed, counters) else [statement]

    return _replaced(_blocks(node, classes=False), rest_of)


def _is_safe_assignment(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and _is_safe(statement.value)


def _arguments_of(call: Any, is_needless: Callable[[ast.expr], bool]) -> list[ast.stmt]:
    """The arguments of a call that are needed, as statements."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    found: list[ast.stmt] = []
    for argument in given:
        if not is_needless(argument):
            starred = isinstance(argument, ast.Starred)
            value = ast.Tuple([argument], ast.Load()) if starred else argument
            found.append(ast.copy_location(ast.Expr(value), call))
    return found


def _replaced(
    blocks: Iterable[list[ast.stmt]], rest_of: Callable[[ast.stmt], list[ast.stmt]]
) -> bool:
    """Replace each statement by its slice, and return whether any has changed."""
    changed = False
    for block in blocks:
        rest = [part for statement in block for part in rest_of(statement)]
        changed = changed or rest != block
        block[:] = rest
    return changed


def _blocks(node: ast.AST, *, classes: bool = True) -> list[list[ast.stmt]]:
    """The statement lists in a definition, without empty ``else`` branches. classes: whether to
    include class bodies, whose variables are attributes."""
    blocks: list[list[ast.stmt]] = []
    for inner in ast.walk(node):
        for name in _BLOCKS if classes or not isinstance(inner, ast.ClassDef) else ():
            block = getattr(inner, name, None)
            if isinstance(block, list) and (block or name == "body"):
                blocks.append(block)
    return blocks


def _names_needed(node: Definition, calls: CallsInSource, counters: set[str]) -> Counter[str]:
    """The number of uses of each name: reads other than ``x += 1``, and global or nonlocal
    declarations."""
    needed: Counter[str] = Counter()
    for inner in ast.walk(node):
        if isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name):
            counts = inner.target.id in counters and calls.is_pure(inner.value)
            needed[inner.target.id] += not counts
        if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Store):
            needed[inner.id] += 1
        if isinstance(inner, (ast.Global, ast.Nonlocal)):
            needed.update(inner.names)
    return needed


def _counters(node: Definition) -> set[str]:
    """Variables that are initialised with a number or text, so that ``x += 1`` has no other
    effect."""
    found: set[str] = set()
    others = {argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg)}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assign) and isinstance(inner.value, ast.Constant):
            found |= {target.id for target in inner.targets if isinstance(target, ast.Name)}
        elif isinstance(inner, (ast.Assign, ast.For, ast.With, ast.NamedExpr, ast.AnnAssign)):
            others |= _bound_by(inner)
    return found - others


def _bound_by(statement: ast.AST) -> set[str]:
    """The names that a statement itself binds, without those bound in its body."""
    places = (getattr(statement, name, None) for name in ("target", "targets", "items"))
    found = [part for place in places for part in (place if isinstance(place, list) else [place])]
    parts = [n for part in found if isinstance(part, ast.AST) for n in ast.walk(part)]
    return {part.id for part in parts if isinstance(part, ast.Name)}


def _is_needless(
    statement: ast.stmt, calls: CallsInSource, needed: Counter[str], counters: set[str]
) -> bool:
    if isinstance(statement, ast.If):
        return not statement.body and not statement.orelse and calls.is_pure(statement.test)
    if isinstance(statement, ast.For) and not statement.body and not statement.orelse:
        is_pure = isinstance(statement.iter, ast.Call) and calls.is_pure(statement.iter)
        return is_pure and calls.keeps_iterators(statement.iter)
    if isinstance(statement, ast.AugAssign) and _name_of(statement.target) not in counters:
        return False
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return False
    value = statement.value
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return (
        all(isinstance(target, ast.Name) and not needed[target.id] for target in targets)
        and value is not None
        and calls.is_pure(value)
    )


def _name_of(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


# ---- compiling ----------------------------------------------------------------------------


def _compiled(function: FunctionType, node: Definition) -> FunctionType:
    """The function with the code of another definition, and its own closure, defaults and names."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    code = _code_of(function, node, tuple(cells))
    return with_code(function, code, [cells[name] for name in code.co_freevars])


def _code_of(function: FunctionType, node: Definition, free: tuple[str, ...]) -> CodeType:
    """The code of a definition, compiled in the scope of its free variables, and in a class of its
    class's name, for private name mangling."""
    path = function.__qualname__.split(".")
    inside: list[ast.stmt] = [node]
    if len(path) > 1 and path[-2].isidentifier():
        holder = ast.parse(f"class {path[-2]}: pass").body[0]
        vars(holder)["body"] = inside
        inside = [holder]
    outer = ast.parse(f"def outer({', '.join(n for n in free if n != '__class__')}): pass")
    vars(outer.body[0])["body"] = inside
    ast.fix_missing_locations(outer)
    flags = function.__code__.co_flags & _FUTURES
    compiled = compile(outer, function.__code__.co_filename, "exec", flags, dont_inherit=True)
    return next(code for code in _codes_in(compiled) if _is_of(code, node))


def _is_of(code: CodeType, node: Definition) -> bool:
    return code.co_name == node.name and code.co_firstlineno == node.lineno


def _codes_in(code: CodeType) -> list[CodeType]:
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return inner + [deeper for each in inner for deeper in _codes_in(each)]
