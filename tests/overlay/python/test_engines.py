"""Interception is tested, in a process of its own, on releases of Python that it has not run on."""

import math
import sys
import types

import pytest

from overlay import Context, MethodTable, UnsupportedPython, _native
from overlay.python import engines, self_test

pytestmark = pytest.mark.skipif(_native.intercept is None, reason="the part in C is not built here")


def called():
    table = MethodTable("table")
    table.overlay(math.sin)(lambda x: "overlaid")
    return Context(table)(math.sin, 1.0)


@pytest.fixture
def unknown_release(monkeypatch, tmp_path):
    """No release is known, and nothing is kept."""
    monkeypatch.setenv("OVERLAY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(engines, "TESTED", ((3, 0, 0),))
    engines.self_test_fault.cache_clear()
    yield tmp_path
    engines.self_test_fault.cache_clear()


def test_an_unknown_release_is_tested_once(unknown_release, monkeypatch):
    tested = []
    run = engines._tested_apart
    monkeypatch.setattr(engines, "_tested_apart", lambda: tested.append(1) or run())
    assert called() == "overlaid"
    assert called() == "overlaid"
    engines.self_test_fault.cache_clear()  # as in another process
    assert called() == "overlaid"
    assert tested == [1]
    assert len(list(unknown_release.glob("*/passed.code"))) == 1


@pytest.mark.parametrize(
    ("ends", "told"),
    [
        ("kill -SEGV $$", "len: the process ended by signal 11"),
        ("echo 'it is lost' >&2; exit 1", "len: it is lost"),
    ],
)
def test_a_release_where_it_fails_is_refused_by_the_kind(
    unknown_release, monkeypatch, tmp_path, ends, told
):
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\necho int\necho len\n{ends}\n")
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(UnsupportedPython, match=told):
        called()
    assert Context(MethodTable("table")).jit(lambda x: x + 1)(1) == 2


def test_a_release_where_no_process_can_be_started_is_refused(
    unknown_release, monkeypatch, tmp_path
):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))
    with pytest.raises(UnsupportedPython, match="no process can be started"):
        called()


def test_calls_that_are_lost_are_a_fault(monkeypatch):
    class NotInstalled(self_test.NotingResolver):
        def __init__(self, target):
            nothing = types.SimpleNamespace(install=lambda: None, remove=lambda: None)
            self.interception = nothing

    monkeypatch.setattr(self_test, "NotingResolver", NotInstalled)
    with pytest.raises(AssertionError, match="0 calls are seen of 3"):
        self_test.check("C method of several")
