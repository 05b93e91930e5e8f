"""Hours of use in minutes: contexts made and dropped, calls from many threads, redefinitions.

    python -m tests.soak.soak --json build/proof/soak.json
    python -m tests.soak.soak --scale 0.01

Each part runs in a process of its own, and looks at the memory ten times on its way. The exit
code is 1 where a result is wrong, or where blocks of memory, objects of ours or the memory of the
process go on growing.
"""

import argparse
import asyncio
import contextlib
import ctypes
import gc
import json
import math
import subprocess
import sys
import threading
import time
import types
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOOKS = 10
CALLS = 3  # of a task
ROOM = {"blocks": 2000, "objects": 20, "megabytes": 4}
"""What may come on top from the second look to the last, whatever the number of rounds."""


def main():
    asked = parsed()
    if asked.part:
        print(json.dumps(PARTS[asked.part](asked.scale)))
        return 0
    found, begin = {}, time.monotonic()
    for name in PARTS:
        command = [sys.executable, "-m", "tests.soak.soak", "--part", name]
        command += ["--scale", str(asked.scale)]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        figures = found[name] = json.loads(done.stdout)
        figures["grows"] = growth(figures["memory"])
        said = ", ".join(f"{key} {value}" for key, value in figures.items() if key != "memory")
        print(f"{name} ({time.monotonic() - begin:.0f} s): {said}", flush=True)
    if asked.json:
        asked.json.parent.mkdir(parents=True, exist_ok=True)
        version = ".".join(map(str, sys.version_info[:3]))
        header = {"date": datetime.now(UTC).strftime("%Y-%m-%d"), "python": version}
        asked.json.write_text(json.dumps({**header, "parts": found}, indent=1) + "\n")
    return int(any(figures["wrong"] or figures["grows"] for figures in found.values()))


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="of how much is done")
    parser.add_argument("--json", type=Path, help="a file for the figures")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    return parser.parse_args()


# ---- memory -------------------------------------------------------------------------------


def look():
    """Memory after a full collection: blocks allocated by Python, objects of ours, and the resident
    memory of the process.
    """
    from tests.overlay.test_soak import counts

    objects = sum(counts().values())
    gc.collect()
    trimmed()
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    size = next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0)
    blocks = sys.getallocatedblocks()
    return {"blocks": blocks, "objects": objects, "megabytes": round(size, 1)}


def trimmed():
    """Return free memory to the system: the amount that malloc keeps depends on the order in which
    a thousand tasks release theirs.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def growth(looks):
    """The growth from the second measurement, after the warm-up, to the last one."""
    first, last = looks[1], looks[-1]
    return {key: last[key] - first[key] for key in ROOM if last[key] > first[key] + ROOM[key]}


def looked_at(rounds, each, quiet=contextlib.nullcontext()):
    """Repeat an action, and measure ten times in between; return faults and measurements.

    quiet: a lock during which nothing else runs. (Counting objects would include objects under
    construction.)
    """
    wrong, looks = [], []
    for part in range(LOOKS):
        for i in range(rounds * part // LOOKS, rounds * (part + 1) // LOOKS):
            wrong += each(i)
        with quiet:
            looks.append(look())
    return {"wrong": wrong[:5], "memory": looks}


# ---- the parts ----------------------------------------------------------------------------


def contexts(scale):
    """Contexts made, used once and dropped; each hundredth with call sites of many kinds."""
    from tests.overlay.test_soak import number, own_context, use_everything

    def each(i):
        found = own_context(i)(number)
        if i % 100 == 0:
            found = own_context(i)(use_everything, [1, 2])[2]
        return [] if found == i else [(i, found)]

    rounds = int(100_000 * scale)
    return {"contexts": rounds, **looked_at(rounds, each)}


def threads(scale):
    """Calls from 64 threads, each in its own context, which each round makes anew."""
    from tests.overlay.test_soak import number, own_context

    def program(times):
        return sum(number() for _ in range(times))

    times, wrong = math.ceil(1_000_000 * scale / 64 / LOOKS), []

    def work(i):
        found = own_context(i)(program, times)
        if found != i * times:
            wrong.append((i, found))

    def each(_):
        started = [threading.Thread(target=work, args=(i,)) for i in range(64)]
        for thread in started:
            thread.start()
        for thread in started:
            thread.join()
        return wrong

    return {"threads": 64, "calls": 64 * times * LOOKS, **looked_at(LOOKS, each)}


def tasks(scale):
    """A thousand tasks of asyncio at once, each in its own context, which each round makes anew."""
    from tests.overlay.test_soak import TASKS, number, own_context

    async def program():
        seen = []
        for _ in range(CALLS):
            seen.append(number())
            await asyncio.sleep(0)
        return seen

    count = math.ceil(TASKS * scale)

    async def together():
        return await asyncio.gather(*(own_context(i)(program) for i in range(count)))

    def each(_):
        found = enumerate(asyncio.run(together()))
        return [(i, seen) for i, seen in found if seen != [i] * CALLS]

    return {"tasks": count, "calls": count * CALLS * LOOKS, **looked_at(LOOKS, each)}


CELL = "def helper(): return {0}\ndef program(): return helper(), number()"
EACH = 0.001
SWITCH = 0.0001
"""Seconds that the calling thread runs on while the other waits for its turn."""


def redefinitions(scale):
    """The functions of a module and the method of a table are redefined each millisecond, while a
    thread calls them: no call sees a version from before its start or after its end.
    """
    from overlay import Context, MethodTable
    from tests.overlay.test_soak import number

    module, table = types.ModuleType("a_changing_cell"), MethodTable("changing")
    sys.modules[module.__name__] = module
    module.__dict__["number"] = number
    ctx, stop, wrong = Context(table), threading.Event(), []
    started, finished, calls, quiet = [0], [0], [0], threading.Lock()
    taken, late = [0.0], [0.0]

    def define(i):
        exec(CELL.format(i), module.__dict__)
        table.overlay(number)(eval(f"lambda: {i}"))

    def call():
        while not stop.is_set():
            with quiet:
                low, found = finished[0], ctx(lambda: module.program())
            if not all(low <= version <= started[0] for version in found):
                wrong.append((low, found, started[0]))
            calls[0] += 1

    def each(i):
        begin = time.perf_counter()
        started[0] = i
        define(i)
        finished[0] = i
        time.sleep(max(0.0, EACH - late[0] - (time.perf_counter() - begin)))
        spent = time.perf_counter() - begin
        taken[0] += spent
        late[0] = max(0.0, late[0] + spent - EACH)
        return []

    define(0)
    ctx(lambda: module.program())
    sys.setswitchinterval(SWITCH)
    thread = threading.Thread(target=call)
    thread.start()
    try:
        rounds = int(10_000 * scale)
        found = looked_at(rounds, each, quiet)
    finally:
        stop.set()
        thread.join()
    if not calls[0]:
        wrong.append("no calls")
    done = {"redefinitions": rounds, "calls": calls[0], "seconds": round(taken[0], 3)}
    return {**done, **found, "wrong": wrong[:5]}


PARTS = {
    "contexts": contexts,
    "threads": threads,
    "tasks": tasks,
    "redefinitions": redefinitions,
}


if __name__ == "__main__":
    sys.exit(main())
