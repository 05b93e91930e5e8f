"""Mortgages: by others."""


def by_sympy(p):
    import sympy as sp

    rate = sp.Symbol("rate", positive=True)
    return [(float(sp.nsolve(p["payment"](250_000, rate, 360) - 1200, rate, 0.05)),)]


def by_scipy(p):
    from scipy.optimize import brentq

    return [(brentq(lambda rate: p["payment"](250_000, rate, 360) - 1200, 1e-6, 1, xtol=1e-14),)]
