"""Reading code: the calls that are found in it, and with what."""

import dis
import functools
import json
import math
import statistics
import threading
import types

import pytest

from overlay.code.events import CallEvent
from overlay.code.known_values import UNKNOWN, Known, type_of
from overlay.code.reading import CodeReading


def helper(x):
    return x


# in one of several instructions, or in one
ENTERS_BLOCKS = ("BEFORE_WITH", "LOAD_SPECIAL")


def code_of(module):
    pending = [module.__loader__.get_code(module.__name__)]
    while pending:
        code = pending.pop()
        yield code
        pending += [const for const in code.co_consts if isinstance(const, types.CodeType)]


@pytest.mark.parametrize("module", [json.decoder, functools, statistics, threading, dis])
def test_every_call_instruction_that_can_be_reached_is_an_event(module):
    """At the places of the source where an instruction calls, an event was read."""
    total = 0
    for code in code_of(module):
        reading = CodeReading(code, vars(module), {}, {}, lambda event: UNKNOWN)
        seen = {event.at.lineno for event in reading.events.values()}
        calls = {
            ins.positions.lineno
            for ins in dis.get_instructions(code)
            if ins.opname in ("CALL", "CALL_KW", "CALL_FUNCTION_EX") and ins.argval is not None
        }
        withs = {
            ins.positions.lineno
            for ins in dis.get_instructions(code)
            if ins.opname in ("LOAD_SUPER_ATTR", *ENTERS_BLOCKS) or ins.argval == "super"
        }
        missing = calls - seen - withs
        assert not missing, f"{code.co_name}: no event at lines {missing}"
        total += len(calls)
    assert total > 50


def test_the_end_of_a_block_is_no_call_of_the_program():
    """Whatever is unpacked and matched inside it."""

    def matches(manager, value):
        with manager:
            match value:
                case []:
                    return 0
                case [[first], *_] | {"first": first}:
                    return helper(first)
            () = value
        return 1

    reading = CodeReading(matches.__code__, globals(), {}, {}, lambda event: UNKNOWN)
    callees = [e.callee for e in reading.events.values() if isinstance(e, CallEvent)]
    assert len(callees) == 1
    assert isinstance(callees[0], Known)
    assert callees[0].object is helper


def test_a_handler_in_a_class_body_sees_what_was_stored_before_the_error():
    source = "class Inner:\n    f = g\n    try:\n        f = h\n    except E:\n        f()\n"
    namespace = {"g": math.sin, "h": math.cos, "E": ValueError}
    code = compile(source, "inner", "exec").co_consts[0]
    reading = CodeReading(code, namespace, {}, {}, lambda event: UNKNOWN)
    (call,) = [e for e in reading.events.values() if isinstance(e, CallEvent)]
    assert type_of(call.callee) is type(math.sin)
    assert not isinstance(call.callee, Known)
