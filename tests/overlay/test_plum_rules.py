"""A table chooses among its methods as plum does: the law, on random tables."""

import plum
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay import AmbiguousMethod, Context, MethodTable


class Animal:
    pass


class Dog(Animal):
    pass


class Puppy(Dog):
    pass


class Cat(Animal):
    pass


HINTS = [Animal, Dog, Puppy, Cat, Dog | Cat, object, Puppy | int, str]
DEFAULTS = {Animal: Animal(), Dog: Dog(), Puppy: Puppy(), Cat: Cat(), object: None, str: "a"}
VALUES = [Animal(), Dog(), Puppy(), Cat(), 1.5, "a"]

signatures = st.tuples(
    st.lists(st.sampled_from(HINTS), max_size=3),
    st.integers(0, 2),  # how many of the last parameters have defaults
    st.none() | st.sampled_from(HINTS),  # *args
    st.integers(0, 1),  # precedence
)


def function_of(number, hints, defaults, varargs):
    scope = {f"h{i}": hint for i, hint in enumerate(hints)} | {"rest": varargs}
    scope |= {f"d{i}": DEFAULTS.get(hint) for i, hint in enumerate(hints)}
    first = next((i for i in range(len(hints)) if can_default(hints[i:], defaults)), len(hints))
    shown = [f"a{i}: h{i}" + (f" = d{i}" if i >= first else "") for i in range(len(hints))]
    shown += ["*args: rest"] if varargs is not None else []
    exec(f"def f({', '.join(shown)}):\n    return {number}", scope)
    return scope["f"], (tuple(hints), varargs)


def can_default(hints, count):
    return len(hints) <= count and all(hint in DEFAULTS for hint in hints)


def outcome(call, args, nothing, ambiguous):
    try:
        return call(*args)
    except nothing:
        return "nothing"
    except ambiguous:
        return "ambiguous"


@settings(max_examples=300)
@given(
    st.lists(signatures, min_size=1, max_size=6),
    st.lists(st.lists(st.sampled_from(VALUES), max_size=4), min_size=1, max_size=5),
)
def test_a_table_chooses_as_plum_does(drawn, calls):
    dispatch, table, kept = plum.Dispatcher(), MethodTable("t"), {}

    def target(*args):
        return "nothing"

    theirs = None
    for number, (hints, defaults, varargs, precedence) in enumerate(drawn):
        function, shape = function_of(number, hints, defaults, varargs)
        # the same signature replaces in a table, whatever its precedence; in plum only with
        # the same one
        precedence = kept.setdefault(shape, precedence)
        theirs = dispatch(function, precedence=precedence)
        table.overlay(target, precedence=precedence)(function)
    ctx = Context(table)
    for args in calls:
        found = outcome(lambda *a: ctx(target, *a), args, (), AmbiguousMethod)
        expected = outcome(theirs, args, plum.NotFoundLookupError, plum.AmbiguousLookupError)
        assert found == expected


def test_the_later_of_two_methods_that_defaults_make_the_same_wins():
    def target(*args):
        return "base"

    def one(x: float):
        return "one"

    def two(x: float, y: float = 1.0):
        return "two"

    for methods, expected in (((one, two), "two"), ((two, one), "one")):
        table = MethodTable("t")
        for method in methods:
            table.overlay(target)(method)
        assert Context(table)(lambda: (target(1.0), target(1.0, 2.0))) == (expected, "two")
