"""Orbits: by others."""


def by_sympy(p):
    import sympy as sp

    q, e, v = sp.symbols("q e v", positive=True)
    k = sp.sqrt(p["MU"] / q)
    equations = [q / (1 + e * sp.cos(v)), k * e * sp.sin(v), k * (1 + e * sp.cos(v))]
    found = sp.solve([a - b for a, b in zip(equations, p["known"], strict=True)], (q, e, v))
    return [tuple(map(float, each)) for each in found]


def by_scipy(p):
    from scipy.optimize import fsolve

    def off(v):
        return [a / b - 1 for a, b in zip(p["state"](*v), p["known"], strict=True)]

    return [tuple(map(float, fsolve(off, (7000.0, 0.1, 0.5), xtol=1e-13)))]
