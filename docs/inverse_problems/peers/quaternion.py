"""Quaternions: by others."""


def by_sympy(p):
    import sympy as sp

    s = sp.symbols("w x y z")
    return [
        tuple(map(float, f))
        for f in sp.linsolve(
            [a - b for a, b in zip(p["product"](s, p["before"]), p["after"], strict=True)], s
        )
    ]


def by_scipy(p):
    from scipy.optimize import fsolve

    def off(s):
        return [a - b for a, b in zip(p["product"](s, p["before"]), p["after"], strict=True)]

    return [tuple(map(float, fsolve(off, (1.0, 0.0, 0.0, 0.0), xtol=1e-13)))]


def by_z3(p):
    import z3

    s = z3.Reals("w x y z")
    solver = z3.Solver()
    solver.add(*(a == b for a, b in zip(p["product"](s, p["before"]), p["after"], strict=True)))
    assert solver.check() == z3.sat
    return [tuple(float(solver.model()[v].as_fraction()) for v in s)]
