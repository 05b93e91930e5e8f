"""The teaching version agrees with the real packages."""

import colorsys
import linecache
import math
import operator
import random

import numpy as np
import pytest

import overlay
from inversion import NoSolution, NotInvertible, invert
from notebooks import from_nothing
from tests.laws.straight_line import REFUSED, random_program, value_of


def program(seed, reuse):
    """A random function with a source, and values for its arguments."""
    rng = random.Random(seed)
    source, inputs = random_program(rng, reuse)
    name = f"<program {seed}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    namespace = {"math": math}
    exec(compile(source, name, "exec"), namespace)
    return namespace["f"], [rng.uniform(0.3, 2) for _ in range(inputs)]


def tables(module, next_one):
    """Build the overlays of the notebook with one of the two implementations."""
    outer, inner = (
        (module.Table(), module.Table())
        if module is from_nothing
        else (
            module.MethodTable("outer"),
            module.MethodTable("inner"),
        )
    )

    @outer.overlay(operator.mul)
    def product(a: float, b: float):
        return next_one(a, b) + 0.25

    @inner.overlay(operator.mul)
    def product_of_anything(a: object, b: object):
        return next_one(a, b) - 0.5

    @inner.overlay(operator.mul)
    def no_product(a: str, b: float):
        raise AssertionError

    @inner.overlay(math.sin)
    def sine(x: float):
        return next_one(x) if x > 1 else math.cos(x)

    return outer, inner


def test_contexts_give_the_same_for_random_programs():
    ours = from_nothing.Context(*tables(from_nothing, from_nothing.call_next))
    real = overlay.Context(*tables(overlay, overlay.call_next))
    same = changed = 0
    for seed in range(80):
        f, args = program(seed, reuse=0.3)
        wanted = value_of(lambda *args, f=f: real(f, *args), args)
        assert value_of(lambda *args, f=f: ours(f, *args), args) == wanted
        same += wanted is not None
        changed += wanted != value_of(f, args)
    assert same > 40
    assert changed > 40


def test_inverses_give_what_the_real_ones_give_for_their_choices():
    agreed = 0
    for seed in range(40):
        f, args = program(seed, reuse=0.1)
        value = value_of(f, args)
        if value is None:
            continue
        try:
            inverse = from_nothing.Inverse(f)
            chosen = dict(zip(inspected(f), args, strict=True))
            answer = inverse(value, [chosen.get(name, seed % 3 - 1) for name in inverse.parameters])
        except REFUSED:
            continue
        assert math.isclose(f(*answer), value, rel_tol=1e-9, abs_tol=1e-12)
        try:
            real = invert(f, *[float] * len(args))
            again = real(value, real.recover(*answer)) if len(real.parameters) else real(value)
        except (NoSolution, NotInvertible):
            continue
        assert np.allclose(again, answer, rtol=1e-6)
        agreed += 1
    assert agreed > 8


def inspected(f):
    return f.__code__.co_varnames[: f.__code__.co_argcount]


def test_the_standard_library_runs_alike():
    def both(module, next_one, table):
        @table.overlay(colorsys._v)
        def ink(m1: float, m2: float, hue: float):
            return round(5 * next_one(m1, m2, hue)) / 5

        return module.Context(table)(colorsys.hls_to_rgb, 0.6, 0.4, 0.3)

    ours = both(from_nothing, from_nothing.call_next, from_nothing.Table())
    assert ours == both(overlay, overlay.call_next, overlay.MethodTable("ink"))
    assert ours != colorsys.hls_to_rgb(0.6, 0.4, 0.3)


def test_what_cannot_be_answered_is_refused():
    def squared(x):
        return x * x

    with pytest.raises(ValueError, match="does not lead to"):
        from_nothing.Inverse(squared)(4.0, (3.0,))
    assert from_nothing.Inverse(squared)(4.0, (2.0,)) == (2.0,)
    with pytest.raises(TypeError):
        from_nothing.Inverse(lambda x: x)
