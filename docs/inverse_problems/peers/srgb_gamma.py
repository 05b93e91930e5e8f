"""sRGB: by others."""


def by_sympy(p):
    import sympy as sp

    x = sp.Symbol("x", positive=True)
    curve = sp.Piecewise((12.92 * x, x <= 0.0031308), (1.055 * x ** (1 / 2.4) - 0.055, True))
    return [(float(f),) for f in sp.solve(curve * 255 - 128, x)]


def by_scipy(p):
    from scipy.optimize import brentq

    return [(brentq(lambda x: p["encoded"](x) - 128, 0, 1, xtol=1e-14),)]


def by_oryx(p):
    import jax.numpy as jnp
    import oryx

    def encoded(x):
        return jnp.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055) * 255

    return [(float(oryx.core.inverse(encoded)(128.0)),)]
