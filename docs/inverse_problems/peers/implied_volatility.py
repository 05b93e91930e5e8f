"""Options: by others."""


def by_sympy(p):
    import sympy as sp

    v = sp.Symbol("v", positive=True)

    def cdf(x):
        return (1 + sp.erf(x / sp.sqrt(2))) / 2

    spread = v * sp.sqrt(0.5)
    d1 = (sp.log(100 / 105) + (0.02 + v * v / 2) * 0.5) / spread
    price = 100 * cdf(d1) - 105 * sp.exp(-0.01) * cdf(d1 - spread)
    return [(float(sp.nsolve(price - 4.2, v, 0.3)),)]


def by_scipy(p):
    from scipy.optimize import brentq

    return [(brentq(lambda v: p["call"](100.0, 105.0, 0.5, 0.02, v) - 4.2, 0.01, 5, xtol=1e-13),)]


def by_oryx(p):
    import jax.numpy as jnp
    import jax.scipy as jsp
    import oryx

    def call(v):
        spread = v * jnp.sqrt(0.5)
        d1 = (jnp.log(100 / 105) + (0.02 + v * v / 2) * 0.5) / spread
        return 100 * jsp.stats.norm.cdf(d1) - 105 * jnp.exp(-0.01) * jsp.stats.norm.cdf(d1 - spread)

    return [(float(oryx.core.inverse(call)(4.2)),)]
