"""Adjoints through complex numbers: those of the tape and of differences, also compiled."""

import cmath

import numpy as np
import pytest

from overlay import Context, OverlayError
from overlay.core.target import describe
from overlay.interpretations.autodiff import NotDifferentiable, autodiff, gradient
from overlay.interpretations.autodiff.reverse.adjoints import adjoint_for, kind_of_argument
from overlay.interpretations.autodiff.reverse.complex_pullbacks import holomorphic
from overlay.interpretations.autodiff.reverse.source_text import Form
from tests.strangers.derivative_trials import by_differences

X = np.array([0.32, 0.71, 1.13, 0.44])
A = np.array([1.0, 2.0, 4.0, 3.0])
Z = np.array([0.3 + 0.4j, 0.7 - 0.2j, 0.1 + 0.9j, 1.2 + 0.3j])


def by_adjoint(program, *args):
    """The gradient by the adjoint that is compiled, run by Python."""
    kinds = [kind_of_argument(x) for x in args]
    made = adjoint_for(program, kinds, range(len(args)), (), Form(is_compiled=True))
    return made.function(*args, 1.0)


def compiled(program, *args):
    return Context().jit(lambda *given: autodiff(program, *given))(*args)


def of_each(function):
    """A program of a holomorphic function, of numbers and, if it is numpy's, of arrays."""
    if not isinstance(function, np.ufunc):
        return lambda x: (function(0.3 * x[0] + 0.4j * x[1]) * (1.0 - 2.0j)).real
    return lambda x: np.sum((function(x * Z + 0.2) * (A - 2.0j)).imag) + abs(function(x[0] + 1j))


EACH = {describe(f): of_each(f) for f, _ in holomorphic().values()}
"""A program of each holomorphic function."""


@pytest.mark.parametrize("name", EACH)
def test_adjoints_of_holomorphic_functions_are_those_of_differences(name):
    (found,) = by_adjoint(EACH[name], X)
    assert np.allclose(found, by_differences(EACH[name], X), rtol=1e-6, atol=1e-8)
    if not name.startswith("cmath.") and name not in ("tanh", "arcsinh"):  # rules of real numbers
        assert np.allclose(found, gradient(EACH[name], mode="forward")(X), rtol=1e-10)


def test_every_elementwise_function_of_complex_numbers_in_the_catalogue_has_a_program():
    ufuncs = {ufunc for _, ufunc in holomorphic().values()}
    assert {np.exp, np.log, np.sqrt, np.sin, np.arctan, np.tanh, np.square} <= ufuncs
    assert {np.abs, np.sign, np.floor}.isdisjoint(ufuncs)
    assert "cmath.exp" in EACH


def recurrence(x):
    z = 0j
    for i in range(len(x)):
        z = z * 0.5 + np.exp(1j * x[i])
    return abs(z) ** 2


def mandelbrot(x):
    c, z, n = complex(x[0], 0.2 * x[1]), 0.0 * 1j, 0
    while abs(z) < 2.0 and n < 8:
        z = z * z + c
        n = n + 1
    return z.real + 0.3 * z.imag


def branches(x):
    z = x[0] + 1j * x[1]
    if z.imag > 0.5:
        z = np.conj(z) * x[2]
    return (z / (1.0 + 2j * x[3])).real


def transfer(x):
    """The gain of a filter, at some frequencies."""
    s = 1j * A
    return np.sum(np.abs(x[0] / (s * s + x[1] * s + x[2])) ** 2)


def broadcast(x):
    rows = np.reshape(x * Z, (4, 1)) * x[:3]
    return np.sum(np.abs(rows)) + np.mean(rows).real


def listed(x):
    parts = [np.exp(1j * t * x[1]) for t in (0.1, 0.2, 0.4)]
    total = 0j
    for part in parts:
        total = total + part
    return np.angle(total) + total.real


def helper(a, b):
    return np.sum(np.exp(a * b) * b)


PROGRAMS = {
    "exp(ix)": lambda x: np.sum(np.exp(1j * x).real * A),
    "squares": lambda x: np.sum(np.abs(x * Z) ** 2),
    "parts": lambda x: np.sum((x * Z).real * np.imag(np.exp(1j * x))),
    "conjugates": lambda x: np.sum((np.conj(x * Z) * Z).real) + np.sum((x * Z).conj().imag * A),
    "angles": lambda x: np.sum(np.angle(x + 1j * A) * A),
    "a helper": lambda x: helper(1j * x[0], A).real + helper(x, 1j).imag,
    "a number": lambda x: abs(complex(x[0], x[1])) + complex(x[2]).real,
    "literals": lambda x: ((x[0] + 2j) * (1 - 1j * x[1])).imag,
    "powers": lambda x: np.sum((x * Z) ** 3).real + np.sum(np.power(x * Z, 2.5)).imag,
    "no power": lambda x: np.sum((x * Z) ** 0 * x).real,
    "quotients": lambda x: np.sum(1.0 / (x + 1j) - Z / x + (x - 1j) / 2.0).imag,
    "signs": lambda x: np.sum(-(x * Z) + +(x * 1j) - (2j - x)).imag,
    "parts of arrays": lambda x: np.sum(np.abs((x * Z)[1:3])) + (x * Z)[0].imag,
    "an array of an index": lambda x: np.sum(((x * Z)[np.array([1, 1, 2])] * Z[:3]).real),
    "cmath": lambda x: cmath.sqrt(x[0] - 1j * x[1]).imag + cmath.phase(x[2] + 1j),
    "zero": lambda x: np.sum(np.abs((x - X) * Z)),
    "phase": lambda x: abs(np.sum(A * np.exp(2j * np.pi * x))) ** 2,
    "a recurrence": recurrence,
    "a while loop": mandelbrot,
    "branches": branches,
    "a transfer function": transfer,
    "broadcasting": broadcast,
    "a list": listed,
}
NO_TAPE = ("a number", "a while loop", "cmath")
"""Programs with functions in C, which take no active numbers."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_adjoints_of_programs_are_those_of_differences_and_of_the_tape(name):
    (found,) = by_adjoint(PROGRAMS[name], X)
    assert found.dtype == np.float64
    if name != "zero":
        assert np.allclose(found, by_differences(PROGRAMS[name], X), rtol=1e-6, atol=1e-8)
    if name not in NO_TAPE:
        assert np.allclose(found, gradient(PROGRAMS[name], mode="forward")(X), rtol=1e-10)


COMPILED = {
    "numbers": (
        "a recurrence",
        "a while loop",
        "branches",
        "cmath",
        "literals",
        "a list",
        "phase",
        "a helper",
    ),
    "arrays": ("exp(ix)", "squares", "conjugates", "angles", "powers", "quotients", "parts"),
    "forms": ("broadcasting", "parts of arrays", "signs", "zero", "a transfer function"),
}


def sum_of(programs):
    names = [f"p{i}" for i in range(len(programs))]
    space = dict(zip(names, programs, strict=True))
    return eval(f"lambda x: {' + '.join(f'{name}(x)' for name in names)}", space)


@pytest.mark.parametrize("group", COMPILED)
def test_compiled_gradients_are_those_of_the_adjoint_in_python(group):
    program = sum_of([PROGRAMS[name] for name in COMPILED[group]])
    (expected,) = by_adjoint(program, X)
    assert np.allclose(compiled(program, X), expected, rtol=1e-10)


@pytest.mark.long
@pytest.mark.parametrize("name", [*EACH, *PROGRAMS])
def test_each_compiled_gradient_is_that_of_the_adjoint_in_python(name):
    program = (EACH | PROGRAMS)[name]
    (expected,) = by_adjoint(program, X)
    assert np.allclose(compiled(program, X), expected, rtol=1e-10)


def test_derivatives_by_numbers_and_second_derivatives_go_through_complex_numbers():
    def gain(a, b):
        return abs(1.0 / (a + 1j * b)) ** 2

    found = compiled(gain, 0.3, 0.7)
    assert np.allclose(found, gradient(gain, mode="forward")(0.3, 0.7), rtol=1e-10)


REFUSED = {
    "np.fft.fft": lambda x: np.sum(np.abs(np.fft.fft(x)) ** 2),
    "vdot": lambda x: np.vdot(x * Z, Z).real,
    "matmul": lambda x: ((x * Z) @ Z).real,
    "where": lambda x: np.sum(np.where(x > 0.5, x * Z, Z)).real,
    "pow": lambda x: np.sum(Z**x).real,
    "norm": lambda x: np.linalg.norm(x * Z),
    "var": lambda x: np.var(x * Z),
    "eq": lambda x: x[0] if x[0] * 1j == 1j else x[1],
    "sum": lambda x: np.sum(x * Z, axis=0).real,
    "array": lambda x: np.sum(np.array([x[0] * 1j, x[1] * 1j]).imag),
    "it returns a complex number": lambda x: x[0] * 1j,
    "it writes": lambda x: np.sum(filled(x, 1j * x[0])),
}


def filled(x, value):
    found = np.zeros(len(x))
    found[0] = value
    return found


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_adjoint_with_complex_numbers_is_refused_by_name_and_line(name):
    kinds = [kind_of_argument(X)]
    with pytest.raises(OverlayError) as raised:
        adjoint_for(REFUSED[name], kinds, (0,), (), Form(is_compiled=True))
    assert name.rpartition(".")[2] in raised.value.asked
    if not name.startswith("it returns"):
        assert "test_complex_adjoints" in str(raised.value.where)


def test_what_is_refused_in_compiled_code_is_differentiated_by_the_tape():
    program = REFUSED["np.fft.fft"]
    with pytest.raises(NotDifferentiable, match="fft"):
        compiled(program, X)
    assert np.allclose(gradient(program, mode="reverse")(X), by_differences(program, X), rtol=1e-6)
