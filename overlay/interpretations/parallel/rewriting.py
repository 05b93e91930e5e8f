"""Functions rewritten so that their loops use speculative calls.

``for x in xs: ... g(x) ...`` becomes ``for x, ask in parallel(xs, ...): ... ask[0](g)(x) ...``,
which runs ``g(x)`` itself where ``ask[0]`` is None.

The loop is also given functions that predict its future calls: expressions that compute with plain
data only and have no other effect.
"""

from __future__ import annotations

import ast
import builtins
import copy
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, Final

from overlay.core.location import shown
from overlay.core.target import with_code
from overlay.interpretations.parallel.function_source import tree_of
from overlay.interpretations.parallel.purity_proof import NotProved, plain_function, value_of

__all__ = ["LoopSite", "callees_in", "rewritten"]

HELPER: Final = "parallel__"
ASK: Final = "ask__"
AHEAD: Final = frozenset(
    {"range", "zip", "enumerate", "reversed", "len", "abs", "min", "max", "int"}
)
"""The builtins that may be called in predictions."""


@dataclass
class LoopSite:
    """A loop. calls: the functions whose calls may be made ahead. reason: the reason why there are
    none, or None."""

    where: str
    calls: tuple[str, ...] = ()
    reason: str | None = None


class NotAhead(Exception):
    """An expression cannot be evaluated ahead."""


def rewritten(function: FunctionType, helper: Any, sites: list[LoopSite]) -> FunctionType | None:
    """The function with loops that use speculative calls; None if it has no such loops. sites: the
    list to which all its loops are added. Raises NotProved if there is no source."""
    tree = copy.deepcopy(tree_of(function))
    first = len(sites)
    _Loops(function, sites).visit(tree)
    if all(site.reason is not None for site in sites[first:]):
        return None
    return _made(tree, function, helper)


def _made(tree: ast.FunctionDef, function: FunctionType, helper: Any) -> FunctionType:
    tree.decorator_list = []
    names = [*function.__code__.co_freevars, HELPER]
    around = ast.parse(f"def around({', '.join(names)}):\n pass").body[0]
    assert isinstance(around, ast.FunctionDef)
    around.body = [tree]
    module = ast.fix_missing_locations(ast.Module([around], []))
    flags = function.__code__.co_flags & 0x1FF0000
    code: Any = compile(
        module, function.__code__.co_filename, "exec", flags=flags, dont_inherit=True
    )
    for _ in range(2):
        code = next(each for each in code.co_consts if type(each) is CodeType)
    code = code.replace(co_qualname=function.__code__.co_qualname)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[HELPER] = CellType(helper)
    return with_code(function, code, [cells[name] for name in code.co_freevars])


def callees_in(function: FunctionType) -> list[FunctionType]:
    """The Python functions that a function visibly calls by name."""
    found: list[FunctionType] = []
    try:
        tree = tree_of(function)
    except NotProved:
        return []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            callee = _callee(function, node.func)
            if type(callee) is FunctionType and callee not in found:
                found.append(callee)
    return found


def _callee(function: FunctionType, node: ast.expr) -> Any:
    """The value of an outer name or of an attribute of a module; None if it is unknown."""
    if isinstance(node, ast.Name):
        local = node.id in function.__code__.co_varnames + function.__code__.co_cellvars
        return None if local else value_of(function, node.id)
    if isinstance(node, ast.Attribute):
        owner = _callee(function, node.value)
        return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
    return None


# ---- loops ------------------------------------------------------------------------------------


class _Loops(ast.NodeTransformer):
    """Rewrites the loops of one function, inner ones first."""

    def __init__(self, function: FunctionType, sites: list[LoopSite]) -> None:
        self.function = function
        self.sites = sites
        self.depth = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        if self.depth:
            return node  # a nested function
        self.depth += 1
        return self.generic_visit(node)

    def visit(self, node: ast.AST) -> Any:
        return node if isinstance(node, _OTHERS) else super().visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        """Treat ``list(map(g, xs))`` as ``[g(x) for x in xs]``."""
        mapped = self._mapped(node)
        if mapped is not None:
            node.args[0] = self.visit(mapped)
            return node
        return self.generic_visit(node)

    def _mapped(self, node: ast.Call) -> ast.ListComp | None:
        takes_all = (list, tuple, sum, sorted, set, dict, max, min)
        if _callee(self.function, node.func) not in takes_all or len(node.args) != 1:
            return None
        inner = node.args[0]
        if not isinstance(inner, ast.Call) or _callee(self.function, inner.func) is not map:
            return None
        if len(inner.args) != 2 or inner.keywords or isinstance(inner.args[1], ast.Starred):
            return None
        callee = _callee(self.function, inner.args[0])
        if callee is None or plain_function(callee) is None:
            return None
        item = ast.Name("item__", ast.Load())
        call = ast.Call(inner.args[0], [item], [])
        target = ast.Name("item__", ast.Store())
        made = ast.ListComp(call, [ast.comprehension(target, inner.args[1], [], 0)])
        for part in ast.walk(made):
            if not hasattr(part, "lineno"):
                ast.copy_location(part, inner)
        return made

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        return self._comprehension(node, "elt")

    def visit_SetComp(self, node: ast.SetComp) -> Any:
        return self._comprehension(node, "elt")

    def visit_DictComp(self, node: ast.DictComp) -> Any:
        return self._comprehension(node, "key", "value")

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp, *fields: str) -> Any:
        """fields: the names of the fields evaluated in each iteration."""
        self.generic_visit(node)
        if len(node.generators) != 1 or node.generators[0].is_async:
            return self._left(node, "it has several loops in one")
        part = node.generators[0]
        if any(isinstance(each, ast.NamedExpr | ast.Await | ast.Yield) for each in ast.walk(node)):
            return self._left(node, "it sets variables")
        calls = self._calls([getattr(node, field) for field in fields])
        ahead = self._ahead(node, part.target, part.iter, part.ifs, calls, set())
        if ahead is None:
            return node
        for field in fields:
            setattr(node, field, _asking(getattr(node, field), calls))
        part.iter = self._wrapped(part.iter, ahead)
        part.target = _with_ask(part.target)
        return node

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        leaves = (ast.Break, ast.Return, ast.Yield, ast.YieldFrom, ast.Await)
        if any(isinstance(each, leaves) for each in ast.walk(node)):
            return self._left(node, "it may end early")
        simple = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)
        parts: list[ast.expr] = []
        for each in node.body:
            if not isinstance(each, simple):
                break  # later statements may depend on it
            if each.value is not None:
                parts.append(each.value)
        calls = self._calls(parts)
        ahead = self._ahead(node, node.target, node.iter, [], calls, _set_in(node.body))
        if ahead is None:
            return node
        for each in node.body:
            if isinstance(each, simple) and each.value in parts:
                each.value = _asking(each.value, calls)
        node.iter = self._wrapped(node.iter, ahead)
        node.target = _with_ask(node.target)
        return node

    def _left(self, node: ast.AST, reason: str) -> Any:
        self.sites.append(LoopSite(self._where(node), (), reason))
        return node

    def _where(self, node: ast.AST) -> str:
        return shown(self.function.__code__.co_filename, getattr(node, "lineno", None))

    # ---- calls ----

    def _calls(self, nodes: list[ast.expr]) -> list[ast.Call]:
        """The outermost unconditional calls of functions of the program."""
        found: list[ast.Call] = []
        todo: list[ast.AST] = list(nodes)
        while todo:
            node = todo.pop(0)
            if isinstance(node, ast.Call):
                callee = _callee(self.function, node.func)
                if callee is not None and plain_function(callee) is not None:
                    found.append(node)
                    continue
            if isinstance(node, ast.IfExp):
                todo.append(node.test)
            elif isinstance(node, ast.BoolOp):
                todo.append(node.values[0])
            elif not isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp):
                todo += ast.iter_child_nodes(node)
        return [call for call in found if not isinstance(call.func, ast.Lambda)]

    def _ahead(
        self,
        node: ast.AST,
        target: ast.expr,
        iterable: ast.expr,
        ifs: list[ast.expr],
        calls: list[ast.Call],
        changing: set[str],
    ) -> tuple[ast.expr, ast.expr] | None:
        """The expressions for the predicted items, and for the calls of one item; None, with the
        reason recorded, if they cannot be predicted."""
        if not calls:
            self._left(node, "it calls no function of the program by name in each turn")
            return None
        names = {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
        if names & changing or any(not isinstance(n, _TARGETS) for n in ast.walk(target)):
            self._left(node, "it sets its own variable")
            return None
        try:
            items = _Ahead(self.function, set()).visit(copy.deepcopy(iterable))
            one = _Ahead(self.function, changing)
            entries = [_entry(one, call) for call in calls]
            conditions = [one.visit(copy.deepcopy(each)) for each in ifs]
        except NotAhead as error:
            self._left(node, str(error))
            return None
        self.sites.append(LoopSite(self._where(node), tuple(ast.unparse(c.func) for c in calls)))
        entry: ast.expr = ast.Tuple(entries, ast.Load())
        return items, _by_item(target, entry, conditions)

    def _wrapped(self, iterable: ast.expr, ahead: tuple[ast.expr, ast.expr]) -> ast.expr:
        site = ast.Constant(len(self.sites) - 1)
        helper = ast.Name(HELPER, ast.Load())
        items = _lambda([], ahead[0])
        return _at(ast.Call(helper, [site, iterable, items, ahead[1]], []), iterable)


_OTHERS = (ast.Lambda, ast.AsyncFunctionDef, ast.ClassDef, ast.GeneratorExp, ast.AsyncFor)
"""Code that runs later, or asynchronously."""
_TARGETS = (ast.Name, ast.Tuple, ast.List, ast.Store, ast.Load)


def _set_in(statements: list[ast.stmt]) -> set[str]:
    """The names that statements bind."""
    nodes = [node for each in statements for node in ast.walk(each)]
    named = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return named - {ASK}


def _asking(node: ast.expr, calls: list[ast.Call]) -> ast.expr:
    """An expression with these calls replaced by calls through ``ask``."""

    class Asking(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> Any:
            if node not in calls:
                return self.generic_visit(node)
            place = ast.Constant(calls.index(node))
            asked = ast.Subscript(ast.Name(ASK, ast.Load()), place, ast.Load())
            is_left = ast.Compare(asked, [ast.Is()], [ast.Constant(None)])
            ahead = ast.Call(asked, [node.func], [])
            callee = ast.IfExp(is_left, node.func, ahead)
            return _at(ast.Call(callee, node.args, node.keywords), node)

    return Asking().visit(node)


def _with_ask(target: ast.expr) -> ast.expr:
    return _at(ast.Tuple([target, ast.Name(ASK, ast.Store())], ast.Store()), target)


def _entry(ahead: _Ahead, call: ast.Call) -> ast.expr:
    """The predicted callee and arguments of a call."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(
        each.arg is None for each in call.keywords
    ):
        raise NotAhead("its calls spread arguments")
    args = [ahead.visit(copy.deepcopy(each)) for each in call.args]
    keys: list[Any] = [ast.Constant(each.arg) for each in call.keywords]
    values = [ahead.visit(copy.deepcopy(each.value)) for each in call.keywords]
    parts = [copy.deepcopy(call.func), ast.Tuple(args, ast.Load()), ast.Dict(keys, values)]
    return ast.Tuple(parts, ast.Load())


def _by_item(target: ast.expr, entry: ast.expr, conditions: list[ast.expr]) -> ast.expr:
    """A function of an item that returns a list with the entry, empty if a condition is false."""
    item = ast.Tuple([ast.Name("item__", ast.Load())], ast.Load())
    taken = ast.comprehension(copy.deepcopy(target), item, conditions, 0)
    return _at(_lambda(["item__"], ast.ListComp(entry, [taken])), target)


def _lambda(names: list[str], body: ast.expr) -> ast.expr:
    args = [ast.arg(name) for name in names]
    return ast.Lambda(
        ast.arguments(posonlyargs=[], args=args, kwonlyargs=[], kw_defaults=[], defaults=[]), body
    )


def _at(node: ast.expr, other: ast.AST) -> Any:
    """A new expression with the source position of another."""
    for part in ast.walk(node):
        if "lineno" in part._attributes and not hasattr(part, "lineno"):
            ast.copy_location(part, other)
    return node


class _Ahead(ast.NodeTransformer):
    """Rewrites an expression so that it computes with plain data only."""

    def __init__(self, function: FunctionType, changing: set[str]) -> None:
        self.function = function
        self.changing = changing

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if not isinstance(node, _EVALUATED):
            raise NotAhead(f"its calls are given an expression {type(node).__name__.lower()}")
        return self.generic_visit(node)

    def _name(self, node: ast.Name) -> Any:
        if node.id in self.changing:
            raise NotAhead(f"its calls are given {node.id}, which it sets")
        plain = ast.Attribute(ast.Name(HELPER, ast.Load()), "plain", ast.Load())
        return ast.copy_location(ast.Call(plain, [node], []), node)

    def _call(self, node: ast.Call) -> Any:
        callee = _callee(self.function, node.func)
        name = getattr(callee, "__name__", "")
        if name not in AHEAD or getattr(builtins, name) is not callee or node.keywords:
            raise NotAhead(f"its calls are given what {ast.unparse(node.func)} gives")
        known = ast.Attribute(ast.Name(HELPER, ast.Load()), name, ast.Load())
        args = [self.visit(each) for each in node.args]
        return ast.copy_location(ast.Call(known, args, []), node)


_EVALUATED = (
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Subscript,
    ast.Slice,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
    ast.expr_context,
)
