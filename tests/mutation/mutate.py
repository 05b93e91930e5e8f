"""Puts small faults into the cores, one at a time, and runs the tests that concern them.

    python -m tests.mutation.mutate --count 60 --json build/proof/mutation.json
    python -m tests.mutation.mutate --core dispatch --seed 2 --count 20
    python -m tests.mutation.mutate --core dispatch --at overlay/core/dispatch.py:141
    python -m tests.mutation.mutate --again build/proof/mutation.json --keep

A fault that a test finds is killed; the others survive, and are printed to be looked at.
equivalent.json has those that were looked at and change nothing that can be seen. The modules are
imported once: each fault is put into a copy of the process, in which the tests then run.
"""

import argparse
import contextlib
import functools
import importlib
import io
import json
import os
import platform
import random
import signal
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent.json")
KEPT = ROOT / "docs" / "report" / "kept" / "mutation.json"
LIMIT, WAIT = 15, 600
"""Seconds of the processor that one test may take, and seconds that all of them may: a fault that
makes them run on, or wait for ever, is killed."""


def tests_in(folder, *names):
    """The test files with these names."""
    return [f"tests/{folder}/test_{name}.py" for name in names]


# Modules, and the tests that concern them, the fastest first; the long ones are among them.
CORES = {
    "dispatch": (
        ("overlay/core/dispatch.py", "overlay/inspect/shadowing.py", "overlay/generics/views.py"),
        [
            *tests_in("overlay/inspect", "shadowing"),
            *tests_in("overlay/core", "dispatch"),
            *tests_in("overlay/generics", "views"),
            *tests_in("overlay/python", "interception", "plum", "operators"),
            *tests_in("overlay/python", "redefinition", "call_next", "calls"),
            *tests_in("overlay/contexts", "composition"),
            *tests_in("overlay/generics", "plum_rules", "generic"),
            *tests_in("overlay/core", "table"),
            *tests_in("overlay/python", "metadata", "frame_readers", "compiled_callees"),
            "tests/overlay/test_chain_of_methods.py",
        ],
    ),
    "plugins' calls": (
        ("overlay/python/plugin_calls.py", "overlay/python/entering.py", "overlay/python/sites.py"),
        [
            *tests_in(
                "overlay/python", "around", "plugins", "memory", "plum", "sites", "operators"
            ),
            *tests_in("overlay/interpretations", "tracing", "profiling", "printing"),
            *tests_in("overlay/python", "redefinition"),
        ],
    ),
    "planner": (
        ("inversion/program/causality.py", "inversion/planning/planner.py"),
        [
            *tests_in("inversion/planning", "plan"),
            *tests_in("inversion/lifting", "resolve"),
            *tests_in("inversion", "bad_input"),
            *tests_in("inversion/planning", "repeated"),
            *tests_in("inversion/passes", "polar"),
            *tests_in("inversion/planning", "algebra"),
            *tests_in("inversion", "several_results"),
            *tests_in("inversion/lifting", "sequences"),
            *tests_in("inversion", "invert", "refusals"),
        ],
    ),
    "relations": (
        ("primitives/relation.py", "primitives/domains.py"),
        tests_in("primitives", "relation", "sampling", "listing", "domains"),
    ),
}


def main():
    asked = parsed()
    earlier = json.loads(asked.again.read_text()) if asked.again else {"cores": {}}
    known = {tuple(each["fault"]) for each in json.loads(EQUIVALENT.read_text())}
    begin, found = time.monotonic(), {}
    for name in asked.core or earlier["cores"] or CORES:
        found[name] = tried(name, asked, known, earlier["cores"].get(name))
        figures = found[name]
        print(f"{name}: {figures['killed']} of {figures['mutants']} killed, "
              f"{figures['equivalent']} change nothing, {len(figures['survivors'])} survive "
              f"({time.monotonic() - begin:.0f} s)", flush=True)  # fmt: skip
    if asked.json:
        asked.json.parent.mkdir(parents=True, exist_ok=True)
        asked.json.write_text(json.dumps({**header(), "cores": found}, indent=1) + "\n")
    if asked.keep:
        keep(found)
    return 0


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--core", action="append", choices=CORES, help="by default all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--count", type=int, default=60, help="faults for each core")
    parser.add_argument("--seconds", type=int, default=10**6, help="for each core, at most")
    parser.add_argument("--at", help="only faults at this file:line")
    parser.add_argument("--again", type=Path, help="only what survived by this file's figures")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    parser.add_argument("--keep", action="store_true", help="put them into docs/report/kept")
    asked = parser.parse_args()
    if asked.keep and asked.at:
        parser.error("what is kept are figures of a sample: leave one of --keep and --at out")
    return asked


def tried(name, asked, known, earlier=None):
    """The figures of one core. earlier: those of which only the survivors are tried again."""
    from tests.mutation.mutants import mutants_of

    files, tests = CORES[name]
    made = [(file, m) for file in files for m in mutants_of((ROOT / file).read_text())]
    sample = random.Random(asked.seed).sample(made, min(asked.count, len(made)))
    ends, survivors = Counter(), []
    if earlier is not None:
        survived = {tuple(each["fault"]) for each in earlier["survivors"]}
        sample = [(file, m) for file, m in made if fault_of(file, m) in survived]
        ends.update({end: earlier[end] for end in ("killed", "equivalent")})
    if asked.at:
        sample = [(file, m) for file, m in made if f"{file}:{m.line}" == asked.at]
    prepare(tests)
    end = time.monotonic() + asked.seconds
    for file, mutant in sample:
        if time.monotonic() > end:
            break
        fault = fault_of(file, mutant)
        if earlier is not None and fault in known:  # has survived, and was looked at since
            ends["equivalent"] += 1
            continue
        killed = in_a_copy(lambda f=file, m=mutant: (put_in(f, m), run(tests))[1])
        ends["killed" if killed else "equivalent" if fault in known else "survivors"] += 1
        if not killed and fault not in known:
            survivors.append({"fault": list(fault), "line": mutant.line})
            print(f"    {file}:{mutant.line} {mutant.what}: {mutant.text}", flush=True)
    return {
        "of": len(made),
        "seed": asked.seed if earlier is None else earlier["seed"],
        "mutants": ends.total(),
        "killed": ends["killed"],
        "equivalent": ends["equivalent"],
        "survivors": survivors,
    }


def fault_of(file, mutant):
    """The parts that identify a fault, independent of its line number."""
    return file, mutant.function, mutant.text, mutant.what


def keep(found):
    """Replace the figures of cores in the report, and drop those of former ones."""
    kept = json.loads(KEPT.read_text())
    kept["cores"] = {name: kept["cores"][name] for name in CORES if name in kept["cores"]}
    for name, figures in found.items():
        survivors = [
            f"{file}:{each['line']} {what}"
            for each in figures["survivors"]
            for file, _, _, what in [each["fault"]]
        ]
        kept["cores"][name] = {**figures, "survivors": survivors}
    KEPT.write_text(json.dumps({**kept, **header()}, indent=1) + "\n")


def header():
    """The date, and the version of Python."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
    }


# ---- running ------------------------------------------------------------------------------


def prepare(tests):
    """Import the modules that the tests need, and check that the tests pass without a fault."""
    os.chdir(ROOT)
    with contextlib.redirect_stdout(io.StringIO()):
        run((*tests, "--collect-only"))
    if in_a_copy(lambda: run(tests)):
        sys.exit("the tests fail without a fault")


def run(tests):
    """The exit code of pytest for the tests: 0 if all pass."""
    import pytest

    # what is compiled takes longest, and concerns other modules, apart from compiled callees
    chosen = "not compiled or compiled_callees"
    options = ["-x", "-q", "-k", chosen, "-n", "0", "-p", "no:cacheprovider"]
    return pytest.main([*options, "--no-header", "-W", "ignore", *tests], plugins=[Limited()])


class Limited:
    """Plugin that ends the process if a test runs too long."""

    def pytest_runtest_logstart(self):
        signal.setitimer(signal.ITIMER_PROF, LIMIT)


def in_a_copy(action):
    """The result of an action in a copy of this process: 0, or a number for a failure."""
    child = os.fork()
    if child == 0:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        signal.alarm(WAIT)
        signal.setitimer(signal.ITIMER_PROF, LIMIT)
        code = 1
        try:
            code = int(action())
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


# ---- putting faults in --------------------------------------------------------------------


def put_in(file, mutant):
    """Give the function that contains a fault its faulty code, wherever it is referenced."""
    name = file.removesuffix(".py").replace("/", ".")
    module = importlib.import_module(name)
    names = {"__name__": name, "__file__": module.__file__, "__package__": module.__package__}
    exec(compile(mutant.source, module.__file__, "exec", dont_inherit=True), names)
    faulty, function = (plain(reached(held, mutant.function)) for held in (names, vars(module)))
    function.__code__ = faulty.__code__


def reached(namespace, path):
    """The object with a qualified name in a module, as its class stores it."""
    first, *rest = path.split(".")
    found = namespace[first]
    for each in rest:
        found = vars(found)[each]
    return found


def plain(held):
    """The function inside its decorators."""
    kinds = {staticmethod: "__func__", classmethod: "__func__", property: "fget"}
    kinds[functools.cached_property] = "func"
    while type(held) in kinds:
        held = getattr(held, kinds[type(held)])
    while hasattr(held, "__wrapped__"):
        held = held.__wrapped__
    return held


if __name__ == "__main__":
    sys.exit(main())
