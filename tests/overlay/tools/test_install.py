"""``install``: a context for all later top-level code of a session."""

import asyncio
import math

import pytest

from overlay import Context, MethodTable, OverlayError, current_context, install
from overlay.tools.console import Console

table = MethodTable("waves")
ctx = Context(table)


@table.overlay(math.sin)
def sin(x: float):
    return "overlaid"


inner_table = MethodTable("inner")
inner = Context(inner_table)


@inner_table.overlay(math.sin)
def sin_inside(x: float):
    return "inner"


def wave(x):
    return math.sin(x)


@pytest.fixture
def shell():
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    shell.user_ns |= {"math": math, "asyncio": asyncio, "wave": wave, "install": install}
    shell.user_ns |= {"ctx": ctx, "inner": inner, "current_context": current_context}
    yield shell
    InteractiveShell.clear_instance()


@pytest.fixture
def cell(shell):
    def run(text):
        done = shell.run_cell(text)
        done.raise_error()
        return done.result

    return run


def test_each_later_cell_runs_in_the_context(cell):
    assert cell("wave(1.0)") == math.sin(1.0)
    cell("handle = install(ctx)")
    assert cell("wave(1.0)") == "overlaid"
    assert cell("math.sin(1.0)") == "overlaid"
    assert cell("current_context() is ctx")
    assert wave(1.0) == math.sin(1.0)  # what is not the session's is untouched
    assert current_context() is None
    cell("handle.remove()")
    assert cell("wave(1.0)") == math.sin(1.0)
    assert cell("current_context()") is None


def test_a_helper_that_is_defined_again_is_seen_by_the_next_cell(cell):
    cell("install(ctx)")
    cell("def helper(): return 'old', math.sin(1.0)")
    assert cell("helper()") == ("old", "overlaid")
    cell("def helper(): return 'new', math.sin(1.0)")
    assert cell("helper()") == ("new", "overlaid")


def test_a_cell_that_awaits_runs_in_the_context(cell):
    cell("install(ctx)")
    assert cell("await asyncio.sleep(0)\nawait asyncio.sleep(0, math.sin(1.0))") == "overlaid"


def test_installed_contexts_stack_and_each_handle_removes_its_own(cell):
    cell("outer_handle = install(ctx)")
    cell("inner_handle = install(inner)")
    assert cell("wave(1.0)") == "inner"
    cell("outer_handle.remove()")
    assert cell("wave(1.0)") == "inner"
    cell("inner_handle.remove(); inner_handle.remove()")
    assert cell("wave(1.0)") == math.sin(1.0)


def test_a_handle_is_a_block_too(shell, cell):
    with install(ctx) as handle:
        assert cell("wave(1.0)") == "overlaid"
        assert repr(handle) == "<Installed <Context waves>: in force>"
    assert repr(handle) == "<Installed <Context waves>: removed>"
    assert cell("wave(1.0)") == math.sin(1.0)


def test_an_error_in_a_cell_shows_the_cell_alone(shell, capsys):
    install(ctx)
    shell.run_cell("def fails():\n    return 1 / 0\nfails()")
    shown = capsys.readouterr().out
    assert "ZeroDivisionError" in shown
    assert "overlay/" not in shown


def test_a_console_runs_each_input_in_the_context():
    results = []
    console = Console({"math": math, "results": results, "wave": wave}, ctx)
    console.push("results.append(wave(1.0))")
    console.push("def local(x):")
    console.push("    return math.sin(x)")
    console.push("")
    console.push("results.append(local(1.0))")
    assert results == ["overlaid", "overlaid"]


def test_elsewhere_the_error_says_what_to_do():
    with pytest.raises(OverlayError, match="cannot install <Context waves>") as caught:
        install(ctx)
    assert "python -m overlay run" in caught.value.help
