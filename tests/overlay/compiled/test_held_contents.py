"""Contents of containers that the program holds: after each change of them a compiled call gives
what the interpreted one gives, or reading them is refused."""

from collections import namedtuple
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from overlay import Context, MethodTable, NotCompilable


def changed(x):
    return x + 1.0


table = MethodTable("held contents")
table.overlay(changed)(lambda x: x * 10.0)


def first(x):
    return changed(x) + 1.0


def second(x):
    return changed(x) * 2.0


@dataclass
class Box:
    item: Any
    step: Any = first


@dataclass(frozen=True)
class FrozenBox:
    item: Any
    step: Any = first


@dataclass(slots=True)
class SlottedBox:
    item: Any
    step: Any = first


Pair = namedtuple("Pair", "item step")


def module_of(item):
    made = ModuleType("held")
    made.item = item
    return made


def class_of(**attributes):
    return type(
        "Holder", (), {k: staticmethod(v) if callable(v) else v for k, v in attributes.items()}
    )


def at(key):
    return lambda held, item: held.__setitem__(key, item)


def on(held, item):
    held.item = item


def on_class(held, item):
    held.item = staticmethod(item) if callable(item) else item


# how a container is made of an item, how code reads that, and how it is replaced in place
CONTAINERS = {
    "variable": (lambda v: v, "held", None),
    "tuple": (lambda v: (first, v), "held[1]", None),
    "list": (lambda v: [first, v], "held[1]", at(1)),
    "list of values": (lambda v: [v, v], "held[1]", at(1)),
    "dict": (lambda v: {"f": first, "v": v}, "held['v']", at("v")),
    "dict of values": (lambda v: {"v": v}, "held['v']", at("v")),
    "dataclass": (Box, "held.item", on),
    "dataclass of values": (lambda v: Box(v, 1.0), "held.item", on),
    "frozen dataclass": (FrozenBox, "held.item", None),
    "slots": (SlottedBox, "held.item", on),
    "named tuple": (lambda v: Pair(v, first), "held.item", None),
    "list of pairs": (lambda v: [(first, v)], "held[0][1]", lambda h, v: at(0)(h, (first, v))),
    "dict of pairs": (
        lambda v: {"a": (first, v)},
        "held['a'][1]",
        lambda h, v: at("a")(h, (first, v)),
    ),
    "list in a dataclass": (
        lambda v: Box([first, v]),
        "held.item[1]",
        lambda h, v: at(1)(h.item, v),
    ),
    "dataclass in a dict": (
        lambda v: {"a": Box(v)},
        "held['a'].item",
        lambda h, v: on(h["a"], v),
    ),
    "module": (module_of, "held.item", on),
    "class": (lambda v: class_of(item=v), "held.item", on_class),
    "list in a class": (
        lambda v: class_of(items=[first, v]),
        "held.items[1]",
        lambda h, v: at(1)(h.items, v),
    ),
}
# two values of each kind, and what code computes with one
VALUES = {
    "number": (lambda: 2.0, lambda: 3.0, "{} * x"),
    "function": (lambda: first, lambda: second, "{}(x)"),
    "array": (lambda: np.array([1.0, 2.0]), lambda: np.array([5.0, 2.0]), "{}[0] * x"),
    "string": (lambda: "a", lambda: "bcd", "len({}) * x"),
    "tuple": (lambda: (1.0, 2), lambda: (4.0, 2), "{}[0] * x"),
}
SCOPES = {
    "global": "def f(x): return {}",
    "closure": "def made(held):\n    def f(x): return {}\n    return f\nf = made(held)",
}


def program(scope, container, value):
    """A function that reads an item, and its namespace."""
    make, read, _ = CONTAINERS[container]
    before, _, computed = VALUES[value]
    space = {"held": make(before()), "changed": changed}
    exec(SCOPES[scope].format(f"{computed.format(read)} + changed(x)"), space)
    return space["f"], space


def edits(scope, container, value, space):
    """Changes of what the function reads, one after another."""
    make, read, replace = CONTAINERS[container]
    _, after, _ = VALUES[value]
    if value == "array":
        yield lambda: eval(read, space).__setitem__(0, 7.0)
    if replace is not None:
        yield lambda: replace(space["held"], after())
    if scope == "global":
        yield lambda: space.update(held=make(after()))


def outcomes(call):
    try:
        return call(2.0)
    except NotCompilable:
        return NotCompilable


def check(scope, container, value):
    f, space = program(scope, container, value)
    context = Context(table)
    compiled = context.jit(f)
    reads = outcomes(compiled) is not NotCompilable
    for edit in (lambda: None, *edits(scope, container, value, space)):
        edit()
        wanted = context(f, 2.0) if reads else NotCompilable
        assert outcomes(compiled) == wanted


CASES = [(scope, c, value) for scope in SCOPES for c in CONTAINERS for value in VALUES]


@pytest.mark.parametrize("case", CASES[::9], ids="-".join)
def test_a_change_of_contents_is_seen(case):
    check(*case)


@pytest.mark.long
@pytest.mark.parametrize("case", [case for case in CASES if case not in CASES[::9]], ids="-".join)
def test_each_change_of_contents_is_seen(case):
    check(*case)


LOOPS = {
    "list": ([first, second], "for step in held: x = step(x)"),
    "list of pairs": ([(first, 2.0), (second, 3.0)], "for step, by in held: x = step(x) * by"),
    "dict": ({"a": first, "b": second}, "for step in held.values(): x = step(x)"),
    "dict of pairs": (
        {"a": (first, 2.0), "b": (second, 3.0)},
        "for step, by in held.values(): x = step(x) * by",
    ),
    "list in a dataclass": (Box([first, second]), "for step in held.item: x = step(x)"),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_sees_order_and_length(name):
    held, loop = LOOPS[name]
    space = {"held": held}
    exec(f"def f(x):\n    {loop}\n    return x", space)
    f, context = space["f"], Context(table)
    compiled = context.jit(f)
    items = held.item if isinstance(held, Box) else held

    def reverse():
        if isinstance(items, list):
            items.reverse()
        else:
            (key, value), *_ = items.items()
            del items[key]
            items[key] = value  # is last now

    def append():
        if isinstance(items, list):
            items.append(items[0])
        else:
            items["c"] = items["a"]

    def remove():
        items.pop() if isinstance(items, list) else items.popitem()

    for edit in (lambda: None, reverse, append, append if name == "list" else remove, reverse):
        edit()
        assert compiled(2.0) == context(f, 2.0)


# ---- classes that give other attributes than they hold --------------------------------------


class Descriptor:
    def __get__(self, held, kind=None):
        return second

    def __set__(self, held, value):
        held.__dict__["item"] = value


def other_attribute(self, name):
    return second if name == "item" else object.__getattribute__(self, name)


def property_of_second():
    return property(lambda self: second, lambda self, item: self.__dict__.update(item=item))


def dataclass_with(**attributes):
    kind = type("Odd", (), {"__annotations__": {"item": Any}})
    kind.__annotations__ = {"item": Any}
    made = dataclass(kind)
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


class PairWithProperty(Pair):
    item = property(lambda self: second)


class PairWithAttributes(Pair):
    def __getattribute__(self, name):
        return second if name == "item" else tuple.__getattribute__(self, name)


class TupleOfOthers(tuple):
    def __getitem__(self, place):
        return second


class TupleThatIterates(tuple):
    def __iter__(self):
        return iter((second, second))


class TupleOfOtherLength(tuple):
    def __len__(self):
        return 7


def fallback(self, name):
    if name == "other":
        return second
    raise AttributeError(name)


READ_ITEM, FIRST_ITEM = "held.item(x)", "held[0](x)"
ODD = {
    "descriptor": (lambda: dataclass_with(item=Descriptor())(first), READ_ITEM),
    "property": (lambda: dataclass_with(item=property_of_second())(first), READ_ITEM),
    "__getattribute__": (
        lambda: dataclass_with(__getattribute__=other_attribute)(first),
        READ_ITEM,
    ),
    "__getattr__": (lambda: dataclass_with(__getattr__=fallback)(first), READ_ITEM),
    "__getattr__ of another": (
        lambda: dataclass_with(__getattr__=fallback)(first),
        "held.other(x)",
    ),
    "slots": (lambda: SlottedBox(first), READ_ITEM),
    "named tuple": (lambda: PairWithProperty(first, 1.0), READ_ITEM),
    "named tuple with attributes": (lambda: PairWithAttributes(first, 1.0), READ_ITEM),
    "__getitem__": (lambda: TupleOfOthers((first, first)), FIRST_ITEM),
    "__iter__": (lambda: TupleThatIterates((first,)), "sum([step(x) for step in held])"),
    "__len__": (lambda: TupleOfOtherLength((first, first)), "len(held) * changed(x)"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_python_gives_is_read_or_it_is_refused(name):
    make, read = ODD[name]
    space = {"held": make(), "changed": changed}
    exec(f"def f(x): return {read}", space)
    context = Context(table)
    found = outcomes(context.jit(space["f"]))
    assert found in (context(space["f"], 2.0), NotCompilable)
    assert name not in ("slots", "__getattr__") or found is not NotCompilable
