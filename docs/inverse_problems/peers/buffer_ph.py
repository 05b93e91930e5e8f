"""Acids: by others."""


def by_sympy(p):
    import sympy as sp

    ph = sp.Symbol("ph")
    return [(float(sp.nsolve(p["base_added"](ph) - 20, ph, 7)),)]


def by_scipy(p):
    from scipy.optimize import brentq

    return [(brentq(lambda ph: p["base_added"](ph) - 20, 2.9, 12.5, xtol=1e-13),)]
