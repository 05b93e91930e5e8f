"""Tables, helpers and metadata change while threads run: no call is stale, and none mixes two
states.

An edit of a place increases the version of the place: before it begins in ``started``, after its
end in ``finished``. A value that a call reads of a place is right if it belongs to a version that
was the last one, finished or begun, at some time during the call. During one call a place never
goes back to an older version; and compiled code, which sees changes when Python enters it, does not
change while it runs.
"""

import random
import threading
from collections import Counter
from typing import Any

from overlay import Context, MethodTable, current_context

SOURCE = """
constant = 0

def covered(x):
    return -1

def shadowed(x):
    return -1

def helper(x):
    return 0

def swapped(x):
    return 0

def with_default(x, y=0):
    return y

def below(x):
    return covered(x), shadowed(x), helper(x), swapped(x), with_default(x), constant

def program(x):
    return below(x), below(x), current_context().metadata
"""
PLACES = ("covered", "shadowed", "helper", "swapped", "with_default", "constant")
EDITS = (
    *("covered", "shadowed", "shadowed inside", "helper", "swapped", "with_default", "constant"),
    *("metadata", "no covered", "no shadowed", "no shadowed inside"),
)
CALLS_BETWEEN = 3
PATIENCE = 20


def draw(seed):
    """The engine, the number of threads, and the edits in order."""
    rng = random.Random(seed)
    engine = "compiled" if seed % 5 == 0 else "interpreted"
    count = rng.randint(2, 6) if engine == "compiled" else rng.randint(10, 80)
    edits = rng.choices(EDITS, k=count)
    return {"engine": engine, "threads": rng.randint(1, 6), "edits": edits}


def check(case):
    """Raises AssertionError if a call has read a stale value, or parts of two states."""
    world = World(case["engine"])
    stop, wrong = threading.Event(), []
    calls = [0] * case["threads"]

    def work(thread):
        while not stop.is_set() and not wrong:
            try:
                wrong.extend(world.call(thread))
            except BaseException as error:
                wrong.append(repr(error))
            calls[thread] += 1

    world.call(0)
    threads = [threading.Thread(target=work, args=(i,)) for i in range(case["threads"])]
    for thread in threads:
        thread.start()
    try:
        for edit in case["edits"]:
            _wait(calls, wrong)
            world.edit(edit)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    wrong += world.call(0)
    assert wrong == [], wrong[:3]
    return Counter({case["engine"]: 1, "calls": sum(calls), "edits": len(case["edits"])})


def _wait(calls, wrong):
    """Wait until more calls were made, with a time limit in case something hangs."""
    pause, begin = threading.Event(), sum(calls)
    for _ in range(PATIENCE * 1000):
        if sum(calls) >= begin + CALLS_BETWEEN or wrong:
            return
        pause.wait(0.001)
    raise AssertionError(f"{CALLS_BETWEEN} calls took more than {PATIENCE} s")


class World:
    """A module, two tables and a context, with the value of each place in each of its versions."""

    def __init__(self, engine):
        self.names = {"__name__": "an_edited_module", "current_context": current_context}
        exec(SOURCE, self.names)
        self.outer, self.inner = MethodTable("outer"), MethodTable("inner")
        self.functions = {name: self.names[name] for name in ("covered", "shadowed")}
        self.context = Context(self.outer, self.inner, metadata=0)
        self.engine = engine
        self.held = {place: [0] for place in PLACES} | {"covered": [-1], "shadowed": [-1]}
        self.started = dict.fromkeys(PLACES, 0)
        self.finished = dict.fromkeys(PLACES, 0)
        self.methods = {"shadowed": None, "shadowed inside": None}
        self.number = 0

    # ---- editing ----

    def edit(self, edit):
        """Make one edit, between the two marks of its place."""
        self.number += 1
        if edit == "metadata":
            self.context = self.context.replace(metadata=self.number)
            return
        place = edit.removeprefix("no ").removesuffix(" inside")
        value = None if edit.startswith("no ") else self.number
        self.held[place].append(self._result(edit.removeprefix("no "), place, value))
        self.started[place] += 1
        if place in self.functions:
            self._edit_table(self.inner if edit.endswith("inside") else self.outer, place, value)
        else:
            getattr(self, f"_edit_{place}")(self.number)
        self.finished[place] += 1

    def _result(self, edited, place, value):
        """The value of the place after the edit."""
        if place != "shadowed":
            return -1 if value is None else value
        self.methods[edited] = value
        inside, outside = self.methods["shadowed inside"], self.methods["shadowed"]
        return next((each for each in (inside, outside) if each is not None), -1)

    def _edit_table(self, table, place, value):
        function = self.functions[place]
        if value is not None:
            table.overlay(function)(eval(f"lambda x: {value}"))
        elif function in table:
            table.remove(function, Any)

    def _edit_helper(self, value):
        exec(f"def helper(x):\n    return {value}", self.names)

    def _edit_swapped(self, value):
        self.names["swapped"].__code__ = eval(f"lambda x: {value}").__code__

    def _edit_with_default(self, value):
        self.names["with_default"].__defaults__ = (value,)

    def _edit_constant(self, value):
        self.names["constant"] = value

    # ---- calling ----

    def call(self, thread):
        """The fault of one call."""
        context, low = self.context, dict(self.finished)
        found = self._run(context, thread)
        high = dict(self.started)
        *halves, metadata = found
        wrong = [] if metadata == context.metadata else [f"metadata {metadata}: {context.metadata}"]
        for i, place in enumerate(PLACES):
            first, second = (half[i] for half in halves)
            versions = range(low[place], high[place] + 1)
            held = self.held[place]
            before = [v for v in versions if held[v] == first]
            after = [v for v in versions if held[v] == second and before and v >= before[0]]
            whole = first == second or self.engine == "interpreted"
            if not (before and after and whole):
                allowed = [held[v] for v in versions]
                wrong.append(f"{place}: {first}, then {second}; it held {allowed}")
        return wrong

    def _run(self, context, thread):
        program = self.names["program"]
        if self.engine == "compiled":
            return context.jit(program)(thread)
        if thread % 2:
            return Context()(lambda: context(program, thread))
        return context.wrap(program)(thread)
