"""Proofs that a function does nothing but compute from its arguments.

The function's source is read, and that of what it calls. Each local variable holds plain data of
one of three kinds: what cannot change, what was made in the call, or what may be somebody else's.
Only what was made in the call may be changed. Anything that is not known is refused.
"""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from types import CodeType, FunctionType, ModuleType
from typing import Any

from overlay.core.location import name_of, shown
from overlay.interpretations.parallel.known_effects import (
    FRESH,
    IMMUTABLE_RESULT,
    MUTATORS,
    READERS,
    SETS,
    computes,
    place_of_out,
)
from overlay.interpretations.parallel.loop_data import is_immutable

__all__ = ["Kind", "NotProved", "Proof", "Read", "plain_function", "prove", "tree_of"]


class Kind(IntEnum):
    """What is known of plain data: it cannot change; it was made in the call, and so was all that
    is in it; it may be somebody's array, if it is not new; or it may be anybody's."""

    IMMUTABLE = 0
    NEW = 1
    ARRAY = 2
    SHARED = 3


class NotProved(Exception):
    """A function may do more than compute. reason: what, and where."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Read:
    """A name that a function reads from outside, and what it held."""

    name: str
    value: Any


@dataclass
class Proof:
    """That a function computes from arguments of these kinds and does nothing else.

    kind: of the result. sets: whether sets may be made. functions: all that run, with the names
    that they read. attributes: those of modules that they read.
    """

    kind: Kind = Kind.IMMUTABLE
    sets: bool = False
    functions: dict[int, tuple[FunctionType, CodeType, Any, list[Read]]] = field(
        default_factory=dict[int, Any]
    )
    attributes: dict[tuple[int, str], tuple[ModuleType, str, Any]] = field(
        default_factory=dict[Any, Any]
    )

    def holds(self) -> bool:
        """Whether all that the functions read is still what it was."""
        for function, code, defaults, reads in self.functions.values():
            if function.__code__ is not code or function.__defaults__ is not defaults:
                return False
            for read in reads:
                if value_of(function, read.name) is not read.value:
                    return False
        return all(getattr(m, name, None) is value for m, name, value in self.attributes.values())


_MISSING = object()
_NOT_FOLLOWED = (None, "out", "where", "key", "overwrite_input")


def value_of(function: FunctionType, name: str) -> Any:
    """What a function finds under a name from outside."""
    if name in function.__code__.co_freevars:
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:
            return _MISSING
    found = function.__globals__.get(name, _MISSING)
    return getattr(builtins, name, _MISSING) if found is _MISSING else found


def plain_function(callee: Any) -> FunctionType | None:
    """The Python function that a callable runs: itself, or that of a numba dispatcher."""
    plain = callee
    if type(callee).__module__.startswith("numba."):
        plain = getattr(callee, "py_func", None)
    return plain if type(plain) is FunctionType else None


def prove(callee: Any, kinds: tuple[Kind, ...], named: dict[str, Kind]) -> Proof:
    """The proof for a function called with arguments of these kinds, by position and by name.
    Raises NotProved."""
    checker = _Checker()
    function = plain_function(callee)
    if function is None:
        raise NotProved(f"{name_of(callee)} is no Python function")
    checker.proof.kind = checker.call(function, list(kinds), named)
    return checker.proof


def tree_of(function: FunctionType) -> ast.FunctionDef:
    """The source of a function. Raises NotProved where there is none, or it is not what runs."""
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError, TypeError) as error:
        raise NotProved(f"{name_of(function)} has no source to read") from error
    found = tree.body[0]
    if not isinstance(found, ast.FunctionDef):
        raise NotProved(f"{name_of(function)} is not defined by def")
    ast.increment_lineno(tree, first - 1)
    if not _is_code_of(found, function):
        raise NotProved(f"the source of {name_of(function)} is not what runs")
    return found


def _is_code_of(tree: ast.FunctionDef, function: FunctionType) -> bool:
    """Whether source compiles to a function's code, but for where it stands."""
    code = function.__code__
    bare = copy.copy(tree)
    bare.decorator_list = []
    body: list[ast.stmt] = [bare]
    if code.co_freevars:  # they are variables of a function around
        around = ast.parse("def around():\n pass").body[0]
        assert isinstance(around, ast.FunctionDef)
        held = [ast.parse(f"{name} = 0").body[0] for name in code.co_freevars]
        around.body = [*held, bare]
        body = [around]
    # attributes of what is imported in the same text are compiled in another way
    names = [n for n in _names(code) if isinstance(function.__globals__.get(n), ModuleType)]
    imports = [ast.parse(f"import {name}").body[0] for name in names]
    return any(_compiles_to(code, [*before, *body]) for before in ([], imports))


def _names(code: CodeType) -> list[str]:
    """The names that code reads, and that of functions in it."""
    nested = [name for each in code.co_consts if type(each) is CodeType for name in _names(each)]
    return list(dict.fromkeys((*code.co_names, *nested)))


def _compiles_to(code: CodeType, body: list[ast.stmt]) -> bool:
    module = ast.fix_missing_locations(ast.Module(body, []))
    flags = code.co_flags & 0x1FF0000  # those of from __future__
    made: Any = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
    for _ in range(2 if code.co_freevars else 1):
        made = next((each for each in made.co_consts if type(each) is CodeType), None)
        if made is None:
            return False
    return _text(made) == _text(code)


def _text(code: CodeType) -> Any:
    consts = [_text(c) if type(c) is CodeType else (type(c), c) for c in code.co_consts]
    return code.co_code, consts, code.co_names, code.co_varnames, code.co_freevars


# ---- the checker ------------------------------------------------------------------------------


class _Checker:
    """Proves one function with all that it calls."""

    def __init__(self) -> None:
        self.proof = Proof()
        self._known: dict[Any, Kind] = {}
        self._open: set[Any] = set()

    def call(self, function: FunctionType, kinds: list[Kind], named: dict[str, Kind]) -> Kind:
        """The kind of what a function gives for arguments of these kinds."""
        key = function, tuple(kinds), tuple(named.items())
        if key in self._open:
            return self._known[key]  # recursion: what is known so far
        if key in self._known:
            return self._known[key]
        self._known[key] = Kind.IMMUTABLE
        before = set(self._known)
        while True:
            self._open.add(key)
            found = _Body(self, function, kinds, named).result
            self._open.discard(key)
            if found <= self._known[key]:
                return self._known[key]
            for other in self._known.keys() - before:  # they may rest on what was known of this
                del self._known[other]
            self._known[key] = found

    def note(self, function: FunctionType, reads: list[Read]) -> None:
        """A function runs, which reads these names."""
        known = self.proof.functions.get(id(function))
        rest = [] if known is None else [r for r in known[3] if r not in reads]
        self.proof.functions[id(function)] = (
            function,
            function.__code__,
            function.__defaults__,
            [*rest, *reads],
        )


class _Body:
    """The body of one function, for arguments of given kinds."""

    def __init__(
        self, checker: _Checker, function: FunctionType, kinds: list[Kind], named: dict[str, Kind]
    ) -> None:
        self.checker = checker
        self.function = function
        self.tree = tree_of(function)
        self.reads: list[Read] = []
        self.iterated: set[int] = set()
        self.locals = {*function.__code__.co_varnames, *function.__code__.co_cellvars}
        self.result = Kind.IMMUTABLE
        self.variables = self._parameters(kinds, named)
        if function.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
            self.refuse(self.tree, "is a generator")
        while True:  # what is known of variables only grows
            before = dict(self.variables)
            self.block(self.tree.body)
            if before == self.variables:
                break
        checker.note(function, self.reads)

    def refuse(self, node: ast.AST, what: str) -> Any:
        """Raise NotProved."""
        where = shown(self.function.__code__.co_filename, getattr(node, "lineno", None))
        raise NotProved(f"{name_of(self.function)} {what}   [{where}]")

    def _parameters(self, kinds: list[Kind], named: dict[str, Kind]) -> dict[str, Kind]:
        arguments = self.tree.args
        if arguments.vararg or arguments.kwarg:
            self.refuse(self.tree, "takes any number of arguments")
        names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        defaults = {
            **dict(zip(reversed(names), reversed(self.function.__defaults__ or ()), strict=False)),
            **(self.function.__kwdefaults__ or {}),
        }
        if len(kinds) > len(names):
            self.refuse(self.tree, "is given more arguments than it takes")
        found = {**dict(zip(names, kinds, strict=False)), **named}
        for name, value in defaults.items():
            if name not in found:
                if not is_immutable(value):
                    self.refuse(self.tree, f"has a default of {name} that can change")
                found[name] = Kind.IMMUTABLE
        return found

    # ---- statements ----

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            method = _STATEMENTS.get(type(statement))
            if method is None:
                self.refuse(statement, f"has a statement {type(statement).__name__.lower()}")
            else:
                method(self, statement)

    def _do_pass(self, node: ast.Pass) -> None: ...

    def _do_break(self, node: ast.Break) -> None: ...

    def _do_continue(self, node: ast.Continue) -> None: ...

    def _do_expr(self, node: ast.Expr) -> None:
        self.value(node.value)

    def _do_return(self, node: ast.Return) -> None:
        if node.value is not None:
            self.result = max(self.result, self.value(node.value))

    def _do_assign(self, node: ast.Assign) -> None:
        kind = self.value(node.value)
        for target in node.targets:
            self.store(target, kind)

    def _do_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.store(node.target, self.value(node.value))

    def _do_augassign(self, node: ast.AugAssign) -> None:
        kind = self.value(node.value)
        if isinstance(node.target, ast.Name):
            self.changed(node, self._loaded(node.target), kind)
            self.store(node.target, max(kind, self._loaded(node.target)))
        elif isinstance(node.target, ast.Subscript):
            self.changed(node, self.value(node.target), kind)
            self.store(node.target, kind)
        else:
            self.refuse(node, "sets an attribute")

    def _do_if(self, node: ast.If) -> None:
        self.value(node.test)
        self.block(node.body)
        self.block(node.orelse)

    def _do_for(self, node: ast.For) -> None:
        self.iterated.add(id(node.iter))
        self.store(node.target, self.value(node.iter))
        self.block(node.body)
        self.block(node.orelse)

    def _do_assert(self, node: ast.Assert) -> None:
        self.value(node.test)
        if node.msg is not None:
            self.value(node.msg)

    def _do_raise(self, node: ast.Raise) -> None:
        if node.exc is None or node.cause is not None:
            self.refuse(node, "raises an error in a way that is not followed")
        elif isinstance(node.exc, ast.Call):
            self.value(node.exc)
        elif not computes(self.callee(node.exc)):
            self.refuse(node, "raises an error of another class than Python's")

    def _do_try(self, node: ast.Try) -> None:
        for handler in node.handlers:
            if handler.name is not None:
                self.refuse(handler, "keeps an exception")
            self._handled(handler.type)
            self.block(handler.body)
        self.block(node.body)
        self.block(node.orelse)
        self.block(node.finalbody)

    def _handled(self, node: ast.expr | None) -> None:
        """The classes of exceptions that are handled have to be Python's."""
        classes = node.elts if isinstance(node, ast.Tuple) else [] if node is None else [node]
        for each in classes:
            if not computes(self.callee(each)):
                self.refuse(each, "handles exceptions of another class than Python's")

    # ---- what is stored ----

    def store(self, target: ast.expr, kind: Kind) -> None:
        """Assign a value of a kind."""
        if isinstance(target, ast.Name):
            self.variables[target.id] = max(kind, self.variables.get(target.id, kind))
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part in target.elts:
                self.store(part, kind)
        elif isinstance(target, ast.Starred):
            self.store(target.value, Kind.SHARED if kind is Kind.ARRAY else max(kind, Kind.NEW))
        elif isinstance(target, ast.Subscript):
            self.value(target.slice)
            self.changed(target, self.value(target.value), kind)
        else:
            self.refuse(target, "sets an attribute")

    def changed(self, node: ast.AST, owner: Kind, kind: Kind) -> None:
        """Something is stored in what may be a container."""
        if owner > Kind.NEW:
            self.refuse(node, "changes what it may not have made")
        if owner is Kind.NEW and kind > Kind.NEW:
            self.refuse(node, "keeps what it did not make in what it has made")

    # ---- expressions ----

    def value(self, node: ast.expr) -> Kind:
        """The kind of what an expression gives."""
        method = _EXPRESSIONS.get(type(node))
        if method is None:
            return self.refuse(node, f"has an expression {type(node).__name__.lower()}")
        return method(self, node)

    def _of_constant(self, node: ast.Constant) -> Kind:
        return Kind.IMMUTABLE

    def _of_name(self, node: ast.Name) -> Kind:
        return self._loaded(node)

    def _loaded(self, node: ast.Name) -> Kind:
        if node.id in self.variables:
            return self.variables[node.id]
        if node.id in self.locals:
            return Kind.IMMUTABLE  # it is not set yet
        value = self.outer(node)
        if not is_immutable(value) and not (isinstance(value, type) and computes(value)):
            self.refuse(node, f"reads {node.id}, which can change")
        return Kind.IMMUTABLE

    def outer(self, node: ast.Name) -> Any:
        """What a name from outside holds."""
        value = value_of(self.function, node.id)
        if value is _MISSING:
            self.refuse(node, f"reads {node.id}, which is not there")
        self.reads.append(Read(node.id, value))
        return value

    def _together(self, *nodes: ast.expr | None) -> Kind:
        kinds = [self.value(node) for node in nodes if node is not None]
        return max(kinds, default=Kind.IMMUTABLE)

    def _of_binop(self, node: ast.BinOp) -> Kind:
        kind = self._together(node.left, node.right)
        if kind is Kind.SHARED and isinstance(node.op, ast.Add | ast.Mult):
            return kind  # lists that hold the same
        return min(kind, Kind.NEW)

    def _of_unaryop(self, node: ast.UnaryOp) -> Kind:
        return min(self.value(node.operand), Kind.NEW)

    def _holding(self, *nodes: ast.expr | None) -> Kind:
        """The kind of a container of these."""
        kind = self._together(*nodes)
        return Kind.SHARED if kind is Kind.ARRAY else kind

    def _of_boolop(self, node: ast.BoolOp) -> Kind:
        return self._together(*node.values)

    def _of_compare(self, node: ast.Compare) -> Kind:
        return min(self._together(node.left, *node.comparators), Kind.NEW)

    def _of_ifexp(self, node: ast.IfExp) -> Kind:
        self.value(node.test)
        return self._together(node.body, node.orelse)

    def _of_subscript(self, node: ast.Subscript) -> Kind:
        self.value(node.slice)
        return self.value(node.value)

    def _of_slice(self, node: ast.Slice) -> Kind:
        return self._together(node.lower, node.upper, node.step)

    def _of_starred(self, node: ast.Starred) -> Kind:
        return self.value(node.value)

    def _of_tuple(self, node: ast.Tuple) -> Kind:
        return self._holding(*node.elts)

    def _of_list(self, node: ast.List) -> Kind:
        return max(Kind.NEW, self._holding(*node.elts))

    def _of_set(self, node: ast.Set) -> Kind:
        self.checker.proof.sets = True
        return max(Kind.NEW, self._holding(*node.elts))

    def _of_dict(self, node: ast.Dict) -> Kind:
        return max(Kind.NEW, self._holding(*node.keys, *node.values))

    def _of_joinedstr(self, node: ast.JoinedStr) -> Kind:
        self._together(*node.values)
        return Kind.IMMUTABLE

    def _of_formattedvalue(self, node: ast.FormattedValue) -> Kind:
        return self._together(node.value, node.format_spec)

    def _of_listcomp(self, node: Any) -> Kind:
        for part in node.generators:
            if part.is_async:
                self.refuse(node, "is asynchronous")
            self.iterated.add(id(part.iter))
            self.store(part.target, self.value(part.iter))
            self._together(*part.ifs)
        if isinstance(node, ast.SetComp):
            self.checker.proof.sets = True
        parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
        return max(Kind.NEW, self._holding(*parts))

    def _of_attribute(self, node: ast.Attribute) -> Kind:
        if self._is_module(node.value):
            value = self.callee(node)
            if is_immutable(value) or (isinstance(value, type) and computes(value)):
                return Kind.IMMUTABLE
            return self.refuse(node, f"reads {node.attr} of a module, which can change")
        kind = self.value(node.value)
        if node.attr in ("shape", "size", "ndim"):
            return Kind.IMMUTABLE
        if node.attr in ("T", "real", "imag"):
            return kind
        return self.refuse(node, f"reads the attribute {node.attr}")

    # ---- calls ----

    def _is_module(self, node: ast.expr) -> bool:
        while isinstance(node, ast.Attribute):
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self.locals:
            return False
        return isinstance(value_of(self.function, node.id), ModuleType)

    def callee(self, node: ast.expr) -> Any:
        """The object that a name, or an attribute of a module, stands for."""
        if isinstance(node, ast.Name):
            if node.id in self.locals or node.id in self.variables:
                self.refuse(node, f"calls {node.id}, which it is given")
            return self.outer(node)
        if isinstance(node, ast.Attribute):
            owner = self.callee(node.value)
            if isinstance(owner, ModuleType) and hasattr(owner, node.attr):
                value = getattr(owner, node.attr)
                self.checker.proof.attributes[id(owner), node.attr] = owner, node.attr, value
                return value
        return self.refuse(node, "calls what is not known")

    def _of_call(self, node: ast.Call) -> Kind:
        if isinstance(node.func, ast.Attribute) and not self._is_module(node.func):
            return self._method(node, node.func)
        callee = self.callee(node.func)
        args = [self._argument(each) for each in node.args]
        if any(keyword.arg in _NOT_FOLLOWED for keyword in node.keywords):
            self.refuse(node, "gives arguments that are not followed")
        named = {str(each.arg): self.value(each.value) for each in node.keywords}
        kind = max((*args, *named.values()), default=Kind.IMMUTABLE)
        function = plain_function(callee)
        if function is not None:
            if any(isinstance(each, ast.Starred) for each in node.args):
                self.refuse(node, "spreads arguments")
            return self.checker.call(function, args, named)
        if not computes(callee):
            return self.refuse(node, f"calls {name_of(callee)}, of which nothing is known")
        return self._known(node, callee, kind)

    def _known(self, node: ast.Call, callee: Any, kind: Kind) -> Kind:
        """The kind of what a function gives that only computes."""
        if id(callee) in IMMUTABLE_RESULT and kind is Kind.IMMUTABLE:
            return Kind.IMMUTABLE
        out = None if isinstance(callee, type) else place_of_out(callee)
        spreads = any(isinstance(each, ast.Starred) for each in node.args)
        if out is not None and (len(node.args) > out or spreads):
            self.refuse(node, "gives an array to write into")
        if id(callee) in SETS:
            self.checker.proof.sets = True
        if id(callee) in FRESH or hasattr(callee, "nout"):
            return Kind.NEW
        if kind is Kind.ARRAY and callee is sum:
            return Kind.NEW
        if kind is Kind.ARRAY and isinstance(callee, type):
            return Kind.SHARED  # a container of its rows
        return max(kind, Kind.NEW)

    def _argument(self, node: ast.expr) -> Kind:
        if isinstance(node, ast.GeneratorExp):
            return self._of_listcomp(node)
        return self.value(node)

    def _method(self, node: ast.Call, function: ast.Attribute) -> Kind:
        """A method of plain data."""
        owner = self.value(function.value)
        if any(keyword.arg in _NOT_FOLLOWED for keyword in node.keywords):
            self.refuse(node, "gives arguments that are not followed")
        values = [self._argument(each) for each in node.args]
        values += [self.value(each.value) for each in node.keywords]
        given = max(values, default=Kind.IMMUTABLE)
        if function.attr in MUTATORS:
            self.changed(node, owner, given)
            return max(owner, given)
        if function.attr not in READERS:
            self.refuse(node, f"calls a method {function.attr}, of which nothing is known")
        if any(kind is not Kind.IMMUTABLE for kind in values[1:]):
            self.refuse(node, f"gives {function.attr} what it may write into")
        if function.attr in ("keys", "items") and id(node) not in self.iterated:
            self.checker.proof.sets = True  # they can be joined to sets
        return max(owner, given, Kind.NEW)


_STATEMENTS: dict[type, Callable[..., None]] = {
    ast.Pass: _Body._do_pass,
    ast.Break: _Body._do_break,
    ast.Continue: _Body._do_continue,
    ast.Expr: _Body._do_expr,
    ast.Return: _Body._do_return,
    ast.Assign: _Body._do_assign,
    ast.AnnAssign: _Body._do_annassign,
    ast.AugAssign: _Body._do_augassign,
    ast.If: _Body._do_if,
    ast.For: _Body._do_for,
    ast.Assert: _Body._do_assert,
    ast.Raise: _Body._do_raise,
    ast.Try: _Body._do_try,
    ast.While: _Body._do_if,
}
_EXPRESSIONS: dict[type, Callable[..., Kind]] = {
    ast.Constant: _Body._of_constant,
    ast.Name: _Body._of_name,
    ast.BinOp: _Body._of_binop,
    ast.UnaryOp: _Body._of_unaryop,
    ast.BoolOp: _Body._of_boolop,
    ast.Compare: _Body._of_compare,
    ast.IfExp: _Body._of_ifexp,
    ast.Subscript: _Body._of_subscript,
    ast.Slice: _Body._of_slice,
    ast.Starred: _Body._of_starred,
    ast.Tuple: _Body._of_tuple,
    ast.List: _Body._of_list,
    ast.Set: _Body._of_set,
    ast.Dict: _Body._of_dict,
    ast.JoinedStr: _Body._of_joinedstr,
    ast.FormattedValue: _Body._of_formattedvalue,
    ast.ListComp: _Body._of_listcomp,
    ast.Attribute: _Body._of_attribute,
    ast.Call: _Body._of_call,
    ast.SetComp: _Body._of_listcomp,
    ast.DictComp: _Body._of_listcomp,
}
