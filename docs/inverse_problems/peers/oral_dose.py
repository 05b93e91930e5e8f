"""Pharmacokinetics: by others."""


def by_sympy(p):
    import sympy as sp

    t = sp.Symbol("t", positive=True)
    level = 500 * 0.9 * 1.2 / (42 * (1.2 - 0.15)) * (sp.exp(-0.15 * t) - sp.exp(-1.2 * t))
    return [(float(f),) for f in sp.solve(level - 4, t)]


def by_scipy(p):
    from scipy.optimize import brentq, minimize_scalar

    top = minimize_scalar(lambda t: -p["level"](t), bounds=(0, 48), method="bounded").x
    bounds = ((0, top), (top, 48))
    return [(brentq(lambda t: p["level"](t) - 4, *each, xtol=1e-13),) for each in bounds]
