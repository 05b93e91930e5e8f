"""HSV: by others."""


def by_scipy(p):
    from scipy.optimize import fsolve

    def off(v):
        return [a - b for a, b in zip(p["colorsys"].rgb_to_hsv(*v), (0.6, 0.5, 0.8), strict=True)]

    return [tuple(map(float, fsolve(off, (0.3, 0.5, 0.7), xtol=1e-13)))]


def by_z3(p):
    import z3

    r, g, b = z3.Reals("r g b")
    high = z3.If(r >= g, z3.If(r >= b, r, b), z3.If(g >= b, g, b))
    low = z3.If(r <= g, z3.If(r <= b, r, b), z3.If(g <= b, g, b))
    d = high - low
    rc, gc, bc = (high - r) / d, (high - g) / d, (high - b) / d
    turned = z3.If(r == high, bc - gc, z3.If(g == high, 2 + rc - bc, 4 + gc - rc)) / 6
    hue = z3.If(turned < 0, turned + 1, turned)
    solver = z3.Solver()
    solver.add(high > low, hue == z3.Q(3, 5), d / high == z3.Q(1, 2), high == z3.Q(4, 5))
    assert solver.check() == z3.sat
    return [tuple(float(solver.model()[v].as_fraction()) for v in (r, g, b))]
