"""Three problems and their solutions on real libraries; then an overlay, its compiled form, and the
inverse that follows it.

Every figure is computed here and every answer is checked; a wrong one ends with an error.
"""

import colorsys
import contextlib
import email.utils
import math
import statistics
import threading
import time
from pathlib import Path

import numba
import numpy as np
from scipy import stats

from inversion import NoSolution, choose, invert
from overlay import Context, MethodTable, UnsupportedPython, call_next
from overlay.interpretations.first_nan import FirstNaN, first_nan
from overlay.interpretations.mocks import Mocks
from primitives import Positive, Reals

PICTURE = Path("build") / "arms.png"


def table(*rows):
    """Rows as aligned columns; the first is the head."""
    texts = [[f"{c:.6g}" if isinstance(c, float) else str(c) for c in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = ["  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)) for r in texts]
    return "\n".join(f"  {line.rstrip()}" for line in [lines[0], "-" * len(lines[0]), *lines[1:]])


def expect(holds, what):
    """Stop with an error unless an answer is right."""
    if not holds:
        raise SystemExit(f"wrong answer: {what}")


@contextlib.contextmanager
def left_out_where_refused(what):
    """Print where this Python has no engine for ordinary code in a context, and continue."""
    try:
        yield
    except UnsupportedPython as error:
        print(f"  left out, {what}: {error}\n")


# ---- 1. the first NaN ---------------------------------------------------------------------


def nan_in_a_library():
    print("1. Where does this NaN come from? A paired t-test of scipy, without a warning:")
    sample = [3.0, 4.0, 5.0]
    expect(math.isnan(stats.ttest_rel(sample, sample).pvalue), "the test gives a number")
    print(f"  stats.ttest_rel(sample, sample).pvalue = {stats.ttest_rel(sample, sample).pvalue}")
    try:
        first_nan(stats.ttest_rel, sample, sample)
    except FirstNaN as error:
        expect(error.operation == "operator.truediv", f"the first NaN is made by {error.operation}")
        expect("scipy" in (error.where or ""), f"it is made in {error.where}")
        print(f"  first_nan: {error.asked}", f"             {error.where}", sep="\n", end="\n\n")
    else:
        expect(False, "no NaN was found")


# ---- 2. a function below a library --------------------------------------------------------


def clock_stopped():
    print("2. What if this function did something else? The clock stops for one thread:")
    mocks = Mocks()
    clock = mocks.replace(time.time, return_value=0.0)
    dates = {}

    def date(thread, call):
        dates[thread] = call()

    calls = {
        "in the mocks": lambda: mocks(email.utils.formatdate),
        "at the same time, outside": email.utils.formatdate,
    }
    threads = [threading.Thread(target=date, args=each) for each in calls.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(dates["in the mocks"].startswith("Thu, 01 Jan 1970"), "the clock has not stopped")
    expect("1970" not in dates["at the same time, outside"], "the other thread's clock has stopped")
    expect(clock.call_count == 1, f"the mock was called {clock.call_count} times")
    print(table(("thread", "email.utils.formatdate()"), *sorted(dates.items())), end="\n\n")


# ---- 3. a model asked backwards -----------------------------------------------------------


def payment(loan: float, rate: float, months: int) -> float:
    """The monthly payment that pays a loan back."""
    growth = (1 + rate) ** months
    return loan * rate * growth / (growth - 1)


def model_backwards():
    print("3. Which input gives this result? A loan's payment, solved for each of its inputs:")
    asked = {"return": 1432.25, "loan": 300_000.0, "rate": 0.004, "months": 360}
    rows = [("known", "found", "payment, run forwards")]
    for unknown in ("rate", "loan"):
        known = [axis for axis in asked if axis != unknown]
        inverse = choose(payment, known=known, domain={"rate": Positive})
        (found,) = inverse(*(asked[axis] for axis in known))
        again = payment(**{axis: asked[axis] for axis in known[1:]}, **{unknown: found})
        expect(math.isclose(again, asked["return"]), f"{unknown} = {found} pays {again}")
        shown = ", ".join(f"{'payment' if k == 'return' else k} {asked[k]:g}" for k in known)
        rows.append((shown, f"{unknown} = {found:.6g}", f"{again:.2f}"))
    print(table(*rows), end="\n\n")


# ---- (a) the standard library under an overlay --------------------------------------------

lab = MethodTable("lab")


@lab.overlay(math.fsum)
def single_precision_sum(values):
    total = np.float32(0)
    for value in values:
        total += np.float32(value)
    return float(total)


@lab.overlay(colorsys._v)
def eight_bit_channel(m1: float, m2: float, hue: float):
    return round(call_next(m1, m2, hue) * 255) / 255


@lab.overlay(math.sin)
def sine_by_series(x: float):
    y = x * x
    return x * (1 - y / 6 * (1 - y / 20 * (1 - y / 42)))


ctx = Context(lab)


def standard_library():
    print("(a) Python's statistics and colorsys, unmodified, under a table of overlays")
    heights = [160.0 + 0.1 * i for i in range(400)]
    rows = [("call", "outside", "in the context")]
    for label, call in {
        "statistics.fmean(heights)": lambda: statistics.fmean(heights),
        "colorsys.hls_to_rgb(0.6, 0.4, 0.3)[0]": lambda: colorsys.hls_to_rgb(0.6, 0.4, 0.3)[0],
        "math.sin(1.2)": lambda: math.sin(1.2),
    }.items():
        before, inside, after = call(), ctx(call), call()
        expect(before == after, f"{label} changed outside the context")
        expect(before != inside, f"the overlay was not reached by {label}")
        expect(abs(before - inside) < 0.01 * abs(before), f"{label} gave {inside}")
        rows.append((label, f"{before:.12g}", f"{inside:.12g}"))
    channels = ctx(colorsys.hls_to_rgb, 0.6, 0.4, 0.3)
    expect(all(math.isclose(c * 255, round(c * 255)) for c in channels), "channels of 8 bits")
    print(table(*rows), end="\n\n")


# ---- (b) compiled -------------------------------------------------------------------------


def pendulum(angle, steps):
    speed, dt = 0.0, 0.001
    for _ in range(steps):
        speed -= math.sin(angle) * dt
        angle += speed * dt
    return angle


def pendulum_by_hand(angle, steps):
    speed, dt = 0.0, 0.001
    for _ in range(steps):
        y = angle * angle
        speed -= angle * (1 - y / 6 * (1 - y / 20 * (1 - y / 42))) * dt
        angle += speed * dt
    return angle


def fastest(run, times=7):
    """Seconds of the fastest of several runs."""
    return min(_seconds(run) for _ in range(times))


def _seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def compiled():
    print("(b) the same context compiled by numba: a pendulum, two million steps")
    steps = 2_000_000
    variants = {
        "njit, math.sin": numba.njit(pendulum),
        "njit, hand-written series": numba.njit(pendulum_by_hand),
        "ctx.jit, math.sin overlaid by the series": ctx.jit(pendulum),
    }
    results = {name: f(0.5, steps) for name, f in variants.items()}
    times = {name: fastest(lambda f=f: f(0.5, steps)) for name, f in variants.items()}
    plain, by_hand, overlaid = results.values()
    expect(overlaid == by_hand, "the compiled overlay differs from the same done by hand")
    expect(overlaid != plain, "the compiled overlay was not reached")
    with left_out_where_refused("the same interpreted"):
        expect(ctx(pendulum, 0.5, 1000) == ctx.jit(pendulum)(0.5, 1000), "the engines differ")
    base = times["njit, math.sin"]
    rows = [(name, f"{1e3 * t:.1f} ms", f"{t / base:.2f}") for name, t in times.items()]
    print(table(("variant", "time", "relative to njit"), *rows), end="\n\n")


# ---- many answers, with a picture ---------------------------------------------------------


def height(a, b, c):
    """Of an arm's hand over its shoulder; each joint's angle adds to those before."""
    return math.sin(a) + 0.8 * math.sin(a + b) + 0.5 * math.sin(a + b + c)


def arms():
    print("   Many inputs can give one result: which angles of a robot arm put its hand on a shelf")
    print("   1.2 above its shoulder?")
    shelf, wanted = 1.2, 60
    start = time.perf_counter()
    turns = dict.fromkeys("abc", Reals(-math.pi, math.pi))
    inverse = invert(height, float, float, float, domain=turns)
    print(f"  inverted in {1e3 * (time.perf_counter() - start):.0f} ms")
    first = inverse(shelf)
    expect(math.isclose(height(*first), shelf, rel_tol=1e-9), f"{first} miss the shelf")
    print(
        f"  one solution: a, b, c = {', '.join(f'{angle:.4g}' for angle in first)};",
        "parameters of the others:",
    )
    for parameter in inverse.parameters:
        print(f"    {parameter}")
    rng = np.random.default_rng(7)
    found, tried = [], 0
    while len(found) < wanted and tried < 100 * wanted:
        tried += 1
        try:
            angles = inverse(shelf, inverse.parameters.sample(rng))
        except NoSolution:
            continue  # these choices bring the hand too high or too low already
        expect(math.isclose(height(*angles), shelf, rel_tol=1e-9), f"{angles} miss the shelf")
        found.append(angles)
    expect(len(found) == wanted, f"only {len(found)} arms found in {tried} tries")
    expect(len(set(found)) == wanted, "the same arm twice")
    again = inverse(shelf, inverse.recover(*found[0]))
    expect(np.allclose(again, found[0]), f"recovered {again}, not {found[0]}")
    rows = [("arm", "a", "b", "c", "height")]
    rows += [(i, *map(float, arm), height(*arm)) for i, arm in enumerate(found[:4])]
    print(table(*rows))
    print(
        f"  {wanted} arms from {tried} choices, each checked by a forward run; picture: {PICTURE}\n"
    )
    draw(found, shelf)


def draw(found, shelf):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.8), layout="constrained")
    colours = mpl.colormaps["viridis"](np.linspace(0, 0.9, len(found)))
    for angles, colour in zip(sorted(found, key=hand), colours, strict=True):
        x, y = joints(angles)
        axes.plot(x, y, color=colour, lw=1.2, alpha=0.7, solid_capstyle="round")
        axes.plot(x[-1], y[-1], "o", color=colour, ms=4)
    axes.axhline(shelf, color="black", lw=1, ls="--", zorder=0)
    axes.plot(0, 0, "s", color="black", ms=9)
    axes.annotate("shelf", (2.25, shelf), (0, 4), textcoords="offset points", ha="right")
    axes.set(aspect="equal", xlim=(-2.3, 2.3), ylim=(-0.3, 1.9), xlabel="x", ylabel="height")
    axes.set_title(f"{len(found)} arms with the hand on the shelf")
    axes.spines[["top", "right"]].set_visible(False)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=150)


def joints(angles):
    """Where shoulder, elbow, wrist and hand are."""
    directions = np.cumsum(angles)
    lengths = np.array([1.0, 0.8, 0.5])
    x = np.concatenate([[0.0], np.cumsum(lengths * np.cos(directions))])
    y = np.concatenate([[0.0], np.cumsum(lengths * np.sin(directions))])
    return x, y


def hand(angles):
    """How far out the hand is."""
    return joints(angles)[0][-1]


# ---- (c) the inverse of an overlaid function ----------------------------------------------


def growth(rate):
    return 3.0 * math.exp(rate) + 1.0


def overlaid_inverse():
    print("(c) the inverse follows the overlay, which replaces exp(x) by 1 + x")
    linear = MethodTable("linear")

    @linear.overlay(math.exp)
    def exp(x: float):
        return 1.0 + x

    context = Context(linear)
    rows = [("", "growth(0.25)", "inverse of it", "inverse at 7.0")]
    for name, chosen in (("outside", None), ("in the context", context)):
        inverse = invert(growth, float, context=chosen)
        forward = context(growth, 0.25) if chosen else growth(0.25)
        (back,), (at_seven,) = inverse(forward), inverse(7.0)
        expect(math.isclose(back, 0.25), f"{name}: the inverse gives {back} for 0.25")
        exact = math.log(2.0) if chosen is None else 1.0
        expect(math.isclose(at_seven, exact), f"{name}: the inverse gives {at_seven} at 7.0")
        rows.append((name, forward, back, at_seven))
    print(table(*rows))


def main():
    nan_in_a_library()
    clock_stopped()
    model_backwards()
    arms()
    with left_out_where_refused("(a)"):
        standard_library()
    compiled()
    with left_out_where_refused("(c)"):
        overlaid_inverse()


if __name__ == "__main__":
    main()
