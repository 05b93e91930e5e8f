"""Work that is logged as it begins and as it ends."""

import logging
import math
import subprocess
import sys
import threading
import time

import pytest

from inversion import invert
from overlay import Context, MethodTable
from overlay.core.logs import timed
from primitives import Integers


def wave(x: float, y: float) -> float:
    return math.sin(x) * y + x


def area(width: int, height: int) -> int:
    return width * height


def messages(caplog, call):
    caplog.clear()
    with caplog.at_level(logging.INFO, "inversion"):
        call()
    return [r.getMessage() for r in caplog.records if r.name == "inversion" and is_own(r)]


def is_own(record):
    """Whether a record is not of a thread that compiles inverses of other tests."""
    return record.thread == threading.main_thread().ident


def test_each_stage_of_an_inversion_is_logged_as_it_begins_and_with_its_time(caplog):
    found = messages(caplog, lambda: invert(wave))
    stages = [message.removesuffix(" ...") for message in found[::2]]
    assert [stage.split()[0] for stage in stages] == ["lifting", "planning", "writing"]
    assert "x, y from return" in stages[1]
    for stage, begins, ends in zip(stages, found[::2], found[1::2], strict=True):
        assert begins == f"{stage} ..."
        assert ends.startswith(f"{stage}: ")
        assert ends.endswith(" s")


def test_a_search_is_logged_and_an_answer_without_one_is_not(caplog):
    digits = Integers(2, 9)
    inverse = invert(area, domain={"width": digits, "height": digits})
    begins, ends = messages(caplog, lambda: inverse(35))
    assert begins == f"searching a solution of {inverse!r} ..."
    assert ends.startswith(f"searching a solution of {inverse!r}: ")
    plain = invert(wave)
    assert messages(caplog, lambda: plain(1.0)) == []


def test_an_error_that_ends_the_work_is_named(caplog):
    def fails():
        with pytest.raises(ZeroDivisionError), timed("inversion", "work"):
            raise ZeroDivisionError

    begins, ends = messages(caplog, fails)
    assert begins == "work ..."
    assert ends.startswith("work: ")
    assert ends.endswith(" s, ended by ZeroDivisionError")


def test_overlays_of_the_clock_and_handlers_of_the_program_do_not_meet(caplog):
    table = MethodTable("stopped")
    table.overlay(time.perf_counter)(lambda: 1 / 0)
    table.overlay(math.sin)(lambda x: 0.0)
    heard = []
    handler = logging.Handler()
    handler.emit = lambda record: heard.append(math.sin(1.0)) if is_own(record) else None
    logging.getLogger("inversion").addHandler(handler)
    try:
        found = messages(caplog, lambda: Context(table)(invert, wave))
    finally:
        logging.getLogger("inversion").removeHandler(handler)
    assert len(found) == len(heard)
    assert set(heard) == {math.sin(1.0)}


def test_nothing_is_imported_for_the_log():
    program = """
import sys, overlay.core.logs as logs
with logs.timed("a", "b"):
    print("logging" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
    assert done.stdout.strip() == b"False"
