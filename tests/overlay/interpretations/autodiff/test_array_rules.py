"""The law of the rules of functions of arrays: every row, forward and in reverse."""

import linecache

import numpy as np
import pytest

from overlay.core.target import describe
from overlay.interpretations.autodiff import NotDifferentiable, jvp
from overlay.interpretations.autodiff import adjoint as adjoint_of_call
from overlay.interpretations.autodiff.reverse.taped import taped
from overlay.interpretations.autodiff.rules import OPTIONAL
from overlay.interpretations.autodiff.rules.array_rules import (
    ARRAY_RULES,
    optional_array_rules,
)

# numpy 2.5 warns of it
pytestmark = pytest.mark.filterwarnings("ignore:numpy.fix:DeprecationWarning")

STEP = 1e-6
CALLS = [
    pytest.param(rule, i, spelling, id=f"{describe(spelling)}-{i}")
    for rule in (*ARRAY_RULES, *optional_array_rules(tuple(OPTIONAL)))
    for spelling in rule.spellings
    for i in range(len(rule.samples))
]


def is_float(x):
    return isinstance(x, (float, complex)) or (isinstance(x, np.ndarray) and x.dtype.kind in "fc")


def leaves(x):
    if isinstance(x, (list, tuple)):
        return [leaf for part in x for leaf in leaves(part)]
    if isinstance(x, dict):
        return leaves(list(x.values()))
    return [x] if is_float(x) else []


def replaced(x, by):
    """A tree of arguments with its floats replaced, in order, by those of an iterator."""
    if isinstance(x, (list, tuple)):
        return type(x)(replaced(part, by) for part in x)
    if isinstance(x, dict):
        return {name: replaced(part, by) for name, part in x.items()}
    return next(by) if is_float(x) else x


def call_of(rule, spelling, sample):
    """The function of the floats in the data of a sample, and these floats: of complex numbers the
    real and imaginary parts."""
    given = rule.samples[sample](np.random.default_rng(sample))
    args, named = (given[:-1], given[-1]) if isinstance(given[-1], dict) else (given, {})
    data = rule.signature.bind(*args, **named).arguments
    names = [name for name in rule.data or data if name in data]
    own = {id(leaf) for name in names for leaf in leaves(data[name])}
    every = leaves([list(args), named])
    floats = [
        part
        for leaf in every
        if id(leaf) in own
        for part in ([leaf.real, leaf.imag] if np.iscomplexobj(leaf) else [leaf])
    ]

    def f(*values):
        given = iter(values)

        def drawn(leaf):
            return next(given) + 1j * next(given) if np.iscomplexobj(leaf) else next(given)

        by = iter([drawn(leaf) if id(leaf) in own else leaf for leaf in every])
        mine = [replaced(arg, by) for arg in args]
        return in_numbers(spelling(*mine, **replaced(named, by)))

    return f, [part for leaf in floats for part in real_parts(leaf)]


def in_numbers(result):
    """A result with the length of each text in its place: a text has no derivative."""
    if isinstance(result, str):
        return len(result)
    if type(result) in (list, tuple):
        return type(result)(map(in_numbers, result))
    return result


def real_parts(x):
    return (np.real(x).copy(), np.imag(x).copy()) if np.iscomplexobj(x) else (x,)


def flat(result):
    """The floats of a result as one vector of real numbers."""
    found = np.concatenate([np.ravel(np.asarray(part)) for part in leaves(result)] or [np.zeros(0)])
    return np.concatenate([found.real, found.imag]) if np.iscomplexobj(found) else found


def as_floats(result):
    if isinstance(result, (list, tuple)):
        return [as_floats(part) for part in result]
    if isinstance(result, np.complexfloating):
        return complex(result)
    return float(result) if isinstance(result, np.floating) else result


@pytest.mark.parametrize(("rule", "sample", "spelling"), CALLS)
def test_tangents_are_those_of_differences(rule, sample, spelling):
    f, floats = call_of(rule, spelling, sample)
    rng = np.random.default_rng(99)
    tangents = [np.asarray(rng.normal(size=np.shape(x)))[()] for x in floats]
    value, found = jvp(f, floats, tangents)
    there = f(*(x + STEP * t for x, t in zip(floats, tangents, strict=True)))
    here = f(*(x - STEP * t for x, t in zip(floats, tangents, strict=True)))
    expected = (flat(as_floats(there)) - flat(as_floats(here))) / (2 * STEP)
    assert np.allclose(flat(as_floats(value)), flat(as_floats(f(*floats))), rtol=1e-12)
    assert np.allclose(flat(of_floats(found, value)), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(("rule", "sample", "spelling"), CALLS)
def test_cotangents_are_the_transpose_of_tangents(rule, sample, spelling):
    f, floats = call_of(rule, spelling, sample)
    rng = np.random.default_rng(98)
    tangents = [np.asarray(rng.normal(size=np.shape(x)))[()] for x in floats]
    run = taped(f, floats, range(len(floats)), ())
    weights = [weight(part, rng) for part in leaves(as_floats(run.value))]
    pulled = run.pull_back(weights_of(run.value, iter(weights)))
    value, moved = jvp(f, floats, tangents)
    pairs = zip(weights, leaves(of_floats(moved, value)), strict=True)
    by_tangents = sum(np.sum(np.real(np.conj(w) * p)) for w, p in pairs)
    by_cotangents = sum(np.sum(d * t) for d, t in zip(pulled, tangents, strict=True))
    assert np.isclose(by_tangents, by_cotangents, rtol=1e-9, atol=1e-11)


def of_floats(tangents, result):
    """The tangents of the floats in a result."""
    if isinstance(result, (list, tuple)):
        return [of_floats(*pair) for pair in zip(tangents, result, strict=True)]
    return as_floats(tangents) if is_float(as_floats(result)) else None


def weight(part, rng):
    found = rng.normal(size=np.shape(part))
    return found + 1j * rng.normal(size=np.shape(part)) if np.iscomplexobj(part) else found


def weights_of(result, weights):
    """A cotangent for each part of a result; None for parts without derivative."""
    if isinstance(result, (list, tuple)):
        return [found for part in result for found in weights_of(part, weights)]
    return [next(weights) if is_float(as_floats(result)) else None]


def program_of(rule, spelling, sample):
    """A program, as a user would write it, of the sum of weighted results; and its arguments."""
    f, floats = call_of(rule, spelling, sample)
    given = rule.samples[sample](np.random.default_rng(sample))
    args, named = (given[:-1], given[-1]) if isinstance(given[-1], dict) else (given, {})
    space = {"np": np, "function": spelling}
    names = {}

    def shown(x):
        if type(x) in (list, tuple):
            parts = "".join(f"{shown(part)}, " for part in x)
            return f"[{parts}]" if type(x) is list else f"({parts})"
        if is_float(x) and len(names) < len(floats) and np.array_equal(x, floats[len(names)]):
            name = names[f"x{len(names)}"] = f"x{len(names)}"
            return name
        if x is None or type(x) in (int, str, bool) or (type(x) is float and np.isfinite(x)):
            return repr(x)
        space[f"c{len(space)}"] = x
        return f"c{len(space) - 1}"

    shown_args = [shown(x) for x in args] + [f"{name}={shown(x)}" for name, x in named.items()]
    result = as_floats(f(*floats))
    rng = np.random.default_rng(97)
    terms = []
    if isinstance(result, (list, tuple)):
        if any(isinstance(part, (list, tuple)) for part in result):
            return None
        parts = [(f"found[{i}]", part) for i, part in enumerate(result)]
    else:
        parts = [("found", result)]
    for i, (name, part) in enumerate(parts):
        if is_float(part):
            space[f"w{i}"] = np.asarray(rng.normal(size=np.shape(part)))[()]
            terms.append(f"np.sum({name} * w{i})" if np.ndim(part) else f"{name} * w{i}")
    if not terms or len(names) != len(floats) or any(np.iscomplexobj(x) for x in floats):
        return None
    source = (
        f"def program({', '.join(names)}):\n"
        f"    found = function({', '.join(shown_args)})\n"
        f"    return {' + '.join(terms)}\n"
    )
    space = {**space, **{k: float(v) for k, v in space.items() if isinstance(v, np.floating)}}
    exec(compile(source, f"<{describe(spelling)}>", "exec"), space)
    linecache.cache[f"<{describe(spelling)}>"] = (len(source), None, source.splitlines(True), "")
    return space["program"], floats


@pytest.mark.parametrize(("rule", "sample", "spelling"), CALLS)
def test_adjoints_are_those_of_the_tape(rule, sample, spelling):
    made = program_of(rule, spelling, sample)
    if made is None:
        return
    program, floats = made
    expected = taped(program, floats, range(len(floats)), ()).pull_back([1.0])
    try:
        adjoint = adjoint_of_call(program, *floats)
    except NotDifferentiable:
        return  # the tape is used
    found = adjoint.function(*[floats[i] for i in adjoint.given], 1.0)
    for one, other in zip(found, expected, strict=True):
        assert np.allclose(one, other, rtol=1e-9, atol=1e-11)
