"""Runs notebooks top to bottom, and stores their outputs in place."""

import argparse
import os
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[1] / "notebooks"


def executed(path: Path) -> nbformat.NotebookNode:
    """Run all cells of a notebook in a new kernel of this Python, and return it.

    Raises CellExecutionError where a cell fails.
    """
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources=where)
    client.record_timing = False
    client.extra_arguments = ["--log-level=ERROR"]  # it warns about its connection to this process
    # the line of a long compilation is erased, but leaves an output: it depends on the machine
    client.execute(env={**os.environ, "OVERLAY_PROGRESS": "0"})
    return notebook


def main() -> None:
    """Run the named notebooks, or all, and write their outputs into them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, help="all, where none is named")
    for path in parser.parse_args().notebooks or sorted(FOLDER.glob("*.ipynb")):
        start = time.perf_counter()
        notebook = executed(path)
        notebook.metadata.language_info = {"name": "python"}
        nbformat.write(notebook, path)
        print(f"{path.name}: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
