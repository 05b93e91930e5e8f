"""Mutants of a module: its source with one small fault each."""

import ast
from collections import Counter
from dataclasses import dataclass

__all__ = ["Mutant", "mutants_of"]

COMPARISONS = {
    **{ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="},
    **{ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"},
}
SIGNS = {
    **{ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="},
    **{ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"},
}
ARITHMETIC = {ast.Add: "-", ast.Sub: "+", ast.Mult: "+"}
SPELT = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Mutant:
    """One fault.

    function: the outermost function that contains it, by its qualified name. what: the change, with
    a number if such a line allows several. text: the original line. source: the source of the whole
    module.
    """

    function: str
    line: int
    what: str
    text: str
    source: str


def mutants_of(source):
    """All mutants of a module, in the order of its lines."""
    tree, lines = ast.parse(source), source.splitlines()
    found, times = [], Counter()
    for name, function in _functions(tree):
        for node, what, new in _faults(function):
            changed = _replaced(source, node, new)
            text = lines[node.lineno - 1].strip()
            times[name, text, what] += 1
            if times[name, text, what] > 1:
                what = f"{what} ({times[name, text, what]})"
            found.append(Mutant(name, node.lineno, what, text, changed))
    return sorted(found, key=lambda mutant: mutant.line)


def _functions(tree):
    """The functions of the module and methods of its classes, by qualified name, except those that
    only print.
    """
    for node in tree.body:
        if isinstance(node, SPELT):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, SPELT) and each.name not in ("__repr__", "__str__"):
                    yield f"{node.name}.{each.name}", each


def _faults(function):
    """Each fault as a node, its description, and the text that replaces the node."""
    for node in _walked(function.body):
        if isinstance(node, ast.Compare):
            sides = [f"({ast.unparse(side)})" for side in (node.left, *node.comparators)]
            signs = [SIGNS[type(operator)] for operator in node.ops]
            for i, operator in enumerate(node.ops):
                changed = [*signs[:i], COMPARISONS[type(operator)], *signs[i + 1 :]]
                pairs = (part for pair in zip(changed, sides[1:], strict=True) for part in pair)
                yield node, f"compare by {changed[i]}", f"({' '.join([sides[0], *pairs])})"
        elif isinstance(node, ast.BoolOp):
            operator = "or" if isinstance(node.op, ast.And) else "and"
            parts = f" {operator} ".join(f"({ast.unparse(v)})" for v in node.values)
            yield node, f"{operator} in its place", f"({parts})"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node, "without not", f"bool({ast.unparse(node.operand)})"
        elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            operator = ARITHMETIC[type(node.op)]
            left, right = ast.unparse(node.left), ast.unparse(node.right)
            yield node, f"{operator} in its place", f"(({left}) {operator} ({right}))"
        elif isinstance(node, ast.Constant) and type(node.value) in (bool, int):
            new = not node.value if type(node.value) is bool else node.value + 1
            yield node, f"{new} in its place", f"{new}"
        elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
            yield node, "return None", "return None"
        elif isinstance(node, ast.If | ast.IfExp | ast.While):
            yield node.test, "negated", f"(not ({ast.unparse(node.test)}))"
        elif _is_effect(node):
            yield node, "left out", "pass"


def _walked(body):
    """The nodes of the body of a function, except messages for people."""
    pending = list(body)
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.Raise | ast.Assert):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        yield node
        if isinstance(node, ast.AnnAssign):
            pending += [node.value] if node.value is not None else []
        elif isinstance(node, SPELT):
            pending += node.body
        else:
            pending += ast.iter_child_nodes(node)


def _is_none(node):
    return isinstance(node, ast.Constant) and node.value is None


def _is_effect(node):
    """Whether a node is a statement that assigns no names."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call)
    if isinstance(node, ast.Assign):
        return not any(isinstance(target, ast.Name | ast.Tuple) for target in node.targets)
    return isinstance(node, ast.AugAssign | ast.Delete | ast.Continue | ast.Break)


def _replaced(source, node, new):
    """The source with a node replaced; later lines keep their numbers."""
    lines = [line.encode() for line in source.splitlines(keepends=True)]
    first, last = node.lineno - 1, node.end_lineno - 1
    start, end = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
    blank = b"\\\n" * (last - first)
    changed = start + new.encode() + (b" " + blank if blank else b"") + end
    return b"".join([*lines[:first], changed, *lines[last + 1 :]]).decode()
