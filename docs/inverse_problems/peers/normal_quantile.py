"""Statistics: by others."""


def by_sympy(p):
    import sympy as sp
    from sympy.stats import Normal, cdf

    x = sp.Symbol("x", real=True)
    return [(float(f),) for f in sp.solve(cdf(Normal("size", 100, 15))(x) - 0.975, x)]


def by_scipy(p):
    from scipy.optimize import brentq

    return [(brentq(lambda x: p["sizes"].cdf(x) - 0.975, 0, 300, xtol=1e-12),)]


def by_oryx(p):
    import jax.scipy as jsp
    import oryx

    return [(float(oryx.core.inverse(lambda x: jsp.stats.norm.cdf((x - 100) / 15))(0.975)),)]
