"""Softmax: by others."""


def by_sympy(p):
    import sympy as sp

    x = sp.symbols("x:4", real=True)
    total = sum(map(sp.exp, x))
    known = [sp.Rational(i, 10) for i in (1, 2, 3, 4)]
    found = sp.solve([sp.exp(a) / total - b for a, b in zip(x, known, strict=True)], x)
    return [tuple(float(part.subs(x[3], 0)) for part in each) for each in found]


def by_scipy(p):
    from scipy.optimize import least_squares

    found = least_squares(
        lambda x: p["softmax"](x) - p["probabilities"],
        [0.0] * 4,
        xtol=1e-15,
        gtol=1e-15,
        ftol=1e-15,
    )
    return [tuple(map(float, found.x))]


def by_oryx(p):
    import jax.numpy as jnp
    import oryx

    def softmax(x):
        e = jnp.exp(x)
        return e / e.sum()

    return [tuple(map(float, oryx.core.inverse(softmax)(p["probabilities"])))]
