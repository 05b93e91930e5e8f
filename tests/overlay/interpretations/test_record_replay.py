import datetime
import decimal
import email.utils
import heapq
import io
import json
import os
import pathlib
import platform
import random
import time
import urllib.request
import uuid

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay import OverlayError
from overlay.interpretations.record_replay import (
    Adapter,
    NotRecordable,
    ReplayMismatch,
    from_data,
    record,
    replay,
    to_data,
)
from tests.examples import examples


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.json"


def drawn():
    return [random.random(), random.randint(1, 10**9), uuid.uuid4()]


def test_a_run_is_replayed_without_its_calls(path):
    first = record(path, ["random:random", random.Random.randint, uuid.uuid4], drawn)
    assert replay(path, drawn) == first != drawn()
    calls = json.loads(path.read_text())["calls"]
    assert [call["call"] for call in calls] == [
        *("random:random", "random:Random.randint", "uuid:uuid4")
    ]


def test_a_library_is_replayed_inside(path):
    first = record(path, [time.time], email.utils.formatdate)
    assert replay(path, email.utils.formatdate) == first
    (call,) = json.loads(path.read_text())["calls"]
    assert isinstance(call["result"], float)
    assert "utils.py" in call["where"]


def test_files_and_answers_are_recorded_by_their_contents(path, tmp_path):
    note = tmp_path / "note.txt"
    note.write_text("first\n")

    def program():
        with urllib.request.urlopen(note.as_uri()) as answer:
            return note.read_text(), answer.read(), note.read_bytes()

    functions = [open, urllib.request.urlopen]
    first = record(path, functions, program)
    assert first == ("first\n", b"first\n", b"first\n")
    assert len(json.loads(path.read_text())["calls"]) == 3  # what urlopen opens is inside it
    note.write_text("second\n")
    assert replay(path, program) == first


def test_errors_are_replayed(path):
    def program(name):
        try:
            return os.stat(name).st_size
        except FileNotFoundError as error:
            return str(error.errno)

    assert record(path, [os.stat], program, "not there") == "2"
    assert replay(path, program, "not there") == "2"


class NoMessage(Exception):
    def __str__(self):
        raise ValueError("no message")


def without_message():
    raise NoMessage(object())


def test_an_error_without_a_message_is_recorded_and_replayed(path):
    def program():
        try:
            without_message()
        except NoMessage as error:
            return type(error).__name__

    assert record(path, [without_message], program) == replay(path, program) == "NoMessage"


def test_an_error_is_the_same_with_its_file_and_its_place(path):
    def program():
        found = []
        for call, argument in (
            (os.stat, "not there"),
            (json.loads, "[1, x]"),
            (bytes.decode, b"\xff"),
        ):
            try:
                call(argument)
            except (OSError, ValueError) as error:
                found.append(str(error))
        return found

    first = record(path, [os.stat, json.loads, bytes.decode], program)
    assert "'not there'" in first[0]
    assert "column 5" in first[1]
    assert replay(path, program) == first


def test_a_run_that_fails_can_be_replayed(path):
    seen = []

    def program():
        seen.append(random.randrange(10**9))
        return 1 // 0

    for run in (
        lambda: record(path, ["random:Random.randrange"], program),
        lambda: replay(path, program),
    ):
        with pytest.raises(ZeroDivisionError):
            run()
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda: random.randint(1, 7), r"randint\(.*1, 7\) is called where .*1, 6\) was recorded"),
        (lambda: random.random(), r"random:random\(\) is called where .*randint"),
        (lambda: [random.randint(1, 6) for _ in range(3)], "called after the recorded run ended"),
        (lambda: random.randint(1, 6), r"ended without random:Random.randint"),
    ],
)
def test_other_calls_are_an_error_that_says_where(path, program, message):
    record(
        path,
        ["random:Random.randint", "random:random"],
        lambda: [random.randint(1, 6) for _ in range(2)],
    )
    with pytest.raises(ReplayMismatch, match=message) as info:
        replay(path, program)
    assert "test_record_replay.py:" in str(info.value)


def test_a_program_that_catches_the_mismatch_does_not_hide_it(path):
    def tolerant():
        try:
            return random.randint(1, 7)
        except Exception:
            return 1

    record(path, ["random:Random.randint"], lambda: random.randint(1, 6))
    with pytest.raises(ReplayMismatch, match="is called where"):
        replay(path, tolerant)


def test_what_is_not_data_is_refused_or_adapted(path):
    def program():
        return platform.uname().system

    with pytest.raises(NotRecordable, match="a uname_result cannot be recorded") as info:
        record(path, [platform.uname], program)
    assert "Adapter" in str(info.value)
    adapter = Adapter(tuple, lambda parts: platform.uname_result(*parts[:-1]))
    first = record(path, {platform.uname: adapter}, program)
    assert first == platform.system()
    assert replay(path, program, adapters={"platform:uname": adapter}) == first
    with pytest.raises(NotRecordable, match="written to"):
        record(path, [open], path.with_suffix(".x").write_text, "x")


def reads_into(buffer):
    buffer[:2] = b"ab"
    return 2


def fails_late(items):
    items.clear()
    raise ValueError


CHANGES = {
    "shuffle": ("random:Random.shuffle", lambda: random.shuffle([1, 2, 3, 4, 5, 6, 7])),
    "buffer": (reads_into, lambda: reads_into(bytearray(4))),
    "heap": (heapq.heapify, lambda: heapq.heapify([3, 2, 1])),
    "array": (np.copyto, lambda: np.copyto(np.zeros(2), 1.0)),
    "by name": (np.copyto, lambda: np.copyto(src=1.0, dst=np.zeros(2))),
    "error": (fails_late, lambda: fails_late([1])),
}


@pytest.mark.parametrize("name", CHANGES)
def test_calls_that_change_their_arguments_are_refused(path, name):
    function, program = CHANGES[name]
    with pytest.raises(NotRecordable, match="changes its arguments") as info:
        record(path, [function], program)
    assert "call: " in str(info.value)
    assert record(path, [heapq.nsmallest], heapq.nsmallest, 1, [float("nan"), 2]) is not None


def test_a_function_without_a_name_is_refused(path):
    with pytest.raises(OverlayError, match="cannot be found by its name"):
        record(path, [lambda: 1], drawn)


def test_functions_of_a_module_that_are_methods_of_its_object(path):
    def program():
        return [random.random() for _ in range(3)]

    assert record(path, [random.random], program) == replay(path, program)
    with pytest.raises(OverlayError, match=r"'random:Random.randint'"):
        record(path, [random.randint], drawn)
    with pytest.raises(OverlayError, match="not in a list"):
        record(path, "random:random", program)


def test_a_file_of_something_else_is_refused(path):
    for text in ("not JSON", "[]", "{}"):
        path.write_text(text)
        with pytest.raises(OverlayError, match="is not a recorded run"):
            replay(path, drawn)


leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.complex_numbers(allow_nan=False)
    | st.datetimes()
    | st.dates()
    | st.timedeltas()
    | st.decimals(allow_nan=False)
    | st.fractions()
    | st.uuids()
)


@settings(max_examples=examples(40))
@given(
    st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner)
            | st.lists(inner).map(tuple)
            | st.dictionaries(st.text() | st.integers(), inner)
        ),
        max_leaves=8,
    )
)
def test_values_come_back_as_they_were(value):
    back = from_data(json.loads(json.dumps(to_data(value))))
    assert back == value
    assert repr(back) == repr(value)


def test_other_values_come_back_as_they_were():
    for value in (
        *({1, 2}, frozenset({"a"}), bytearray(b"x"), pathlib.Path("a") / "b", datetime.time(1, 2)),
        *(np.float32(0.1), np.int64(3), decimal.Decimal("1.50")),
    ):
        back = from_data(json.loads(json.dumps(to_data(value))))
        assert (back, type(back)) == (value, type(value))
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    back = from_data(json.loads(json.dumps(to_data(array))))
    assert (back.dtype, back.tolist()) == (array.dtype, array.tolist())
    with pytest.raises(NotRecordable):
        to_data(io.StringIO())
    with pytest.raises(NotRecordable):
        to_data(np.array([object()]))
