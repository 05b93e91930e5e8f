"""Contexts and counts for tests of a package, used by ``scripts/package_tests.py``.

As a plugin of pytest it writes to the file COUNTS how often each function in COUNTED was started in
tests and fixtures: natively, from events of the interpreter, or through methods in a context.
"""

import json
import math
import os
import sys
import types
from pathlib import Path

import counting
from hypothesis.internal.conjecture import providers

from overlay import Context, MethodTable

NAMES = os.environ.get("COUNTED", "").split()
_TOOL = 4  # tool id of sys.monitoring
frame_above = sys._getframe  # a test may remove it

# ---- contexts ----------------------------------------------------------------------------------

_unreached = MethodTable("unreached")
_unreached.overlay(math.gamma)(lambda x: x)
unreached = Context(_unreached)

counts = {}
_counted = MethodTable("counted")
counted = Context(_counted)


class Natively(Context):
    """Runs functions natively, and knows whether one of them is running, in any thread."""

    def __init__(self):
        super().__init__(MethodTable("none"))
        self.running = 0

    def __call__(self, function, /, *args, **kwargs):
        result = self._step(function, *args, **kwargs)
        is_run_later = isinstance(result, types.GeneratorType | types.CoroutineType)
        return self._steps(result) if is_run_later else result

    def _step(self, function, *args, **kwargs):
        self.running += 1
        try:
            return function(*args, **kwargs)
        finally:
            self.running -= 1

    @types.coroutine
    def _steps(self, inner):
        step, given = inner.send, None
        while True:
            try:
                value = self._step(step, given)
            except StopIteration as end:
                return end.value
            try:
                step, given = inner.send, (yield value)
            except BaseException as error:
                step, given = inner.throw, error


natively = Natively()

# ---- counting ----------------------------------------------------------------------------------


def pytest_configure(config):
    """Start counting. hypothesis is made to draw the same values in each run: it would also draw
    constants of the modules that happen to be loaded."""
    providers._get_local_constants = lambda: providers._local_constants
    if config.getoption("--overlay") == "package_contexts:counted":
        for name in NAMES:
            counting.overlay(_counted, name, counts)
    if config.getoption("--overlay") == "package_contexts:natively":
        starts = counting.Starts(NAMES)
        counts.update(starts.counts)
        starts.counts = counts

        def started(code, at):
            if natively.running:
                starts.event(frame_above(1), "call", None)

        sys.monitoring.use_tool_id(_TOOL, "package_tests")
        start = sys.monitoring.events.PY_START
        sys.monitoring.register_callback(_TOOL, start, started)
        for name in NAMES:
            sys.monitoring.set_local_events(_TOOL, counting.found(name).__code__, start)


def pytest_sessionfinish(session):
    """Write the counts."""
    Path(os.environ["COUNTS"]).write_text(json.dumps(counts))
