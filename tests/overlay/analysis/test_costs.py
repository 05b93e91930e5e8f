"""How much an analysis does: it ends, and soon."""

from __future__ import annotations

import random
from typing import Any

import pytest

from overlay import Context
from overlay.analysis import Interpreter, Intervals, check_calls, integers, prove
from overlay.analysis.abstract_values import TOP
from overlay.analysis.fixed_point import FixedPoint
from overlay.code.read_bodies import body_of


@pytest.fixture
def visits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The blocks that are gone through, one after another."""
    found: list[int] = []
    through = FixedPoint._through

    def counted(self: FixedPoint, label: int, before: Any) -> Any:
        found.append(label)
        return through(self, label, before)

    monkeypatch.setattr(FixedPoint, "_through", counted)
    return found


def long_function(lines: int, seed: int) -> Any:
    """A function of so many lines, with loops and branches up to three deep."""
    rng, depth, loops = random.Random(seed), 1, 0
    made = ["def f(a, b, c, n):", "    d = e = 0"]
    while len(made) < lines:
        x, y, z = (rng.choice("abcde") for _ in range(3))
        chance, indent = rng.random(), "    " * depth
        if chance < 0.18 and depth < 4:
            loops += 1
            head = f"for i{loops} in range(n):" if chance < 0.08 else f"if {x} < {y}:"
            made += [indent + head, f"{indent}    {x} = {y} - 1"]
            depth += 1
        elif chance < 0.35 and depth > 1:
            depth -= 1
        else:
            made.append(f"{indent}{x} = ({y} {rng.choice('+-*')} {z}) % 1000")
    space: dict[str, Any] = {}
    exec("\n".join([*made, "    return a, b, c, d, e"]), space)
    return space["f"]


def test_a_long_function_takes_a_few_rounds(visits: list[int]) -> None:
    function = long_function(300, seed=1)
    blocks = len(body_of(function).blocks)
    assert blocks > 50
    prove(function, integers(0, 9), integers(), integers(-5, 5), integers(0))
    assert len(visits) < 12 * blocks
    visits.clear()
    check_calls(Context(), function, int, int, int, int)
    assert len(visits) < 12 * blocks


def doubled(n: Any) -> Any:
    return n + n


def many_calls(n: Any) -> Any:
    found = 0
    for _ in range(n):
        found = doubled(1) + doubled(2) + doubled(1)
    return found


def test_calls_with_the_same_arguments_are_analysed_once(visits: list[int]) -> None:
    found = Interpreter(Intervals()).run(many_calls, integers())
    assert found.result == integers(0, 8)
    assert len(visits) < 30
    assert [run.function for run in found.walk()].count(doubled) == 2


def ackermann(m: Any, n: Any) -> Any:
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


def deep(n: Any, f: Any) -> Any:
    return f(n) if n < 0 else deep(n - 1, lambda x: f(x) + n)


def grows(f: Any) -> Any:
    return grows(lambda x: f(x))


def test_recursion_ends(visits: list[int]) -> None:
    assert prove(ackermann, integers(0), integers(0)).result == integers(1)
    assert prove(deep, integers(), doubled).result == TOP
    prove(grows, doubled)
    assert len(visits) < 2000


def test_calls_too_deep_give_anything_and_are_told() -> None:
    functions: dict[str, Any] = {}
    lines = ["def f0(x): return 1 // x"]
    lines += [f"def f{i + 1}(x): return f{i}(x)" for i in range(60)]
    exec("\n".join(lines), functions)
    shallow, over = (prove(functions[name], integers(1)) for name in ("f20", "f60"))
    assert shallow.proved
    assert (over.proved, over.result, len(over.unknown)) == (False, TOP, 1)


def test_too_many_analyses_give_anything() -> None:
    def caller(n: Any) -> Any:
        return doubled(n), doubled(2), doubled(3)

    run = Interpreter(Intervals(), limit=2).run(caller, integers(0, 1))
    assert run.result.items == (integers(0, 2), TOP, TOP)
    assert [step.followed for step in run.steps if step.function is doubled] == [True, False, False]
