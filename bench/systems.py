"""Inverses of several unknowns, which are solved together, beside scipy's solver of systems."""

import math
import time

import numpy as np
from common.options import options
from common.page import part, section, written
from common.rows import duration
from common.timing import interleaved, machine, summary, table
from scipy import optimize

from inversion import invert
from primitives import Reals

LOOPS = 5
ALLOWED = 0.01  # seconds beyond twice scipy's time


def brown_conrady(x: float, y: float):
    """Brown, Decentering distortion of lenses, Photogrammetric Engineering 32 (1966)."""
    k1, k2, p1, p2 = -0.28, 0.07, 1e-3, -5e-4
    r2 = x * x + y * y
    radial = 1 + k1 * r2 + k2 * r2 * r2
    return (
        x * radial + 2 * p1 * x * y + p2 * (r2 + 2 * x * x),
        y * radial + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y,
    )


def orbit(a: float, e: float, anomaly: float, turn: float):
    """Place and velocity in the plane of an orbit, from its elements, with the eccentric anomaly:
    Murray and Dermott, Solar System Dynamics, section 2.4.
    """
    c, s = math.cos(anomaly), math.sin(anomaly)
    root = math.sqrt(1 - e * e)
    x, y = a * (c - e), a * root * s
    rate = a**-0.5 / (1 - e * c)
    u, v = -rate * s, rate * root * c
    ct, st = math.cos(turn), math.sin(turn)
    return x * ct - y * st, x * st + y * ct, u * ct - v * st, u * st + v * ct


def product(w: float, x: float, y: float, z: float):
    """The product of a known quaternion and another."""
    a, b, c, d = 0.9, 0.1, -0.2, 0.3
    return (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )


def turned(w: float, x: float, y: float, z: float):
    """Three entries of the matrix of a quaternion, and its squared length."""
    n = w * w + x * x + y * y + z * z
    return (
        2 * (w * x + y * z) / n,
        2 * (x * y - w * z) / n,
        (w * w + x * x - y * y - z * z) / n,
        n,
    )


def gelu(x: float):
    """Hendrycks and Gimpel, Gaussian error linear units (2016), by tanh."""
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


ELEMENTS = {
    "a": Reals(0.1, 10.0),
    "e": Reals(0.0, 0.99),
    "anomaly": Reals(0.0, 6.3),
    "turn": Reals(0.0, 6.3),
}
PROGRAMS = {  # arguments that lead to the result, and the domains
    brown_conrady: ((0.1, 0.2), None),
    orbit: ((1.5, 0.3, 0.7, 0.4), ELEMENTS),
    product: ((1.0, 2.0, 3.0, 4.0), None),
    turned: ((0.6, 0.3, -0.2, 0.5), None),
    gelu: ((0.8,), None),
}


def solved(f, rounds):
    """Seconds of one answer, by variant; scipy's starts near, at four fifths of the arguments."""
    args, domain = PROGRAMS[f]
    inverse, result = invert(f, domain=domain), f(*args)
    start = [0.8 * each + 0.05 for each in args]

    def ours():
        for _ in range(LOOPS):
            inverse(result)

    def scipys():
        for _ in range(LOOPS):
            optimize.root(lambda given: np.subtract(f(*given), result), start, tol=1e-12)

    for answer in (inverse(result), optimize.root(lambda g: np.subtract(f(*g), result), start).x):
        np.testing.assert_allclose(f(*answer), result, rtol=1e-6, atol=1e-9)
    times = interleaved({"ours": ours, "scipy": scipys}, rounds, limit=20.0)
    return {name: summary(found, LOOPS) for name, found in times.items()}


def main():
    chosen = options(__doc__)
    rounds = 1 if chosen.smallest else chosen.rounds
    start = time.perf_counter()
    print(machine())
    found = {f.__name__: solved(f, rounds) for f in PROGRAMS}
    rows = [("program", "ours", "scipy", "ours / (twice scipy + 10 ms)", "spread")]
    for name, each in found.items():
        ours, scipys = each["ours"]["median"], each["scipy"]["median"]
        each["allowed"] = {"median": 2 * scipys + ALLOWED, "spread": each["scipy"]["spread"]}
        ratio = f"{ours / each['allowed']['median']:.3f}"
        spread = f"{each['ours']['spread']:.0%}"
        rows.append((name, duration(ours), duration(scipys), ratio, spread))
    print(f"\n{table(rows)}")
    text = (
        "One answer of a call, interpreted and checked, without a given start. "
        "`scipy.optimize.root` starts at four fifths of the correct arguments, and does not "
        "check. Medians."
    )
    sections = [section("One answer", text, rows)]
    intro = (
        "Programs with as many results as unknowns, in which no single statement determines "
        "an unknown."
    )
    written(
        {"systems": found, "page": part("Systems of several unknowns", intro, sections)},
        chosen.json,
    )
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
