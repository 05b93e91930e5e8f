"""Output of command lines, in a terminal and elsewhere, and their exit codes."""

import argparse
import io
import os
import re
import signal
import subprocess
import sys

import pytest

from inversion import inverse_command
from overlay.core.outline import Outline, Rows
from overlay.tools import command_line
from overlay.tools.terminal import drawn, show

OUTLINE = Outline(
    "root [b]", (Outline("first :smile:", (Outline(" ".join(["word"] * 30)),)), Outline("last 12"))
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "40")

    def printed(*outlines, **variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        stream = Terminal()
        show(*outlines, file=stream)
        return stream.getvalue()

    return printed


def test_elsewhere_text_is_indented_as_it_is():
    stream = io.StringIO()
    show(OUTLINE, file=stream)
    assert stream.getvalue() == f"{OUTLINE}\n"
    assert str(OUTLINE).splitlines()[1] == "  first :smile:"


def test_a_terminal_shows_a_tree_as_wide_as_it_is(terminal):
    lines = re.sub(r"\x1b\[[\d;]*m", "", terminal(OUTLINE)).splitlines()
    assert lines[0] == "root [b]"
    assert lines[1].endswith("first :smile:")
    assert lines[1] != "  first :smile:"
    assert max(map(len, lines)) <= 40
    assert sum(line.count("word") for line in lines) == 30


def test_colours_are_left_out_where_they_are_not_wanted(terminal):
    assert "\x1b[1;36m" in terminal(OUTLINE)  # of the number
    assert "\x1b[1;36m" not in terminal(OUTLINE, NO_COLOR="1")
    assert "\x1b[" not in terminal(OUTLINE, TERM="dumb")


ROWS = Rows("birds [b]", ("name", "version", "remedy"), (("owl", "3.13.0", ""), ("kite", "", "")))


def test_rows_are_lines_of_text_and_a_table_in_a_terminal(terminal):
    assert str(ROWS) == "owl: 3.13.0\nkite"
    shown = terminal(ROWS)
    text = re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert "birds [b]" in text
    assert "remedy" not in text  # a column without text
    assert "│ owl" in text
    assert "3.13.0" in shown  # in one colour
    assert drawn(ROWS, None, colours=False) == str(ROWS)
    assert drawn(ROWS, 40, colours=False) == text.rstrip("\n")


def test_text_that_is_no_code_has_one_colour(terminal):
    assert terminal("overlay-dispatch 0.2.0, Python 3.13.0") == (
        "overlay-dispatch 0.2.0, Python 3.13.0\n"
    )


def test_each_option_says_what_it_does():
    for names, parser in (*parsers(command_line._parser()), *parsers(inverse_command._parser())):
        for action in parser._actions:
            if action.option_strings:
                last = (action.help or "it").split()[-1]
                assert last not in ("it", "them"), (names, action)


# ---- exit codes ----------------------------------------------------------------------------------


def parsers(parser):
    """A parser and those of its subcommands, by their names."""
    yield (), parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, each in action.choices.items():
                yield from (((name, *names), found) for names, found in parsers(each))


COMMANDS = {
    (package, names): (main, parser)
    for package, main, make in (
        ("overlay", command_line.main, command_line._parser),
        ("inversion", inverse_command.main, inverse_command._parser),
    )
    for names, parser in parsers(make())
}
BAD = (
    ["--no-such-option"],
    ["--context", "no.such.module:ctx", "math:sin"],
    ["--context", "math:sin", "math:sin"],
    ["--context", "math", "math:sin"],
    ["no.such.module:f"],
    ["no_function"],
    ["lambda x: ("],
    ["math:sin", "no_type"],
    ["--depth", "deep", "math:sin"],
    [],
)


@pytest.mark.parametrize("arguments", BAD, ids=lambda given: " ".join(given) or "nothing")
@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: " ".join((each[0], *each[1])))
def test_bad_arguments_end_with_one_message_and_code_2(command, arguments, capsys):
    main, _ = COMMANDS[command]
    names = command[1]
    if not arguments and names in (("cache",), ("doctor",)):
        return  # which need none
    try:
        code = main([*names, *arguments])
    except SystemExit as ended:
        code = ended.code
    found = capsys.readouterr()
    assert code == 2, found
    assert found.out == ""
    assert "Traceback" not in found.err
    assert found.err.strip()


def test_the_command_of_the_distribution_refuses_arguments():
    command = [sys.executable, "-m", "overlay_dispatch"]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    done = subprocess.run([*command, "more"], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "takes no arguments" in done.stderr


PRINTS = (
    ("overlay", "cache", "--json"),
    ("overlay", "check", "--json", "textwrap:dedent", "int"),
    ("overlay", "explain", "--context", "contexts_of_pipe:ctx", "textwrap:dedent"),
    ("inversion", "lambda x: 2 * x + 1", "--return", "7"),
)


@pytest.mark.parametrize("command", PRINTS, ids=" ".join)
def test_a_reader_that_stops_ends_a_command_without_a_traceback(command, tmp_path):
    (tmp_path / "contexts_of_pipe.py").write_text("import overlay; ctx = overlay.Context()")
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", *command],
            check=False,
            cwd=tmp_path,
            stdout=writing,
            stderr=subprocess.PIPE,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")
