"""Derivatives of programs beneath plugins: those that wrap calls, and those that edit compiled
code. Each is compared with differences of the values beneath the plugin."""

import math
import operator

import numpy as np
import pytest

from overlay import Context, MethodTable, Plugin
from overlay.interpretations.autodiff import (
    adjoint_of,
    autodiff,
    checkpoint,
    derivative,
    gradient,
    jacobian,
    partials_of,
    vjp,
)


class Doubles(Plugin):
    """Doubles the results of a function."""

    def __init__(self, target):
        self.target = target

    def around(self, callee, run):
        return (lambda *args: 2 * run(*args)) if callee is self.target else None


class Brings(Plugin):
    """Brings another plugin at the first call."""

    def __init__(self, plugin):
        self.plugin = plugin

    def enter(self, callee, types):
        return self.plugin


def helper(v):
    return math.sqrt(v) * v


WRAPPED = {
    "a function of math": (math.sqrt, lambda a: sum(math.sqrt(v) for v in a)),
    "one of two arguments": (math.pow, lambda a: sum(math.pow(v, 2.0) for v in a)),
    "a Python function": (helper, lambda a: sum(helper(v) for v in a)),
    "a function that a helper calls": (math.sqrt, lambda a: sum(helper(v) for v in a)),
    "a function of arrays": (np.sum, lambda a: np.sum(a * a)),
    "a builtin": (abs, lambda a: sum(abs(v) * v for v in a)),
    "in a part with a checkpoint": (math.sqrt, lambda a: sum(checkpoint(helper)(v) for v in a)),
    "no function that it calls": (math.cosh, lambda a: sum(math.sin(v) for v in a)),
}


def in_a_block(context, f, mode, x):
    with context:
        return gradient(f, mode=mode)(x)


WAYS = {
    "inside": lambda c, f, mode, x: gradient(c.wrap(f), mode=mode)(x),
    "called inside": lambda c, f, mode, x: gradient(lambda a: c(f, a), mode=mode)(x),
    "outside": lambda c, f, mode, x: c(gradient(f, mode=mode), x),
    "in a block": in_a_block,
    "vjp": lambda c, f, mode, x: vjp(c.wrap(f), x, mode=mode)[1](1.0)[0],
    "vjp, outside": lambda c, f, mode, x: c(lambda: vjp(f, x, mode=mode)[1](1.0)[0]),
    "jacobian": lambda c, f, mode, x: jacobian(c.wrap(f), mode=mode)(x),
    "jacobian, outside": lambda c, f, mode, x: c(jacobian(f, mode=mode), x),
}


def differences(f, x, step=1e-6):
    return np.array([(f(x + step * e) - f(x - step * e)) / (2 * step) for e in np.eye(x.size)])


@pytest.mark.parametrize("brings", [False, True], ids=["around", "enter"])
@pytest.mark.parametrize("mode", ["auto", "reverse"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("wrapped", WRAPPED)
def test_what_a_plugin_puts_around_calls_is_differentiated(wrapped, way, mode, brings):
    target, f = WRAPPED[wrapped]
    plugin = Brings(Doubles(target)) if brings else Doubles(target)
    context, x = Context(plugins=(plugin,)), np.linspace(0.5, 1.4, 10)
    expected = differences(lambda a: context(f, a), x)
    assert np.allclose(WAYS[way](context, f, mode, x), expected, atol=1e-5)


def test_users_adjoints_are_used_beneath_a_plugin():
    rules = MethodTable("rules")

    @rules.overlay(adjoint_of(helper))
    def of_helper(d, v):
        return (7.0 * d,)

    context = Context(plugins=(Doubles(math.sqrt),))
    assert context(gradient(lambda v: helper(v), rules=rules), 2.0) == 7.0


# ---- plugins that edit compiled code -------------------------------------------------------------


class Replaces(Plugin):
    """Replaces the calls of a function, before or after types are known."""

    def __init__(self, target, other, stage):
        self.target, self.other, self.stage = target, other, stage

    def _edit(self, ir, stage):
        if stage == self.stage:
            for call in ir.calls(self.target):
                ir.replace(call, self.other, *call.args)

    def before_inference(self, ir):
        self._edit(ir, "before_inference")

    def after_inference(self, ir):
        self._edit(ir, "after_inference")


class InlinesAll(Replaces):
    def inline(self, call):
        return call.target is not autodiff or None


def cubic(x):
    return x - x**3 / 6


def two_sines(x):
    return 2 * math.sin(x) + math.cos(x)


EDITED = {
    "the function of the program": (math.sin, cubic, two_sines),
    "by one whose rule calls it": (math.sin, math.cos, two_sines),
    "one that only a rule calls": (math.sin, cubic, lambda x: math.cos(x)),
    "an operator": (operator.mul, operator.add, lambda x: x * x * x),
    "an operator of the rules": (operator.mul, operator.add, lambda x: math.exp(x) + x / 3),
    "one in a helper": (math.exp, cubic, lambda x: outer(x) + math.exp(x)),
    "a conversion": (float, cubic, lambda x: math.sin(x) * x),
}


def outer(x):
    return math.exp(x) * x


@pytest.mark.parametrize("stage", ["before_inference", "after_inference"])
@pytest.mark.parametrize("edited", EDITED)
def test_a_plugin_edits_the_program_and_no_rule(edited, stage):
    target, other, f = EDITED[edited]
    context, x = Context(plugins=(Replaces(target, other, stage),)), 0.7
    value = context.jit(f)
    (expected,) = differences(lambda a: value(a[0]), np.array([x]))
    assert math.isclose(context.jit(lambda x: autodiff(f, x))(x), expected, rel_tol=1e-6)
    wrapped = context.wrap(f)
    inside = Context().jit(lambda x: autodiff(wrapped, x))
    assert math.isclose(inside(x), expected, rel_tol=1e-6)


def test_a_rule_is_not_inlined_where_it_would_be_edited():
    context = Context(plugins=(InlinesAll(math.sin, cubic, "after_inference"),))
    found = context.jit(lambda x: autodiff(lambda y: math.cos(y), x))(1.5)
    assert math.isclose(found, -math.sin(1.5))


def test_a_function_that_is_differentiated_itself_is_replaced():
    for stage in ("before_inference", "after_inference"):
        context = Context(plugins=(Replaces(math.sin, cubic, stage),))
        found = context.jit(lambda x: autodiff(math.sin, x))(0.7)
        assert math.isclose(found, derivative(cubic)(0.7))


def test_users_rules_are_rules():
    rules = MethodTable("rules")

    @rules.overlay(partials_of(outer))
    def of_outer(x: float):
        return (math.exp(x) * 3,)

    context = Context(plugins=(Replaces(math.exp, cubic, "after_inference"),))
    slope = derivative(lambda x: outer(x), rules=rules)
    assert math.isclose(context.jit(lambda x: slope(x))(0.7), math.exp(0.7) * 3)
