"""Compile time: processor time from a program to its first compiled answer, in fresh processes.

Each compilation runs in a separate process, after the imports. Gradients are beside JAX's, and
beside numba's compilation of the function alone; inverses beside Oryx's, where Oryx can invert
the program. Code from disk is measured by the time of the whole process, beside a gradient by
hand that numba stores with ``cache=True``.
"""

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial
from time import process_time

import numpy as np
from common.compiled_programs import (
    GRADIENTS,
    INVERSES,
    chain_by_hand,
    ode_by_hand,
    with_functions,
)
from common.numba_compiling import machine_and_numba
from common.options import parser_for
from common.page import part, section, times, written
from common.rows import duration
from common.timing import spread_of, table

BY_HAND = {
    "Rosenbrock's function, a loop": chain_by_hand,
    "200 steps of an ODE": ode_by_hand,
}
JAX_ASKED, ORYX_ASKED, DISK_ASKED = 3.0, 1.5, 1.2


# ---- in a fresh process -------------------------------------------------------------------


def gradient_by_ours(case, **options):
    from overlay import Context
    from overlay.interpretations.autodiff import autodiff

    function, x, _ = GRADIENTS[case]
    start = process_time()
    compiled = Context().jit(lambda x: autodiff(function, x), **options)
    return start, compiled(x)


def gradient_by_jax(case):
    import jax

    jax.config.update("jax_enable_x64", True)
    _, x, whole = GRADIENTS[case]
    changed = with_functions(whole, jax.numpy)
    start = process_time()
    return start, jax.jit(jax.grad(changed))(x).block_until_ready()


def function_by_numba(case):
    import numba

    function, x, _ = GRADIENTS[case]
    start = process_time()
    return start, numba.njit(function)(x)


def kept_by_ours(case):
    return gradient_by_ours(case, cache=os.environ["NUMBA_CACHE_DIR"])


def kept_by_numba(case):
    import numba

    x = GRADIENTS[case][1]
    start = process_time()
    return start, numba.njit(cache=True)(BY_HAND[case])(x)


def inverse_by_ours(case):
    from inversion import choose, invert

    function, args, known, batch, _ = INVERSES[case]
    value = function(*args)
    types = [np.zeros(each.shape) for each in args if isinstance(each, np.ndarray)]
    start = process_time()
    inverse = choose(function, known=("return", *known)) if known else invert(function, *types)
    given = (value, *args[: len(known)])
    if batch:
        inverse.compile_batch()
        return start, inverse.batch(*(np.full(10, each) for each in given))
    fast = inverse.compile()
    theta = (inverse.parameters.compiled(inverse.recover(*args)),)
    return start, fast(*given, *(theta if len(inverse.parameters) else ()))


def inverse_by_oryx(case):
    import jax
    import oryx

    jax.config.update("jax_enable_x64", True)
    function, args, *_ = INVERSES[case]
    value, changed = function(*args), with_functions(function, jax.numpy)
    start = process_time()
    return start, jax.jit(oryx.core.inverse(changed))(value).block_until_ready()


WAYS = {
    each.__name__: each
    for each in (
        *(gradient_by_ours, gradient_by_jax, function_by_numba, kept_by_ours, kept_by_numba),
        *(inverse_by_ours, inverse_by_oryx),
    )
}


def in_this_process(way, case):
    """Print the processor time from a program to its answer, and that of the whole process."""
    start, _ = WAYS[way](case)
    end = process_time()
    print(json.dumps({"first": end - start, "process": end}))


# ---- in the process that measures ---------------------------------------------------------


def apart(way, case, folder):
    """The processor time of a fresh process; see ``in_this_process``."""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPYCACHEPREFIX": str(folder)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are compiled once
    done = subprocess.run(
        [sys.executable, __file__, "--one", way, case],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        env=env,
    )
    if done.returncode:
        raise SystemExit(f"{case}: {way} failed, as stands above")
    return json.loads(done.stdout.splitlines()[-1])


def measured(cases, ways, rounds, folder, field="first"):
    """Seconds of each case in each way, with all ways in turn."""
    found = {}
    for case in cases:
        jobs = {name: partial(apart, way, case, folder) for name, way in ways(case).items()}
        taken = {name: [] for name in jobs}
        for _ in range(rounds):
            for name, job in jobs.items():
                taken[name].append(job()[field])
        found[case] = {
            name: {"median": statistics.median(each), "spread": spread_of(each)}
            for name, each in taken.items()
        }
        print(case, *(f"{name} {duration(f['median'])}" for name, f in found[case].items()))
        sys.stdout.flush()
    return found


def has(module):
    return importlib.util.find_spec(module) is not None


def of_gradients(case):
    found = {"ours": "gradient_by_ours", "numba, the function": "function_by_numba"}
    return {**found, "JAX": "gradient_by_jax"} if has("jax") else found


def of_inverses(case):
    ways = {"ours": "inverse_by_ours"}
    return {**ways, "Oryx": "inverse_by_oryx"} if has("oryx") and INVERSES[case].oryx else ways


def of_disk(case):
    return {"ours": "kept_by_ours", "numba, by hand": "kept_by_numba"}


def rows_of(found, peer, asked):
    """A table: seconds of each way, the ratio of ours to the peer, and what is asked of it."""
    names = list(dict.fromkeys(name for each in found.values() for name in each))
    yield ("program", *names, f"ours / {peer}", "spread", "asked")
    for case, each in found.items():
        cells = [duration(each[name]["median"]) if name in each else "-" for name in names]
        ratio, verdict = "-", "-"
        if peer in each:
            value = each["ours"]["median"] / each[peer]["median"]
            ratio = times(value)
            verdict = f"at most {asked}: {'reached' if value <= asked else 'MISSED'}"
        yield (case, *cells, ratio, f"{each['ours']['spread']:.0%}", verdict)


def main():
    parser = parser_for(__doc__)
    parser.add_argument("--one", nargs=2, help=("measure one way of one program in this process"))
    chosen = parser.parse_args()
    if chosen.one:
        in_this_process(*chosen.one)
        return
    rounds = min(chosen.rounds, 3)
    gradients, inverses, kept = list(GRADIENTS), list(INVERSES), list(BY_HAND)
    if chosen.smallest:
        rounds, gradients, inverses, kept = 1, gradients[-1:], inverses[-2:-1], kept[-1:]
    print(f"{machine_and_numba()}; processor time")
    with tempfile.TemporaryDirectory() as folder:
        for case, ways in ((kept[0], of_disk), (gradients[0], of_gradients)):
            for way in ways(case).values():  # the first processes write modules
                apart(way, case, folder)
        found = {
            "Gradients": measured(gradients, of_gradients, rounds, folder),
            "Inverses": measured(inverses, of_inverses, 1, folder),
        }
        for case in kept:  # the first processes write the code
            for way in of_disk(case).values():
                apart(way, case, folder)
        found["Code from disk"] = measured(kept, of_disk, rounds, folder, "process")
    asked = {
        "Gradients": ("JAX", JAX_ASKED),
        "Inverses": ("Oryx", ORYX_ASKED),
        "Code from disk": ("numba, by hand", DISK_ASKED),
    }
    sections = []
    for title, each in found.items():
        rows = list(rows_of(each, *asked[title]))
        print(f"\n{title}\n{table(rows)}", flush=True)
        sections.append(section(title, "", rows))
    text = (
        "Processor time from a program to its first compiled answer, each in a new process "
        "after its imports. For code from disk it is that of the whole process, including "
        "imports. The peers are JAX and Oryx, if they are installed, and numba."
    )
    figures = {**found, "page": part("Compile time", text, sections)}
    written(figures, chosen.json)


if __name__ == "__main__":
    main()
