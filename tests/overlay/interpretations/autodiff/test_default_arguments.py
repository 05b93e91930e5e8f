"""Arguments that are the defaults: derivatives are those of the call without them."""

import dataclasses
import inspect
import warnings

import numpy as np
import pytest

from overlay import Context, OverlayError
from overlay.core.target import describe
from overlay.interpretations.autodiff import NotDifferentiable, autodiff, gradient, jvp
from overlay.interpretations.autodiff.reverse.adjoints import adjoint_for, kind_of_argument
from overlay.interpretations.autodiff.reverse.source_text import Form
from overlay.interpretations.autodiff.reverse.taped import taped
from overlay.interpretations.autodiff.rules.array_rules import ARRAY_RULES
from overlay.interpretations.autodiff.rules.default_arguments import in_places, without_defaults
from tests.overlay.interpretations.autodiff.test_array_rules import (
    as_floats,
    call_of,
    leaves,
    program_of,
    weights_of,
)

# numpy 2.5 warns of it
pytestmark = pytest.mark.filterwarnings("ignore:numpy.fix:DeprecationWarning")


def parts_of(rule, sample):
    """The arguments of a sample, and its keywords."""
    given = rule.samples[sample](np.random.default_rng(sample))
    return (given[:-1], given[-1]) if isinstance(given[-1], dict) else (given, {})


@np.errstate(all="ignore")
def takes(rule, sample, name):
    """Whether the function takes a call of a sample with None for a parameter."""
    args, named = parts_of(rule, sample)
    if name in rule.signature.bind(*args, **named).arguments:
        return False
    try:
        with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
            rule.function(*args, **named, **{name: None})
    except TypeError:  # of a ufunc's parameter that is left out or a text, and of other versions
        return False
    return True


def with_none(rule, sample, name):
    """A rule with None for a parameter of a sample."""

    def drawn(rng):
        args, named = parts_of(rule, sample)
        return (*args, {**named, name: None})

    return dataclasses.replace(
        rule, samples=(*rule.samples[:sample], drawn, *rule.samples[sample + 1 :])
    )


def every_call():
    """A case for each parameter that has the default None, and each sample that leaves it out; all
    but the first of each are long."""
    for rule in ARRAY_RULES:
        optional = [n for n, each in rule.signature.parameters.items() if each.default is None]
        for name in optional:
            taken = [i for i in range(len(rule.samples)) if takes(rule, i, name)]
            for i in taken:
                marks = [] if i == taken[0] else pytest.mark.long
                case = f"{describe(rule.function)}-{name}-{i}"
                yield pytest.param(rule, i, name, id=case, marks=marks)


CALLS = list(every_call())


def is_same(one, other):
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(is_same, one, other))
    return np.array_equal(one, other, equal_nan=np.asarray(one).dtype.kind in "fc")


def adjoint_source(program, floats, is_compiled):
    """The source of the adjoint, or what is refused."""
    kinds = [kind_of_argument(x) for x in floats]
    try:
        form = Form(is_compiled=is_compiled)
        return adjoint_for(program, kinds, range(len(floats)), (), form).source
    except OverlayError as error:
        return error.asked


@pytest.mark.parametrize(("rule", "sample", "name"), CALLS)
def test_compiled_and_interpreted_adjoints_with_none_are_those_of_the_default(rule, sample, name):
    made = program_of(rule, rule.function, sample)
    other = program_of(with_none(rule, sample, name), rule.function, sample)
    if made is None or other is None:
        return
    for is_compiled in (False, True):
        assert adjoint_source(*other, is_compiled) == adjoint_source(*made, is_compiled)


@pytest.mark.parametrize(("rule", "sample", "name"), CALLS)
def test_tangents_and_tapes_with_none_are_those_of_the_default(rule, sample, name):
    function = rule.function

    def called(*args, **named):
        return function(*args, **named, **{name: None})

    f, floats = call_of(rule, function, sample)
    g, _ = call_of(rule, called, sample)
    rng = np.random.default_rng(99)
    tangents = [np.asarray(rng.normal(size=np.shape(x)))[()] for x in floats]
    assert is_same(jvp(f, floats, tangents), jvp(g, floats, tangents))
    one, other = (taped(h, floats, range(len(floats)), ()) for h in (f, g))
    ones = [np.ones_like(part) for part in leaves(as_floats(one.value))]
    found = [run.pull_back(weights_of(run.value, iter(ones))) for run in (one, other)]
    assert is_same(*found)


X = np.array([0.2, 0.7, 1.1, 0.4])
SAME = {
    "sum": (lambda x: np.sum(x * x, axis=None), lambda x: np.sum(x * x)),
    "sum of a method": (lambda x: (x * x).sum(None), lambda x: np.sum(x * x)),
    "mean": (lambda x: np.mean(x * x, None), lambda x: np.mean(x * x)),
    "std": (lambda x: np.std(x, axis=None, ddof=1), lambda x: np.sqrt(np.var(x) * 4.0 / 3.0)),
    "std by places": (lambda x: np.std(x, None, None, None, 1), lambda x: np.std(x, ddof=1)),
    "std of a method": (lambda x: x.std(axis=None), lambda x: np.std(x)),
    "roll": (lambda x: np.sum(np.roll(x, 1, axis=None) * X), lambda x: np.sum(np.roll(x, 1) * X)),
    "repeat": (lambda x: np.sum(np.repeat(x, 2, None) ** 3), lambda x: 2.0 * np.sum(x**3)),
    "no lower bound": (
        lambda x: np.sum(np.clip(x, None, 0.5) * X),
        lambda x: x[0] * X[0] + x[3] * X[3],
    ),
    "no upper bound": (
        lambda x: np.sum(np.clip(x, a_min=0.5, a_max=None) * X),
        lambda x: x[1] * X[1] + x[2] * X[2],
    ),
    "differences": (lambda x: np.sum(np.diff(x, 1, -1) ** 2), lambda x: np.sum(np.diff(x) ** 2)),
    "a ufunc": (lambda x: np.sum(np.exp(x, out=None, dtype=None)), lambda x: np.sum(np.exp(x))),
    "a function of Python": (lambda x: x[0] * round(1.6, None), lambda x: x[0] * 2.0),
}
"""Programs with arguments that are defaults, and programs with their derivatives."""


@pytest.mark.parametrize("name", SAME)
def test_programs_with_defaults_have_their_derivatives_in_both_engines(name):
    program, plain = SAME[name]
    expected = gradient(plain, mode="forward")(X)
    for mode in ("forward", "reverse"):
        assert np.allclose(gradient(program, mode=mode)(X), expected, rtol=1e-12)
    assert np.allclose(Context().jit(lambda x: autodiff(program, x))(X), expected, rtol=1e-12)


def test_a_form_that_a_definition_does_not_have_is_refused_by_name():
    def program(x):
        return np.nanquantile(x, 0.3, weights=np.ones(4), method="inverted_cdf")

    with pytest.raises(NotDifferentiable, match="nanquantile with these arguments"):
        gradient(program, mode="forward")(X)


def test_only_defaults_are_left_out():
    def function(a, n=1, axis=None, *, where=True, order=1.0): ...

    signature = inspect.signature(function)

    def value(x):
        return x

    def short(*args, **named):
        return without_defaults(signature, args, named, value)

    assert short(0, 1, None) == ([0], {})
    assert short(0, 1.0) == ([0, 1.0], {})
    assert short(0, True) == ([0, True], {})
    assert short(0, 1, 2) == ([0, 1, 2], {})
    assert short(0, axis=None, where=True, n=3) == ([0], {"n": 3})
    assert short(0, where=1, order=1) == ([0], {"where": 1, "order": 1})
    assert in_places(signature, [0], {"axis": 2, "n": 3}, value) == ([0, 3, 2], {})
    assert in_places(signature, [0, 1, 2], {}, value) == ([0], {"axis": 2})
