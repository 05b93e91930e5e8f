"""The notebook as users see it: magics, cells that are run again, places in errors, pictures."""

import re
from textwrap import dedent

import nbformat
import pytest
from nbclient import NotebookClient

SETUP = """
import math
from inversion import invert
from overlay import Context, MethodTable, OverlayError

table = MethodTable("rough")
ctx = Context(table, count_calls=True)

@table.overlay(math.sin)
def sin(x: float):
    return x

def helper(x):
    return math.sin(x)

def wave(x):
    return helper(x) + 1.0
"""

CELLS = {
    "setup": SETUP,
    "first": """
        hot, inverse = ctx.jit(wave), invert(wave, float, context=ctx)
        assert ctx(wave, 0.5) == hot(0.5) == 1.5
        assert inverse(1.5) == (0.5,)
    """,
    "helper again": "def helper(x):\n    return 2.0 * math.sin(x)",
    "is seen": """
        assert ctx(wave, 0.5) == hot(0.5) == 2.0
        assert inverse.is_out_of_date and invert(wave, float, context=ctx)(2.0) == (0.5,)
        assert [site.text for site in ctx.explain(wave, float).sites("resolved")] == ["math.sin(x)"]
        assert wave(0.5) == 1.0 + 2.0 * math.sin(0.5)
    """,
    "method again": "@table.overlay(math.sin)\ndef sin(x: float):\n    return 3.0 * x",
    "is seen too": "assert len(table) == 1 and ctx(wave, 0.5) == hot(0.5) == 4.0",
    "where": "print(table.methods(math.sin)[0].where, invert(wave, float, context=ctx).program)",
    "load": "%load_ext overlay",
    "one cell": "%%overlay ctx\nimport asyncio\nawait asyncio.sleep(0)\nassert wave(0.5) == 4.0",
    "cell after": "assert wave(0.5) == 1.0 + 2.0 * math.sin(0.5)",
    "every cell": "%overlay ctx",
    "later": "assert wave(0.5) == 4.0",
    "helper once more": "def helper(x):\n    return math.sin(x)",
    "later still": "assert wave(0.5) == 2.5",
    "in force": "%overlay",
    "off": "%overlay off",
    "none": "assert wave(0.5) == 1.0 + math.sin(0.5)\n%overlay",
    "failing": "%%overlay ctx\nassert wave(0.5) == 2.5\n\n1 / 0",
    "after failing": "assert wave(0.5) == 1.0 + math.sin(0.5)",
    "no context": "%overlay 1 + 1",
    "not first": "x = 1\n%overlay --cell ctx",
    "table": "table",
    "context": "ctx",
    "explanation": "ctx.explain(wave, float)",
    "report": "ctx.report()",
    "inverse": "inverse = invert(wave, float)\ninverse",
    "space": "inverse.parameters",
    "plan": "inverse.program",
    "old target": """
        @table.overlay(helper)
        def other(x: float):
            return x
        def helper(x):
            return 0.0
        table
    """,
    "not compiled": """
        def odd(n):
            a = 0
            if n:
                a = "b"
            return a
        ctx.jit(odd)(1)
    """,
}
FAILING = ("failing", "no context", "not first", "not compiled")


@pytest.fixture(scope="module")
def outputs():
    """The output of each cell, by its name, from one kernel."""
    cells = [nbformat.v4.new_code_cell(dedent(source).strip()) for source in CELLS.values()]
    for name, cell in zip(CELLS, cells, strict=True):
        cell.metadata.tags = ["raises-exception"] if name in FAILING else []
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return dict(zip(CELLS, (cell.outputs for cell in cells), strict=True))


def text(outputs):
    return "".join(o.get("text", "") + o.get("data", {}).get("text/plain", "") for o in outputs)


def html(outputs):
    return "".join(output["data"]["text/html"] for output in outputs)


def number(name):
    """The number of a cell."""
    return list(CELLS).index(name) + 1


def test_cells_that_are_run_again_are_seen_by_everything(outputs):
    passed = ["first", "is seen", "is seen too", "one cell", "cell after", "later", "later still"]
    assert [outputs[name] for name in passed] == [[]] * len(passed)


def test_places_are_named_by_the_number_of_their_cell(outputs):
    shown = text(outputs["where"])
    assert shown.startswith(f"In[{number('method again')}]:1 ")
    assert f"In[{number('helper again')}]:2" in shown
    assert "ipykernel" not in shown


def test_what_numba_says_names_places_by_their_cell_too(outputs):
    [error] = outputs["not compiled"]
    cell = f"In[{number('not compiled')}]:5"
    assert f"defined at {cell}\n  numba: at {cell}\n  help:" in error.evalue
    assert "ipykernel" not in error.evalue


def test_overlay_without_a_context_shows_what_is_in_force(outputs):
    assert text(outputs["in force"]) == "[<Context rough, count_calls=True>]"
    assert text(outputs["none"]) == "[]"


def test_the_context_of_a_cell_ends_with_it_also_by_an_error(outputs):
    [error] = outputs["failing"]
    assert error.ename == "ZeroDivisionError"
    assert "----> 4" in re.sub(r"\x1b[^m]*m", "", error.traceback[-2])
    assert outputs["after failing"] == []


def test_what_is_no_context_and_a_later_line_are_refused(outputs):
    [error] = outputs["no context"]
    assert error.ename == "OverlayError"
    assert "1 + 1 is no context: 2" in error.evalue
    [error] = outputs["not first"]
    assert "first line of its cell" in error.evalue


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("table", "method table"),
        ("context", "call_next goes on to"),
        ("explanation", "<details open>"),
        ("report", "2 of 2 methods hit"),
        ("inverse", "backwards"),
        ("space", "coordinate"),
        ("plan", "<svg"),
    ],
)
def test_objects_are_shown_as_html(outputs, name, shown):
    assert shown in html(outputs[name])
    assert "ipykernel" not in html(outputs[name])
    assert "<script" not in html(outputs[name])


def test_a_table_tells_of_a_target_that_has_been_defined_again(outputs):
    assert "another function by now" in html(outputs["old target"])
    assert "another function by now" not in html(outputs["table"])
