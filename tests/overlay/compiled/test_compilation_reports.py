"""A user can see what is compiled, why, and that it goes on: in logs, terminals and notebooks."""

import io
import logging
import math
import subprocess
import sys
import threading

import pytest

from overlay import Context, MethodTable
from overlay.compiled import compilation_reports
from overlay.compiled.compilation_reports import ProgressLine


def constant(value):
    def method(x: float) -> float:
        return value

    return method


def sine_of_ten():
    table = MethodTable("reported")
    table.overlay(math.sin)(constant(10.0))
    return table


@pytest.fixture
def table():
    return sine_of_ten()


@pytest.fixture
def records(caplog):
    """Calls a function, and returns the messages of the logger ``overlay`` meanwhile."""

    def of(call, level=logging.INFO):
        caplog.clear()
        with caplog.at_level(level, "overlay"):
            call()
        found = [r.getMessage() for r in caplog.records if r.name == "overlay.compiled"]
        return [message for message in found if not message.startswith("compiling ")]

    return of


def reasons(messages, name):
    """The reasons for which a function was compiled."""
    return [m.rpartition(" s: ")[2] for m in messages if f" {name}(" in m]


NAMES = """
factor = 2.0
def helper(x): return math.sin(x) * factor
def program(x): return helper(x) + 1.0
"""


def named():
    names = {"math": math, "__name__": "cell"}
    exec(NAMES, names)
    return names


def test_each_compilation_is_logged_as_it_begins_and_as_it_ends(table, caplog):
    hot = Context(table).jit(named()["helper"])
    with caplog.at_level(logging.INFO, "overlay"):
        hot(1.0)
    found = [r.getMessage() for r in caplog.records if r.name == "overlay.compiled"]
    assert found[0] == "compiling helper(float64): first call with these types"
    assert found[-1].startswith("compiled helper(float64) in ")
    assert sorted(m.split()[0] for m in found) == ["compiled"] * 2 + ["compiling"] * 2


def test_each_function_that_is_compiled_is_logged_with_its_types_and_the_time(table, records):
    hot = Context(table).jit(named()["program"])
    method, helper, program = records(lambda: hot(1.0))
    for message, name in ((method, "method"), (helper, "helper"), (program, "program")):
        head, _, tail = message.partition(" in ")
        assert head.startswith("compiled ")
        assert head.endswith(f"{name}(float64)")
        seconds, reason = tail.split(" s: ")
        assert float(seconds) >= 0
        assert reason == "first call with these types"
    assert records(lambda: hot(1.0)) == []
    assert reasons(records(lambda: hot(1)), "program") == ["first call with these types"]


def test_the_reason_is_the_target_whose_methods_changed(table, records):
    hot = Context(table).jit(named()["program"])
    hot(1.0)
    table.overlay(math.sin)(constant(20.0))
    found = records(lambda: hot(1.0))
    assert reasons(found, "program") == ["the methods of math.sin changed"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("factor = 3.0", "factor in cell was rebound"),
        ("def helper(x): return x", "helper in cell was rebound"),
        ("helper.__code__ = (lambda x: x).__code__", "the code of helper was replaced"),
        ("helper.__defaults__ = (1.0,)", "the defaults of helper were replaced"),
    ],
)
def test_the_reason_is_what_the_program_changed(table, records, change, reason):
    names = named()
    hot = Context(table).jit(names["program"])
    hot(1.0)
    exec(change, names)
    assert set(reasons(records(lambda: hot(1.0)), "program")) == {reason}


def test_a_variable_of_a_closure_is_named(table, records):
    offset = 1.0

    def helper(x):
        return x + offset

    hot = Context(table).jit(lambda x: helper(x))
    hot(1.0)
    offset = 2.0
    found = records(lambda: hot(1.0))
    assert len(found) == 2
    assert all("offset of " in message for message in found)


def test_recompilation_that_was_asked_for_is_told(table, records):
    hot = Context(table).jit(named()["program"])
    hot(1.0)
    assert reasons(records(hot.recompile), "program") == ["recompile() was called"]


def test_code_from_disk_is_told_from_code_that_is_compiled(records, tmp_path):
    def call():
        context = Context(sine_of_ten())
        assert context.jit(named()["program"], cache=str(tmp_path))(1.0) == 21.0

    assert records(call)[-1].startswith("compiled program(float64)")
    (loaded,) = records(call)
    assert loaded.startswith("loaded from disk program(float64)")


def test_a_failure_is_logged(table, records):
    def wrong(x):
        return x.nothing

    def call():
        with pytest.raises(Exception, match="nothing"):
            Context(table).jit(wrong)(1.0)

    (found,) = records(call)
    assert found.startswith("not compiled: ")
    assert "wrong(float64)" in found


def test_calls_that_are_resolved_are_logged_at_debug(table, records):
    hot = Context(table).jit(named()["program"])
    found = records(lambda: hot(1.0), logging.DEBUG)
    assert any(m.startswith("math.sin(float64) enters math.sin(float) ") for m in found)


def test_logging_does_not_run_in_contexts_of_the_program(records):
    import time

    table = MethodTable("time")
    table.overlay(time.time)(lambda: 1 / 0)
    other = Context().jit(lambda x: x + 1.0)
    assert len(records(lambda: Context(table)(lambda: other(1.0)))) == 1


def test_the_library_installs_no_handler_that_writes():
    program = "from overlay import Context; Context().jit(lambda x: x)(1.0)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")


# ---- the line -----------------------------------------------------------------------------


class Terminal(io.StringIO):
    """A terminal. screen: the last line, as it is shown."""

    encoding = "utf-8"

    def isatty(self):
        return True

    @property
    def screen(self):
        return self.getvalue().rpartition("\r")[2].rstrip()


def shown(seconds, terminal):
    """The text that the terminal shows in the course of a compilation that takes so long."""
    now, seen = [0.0], []

    def waits(ended, interval):
        seen.append(terminal.screen)
        now[0] += interval
        return now[0] > seconds

    ProgressLine(terminal, "compiling f for (float64)", lambda: now[0], waits).run()
    return list(dict.fromkeys(seen))


def test_a_line_with_the_time_is_overwritten_and_erased():
    terminal = Terminal()
    line = "compiling f for (float64) …"
    assert shown(3.5, terminal) == ["", f"{line} 1 s", f"{line} 2 s", f"{line} 3 s"]
    assert terminal.screen == ""
    assert "\n" not in terminal.getvalue()


def test_a_short_compilation_shows_no_line():
    terminal = Terminal()
    assert shown(0.9, terminal) == [""]
    assert terminal.getvalue() == ""


def test_the_line_fits_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "24")
    terminal = Terminal()
    widest = max(map(len, shown(3.5, terminal)))
    assert 20 < widest < 24
    assert shown(1.5, terminal)[-1].endswith(" 1 s")


def test_a_stream_without_the_ellipsis_shows_the_line_all_the_same():
    terminal = Terminal()
    terminal.encoding = "ascii"
    assert shown(1.5, terminal)[-1] == "compiling f for (float64) ? 1 s"


def test_a_closed_stream_is_left_alone():
    terminal = Terminal()
    terminal.close()
    ProgressLine(terminal, "f", iter((0.0, 5.0)).__next__, lambda *_: False).run()


@pytest.fixture
def lines(monkeypatch):
    """The texts of the lines that are shown."""
    made = []

    class Line(ProgressLine):
        def __init__(self, stream, text):
            made.append(text)
            super().__init__(stream, text)

    monkeypatch.setattr(compilation_reports, "ProgressLine", Line)
    monkeypatch.setattr(sys, "stderr", Terminal())
    return made


def compile_nested(table):
    assert Context(table).jit(named()["program"])(1.0) == 21.0


def test_nested_compilations_show_one_line(table, lines, monkeypatch):
    monkeypatch.setenv("OVERLAY_PROGRESS", "1")
    compile_nested(table)
    assert lines == ["compiling program for (float64)"]


def test_compilations_in_threads_show_one_line_at_a_time(table, lines, monkeypatch):
    monkeypatch.setenv("OVERLAY_PROGRESS", "1")
    threads = [threading.Thread(target=compile_nested, args=(table,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 1 <= len(lines) <= 3
    assert set(lines) == {"compiling program for (float64)"}
    assert not any(t.name == "overlay-progress" for t in threading.enumerate())


@pytest.mark.parametrize(
    ("is_interactive", "is_terminal", "asked", "expected"),
    [
        (True, True, None, True),
        (True, False, None, False),
        (False, True, None, False),
        (True, True, "0", False),
        (False, False, "1", True),
    ],
)
def test_the_line_is_for_those_who_watch(
    table, lines, monkeypatch, is_interactive, is_terminal, asked, expected
):
    for module in (compilation_reports, sys.modules["overlay.compiled.sharing"]):
        monkeypatch.setattr(module, "IS_INTERACTIVE", is_interactive)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    monkeypatch.delenv("OVERLAY_PROGRESS", raising=False)
    if asked is not None:
        monkeypatch.setenv("OVERLAY_PROGRESS", asked)
    compile_nested(table)
    assert bool(lines) is expected


def test_a_notebook_shows_the_line(table, lines, monkeypatch):
    class Stream(io.StringIO):
        __module__ = "ipykernel.iostream"

    for module in (compilation_reports, sys.modules["overlay.compiled.sharing"]):
        monkeypatch.setattr(module, "IS_INTERACTIVE", True)
    monkeypatch.setattr(sys, "stderr", Stream())
    compile_nested(table)
    assert lines


def test_tests_show_no_line(table, lines):
    compile_nested(table)
    assert lines == []
