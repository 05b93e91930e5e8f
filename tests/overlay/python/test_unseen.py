"""What stands between a program and the functions it calls is not to be seen."""

import bdb
import cProfile
import functools
import gc
import math
import pstats
import sys
import traceback
import warnings

import pytest

from overlay import Context, MethodTable
from overlay.core.location import is_ours

# what resolves a first call of a target is seen, whichever context has it
pytestmark = pytest.mark.usefixtures("no_target_of_a_living_context")

overlays = MethodTable("unseen")


@overlays.overlay(math.sin)
def sin(x: float) -> list[str]:
    return names()


def names() -> list[str]:
    """The functions whose frames are below this one, up to ``program``."""
    frame, found = sys._getframe(1), []
    while frame is not None and frame.f_code.co_name != "program":
        found.append(frame.f_code.co_name)
        frame = frame.f_back
    return found


class Made:
    def __init__(self, value):
        self.names = names()


class New:
    def __new__(cls, value):
        made = super().__new__(cls)
        made.names = names()
        return made


class Callable:
    def __call__(self, value):
        return names()


def plain(value):
    return names()


class Special:
    def __add__(self, other):
        return names()

    __getitem__ = __call__ = __radd__ = __lt__ = __add__

    @property
    def attribute(self):
        return names()

    def __getattr__(self, name):
        return names()

    def __enter__(self):
        return names()

    def __exit__(self, *error):
        return None

    def __iter__(self):
        return iter([names()])

    def __format__(self, how):
        return " ".join(names())

    def __len__(self):
        return len(names())

    def entered(self):
        with self as found:
            return found

    def iterated(self):
        last = []
        for found in self:
            last = found
        return last


WAYS = {
    "function": lambda: plain(1),
    "constructor": lambda: Made(1).names,
    "constructor by keyword": lambda: Made(value=1).names,
    "__new__": lambda: New(1).names,
    "callable object": lambda: Callable()(1),
    "bound __call__": lambda: Callable().__call__(1),
    "slot of a C type": lambda: functools.partial(plain, 1).__call__(),
    "C function": lambda: next(map(plain, [1])),
    "key": lambda: sorted([1], key=lambda x: seen.append(names()) or x) and seen.pop(),
    "exec": lambda: exec("seen.append(plain(1))", globals()) or seen.pop(),
    "eval": lambda: eval("plain(1)"),
    "cached": lambda: functools.lru_cache(plain)(1),
    "operator": lambda: Special() + 1,
    "reflected": lambda: 1 + Special(),
    "comparison": lambda: Special() < 1,
    "item": lambda: Special()[1],
    "property": lambda: Special().attribute,
    "__getattr__": lambda: Special().other,
    "with": lambda: Special().entered(),
    "for": lambda: Special().iterated(),
    "format": lambda: f"{Special()}",
    "builtin": lambda: format(Special()),
    "len": lambda: len(Special()),
    "truth": lambda: 1 if Special() else 0,
    "comprehension": lambda: [(x, 1) for x in Special()],
    "list": lambda: list(Special()),
}
seen: list[list[str]] = []


def program(way):
    return way()


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_frame_below_has_the_callers_above_that_it_has_natively(way):
    assert Context(overlays)(program, way) == program(way)


def test_a_method_is_called_by_the_code_that_calls_its_target():
    found = Context(overlays)(program, lambda: math.sin(1.0))
    assert found == ["sin", "<lambda>"]


def test_counting_adds_no_frame():
    context = Context(overlays, count_calls=True)
    assert context(program, lambda: math.sin(1.0)) == ["sin", "<lambda>"]
    assert [hit.calls for hit in context.report().hits] == [1]


def fails(way):
    def inner(value):
        raise ValueError(value)

    return way(inner)


@pytest.mark.parametrize(
    "way",
    [
        lambda f: f(1),
        lambda f: list(map(f, [1])),
        lambda f: sorted([1], key=f),
        lambda f: exec("f(1)", {"f": f}),
        lambda f: type("C", (), {"__init__": lambda self: f(1)})(),
        lambda f: math.sin(1, 2, 3),
    ],
)
def test_tracebacks_have_the_users_frames_alone(way):
    def lines(call):
        with pytest.raises((ValueError, TypeError)) as info:
            call()
        found = traceback.extract_tb(info.value.__traceback__)
        return [(f.name, f.line) for f in found if f.name in ("fails", "inner", "<lambda>")]

    errors = lines(lambda: fails(way)), lines(lambda: Context(overlays)(fails, way))
    assert errors[0] == errors[1]
    with pytest.raises((ValueError, TypeError)) as info:
        Context(overlays)(fails, way)
    ours = [f for f in traceback.extract_tb(info.value.__traceback__) if is_ours(f.filename)]
    assert len(ours) == 1  # Context.__call__


def test_a_warning_is_about_the_caller():
    def warned():
        sorted([1], key=lambda x: warnings.warn("here", stacklevel=2))

    def where(call):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        return [(w.filename, w.lineno) for w in caught]

    assert where(lambda: Context(overlays)(warned)) == where(warned) != []


def work():
    total = Made(1).names and New(1).names
    total = [plain(x) for x in range(2)]
    total += sorted([2, 1], key=lambda x: -x)
    exec("plain(1)", globals())
    return [f"{Callable()(x)}" for x in total]


def traced(call):
    events = []

    def trace(frame, event, arg):
        if frame.f_code is not untraced:
            events.append((frame.f_code.co_name, event, frame.f_lineno))
        return trace

    def program():
        before = sys.gettrace()  # of what measures coverage, or a debugger
        sys.settrace(trace)
        try:
            call()
        finally:
            sys.settrace(before)

    untraced = program.__code__
    return program, events


def test_a_trace_function_is_told_what_it_is_told_natively():
    program, native = traced(work)
    gc.disable()  # a trace function is told of what is called at collections too
    try:
        program()
        program, found = traced(work)
        Context(overlays)(program)  # every call is a first one
    finally:
        gc.enable()
    assert found == native
    assert len(native) > 50


def test_a_debugger_steps_where_it_steps_natively():
    class Stepping(bdb.Bdb):
        def __init__(self):
            super().__init__()
            self.lines = []

        def user_line(self, frame):
            self.lines.append((frame.f_code.co_filename, frame.f_code.co_name, frame.f_lineno))
            self.set_step()

    def program():
        return work()

    def steps(call):
        debugger = Stepping()
        debugger.runcall(call)
        return [line for line in debugger.lines if line[0] != bdb.__file__]

    native, context = steps(program), Context(overlays)
    context(str)  # its engine is there, and knows none of the program
    found = steps(context.wrap(program))
    assert [line for line in found if line[0] in (__file__, "<string>")] == native
    assert {line[1] for line in found if is_ours(line[0])} == {"__call__"}


def is_of_overlay(function):
    """Whether an entry of a profile is of our code, in Python or C."""
    file, _, name = function
    return is_ours(file) or "overlay._native" in name


@pytest.mark.parametrize("warm", [False, True])
def test_a_profiler_counts_calls_and_callers_as_natively(warm):
    def calls(call):
        profiler = cProfile.Profile()
        profiler.runcall(call)
        stats = pstats.Stats(profiler).stats
        return {
            name: (found[1], {caller[2] for caller in found[4] if not is_of_overlay(caller)})
            for (file, _, name), found in stats.items()
            if file == __file__
        }

    def outer():
        return work()

    context = Context(overlays)
    if warm:
        context(outer)
    found, native = calls(context.wrap(outer)), calls(outer)
    assert {name: count for name, (count, _) in found.items()} == {
        name: count for name, (count, _) in native.items()
    }
    for name in native:
        assert found[name][1] <= native[name][1]
    context(outer)  # and after it, as before
    assert context(program, WAYS["constructor"]) == program(WAYS["constructor"])


def test_deep_recursion_below_hidden_frames_ends_in_an_error():
    def deep(n):
        return sorted([1], key=lambda _: deep(n + 1))

    with pytest.raises(RecursionError):
        Context(overlays)(deep, 0)


def needs(call):
    """The lowest recursion limit, from here, at which the call ends well."""
    depth, limit = len(traceback.extract_stack()), sys.getrecursionlimit()
    low, high = depth + 3, depth + 400
    try:
        while low < high:
            middle = (low + high) // 2
            sys.setrecursionlimit(middle)
            try:
                call()
            except RecursionError:
                low = middle + 1
            else:
                high = middle
    finally:
        sys.setrecursionlimit(limit)
    return low - depth


def test_at_the_recursion_limit_first_calls_need_as_many_frames_as_natively():
    def deep(n):
        return deep(n - 1) if n else [plain_of[k % 3](k) for k in range(3)]

    plain_of = [lambda k: New, lambda k: Made.__init__, lambda k: (k, len([k]), f"{k}")]
    native = needs(lambda: deep(100))

    def entered():
        context = Context(overlays)
        sys.setrecursionlimit(sys.getrecursionlimit() + 200)
        context(str)  # its engine is made with room
        sys.setrecursionlimit(sys.getrecursionlimit() - 200)
        context(deep, 100)

    assert native <= needs(entered) <= native + 12
