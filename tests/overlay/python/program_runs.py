"""Random programs run natively and in contexts: what both do, and which calls are seen."""

import collections
import contextlib
import linecache
import operator
import sys
import traceback
import types
import warnings

from overlay import Context, MethodTable, Plugin, call_next, nonoverlay

NAME = "a_random_program"
FILE = f"{NAME}.py"
# Holes of programs whose calls need not be seen (see random_programs).
UNSEEN = "!"


def never(x):
    raise AssertionError


NEVER = MethodTable("never reached")
NEVER.overlay(never)(lambda x: None)


class Around(Plugin):
    """Stands around each call, and goes on with it."""

    def __init__(self):
        self.calls = 0

    def around(self, callee, run):
        def goes_on(*args, **kwargs):
            self.calls += 1
            return run(*args, **kwargs)

        return goes_on


class Enters(Plugin):
    """Is asked at each call, and goes on as it is."""

    def __init__(self):
        self.calls = 0

    def enter(self, callee, types):
        self.calls += 1
        return self


@contextlib.contextmanager
def deep_stack():
    """Frames of methods and dispatchers come on top of those of the program."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(5000)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def compiled(text):
    """Its code. Raises SyntaxError: some combinations of expressions are not Python."""
    linecache.cache[FILE] = len(text), None, text.splitlines(keepends=True), FILE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        return compile(text, FILE, "exec")


@contextlib.contextmanager
def as_module(importable):
    """A module to run a program in, which ``sys.modules`` has or has not."""
    module = types.ModuleType(NAME)
    if importable:
        sys.modules[NAME] = module
    try:
        yield module.__dict__
    finally:
        sys.modules.pop(NAME, None)


def raised(error):
    """All that a user sees of an exception: in the program, each frame's name and position."""
    if error is None:
        return None
    frames = [
        (f.name, f.lineno, f.end_lineno, f.colno, f.end_colno)
        for f in traceback.extract_tb(error.__traceback__)
        if f.filename == FILE
    ]
    inner = tuple(map(raised, getattr(error, "exceptions", ())))
    chain = raised(error.__cause__), raised(error.__context__)
    return type(error).__name__, str(error), frames, inner, *chain


def outcome(call, *args):
    try:
        return "returned", repr(call(*args))
    except BaseException as error:
        if type(error) is KeyboardInterrupt:
            raise
        return "raised", raised(error)


def run(code, enter, whole=False, importable=False, change=None):
    """The log of a program whose ``main`` is called twice, what came of it, and its names.

    enter(f, *args): calls. whole: the definitions are run through ``enter`` too.
    change: of the program's names, before ``main`` is called.
    """
    with as_module(importable) as names:
        outcomes = [outcome(enter if whole else directly, exec, code, names)]
        if change is not None:
            change(names)
        names["ENTERED"].clear()
        for x in (3, 4) if "main" in names else ():  # where the definitions have not failed
            names["FUEL"][0] = 150
            outcomes.append(outcome(enter, names["main"], x))
        return repr(names["LOG"]), outcomes, names


def directly(f, *args):
    return f(*args)


def same_under(make, text, runs):
    """A program does in contexts what it does natively. make: a context; runs: see ``run``."""
    code = compiled(text)
    *expected, _ = run(code, directly)
    for whole, importable in runs:
        ctx = make()
        for _ in range(2):  # the second time, call sites have learnt
            *found, _ = run(code, ctx, whole, importable)
            assert found == expected


def counted_as_natively(text):
    """Methods of a table for each function of a program are called as often as the functions
    are entered natively. How often that was."""
    code = compiled(text)
    *expected, natively = run(code, directly)
    table, seen = MethodTable("counting"), collections.Counter()

    def count(name, function):
        @table.overlay(function)
        def method(*args, **kwargs):
            seen[name] += 1
            return call_next(*args, **kwargs)

    def change(names):
        for name, function in names["TARGETS"].items():
            count(name, function)

    ctx = Context(table)
    for _ in range(2):
        seen.clear()
        *found, names = run(code, ctx, change=change)
        assert found == expected
        entered = collections.Counter(natively["ENTERED"])
        assert seen == {name: entered[name] for name in names["TARGETS"] if entered[name]}
    return seen.total()


OPERATORS = MethodTable("operators")
operated = collections.Counter()


def _overlay_operator(function):
    @OPERATORS.overlay(function)
    def method(*args):
        nonoverlay(operated.update)((function,))
        return call_next(*args)


for function in (
    *(operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod),
    *(operator.lt, operator.le, operator.gt, operator.eq, operator.getitem, operator.setitem),
    *(operator.contains, operator.neg, operator.not_, operator.is_, operator.iadd),
):
    _overlay_operator(function)


def same_with_operators(text):
    """Methods of operators that go on to the base change nothing. How many were called."""
    code = compiled(text)
    *expected, _ = run(code, directly)
    ctx, called = Context(OPERATORS), 0
    for whole in (False, False, True):
        operated.clear()
        *found, _ = run(code, ctx, whole)
        assert found == expected
        called += operated.total()
    return called
