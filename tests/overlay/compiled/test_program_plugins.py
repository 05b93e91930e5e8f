"""Plugins that users write, over programs of all kinds that numba compiles: a fast sine, and the
slicer of prints."""

import math

import pytest

from overlay import Context, MethodTable, Plugin, nonoverlay
from overlay.interpretations.printing import Slicer
from overlay.ir import read
from tests.overlay.chosen_programs import MIXED, NATIVE, NUMBERED, WAYS, up

# ---- a fast sine --------------------------------------------------------------------------------


def fast_sin(x):
    return x - x**3 / 6 + 0.0 * math.sin(x)


class FastSin(Plugin):
    """``fast_sin`` for ``math.sin``, but inside ``fast_sin``."""

    cache_token = "fast sine"

    def enter(self, callee, types):
        return None if callee is fast_sin else self

    def after_inference(self, ir):
        for call in ir.calls(math.sin):
            if call.types == (float,):
                ir.replace(call, fast_sin, *call.args)


true_sin = nonoverlay(math.sin)
BY_HAND = MethodTable("fast sine by hand")


@BY_HAND.overlay(math.sin)
def fast_sin_by_hand(x: float) -> float:
    return x - x**3 / 6 + 0.0 * true_sin(x)


def get_sin():
    return math.sin


def from_a_call(k, x):
    return get_sin()(x)


def from_a_closure():
    captured = math.sin

    def closure(k, x):
        return captured(x) + (lambda y: captured(y))(x)

    return closure


def given(f, x):
    return f(x)


def as_an_argument(k, x):
    return given(math.sin, x) + given(x=x, f=get_sin())


def direct(k, x):
    return math.sin(x) + math.sin(x + k)


def of_a_comprehension(k, x):
    return sum([math.sin(x + i) for i in range(3)])


MORE = [from_a_call, from_a_closure(), as_an_argument, direct, of_a_comprehension]


@pytest.mark.filterwarnings("ignore:.*First-class.*")
@pytest.mark.parametrize("program", [*WAYS, *MORE], ids=lambda way: way.__name__)
def test_a_fast_sine_is_called_wherever_the_program_calls_the_sine(program):
    hot, by_hand = Context(plugins=(FastSin(),)).jit(program), Context(BY_HAND)
    for k in (0, 1):
        assert hot(k, 0.7) == pytest.approx(by_hand(program, k, 0.7), rel=1e-15)
        assert Context().jit(program)(k, 0.7) == pytest.approx(program(k, 0.7), rel=1e-15)


def test_fast_sine_itself_calls_the_true_one():
    seen = []

    class Sees(FastSin):
        cache_token = None

        def enter(self, callee, types):
            seen.append(callee)
            return super().enter(callee, types)

    assert Context(plugins=(Sees(),)).jit(direct)(0, 0.7) == 2 * fast_sin(0.7)
    assert fast_sin in seen


# ---- the slicer ---------------------------------------------------------------------------------


def only_prints(x):
    return math.exp(x)


def counts(k, x):
    seen = 0
    total = 0.0
    for i in range(4):
        seen += 2
        total += x * i
        print("step", i, seen)
        if total > 1.0:
            print("much", math.exp(total))
    return total


def counts_by_hand(k, x):
    total = 0.0
    for i in range(4):
        total += x * i
    return total


def collects(k, x):
    lines = []
    kept = []
    for i in range(3):
        lines.append(i)
        lines.append(2 * i)
        kept.append(x + i)
    print(lines, len(lines), kept)
    return kept[k]


def collects_by_hand(k, x):
    kept = []
    for i in range(3):
        kept.append(x + i)
    return kept[k]


def in_dicts(k, x):
    found = {0: x, 1: 2.0 * x}
    shown = {0: 1.0}
    shown[1] = math.exp(x)
    found[2] = 3.0
    print(shown[1], found[k])
    return found[k] + found[2]


def in_dicts_by_hand(k, x):
    found = {0: x, 1: 2.0 * x}
    found[2] = 3.0
    return found[k] + found[2]


def in_closures(k, x):
    scale = 2.0 + k
    label = math.exp(x)

    def scaled(y):
        print("scaled", y, label)
        return y * scale

    return scaled(x)


def in_closures_by_hand(k, x):
    scale = 2.0 + k

    def scaled(y):
        return y * scale

    return scaled(x)


def of_chosen_functions(k, x):
    f = NATIVE[k]
    g = NUMBERED[k]
    print(f(x), math.exp(NATIVE[0](x)), (math.cos, math.exp)[k](x))
    return MIXED[k](x) + g(x)


def of_chosen_functions_by_hand(k, x):
    return MIXED[k](x) + NUMBERED[k](x)


def says(x):
    print("says", math.exp(x))
    return x + 1.0


def says_by_hand(x):
    return x + 1.0


def in_callees(k, x):
    return says(x) + (says, up)[k](x)


def in_callees_by_hand(k, x):
    return says_by_hand(x) + (says_by_hand, up)[k](x)


def in_branches(k, x):
    if k > 0:
        y = math.exp(x)
        print("above", y)
    else:
        print("below")
        x = -x
    if x > 100.0:
        print("large")
    return x


def in_branches_by_hand(k, x):
    if not k > 0:
        x = -x
    return x


def in_loops(k, x):
    n = 0
    while n < 3:
        print(n)
        n += 1
    for row in range(3):
        for column in range(row):
            print(row, column, math.exp(x))
    while x < 10.0:
        x = 2.0 * x
    return x


def in_loops_by_hand(k, x):
    while x < 10.0:
        x = 2.0 * x
    return x


def used_result(k, x):
    return x, print("x", x)


def used_result_by_hand(k, x):
    return x, None


def raising(k, x):
    print("may raise")
    if k > 0:
        print("raises", math.exp(x))
        raise ValueError("no")
    return x


def raising_by_hand(k, x):
    if k > 0:
        raise ValueError("no")
    return x


def handling(k, x):
    try:
        print("tries")
        if k > 0:
            raise ValueError("no")
    except Exception:
        print("handles")
        x = 0.0
    return x


def handling_by_hand(k, x):
    if k > 0:
        x = 0.0
    return x


def stores(k, xs):
    count = 0
    for i in range(len(xs)):
        xs[i] = xs[i] + k
        count += 2
        print(i, count)
    return xs


def stores_by_hand(k, xs):
    for i in range(len(xs)):
        xs[i] = xs[i] + k
    return xs


def changes_an_argument(k, xs):
    last = xs
    last[0] = 5.0
    last += 1.0
    print(last)
    return k


def changes_an_argument_by_hand(k, xs):
    xs[0] = 5.0
    xs += 1.0
    return k


SLICED = {
    counts: counts_by_hand,
    collects: collects_by_hand,
    in_dicts: in_dicts_by_hand,
    in_closures: in_closures_by_hand,
    of_chosen_functions: of_chosen_functions_by_hand,
    in_callees: in_callees_by_hand,
    in_branches: in_branches_by_hand,
    in_loops: in_loops_by_hand,
    used_result: used_result_by_hand,
    raising: raising_by_hand,
    handling: handling_by_hand,
}
ON_ARRAYS = {stores: stores_by_hand, changes_an_argument: changes_an_argument_by_hand}


class Left(Plugin):
    """Notes the calls that are left of each function, and its branches."""

    def __init__(self):
        self.targets = []
        self.branches = {}

    def after_inference(self, ir):
        self.targets += [call.target for call in ir.calls()]
        self.branches[ir.name] = len(ir.branches())


def sliced_and_left(program):
    """A program compiled by the slicer, and what is left of it."""
    left = Left()
    slicer = Slicer()
    return slicer.compiling.replace(plugins=(*slicer.compiling.plugins, left)).jit(program), left


def outcome(function, *args):
    try:
        return function(*args)
    except ValueError as error:
        return str(error)


@pytest.mark.filterwarnings("ignore:.*First-class.*")
@pytest.mark.parametrize("program", SLICED, ids=lambda program: program.__name__)
def test_a_program_is_compiled_without_its_prints_and_what_they_need(program, capfd):
    by_hand = SLICED[program]
    hot, left = sliced_and_left(program)
    for k in (0, 1):
        assert outcome(hot, k, 0.7) == outcome(by_hand, k, 0.7)
    assert capfd.readouterr().out == ""
    assert print not in left.targets
    if program is not handling:
        assert math.exp not in left.targets
        whole, expected = read(program), read(by_hand)
        assert left.branches[program.__qualname__] <= len(expected.branches())
        assert len(whole.blocks()) >= len(expected.blocks())


@pytest.mark.parametrize("program", ON_ARRAYS, ids=lambda program: program.__name__)
def test_changes_of_arguments_stay(program, capfd):
    import numpy as np

    hot, left = sliced_and_left(program)
    mine, theirs = np.zeros(3), np.zeros(3)
    found, wanted = hot(1, mine), ON_ARRAYS[program](1, theirs)
    assert np.array_equal(found, wanted)
    assert np.array_equal(mine, theirs)
    assert capfd.readouterr().out == ""
    assert print not in left.targets


def test_functions_that_are_said_to_be_pure_go_with_the_prints():
    def program(k, x):
        print(only_prints(x))
        return x

    hot = Slicer().jit(program)
    assert hot(0, 0.7) == 0.7
    left = Left()
    slicer = Slicer(pure=[only_prints])
    whole = slicer.compiling.replace(plugins=(*slicer.compiling.plugins, left))
    assert whole.jit(program)(0, 0.7) == 0.7
    assert only_prints not in left.targets
