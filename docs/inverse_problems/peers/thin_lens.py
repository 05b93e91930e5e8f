"""Thin lens: by others."""


def by_sympy(p):
    import sympy as sp

    front, back = sp.symbols("front back")
    (family,) = sp.solve(p["image"](300, 1.5168, front, back) - 200, back)
    return [(f, float(family.subs(front, f))) for f, _ in p["answers"]]


def by_scipy(p):
    from scipy.optimize import fsolve

    def off(back, front):
        return p["image"](300.0, 1.5168, front, back[0]) / 200 - 1

    return [(f, float(fsolve(off, (-100.0,), (f,))[0])) for f, _ in p["answers"]]
