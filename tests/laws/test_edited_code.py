"""Interpretations of compiled code that a plugin may have edited: those that read or interpret its
Python code are refused, and those that run it give its values."""

import math

import numpy as np
import pytest

from inversion import contract, invert
from overlay import Context, OverlayError, Plugin
from overlay.analysis import check
from overlay.interpretations.autodiff import autodiff, derivative, gradient, jvp
from overlay.interpretations.batching import batched
from overlay.interpretations.intervals import Interval, enclose
from overlay.interpretations.tagging import provenance
from overlay.interpretations.tracing import trace
from overlay.plugins.plugin import STAGES


def cube(x):
    return x + x**3


def growth(x):
    return math.sinh(x) + x


def growth_of_array(x):
    return math.sinh(x[0]) + x[0] * x[1]


class Cubes(Plugin):
    """``cube`` for ``math.sinh``."""

    def after_inference(self, ir):
        for call in ir.calls(math.sinh):
            ir.replace(call, cube, *call.args)


class CubesBelow(Cubes):
    def enter(self, callee, types):
        return None if callee is cube else self


class Brings(Plugin):
    """Has no effect itself, and brings another plugin into a function."""

    def enter(self, callee, types):
        return CubesBelow() if callee is growth else self


class BringsForArrays(Plugin):
    def enter(self, callee, types):
        return CubesBelow() if callee is growth_of_array else self


READ = {
    "derivative": lambda f: derivative(f)(0.3),
    "jvp": lambda f: jvp(f, (0.3,), (1.0,)),
    "second derivative": lambda f: derivative(derivative(f))(0.3),
    "derivative of a caller": lambda f: derivative(lambda x: 2 * f(x))(0.3),
    "enclosure": lambda f: enclose(f, Interval(0.3, 0.4)),
    "inverse": lambda f: invert(f, float)(0.627),
    "inverse of a derivative": lambda f: invert(derivative(f), float)(2.27),
    "contraction": lambda f: contract(f, Interval(-9, 9), returns=Interval(0.6, 0.7)),
    "contraction of a caller": lambda f: contract(
        lambda x: 2 * f(x), Interval(-9, 9), returns=Interval(1.2, 1.4)
    ),
}
READ_OF_ARRAYS = {
    mode: lambda f, mode=mode: gradient(f, mode=mode)(np.array([0.3, 0.4]))
    for mode in ("forward", "reverse")
}
EACH = [(growth, how) for how in READ.values()]
EACH += [(growth_of_array, how) for how in READ_OF_ARRAYS.values()]
NAMES = [*READ, *READ_OF_ARRAYS]


def asked(self, callee, types):
    return self


@pytest.mark.parametrize(("program", "interpretation"), EACH, ids=NAMES)
@pytest.mark.parametrize("more", [{}, {"enter": asked}], ids=["alone", "with enter"])
@pytest.mark.parametrize("stage", STAGES)
def test_code_that_a_plugin_may_have_edited_is_not_interpreted(
    stage, more, program, interpretation
):
    plugin = type("Hook", (Plugin,), {stage: lambda self, value: None, **more})()
    with pytest.raises(OverlayError) as info:
        interpretation(Context(plugins=(plugin,)).jit(program))
    for word in (program.__name__, "<plugin Hook>", stage, "MethodTable", "py_func"):
        assert word in str(info.value)


@pytest.mark.parametrize(("program", "interpretation"), EACH, ids=NAMES)
def test_a_plugin_that_enter_may_bring_is_met_too(program, interpretation):
    with pytest.raises(OverlayError, match="which <plugin Brings> may have edited: it has enter"):
        interpretation(Context(plugins=(Brings(),)).jit(lambda x: program(x)))


@pytest.mark.parametrize("interpretation", READ.values(), ids=READ)
def test_a_function_bound_to_a_context_is_refused_as_its_call_is(interpretation):
    bound = Context(plugins=(Cubes(),)).wrap(growth)
    with pytest.raises(OverlayError, match="cannot interpret growth with <plugin Cubes>"):
        interpretation(bound)


@pytest.mark.parametrize(("program", "interpretation"), EACH, ids=NAMES)
def test_code_that_no_plugin_edits_is_interpreted(program, interpretation):
    class Elsewhere(Cubes):
        def enter(self, callee, types):
            return None

    for plugins in ((), (Elsewhere(),)):
        found = interpretation(Context(plugins=plugins).jit(program))
        assert str(found) == str(interpretation(program))


@pytest.mark.parametrize("plugin", [Cubes(), CubesBelow(), Brings()], ids=repr)
def test_interpretations_that_run_compiled_code_give_its_values(plugin):
    context = Context(plugins=(plugin,))
    hot, value = context.jit(growth), cube(0.3) + 0.3
    assert hot(0.3) == provenance(hot, 0.3).result == trace(hot, 0.3).result == value
    assert batched(hot)(np.array([0.3, 0.4])).tolist() == [value, cube(0.4) + 0.4]
    inside = context.jit(lambda x: autodiff(growth, x))
    assert inside(0.3) == pytest.approx(2.0 + 3 * 0.3**2, rel=1e-15)


def test_compiled_code_is_not_analysed():
    with pytest.raises(OverlayError, match="cannot analyse growth, which is compiled"):
        check(Context(plugins=(CubesBelow(),)).jit(growth), float)


@pytest.mark.parametrize("plugin", [Cubes(), CubesBelow(), BringsForArrays()], ids=repr)
def test_compiled_code_has_no_adjoint_without_the_edits(plugin):
    hot = Context(plugins=(plugin,)).jit(lambda x: autodiff(growth_of_array, x))
    with pytest.raises(OverlayError, match="may edit it"):
        hot(np.array([0.3, 0.4]))
