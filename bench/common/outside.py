"""Calls of targets outside of contexts: their cost while a context holds the target, and after
release.

Of each kind there are three targets of equal cost: one that no table has, one that a living context
holds, and one that was released. They run alternately, in one process.
"""

import functools
import gc
import math
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from common.timing import interleaved

from overlay import Context, MethodTable, call_next
from overlay._native import intercept

__all__ = ["KINDS", "Outside", "measured"]

STATES = ("native", "held", "released")
CALLS = 100_000


@dataclass(frozen=True)
class Outside:
    """Nanoseconds of a call above its native cost. spread: of the native call, as a share."""

    kind: str
    python: bool  # the target is Python code, not C
    native: float
    held: float
    released: float
    spread: float


def code(before: str, call: str) -> list[Any]:
    """Three targets from the same source, each with code that calls it in a loop."""
    return [loop(*made(before), call) for _ in STATES]


def made(before: str) -> tuple[Any, dict[str, Any]]:
    space: dict[str, Any] = {}
    exec(before, {"functools": functools}, space)
    return space["target"], space


def existing(call: str, *targets: Any) -> list[Any]:
    """Three targets in C of equal cost."""
    return [loop(target, {"target": target}, call) for target in targets]


def loop(target: Any, space: dict[str, Any], call: str) -> tuple[Any, Callable[[], None]]:
    text = f"def calls(n={CALLS // 10}):\n    for _ in range(n):\n" + f"        {call}\n" * 10
    own = dict(space)
    exec(text, own)
    return target, own["calls"]


def method_calls(*names: str) -> list[Any]:
    return [loop(getattr(str, name), {}, f"''.{name}()") for name in names]


KINDS: dict[str, tuple[bool, Callable[[], list[Any]]]] = {
    "C function of one argument": (
        False,
        lambda: existing("target(1.0)", math.isnan, math.isinf, math.isfinite),
    ),
    "C function of several": (
        False,
        lambda: existing("target(6.0, 4.0)", math.fmod, math.copysign, math.remainder),
    ),
    "method in C": (False, lambda: method_calls("isalpha", "isdigit", "isalnum")),
    "method in C, a class's": (
        False,
        lambda: [
            loop(getattr(str, name), {"target": getattr(str, name)}, "target('')")
            for name in ("islower", "isupper", "isspace")
        ],
    ),
    "ufunc": (False, lambda: existing("target(1.0)", np.isnan, np.isinf, np.isfinite)),
    "function": (True, lambda: code("def target(): pass", "target()")),
    "function of two arguments": (True, lambda: code("def target(a, b=2): pass", "target(1, b=3)")),
    "method": (
        True,
        lambda: code(
            "class C:\n    def m(self): pass\nc, target = C(), C.m",
            "c.m()",
        ),
    ),
    "property": (
        True,
        lambda: code(
            "class C:\n    p = property(lambda self: 1)\nc, target = C(), C.p.fget",
            "c.p",
        ),
    ),
    "operator of a class": (
        True,
        lambda: code(
            "class C:\n    def __add__(self, other): return 1\nc, target = C(), C.__add__",
            "c + 1",
        ),
    ),
    "__init__": (
        True,
        lambda: code(
            "class C:\n    def __init__(self): pass\ntarget = C.__init__",
            "C()",
        ),
    ),
    "class": (True, lambda: code("class target:\n    def __init__(self): pass", "target()")),
    "callable object": (
        True,
        lambda: code(
            "class C:\n    def __call__(self): pass\ntarget = C()",
            "target()",
        ),
    ),
}


def measured(rounds: int) -> list[Outside]:
    """The measurement of each kind."""
    return [of_kind(kind, *KINDS[kind], rounds) for kind in KINDS]


def of_kind(kind: str, python: bool, made: Callable[[], list[Any]], rounds: int) -> Outside:
    (_, native), (held, calls_held), (released, calls_released) = made()
    before = Context(going_on(released))
    for run in (native, calls_held, calls_released):
        run()
    before(calls_released)
    calls_released()
    del before
    gc.collect()
    living = Context(going_on(held))
    living(calls_held, 1)
    states = [intercept.interception_of(each) is not None for each in (held, released)]
    if states != [True, False]:
        raise SystemExit(f"{kind}: held and released are {states}, the figures are void")
    variants = dict(zip(STATES, (native, calls_held, calls_released), strict=True))
    times = interleaved(variants, rounds, clock=process_time)
    each = {name: min(runs) / CALLS * 1e9 for name, runs in times.items()}
    ordered = sorted(times["native"])
    middle = ordered[len(ordered) // 2]
    return Outside(
        kind,
        python,
        each["native"],
        each["held"] - each["native"],
        each["released"] - each["native"],
        middle / ordered[0] - 1,
    )


def going_on(target: Any) -> MethodTable:
    table = MethodTable("going on")
    table.overlay(target)(lambda *args, **named: call_next(*args, **named))
    return table
