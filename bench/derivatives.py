"""Derivatives in compiled code against derivatives written by hand, JAX, autograd and differences.

Forward derivatives are taken at many points, in one call: by a loop that numba compiles, and by
``jax.jit(jax.vmap(jax.grad(f)))``. Reverse ones are gradients of functions of arrays. All run
interleaved in one process, by processor time; JAX may use threads, which processor time counts.
`asked` is the limit on the cost of ours relative to the derivative by hand. Programs whose
compilation ``compile_time.py`` measures are run here as they are written, compiled and interpreted.
"""

import importlib.util
import math
import statistics
from time import process_time

import numba
import numpy as np
from common.compiled_programs import (
    GRADIENTS,
    chain,
    chain_by_hand,
    chain_whole,
    ode_in_jax,
    with_functions,
)
from common.numba_compiling import machine_and_numba
from common.options import options
from common.page import part, section, times, written
from common.rows import compared, duration, shown
from common.timing import interleaved, ratio, spread_of

from overlay import Context
from overlay.interpretations.autodiff import autodiff, gradient

LIMIT = 4.0  # seconds for the rounds of one case
DIFFERENCES = "finite differences"
PEERS = ("JAX", "autograd", DIFFERENCES)
ASKED = 1.05


def wave(x):
    y = math.sin(x) * x * math.exp(x * 0.1) + 2.0 * x
    if y > 3.0:
        y = y * y
    return y / (1.0 + x * x)


def wave_by_hand(x):
    sine, e = math.sin(x), math.exp(x * 0.1)
    y = sine * x * e + 2.0 * x
    slope = (math.cos(x) * x + sine + sine * x * 0.1) * e + 2.0
    if y > 3.0:
        slope = 2 * y * slope
        y = y * y
    q = 1.0 + x * x
    return (slope - y / q * 2 * x) / q


def polynomial(x):
    y = x
    for _ in range(20):
        y = y * x + 1.0
    return y


def polynomial_by_hand(x):
    y, slope = x, 1.0
    for _ in range(20):
        slope = slope * x + y
        y = y * x + 1.0
    return slope


def swing(x):
    """A pendulum after some steps of the midpoint rule, as a function of its start."""
    v = 0.0 * x
    for _ in range(10):
        half_x, half_v = x + 0.05 * v, v - 0.05 * math.sin(x)
        x, v = x + 0.1 * half_v, v - 0.1 * math.sin(half_x)
    return x


def swing_by_hand(x):
    v, dx, dv = 0.0, 1.0, 0.0
    for _ in range(10):
        half_x, half_v = x + 0.05 * v, v - 0.05 * math.sin(x)
        half_dx, half_dv = dx + 0.05 * dv, dv - 0.05 * math.cos(x) * dx
        x, v = x + 0.1 * half_v, v - 0.1 * math.sin(half_x)
        dx, dv = dx + 0.1 * half_dv, dv - 0.1 * math.cos(half_x) * half_dx
    return dx


def attraction(x):
    """The potential of a body among eight fixed ones on a line."""
    total = 0.0 * x
    for i in range(8):
        apart = x - i * 10.0
        total -= 1.0 / math.sqrt(apart * apart + 1.0)
    return total


def attraction_by_hand(x):
    slope = 0.0
    for i in range(8):
        apart = x - i * 10.0
        inverse = 1.0 / math.sqrt(apart * apart + 1.0)
        slope += inverse * inverse * inverse * apart
    return slope


# ---- functions of arrays ------------------------------------------------------------------


def bodies(x):
    """The energy of bodies on a line."""
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            apart = x[i] - x[j]
            total -= 1.0 / math.sqrt(apart * apart + 0.1)
    return total


def bodies_by_hand(x):
    found = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(i):
            apart = x[i] - x[j]
            inverse = 1.0 / math.sqrt(apart * apart + 0.1)
            force = inverse * inverse * inverse * apart
            found[i] += force
            found[j] -= force
    return found


def bodies_whole(x):
    apart = x[:, None] - x[None, :]
    return -0.5 * (np.sum(1.0 / np.sqrt(apart * apart + 0.1)) - len(x) / math.sqrt(0.1))


STEPS = 100


def pendulum(x):
    """The angle of a pendulum after some steps, as a function of its initial angle and speed."""
    a, v = x[0], x[1]
    for _ in range(STEPS):
        half_a, half_v = a + 0.05 * v, v - 0.05 * math.sin(a)
        a, v = a + 0.1 * half_v, v - 0.1 * math.sin(half_a)
    return a


def pendulum_by_hand(x):
    angles, speeds = np.empty(STEPS), np.empty(STEPS)
    a, v = x[0], x[1]
    for k in range(STEPS):
        angles[k], speeds[k] = a, v
        half_a, half_v = a + 0.05 * v, v - 0.05 * math.sin(a)
        a, v = a + 0.1 * half_v, v - 0.1 * math.sin(half_a)
    by_a, by_v = 1.0, 0.0
    for k in range(STEPS - 1, -1, -1):
        by_half_a = -0.1 * math.cos(angles[k] + 0.05 * speeds[k]) * by_v
        by_half_v = 0.1 * by_a
        by_v += by_half_v + 0.05 * by_half_a
        by_a += by_half_a - 0.05 * math.cos(angles[k]) * by_half_v
    found = np.zeros_like(x)
    found[0], found[1] = by_a, by_v
    return found


def pendulum_whole(x):
    a, v = x[0], x[1]
    for _ in range(STEPS):
        half_a, half_v = a + 0.05 * v, v - 0.05 * np.sin(a)
        a, v = a + 0.1 * half_v, v - 0.1 * np.sin(half_a)
    return a


OF_ARRAYS = {
    "Rosenbrock's function of 100 numbers": (chain, chain_by_hand, chain_whole),
    "the energy of 100 bodies": (bodies, bodies_by_hand, bodies_whole),
    "100 steps of an ODE": (pendulum, pendulum_by_hand, pendulum_whole),
}
TIMES = 5.0
"""The limit on the cost of a gradient, in runs of the function."""

CASES = {
    "a scalar kernel with a branch": (wave, wave_by_hand),
    "a polynomial, in a loop": (polynomial, polynomial_by_hand),
    "ten steps of an ODE": (swing, swing_by_hand),
    "a potential of eight bodies": (attraction, attraction_by_hand),
}


def ours(function):
    def kernel(xs, out):
        for i in range(xs.size):
            out[i] = autodiff(function, xs[i])

    return Context().jit(kernel)


def by_hand(slope):
    compiled = numba.njit(slope)

    def kernel(xs, out):
        for i in range(xs.size):
            out[i] = compiled(xs[i])

    return numba.njit(kernel)


def by_jax(function):
    """A function that computes JAX's derivatives at the points of an array; None without JAX."""
    if importlib.util.find_spec("jax") is None:
        return None
    import jax

    jax.config.update("jax_enable_x64", True)
    changed = wave_in_jax if function is wave else function
    return jax.jit(jax.vmap(jax.grad(with_functions(changed, jax.numpy))))


def wave_in_jax(x):
    """The function without branches on values, which JAX does not support."""
    y = np.sin(x) * x * np.exp(x * 0.1) + 2.0 * x
    return np.where(y > 3.0, y * y, y) / (1.0 + x * x)


def forwards(case, functions, points, rounds):
    """One case: a row against the derivative by hand, and the ratio of JAX to that."""
    function, slope = functions
    xs = np.linspace(0.1, 3.0, points)
    out = {name: np.empty(points) for name in ("hand", "again", "ours")}
    made = {"hand": by_hand(slope), "again": by_hand(slope), "ours": ours(function)}
    jobs = {name: lambda n=name, k=kernel: k(xs, out[n]) for name, kernel in made.items()}
    jax_kernel = by_jax(function)
    if jax_kernel is not None:
        jobs["JAX"] = lambda: jax_kernel(xs).block_until_ready()
    for name, job in jobs.items():
        found = job() if name == "JAX" else (job(), out[name])[1]
        if not np.allclose(found, out["hand"], rtol=1e-9):
            raise SystemExit(f"{case}: {name} gives other derivatives than those by hand")
    taken = interleaved(jobs, rounds, LIMIT, process_time)
    noise = abs(ratio(taken, "again", "hand") - 1)
    row = compared(case, taken, "hand", asked=ASKED, noise=noise)
    return row, ratio(taken, "JAX", "hand") if "JAX" in taken else None


def peers(for_jax, for_autograd):
    """Functions that compute gradients by the other libraries that are installed."""
    found = {}
    if importlib.util.find_spec("jax") is not None:
        import jax

        jax.config.update("jax_enable_x64", True)
        compiled = jax.jit(jax.grad(with_functions(for_jax, jax.numpy)))
        found["JAX"] = lambda x: compiled(x).block_until_ready()
    if importlib.util.find_spec("autograd") is not None:
        import autograd

        found["autograd"] = autograd.grad(with_functions(for_autograd, autograd.numpy))
    return found


def by_differences(function):
    """The gradient by forward differences of the function, compiled by numba."""
    value = numba.njit(function)

    def slopes(x):
        found, moved, at = np.empty_like(x), x.copy(), value(x)
        for i in range(x.size):
            step = 1.5e-8 * max(abs(x[i]), 1.0)
            moved[i] = x[i] + step
            found[i] = (value(moved) - at) / step
            moved[i] = x[i]
        return found

    return numba.njit(slopes)


def in_reverse(case, functions, rounds, calls):
    """One case: a row against the gradient by hand, the ratios of the peers to that, and that of
    ours to the function."""
    function, gradient, whole = functions
    x = np.array([1.0, 0.1]) if function is pendulum else np.linspace(-1.0, 2.0, 100)
    kernels = {
        "function": numba.njit(function),
        "hand": numba.njit(gradient),
        "again": numba.njit(gradient),
        "ours": Context().jit(lambda x: autodiff(function, x)),
        DIFFERENCES: by_differences(function),
        **peers(whole, whole),
    }
    for name, kernel in kernels.items():
        # half of the digits are lost in differences
        near = {"rtol": 1e-3, "atol": 1e-2} if name == DIFFERENCES else {"rtol": 1e-9}
        if name != "function" and not np.allclose(kernel(x), gradient(x), **near):
            raise SystemExit(f"{case}: {name} gives another gradient than that by hand")
    repeated = {name: calls if name not in PEERS else 1 for name in kernels}
    jobs = {name: lambda n=name: many(kernels[n], x, repeated[n]) for name in kernels}
    taken = interleaved(jobs, rounds, LIMIT, process_time)
    taken = {name: [t / repeated[name] for t in times_] for name, times_ in taken.items()}
    noise = abs(ratio(taken, "again", "hand") - 1)
    row = compared(case, taken, "hand", asked=ASKED, noise=noise)
    against = {n: ratio(taken, n, "hand") for n in PEERS if n in taken}
    return row, {**against, "function": ratio(taken, "ours", "function")}


# ---- programs as they are written ------------------------------------------------------------


def ways_of(case):
    """The gradient of a program in each way, and the point at which it is taken."""
    function, x, for_jax = GRADIENTS[case]
    for_autograd = function if for_jax is ode_in_jax else for_jax
    ways = {
        "compiled": Context().jit(lambda x: autodiff(function, x)),
        "interpreted": gradient(function, mode="reverse"),
        **peers(for_jax, for_autograd),
    }
    return {**ways, DIFFERENCES: by_differences(function)}, x


def as_written(case, rounds):
    """One program: the median time of a gradient in each way, and the spread of ours."""
    ways, x = ways_of(case)
    expected = ways["compiled"](x)
    for name, way in ways.items():
        near = {"rtol": 1e-3, "atol": 1e-2} if name == DIFFERENCES else {"rtol": 1e-8}
        if not np.allclose(way(x), expected, **near):
            raise SystemExit(f"{case}: {name} gives another gradient")
    calls = {name: 100 if name in ("compiled", "JAX") else 1 for name in ways}
    jobs = {name: lambda n=name: many(ways[n], x, calls[n]) for name in ways}
    taken = interleaved(jobs, rounds, LIMIT, process_time)
    medians = {name: statistics.median(each) / calls[name] for name, each in taken.items()}
    return {"case": case, "seconds": medians, "spread": spread_of(taken["compiled"])}


def as_written_section(found):
    names = list(dict.fromkeys(name for row in found for name in row["seconds"]))
    rows = [("program", *names, "JAX / compiled", "spread")]
    for row in found:
        seconds = row["seconds"]
        cells = [duration(seconds[name]) for name in names]
        against = times(seconds["JAX"] / seconds["compiled"]) if "JAX" in seconds else "-"
        rows.append((row["case"], *cells, against, f"{row['spread']:.0%}"))
    text = (
        "The median processor time of one gradient: by `ctx.jit`, by `gradient` interpreted "
        "in reverse mode, and by the peers. JAX and autograd receive a loop in the form that "
        "they need. [Compile time](#compile-time) has their first compiled answers."
    )
    return section("Programs as they are written", text, rows)


def many(kernel, x, calls):
    for _ in range(calls):
        kernel(x)


def ratios_of(row):
    return row["case"], times(row["ratio"]), times(row["median"]), f"{row['spread']:.1%}"


def gradients_section(figures):
    rows = [("case", "ratio", "median", "spread", "asked", "runs of the function", *PEERS)]
    for row, others in zip(figures["reverse"], figures["peers"], strict=True):
        shown_peers = [times(others[n]) if n in others else "-" for n in PEERS]
        verdict = row["verdict"]
        runs = f"{others['function']:.1f} of at most {TIMES:.0f}"
        rows.append((*ratios_of(row), verdict, runs, *shown_peers))
    text = "Gradients by generated adjoints; for each peer the ratio to the hand-written adjoint."
    return section("By many numbers", text, rows)


def page(figures):
    """The part of docs/report.md."""
    rows = [("case", "ratio", "median", "spread", "asked", "JAX")]
    for row, jax in zip(figures["rows"], figures["jax"], strict=True):
        against = "-" if jax is None else times(jax)
        rows.append((*ratios_of(row), row["verdict"], against))
    text = (
        "Derivatives in compiled code: with respect to one number in forward mode, at many "
        "points; with respect to many numbers in reverse mode. The peer is a hand-written "
        "derivative, compiled by numba; further columns compare other libraries with it."
    )
    sections = [
        section("By one number", "", rows),
        gradients_section(figures),
        as_written_section(figures["as written"]),
    ]
    return part("Derivatives", text, sections)


def main():
    chosen = options(__doc__)
    points = 100 if chosen.smallest else 100_000
    print(f"{machine_and_numba()}; processor time")
    found = [forwards(case, each, points, chosen.rounds) for case, each in CASES.items()]
    figures = {"machine": machine_and_numba(), "rows": shown([row for row, _ in found])}
    figures["jax"] = [jax for _, jax in found]
    for case, jax in zip(CASES, figures["jax"], strict=True):
        print(f"JAX, {case}: {'-' if jax is None else times(jax)}")
    calls = 1 if chosen.smallest else 200
    gradients = [in_reverse(case, each, chosen.rounds, calls) for case, each in OF_ARRAYS.items()]
    figures["reverse"] = shown([row for row, _ in gradients])
    figures["peers"] = [others for _, others in gradients]
    for case, others in zip(OF_ARRAYS, figures["peers"], strict=True):
        print(f"{case}: " + ", ".join(f"{name} {times(each)}" for name, each in others.items()))
    cases = list(GRADIENTS)[-1:] if chosen.smallest else GRADIENTS
    figures["as written"] = [as_written(case, chosen.rounds) for case in cases]
    for row in figures["as written"]:
        print(
            f"{row['case']}: " + ", ".join(f"{n} {duration(s)}" for n, s in row["seconds"].items())
        )
    written({**figures, "page": page(figures)}, chosen.json)


if __name__ == "__main__":
    main()
