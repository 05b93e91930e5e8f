"""Tools that observe a program, beside a context whose targets are intercepted.

Each sees of the program what it sees natively. Besides that it sees the frames of the methods.
"""

import copy
import cProfile
import dis
import faulthandler
import functools
import gc
import inspect
import json
import math
import operator
import os
import pickle
import pydoc
import subprocess
import sys
import threading
import traceback
import tracemalloc
import warnings
import weakref
from collections import Counter

import numpy as np
import pytest

from overlay import Context, MethodTable, Plugin, call_next
from overlay.python import interception

pytestmark = [
    pytest.mark.skipif(interception.intercept is None, reason="the part in C is not built here"),
    pytest.mark.usefixtures("no_target_of_a_living_context"),
]

# ---- the program, and the ways in which it runs -------------------------------------------------


class Shape:
    def __init__(self, side):
        self.side = side

    @property
    def area(self):
        return self.side**2

    def scaled(self, by):
        return Shape(self.side * by)

    def __add__(self, other):
        return self.side + other.side


def target(x):
    if x < 0:
        raise ValueError(x)
    return x + 1


def steps(n):
    for i in range(n):
        yield target(i)


@functools.cache
def cached(x):
    return x * 2


def program():
    total = target(1) + math.hypot(3.0, 4.0)
    total += sum(map(target, [1, 2]))
    shape = Shape(2).scaled(3)
    total += shape.area + (shape + shape)
    total += sum(steps(3)) + cached(4)
    for i in range(3):
        try:
            total += target(-i)
        except ValueError:
            total += len("abc".upper())
    return total


OWN = (Shape.__init__, Shape.area.fget, Shape.scaled, Shape.__add__, target, steps, program)
OWN_CODES = {f.__code__ for f in OWN} | {cached.__wrapped__.__code__}
TARGETS = (*OWN[:-1], math.hypot, len, str.upper, cached)
REACHED = 21  # calls of targets in one run of the program
OPERATORS = (operator.add, operator.iadd, operator.lt, operator.pow, operator.is_, operator.neg)
APPLIED = 31  # of these operators in one run of the program


def place(code):
    """Where a code is written: a method runs as a copy for each target."""
    return code.co_filename, code.co_firstlineno


class Surrounds(Plugin):
    """Stands around each call, and goes on with it."""

    def around(self, callee, run):
        def goes_on(*args, **kwargs):
            return run(*args, **kwargs)

        return goes_on


class Reached:
    """A context whose methods count and go on with call_next."""

    def __init__(self, *targets, operators=(), plugins=()):
        self.calls, self.applications = [], []
        table = MethodTable("beside")

        def method(*args):
            self.calls.append(sys._getframe(1).f_code in OWN_CODES)
            return call_next(*args)

        self.method = place(method.__code__)
        for each in targets or TARGETS:
            table.overlay(each)(method)

        def applied(*args):
            self.applications.append(sys._getframe(1).f_code in OWN_CODES)
            return call_next(*args)

        for each in operators:
            table.overlay(each)(applied)
        self.context = Context(table, plugins=plugins)

    @property
    def count(self):
        """How many calls of targets the program's own code has made."""
        return self.calls.count(True)

    @property
    def applied(self):
        """How many operators that are targets it has applied."""
        return self.applications.count(True)

    def begin(self):
        self.calls.clear()
        self.applications.clear()


def in_run(context, run):
    return context(run)


def in_block(context, run):
    with context:
        return run()


def beside(context, run):
    """Outside, while the targets are intercepted."""
    context(int)
    return run()


WAYS = {"run": (in_run, True), "block": (in_block, True), "beside": (beside, False)}


HOW = ("", ", hot", ", operators", ", a plugin")


@pytest.fixture(params=[f"{way}{how}" for way in WAYS for how in HOW])
def ways(request):
    """How the program is run, and whether methods are reached by it; hot, its instructions have
    been specialised before, natively and in the context; operators are targets, too; or a plugin
    stands around each call."""
    way, _, how = request.param.partition(", ")
    hot = how != ""
    run_in, reaches = WAYS[way]
    operators = OPERATORS if how == "operators" else ()
    plugins = (Surrounds(),) if how == "a plugin" else ()
    made = Reached(operators=operators, plugins=plugins)
    cached.cache_clear()
    for _ in range(100 * bool(hot)):
        program()
    made.context(program)  # what is resolved once is resolved
    for _ in range(100 * bool(hot)):
        run_in(made.context, program)
    made.begin()
    cached.cache_clear()
    made.context(cached.cache_clear)

    def run(f):
        value = run_in(made.context, f)
        # the method of an operator calls the dunder method
        assert made.count == (REACHED - bool(operators) if reaches else 0)
        assert made.applied == (APPLIED if reaches and operators else 0)
        return value

    yield made, run
    del made.context
    gc.collect()
    gc.collect()  # what plugins put around calls takes another turn
    assert interception.intercept.interception_of(target) is None


# ---- sys.settrace, sys.setprofile ---------------------------------------------------------------


def traced(run, opcodes=False):
    """The events of the program's own frames, and how many each code had in all."""
    events, starts = [], Counter()

    def trace(frame, kind, argument):
        frame.f_trace_opcodes = opcodes
        starts[place(frame.f_code)] += kind == "call"
        if frame.f_code in OWN_CODES:
            at = frame.f_lasti if kind == "opcode" else frame.f_lineno
            events.append((kind, frame.f_code.co_name, at))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        value = run()
    finally:
        sys.settrace(before)
    return value, events, starts


def profiled(run):
    """The events of the program's own frames with the names of C functions, and of each kind how
    many there were in all."""
    events, kinds, starts = [], Counter(), Counter()

    def profile(frame, kind, argument):
        kinds[kind] += 1
        starts[place(frame.f_code)] += kind == "call"
        if frame.f_code in OWN_CODES:
            of = argument.__qualname__ if kind.startswith("c_") else frame.f_lineno
            events.append((kind, frame.f_code.co_name, of))

    sys.setprofile(profile)
    try:
        value = run()
    finally:
        sys.setprofile(None)
    kinds["c_call"] -= 1  # of sys.setprofile itself
    return value, events, starts, kinds


@pytest.mark.parametrize("opcodes", [False, True])
def test_settrace_sees_the_events_of_the_program(ways, opcodes):
    made, run = ways
    traced(program, opcodes)  # Python 3.12 tells of no instructions the first time
    cached.cache_clear()
    natively = traced(program, opcodes)
    cached.cache_clear()
    value, events, starts = traced(lambda: run(program), opcodes)
    assert (value, events) == natively[:2]
    assert starts[made.method] == len(made.calls)


def test_setprofile_sees_the_events_of_the_program_and_each_call_returns(ways):
    made, run = ways
    natively = profiled(program)
    cached.cache_clear()
    value, events, starts, kinds = profiled(lambda: run(program))
    assert (value, events) == natively[:2]
    assert starts[made.method] == len(made.calls)
    assert kinds["call"] == kinds["return"]
    assert kinds["c_call"] == kinds["c_return"] + kinds["c_exception"]


@pytest.mark.parametrize("name", ["settrace", "setprofile"])
def test_threads_are_observed_as_natively(ways, name):
    _, run = ways
    events = []

    def observe(frame, kind, argument):
        if frame.f_code in OWN_CODES:
            events.append((kind, frame.f_code.co_name, frame.f_lineno))
        return observe

    def in_a_thread():
        getattr(threading, name)(observe)
        try:
            thread = threading.Thread(target=program)
            thread.start()
            thread.join()
        finally:
            getattr(threading, name)(None)

    in_a_thread()
    natively = events.copy()
    events.clear()
    cached.cache_clear()
    run(in_a_thread)
    assert events == natively != []


@pytest.mark.parametrize("inside", [False, True])
def test_cprofile_counts_as_natively(ways, inside):
    made, run = ways

    def counts_of(run):
        profile, found = cProfile.Profile(), Counter()
        profile.runcall(run)
        for entry in profile.getstats():
            if isinstance(entry.code, str):  # of a C function
                found[entry.code] += entry.callcount
            elif entry.code in OWN_CODES:
                found[entry.code.co_qualname] += entry.callcount
            elif place(entry.code) == made.method:
                found["the method"] += entry.callcount
        return found

    natively = counts_of(program)
    cached.cache_clear()
    found = run(lambda: counts_of(program)) if inside else counts_of(lambda: run(program))
    assert found.pop("the method", 0) == len(made.calls)
    # a hook of others that is called when garbage is collected asks for the time
    others = "Profiler", "len", "perf_counter"
    wanted = [name for name in natively if not any(other in name for other in others)]
    assert {"target", "Shape.area", "<built-in method math.hypot>"} < set(wanted)
    assert {name: found[name] for name in wanted} == {name: natively[name] for name in wanted}


# ---- sys.monitoring -----------------------------------------------------------------------------

MONITORED = (
    *("PY_START", "PY_RETURN", "PY_YIELD", "PY_RESUME", "PY_UNWIND", "CALL", "C_RETURN", "LINE"),
    *("INSTRUCTION", "JUMP", "RAISE", "EXCEPTION_HANDLED", "STOP_ITERATION"),
    *(("BRANCH_LEFT", "BRANCH_RIGHT") if sys.version_info >= (3, 14) else ("BRANCH",)),
)


def monitored(run, kind):
    """The events of one kind, of the program's own code, and how often each code had one."""
    events, starts, monitoring = [], Counter(), sys.monitoring
    event = getattr(monitoring.events, kind)

    def heard(code, at, *rest):
        starts[place(code)] += 1
        if code in OWN_CODES:
            told = repr(rest[0]) if kind in ("CALL", "C_RETURN") else ""
            events.append((code.co_name, at, told.partition(" at 0x")[0]))

    [tool] = [tool for tool in (4, 3) if monitoring.get_tool(tool) is None][:1]
    monitoring.use_tool_id(tool, "a test")
    try:
        monitoring.register_callback(tool, event, heard)
        wanted = monitoring.events.CALL if kind == "C_RETURN" else event
        monitoring.set_events(tool, wanted)
        value = run()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.register_callback(tool, event, None)
        monitoring.free_tool_id(tool)
    return value, events, starts


@pytest.mark.parametrize("kind", MONITORED)
def test_monitoring_hears_the_events_of_the_program(ways, kind):
    made, run = ways
    natively = monitored(program, kind)
    cached.cache_clear()
    value, events, starts = monitored(lambda: run(program), kind)
    assert (value, events) == natively[:2]
    assert natively[1] or kind in ("STOP_ITERATION", "JUMP")
    if kind == "PY_START":
        assert starts[made.method] == len(made.calls)


# ---- coverage -----------------------------------------------------------------------------------

MEASURED = """\
import math

def target(x):
    if x > 1:
        return "large"
    return "small"

def numbers(n):
    for i in range(n):
        if i == 2:
            return
        yield target(i)

class Point:
    def __init__(self, x):
        self.x = x if x else None

    @property
    def doubled(self):
        if self.x is None:
            return 0
        return 2 * self.x

def never():
    return 1

def program():
    found = [target(0), *map(target, [1]), *numbers(5)]
    found += [Point(2).doubled, math.sin(0.0)]
    while len(found) < 9:
        try:
            found.append(int("x"))
        except ValueError:
            found.append(None)
    return len(found)
"""

RUNS = """\
import math, sys
import measured
from overlay import Context, MethodTable, Plugin, call_next

reached = 0
def method(*args):
    global reached
    reached += sys._getframe(1).f_globals is vars(measured)
    return call_next(*args)

table = MethodTable("t")
for each in (measured.target, measured.numbers, measured.Point.__init__,
             measured.Point.doubled.fget, math.sin, int, len):
    table.overlay(each)(method)
context = Context(table)
inside = sys.argv[1] == "inside"
assert (context(measured.program) if inside else measured.program()) == 9
assert reached == 16 * inside, reached
"""


def in_child(folder, *command, given="", **environment):
    """What a child process says. It measures nothing of its own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    found = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env=kept | {"PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"} | environment,
        input=given,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return found.returncode, found.stdout, found.stderr


# sys.monitoring tells of both ends of branches from 3.14 on
CORES = [("ctrace", True), ("pytrace", True), ("sysmon", sys.version_info >= (3, 14))]


@pytest.mark.parametrize(("core", "branches"), CORES)
def test_coverage_measures_as_natively(tmp_path, core, branches):
    (tmp_path / "measured.py").write_text(MEASURED)
    (tmp_path / "runs.py").write_text(RUNS)

    def measured(how):
        options = ("--include=measured.py", *["--branch"] * branches)
        code, _, told = in_child(
            tmp_path, "-m", "coverage", "run", *options, "runs.py", how, COVERAGE_CORE=core
        )
        assert (code, told) == (0, "")
        assert in_child(tmp_path, "-m", "coverage", "json", "-q", "-o", "found.json")[0] == 0
        [found] = json.loads((tmp_path / "found.json").read_text())["files"].values()
        assert found["missing_lines"] == [5, 21, 25]
        return {name: found[name] for name in found if name.startswith(("executed", "missing"))}

    assert measured("inside") == measured("natively")


# ---- pdb ----------------------------------------------------------------------------------------

DEBUGGED = """\
import contextlib
from overlay import Context, MethodTable, Plugin, call_next

def target(x):
    y = 60 / x
    return y

def program(first):
    local = first
    for turn in range(2):
        got = CALLED(local + turn)
    return got

def method(x):
    inner = x * 2
    return NEXT(inner)

table = MethodTable("t")
table.overlay(target)(method)
with BLOCK:
    if WARM:
        program(1)
    breakpoint()
    program(2)
    program(0)
"""
NATIVELY = {"CALLED": "method", "NEXT": "target", "BLOCK": "contextlib.nullcontext()"}
INSIDE = {"CALLED": "target", "NEXT": "call_next", "BLOCK": "Context(table)"}
SHOW = 'p f"{x=} {y=}"', "up", 'p f"{x=} {inner=}"', "up", 'p f"{local=} {turn=}"', "w"
SESSIONS = {
    "a stop in a target's own code": ("b 6", "c", *SHOW, "c", *SHOW[:3], "down", "args", "c"),
    "a stop at a call": ("b target", "c", "n", "n", *SHOW, "u", "return", "n"),
    "a condition": ("b 6, x > 4", "c", *SHOW, "clear 1", "b 11", "c"),
    "steps": ("b 11", "c", *["s", "where"] * 12),
    "lines": ("b 11", "c", *["n"] * 3, "display local", "until", "n"),
    "the return of a method": ("b 15", "c", "r", "p __return__", "s", "n"),
    "a jump": ("b 6", "c", "j 5", "p x", "!x = 5", "s", "s", "p y", "r", "retval"),
    "an error": ("b 11", "c", "clear 1", "c", *SHOW[1:], "p __exception__"),
}


@pytest.mark.parametrize("warm", [True, False], ids=["warm", "first"])
@pytest.mark.parametrize("session", SESSIONS)
def test_pdb_shows_what_a_call_of_the_method_by_hand_shows(tmp_path, session, warm, request):
    if session == "steps" and not warm:
        reason = "a step into a call that is not resolved yet stops in what resolves it"
        request.applymarker(pytest.mark.xfail(reason=reason))

    def told(written):
        text = DEBUGGED
        for name, instead in {**written, "WARM": str(warm)}.items():
            text = text.replace(name, instead)
        (tmp_path / "debugged.py").write_text(text)
        given = "\n".join((*SESSIONS[session], *["q"] * 3, ""))
        _, output, _ = in_child(tmp_path, "-m", "pdb", "-c", "c", "debugged.py", given=given)
        assert "debugged.py(11)program()" in output or "(6)target()" in output
        return [line for line in output.splitlines() if not line.startswith("-> ")]

    assert told(INSIDE) == told(NATIVELY)


# ---- a debugger that starts threads itself -------------------------------------------------------

STARTS_THREADS = """\
import _thread, math, threading

class Starts:
    def __init__(self, begin):
        self.begin, self.started = begin, []

    def start(self, function, *rest, **named):
        self.started.append(function)
        return self.begin(function, *rest, **named)

instead = {}
for module in (_thread, threading):
    for name in ("start_new_thread", "start_joinable_thread"):
        name = name if module is _thread else "_" + name
        if hasattr(module, name):
            instead[module, name] = Starts(getattr(module, name))
            setattr(module, name, instead[module, name].start)

from overlay import Context, MethodTable, Plugin, call_next

table, seen = MethodTable("t"), []

@table.overlay(math.sin)
def sine(x):
    return call_next(x) + 100

def program(*_):
    seen.append(math.sin(0.0))

def in_threads():
    lock = _thread.allocate_lock()
    lock.acquire()
    _thread.start_new_thread(lambda: (program(), lock.release()), ())
    assert lock.acquire(timeout=60)
    thread = threading.Thread(target=program)
    thread.start()
    thread.join()

in_threads()
Context(table)(in_threads)
assert seen == [0.0, 0.0, 100.0, 100.0], seen
assert sum(len(each.started) for each in instead.values()) >= 4
"""


def test_threads_inherit_the_context_where_a_debugger_has_replaced_what_starts_them(tmp_path):
    (tmp_path / "starts.py").write_text(STARTS_THREADS)
    assert in_child(tmp_path, "starts.py") == (0, "", "")


# ---- warnings, frames, tracebacks ---------------------------------------------------------------


def warner(x):
    warnings.warn("old", DeprecationWarning, stacklevel=2)


class Warned:
    def __init__(self, x):
        warnings.warn("old", DeprecationWarning, stacklevel=2)


def who_calls(x):
    return [(frame.function, frame.lineno) for frame in inspect.stack(0)[1:3]]


def who_calls_by_frames(x):
    frames = sys._getframe(1), sys._getframe(2)
    return [(frame.f_code.co_name, frame.f_lineno) for frame in frames]


def raiser(x):
    raise LookupError(x)


def caller(callee, x):
    return callee(x)


def caller_in_c(callee, x):
    return next(map(callee, [x]))


def seen_from(callee, calls, x):
    """Of a warning the place that it names; of an error the places and positions of its frames;
    else the frames that the target sees."""
    with warnings.catch_warnings(record=True, action="always") as caught:
        try:
            found = calls(callee, x)
        except LookupError as error:
            return [tuple(frame) for frame in traceback.extract_tb(error.__traceback__)[1:]]
    return [(each.filename, each.lineno) for each in caught] or found


CALLEES = warner, Warned, Warned.__init__, who_calls, who_calls_by_frames, raiser


@pytest.mark.parametrize("calls", [caller, caller_in_c])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("callee", CALLEES, ids=lambda callee: callee.__qualname__)
def test_a_target_sees_its_callers(callee, way, calls):
    run_in, reaches = WAYS[way]
    table, reached = MethodTable("t"), []
    called = Warned if callee is Warned.__init__ else callee

    def method(x: float):
        reached.append(x)
        return call_next(x)

    def of_init(self, x: float):
        reached.append(x)
        return call_next(self, x)

    of_target = of_init if callee is Warned.__init__ else method
    line = of_target.__code__.co_firstlineno + 2
    table.overlay(callee)(of_target)
    context = Context(table)
    natively = seen_from(called, calls, 1)
    # a method that is not for these types leaves no trace
    assert run_in(context, lambda: seen_from(called, calls, 1)) == natively
    assert reached == []
    natively = seen_from(called, calls, 1.0)
    inside = run_in(context, lambda: seen_from(called, calls, 1.0))
    assert reached == [1.0] * reaches
    if not reaches:
        assert inside == natively
    elif called in (warner, Warned):  # the method is what calls
        assert inside == [(__file__, line)]
    elif callee is raiser:
        own = [frame for frame in inside if frame[2] == "method"]
        assert [frame[1] for frame in own] == [line]
        assert [frame for frame in inside if frame not in own] == natively
    else:
        assert inside == [("method", line), natively[0]]


# ---- what memory and faults are traced with ------------------------------------------------------


def test_faulthandler_names_the_frames(tmp_path):
    def dumper(x):
        with (tmp_path / "dump").open("w") as file:
            faulthandler.dump_traceback(file, all_threads=False)

    def dumped(run):
        run()
        lines = (tmp_path / "dump").read_text().splitlines()[1:]
        return [line.split(" in ")[1] for line in lines][: lines.index(lines[-1])]

    made = Reached(dumper)
    natively = dumped(lambda: caller(dumper, 1))
    inside = dumped(lambda: in_block(made.context, lambda: caller(dumper, 1)))
    assert inside[0] == natively[0]
    assert inside[1].endswith("method")
    assert inside[2] == natively[1]


def test_tracemalloc_begun_inside_counts_what_lines_of_the_program_allocate():
    def allocator(x):
        return [object() for _ in range(1000 + x)]

    def allocated():
        tracemalloc.start()
        try:
            kept = [allocator(1), *map(allocator, [2])]
            snapshot = tracemalloc.take_snapshot()
        finally:
            tracemalloc.stop()
        line = allocator.__code__.co_firstlineno + 1
        found = snapshot.filter_traces([tracemalloc.Filter(True, __file__, line)])
        # lists are made of what others have left, which is traced only if it was made since
        return len(kept), [t.size for t in found.traces].count(sys.getsizeof(object()))

    made, natively = Reached(allocator), allocated()
    OWN_CODES.add(allocated.__code__)
    try:
        assert in_run(made.context, allocated) == natively
        assert in_block(made.context, allocated) == natively
    finally:
        OWN_CODES.remove(allocated.__code__)
    assert made.count == 4


def down(n):
    return 0 if n == 0 else 1 + down(n - 1)


@pytest.mark.parametrize("way", WAYS)
def test_setrecursionlimit_is_what_ends_a_recursion(way):
    run_in, reaches = WAYS[way]
    table, reached = MethodTable("t"), []

    @table.overlay(down)
    def method(n: int):
        reached.append(n)
        return call_next(n)

    context = Context(table)
    run_in(context, lambda: down(3))
    before = sys.getrecursionlimit()

    def deepest():
        used = len(inspect.stack(0))
        for limit in (used + 100, used + 400, used + 1500):
            sys.setrecursionlimit(limit)
            try:
                assert down((limit - used) // 3) == (limit - used) // 3
                with pytest.raises(RecursionError):
                    down(limit)
            finally:
                sys.setrecursionlimit(before)

    deepest()
    run_in(context, deepest)
    assert (len(reached) > 600) == reaches


# ---- targets themselves --------------------------------------------------------------------------


class Callable:
    """An object that is called by its class."""

    def __call__(self, x):
        return x

    def __eq__(self, other):
        return type(other) is Callable

    def __hash__(self):
        return 7


class Derived(Shape):
    """A class with bases, and a method that is bound."""

    @classmethod
    def made(cls, side):
        return cls(side)

    @staticmethod
    def static(x):
        return x


an_object = Callable()
KINDS = {
    "function": target,
    "generator function": steps,
    "C function": math.hypot,
    "len": len,
    "method of a C class": str.upper,
    "class method of a C class": vars(dict)["fromkeys"],
    "slot wrapper": int.__add__,
    "class": Derived,
    "C class": complex,
    "ufunc": np.hypot,
    "array function": np.sum,
    "lru_cache function": cached,
    "callable object": an_object,
    "getter": Shape.area.fget,
    "__init__": Shape.__init__,
    "dunder method": Shape.__add__,
    "below a bound class method": Derived.made.__func__,
    "static method": Derived.static,
}


def told(of):
    """What of() gives, as text that does not depend on when; an error, by its text."""
    try:
        found = of()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return found


QUESTIONS = {
    "repr": repr,
    "hash": hash,
    "equal to itself": lambda x: (x == x, x != x, x in [x], {x: 1}[x]),
    "pickled": pickle.dumps,
    "unpickled": lambda x: pickle.loads(pickle.dumps(x)) == x,
    "copied": lambda x: (copy.copy(x) == x, copy.deepcopy(x) == x),
    "weakly referenced": lambda x: weakref.ref(x)() is x,
    "hash of a weak reference": lambda x: hash(weakref.ref(x)),
    "signature": lambda x: str(inspect.signature(x)),
    "text signature": lambda x: x.__text_signature__,
    "source": inspect.getsource,
    "file": inspect.getsourcefile,
    "what it is": lambda x: [f(x) for f in IS],
    "type": type,
    "size": sys.getsizeof,
    "names": lambda x: [getattr(x, name, None) for name in NAMES],
    "dir": dir,
    "doc": pydoc.render_doc,
    "code": lambda x: (x.__code__, x.__code__.co_code, hash(x.__code__)),
    "defaults": lambda x: (x.__defaults__, x.__kwdefaults__, x.__closure__, x.__dict__),
    "instructions": lambda x: [tuple(each[:6]) for each in dis.Bytecode(x)],
    "disassembled": lambda x: dis.Bytecode(x).dis(),
    "owner": lambda x: (x.__self__, x.__objclass__),
    "bound": lambda x: x.__get__("abc")() if x is str.upper else x.__get__(Shape(1)).__func__ is x,
    "tracked": gc.is_tracked,
    "attributes of a class": lambda x: (sorted(vars(x)), x.__mro__, x.__flags__ & ~(1 << 19)),
    "subclasses": lambda x: type.__subclasses__(x),
    "partial": lambda x: repr(functools.partial(x, 1)),
    "wrapped": lambda x: (functools.wraps(x)(lambda: 1).__wrapped__ is x, inspect.unwrap(x)),
    "annotations": inspect.get_annotations,
    "cache": lambda x: x.cache_parameters(),
}
IS = (callable, *(f for name, f in vars(inspect).items() if name.startswith("is")))
NAMES = "__name__", "__qualname__", "__module__", "__doc__", "__wrapped__", "__type_params__"


@pytest.mark.parametrize("kind", KINDS)
def test_a_target_is_what_it_was(kind):
    one, table = KINDS[kind], MethodTable("t")
    table.overlay(one)(lambda *args: call_next(*args))

    def asked():
        return {name: told(lambda of=of: of(one)) for name, of in QUESTIONS.items()}

    asked()  # some attributes come by being asked for
    before = asked()
    context = Context(table)
    context(int)
    assert interception.intercept.interception_of(one) is not None
    assert asked() == before
    with context:
        assert asked() == before
    del context
    gc.collect()
    assert interception.intercept.interception_of(one) is None
    assert asked() == before
