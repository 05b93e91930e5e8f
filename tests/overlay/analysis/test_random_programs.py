"""Random programs: what a run gives lies in what the analysis found, and what is proved holds."""

from __future__ import annotations

import os
import random
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from overlay.analysis import Proofs, array, floats, integers, prove
from overlay.analysis.abstract_values import BOTTOM, TOP
from tests.examples import examples
from tests.overlay.analysed_programs import Program, blocks, contains, program

# RANDOM_PROGRAMS says how many programs are tried
EXAMPLES = examples(int(os.environ.get("RANDOM_PROGRAMS", "20")))
RAISED = (ArithmeticError, IndexError, NameError, TypeError, ValueError)
numbers = st.tuples(st.integers(-4, 4), st.integers(0, 3), st.booleans())


def drawn(rng: random.Random, low: int, width: int, whole: bool) -> Any:
    if whole:
        return rng.randint(low, low + width)
    return rng.choice((rng.uniform(low, low + width), float(rng.randint(low, low + width))))


def run(made: Program, args: list[Any]) -> tuple[Any, ...] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of numpy's scalars
            results = made.run(*args)
    except RAISED:
        return None
    return None if any(isinstance(v, int) and abs(v) > 2**1000 for v in results) else results


def check(made: Program, proofs: Proofs, results: tuple[Any, ...] | None) -> None:
    if results is not None:
        assert proofs.result != BOTTOM
        items = [TOP] * len(results) if proofs.result == TOP else proofs.result.items
        for value, found in zip(results, items, strict=True):
            assert contains(found, value), (found, value)
    for kind, line in made.failed:
        sites = [s for s in proofs.sites if s.kind == kind and s.where.endswith(f":{line}")]
        assert not all(s.proved for s in sites) or (not sites and proofs.unknown), (kind, line)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(blocks(), st.tuples(numbers, numbers, numbers), st.integers(0, 5), st.integers(0, 10**6))
def test_runs_lie_in_what_was_found(
    lines: list[str], ranges: tuple[Any, ...], size: int, seed: int
) -> None:
    made = program(lines)
    given_ = [(integers if whole else floats)(n, n + width) for n, width, whole in ranges]
    proofs = prove(made.analysed, *given_, array(size, item=floats(-3.0, 3.0)))
    event(f"something proved: {any(site.proved for site in proofs.sites)}")
    rng = random.Random(seed)
    for _ in range(5):
        values = np.array([rng.uniform(-3, 3) for _ in range(size)])
        results = run(made, [*(drawn(rng, *each) for each in ranges), values])
        check(made, proofs, results)


@pytest.mark.parametrize(
    ("lines", "proved"),
    [
        (["c = 1 // (b - b + 1) if b else 1 // (b + 1)"], [False, True]),
        (["if b != 0:", "    c = a // b"], [True]),
        (["try:", "    b = 1", "    b = a // c", "except ZeroDivisionError:", "    pass"], [False]),
        (
            ["try:", "    b = 1", "    a // c", "except ValueError:", "    b = 0", "a % b"],
            [False] * 2,
        ),
        (
            [
                *("b = 3", "try:", "    b = 0", "    a // c", "    b = 2"),
                *("except ArithmeticError:", "    pass", "a % b"),
            ],
            [False, False],
        ),
        (["c = b != 0", "b = 0 if a else b", "if c:", "    a // b"], [False]),
        (["c = b != 0", "a = 1 if a else 2", "if c:", "    a // b"], [True]),
        (["try:", "    b = 1", "finally:", "    b = 2", "a % b"], [True]),
        (["with quiet() as b:", "    b = 1", "    b = 2 % a", "b = 2", "a % b"], [False, True]),
        (["with quiet():", "    b = 1", "a % b"], [False]),
        (["b = 1", "for b in generate(0): pass", "a % b"], [False]),
        (["match b:", "    case 0: c = 1", "    case _: c = 1 // b"], [True]),
        (["def inner(x):", "    nonlocal b", "    b = x", "b = 1", "inner(0)", "a % b"], [False]),
        (["b = 1", "inner = lambda x: x % b", "inner(3)"], [True]),
        (["b = 1", "inner = lambda x: x % b", "b = c", "inner(3)"], [False]),
        (["b = [1 % i for i in range(1, 4)]"], [True]),
        (["b = sum(1 % i for i in range(3))"], [False]),
    ],
)
def test_what_is_read_and_how_well(lines: list[str], proved: list[bool]) -> None:
    made = program(lines)
    proofs = prove(made.analysed, *[integers(-9, 9)] * 3, array(3))
    own = [s for s in proofs.sites if not s.function.__name__.startswith("helper")]
    assert [site.proved for site in own] == proved
    for seed in range(20):
        rng = random.Random(seed)
        check(made, proofs, run(made, [*(rng.randint(-9, 9) for _ in range(3)), np.zeros(3)]))
