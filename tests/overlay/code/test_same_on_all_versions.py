"""Reading of programs gives equal results on every version of Python.

What is compared stands in ``found_in_programs.txt``: ``WRITE_FOUND=1`` writes it.
"""

from __future__ import annotations

import os
import types
from pathlib import Path

import pytest

from overlay.code import reading
from overlay.code.body import Apply, ConstantValue, Copy, Make
from overlay.code.events import CallEvent, Implicit, Operation
from overlay.code.known_values import UNKNOWN, BoundFunction, Known, KnownAttribute, Made
from overlay.code.read_bodies import body_of
from tests.overlay import read_programs

KEPT = Path(__file__).with_name("found_in_programs.txt")
PROGRAMS = [
    value
    for value in vars(read_programs).values()
    if isinstance(value, types.FunctionType) and value.__module__ == read_programs.__name__
]

# Where versions differ in what runs. From 3.15 on a generator expression calls ``iter`` itself, not
# the function around it. From 3.14 on annotations are functions: the programs have none.
NOT_COMPARED = ("iter(", "function <genexpr>(")


def shown(value):
    if isinstance(value, types.CodeType):
        return f"code {value.co_name}"
    return getattr(value, "__name__", None) or repr(value)


def applied(function):
    """What an analysis finds: the calls and operators of each line, and what they are given."""
    body = body_of(function)
    first = function.__code__.co_firstlineno
    held = {}
    for block in body.blocks.values():
        for s in block.statements:
            if isinstance(s, ConstantValue):
                held[s.target] = shown(s.value)
            elif isinstance(s, Make):
                held[s.target] = f"function {s.code.co_name}"

    passed = {label: passed_to(body, label, held) for label in body.blocks}
    for label, block in body.blocks.items():
        there = held | passed[label]

        def name(of, there=there):
            return there.get(of, "." if of.startswith("$") else of)

        for s in block.statements:
            if isinstance(s, Apply) and s.native == "GET_AITER":
                continue  # from 3.15 on a comprehension takes what it iterates over from the stack
            if isinstance(s, Apply) and s.function is not None:
                called = name(s.function) if isinstance(s.function, str) else shown(s.function)
                given = [*map(name, s.args), *(f"{n}={name(v)}" for n, v in s.kwargs)]
                line = int(s.where.rpartition(":")[2]) - first
                yield f"{line} {called}({', '.join(given)})"
            elif isinstance(s, Make):
                yield f"- def {s.code.co_name} ({', '.join(map(str, s.captured))})"


def passed_to(body, label, held):
    """What is known of the slots of the stack that the blocks before one pass to it."""
    found = {}
    for before in body.blocks.values():
        if label in before.next:
            for s in before.statements:
                if isinstance(s, Copy) and s.target.startswith("$s"):
                    found.setdefault(s.target, set()).add(held.get(s.source))
    return {slot: of.pop() for slot, of in found.items() if len(of) == 1 and None not in of}


def known(value):
    if isinstance(value, Known) and type(value.object) is slice:
        return "."  # as one that is made when the program runs
    if isinstance(value, Known):
        return shown(value.object)
    if isinstance(value, Made):
        return f"function {value.code.co_name}"
    if isinstance(value, BoundFunction):
        return f"{known(value.function)} of {known(value.receiver)}"
    return f".{value.name}" if isinstance(value, KnownAttribute) else "."


def events(function):
    """What ``explain`` finds."""
    code = function.__code__
    found = reading.CodeReading(code, function.__globals__, {}, {}, lambda event: UNKNOWN)
    for event in found.events.values():
        line = (event.at.lineno or 0) - code.co_firstlineno
        if isinstance(event, CallEvent):
            args = "*" if event.args is None else ", ".join(map(known, event.args))
            yield f"{line} call {known(event.callee)}({args}) {' '.join(event.names)}".rstrip()
        elif isinstance(event, Operation):
            args = ", ".join(map(known, event.args))
            yield f"{line} operator {event.function.__name__}({args})"
        else:
            assert isinstance(event, Implicit)
            yield f"{line} {event.function.__name__}"


def found_in(program):
    lines = {*applied(program), *(f"event {line}" for line in events(program))}
    return sorted(line for line in lines if not any(part in line for part in NOT_COMPARED))


def text():
    parts = []
    for program in PROGRAMS:
        parts += [f"# {program.__name__}", *found_in(program), ""]
    return "\n".join(parts)


def kept():
    return {
        part.partition("\n")[0]: part.partition("\n")[2].split("\n")
        for part in KEPT.read_text().strip().removeprefix("# ").split("\n\n# ")
    }


@pytest.mark.skipif("WRITE_FOUND" not in os.environ, reason="writes what the others compare with")
def test_what_is_found_is_written():
    KEPT.write_text(text())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_what_is_found_is_the_same_on_every_version(program):
    assert found_in(program) == kept()[program.__name__]


def test_every_program_of_the_file_is_compared():
    assert kept().keys() == {program.__name__ for program in PROGRAMS}
    assert len(PROGRAMS) > 15
