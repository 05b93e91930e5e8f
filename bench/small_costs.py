"""Small costs that the documents mention, each against a baseline, or in seconds."""

import contextlib
import io
import math
import pickle
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from common.options import options
from common.page import part, section, times, written
from common.rows import duration
from common.timing import (
    interleaved,
    machine,
    median_ratio,
    ratio_spread,
    seconds,
    spread_of,
    table,
)

from inversion import invert
from overlay import Context, MethodTable, generic
from overlay.analysis import integers, prove
from overlay.interpretations.parallel import parallel
from overlay.interpretations.profiling import profile

DOCS = Path(__file__).parents[1] / "docs"
FENCED = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
LIMIT = 3.0  # seconds for the rounds of one case
CALLS = 2_000


def ratio_of(taken, one, to):
    """The median of the rounds' ratios, and their spread."""
    return {"value": median_ratio(taken, one, to), "spread": ratio_spread(taken, one, to)}


def beyond(taken, one, to, calls):
    """Seconds of a call above its baseline, and the spread of the runs."""
    more = (min(taken[one]) - min(taken[to])) / calls
    return {"value": more, "spread": max(map(spread_of, (taken[one], taken[to])))}


def repeated(f, *args, **named):
    def run():
        for _ in range(CALLS):
            f(*args, **named)

    return run


# ---- ratios ---------------------------------------------------------------------------------


def units(rounds):
    """A compiled loop over quantities, with the interpretation written in a document, against the
    loop over plain numbers."""
    space = {"__name__": "units_of_measure"}
    source = "\n".join(FENCED.findall((DOCS / "write_an_interpretation.md").read_text()))
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, "write_an_interpretation.md", "exec"), space)
    quantity, ctx = space["quantity"], space["ctx"]
    metres, gravity = quantity(m=1)(3.0), quantity(m=1, s=-2)(9.81)
    measured, plain = ctx.jit(falling), Context().jit(falling)
    if measured(metres, gravity, 100).value != plain(3.0, 9.81, 100):
        raise SystemExit("units: another result than that of plain numbers")
    jobs = {
        "units": lambda: measured(metres, gravity, 300_000),
        "plain": lambda: plain(3.0, 9.81, 300_000),
    }
    return ratio_of(interleaved(jobs, rounds, LIMIT, process_time), "units", "plain")


def falling(height, gravity, turns):
    total = math.sqrt(2.0 * gravity * height)
    for _ in range(turns):
        height = height * 1.000001
        total = total + math.sqrt(2.0 * gravity * height)
    return total


# ---- seconds above a baseline -----------------------------------------------------------------


def with_keyword(x, *, scale):
    return x * scale


def with_positions(x, scale):
    return x * scale


def keywords(rounds):
    """A call from Python of compiled code with a keyword-only parameter, above a plain one."""
    named, plain = Context().jit(with_keyword), Context().jit(with_positions)
    jobs = {"named": repeated(named, 2.0, scale=3.0), "plain": repeated(plain, 2.0, 3.0)}
    return beyond(interleaved(jobs, rounds, LIMIT, process_time), "named", "plain", CALLS)


def checks(rounds):
    """A call of a generic function whose method is checked, above one whose method is not."""
    jobs = {}
    for name, check in (("checked", True), ("plain", False)):
        target, methods = generic(given), MethodTable(name, check=check)
        methods.overlay(target)(halved)
        jobs[name] = lambda target=target, methods=methods: Context(methods)(repeated(target, 2.0))
    return beyond(interleaved(jobs, rounds, LIMIT, process_time), "checked", "plain", CALLS)


def given(x): ...


def halved(x: float) -> float:
    return x / 2


def profiling(rounds):
    """A call in a profiled run, above one in a context."""
    plain = Context()
    jobs = {"profiled": lambda: profile(calling), "plain": lambda: plain(calling)}
    return beyond(interleaved(jobs, rounds, LIMIT, process_time), "profiled", "plain", CALLS)


def calling():
    for _ in range(CALLS):
        halved(2.0)


# ---- seconds ----------------------------------------------------------------------------------

LOADING = """
import math, sys, time
from inversion import invert
from overlay import Context
Context().jit(lambda x: x + 1.5)(2.0)
invert(lambda x: x - 1.5, float).compile()(2.0)
sys.path.insert(0, {folder!r})
import cached
start = time.process_time()
print({what})
print(time.process_time() - start)
"""
PROGRAM = """
import math
def program(x: float):
    return 3 * math.exp(2 * x + 1) - 4
"""


def loaded(what, rounds):
    """The first call in a new process of code that an earlier one has compiled."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "cached.py").write_text(PROGRAM)
        script = LOADING.format(folder=folder, what=what.format(folder=folder))
        return of_runs([of_process(script) for _ in range(rounds + 1)][1:])


def of_process(script):
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return float(run.stdout.split()[-1])


def of_runs(runs):
    return {"value": min(runs), "spread": spread_of(runs)}


def analysis(rounds):
    """The proof of a function of 300 lines: arithmetic, branches and loops."""
    lines = ["def long(x):", "    total = 1"]
    for i in range(75):
        lines += [
            f"    if x > {i}:",
            f"        total = total + x * {i + 1}",
            f"    for k in range({i + 2}):",
            f"        total = total + k // {i + 1}",
        ]
    space = {}
    exec("\n".join([*lines, "    return total"]), space)

    def proof():
        prove(space["long"], integers(0, 1000))

    return of_runs([seconds(proof, process_time) for _ in range(rounds)])


def densities(rounds):
    """The logarithm of the determinant of an inverse's Jacobian, for each element of an array."""
    values = np.linspace(0.1, 2.0, 1000)
    inverse = invert(lambda x: np.exp(x) + x, values)
    known = np.exp(values) + values
    args = (known, inverse.recover(values)) if len(inverse.parameters) else (known,)
    runs = [seconds(lambda: inverse.log_abs_det(*args), process_time) for _ in range(rounds)]
    return of_runs([run / len(values) for run in runs])


def unpickled(rounds):
    """Unpickling of an inverse in a new process, and its first answer."""
    sent = pickle.dumps(invert(math.exp, float))
    script = (
        "import pickle, time, inversion\n"
        "inversion.invert(lambda x: x + 1.5, float)(2.0)\n"
        f"start = time.process_time()\npickle.loads({sent!r})(2.0)\n"
        "print(time.process_time() - start)"
    )
    return of_runs([of_process(script) for _ in range(rounds)])


def workers(rounds):
    """Start of the processes of parallel loops, the first time in a process."""
    fast = parallel(many, workers=2, least=0.0)
    return {"value": seconds(fast.prepare, perf_counter), "spread": 0.0}


def many(n):
    return [halved(i) for i in range(n)]


JIT = "Context().jit(cached.program, cache={folder!r})(0.5)"
INVERSE = "invert(cached.program, cache={folder!r}).compile()(5.0)"
RATIOS = {"units of measure, compiled, to plain numbers": units}
SECONDS = {
    "a keyword-only parameter, in a call from Python of compiled code": keywords,
    "check=True, in a call": checks,
    "profiling, in a call": profiling,
    "compiled code from disk, its first call": lambda rounds: loaded(JIT, rounds),
    "a compiled inverse from disk, its first answer": lambda rounds: loaded(INVERSE, rounds),
    "an inverse that was sent, its first answer": unpickled,
    "the proof of a function of 300 lines": analysis,
    "log_abs_det, for each element of an array": densities,
    "processes of parallel loops, until they are there": workers,
}


def rows(found):
    yield ("what", "", "spread")
    for name, each in found.items():
        value = times(each["value"]) if name in RATIOS else duration(each["value"])
        yield (name, value, f"{each['spread']:.0%}")


def page(found):
    """The part of docs/report.md."""
    text = (
        "Other costs that the documents mention: a ratio if a peer is named, otherwise "
        "seconds, in addition to the call."
    )
    return part("Small costs", text, [section("Each", "", rows(found))])


def main():
    chosen = options(__doc__)
    rounds = 2 if chosen.smallest else chosen.rounds
    print(machine())
    found = {name: measure(rounds) for name, measure in {**RATIOS, **SECONDS}.items()}
    print(table(list(rows(found))))
    written({"machine": machine(), "costs": found, "page": page(found)}, chosen.json)


if __name__ == "__main__":
    main()
