"""Kepler's equation: by others."""


def by_sympy(p):
    import sympy as sp

    x = sp.Symbol("x")
    return [(float(sp.nsolve(x - 0.9 * sp.sin(x) - 0.2, x, 1)),)]


def by_scipy(p):
    from scipy.optimize import brentq

    return [(brentq(lambda x: p["mean_anomaly"](x, 0.9) - 0.2, 0, 6.3, xtol=1e-13),)]


def by_oryx(p):
    import jax.numpy as jnp
    import oryx

    return [(float(oryx.core.inverse(lambda x: x - 0.9 * jnp.sin(x))(0.2)),)]
