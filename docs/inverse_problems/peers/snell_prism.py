"""Snell's law: by others."""

import math


def by_sympy(p):
    import sympy as sp

    x = sp.Symbol("x", real=True)
    exit = sp.asin(1.5 * sp.sin(sp.pi / 3 - sp.asin(sp.sin(x) / 1.5)))
    return [(float(f),) for f in sp.solve(x + exit - sp.pi / 3 - sp.pi * 40 / 180, x)]


def by_scipy(p):
    from scipy.optimize import brentq, minimize_scalar

    def off(x):
        return p["deviation"](x) - math.radians(40)

    least = minimize_scalar(off, bounds=(0.49, 1.57), method="bounded").x
    return [(brentq(off, low, high, xtol=1e-13),) for low, high in ((0.49, least), (least, 1.57))]
