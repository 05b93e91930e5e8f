"""Music: by others."""


def by_sympy(p):
    import sympy as sp

    bend = sp.Symbol("bend", real=True)
    found = [(k, sp.solve(440 * 2 ** ((k - 69 + bend) / 12) - 450, bend)) for k in range(128)]
    return [(k, float(b)) for k, roots in found for b in roots if abs(b) <= 2]


def by_scipy(p):
    from scipy.optimize import brentq

    found = []
    for key in range(128):
        if p["frequency"](key, -2) <= 450 <= p["frequency"](key, 2):
            found.append((key, brentq(lambda b, k=key: p["frequency"](k, b) - 450, -2, 2)))
    return found
