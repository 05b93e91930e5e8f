"""Counts: relations, lines of small programs, and programs that other inverters cannot invert."""

import ast
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from common.options import options
from common.page import part, section, written

from primitives import base_relations
from primitives.base_table import RELATIONS

ROOT = Path(__file__).parents[1]
FENCED = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
PARTS = {  # parts of inversion, by responsibility
    "what a function is backwards": ("primitives",),
    "reading the program: calls, branches, loops, recursion": (
        "inversion/lifting",
        "inversion/passes",
        "inversion/program",
    ),
    "the order of solving, algebra, trials": ("inversion/planning",),
    "the inverse as source": ("inversion/emitting", "inversion/tools/standalone"),
    "running it, on numbers and on rows": ("inversion/running",),
    "all solutions, intervals, the nearest one": ("inversion/solving", "inversion/contraction"),
    "all of `inversion`": ("inversion",),
    "the first level alone, `inversion.minimal`": ("inversion/minimal.py",),
    "the second beside it, `inversion.minimal_relations`": ("inversion/minimal_relations.py",),
}
OF_OTHERS = "tests/inversion/test_what_others_cannot.py"


def lines(source):
    """The number of lines of code, without empty lines, comments, docstrings and expected
    outputs."""
    left_out = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assert) or is_text(node):
            left_out |= {*range(node.lineno, node.end_lineno + 1)}
    return sum(
        bool(line.strip()) and not line.lstrip().startswith("#") and i not in left_out
        for i, line in enumerate(source.splitlines(), 1)
    )


def is_text(node):
    """Whether a node is a string statement."""
    constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return constant and isinstance(node.value.value, str)


def code_of(page):
    """The concatenated examples of a document, without those with a prompt."""
    blocks = FENCED.findall((ROOT / page).read_text())
    return "\n".join(block for block in blocks if not block.lstrip().startswith(">>>"))


def relation_of_a_user():
    """The source of a relation in the README."""
    code = code_of("README.md")
    [found] = [
        ast.get_source_segment(code, node.value)
        for node in ast.parse(code).body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and getattr(node.value.func, "id", "") == "relation"
    ]
    return found


def small_programs():
    """The lines of small programs."""
    return {
        "overlay and inverse from nothing, in one file": lines(
            (ROOT / "notebooks" / "from_nothing.py").read_text()
        ),
        "an interpretation: units of measure": lines(code_of("docs/write_an_interpretation.md")),
        "a relation of a user": lines(relation_of_a_user()),
    }


def of_parts():
    """The lines of the parts of inversion."""
    return {
        part: sum(lines(file.read_text()) for path in paths for file in modules(ROOT / path))
        for part, paths in PARTS.items()
    }


def modules(path):
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def of_relations():
    return {
        "relations": len(RELATIONS),
        "modes": sum(len(relation.modes) for relation in RELATIONS),
        "methods of their table": len(base_relations),
    }


def of_others():
    """The number of tests of programs that other inverters cannot invert, or invert wrongly, and
    the number that fail."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "tests.xml"
        options = ("-q", "-n", "0", "-p", "no:cacheprovider", f"--junitxml={found}")
        command = [sys.executable, "-m", "pytest", *options, OF_OTHERS]
        subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        suite = next(ElementTree.parse(found).iter("testsuite"))
    failed = sum(int(suite.get(kind, 0)) for kind in ("failures", "errors"))
    return {"tried": int(suite.get("tests", 0)), "failed": failed}


def page(figures):
    """The part of docs/report.md."""
    small, parts = (
        [("what", "lines"), *((name, f"{n:,}") for name, n in figures[key].items())]
        for key in ("lines", "parts")
    )
    text = (
        "Lines of code do not include empty lines, comments, docstrings and example output. "
        f"`{OF_OTHERS}` has programs that others cannot invert, or invert wrongly."
    )
    counts = [f"{name}: {count}" for name, count in figures["relations"].items()]
    others = figures["others"]
    counts.append(f"tests of what others cannot: {others['tried']}, failed: {others['failed']}")
    sections = [
        section("Small programs", "", small),
        section("Inversion", "Lines for each part of the work.", parts),
        section("Relations and cases", "", (), counts),
    ]
    return part("Counts", text, sections)


def main():
    chosen = options(__doc__)
    figures = {
        "lines": small_programs(),
        "parts": of_parts(),
        "relations": of_relations(),
        "others": of_others(),
    }
    for name, found in figures.items():
        print(name, found)
    written({**figures, "page": page(figures)}, chosen.json)


if __name__ == "__main__":
    main()
