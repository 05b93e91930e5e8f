"""Functions that could not be compiled are compiled once what they read is valid, also where only
the contents of a container have changed."""

import re
from dataclasses import dataclass, field
from types import FunctionType, ModuleType

import pytest

from overlay import Context, MethodTable, NotCompilable, OverlayError


def changed(x):
    return x + 1.0


table = MethodTable("failures again")
table.overlay(changed)(lambda x: x * 10.0)
other_table = MethodTable("never failed")
other_table.overlay(changed)(lambda x: x * 10.0)


def first(x):
    return changed(x) + 1.0


def second(x):
    return changed(x) + 2.0


@dataclass
class Steps:
    names: list = field(default_factory=list)
    first: object = None


SOURCES = {
    "item of a list": "def f(x): return steps[0](x)",
    "items of a list": "def f(x):\n    for step in steps: x = step(x)\n    return x",
    "item of a dict": "def f(x): return named['a'](x)",
    "values of a dict": "def f(x):\n    for step in named.values(): x = step(x)\n    return x",
    "list in a tuple": "def f(x): return pair[1][0](x)",
    "list in a dict": "def f(x): return named['all'][0](x)",
    "field of a dataclass": "def f(x): return fields.first(x)",
    "list in a dataclass": "def f(x): return fields.names[0](x)",
    "attribute of a class": "def f(x): return Held.step(x)",
    "tuple in a class": "def f(x): return Held.steps[0](x)",
    "list in a class": "def f(x): return Held.listed[0](x)",
    "attribute of a module": "def f(x): return module.step(x)",
    "list in a module": "def f(x): return module.listed[0](x)",
    "global": "def f(x): return single(x)",
    "undefined global": "def f(x): return undefined(x)",
    "tuple": "def f(x): return several[0](x)",
    "default": "def f(x, steps=steps): return steps[0](x)",
    "closure": "def made():\n    kept = steps\n    def f(x): return kept[0](x)\n    return f\n"
    "f = made()",
    "empty cell": "def made():\n    def f(x): return kept(x)\n    def put(it):\n"
    "        nonlocal kept\n        kept = it\n    if 0: kept = 0\n    return f, put\n"
    "f, put = made()",
    "in a helper": "def g(x): return steps[0](x)\ndef f(x): return g(x) + 1.0",
}


def put(space, name):
    """Make what a function reads valid, with one change."""
    match name:
        case "item of a dict":
            space["named"]["a"] = first
        case "values of a dict":
            space["named"].update(a=first, b=second)
        case "list in a tuple":
            space["pair"][1].append(first)
        case "list in a dict":
            space["named"]["all"] = [first]
        case "field of a dataclass":
            space["fields"].first = first
        case "list in a dataclass":
            space["fields"].names.append(first)
        case "attribute of a class":
            space["Held"].step = staticmethod(first)
        case "tuple in a class":
            space["Held"].steps = (first,)
        case "list in a class":
            space["Held"].listed.append(first)
        case "attribute of a module":
            space["module"].step = first
        case "list in a module":
            space["module"].listed.append(first)
        case "global":
            space["single"] = first
        case "undefined global":
            space["undefined"] = first
        case "tuple":
            space["several"] = (first,)
        case "empty cell":
            space["put"](first)
        case _:
            space["steps"].append(first)


def parts_of(f):
    """The objects that a function which was never compiled is made of, without the code."""
    return f.__globals__, f.__name__, f.__defaults__, f.__closure__


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("is_fresh", [False, True], ids=["same dispatcher", "another dispatcher"])
def test_a_function_is_compiled_once_what_it_reads_is_valid(name, is_fresh):
    module = ModuleType("failures_again_module")
    module.listed = []
    held = type("Held", (), {"steps": (), "listed": []})
    space = {
        "steps": [],
        "named": {},
        "pair": (1.0, []),
        "fields": Steps(),
        "Held": held,
        "module": module,
        "single": None,
        "several": (),
        "__name__": __name__,
    }
    exec(SOURCES[name], space)
    f, context = space["f"], Context(table)
    compiled = context.jit(f)
    for _ in range(2):
        try:
            compiled(2.0)
        except (OverlayError, NameError, AttributeError, IndexError, KeyError, ValueError):
            continue
        assert name in ("items of a list", "values of a dict")
    put(space, name)
    if is_fresh:
        compiled = context.jit(f)
    try:
        wanted = Context(other_table).jit(FunctionType(f.__code__, *parts_of(f)))(2.0)
    except NotCompilable as error:  # no compiled code can read this
        with pytest.raises(NotCompilable, match=re.escape(error.asked)):
            compiled(2.0)
    else:
        assert compiled(2.0) == wanted == context(f, 2.0)
