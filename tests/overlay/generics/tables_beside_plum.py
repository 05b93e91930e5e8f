"""Random tables beside plum: which method each chooses."""

import plum

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


def compare(drawn, calls):
    """A table chooses as plum does, or neither does. What each call gave.

    drawn: of each method, the hints, how many of the last parameters have defaults, the hint of
    ``*args`` or None, the precedence.
    """
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
    ctx, outcomes = Context(table), []
    for args in calls:
        found = outcome(lambda *a: ctx(target, *a), args, (), AmbiguousMethod)
        expected = outcome(theirs, args, plum.NotFoundLookupError, plum.AmbiguousLookupError)
        assert found == expected
        outcomes.append(found)
    return outcomes
