"""Programs as people write them, some of them by people who do not know this package."""

import colorsys
import math
import os

import numpy as np
import pytest

from inversion import NoSolution, NotInvertible, choose, invert
from overlay import NotCompilable
from primitives import Integers

EXPLORE = "EXPLORE" in os.environ  # whether what takes long is tried too

# ---- optics, chemistry, medicine, finance ---------------------------------------------------


def thin_lens(focus: float, distance: float):
    return 1 / (1 / focus - 1 / distance)


def parallel(a: float, b: float, c: float):
    return 1 / (1 / a + 1 / b + 1 / c)


def michaelis_menten(substrate: float, fastest: float, half: float):
    return fastest * substrate / (half + substrate)


def wind_chill(celsius: float, speed: float):
    cooling = speed**0.16
    return 13.12 + 0.6215 * celsius - 11.37 * cooling + 0.3965 * celsius * cooling


def thermistor(resistance: float):
    log = math.log(resistance)
    return 1 / (1.129e-3 + 2.341e-4 * log + 8.775e-8 * log**3) - 273.15


def calibration(raw: float):
    value = 0.0
    for coefficient in (2.1e-4, -3.5e-3, 0.98, 1.7):
        value = value * raw + coefficient
    return value


def normal(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def black_scholes(spot: float, strike: float, years: float, rate: float, volatility: float):
    spread = volatility * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
    d2 = d1 - spread
    return spot * normal(d1) - strike * math.exp(-rate * years) * normal(d2)


def depreciation(cost: float):
    value = cost
    for _ in range(30):
        lost = value * 0.1
        if lost < 5:
            lost = 5.0
        value = value - lost
    return value


def book_value(cost: float, rate: float, salvage: float, years: int):
    value = cost
    for _ in range(years):
        value = max(value - value * rate, salvage)
    return value


def logistic_growth(population: float, rate: float, capacity: float, years: int):
    for _ in range(years):
        population = population + rate * population * (1 - population / capacity)
    return population


# ---- space: orbits, the earth, robots -------------------------------------------------------


def kepler(anomaly: float, eccentricity: float):
    return anomaly - eccentricity * math.sin(anomaly)


def geodetic(latitude: float, longitude: float, height: float):
    semi_major, eccentricity2 = 6378137.0, 6.69437999014e-3
    sine, cosine = math.sin(latitude), math.cos(latitude)
    radius = semi_major / math.sqrt(1 - eccentricity2 * sine * sine)
    across = (radius + height) * cosine
    return (
        across * math.cos(longitude),
        across * math.sin(longitude),
        (radius * (1 - eccentricity2) + height) * sine,
    )


def rotation(yaw: float, pitch: float, roll: float):
    cy, sy = math.cos(yaw), math.sin(yaw)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cr, sr = math.cos(roll), math.sin(roll)
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def hand(joints, links):
    x = y = angle = 0.0
    for joint, link in zip(joints, links, strict=True):
        angle += joint
        x += link * math.cos(angle)
        y += link * math.sin(angle)
    return x, y


def arm_2(a: float, b: float):
    return hand((a, b), (1.0, 0.8))


def arm_3(a: float, b: float, c: float):
    return hand((a, b, c), (1.0, 0.8, 0.5))


def arm_4(joints: tuple[float, float, float, float]):
    return hand(joints, (1.0, 0.8, 0.5, 0.3))


def directed_arm(a: float, b: float, c: float):
    x = math.cos(a) + 0.8 * math.cos(a + b) + 0.5 * math.cos(a + b + c)
    y = math.sin(a) + 0.8 * math.sin(a + b) + 0.5 * math.sin(a + b + c)
    return x, y, a + b + c


# ---- networks -------------------------------------------------------------------------------


def sigmoid(t):
    return 1 / (1 + math.exp(-t))


def network(x: float, y: float):
    first = sigmoid(0.5 * x - 0.3 * y + 0.1)
    second = sigmoid(-0.7 * x + 0.2 * y - 0.4)
    return sigmoid(1.2 * first - 0.8 * second)


WEIGHTS = np.array([[0.5, -0.3], [-0.7, 0.2]]), np.array([[1.2, -0.8], [0.3, 0.9]])
BIAS = np.array([0.1, -0.4])


def layers(x):
    for weights in WEIGHTS:
        x = 1 / (1 + np.exp(-(weights @ x + BIAS)))
    return x


# ---- arithmetic: expressions, shared variables ----------------------------------------------


def product_and_sum(x: float, y: float, z: float):
    return x * y + z


def weighted(x: float, y: float):
    return x * 2 + y * 3


def several_uses(x: float, y: float, z: float):
    t = x * y
    u = t + z
    return t * u + x, u


def ratio(a: float, b: float):
    return a / b + a


def doubled(a: float):
    return a + a


def steeper(x):
    return 2 * x + 1


def two_blocks(x: float, y: float):
    if x > y:
        z = steeper(x)
        z = z + y
    else:
        z = x * y
    return z * 2


def accumulated(x: float):
    total = 0.0
    for i in range(10):
        total += x * i
    return total


def filled(x: float):
    total = 1.0
    while total < 100.0:
        total = total + x
    return total


EXPRESSION = ("+", ("*", "x", 2.0), ("-", "y", ("/", "x", ("+", 4.0, ("*", "y", "y")))))


def evaluated(tree, x, y):
    if tree == "x":
        return x
    if tree == "y":
        return y
    if isinstance(tree, float):
        return tree
    operator, left, right = tree
    a, b = evaluated(left, x, y), evaluated(right, x, y)
    if operator == "+":
        return a + b
    if operator == "-":
        return a - b
    return a * b if operator == "*" else a / b


def expression(x: float, y: float):
    return evaluated(EXPRESSION, x, y)


def applied(operator, a, b):
    if operator == 0:
        return a + b
    if operator == 1:
        return a - b
    return a * b if operator == 2 else a / b


def infix(a: float, first: int, b: float, second: int, c: float):
    """a first b second c, where operators 2 and 3 bind more tightly."""
    if second >= 2 and first < 2:
        return applied(first, a, applied(second, b, c))
    return applied(second, applied(first, a, b), c)


# ---- integers and truth values --------------------------------------------------------------


def gray(n: int):
    return n ^ (n >> 1)


def from_gray(n: np.uint64):
    for shift in (32, 16, 8, 4, 2, 1):
        n = n ^ (n >> shift)
    return n


def crc32(word: int):
    crc = word ^ 0xFFFFFFFF
    for _ in range(32):
        low, crc = crc & 1, crc >> 1
        if low:
            crc = crc ^ 0xEDB88320
    return crc ^ 0xFFFFFFFF


def days_hours_minutes(seconds: int):
    minutes = seconds // 60
    hours = minutes // 60
    return hours // 24, hours % 24, minutes % 60


def hours_minutes_seconds(seconds: int):
    return seconds // 3600, seconds // 60 % 60, seconds % 60


def satisfied(a: bool, b: bool, c: bool, d: bool, e: bool, f: bool):
    return (
        (a or not b or c)
        and (not a or d or e)
        and (b or not d or f)
        and (not c or not e or not f)
        and (a or b or not f)
        and (c or d or e)
    )


# ---- the tests ------------------------------------------------------------------------------

F = float
# each with arguments that the inverse has to give back
PROGRAMS = {
    thin_lens: [(2.0, 7.0), (5.0, 3.0)],
    parallel: [(1.0, 2.0, 3.0), (10.0, 0.5, 4.0)],
    michaelis_menten: [(2.0, 5.0, 1.0), (0.1, 3.0, 2.0)],
    wind_chill: [(-5.0, 20.0), (3.0, 55.0)],
    thermistor: [(1e4,), (250.0,)],
    calibration: [(3.0,), (-2.0,)],
    black_scholes: [(100.0, 105.0, 0.5, 0.03, 0.2), (50.0, 40.0, 2.0, 0.01, 0.35)],
    depreciation: [(2000.0,), (900.0,)],
    book_value: [(1000.0, 0.1, 200.0, 7), (1000.0, 0.3, 200.0, 9)],
    logistic_growth: [(10.0, 0.1, 100.0, 8), (120.0, 0.4, 80.0, 3)],
    kepler: [(1.0, 0.3), (2.5, 0.7)],
    geodetic: [(0.8, 0.3, 500.0), (-0.4, 2.9, 10.0)],
    rotation: [(0.3, 0.4, 0.5), (-1.0, 0.2, 2.0)],
    arm_2: [(0.3, 0.7), (1.0, -2.0)],
    arm_3: [(0.3, 0.7, -0.4), (2.0, -0.5, 1.0)],
    arm_4: [((0.3, 0.7, -0.4, 0.1),), ((-1.0, 0.2, 0.3, 0.4),)],
    directed_arm: [(0.3, 0.4, 0.5), (1.0, -0.7, 0.2)],
    network: [(0.4, 1.2), (-1.0, 0.5)],
    product_and_sum: [(1.0, 2.0, 3.0), (0.0, 5.0, -1.0)],
    weighted: [(1.5, -2.0), (0.0, 4.0)],
    several_uses: [(2.0, 3.0, 4.0), (-1.0, 0.5, 2.0)],
    ratio: [(3.0, 4.0), (-1.0, 0.5)],
    doubled: [(3.0,), (-0.1,)],
    two_blocks: [(3.0, 4.0), (4.0, 1.0)],
    accumulated: [(1.5,), (-2.0,)],
    filled: [(7.0,), (120.0,)],
    expression: [(1.5, 2.0), (-3.0, 0.5)],
    infix: [(1.5, 0, 2.0, 2, 4.0), (1.5, 3, 2.0, 1, 4.0), (7.0, 2, 3.0, 3, 0.5)],
    gray: [(12345,), (2**70 + 99,)],
    from_gray: [(np.uint64(12345),), (np.uint64(2**63 + 17),)],
    crc32: [(123456789,), (0,)],
    days_hours_minutes: [(987654,), (-5,)],
    hours_minutes_seconds: [(987654,), (59,)],
    satisfied: [(True, False, False, True, False, True), (False,) * 6],
    colorsys.rgb_to_yiq: [(0.2, 0.6, 0.4)],
    colorsys.yiq_to_rgb: [(0.5, 0.1, -0.05)],
    colorsys.rgb_to_hls: [(0.2, 0.6, 0.4), (0.9, 0.1, 0.3)],
    colorsys.hls_to_rgb: [(0.3, 0.4, 0.5), (0.8, 0.7, 0.2)],
    colorsys.rgb_to_hsv: [(0.2, 0.6, 0.4), (0.9, 0.1, 0.3)],
    colorsys.hsv_to_rgb: [(0.3, 0.4, 0.5), (0.8, 0.7, 0.2)],
}
# where θ drawn at random hardly ever has an answer: most of its choices follow from one another, or
# leave the rest of the arm too far from where the hand is
RARE = {
    arm_4, colorsys.rgb_to_hls, colorsys.hls_to_rgb, colorsys.rgb_to_hsv, colorsys.hsv_to_rgb,
}  # fmt: skip


def inverse_of(f):
    return invert(f, *([F] * 3 if f.__module__ == "colorsys" else []))


def of(inverse, theta):
    """θ as an argument, if there are parameters."""
    return (theta,) if len(inverse.parameters) else ()


def numbers(value):
    if isinstance(value, tuple):
        return [number for item in value for number in numbers(item)]
    return [float(value)]


@pytest.mark.parametrize("f", PROGRAMS)
def test_a_worked_program_is_inverted(f):
    inverse = inverse_of(f)
    answered = 0
    for args in PROGRAMS[f]:
        value, theta = f(*args), inverse.recover(*args)
        found = inverse(value, *of(inverse, theta))
        assert numbers(found) == pytest.approx(numbers(args), rel=1e-6)
        answered += not len(inverse.parameters)
        draws = 2 if f in RARE else 10
        for drawn in inverse.parameters.sample(np.random.default_rng(0), draws) if theta else ():
            try:
                found = inverse(value, drawn)
            except NoSolution:
                continue
            answered += 1
            assert np.allclose(numbers(f(*found)), numbers(value), rtol=1e-8, atol=1e-11)
    assert answered or f in RARE


COMPILED = (
    thin_lens, parallel, michaelis_menten, wind_chill, depreciation, book_value, logistic_growth,
    kepler, product_and_sum, weighted, several_uses, ratio, doubled, two_blocks, accumulated, gray,
    from_gray, days_hours_minutes, hours_minutes_seconds,
)  # fmt: skip
# for these numba takes from one to twenty seconds each
SLOWLY_COMPILED = (
    thermistor, calibration, black_scholes, geodetic, rotation, directed_arm, network, filled,
    expression, crc32, colorsys.rgb_to_yiq, colorsys.yiq_to_rgb,
)  # fmt: skip


@pytest.mark.parametrize("f", [*COMPILED, *(SLOWLY_COMPILED if EXPLORE else ())])
def test_a_worked_program_is_inverted_compiled(f):
    inverse = inverse_of(f)
    fast = inverse.compile()
    args = PROGRAMS[f][0]
    theta = inverse.recover(*args)
    found = fast(f(*args), *of(inverse, inverse.parameters.compiled(theta)))
    assert numbers(found) == pytest.approx(numbers(args), rel=1e-6)


def test_a_worked_program_that_numba_does_not_read_stays_interpreted():
    inverse = inverse_of(arm_2)  # numba has no zip(..., strict=True)
    with pytest.raises(NotCompilable, match="calls run in the interpreter"):
        inverse.compile()
    assert inverse(arm_2(0.3, 0.7), inverse.recover(0.3, 0.7)) == pytest.approx((0.3, 0.7))


def test_the_implied_volatility_is_found():
    known = ("return", "spot", "strike", "years", "rate")
    implied = choose(black_scholes, known=known)
    for volatility in (0.05, 0.2, 0.9):
        price = black_scholes(100.0, 105.0, 0.5, 0.03, volatility)
        found = implied(price, 100.0, 105.0, 0.5, 0.03, (0.3,))
        assert found == pytest.approx((volatility,), rel=1e-6)


def test_the_eccentric_anomaly_is_found():
    anomalies = choose(kepler, known=("return", "eccentricity"))
    for anomaly in (-3.0, 0.1, 2.5):
        mean = kepler(anomaly, 0.9)
        assert anomalies(mean, 0.9, (mean,)) == pytest.approx((anomaly,))


def test_both_elbows_of_an_arm_are_reached_from_where_its_hand_is():
    reached, inverse = set(), invert(arm_2)
    for theta in inverse.parameters.sample(np.random.default_rng(0), 40):
        try:
            a, b = inverse(arm_2(0.3, 0.7), theta)
        except NoSolution:
            continue
        reached.add((round(a % math.tau, 6), round(b % math.tau, 6)))
    # up and down; the second angle of one is the first's with the other sign
    assert len(reached) == 2
    assert {b for _, b in reached} == {0.7, round(math.tau - 0.7, 6)}


def test_an_arm_with_more_joints_has_an_answer_for_each_direction_of_a_joint():
    inverse = invert(arm_3)
    bends = set()
    for a in (-0.6, 0.0, 0.3, 1.0):
        for b in (-1.2, 0.2, 0.7):
            args = a, b, 0.4
            assert inverse(arm_3(*args), inverse.recover(*args)) == pytest.approx(args, rel=1e-6)
            bends.add(args)
    assert len(bends) == 12


def test_layers_of_a_network_over_arrays_are_inverted():
    inverse = invert(layers, np.zeros(2))
    x = np.array([0.4, 1.2])
    assert np.allclose(inverse(layers(x))[0], x)


def test_all_words_with_a_checksum_of_32_bits_are_that_one():
    inverse = choose(crc32, known=("return",), domain={"word": Integers(0, 2**32 - 1)})
    assert inverse(crc32(77), inverse.recover(77)) == (77,)


def formula(a: bool, b: bool, c: bool, d: bool, e: bool, f: bool):
    return (
        (a | (not b) | c)
        & ((not a) | d | e)
        & (b | (not d) | f)
        & ((not c) | (not e) | (not f))
        & (a | b | (not f))
        & (c | d | e)
    )


def contradiction(a: bool, b: bool):
    return (a | b) & (a | (not b)) & ((not a) | b) & ((not a) | (not b))


def test_a_formula_has_the_solutions_that_a_truth_table_has():
    inverse = invert(formula)
    assignments = [tuple(bool(i >> k & 1) for k in range(6)) for i in range(64)]
    true = {bits for bits in assignments if formula(*bits)}
    assert true == {bits for bits in assignments if satisfied(*bits)}
    assert {inverse(True, bits) for bits in assignments} == true
    assert all(inverse(True, bits) == bits for bits in true)
    assert inverse.compile()(True, (False,) * 6) == inverse(True, (False,) * 6)
    with pytest.raises(NoSolution, match="none of its values"):
        invert(contradiction)(True, (False, True))


def test_integers_of_a_small_domain_are_gone_through():
    domain = {"n": Integers(0, 60), "m": Integers(-3, 40)}

    def scrambled(n: int, m: int):
        return (n * 7919 ^ m * 104729) % (n + 3) + 5 // m  # some m have no value

    inverse = invert(scrambled, domain=domain)
    assert inverse(scrambled(17, 4), (17, 4)) == (17, 4)
    n, m = inverse(scrambled(17, 4), (18, 0))
    assert scrambled(n, m) == scrambled(17, 4)
    (found,) = choose(scrambled, known=("return", "m"), domain=domain)(3, 40, (0,))
    assert scrambled(found, 40) == 3
    with pytest.raises(NotInvertible, match="more than once"):
        invert(scrambled)
