"""The AST of a function, for loops that are rewritten."""

from __future__ import annotations

import ast
import copy
import inspect
import textwrap
from types import CodeType, FunctionType, ModuleType
from typing import Any

from overlay.interpretations.parallel.purity_proof import NotProved

__all__ = ["tree_of"]


def tree_of(function: FunctionType) -> ast.FunctionDef:
    """The AST of a function. Raises NotProved if it has no source, or the source is not the code
    that runs."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError, TypeError) as error:
        raise NotProved(f"{function.__qualname__} has no source to read") from error
    found = tree.body[0]
    if not isinstance(found, ast.FunctionDef):
        raise NotProved(f"{function.__qualname__} is not defined by def")
    ast.increment_lineno(tree, first - 1)
    if not _is_code_of(found, function):
        raise NotProved(f"the source of {function.__qualname__} is not what runs")
    return found


def _is_code_of(tree: ast.FunctionDef, function: FunctionType) -> bool:
    """Whether a definition compiles to a function's code, apart from positions."""
    code = function.__code__
    bare = copy.copy(tree)
    bare.decorator_list = []
    body: list[ast.stmt] = [bare]
    if code.co_freevars:  # variables of an enclosing function
        around = ast.parse("def around():\n pass").body[0]
        assert isinstance(around, ast.FunctionDef)
        held = [ast.parse(f"{name} = 0").body[0] for name in code.co_freevars]
        around.body = [*held, bare]
        body = [around]
    # attributes of modules imported in the same source compile to other instructions
    names = [n for n in _names(code) if isinstance(function.__globals__.get(n), ModuleType)]
    imports = [ast.parse(f"import {name}").body[0] for name in names]
    return any(_compiles_to(code, [*before, *body]) for before in ([], imports))


def _names(code: CodeType) -> list[str]:
    """The names that code, and code of functions in it, reads."""
    nested = [name for each in code.co_consts if type(each) is CodeType for name in _names(each)]
    return list(dict.fromkeys((*code.co_names, *nested)))


def _compiles_to(code: CodeType, body: list[ast.stmt]) -> bool:
    module = ast.fix_missing_locations(ast.Module(body, []))
    flags = code.co_flags & 0x1FF0000  # the flags of __future__ imports
    made: Any = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
    for _ in range(2 if code.co_freevars else 1):
        made = next((each for each in made.co_consts if type(each) is CodeType), None)
        if made is None:
            return False
    return _text(made) == _text(code)


def _text(code: CodeType) -> Any:
    consts = [_text(c) if type(c) is CodeType else (type(c), c) for c in code.co_consts]
    return code.co_code, consts, code.co_names, code.co_varnames, code.co_freevars
