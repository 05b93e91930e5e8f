"""Programs as people write them, some of them by people who have never heard of this."""

import colorsys
import math

import numpy as np
import pytest

from inversion import NoSolution, invert

F = float


def kepler(anomaly, eccentricity):
    return anomaly - eccentricity * math.sin(anomaly), eccentricity


def thin_lens(focus, distance):
    return 1 / (1 / focus - 1 / distance), distance


def parallel(a, b, c):
    return 1 / (1 / a + 1 / b + 1 / c), a, b


def michaelis_menten(substrate, fastest, half):
    return fastest * substrate / (half + substrate), fastest, half


def logistic_growth(x):
    for _ in range(10):
        x = 3.5 * x * (1 - x)
    return x


def sigmoid(t):
    return 1 / (1 + math.exp(-t))


def network(x, y):
    first = sigmoid(0.5 * x - 0.3 * y + 0.1)
    second = sigmoid(-0.7 * x + 0.2 * y - 0.4)
    return sigmoid(1.2 * first - 0.8 * second), first


def thermistor(resistance):
    log = math.log(resistance)
    return 1 / (1.129e-3 + 2.341e-4 * log + 8.775e-8 * log * log * log)


def arm(a, b, c):
    x = math.cos(a) + 0.8 * math.cos(a + b) + 0.5 * math.cos(a + b + c)
    y = math.sin(a) + 0.8 * math.sin(a + b) + 0.5 * math.sin(a + b + c)
    return x, y, a + b + c


def several_uses(x, y, z):
    t = x * y
    u = t + z
    return t * u + x, u, z


def rotation(yaw, pitch, roll):
    cy, sy = math.cos(yaw), math.sin(yaw)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cr, sr = math.cos(roll), math.sin(roll)
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def depreciation(value):
    for _ in range(30):
        lost = value * 0.1
        if lost < 5:
            lost = 5.0
        value = value - lost
    return value


PROGRAMS = {
    kepler: [(1.0, 0.3), (2.5, 0.7)],
    thin_lens: [(2.0, 7.0), (5.0, 3.0)],
    parallel: [(1.0, 2.0, 3.0), (10.0, 0.5, 4.0)],
    michaelis_menten: [(2.0, 5.0, 1.0), (0.1, 3.0, 2.0)],
    logistic_growth: [(0.3,), (0.71,)],
    network: [(0.4, 1.2), (-1.0, 0.5)],
    thermistor: [(1e4,), (250.0,)],
    arm: [(0.3, 0.4, 0.5), (1.0, -0.7, 0.2)],
    several_uses: [(2.0, 3.0, 4.0), (-1.0, 0.5, 2.0)],
    rotation: [(0.3, 0.4, 0.5), (-1.0, 0.2, 2.0)],
    depreciation: [(2000.0,), (900.0,)],
    colorsys.rgb_to_yiq: [(0.2, 0.6, 0.4)],
    colorsys.rgb_to_hls: [(0.2, 0.6, 0.4), (0.9, 0.1, 0.3)],
    colorsys.hls_to_rgb: [(0.3, 0.4, 0.5), (0.8, 0.7, 0.2)],
    colorsys.rgb_to_hsv: [(0.2, 0.6, 0.4), (0.9, 0.1, 0.3)],
    colorsys.hsv_to_rgb: [(0.3, 0.4, 0.5), (0.8, 0.7, 0.2)],
}


@pytest.mark.parametrize("f", PROGRAMS)
def test_a_worked_program_is_inverted(f):
    inverse = invert(f, *[F] * f.__code__.co_argcount)
    for args in PROGRAMS[f]:
        value, theta = f(*args), inverse.recover(*args)
        found = inverse(value, theta) if theta else inverse(value)
        assert found == pytest.approx(args, rel=1e-6)
        for drawn in inverse.parameters.sample(np.random.default_rng(0), 3 if theta else 0):
            try:
                found = inverse(value, drawn)
            except NoSolution:
                continue
            assert np.allclose(f(*found), value, rtol=1e-8, atol=1e-11)
