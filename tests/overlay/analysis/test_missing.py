"""Errors of objects that code makes at once: in comprehensions, by ``super()``, in cached
properties, by keywords that are handed on, in callbacks."""

from __future__ import annotations

import collections
import functools
import itertools
import json
import operator
import os
import subprocess
import sys

import pytest

from overlay.analysis import check


class Part:
    def __init__(self):
        self.size = 1


def of_a_comprehension(n):
    made = [Part() for _ in range(n)]
    return made[0].siez


def in_a_loop_over_a_comprehension(n):
    return [part.siez for part in [Part() for _ in range(n)]]


def of_a_set(n):
    return [part.siez for part in {Part() for _ in range(n)}]


def of_a_dict(n):
    return {i: Part() for i in range(n)}[0].siez


class Base:
    def __init__(self):
        self.one = 1

    def method(self):
        return 1


class Above(Base):
    def __init__(self, x):
        super().__init__(x)


class Below(Base):
    def method(self):
        return super().metod()

    def instance(self):
        return super().one


def arity_of_super():
    return Above(1)


def missing_in_super():
    return Below().method()


class Lazy:
    @functools.cached_property
    def broken(self):
        return self.txet

    @functools.cached_property
    def text(self):
        return "text"


def in_a_cached_property():
    return Lazy().broken


def of_a_cached_property():
    return Lazy().text.uper()


def keyword_of_run():
    subprocess.run(["x"], capture=True)


def keyword_of_dumps():
    return json.dumps(1, indnt=2)


def by_sorted(values):
    return sorted(values, key=lambda one, other: one)


def by_map(values):
    return list(map(lambda one, other: one, values))


def by_reduce(values):
    return functools.reduce(lambda one: one, values)


def by_starmap(values):
    return list(itertools.starmap(lambda one: one, zip(values, values, strict=True)))


def by_max(values):
    return max(values, key=lambda: 1)


def of_a_named_tuple_made_here():
    point = collections.namedtuple("point", "x y")
    return point(1, 2).z


def arity_of_a_named_tuple_made_here():
    point = collections.namedtuple("point", ("x", "y"))
    return point(1, 2, 3)


def scaled(value, by):
    return value.real * by


def arity_of_a_partial():
    return functools.partial(scaled, 1)(2, 3)


def in_a_partial():
    return functools.partial(scaled, by=2)([])


def in_a_partial_that_is_called_back(values):
    return sorted(values, key=functools.partial(scaled, by=2))


FOUND = [
    (of_a_named_tuple_made_here, None, "no attribute 'z'"),
    (arity_of_a_named_tuple_made_here, None, "too many positional arguments"),
    (arity_of_a_partial, None, "too many positional arguments"),
    (in_a_partial, None, "class list has no attribute 'real'"),
    (in_a_partial_that_is_called_back, list[list], "class list has no attribute 'real'"),
    (of_a_comprehension, int, "class Part has no attribute 'siez'"),
    (in_a_loop_over_a_comprehension, int, "class Part has no attribute 'siez'"),
    (of_a_set, int, "class Part has no attribute 'siez'"),
    (of_a_dict, int, "class Part has no attribute 'siez'"),
    (arity_of_super, None, "too many positional arguments"),
    (missing_in_super, None, "super() of an object of class Below has no attribute 'metod'"),
    (in_a_cached_property, None, "class Lazy has no attribute 'txet'"),
    (of_a_cached_property, None, "class str has no attribute 'uper'"),
    (keyword_of_run, None, "takes no keyword argument 'capture'"),
    (keyword_of_dumps, None, "takes no keyword argument 'indnt'"),
    (by_sorted, list[int], "missing a required argument: 'other'"),
    (by_map, list[int], "missing a required argument: 'other'"),
    (by_reduce, list[int], "too many positional arguments"),
    (by_starmap, list[int], "too many positional arguments"),
    (by_max, list[int], "too many positional arguments"),
]


@pytest.mark.parametrize(
    ("function", "cls", "message"), FOUND, ids=[case[0].__name__ for case in FOUND]
)
def test_it_is_found(function, cls, message):
    (finding,) = check(function, *([] if cls is None else [cls]))
    assert message in finding.message


class Replaced:
    @functools.cached_property
    def held(self):
        return 1

    def replace(self):
        self.held = "text"
        return self.held.upper()


class Mixed:
    def method(self):
        return super().other()


class Whole(Mixed, Base):
    other = None


class Other:
    def other(self):
        return 1


class Both(Mixed, Other):
    pass


def held_in_a_partial(take):
    held = []
    take(functools.partial(scaled, held))
    return held[0].upper()


def mixed_partials(flag):
    function = functools.partial(scaled, 1) if flag else functools.partial(str.upper, "a")
    return function()


def set_in_a_module():
    try:
        return functools.remembered
    except AttributeError:
        functools.remembered = 1
    return functools.remembered


SILENT = [
    (set_in_a_module, ()),
    (lambda: sys.ps1, ()),
    (lambda: sys.last_value, ()),
    (lambda: sys.getwindowsversion(), ()),
    (lambda: sys.winver, ()),
    (held_in_a_partial, (object,)),
    (mixed_partials, (bool,)),
    (lambda names: collections.namedtuple("made", names)(1, 2).z, (object,)),
    (lambda: functools.partial(scaled, 1).func, ()),
    (lambda: functools.partial(scaled, 1).args[0].upper(), ()),
    (lambda: functools.partial(functools.partial(scaled, 1), 2)(), ()),
    (lambda: functools.partial(scaled, by=2)(1, by=3), ()),
    (lambda: Replaced().replace(), ()),
    (lambda: Both().method(), ()),
    (lambda values: list(map(lambda one, other: one, values, values)), (list[int],)),
    (lambda values: functools.reduce(lambda one, other: one, values), (list[int],)),
    (lambda values: list(itertools.starmap(lambda *both: both, values)), (list,)),
    (lambda values: list(itertools.starmap(lambda a, b: a, enumerate(values))), (list[int],)),
    (lambda value: operator.call(lambda one, other: one, value, value), (int,)),
    (lambda values: operator.call(lambda one, other: one, *values), (list[int],)),
    (lambda values: list(map(lambda one, other: one, *values)), (list,)),
    (lambda values: max(*values, key=lambda one: one), (list[int],)),
    (lambda: json.dumps(1, indent=2), ()),
]


@pytest.mark.parametrize(("function", "types"), SILENT)
def test_nothing_is_found_in_what_is_right(function, types):
    assert check(function, *types) == ()


def test_a_saved_variable_of_a_comprehension_keeps_its_contents():
    def mixed(n):
        i = [1]
        try:
            return [Part() for i in range(n)]
        except ValueError:
            i.append("a")
        return [each.upper() for each in i]

    assert check(mixed, int) == ()


# ---- names of other platforms and versions --------------------------------------------------

NEVER = [
    "sys.platform == 'none'",
    "sys.platform[:3] == 'non'",
    "sys.platform.startswith('non')",
    "sys.platform.lower()[0] == '-'",
    "sys.platform in ('none', 'nowhere')",
    "'none' in sys.platform",
    "os.name == 'none'",
    "sys.version_info < (3, 8)",
    "sys.version_info[:2] <= (3, 8)",
    "sys.version_info >= (4,)",
    "release < (2, 0)",
]


@pytest.mark.parametrize("condition", NEVER)
def test_what_holds_on_no_such_platform_or_version_is_not_looked_at(condition):
    release = collections.namedtuple("Release", "major minor")(2, 1)
    names = {"os": os, "sys": sys, "release": release}
    for place, silent in ((condition, True), (f"not ({condition})", False)):
        exec(f"def program():\n    if {place}:\n        return elsewhere", names)
        assert (check(names["program"]) == ()) is silent
