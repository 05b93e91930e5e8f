"""Programs of any size: graphs of functions, layers that forward, tables, nested contexts."""

import math
import operator
from collections.abc import Callable
from typing import Any

from overlay import Context, MethodTable

__all__ = ["BRANCHES", "chain", "forwarding", "graph", "large_table", "levels", "nested", "wide"]

BRANCHES = 3  # functions that each one of a graph calls


def functions_of(source: str, names: dict[str, Any]) -> dict[str, Any]:
    """Compile source text; return the namespace of its functions, with these names added."""
    namespace = {"math": math, "__name__": "generated", **names}
    exec(compile(source, "<generated>", "exec"), namespace)
    return namespace


def decorated(namespace: dict[str, Any], names: list[str], decorate: Any) -> Any:
    """The last function; all are decorated, each before one that calls it runs."""
    for name in names:
        namespace[name] = decorate(namespace[name])
    return namespace[names[-1]]


def graph(size: int, decorate: Any) -> tuple[Callable[..., Any], dict[str, Any]]:
    """A tree of functions, with its root compiled by ``decorate``, and their namespace."""
    lines = []
    for i in range(size):
        below = [j for j in range(BRANCHES * i + 1, BRANCHES * i + BRANCHES + 1) if j < size]
        called = " + ".join(f"f{j}(x * {j}.5)" for j in below) or f"math.sin(x) * {i}.0"
        lines.append(f"def f{i}(x):\n    y = {called}\n    return y / (1.0 + y * y)\n")
    namespace = functions_of("\n".join(lines), {})
    return decorated(namespace, [f"f{i}" for i in reversed(range(size))], decorate), namespace


def chain(size: int, decorate: Any) -> Any:
    """A chain of functions, each of which calls the next one in a loop."""
    lines = ["def f0(x):\n    return math.sin(x) + 1.0\n"]
    for i in range(1, size):
        lines.append(
            f"def f{i}(x):\n    total = 0.0\n    for i in range(3):\n"
            f"        total += f{i - 1}(x * i)\n    return total\n"
        )
    names = [f"f{i}" for i in range(size)]
    return decorated(functions_of("\n".join(lines), {}), names, decorate)


def forwarding(layers: int, decorate: Any) -> Any:
    """A loop that calls a function of two arguments through layers of ``*args``."""
    lines = ["def f0(x, y):\n    return x * 0.5 + math.sqrt(y)\n"]
    lines += [f"def f{i}(*args):\n    return f{i - 1}(*args)\n" for i in range(1, layers + 1)]
    lines.append(
        "def run(n):\n    total = 0.0\n    for i in range(n):\n"
        f"        total = f{layers}(total, i * 1.0)\n    return total\n"
    )
    names = [*(f"f{i}" for i in range(layers + 1)), "run"]
    return decorated(functions_of("\n".join(lines), {}), names, decorate)


def large_table(methods: int, target: Any, method: Any) -> MethodTable:
    """A table of this many methods of one target, the last of which is ``method``."""
    table = MethodTable(f"of {methods}")
    for i in range(methods - 1):

        def unused(x: Any) -> float:
            return 0.0

        unused.__annotations__["x"] = type(f"Unused{i}", (), {})
        table.overlay(target)(unused)
    table.overlay(target)(method)
    return table


def wide(targets: int, method: Any) -> tuple[MethodTable, Callable[[float], float]]:
    """A table of this many targets with a method each, and the last of these targets."""
    table, made = MethodTable(f"of {targets} targets"), []
    for i in range(targets):
        made.append(functions_of(f"def target(x):\n    return x + {i}.0\n", {})["target"])
        table.overlay(made[-1])(method)
    return table, made[-1]


def levels(depth: int, decorate: Any) -> Any:
    """A loop that calls a function through ``depth`` others."""
    made = decorate(lambda x: math.sin(x) + 1.0)
    for _ in range(depth):
        made = decorate(level_below(made))
    return decorate(loop_over(made))


def level_below(function: Any) -> Any:
    def level(x: float) -> float:
        return function(x * 0.5)

    return level


def loop_over(function: Any) -> Any:
    def run(n: int) -> float:
        total = 0.0
        for i in range(n):
            total += function(i * 1e-3)
        return total

    return run


def nested(depth: int) -> Any:
    """The loop of ``levels``, with each function in a context of its own, nested in those around
    it."""
    contexts = [Context(unreached_table(i)) for i in range(depth + 1)]

    def innermost(x: float) -> float:
        return math.sin(x) + 1.0

    made: Any = innermost
    for context in reversed(contexts[1:]):
        made = level_in(context, made)
    return contexts[0].jit(loop_over(made))


def level_in(context: Context, function: Any) -> Any:
    def level(x: float) -> float:
        return context(function, x * 0.5)

    return level


def unreached_table(i: int) -> MethodTable:
    """A new table, with one method that none of these programs calls."""
    table = MethodTable(f"level {i}")

    @table.overlay(operator.matmul)
    def unused(x: str, y: str) -> str:
        return x

    return table
