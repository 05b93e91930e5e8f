"""Galleries: folders of short programs, and pages that show each with its output.

A program is a file whose docstring has a title and some fields; a picture is drawn by the
function of its name in a module of pictures, whose docstring is the alternative text.
"""

import ast
import contextlib
import io
import math
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import matplotlib
import matplotlib.pyplot as plt

__all__ = ["Gallery", "Ran", "anchor", "same_output", "saved"]

WIDTH = 3  # pictures in a row of an overview
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


class Ran(NamedTuple):
    """A program that has run: its names, its output, and the CPU seconds of each part."""

    names: dict[str, Any]
    printed: str
    seconds: list[float]


class Gallery:
    """A folder of programs.

    fields: the fields of each docstring after the title; the first one groups the programs.
    pictures: the file of the functions that draw.
    """

    def __init__(self, folder: Path, fields: tuple[str, ...], pictures: Path) -> None:
        self.folder = folder
        self.page = folder.with_suffix(".md")
        self.pictures = folder / "pictures"
        self.fields = fields
        self._drawn_by = pictures

    def names(self) -> list[str]:
        """The programs, by the first field and then by name."""
        found = [path.stem for path in self.folder.glob("*.py")]
        return sorted(found, key=lambda name: (self.described(name)[self.fields[0]], name))

    def described(self, name: str) -> dict[str, str]:
        """The title of a program, and the text of its docstring under each name of ``fields``."""
        docstring = ast.get_docstring(ast.parse(self.source(name))) or ""
        title, _, text = docstring.partition("\n")
        found = re.findall(rf"^({'|'.join(self.fields)}): (.+(?:\n +.+)*)", text, re.MULTILINE)
        said = {"title": title.rstrip("."), **dict(found)}
        return {field: " ".join(text.split()).replace("*", r"\*") for field, text in said.items()}

    def source(self, name: str) -> str:
        """The text of a program's file."""
        return (self.folder / f"{name}.py").read_text()

    def ran(self, name: str, parts: Sequence[str] = ()) -> Ran:
        """Run a program as an imported module: compilers look their functions' module up by name.

        parts: the texts that make up the program, if not its file as a whole.
        """
        module, printed, seconds = ModuleType(name), io.StringIO(), list[float]()
        module.__file__ = file = str(self.folder / f"{name}.py")
        hidden = sys.modules.get(name)
        sys.modules[name] = module
        sys.path.insert(0, str(self.folder))
        try:
            for text in parts or [self.source(name)]:
                code = compile(text, file, "exec")
                start = time.process_time()
                with contextlib.redirect_stdout(printed):
                    exec(code, vars(module))
                seconds.append(time.process_time() - start)
        finally:
            sys.path.remove(str(self.folder))
            del sys.modules[name]
            if hidden is not None:
                sys.modules[name] = hidden
        return Ran(vars(module), printed.getvalue(), seconds)

    def alternatives(self) -> dict[str, str]:
        """The alternative text of each picture: the docstring of the function that draws it."""
        tree = ast.parse(self._drawn_by.read_text())
        of = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
        return {
            name: " ".join((ast.get_docstring(of[name]) or "").split())
            for name in self.names()
            if name in of
        }

    def overview(self) -> str:
        """A table of the pictures, each of which leads to the section of its program."""
        cells = []
        for name, alternative in self.alternatives().items():
            title = self.described(name)["title"]
            picture = f"![{alternative}]({self._shown_picture(name)})"
            cells.append(f"[{picture}{title}](#{anchor(title)})")
        rows = [cells[i : i + WIDTH] for i in range(0, len(cells), WIDTH)]
        rows[-1] += [""] * (WIDTH - len(rows[-1]))
        header = ["|" + " |" * WIDTH, "|" + " --- |" * WIDTH]
        return "\n".join([*header, *(f"| {' | '.join(row)} |" for row in rows), ""])

    def _shown_picture(self, name: str) -> str:
        return f"{self.folder.name}/pictures/{name}.svg"

    def draw(self, name: str, module: dict[str, Any], drawn_by: ModuleType) -> None:
        """Draw the picture of a program that has run, if there is one, from its names."""
        function: Callable[..., Any] | None = getattr(drawn_by, name, None)
        if function is not None:
            self.pictures.mkdir(exist_ok=True)
            saved(function, module, self.pictures / f"{name}.svg", drawn_by.STYLE)

    def shown(self, name: str, printed: str, alternative: str | None) -> str:
        """The code of a program without its docstring, its output, and its picture."""
        text = self.source(name)
        start = text.index('"""', 3) + 3 + len("\n\n")
        parts = [
            f"```py\n{text[start:].rstrip()}\n```\n",
            f"It prints\n\n```text\n{printed.rstrip()}\n```\n",
        ]
        if alternative is not None:
            parts.append(f"![{alternative}]({self._shown_picture(name)})\n")
        return "\n".join(parts)


def anchor(title: str) -> str:
    """The anchor of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def same_output(printed: str, kept: str) -> bool:
    """Whether two outputs have the same words, and numbers that agree."""
    if NUMBER.sub("#", printed) != NUMBER.sub("#", kept):
        return False
    pairs = zip(NUMBER.findall(printed), NUMBER.findall(kept), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=2e-5, abs_tol=2e-6) for a, b in pairs)


def saved(
    draw: Callable[[dict[str, Any], Any], None], module: dict[str, Any], path: Path, style: Any
) -> None:
    """Draw the picture of a program into a file. style: as matplotlib's ``style.context`` takes
    it."""
    matplotlib.use("svg")
    with plt.style.context(style):
        figure, axes = plt.subplots(figsize=(5.6, 3.0))
        draw(module, axes)
        figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
        plt.close(figure)
    # matplotlib ends lines with spaces
    path.write_text("".join(f"{line.rstrip()}\n" for line in path.read_text().splitlines()))
