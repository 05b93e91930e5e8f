"""Programs whose compilation is timed: functions to be differentiated, and inverses."""

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

__all__ = [
    "GRADIENTS",
    "INVERSES",
    "Inverted",
    "chain",
    "chain_by_hand",
    "chain_whole",
    "ode_by_hand",
    "ode_in_jax",
    "with_functions",
]

INPUTS = np.linspace(-1.0, 1.0, 24).reshape(6, 4)
WANTED = np.linspace(0.0, 1.0, 6)


def chain(x):
    """Rosenbrock's function."""
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def chain_by_hand(x):
    found = np.zeros_like(x)
    for i in range(len(x) - 1):
        rest = x[i + 1] - x[i] * x[i]
        found[i + 1] += 200.0 * rest
        found[i] -= 400.0 * rest * x[i] + 2.0 * (1.0 - x[i])
    return found


def chain_whole(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def network(w):
    """The loss of a network with 72 weights."""
    first, second, third = w[:32].reshape(4, 8), w[40:64].reshape(8, 3), w[67:70].reshape(3, 1)
    hidden = np.tanh(INPUTS @ first + w[32:40])
    hidden = np.tanh(hidden @ second + w[64:67])
    out = (hidden @ third).reshape(6) + w[70] * w[71]
    return np.mean((out - WANTED) ** 2)


def logsumexp(x):
    largest = np.max(x)
    return largest + np.log(np.sum(np.exp(x - largest)))


def ode(x):
    a, v = x[0], x[1]
    for _ in range(200):
        a, v = a + 0.01 * v, v - 0.01 * x[2] * math.sin(a)
    return a * a + v


def ode_by_hand(x):
    angles, speeds = np.empty(201), np.empty(201)
    angles[0], speeds[0] = x[0], x[1]
    for k in range(200):
        angles[k + 1] = angles[k] + 0.01 * speeds[k]
        speeds[k + 1] = speeds[k] - 0.01 * x[2] * math.sin(angles[k])
    by_a, by_v, by_force = 2.0 * angles[200], 1.0, 0.0
    for k in range(199, -1, -1):
        by_force -= 0.01 * math.sin(angles[k]) * by_v
        by_a, by_v = by_a - 0.01 * x[2] * math.cos(angles[k]) * by_v, by_v + 0.01 * by_a
    found = np.zeros_like(x)
    found[0], found[1], found[2] = by_a, by_v, by_force
    return found


def ode_in_jax(x):
    import jax
    import jax.numpy as jnp

    def step(state, _):
        a, v = state
        return (a + 0.01 * v, v - 0.01 * x[2] * jnp.sin(a)), None

    (a, v), _ = jax.lax.scan(step, (x[0], x[1]), None, length=200)
    return a * a + v


# with a point, and the form for JAX where it is another
GRADIENTS: dict[str, tuple[Callable[..., Any], Any, Callable[..., Any]]] = {
    "Rosenbrock's function, a loop": (chain, np.linspace(-1.0, 2.0, 2000), chain_whole),
    "Rosenbrock's function, whole arrays": (chain_whole, np.linspace(-1.0, 2.0, 2000), chain_whole),
    "a network with 72 weights": (network, np.linspace(-1.0, 1.0, 72), network),
    "logsumexp": (logsumexp, np.linspace(-1.0, 1.0, 2000), logsumexp),
    "200 steps of an ODE": (ode, np.array([0.7, 0.1, 1.3]), ode_in_jax),
}


def with_functions(function: Callable[..., Any], module: Any) -> Callable[..., Any]:
    """A function that calls the functions of a module where it called those of math and numpy."""
    names = {**function.__globals__, "math": module, "np": module}
    return FunctionType(function.__code__, names, function.__name__)


# ---- inverses -----------------------------------------------------------------------------


class Inverted(NamedTuple):
    """A function to be inverted, with the arguments at which it is. known: what is known beside the
    result. batch: whether rows are solved. oryx: whether Oryx can invert it."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    known: tuple[str, ...] = ()
    batch: bool = False
    oryx: bool = False


def wheels(left: float, right: float):
    """Travel of two wheels to a change of pose."""
    base = 0.3
    ds, turned = (left + right) / 2, (right - left) / base
    if abs(turned) < 1e-9:
        return ds, 0.0, turned
    radius = ds / turned
    return radius * math.sin(turned), radius * (1 - math.cos(turned)), turned


def gamma(c):
    if c <= 0.0031308:
        return 12.92 * c
    return 1.055 * c ** (1 / 2.4) - 0.055


def srgb(r: float, g: float, b: float):
    return gamma(r), gamma(g), gamma(b)


def income_tax(income: float):
    tax, lower = 0.0, 0.0
    brackets = ((11000.0, 0.10), (44725.0, 0.12), (95375.0, 0.22), (182100.0, 0.24))
    for upper, rate in brackets:
        if income > lower:
            tax += (min(income, upper) - lower) * rate
        lower = upper
    return tax


W = np.array([[2.0, 1.0], [0.5, 3.0]])


def layer(x):
    return W @ x


def normal(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def black_scholes(spot: float, strike: float, years: float, rate: float, volatility: float):
    spread = volatility * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
    d2 = d1 - spread
    return spot * normal(d1) - strike * math.exp(-rate * years) * normal(d2)


def gelu(x: float):
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def softplus(x: float):
    return math.log1p(math.exp(x))


def ten_statements(x: float):
    a = x + 1
    b = a * 2
    c = math.exp(b)
    d = c - 0.5
    e = d / 3
    f = math.log(e)
    g = f * 0.25
    h = math.expm1(g)
    i = 4 - h
    return i * 1.5


AT = ("spot", "strike", "years", "rate")
INVERSES: dict[str, Inverted] = {
    "two wheels": Inverted(wheels, (0.11, 0.13)),
    "sRGB of a tuple": Inverted(srgb, (0.2, 0.5, 0.9)),
    "income tax": Inverted(income_tax, (50000.0,)),
    "a matrix of 2 by 2": Inverted(layer, (np.array([0.3, 0.7]),)),
    "GELU": Inverted(gelu, (1.3,)),
    "Black-Scholes, a batch": Inverted(black_scholes, (100.0, 105.0, 0.5, 0.03, 0.2), AT, True),
    "softplus": Inverted(softplus, (0.25,), oryx=True),
    "ten statements": Inverted(ten_statements, (0.25,), oryx=True),
}
