import argparse
import asyncio
import colorsys
import dataclasses
import enum
import fractions
import io
import itertools
import json
import logging
import statistics
import threading
import unittest.mock

import numpy as np
import pytest

from overlay import Context, MethodTable, NotCompilable, call_next
from overlay.interpretations.profiling import Profiler
from overlay.interpretations.sandbox import Refused, Sandbox
from overlay.interpretations.tracing import Tracer, trace


def ticking():
    """A clock of which each reading is a thousand nanoseconds later."""
    return itertools.count(0, 1000).__next__


def test_the_tree_has_every_call_with_arguments_and_results():
    found = trace(colorsys.rgb_to_hsv, 0.0, 0.5, 1.0)
    assert found.result == colorsys.rgb_to_hsv(0.0, 0.5, 1.0)
    assert found.tree(times=False).splitlines() == [
        "rgb_to_hsv(0.0, 0.5, 1.0) -> (0.5833333333333334, 1.0, 1.0)",
        "  max(0.0, 0.5, 1.0) -> 1.0",
        "  min(0.0, 0.5, 1.0) -> 0.0",
    ]


def test_calls_stand_below_those_that_made_them():
    found = trace(statistics.stdev, [1.0, 2.0, 4.0])
    depths = {call.name: depth for depth, call in found.walk()}
    assert depths["stdev"] == 0
    assert depths["_ss"] == 1
    assert len(found.find("_exact_ratio")) == 3
    assert all(call.end is not None for _, call in found.walk())


def test_depth_and_modules_say_what_is_recorded():
    shallow = Tracer(depth=2)
    shallow(statistics.stdev, [1.0, 2.0, 4.0])
    assert {depth for depth, _ in shallow.walk()} == {0, 1}
    fractional = Tracer(only=["fractions"])
    fractional(statistics.stdev, [1.0, 2.0, 4.0])
    assert fractional.find("Fraction")
    assert {call.name.partition(".")[0] for _, call in fractional.walk()} == {"Fraction"}


def test_the_trace_file_has_complete_events_that_nest(tmp_path):
    tracer = Tracer(clock=ticking())
    tracer(statistics.stdev, [1.0, 2.0])
    tracer.save(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    calls = [event for event in events if event["ph"] == "X"]
    assert len(calls) == len(list(tracer.walk()))
    outer = next(event for event in calls if event["name"] == "stdev")
    for event in calls:
        assert set(event) == {"name", "ph", "ts", "dur", "pid", "tid", "cat", "args"}
        assert (
            outer["ts"] <= event["ts"] <= event["ts"] + event["dur"] <= outer["ts"] + outer["dur"]
        )
    assert outer["args"]["arguments"] == "[1.0, 2.0]"
    (thread,) = [event for event in events if event["ph"] == "M"]
    assert thread["args"]["name"] == threading.current_thread().name
    assert {event["tid"] for event in events} == {threading.get_native_id()}
    assert 0 < thread["tid"] < 2**32  # others are taken to be of one thread


def test_calls_are_found_by_the_end_of_their_names():
    def local(x):
        return fractions.Fraction(x)

    found = trace(local, 2)
    assert found.find("local") == found.roots
    assert found.find("__new__") == found.find("Fraction.__new__") != []
    assert found.find("ocal") == []


def test_an_exception_passes_and_the_calls_are_there():
    tracer = Tracer()
    with pytest.raises(ZeroDivisionError, match=r"Fraction\(1, 0\)"):
        tracer(fractions.Fraction, 1, 0)
    (made,) = tracer.find("Fraction.__new__")
    assert made.error == "ZeroDivisionError: Fraction(1, 0)"
    assert "raised ZeroDivisionError" in str(tracer)


def test_threads_have_roots_of_their_own_and_tasks_those_that_made_them():
    tracer = Tracer()
    context = Context(plugins=(tracer,))
    thread = threading.Thread(target=context.wrap(statistics.mean), args=([1, 2],))
    thread.start()
    thread.join()
    assert [root.name for root in tracer.roots] == ["mean"]

    async def both():
        return await asyncio.gather(*(one(n) for n in range(3)))

    async def one(n):
        await asyncio.sleep(0)
        return statistics.mean([n, n])

    tracer = Tracer()
    assert tracer(lambda: asyncio.run(both())) == [0, 1, 2]
    assert [call.arguments for call in tracer.find("mean")] == ["[0, 0]", "[1, 1]", "[2, 2]"]
    assert len(tracer.roots) == 1


def test_a_table_and_a_tracer_in_one_context():
    table = MethodTable("halved")

    @table.overlay(statistics.mean)
    def mean(data: list):
        return call_next(data) / 2

    tracer = Tracer()
    assert Context(table, plugins=(tracer,))(statistics.mean, [2.0, 4.0]) == 1.5
    assert [call.result for call in tracer.find("mean")] == ["1.5"]


def test_numpy_is_traced_and_values_may_be_left_out():
    tracer = Tracer(values=False)
    found = tracer(np.linalg.norm, np.array([3.0, 4.0]))
    assert found == 5.0
    assert tracer.find("norm")
    assert "norm(...) -> ..." in tracer.tree()


def made_classes():
    @dataclasses.dataclass(order=True, frozen=True)
    class Point:
        x: int
        y: float = 2.0

    class Colour(enum.Enum):
        RED = 1
        BLUE = enum.auto()

    points = Point(1), Point(1) < Point(2), hash(Point(1)) == hash(Point(1, 2.0))
    return Point.__module__, repr(points), [colour.name for colour in Colour], Colour(2).value


def logged():
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(module)s %(funcName)s %(message)s"))
    logger = logging.Logger("traced")
    logger.addHandler(handler)
    logger.warning("hello %s", 3)
    return stream.getvalue()


def parsed():
    parser = argparse.ArgumentParser(prog="x")
    parser.add_argument("-n", type=int)
    return vars(parser.parse_args(["-n", "4"])), json.loads(json.dumps({"a": [1, 2.5]}, indent=1))


@pytest.mark.parametrize("program", [made_classes, logged, parsed])
def test_a_program_gives_what_it_gives_and_sees_its_own_frames(program):
    expected = program()
    tracer = Tracer()
    assert tracer(program) == expected
    assert len(list(tracer.walk())) > 20
    if program is logged:
        assert expected == "test_tracing logged hello 3\n"


def test_objects_that_cannot_be_shown_yet_do_no_harm():
    class Late:
        def __init__(self):
            self.x = 1

        def __repr__(self):
            return f"Late({self.x})"

    (made,) = trace(Late).roots
    assert made.result == "Late(1)"
    assert "Late instance" in made.calls[0].arguments


class NoText:
    def __repr__(self):
        raise ValueError("no text")

    @property
    def __class__(self):
        raise AttributeError("no class")


class NoMessage(Exception):
    def __str__(self):
        raise ValueError("no message")


class Key:
    compared = False

    def __hash__(self):
        if Key.compared:
            raise ValueError("no hash")
        return 1

    def __lt__(self, other):
        raise ValueError("no order")


def in_a_mapping():
    Key.compared = False
    mapping = {Key(): 1, 2: 3}
    Key.compared = True
    return type(passed(mapping)).__name__


def of_an_error():
    try:
        failing()
    except NoMessage:
        return "caught"


def failing():
    raise NoMessage


def passed(value):
    return value


def of_a_mock():
    with unittest.mock.patch("statistics.mean", return_value=7) as mean:
        statistics.mean([1])
        return mean.call_count, unittest.mock.create_autospec(passed)(3) is not None


@pytest.mark.parametrize(
    "program",
    [
        lambda: type(passed(NoText())).__name__,
        lambda: len(passed([NoText(), {1: NoText()}])),
        in_a_mapping,
        of_an_error,
        of_a_mock,
    ],
)
def test_values_that_cannot_be_shown_do_not_change_the_program(program):
    expected = program()
    for tool in (Tracer(), Tracer(values=False), Profiler()):
        assert tool(program) == expected
    with pytest.raises(Refused):
        Sandbox([passed])(lambda: passed(NoText()))


def test_compilation_is_refused():
    with pytest.raises(NotCompilable, match="around"):
        Context(plugins=(Tracer(),)).jit(statistics.mean)
