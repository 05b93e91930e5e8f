"""Random Python programs behave in a context as natively, and their calls are seen."""

import sys
import warnings
from collections import Counter

from overlay import Context
from tests.fuzz.drawing import BATCH, example
from tests.overlay.python import program_runs as runs
from tests.overlay.python.program_runs import NEVER, UNSEEN
from tests.overlay.python.random_programs import programs


def never_reached(text):
    runs.same_under(lambda: Context(NEVER), text, ((False, False), (False, True), (True, False)))


# What is tried, and which of the holes of programs it does without (see random_programs).
PROPERTIES = {
    "never reached": (never_reached, ""),
    "every call seen": (runs.counted_as_natively, UNSEEN),
    "operators": (runs.same_with_operators, ""),
}


def draw(seed):
    """A program, and the property to test."""
    name = _property(seed // BATCH)
    return {"property": name, "program": example(_strategy, seed)}


def _property(batch):
    return list(PROPERTIES)[batch % len(PROPERTIES)]


def _strategy(batch):
    return programs(without=PROPERTIES[_property(batch)][1])


def check(case):
    """Raises AssertionError if the program behaves differently in a context."""
    hook, sys.unraisablehook = sys.unraisablehook, lambda _: None  # of abandoned generators
    try:
        with runs.deep_stack(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runs.compiled(case["program"])
            called = PROPERTIES[case["property"]][0](case["program"])
    except SyntaxError:  # some combinations of expressions are not Python
        return Counter({"not Python": 1})
    finally:
        sys.unraisablehook = hook
    return Counter({case["property"]: 1, "calls seen": called or 0})
