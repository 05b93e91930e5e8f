"""Places and names of callables, whatever their attributes answer."""

import functools
import os
import subprocess
import sys
import textwrap
import unittest.mock

import pytest

from overlay import Context, MethodTable
from overlay.core.location import location_of, shown, unwrapped
from overlay.interpretations.profiling import Profiler
from overlay.interpretations.tracing import Tracer


def doubled(x):
    return 2 * x


class AnswersAll:
    """An object such as a proxy for remote calls: it has an attribute of any name."""

    def __getattr__(self, name):
        return AnswersAll()

    def __call__(self, x):
        return x


def answers_itself():
    @functools.wraps(doubled)
    def function(x):
        return x

    function.__wrapped__ = function
    return function


@pytest.mark.parametrize("made", [AnswersAll, answers_itself, lambda: unittest.mock.call])
def test_an_object_that_wraps_without_an_end_has_a_place(made):
    value = made()
    assert unwrapped(value) == [value]
    assert location_of(value)


def test_wrappers_are_listed_from_the_outermost_in():
    cached = functools.lru_cache(doubled)
    outer = functools.partial(cached, 1)
    assert unwrapped(outer) == [outer, cached, doubled]
    assert location_of(outer) == location_of(doubled)


def test_an_object_that_answers_to_any_name_is_explained_and_overlaid():
    target = AnswersAll()
    table = MethodTable("table")
    assert "__call__" in str(Context(table).explain(target, int))
    table.overlay(target)(lambda x: 3)
    assert Context(table)(lambda: target(1)) == 3


def test_a_program_that_replaces_getcwd_does_not_meet_these_packages():
    def program():
        with unittest.mock.patch("os.getcwd", side_effect=["first"]) as fake:
            return os.getcwd(), doubled(1), fake.call_count

    for plugin in (Tracer(), Profiler()):
        assert Context(plugins=(plugin,))(program) == ("first", 2, 1)


def test_places_are_shown_where_the_working_directory_was_removed(tmp_path):
    program = """
        import os, sys
        from overlay import Context
        from overlay.core.location import shown
        from overlay.interpretations.profiling import Profiler, profile
        from overlay.interpretations.tracing import trace
        os.mkdir("gone")
        os.chdir("gone")
        os.rmdir("../gone")
        def doubled(x):
            return 2 * x
        print(trace(doubled, 1).result, profile(doubled, 1).result)
        assert shown("/a/b.py", 3) == "/a/b.py:3"
        profile(doubled, 1)._repr_html_()
        """
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(program))
    run = subprocess.run(
        [sys.executable, str(file)],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, map(os.path.abspath, sys.path))),
        },
        capture_output=True,
        text=True,
    )
    assert (run.stdout, run.stderr) == ("2 2\n", "")


def test_a_place_is_relative_to_the_working_directory(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert shown(str(tmp_path / "a.py"), 3) == "a.py:3"
