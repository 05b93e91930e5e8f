"""Camera calibration: by others."""


def by_sympy(p):
    import sympy as sp

    x, y = sp.symbols("x y")
    a, b = p["seen"](x, y)
    return [tuple(map(float, sp.nsolve((a - 0.3, b + 0.2), (x, y), (0.3, -0.2))))]


def by_scipy(p):
    from scipy.optimize import fsolve

    def off(v):
        a, b = p["seen"](*v)
        return a - 0.3, b + 0.2

    return [tuple(map(float, fsolve(off, (0.3, -0.2), xtol=1e-13)))]


def by_z3(p):
    import z3

    x, y = z3.Reals("x y")
    a, b = p["seen"](x, y)
    solver = z3.Solver()
    solver.add(a == 0.3, b == -0.2, x > -0.8, x < 0.8, y > -0.8, y < 0.8)
    assert solver.check() == z3.sat
    return [tuple(float(solver.model()[v].approx(20).as_fraction()) for v in (x, y))]


def by_oryx(p):
    import oryx

    return [tuple(map(float, oryx.core.inverse(p["seen"])(0.3, -0.2)))]
