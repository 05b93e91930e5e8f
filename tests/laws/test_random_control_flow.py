"""The laws of inverses, over random programs that branch and loop.

``RANDOM_PROGRAMS=2000`` before a run tries that many.
"""

import math
import os
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from inversion import NoSolution, NotInvertible, invert
from inversion.repeated import Repeated

UNARY = ("math.exp", "math.sqrt", "math.sin", "math.cos", "-", "abs", "math.floor")
COUNT = int(os.environ.get("RANDOM_PROGRAMS", "40"))


class Program:
    """A random function of floats, as source, written by a random number generator."""

    def __init__(self, rng):
        self.rng = rng
        self.count = rng.randint(1, 3)
        self.made = 0
        names = [f"x{i}" for i in range(self.count)]
        rows, after = self.block(names, 2, 1, rng.randint(1, 5))
        result = after[-1] if rng.random() < 0.6 else f"{after[-1]}, {rng.choice(after)}"
        self.source = "\n".join([f"def f({', '.join(names)}):", *rows, f"    return {result}", ""])

    @property
    def function(self):
        namespace = {"math": math}
        exec(self.source, namespace)
        return namespace["f"]

    def fresh(self):
        self.made += 1
        return f"v{self.made}"

    def expression(self, names):
        rng, first = self.rng, self.rng.choice(names)
        if rng.random() < 0.25:
            return f"{rng.choice(UNARY)}({first})"
        second = rng.choice(names) if rng.random() < 0.5 else repr(round(rng.uniform(0.5, 3), 2))
        return f"{first} {rng.choice('+-*/' if rng.random() < 0.6 else '+-')} {second}"

    def block(self, names, depth, indent, count):
        rows, names = [], list(names)
        for _ in range(count):
            kind = self.rng.random()
            if depth and kind < 0.3:
                rows += self.branch(names, depth, indent)
            elif depth and kind < 0.55:
                rows += self.loop(names, depth, indent)
            else:
                names.append(self.fresh())
                rows.append(f"{'    ' * indent}{names[-1]} = {self.expression(names[:-1])}")
        return rows, names

    def branch(self, names, depth, indent):
        rng, pad = self.rng, "    " * indent
        other = rng.choice(names) if rng.random() < 0.3 else round(rng.uniform(-2, 2), 1)
        head = f"{pad}if {rng.choice(names)} {rng.choice(['<', '>', '<=', '>='])} {other}:"
        target = rng.choice(names) if rng.random() < 0.5 else self.fresh()
        rows, inner = self.block(names, depth - 1, indent + 1, rng.randint(0, 2))
        if rng.random() < 0.12:
            return [head, *rows, f"{pad}    return {self.expression(inner)}"]
        rows = [head, *rows, f"{pad}    {target} = {self.expression(inner)}"]
        if target in names and rng.random() < 0.3:
            return rows
        others, inner = self.block(names, depth - 1, indent + 1, rng.randint(0, 2))
        rows += [f"{pad}else:", *others, f"{pad}    {target} = {self.expression(inner)}"]
        if target not in names:
            names.append(target)
        return rows

    def loop(self, names, depth, indent):
        rng, pad, target = self.rng, "    " * indent, self.rng.choice(names)
        rows, inner = self.block(names, depth - 1, indent + 1, rng.randint(0, 1))
        rows += self.exits(inner, indent + 1) if rng.random() < 0.4 else []
        if rng.random() < 0.6:
            change = self.expression([target] * 3 + inner)
            if rng.random() < 0.3:
                change = rng.choice([f"abs({target}) - 0.5", f"{target} * {target} / 4 + 0.1"])
            last = f"{pad}    {target} = {change}"
            found = [f"{pad}for i in range({rng.choice([3, 20, 25])}):", *rows, last]
            other = [f"{pad}else:", f"{pad}    {target} = {target} + 0.25"]
            return found + (other if rng.random() < 0.2 else [])
        less = "" if rng.random() < 0.5 else " - 0.1"
        factor = round(rng.uniform(1.5, 3), 1)
        last = f"{pad}    {target} = {target} / {factor}{less}"
        endless = any(f" {target} = " in row or "continue" in row for row in rows)
        return [f"{pad}while {target} > 2.0:", *([] if endless else rows), last]

    def exits(self, names, indent):
        """Ways out of a loop."""
        rng, pad = self.rng, "    " * indent
        rows = []
        for _ in range(rng.randint(1, 2)):
            sign = rng.choice("<>")
            out = rng.choice(["break", "break", "continue", f"return {rng.choice(names)} + 1"])
            rows += [f"{pad}if {rng.choice(names)} {sign} {rng.randint(-9, 9)}:", f"{pad}    {out}"]
        return rows


def value_of(f, args):
    try:
        value = f(*args)
    except (ValueError, ArithmeticError):
        return None
    return value if np.all(np.isfinite(np.ravel(value))) else None


REACHED = Counter()  # what the programs that were answered are made of


@settings(max_examples=COUNT)
@given(seed=st.integers(0, 10**9))
def test_programs_with_control_flow_are_solved_rightly_or_refused(seed):
    rng = random.Random(seed)
    program = Program(rng)
    f = program.function
    args = tuple(round(rng.uniform(-3, 3), 3) for _ in range(program.count))
    value = value_of(f, args)
    assume(value is not None)
    try:
        inverse = invert(f, *[float] * program.count)
    except NotInvertible:
        return
    space = inverse.parameters
    drawn = space.sample(np.random.default_rng(seed % 1000), 2) if len(space) else [None]
    for theta in drawn:
        try:
            found = inverse(value, *([] if theta is None else [theta]))
        except NoSolution:
            continue
        assert np.allclose(np.ravel(f(*found)), np.ravel(value), rtol=2e-9, atol=2e-12)
    try:
        theta = inverse.recover(*args)
    except NoSolution:
        return
    assert inverse(value, *([theta] if theta else [])) == pytest.approx(args, rel=1e-6, abs=1e-8)
    REACHED["choices in turns"] += any(isinstance(p.domain, Repeated) for p in space)
    body = program.source.rpartition("    return")[0]
    for word in ("if", "else", "for", "while", "break", "return"):
        REACHED[word] += f" {word}" in body


def test_the_random_programs_are_of_all_kinds():
    assert min(REACHED.values()) > 0
