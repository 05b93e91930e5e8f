"""The checker by constructs of the language: what it finds in each, and that it is silent where one
may do what is asked."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import enum
import sys
import types
import warnings
from typing import NamedTuple

import numpy as np
import pytest

from overlay.analysis import check
from overlay.code.constants import codes_of_module

# What the checker is to find is wrong for other tools, too.
# ruff: noqa: F821, F841, F524, F507, UP031, UP032


class Colour(enum.Enum):
    RED = 1
    GREEN = 2

    def shown(self):
        return self.name.uper()


class Access(enum.IntFlag):
    READ = 1
    WRITE = 2


class Lock:
    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.left = True

    def go(self):
        return 1


class Swallows(Lock):
    def __exit__(self, *raised):
        return bool(raised[0])


class NoExit:
    def __enter__(self):
        return 1


class NoEnter:
    def __exit__(self, *raised):
        return None


class Plain:
    pass


@contextlib.contextmanager
def managed(name):
    yield name


@contextlib.contextmanager
def ignoring():
    try:  # noqa: SIM105
        yield 1
    except AttributeError:
        pass


@dataclasses.dataclass
class Item:
    name: str
    price: float = 2.0
    tags: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(kw_only=True)
class Named:
    name: str


Point = collections.namedtuple("Point", "x y")


class Pair(NamedTuple):
    x: int
    y: int = 3


class Sized:
    def __init__(self, size, step=1):
        self._size = size

    @property
    def size(self):
        return self._size

    @size.setter
    def size(self, size):
        self._size = size

    @property
    def fixed(self):
        return 1


class Slotted:
    __slots__ = ("one",)

    def __init__(self):
        self.one = 1


class Formats:
    def __format__(self, spec):
        return spec


def inner(a, *, b=1):
    return a


def outer(**names):
    return inner(1, **names)


def filtered(**names):
    names.pop("c")
    return inner(1, **names)


def any_names(**names):
    return sorted(names)


async def told(x):
    return x


class Aiter:
    def __aiter__(self):
        return self

    async def __anext__(self):
        raise StopAsyncIteration


def sends():
    given = yield 1
    return given


# ---- what certainly fails ---------------------------------------------------------------------


def in_with():
    with Lock() as lock:
        return lock.goo()


def in_nested_with():
    with Lock(), memoryview(b""):
        return Lock().goo()


def without_exit():
    with NoExit() as made:
        return made


def without_enter():
    with NoEnter() as made:
        return made


def no_manager():
    with Plain():
        return 1


def bound_by_with():
    with Lock() as lock:
        pass
    return look


def of_a_file(path):
    with open(path) as file:
        return file.raed()


def of_an_array():
    return np.zeros(3).shap


def of_a_sum_of_arrays():
    return (np.ones(2) + 1.0).meann()


def of_a_transposed(a):
    return a.T.dtyp


def of_a_reshaped(a):
    return a.reshape(2, 3).summ()


def deleted(n):
    del n
    return n


def deleted_after_handling(x):
    try:  # noqa: SIM105
        y = int(x)
    except ValueError as error:
        pass
    return error


def deleted_on_each_way(x):
    y = 1
    if x:
        del y
    else:
        del y
    return y


def keyword_handed_on():
    return outer(c=1)


def keyword_of_a_dict():
    given = {"c": 1}
    return inner(1, **given)


def keyword_of_a_display():
    return inner(1, **{"bb": 2})


def keyword_of_dict():
    return inner(1, **dict(bb=1))  # noqa: C408


def keyword_in_place_of_an_argument():
    return min(default=0)


def member_in_a_match(x):
    match x:
        case Colour.REDD:
            return 1
        case _:
            return 2


def part_of_a_match(x):
    match x:
        case str(text):
            return text.uper()


def bound_by_a_match(x):
    match x:
        case {"key": value}:
            return value
    return valeu


def in_except(x):
    try:
        return int(x)
    except ValeuError:
        return 0


def after_finally(x):
    try:
        y = int(x)
    finally:
        z = 1
    return zz


def in_else(x):
    try:
        pass
    except (KeyError, OSError):
        return 0
    else:
        return x.uper()


async def in_a_coroutine(x):
    return x.uper()


async def of_what_is_awaited():
    return (await told("x")).uper()


async def awaits_a_number():
    return await 1


async def no_asynchronous_manager():
    async with Lock() as lock:
        return lock


async def no_asynchronous_iterator():
    async for each in [1]:
        print(each)


def of_a_coroutine():
    return told(1).foo


def of_a_generator():
    return sends().sennd(1)


def sets_a_property():
    Sized(1).fixed = 2


def calls_a_property():
    return Sized(1).size()


def sets_beside_slots():
    made = Slotted()
    made.two = 1
    return made


def formats_text_as_a_number(x):
    return f"{x:.2f}"


def no_such_format(n):
    return f"{n:zz}"


def too_few_to_format(x):
    return "{} {}".format(x)


def no_such_name_to_format(x):
    return "{a}".format()


def text_for_a_number(x):
    return "%d" % x


def too_few_to_interpolate():
    return "%d %d" % (1,)


def calls_text(x):
    return x()


def indexed_by_text(values):
    return values["a"]


FAILING = {
    "enum": (
        (lambda: Colour.REDD, (), "attribute"),
        (lambda: Colour.RED.valu, (), "attribute"),
        (lambda: Colour.RED.shown(), (), "attribute"),
        (lambda: Colour["RED"].nam, (), "attribute"),
        (lambda: Colour(1).valeu, (), "attribute"),
        (lambda: [each.vaule for each in Colour], (), "attribute"),
        (lambda: Access.READ.nmae, (), "attribute"),
        (lambda: Access.EXECUTE, (), "attribute"),
    ),
    "with": (
        (in_with, (), "attribute"),
        (in_nested_with, (), "attribute"),
        (without_exit, (), "call"),
        (without_enter, (), "call"),
        (no_manager, (), "call"),
        (bound_by_with, (), "name"),
        (of_a_file, (str,), "attribute"),
    ),
    "arrays": (
        (lambda a: a.shap, (np.ndarray,), "attribute"),
        (of_an_array, (), "attribute"),
        (of_a_sum_of_arrays, (), "attribute"),
        (of_a_transposed, (np.ndarray,), "attribute"),
        (of_a_reshaped, (np.ndarray,), "attribute"),
    ),
    "del": (
        (deleted, (int,), "name"),
        (deleted_after_handling, (str,), "name"),
        (deleted_on_each_way, (int,), "name"),
    ),
    "constructors": (
        (lambda: Item(), (), "call"),
        (lambda: Item("a", 1, [], 2), (), "call"),
        (lambda: Item("a", cost=1), (), "call"),
        (lambda: Item("a").cost, (), "attribute"),
        (lambda: Named("a"), (), "call"),
        (lambda: Point(1), (), "call"),
        (lambda: Point(1, 2, 3), (), "call"),
        (lambda: Point(1, 2).z, (), "attribute"),
        (lambda: Pair(), (), "call"),
        (lambda: Pair(1, 2, 3), (), "call"),
        (lambda: Sized(), (), "call"),
        (lambda: Sized(1, 2, 3), (), "call"),
        (lambda: Plain(1), (), "call"),
    ),
    "keywords": (
        (keyword_handed_on, (), "call"),
        (keyword_of_a_dict, (), "call"),
        (keyword_of_a_display, (), "call"),
        (keyword_of_dict, (), "call"),
        (keyword_in_place_of_an_argument, (), "call"),
    ),
    "match": (
        (member_in_a_match, (Colour,), "attribute"),
        (part_of_a_match, (str,), "attribute"),
        (bound_by_a_match, (dict[str, int],), "name"),
    ),
    "try": (
        (in_except, (str,), "name"),
        (after_finally, (str,), "name"),
        (in_else, (str,), "attribute"),
    ),
    "async": (
        (in_a_coroutine, (str,), "attribute"),
        (of_what_is_awaited, (), "attribute"),
        (awaits_a_number, (), "call"),
        (no_asynchronous_manager, (), "call"),
        (no_asynchronous_iterator, (), "call"),
        (of_a_coroutine, (), "attribute"),
    ),
    "generators": ((of_a_generator, (), "attribute"),),
    "properties": (
        (sets_a_property, (), "attribute"),
        (calls_a_property, (), "call"),
        (sets_beside_slots, (), "attribute"),
    ),
    "formats": (
        (lambda x: f"{x:d}", (str,), "call"),
        (formats_text_as_a_number, (str,), "call"),
        (no_such_format, (int,), "call"),
        (too_few_to_format, (str,), "call"),
        (no_such_name_to_format, (str,), "call"),
        (text_for_a_number, (str,), "call"),
        (too_few_to_interpolate, (), "call"),
    ),
    "calls and indices": (
        (calls_text, (str,), "call"),
        (indexed_by_text, (list[int],), "call"),
    ),
}


@pytest.mark.parametrize("construct", FAILING)
def test_what_certainly_fails_is_found_in_each_construct(construct):
    for function, given, kind in FAILING[construct]:
        found = check(function, *given)
        assert [each.kind for each in found] == [kind], function


# ---- what need not fail -----------------------------------------------------------------------


def swallowed():
    with Swallows():
        return Lock().goo()


def suppressed():
    with contextlib.suppress(AttributeError):
        return Lock().goo()


def ignored():
    with ignoring():
        return Lock().goo()


def of_a_managed():
    with managed("text") as text:
        return text.upper()


def of_an_unknown_manager(x):
    with x as y:
        return y.anything


def deleted_on_one_way(x):
    y = 1
    if x:
        del y
        return 0
    return y


def set_again(x):
    del x
    x = 1
    return x, x


def handled_and_set(x):
    error = None
    try:
        return int(x)
    except ValueError as raised:
        error = raised
    return error


def key_taken_out():
    return filtered(c=1)


def keys_that_are_known():
    given = {"b": 1}
    return inner(1, **given), outer(b=2), any_names(c=1)


def key_taken_out_of_a_dict(x):
    given = {"b": 1, "c": 2}
    del given["c"]
    return inner(1, **given)


def handled_format(x):
    try:
        return f"{x:d}"
    except ValueError:
        return str(x)


def handled_place(x):
    try:
        return "{} {}".format(x)
    except IndexError:
        return x


async def awaits_anything(x):
    return await x


async def goes_through():
    return [each async for each in Aiter()]


@types.coroutine
def old_coroutine():
    yield


async def awaits_a_generator():
    await old_coroutine()


def sent(x):
    made = sends()
    next(made)
    return made.send(x)


def sets_what_can_be_set():
    made = Sized(1)
    made.size = 3
    slotted = Slotted()
    slotted.one = 2
    return made.size + slotted.one


def formats_its_own():
    return f"{Formats():zz}", f"{1:>{8}}", "%s %%" % 1, "%(a)d" % {"a": 1}, "%*d" % (3, 1)


def formats_nested(x):
    return "{0.real} {0[0]} {a!r:>4}".format(x, a=1)


def calls_one_of_two(flag):
    function = len if flag else None
    return function("abc")


SILENT = {
    "enum": (
        (lambda: Colour.RED.name.upper(), ()),
        (lambda: Colour(1).value, ()),
        (lambda: [each.value for each in Colour], ()),
        (lambda: (Access.READ | Access.WRITE).name, ()),
        (lambda: Colour.__members__, ()),
        (lambda: Colour.RED.RED if hasattr(Colour.RED, "RED") else None, ()),
    ),
    "with": (
        (swallowed, ()),
        (suppressed, ()),
        (ignored, ()),
        (of_a_managed, ()),
        (of_an_unknown_manager, (object,)),
    ),
    "arrays": (
        (lambda a: (a.T @ a, a.sum().real, np.zeros(3).mean()), (np.ndarray,)),
        (lambda a: (a + 1).shape, (np.ndarray,)),
    ),
    "del": (
        (deleted_on_one_way, (int,)),
        (set_again, (int,)),
        (handled_and_set, (str,)),
    ),
    "constructors": (
        (lambda: (Item("a"), Item("a", 1), Named(name="a"), Pair(1), Sized(1), Plain()), ()),
    ),
    "keywords": (
        (key_taken_out, ()),
        (keys_that_are_known, ()),
        (key_taken_out_of_a_dict, (int,)),
    ),
    "try": ((handled_format, (str,)), (handled_place, (str,))),
    "async": (
        (awaits_anything, (object,)),
        (goes_through, ()),
        (awaits_a_generator, ()),
    ),
    "generators": ((sent, (int,)),),
    "properties": ((sets_what_can_be_set, ()),),
    "formats": ((formats_its_own, ()), (formats_nested, (int,))),
    "calls and indices": ((calls_one_of_two, (bool,)),),
}


@pytest.mark.parametrize("construct", SILENT)
def test_nothing_is_found_where_a_construct_need_not_fail(construct):
    for function, given in SILENT[construct]:
        assert check(function, *given) == (), function


def test_warnings_of_a_modules_source_are_not_shown_again(tmp_path, monkeypatch):
    (tmp_path / "escaped.py").write_text("def shown():\n    return '\\d'.uper()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with warnings.catch_warnings(action="ignore"):
            import escaped
    finally:
        sys.dont_write_bytecode = written
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(codes_of_module(vars(escaped)))
        assert len(check(escaped.shown)) == 1
