"""Puts small faults into the cores, one at a time, and runs the tests that concern them.

    python tests/mutation/mutate.py --count 60 --json build/proof/mutation.json
    python tests/mutation/mutate.py --core dispatch --seed 2 --count 20
    python tests/mutation/mutate.py --core dispatch --at overlay/dispatch.py:141

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
import random
import signal
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
EQUIVALENT = Path(__file__).with_name("equivalent.json")
LIMIT = 150
"""Seconds for the tests of one fault; a fault that makes them run on is killed."""
# Modules, and the tests that concern them, the fastest first.
CORES = {
    "dispatch": (
        ("overlay/dispatch.py", "overlay/python/dispatcher.py", "overlay/shadowing.py"),
        (
            *("tests/overlay/python/test_changes_in_between.py", "tests/overlay/test_table.py"),
            *("tests/overlay/python/test_call_next.py", "tests/overlay/test_composition.py"),
            *("tests/overlay/python/test_metadata.py", "tests/overlay/test_shadowing.py"),
            *("tests/overlay/python/test_calls.py", "tests/overlay/test_plum_rules.py"),
        ),
    ),
    "callee map": (
        ("overlay/python/callees.py", "overlay/python/site.py"),
        (
            *(
                "tests/overlay/python/test_changes_in_between.py",
                "tests/overlay/python/test_calls.py",
            ),
            *("tests/overlay/python/test_called_values.py", "tests/overlay/python/test_threads.py"),
            "tests/overlay/python/test_local_functions.py",
            *("tests/overlay/python/test_odd_callables.py", "tests/overlay/python/test_memory.py"),
        ),
    ),
    "planner": (
        ("inversion/causality.py", "inversion/plan.py"),
        (
            *("tests/inversion/test_plan.py", "tests/inversion/test_several_results.py"),
            *("tests/inversion/test_repeated.py", "tests/inversion/test_polar.py"),
            "tests/inversion/test_invert.py",
        ),
    ),
    "relations": (
        ("primitives/relation.py", "primitives/domains.py"),
        ("tests/primitives/test_relation.py", "tests/primitives/test_domains.py"),
    ),
}


def main():
    asked = parsed()
    known = {tuple(each["fault"]) for each in json.loads(EQUIVALENT.read_text())}
    begin, found = time.monotonic(), {}
    for name in asked.core or CORES:
        found[name] = tried(name, asked, known)
        figures = found[name]
        print(f"{name}: {figures['killed']} of {figures['mutants']} killed, "
              f"{figures['equivalent']} change nothing, {len(figures['survivors'])} survive "
              f"({time.monotonic() - begin:.0f} s)", flush=True)  # fmt: skip
    if asked.json:
        asked.json.parent.mkdir(parents=True, exist_ok=True)
        header = {"date": datetime.now(UTC).strftime("%Y-%m-%d"), "seed": asked.seed}
        asked.json.write_text(json.dumps({**header, "cores": found}, indent=1) + "\n")
    return 0


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--core", action="append", choices=CORES, help="by default all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("--count", type=int, default=60, help="faults for each core")
    parser.add_argument("--seconds", type=int, default=10**6, help="for each core, at most")
    parser.add_argument("--at", help="only faults at this file:line")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    return parser.parse_args()


def tried(name, asked, known):
    """The figures of one core."""
    from mutants import mutants_of

    files, tests = CORES[name]
    made = [(file, m) for file in files for m in mutants_of((ROOT / file).read_text())]
    sample = random.Random(asked.seed).sample(made, min(asked.count, len(made)))
    if asked.at:
        sample = [(file, m) for file, m in made if f"{file}:{m.line}" == asked.at]
    prepare(tests)
    end, ends, survivors = time.monotonic() + asked.seconds, Counter(), []
    for file, mutant in sample:
        if time.monotonic() > end:
            break
        fault = file, mutant.function, mutant.text, mutant.what
        alive = not in_a_copy(lambda f=file, m=mutant: (put_in(f, m), run(tests))[1])
        ends["equivalent" if fault in known else "survivors" if alive else "killed"] += 1
        if alive and fault not in known:
            survivors.append({"fault": list(fault), "line": mutant.line})
            print(f"    {file}:{mutant.line} {mutant.what}: {mutant.text}", flush=True)
    return {
        "of": len(made),
        "mutants": ends.total(),
        "killed": ends["killed"],
        "equivalent": ends["equivalent"],
        "survivors": survivors,
    }


# ---- running ------------------------------------------------------------------------------


def prepare(tests):
    """Import what the tests need, and see that they pass as things are."""
    os.chdir(ROOT)
    with contextlib.redirect_stdout(io.StringIO()):
        run((*tests, "--collect-only"))
    if in_a_copy(lambda: run(tests)):
        sys.exit("the tests fail without a fault")


def run(tests):
    """What pytest says of the tests: 0 where all pass."""
    import pytest

    # what is compiled takes longest, and concerns other modules
    options = (
        "-x",
        "-k",
        "not compiled",
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
        "--no-header",
        "-W",
        "ignore",
    )
    return pytest.main([*options, *map(str, tests)])


def in_a_copy(action):
    """What an action gives in a copy of this process: 0, or a number that says it failed."""
    child = os.fork()
    if child == 0:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        signal.alarm(LIMIT)
        code = 1
        try:
            code = int(action())
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


# ---- putting faults in --------------------------------------------------------------------


def put_in(file, mutant):
    """Give the function that a fault stands in its faulty code, wherever it is held."""
    name = file.removesuffix(".py").replace("/", ".")
    module = importlib.import_module(name)
    names = {"__name__": name, "__file__": module.__file__, "__package__": module.__package__}
    exec(compile(mutant.source, module.__file__, "exec", dont_inherit=True), names)
    faulty, function = (plain(reached(held, mutant.function)) for held in (names, vars(module)))
    function.__code__ = faulty.__code__


def reached(namespace, path):
    """What a qualified name stands for in a module, as its class holds it."""
    first, *rest = path.split(".")
    found = namespace[first]
    for each in rest:
        found = vars(found)[each]
    return found


def plain(held):
    """The function in what decorators have made of it."""
    kinds = {staticmethod: "__func__", classmethod: "__func__", property: "fget"}
    kinds[functools.cached_property] = "func"
    while type(held) in kinds:
        held = getattr(held, kinds[type(held)])
    while hasattr(held, "__wrapped__"):
        held = held.__wrapped__
    return held


if __name__ == "__main__":
    sys.exit(main())
