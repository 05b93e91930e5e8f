"""Random small programs to analyse, and a way to run them that tells which checks fail."""

from __future__ import annotations

import ast
import linecache
import math
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from overlay.analysis import Number
from overlay.analysis.abstract_values import TOP, BuiltinObject

NAMES = ("a", "b", "c")
PRELUDE = """\
def helper(x):
    return x - 1 if x > 2 else x * 2
def generate(n):
    i = 0
    while i < 3:
        yield i * n
        i += 1
class quiet:
    def __enter__(self):
        return 3
    def __exit__(self, kind, error, trace):
        return kind is not None and issubclass(kind, ArithmeticError)
def f(a, b, c, v):
"""

names = st.sampled_from(NAMES)
leaves = names | st.integers(-7, 7).map(str) | st.sampled_from(["0.5", "-2.25", "3.0"])


def _larger(inner: Any) -> Any:
    binary = st.tuples(st.sampled_from(["+", "-", "*", "//", "%", "/"]), inner, inner)
    calls = st.tuples(st.sampled_from(["max", "min"]), inner, inner)
    return (
        binary.map(lambda t: f"({t[1]} {t[0]} {t[2]})")
        | calls.map(lambda t: f"{t[0]}({t[1]}, {t[2]})")
        | inner.map(lambda t: f"abs({t})")
        | inner.map(lambda t: f"(-{t})")
        | inner.map(lambda t: f"helper({t})")
        | st.tuples(inner, names).map(lambda t: f"(lambda x, k={t[0]}: k - x)({t[1]})")
        | st.tuples(inner, inner).map(lambda t: f"({t[0]} or {t[1]})")
    )


expressions = st.recursive(leaves, _larger, max_leaves=4)
conditions = st.tuples(
    st.sampled_from(["", "not "]),
    leaves,
    st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
    leaves,
).map(lambda t: f"{t[0]}{t[1]} {t[2]} {t[3]}")


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


@st.composite
def blocks(draw: Any, depth: int = 2, looping: bool = False) -> list[str]:
    """The lines of a block of statements."""
    lines: list[str] = []
    simple = ["set", "set", "set", "swap", "index", "comprehension", "closure"]
    deep = ["if", "for", "while", "try", "try", "with", "generator", "match"]
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(simple + (deep if depth else [])))
        if looping and draw(st.integers(0, 9)) == 0:
            lines.append(f"if {draw(conditions)}: {draw(st.sampled_from(['break', 'continue']))}")
        lines += draw(_STATEMENTS[kind](depth, looping))
    return lines


@st.composite
def _set(draw: Any, depth: int, looping: bool) -> list[str]:
    return [f"{draw(names)} {draw(st.sampled_from(['=', '=', '+=', '-=']))} {draw(expressions)}"]


@st.composite
def _swap(draw: Any, depth: int, looping: bool) -> list[str]:
    return [f"{draw(names)}, {draw(names)} = {draw(expressions)}, {draw(names)}"]


@st.composite
def _index(draw: Any, depth: int, looping: bool) -> list[str]:
    index = draw(names | st.integers(-5, 5).map(str))
    guard = draw(st.sampled_from(["", "if 0 <= {0} < len(v): ", "if -4 <= {0} <= 3: "]))
    use = draw(st.sampled_from(["{1} = float(v[{0}])", "{1} = (1, 2, {1})[{0}]"]))
    guard = guard if "v[" in use else ""
    line = (guard + use).format(index, draw(names))
    return ["try:", f"    {line}", "except (IndexError, TypeError):", f"    {draw(names)} = 1"]


@st.composite
def _comprehension(draw: Any, depth: int, looping: bool) -> list[str]:
    made = draw(st.sampled_from(["[{0} for {1} in range({2})]", "{{{0} for {1} in range({2})}}"]))
    line = made.format(draw(expressions), draw(names), draw(st.integers(0, 3)))
    return [f"{draw(names)} = len({line})"]


@st.composite
def _closure(draw: Any, depth: int, looping: bool) -> list[str]:
    changes = draw(st.booleans())
    inner = [f"nonlocal {draw(names)}"] if changes else []
    body = [f"{draw(names)} = {draw(expressions)}"] if changes else []
    arguments = draw(st.sampled_from(["", "x", "x, y=2"]))
    given = "" if not arguments else draw(names)
    head = f"def inner({arguments}):"
    if changes:
        target = inner[0].split()[1]
        body = [f"{target} = {draw(expressions)}"]
    back = f"    return {draw(expressions)}"
    call = f"{draw(names)} = inner({given})"
    return [head, *_indented([*inner, *body]), back, call]


@st.composite
def _if(draw: Any, depth: int, looping: bool) -> list[str]:
    inner = _indented(draw(blocks(depth=depth - 1, looping=looping)))
    other = _indented(draw(blocks(depth=depth - 1, looping=looping)))
    return [f"if {draw(conditions)}:", *inner, "else:", *other]


@st.composite
def _for(draw: Any, depth: int, looping: bool) -> list[str]:
    ends = draw(st.sampled_from(["4", "1, 5", "5, 0, -2", "len(v)"]))
    inner = _indented(draw(blocks(depth=depth - 1, looping=True)))
    last = ["else:", *_indented(draw(_set(0, False)))] if draw(st.booleans()) else []
    return [f"for {draw(names)} in range({ends}):", *inner, *last]


@st.composite
def _while(draw: Any, depth: int, looping: bool) -> list[str]:
    turn = f"turn{depth}"
    inner = _indented(draw(blocks(depth=depth - 1, looping=True)))
    condition = f"while {turn} < 4 and {draw(conditions)}:"
    return [f"{turn} = 0", condition, f"    {turn} += 1", *inner]


@st.composite
def _try(draw: Any, depth: int, looping: bool) -> list[str]:
    def inner() -> list[str]:
        return _indented(draw(blocks(depth=depth - 1, looping=looping)))

    handled = draw(st.sampled_from(["ZeroDivisionError", "(KeyError, ArithmeticError) as e"]))
    lines = ["try:", *inner()]
    form = draw(st.sampled_from(["except", "except", "else", "finally", "both"]))
    if form != "finally":
        lines += [f"except {handled}:", *inner()]
    if form == "else":
        lines += ["else:", *inner()]
    if form in ("finally", "both"):
        lines += ["finally:", *_indented(draw(_set(0, False)))]
    return lines


@st.composite
def _with(draw: Any, depth: int, looping: bool) -> list[str]:
    inner = _indented(draw(blocks(depth=depth - 1, looping=looping)))
    return [f"with quiet() as {draw(names)}:", *inner]


@st.composite
def _generator(draw: Any, depth: int, looping: bool) -> list[str]:
    inner = _indented(draw(blocks(depth=depth - 1, looping=True)))
    made = draw(st.sampled_from(["generate({0})", "(x + {0} for x in range(3))"]))
    return [f"for {draw(names)} in {made.format(draw(names))}:", *inner]


@st.composite
def _match(draw: Any, depth: int, looping: bool) -> list[str]:
    def inner() -> list[str]:
        return _indented(_indented(draw(blocks(depth=depth - 1, looping=looping))))

    first = draw(st.sampled_from(["0", "1 | 2", "int()", "-3"]))
    subject, case = draw(st.sampled_from([("{0}", "{1}"), ("({0}, {0})", "({1}, _)")]))
    name = draw(names)
    return [
        f"match {subject.format(name)}:",
        f"    case {case.format(name, first)}:",
        *inner(),
        "    case float() as c:",
        *inner(),
        "    case _:",
        *inner(),
    ]


_STATEMENTS: dict[str, Callable[[int, bool], Any]] = {
    **{"set": _set, "swap": _swap, "index": _index, "comprehension": _comprehension},
    **{"closure": _closure, "if": _if, "for": _for, "while": _while, "try": _try},
    **{"with": _with, "generator": _generator, "match": _match},
}


# ---- running ------------------------------------------------------------------------------


@dataclass
class Program:
    """A program to analyse, and the same to run; ``failed``: the lines where a divisor was zero
    or an index out of bounds, by kind."""

    source: str
    analysed: Callable[..., Any]
    run: Callable[..., Any]
    failed: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])


def program(lines: list[str]) -> Program:
    """The program with these lines as its body."""
    source = PRELUDE + "\n".join(_indented([*lines, "return a, b, c"])) + "\n"
    file = f"<program {hash(source)}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    space: dict[str, Any] = {}
    exec(compile(source, file, "exec"), space)
    failed: set[tuple[str, int]] = set()
    checked: dict[str, Any] = {"check_division": None, "check_index": None}
    tree = ast.fix_missing_locations(_Checking().visit(ast.parse(source)))
    exec(compile(tree, file, "exec"), checked)

    def check_division(name: str, x: Any, y: Any) -> Any:
        if y == 0:
            failed.add(("divisor", sys._getframe(1).f_lineno))
        return getattr(operator, name)(x, y)

    def check_index(held: Any, index: Any) -> Any:
        try:
            return held[index]
        except IndexError:
            failed.add(("index", sys._getframe(1).f_lineno))
            raise

    checked |= {"check_division": check_division, "check_index": check_index}
    return Program(source, space["f"], checked["f"], failed)


_DIVISIONS = {ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod"}


class _Checking(ast.NodeTransformer):
    """Has functions do divisions and look up indices."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        name = _DIVISIONS.get(type(node.op))
        if name is None:
            return node
        args = [ast.Constant(name), node.left, node.right]
        return ast.copy_location(ast.Call(ast.Name("check_division", ast.Load()), args, []), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        args = [node.value, node.slice]
        return ast.copy_location(ast.Call(ast.Name("check_index", ast.Load()), args, []), node)


def contains(found: Any, value: Any) -> bool:
    """Whether an abstract value of the intervals stands for a number."""
    if found == TOP:
        return True
    if not isinstance(found, Number):
        return isinstance(found, BuiltinObject) and type(value) is found.cls
    if isinstance(value, float) and math.isnan(value):
        return found.nan
    of_kind = found.kind == "number" or (found.kind == "float") == isinstance(value, float)
    is_zero_barred = found.nonzero and value == 0
    return of_kind and found.low <= value <= found.high and not is_zero_barred
