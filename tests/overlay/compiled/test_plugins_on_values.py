"""Plugins on calls of functions that come as values: chosen, in containers, as arguments, handed to
functions that call them. Each call is edited, or refused by name."""

import functools
import math

import numpy as np
import pytest
from numba import njit

from overlay import Context, NotCompilable, Plugin
from overlay.interpretations.printing import Slicer


def cube(x):
    return x**3 + 0.0 * math.sin(x)


def python_step(x):
    return x + 1.0


@njit
def numba_step(x):
    return x + 2.0


def println(x):
    print("<", x, ">")


def nothing(x):
    pass


class _Replaces(Plugin):
    """One function for others."""

    def __init__(self, targets, instead):
        self.targets, self.instead = targets, instead

    def enter(self, callee, types):
        return None if callee is self.instead else self

    def _replace(self, ir):
        for call in ir.calls(*self.targets):
            ir.replace(call, self.instead, *call.args)


class Before(_Replaces):
    def before_inference(self, ir):
        self._replace(ir)


class After(_Replaces):
    def after_inference(self, ir):
        self._replace(ir)


def given(f, x):
    return f(x)


def first_of(*functions):
    return functions[0]


def itself(f):
    return f


def star(f, *args):
    return f(*args)


def forms(f, other):
    """Programs that call ``f`` once with their argument, which is above zero."""
    pair, items, named, part = (f, other), [f, other], {"f": f, "g": other}, functools.partial(f)

    @njit
    def inner(x):
        return f(x)

    def with_default(x, g=f):
        return g(x)

    def closure(x):
        return (lambda: f(x))()

    return {
        "conditional": lambda x: (f if x > 0 else other)(x),
        "conditional, named": lambda x: given(f if x > 0 else other, x),
        "tuple": lambda x: pair[0 if x > 0 else 1](x),
        "tuple of one function": lambda x: (f, f)[0 if x > 0 else 1](x),
        "list": lambda x: items[0 if x > 0 else 1](x),
        "dict": lambda x: named["f" if x > 0 else "g"](x),
        "unpacked": lambda x: [g(x) for g in (f,)][-1],
        "argument": lambda x: given(f, x),
        "argument by name": lambda x: given(x=x, f=f),
        "among *arguments": lambda x: first_of(f)(x),
        "chosen argument": lambda x: given(pair[0 if x > 0 else 1], x),
        "result": lambda x: itself(f)(x),
        "default": lambda x: with_default(x),
        "closure": closure,
        "lambda": lambda x: (lambda g: g(x))(f),
        "called with *arguments": lambda x: star(f, x),
        "partial": lambda x: part(x),
        "map": lambda x: list(map(f, [x]))[-1],
        "map, in a loop": lambda x: [y for y in map(f, [x])][-1],  # noqa: C416
        "inner njit function": lambda x: inner(x),
    }


NAMES = list(forms(math.sin, math.cos))
REPLACED = [math.sin, python_step, numba_step]


def hot(plugin, name, f, other):
    return Context(plugins=(plugin,)).jit(forms(f, other)[name])


@pytest.mark.filterwarnings("ignore:.*First-class.*")
@pytest.mark.parametrize("f", REPLACED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("stage", [Before, After])
def test_a_function_that_comes_as_a_value_is_replaced(stage, name, f):
    assert hot(stage(REPLACED, cube), name, f, math.cos)(0.5) == cube(0.5)


@pytest.mark.filterwarnings("ignore:.*First-class.*")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("stage", [Before, After])
def test_prints_that_come_as_values_are_replaced(stage, name, capfd):
    hot(stage([print], println), name, print, nothing)(0.5)
    assert capfd.readouterr().out == "< 0.5 >\n"


@pytest.mark.filterwarnings("ignore:.*First-class.*")
@pytest.mark.parametrize("name", NAMES)
def test_prints_that_come_as_values_are_sliced_out(name, capfd):
    Slicer().jit(forms(print, nothing)[name])(0.5)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("stage", [Before, After])
def test_a_key_function_is_replaced(stage):
    def smallest(x):
        return sorted([x, 3.0, 1.0], key=math.sin)[0]

    def minus(x):
        return -x

    assert Context(plugins=(stage([math.sin], minus),)).jit(smallest)(0.5) == 3.0


REFUSED = {
    "made partial": lambda x: functools.partial(math.sin, x)(),
    "reduce": lambda x: functools.reduce(math.pow, [x, x]),
    "maximum by a key": lambda x: max([x, 2.0], key=math.sin),
    "map of a chosen function": lambda x: list(map((math.sin, math.cos)[int(x)], [x]))[-1],
}


@pytest.mark.parametrize("program", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("stage", [Before, After])
def test_other_ways_to_call_a_value_are_refused(stage, program):
    with pytest.raises(NotCompilable):
        Context(plugins=(stage([math.sin, math.pow], cube),)).jit(program)(0.5)


def test_an_edit_that_changes_the_type_of_a_value_called_is_refused():
    class Texts(Plugin):
        def before_inference(self, ir):
            for call in ir.calls(math.sin):
                ir.set_result(call, "text")

    with pytest.raises(NotCompilable, match=r"replaced a call of sin.*its result is .*text"):
        Context(plugins=(Texts(),)).jit(lambda x: given(math.sin, x))(0.5)
    with pytest.raises(NotCompilable, match="call it by its name"):
        Context(plugins=(Texts(),)).jit(lambda x: given(math.sin, x))(0.5)


class Counts(Plugin):
    """The calls that are seen once types are known."""

    def __init__(self):
        self.targets = []

    def after_inference(self, ir):
        self.targets += [call.target for call in ir.calls()]


def test_prints_are_seen_once_types_are_known(capfd):
    def program(x):
        values = (x, "b")
        print("a", x)
        print(*values)

    counts = Counts()
    Context(plugins=(counts,)).jit(program)(1.5)
    assert counts.targets.count(print) == 2
    assert capfd.readouterr().out == "a 1.5\n1.5 b\n"


@pytest.mark.parametrize("stage", [Before, After])
def test_arguments_of_a_tuple_are_passed_on(stage):
    def added(x, y):
        return x + y

    def program(x):
        pair = (x, 2.0)
        return math.pow(*pair)

    assert Context(plugins=(stage([math.pow], added),)).jit(program)(0.5) == 2.5

    class BeforeIt(Plugin):
        def before_inference(self, ir):
            for call in ir.calls(math.pow):
                ir.set_result(call, ir.insert_before(call, added, *call.args))

    assert Context(plugins=(BeforeIt(),)).jit(program)(0.5) == 2.5


# ---- effects of functions that are called back ------------------------------------------------


def stores(x):
    x[0] = 5.0
    return 1.0


def by_map(x):
    list(map(stores, [x]))
    return x


def by_map_of_a_variable(x):
    f = stores
    list(map(f, [x]))
    return x


def by_filter(x):
    list(filter(stores, [x]))
    return x


def by_key(x):
    sorted([x, x], key=stores)
    return x


def by_printing(x):
    for y in map(stores, [x]):
        print(y)
    return x


@pytest.mark.parametrize(
    "program",
    [by_map, by_map_of_a_variable, by_filter, by_key, by_printing],
    ids=lambda p: p.__name__,
)
def test_effects_of_functions_that_are_called_back_stay(program, capfd):
    assert Slicer().jit(program)(np.zeros(1))[0] == Slicer()(program, np.zeros(1))[0] == 5.0
    capfd.readouterr()


def test_functions_without_effects_that_only_prints_need_go():
    counts, slicer = Counts(), Slicer()

    def program(x):
        print(list(map(math.exp, [x])), sorted([x, 1.0], key=math.cos))
        return x

    context = slicer.compiling.replace(plugins=(*slicer.compiling.plugins, counts))
    assert context.jit(program)(0.5) == 0.5
    assert not {map, sorted, list} & set(counts.targets)
