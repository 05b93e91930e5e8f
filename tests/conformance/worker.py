"""Runs one test module once, in a process of its own, and writes down what each test does.

    python worker.py MODULE RESULTS [--context MODULE:NAME] [--count TARGET ...]

Without ``--context`` the run is native. RESULTS gets one Python literal a line, written at once,
so that a crash leaves all that came before it. With ``--count`` the starts of library functions
are counted: natively by the profiler, in a context by overlays.
"""

import argparse
import importlib
import os
import random
import sys
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from test import support

from overlay import Context, MethodTable

sys.path.remove(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parent))  # what the tests import comes first

import counting

Failure = tuple[type[BaseException], BaseException, TracebackType | None]


def unreached() -> None:
    """The target of the only method in the table that no call reaches."""


class Outcomes(unittest.TestResult):
    """Writes each outcome as ``("test", id, outcome, detail)``.

    It runs in the context with the tests, so it keeps away from the library that they test.
    """

    def __init__(self, write: Callable[[tuple[Any, ...]], None]) -> None:
        super().__init__()
        self.write = write

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        self.write(("start", test.id()))

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        pass

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802
        self.write(("test", test.id(), "ok", ""))

    def addFailure(self, test: unittest.TestCase, err: Failure) -> None:  # noqa: N802
        self.write(("test", test.id(), "fail", described(err)))

    def addError(self, test: unittest.TestCase, err: Failure) -> None:  # noqa: N802
        self.write(("test", test.id(), f"error {err[0].__name__}", described(err)))

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: N802
        self.write(("test", test.id(), "skip", reason))

    def addExpectedFailure(self, test: unittest.TestCase, err: Failure) -> None:  # noqa: N802
        self.write(("test", test.id(), "expected failure", ""))

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:  # noqa: N802
        self.write(("test", test.id(), "unexpected success", ""))

    def addSubTest(  # noqa: N802
        self, test: unittest.TestCase, subtest: unittest.TestCase, err: Failure | None
    ) -> None:
        if err is None:
            self.write(("test", subtest.id(), "ok", ""))
        elif issubclass(err[0], test.failureException):
            self.addFailure(subtest, err)
        else:
            self.addError(subtest, err)


def described(err: Failure) -> str:
    """The exception's text and the innermost lines of its traceback."""
    try:
        text = str(err[1])[:400]
    except Exception:
        text = "(has no text)"
    places, trace = list[str](), err[2]
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename.rpartition("/")[2]
        places.append(f"{name}:{trace.tb_lineno}")
        trace = trace.tb_next
    return f"{err[0].__name__}: {text} [{' '.join(places[-4:])}]"


def writer(path: str) -> Callable[[tuple[Any, ...]], None]:
    """The function that writes one line to the results, except in a process that a test
    has forked.
    """
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.set_inheritable(file, False)
    home, write, getpid = os.getpid(), os.write, os.getpid

    def write_line(record: tuple[Any, ...]) -> None:
        if getpid() == home:
            write(file, repr(record).encode("utf-8", "backslashreplace") + b"\n")

    return write_line


def without(suite: unittest.TestSuite, parts: list[str]) -> unittest.TestSuite:
    """The tests without those that have one of these parts in their ids."""
    kept = unittest.TestSuite()
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            kept.addTest(without(test, parts))
        elif not any(part in test.id() for part in parts):
            kept.addTest(test)
    return kept


def context_class(name: str) -> Any:
    """The class of contexts with the name ``module:name``."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def load_engine() -> None:
    """Dispatch once in a context, so that both kinds of run have the same modules loaded."""
    table = MethodTable("warm")
    table.overlay(unreached)(lambda: None)
    Context(table)(unreached)


def run(options: argparse.Namespace, suite: unittest.TestSuite, result: Outcomes) -> Any:
    """Run the suite; return the counts, one for each target."""
    table, counts = MethodTable("conformance"), dict[str, int]()
    table.overlay(unreached)(lambda: None)
    load_engine()
    if options.count:
        counting.empty_caches()
    if options.context is None:
        random.seed(0)
        if options.count:
            return counting.natively(options.count, suite.run, result)
        suite.run(result)
        return counts
    for name in options.count:
        counting.overlay(table, name, counts)
    context = context_class(options.context)(table)
    random.seed(0)
    context(suite.run, result)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("module")
    parser.add_argument("results")
    parser.add_argument("--context")
    parser.add_argument("--count", nargs="*", default=[], metavar="TARGET")
    parser.add_argument("--without", nargs="*", default=[], metavar="PART")
    options = parser.parse_args()
    write = writer(options.results)
    support.use_resources = []
    sys.argv[:] = [options.module]
    random.seed(0)
    try:
        module = importlib.import_module(options.module)
        suite = without(unittest.defaultTestLoader.loadTestsFromModule(module), options.without)
    except unittest.SkipTest as reason:
        return write(("skipped", str(reason)))
    start = time.perf_counter()
    counts = run(options, suite, Outcomes(write))
    return write(("done", time.perf_counter() - start, counts))


if __name__ == "__main__":
    main()
