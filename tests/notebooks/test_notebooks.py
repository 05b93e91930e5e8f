"""The notebooks run from top to bottom, and contain their current outputs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from scripts.run_notebooks import FOLDER, executed

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MACHINE = re.compile(r"/(?:tmp|home|root|usr|opt|work|var)/|site-packages|ipykernel_\d")


def kinds(notebook):
    """The outputs of each cell: their kinds, and the kinds of their data."""
    return [
        sorted({kind for o in cell.outputs for kind in o.get("data", {"stream": None})})
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def texts(notebook):
    """The text in outputs."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            yield output.get("text", "")
            yield from (t for k, t in output.get("data", {}).items() if k.startswith("text/"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_is_in_it(path: Path):
    kept = nbformat.read(path, as_version=4)
    assert kinds(executed(path)) == kinds(kept)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_holds_one_whole_run_with_pictures(path: Path):
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    shown = [kind for each in kinds(notebook) for kind in each]
    assert shown.count("image/png") >= 2
    assert [text for text in texts(notebook) if MACHINE.search(text)] == []
    assert {o.output_type for cell in code for o in cell.outputs} <= {
        "stream",
        "display_data",
        "execute_result",
    }


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_opens_with_what_one_can_do_after_it_and_links_to_what_is_there(path: Path):
    notebook = nbformat.read(path, as_version=4)
    assert re.match(r"# .+\n\nAfter this notebook you ", notebook.cells[0].source)
    words = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    links = re.findall(r"\]\(([^)#]+)", words)
    assert [link for link in links if not (path.parent / link).exists()] == []


def test_the_page_on_notebooks_names_each():
    page = (FOLDER.parent / "docs" / "notebooks.md").read_text()
    named = re.findall(r"\]\(\.\./notebooks/([\w.]+)\)", page)
    assert sorted(named) == sorted(path.name for path in FOLDER.glob("*.*"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_starts_in_a_folder_with_its_download_alone(path, tmp_path):
    """The page of a notebook offers it and the module of its name, if there is one."""
    for file in (path, path.with_suffix(".py")):
        if file.exists():
            shutil.copy(file, tmp_path)
    cells = nbformat.read(tmp_path / path.name, as_version=4).cells
    first = next(cell.source for cell in cells if cell.cell_type == "code")
    where = {**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": str(FOLDER.parent)}
    command = [sys.executable, "-c", first]
    done = subprocess.run(command, cwd=tmp_path, env=where, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_each_picture_of_a_notebook_has_an_alternative_text(path: Path):
    notebook = nbformat.read(path, as_version=4)
    said = [
        cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if any(kind.startswith("image/") for kind in output.get("data", {}))
    ]
    assert said
    assert [text for text in said if not 40 < len(text) < 300] == []
    assert len(set(said)) == len(said)
