"""GELU: by others."""


def by_sympy(p):
    import sympy as sp

    x = sp.Symbol("x", real=True)
    return [
        (float(f),) for f in sp.solve(x * (1 + sp.erf(x / sp.sqrt(2))) / 2 + sp.Rational(1, 10), x)
    ]


def by_scipy(p):
    from scipy.optimize import brentq, minimize_scalar

    least = minimize_scalar(p["gelu"], bounds=(-4, 0), method="bounded").x
    bounds = ((-4, least), (least, 0))
    return [(brentq(lambda x: p["gelu"](x) + 0.1, *each, xtol=1e-13),) for each in bounds]
