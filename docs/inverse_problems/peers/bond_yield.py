"""Bonds: by others."""


def by_sympy(p):
    import sympy as sp

    y = sp.Symbol("y")
    return [(float(sp.nsolve(p["price"](y) - 93.2, y, 0.05)),)]


def by_scipy(p):
    from scipy.optimize import brentq

    return [(brentq(lambda y: p["price"](y) - 93.2, -0.5, 1, xtol=1e-14),)]


def by_oryx(p):
    import oryx

    return [(float(oryx.core.inverse(p["price"])(93.2)),)]
