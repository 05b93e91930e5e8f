"""Plugins that return nonsense, and edit with nonsense: an error names it, or it has no effect."""

import math
import random
import re
from collections import Counter

import llvmlite.binding
import llvmlite.ir

from overlay import Context, OverlayError, Plugin
from overlay.ir import UNKNOWN, Variable, read

HOOKS = (
    *("enter", "before_inference", "infer", "inline", "after_inference", "after_codegen"),
    *("before_optimisation", "after_optimisation", "interpreter", "analysed", "marked", "around"),
)
EDITS = ("replace", "set_result", "delete", "insert_before", "insert_after", "insert_first")


def helper(x):
    return math.sin(x) + 1.0


def straight(x):
    return helper(x) * 2.0


def looped(x):
    total = 0.0
    for i in range(3):
        if x > i:
            total += helper(x)
    return total


def closed(x):
    def inner(y):
        return helper(y) - x

    return inner(x) + inner(2.0)


PROGRAMS = (straight, looped, closed)


class Odd:
    def __repr__(self):
        return "<odd>"


def raises(*args):
    raise KeyError("nonsense")


NONSENSE = {
    "None": lambda ir: None,
    "zero": lambda ir: 0,
    "true": lambda ir: True,
    "text": lambda ir: "define nonsense {",
    "empty text": lambda ir: "",
    "an empty module": lambda ir: llvmlite.ir.Module(),
    "an empty module of LLVM": lambda ir: llvmlite.binding.parse_assembly(""),
    "bytes": lambda ir: b"\0\xff",
    "nan": lambda ir: math.nan,
    "an object": lambda ir: Odd(),
    "a list": lambda ir: [1, "two"],
    "a tuple": lambda ir: (),
    "a dictionary": lambda ir: {},
    "a class": lambda ir: Odd,
    "int": lambda ir: int,
    "str": lambda ir: str,
    "a function": lambda ir: helper,
    "a function that raises": lambda ir: raises,
    "a function of no arguments": lambda ir: lambda: 1.0,
    "a C function": lambda ir: math.hypot,
    "an exception": lambda ir: ValueError("nonsense"),
    "a module": lambda ir: math,
    "a variable that is not there": lambda ir: Variable("nonsense"),
    "unknown": lambda ir: UNKNOWN,
    "another function's IR": lambda ir: read(helper),
    "the IR": lambda ir: ir,
    "a variable": lambda ir: next(iter(getattr(ir, "arguments", ())), None),
    "a call": lambda ir: next(iter(ir.calls()), None) if hasattr(ir, "calls") else None,
    "a call elsewhere": lambda ir: read(looped).calls()[0],
    "a plugin": lambda ir: Plugin(),
    "an infinite recursion": lambda ir: straight,
}


def draw(seed):
    """The hooks with the value that each returns, and edits with their arguments."""
    rng = random.Random(seed)
    hooks = rng.sample(HOOKS, rng.choice((1, 1, 2, 4)))
    edits = [
        {"edit": rng.choice(EDITS), "at": rng.randrange(4), "with": rng.choices([*NONSENSE], k=3)}
        for _ in range(rng.choice((0, 1, 3)))
    ]
    return {
        "program": rng.randrange(len(PROGRAMS)),
        "gives": {hook: rng.choice([*NONSENSE]) for hook in hooks},
        "stage": rng.choice(("before_inference", "after_inference")),
        "edits": edits,
    }


def check(case):
    """Raises AssertionError if the outcome is an error that is not one of ours, or if the program
    differs from the one without the plugin.
    """
    program, seen = PROGRAMS[case["program"]], Counter()
    ctx = Context(plugins=(_plugin(case, seen),))
    ends = [_end(ctx, program) for _ in range(2)]
    assert ends[0] == ends[1], ends
    assert Context().jit(program)(1.5) == program(1.5)
    return Counter({"errors" if type(ends[0]) is tuple else "results": 1, **seen})


def _end(ctx, program):
    """The outcome: the kind of result, or the error and its message without addresses."""
    try:
        return type(ctx.jit(program)(1.5)).__name__
    except OverlayError as error:
        return type(error).__name__, re.sub(r"0x[0-9a-f]+", "", error.asked)
    except KeyError as error:
        if error.args != ("nonsense",):  # which the program raises, where a plugin has put it
            raise
        return "KeyError", "nonsense"


def _plugin(case, seen):
    """A plugin with hooks as in the case."""

    def hook(name):
        def given(self, value, *rest):
            seen[name] += 1
            made = NONSENSE[case["gives"][name]](value) if name in case["gives"] else None
            if name == case["stage"]:
                for edit in case["edits"]:
                    seen["edits"] += 1
                    _edit(value, **edit)
            return made

        return given

    names = {*case["gives"], *([case["stage"]] if case["edits"] else [])}
    return type("Nonsense", (Plugin,), {name: hook(name) for name in names})()


def _edit(ir, *, edit, at, **others):
    calls = ir.calls()
    first, *rest = (NONSENSE[name](ir) for name in others["with"])
    call = first if at == 3 or not calls else calls[at % len(calls)]
    if edit == "replace":
        ir.replace(call, first, *rest)
    elif edit == "set_result":
        ir.set_result(call, first)
    elif edit == "delete":
        ir.delete(call)
    elif edit == "insert_first":
        ir.insert_first(first, *rest)
    else:
        getattr(ir, edit)(call, first, *rest)
