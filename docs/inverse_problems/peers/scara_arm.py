"""SCARA arm: by others."""

import math


def by_sympy(p):
    import sympy as sp

    a, b, d = sp.symbols("a b d", real=True)
    x = sp.Rational(2, 5) * sp.cos(a) + sp.Rational(3, 10) * sp.cos(a + b)
    y = sp.Rational(2, 5) * sp.sin(a) + sp.Rational(3, 10) * sp.sin(a + b)
    equations = [
        x - sp.Rational(9, 20),
        y - sp.Rational(1, 5),
        sp.Rational(1, 2) - d - sp.Rational(1, 10),
    ]
    return [tuple(map(float, found)) for found in sp.solve(equations, (a, b, d))]


def by_scipy(p):
    from scipy.optimize import fsolve

    def off(v):
        return [a - b for a, b in zip(p["tool"](*v), p["point"], strict=True)]

    starts = [(a, b, 0.0) for a in (-2, 0, 2) for b in (-2, -0.5, 0.5, 2)]
    found = {tuple(round(float(v), 9) for v in fsolve(off, start)) for start in starts}
    return [f for f in found if p["holds"](*f) and max(map(abs, f)) < math.pi]
