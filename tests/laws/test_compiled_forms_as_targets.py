"""Callable objects with another form in compiled code (derivatives, gradients, inverses, own
classes) are targets like any function: compiled code obeys the methods that interpreted code obeys.
"""

import pickle

import pytest

from inversion import invert
from overlay import Context, MethodTable, call_next, nonoverlay
from overlay.interpretations.autodiff import derivative, gradient, partials_of


def cube(x: float):
    return x**3


RULES = MethodTable("rules")


@RULES.overlay(partials_of(cube))
def partials_of_cube(x: float):
    return (5.0,)


def twelve(x):
    return (12.0,)


class Own:
    def __call__(self, x):
        return (12.0,)

    def __overlay_compiled__(self, *, on_device):
        return twelve


def first(result):
    return result


def item(result):
    return result[0]


KINDS = {  # the object, and what gives its number
    "derivative": (derivative(cube), first),
    "with rules": (derivative(cube, rules=RULES), first),
    "gradient": (gradient(cube), first),
    "gradient with rules": (gradient(cube, rules=RULES), first),
    "inverse": (invert(cube), item),
    "own class": (Own(), item),
}


def uses(made, number):
    """Programs that call an object."""
    held, bare = (made, abs), nonoverlay(made)
    inner = Context().wrap(made)

    def direct(x):
        return number(made(x))

    def as_value(x):
        call = made
        return number(call(x))

    def from_tuple(x):
        return number(held[0](x))

    def wrapped(x):
        return number(inner(x))

    def outside(x):
        return number(bare(x))

    return direct, as_value, from_tuple, wrapped, outside


@pytest.mark.parametrize("kind", KINDS)
def test_both_engines_obey_methods_for_an_object(kind):
    made, number = KINDS[kind]
    table = MethodTable("table")
    context = Context(table)
    programs = uses(made, number)
    compiled = [context.jit(program) for program in programs]
    is_tuple = number is item

    def replaced(x: float):
        return (-1.0,) if is_tuple else -1.0

    def changed(x: float):
        return (number(call_next(x)) + 1.0,) if is_tuple else call_next(x) + 1.0

    plain = number(made(2.0))

    def check(*expected):
        for program, fast in zip(programs, compiled, strict=True):
            want = plain if program.__name__ == "outside" else expected[0]
            assert context(program, 2.0) == fast(2.0) == want, program.__name__
            assert context(program, 2) == fast(2) == plain, program.__name__

    check(plain)
    table.overlay(made)(replaced)
    check(-1.0)
    table.overlay(made)(changed)
    check(plain + 1.0)
    table.remove(made, float)
    check(plain)


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_itself_is_compiled_with_its_methods(kind):
    made, _ = KINDS[kind]
    table = MethodTable("table")

    @table.overlay(made)
    def changed(x: float):
        return call_next(x)

    assert Context(table).jit(made)(2.0) == Context(table)(made, 2.0) == made(2.0)


@pytest.mark.parametrize("made", [derivative(cube), gradient(cube)])
def test_derivatives_are_sent_to_other_processes(made):
    assert pickle.loads(pickle.dumps(made))(2.0) == made(2.0) == 12.0
