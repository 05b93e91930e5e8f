"""Modules that a program imports while it is differentiated have their rules at once."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.optimize import _zeros_py

from overlay.interpretations.autodiff import NotDifferentiable, derivative

PROGRAMS = {
    "from optimize, forward": (
        "from scipy.optimize import brentq\n    return brentq(lambda t: t * t - x, 0.0, 10.0)",
        "derivative(f)(4.0)",
        "0.25",
    ),
    "stats by name, second order": (
        "import scipy\n    return scipy.stats.norm.cdf(x)",
        "derivative(f, order=2)(1.0)",
        "-math.exp(-0.5) / math.sqrt(2 * math.pi)",
    ),
    "special by importlib, reverse": (
        "import importlib\n    return importlib.import_module('scipy.special').erf(x)",
        "gradient(f, mode='reverse')(1.0)",
        "2 * math.exp(-1.0) / math.sqrt(math.pi)",
    ),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_first_call_is_as_the_second(program):
    body, taken, exact = PROGRAMS[program]
    code = (
        "import math, sys\n"
        "from overlay.interpretations.autodiff import derivative, gradient\n"
        f"def f(x):\n    {body}\n"
        "assert not any(name.startswith('scipy') for name in sys.modules)\n"
        f"first, second = {taken}, {taken}\n"
        f"assert first == second and math.isclose(first, {exact}, rel_tol=1e-9), (first, second)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_an_error_that_c_code_leaves_pending_is_raised():
    find = _zeros_py._zeros._brentq

    def root(x):
        return find(lambda t: t * t - x, 0.0, 10.0, 1e-9, 1e-9, 50, (), False, True)

    # a tracer runs first, with the error pending: Python raises a SystemError from it
    traced = (SystemError,) if sys.gettrace() is not None else ()
    with pytest.raises((NotDifferentiable, *traced)) as found:
        derivative(root)(4.0)
    error = found.value if isinstance(found.value, NotDifferentiable) else found.value.__cause__
    assert isinstance(error, NotDifferentiable)
    assert "takes a float" in str(error)


def test_writes_to_arrays_without_dimensions():
    def placed(x):
        a = np.zeros(())
        np.place(a, True, [x * x])
        b = np.zeros(())
        np.putmask(b, True, x)
        c = np.zeros(())
        np.put(c, [0, 0], [1.0, x])
        return a + b + c

    assert derivative(placed)(3.0) == 8.0
