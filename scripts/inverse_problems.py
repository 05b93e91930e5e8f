"""Runs the gallery of inverse problems, and writes the page that shows it.

A problem is a file in ``docs/inverse_problems``: the program, the question, the check. Beside it,
in ``peers``, is the code by which other libraries find the same answers: a function ``by_NAME``
for each, which is given the names of the program and returns the answers. Each runs in a separate
process.
"""

import argparse
import ast
import importlib.util
import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scripts.galleries import Gallery, Ran, anchor

FOLDER = Path(__file__).parents[1] / "docs" / "inverse_problems"
KEPT = FOLDER / "measured.json"
PARTS = ("program", "question", "check")
GALLERY = Gallery(
    FOLDER,
    ("Field", "Shows", "Source", "Question"),
    Path(__file__).with_name("inverse_problem_pictures.py"),
)
names, described, source = GALLERY.names, GALLERY.described, GALLERY.source
SECONDS = 10  # of CPU time, after which an answer is given up
PEERS = {"sympy": "sympy", "scipy": "scipy.optimize", "z3": "z3", "oryx": "oryx"}
_PLAIN = str.maketrans("", "", "`|")


def parts(name: str) -> dict[str, str]:
    """The text of each part, after as many empty lines as precede it in the file."""
    lines = source(name).splitlines(keepends=True)
    cuts = [0, *(i for i, line in enumerate(lines) if line.startswith("# ---- "))]
    ends = [*cuts[1:], len(lines)]
    bounds = zip(PARTS, cuts, ends, strict=True)
    return {part: "\n" * low + "".join(lines[low:high]) for part, low, high in bounds}


def ran(name: str) -> Ran:
    """Run a problem, in its parts."""
    return GALLERY.ran(name, list(parts(name).values()))


def peer_path(name: str) -> Path:
    return FOLDER / "peers" / f"{name}.py"


def peers_of(name: str) -> list[str]:
    """The peers that are tried on a problem, in the order of ``PEERS``."""
    path = peer_path(name)
    text = path.read_text() if path.exists() else ""
    return [peer for peer in PEERS if f"def by_{peer}(" in text]


def code_lines(text: str) -> int:
    """The lines of code, less those that import, and less comments and docstrings."""
    tree = ast.parse(text)
    counted: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and not isinstance(node, ast.Import | ast.ImportFrom):
            said = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            body = getattr(node, "body", None)
            end = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            if not said:
                counted.update(range(node.lineno, max(end, node.lineno) + 1))
    written = text.splitlines()
    return sum(1 for i in counted if written[i - 1].strip() and written[i - 1].strip()[0] != "#")


def lines_of_peer(name: str, peer: str) -> int:
    """The lines in the function, less the one that names it."""
    text = peer_path(name).read_text()
    (function,) = (
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name == f"by_{peer}"
    )
    return code_lines(ast.get_source_segment(text, function) or "") - 1


# ---- in a separate process --------------------------------------------------------------------


def _warm(peer: str) -> None:
    """Make a peer solve a small problem: its imports and preparations are not timed."""
    if peer == "sympy":
        import sympy

        x = sympy.Symbol("x")
        sympy.solve(x**2 - 1, x), sympy.nsolve(x**3 - 2, x, 1)
    elif peer == "z3":
        import z3

        z3.solve(z3.BitVec("b", 4) == 1, show=False)
        z3.Solver().check(z3.Real("r") > 1)
    elif peer == "scipy":
        from scipy import optimize

        optimize.brentq(lambda x: x - 1, 0, 3)
        optimize.fsolve(lambda x: x - 1, 0.5)
    elif peer == "oryx":
        import jax
        import oryx

        jax.config.update("jax_enable_x64", True)
        oryx.core.inverse(jax.numpy.exp)(1.0)
    else:
        from inversion import invert

        invert(lambda x: x + 1, float)(1.0)


def _limited() -> None:
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = math.ceil(used.ru_utime + used.ru_stime) + SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 5))


def one(name: str, peer: str) -> dict[str, Any]:
    """Run a problem, or a peer on it; return its output, its answers, and the CPU seconds."""
    _warm(peer)
    if not peer:
        module, printed, seconds = ran(name)
        answers = [list(answer) for answer in module["answers"]]
        if not all(module["holds"](*answer) for answer in answers):
            raise RuntimeError(f"{name}: an answer does not hold")
        return {"printed": printed, "answers": answers, "seconds": seconds[PARTS.index("question")]}
    module = ran(name).names
    spec = importlib.util.spec_from_file_location(f"peers_{name}", peer_path(name))
    assert spec is not None
    assert spec.loader is not None
    tried = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tried)
    _limited()
    start = time.process_time()
    try:
        found = [tuple(answer) for answer in getattr(tried, f"by_{peer}")(module)]
        seconds = time.process_time() - start
    except Exception as error:
        said = (
            " ".join(f"{type(error).__name__}: {error}".split()).translate(_PLAIN)[:60].rstrip(": ")
        )
        return {"verdict": f"no: `{said}`", "seconds": time.process_time() - start}
    return {"verdict": verdict(module, found), "seconds": seconds}


def verdict(module: dict[str, Any], found: Sequence[tuple[Any, ...]]) -> str:
    """The verdict on a peer's answers beside ours, each checked by the program run forward."""
    ours = [tuple(answer) for answer in module["answers"]]
    right = [answer for answer in found if module["holds"](*answer)]
    reached = sum(any(_alike(mine, answer) for answer in right) for mine in ours)
    if not found:
        return "no answer"
    said = "yes" if len(ours) == 1 else f"all {len(ours)}"
    if reached < len(ours):
        said = f"{reached} of {len(ours)}" if reached else "another answer" if right else "none"
    wrong = len(found) - len(right)
    return f"{said}, {wrong} wrong" if wrong else said


def _alike(a: Sequence[Any], b: Sequence[Any]) -> bool:
    return all(math.isclose(x, y, rel_tol=1e-5, abs_tol=1e-7) for x, y in zip(a, b, strict=True))


# ---- all of them ------------------------------------------------------------------------------


def measured(name: str) -> dict[str, Any]:
    """A problem with its results and measurements, and the same of each peer that is installed."""
    found = _apart(name, "")
    kept: dict[str, Any] = {
        "printed": found["printed"],
        "answers": len(found["answers"]),
        "lines": code_lines(parts(name)["question"]),
        "seconds": _rounded(found["seconds"]),
        "peers": {},
    }
    for peer in peers_of(name):
        row = kept["peers"][peer] = {"lines": lines_of_peer(name, peer)}
        if importlib.util.find_spec(PEERS[peer].partition(".")[0]) is None:
            row["verdict"] = "not installed"
            continue
        tried = _apart(name, peer)
        row |= {**tried, "seconds": _rounded(tried["seconds"])}
    return kept


def _rounded(seconds: float) -> float:
    return float(f"{seconds:.2g}")


def _apart(name: str, peer: str) -> dict[str, Any]:
    command = [sys.executable, "-m", __spec__.name, "--one", name, "--peer", peer]
    done = subprocess.run(command, capture_output=True, text=True, cwd=FOLDER.parents[1])
    if done.returncode < 0 and peer:  # ended by the limit
        return {"verdict": f"none in {SECONDS} s", "seconds": float(SECONDS)}
    if done.returncode:
        raise RuntimeError(f"{name} {peer}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


# ---- the page ---------------------------------------------------------------------------------


def duration(seconds: float) -> str:
    if seconds < 0.001:  # the clock of a process may be no finer
        return "under 1 ms"
    return f"{seconds:.2g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def page(kept: dict[str, Any], alternatives: dict[str, str]) -> str:
    """The page: an overview, and each problem with its code, output, picture and peers."""
    return "\n".join(_written(kept, alternatives)) + "\n"


def _written(kept: dict[str, Any], alternatives: dict[str, str]) -> Iterator[str]:
    all_peers = [peer for name in names() for peer in kept[name]["peers"].items()]
    yield _BEGINNING.format(
        count=len(names()),
        tried=len(all_peers),
        seconds=SECONDS,
        most=max(len(source(name).splitlines()) for name in names()),
    )
    yield GALLERY.overview()
    yield "| Problem | Field | Shows | Here | Peers |"
    yield "| --- | --- | --- | ---: | --- |"
    for name in names():
        said, row = described(name), kept[name]
        peers = "; ".join(f"{peer}: {of['verdict']}" for peer, of in row["peers"].items())
        link = f"[{said['title']}](#{anchor(said['title'])})"
        yield (
            f"| {link} | {said['Field']} | {said['Shows']} | {duration(row['seconds'])} | {peers} |"
        )
    for name in names():
        said, row = described(name), kept[name]
        yield f"\n## {said['title']}\n"
        shows = said["Shows"]
        yield f"*{shows[0].upper()}{shows[1:]}.* {said['Question']}\n"
        yield f"Source: {said['Source']}.\n"
        yield GALLERY.shown(name, row["printed"], alternatives.get(name))
        yield "| | Answers | Lines | CPU time |\n| --- | --- | ---: | ---: |"
        yield f"| `invert` | {row['answers']} | {row['lines']} | {duration(row['seconds'])} |"
        for peer, of in row["peers"].items():
            took = duration(of["seconds"]) if "seconds" in of else ""
            yield f"| {peer} | {of['verdict']} | {of['lines']} | {took} |"


_BEGINNING = """# Inverse problems

For readers who wonder what `invert` can solve: {count} problems from textbooks, standards and
published code. Each program is written forwards, as in its source. `invert` answers the question,
and the program checks each answer by a forward run. The files are in
[docs/inverse_problems](inverse_problems), with at most {most} lines each. `make gallery` runs them
and their peers, draws the pictures and writes this page. The [glossary](glossary.md#inversion)
defines the terms.

The peers are {tried} programs in `docs/inverse_problems/peers`, run in the same command if they are
installed. After {seconds} s a peer is stopped. Peers without a row were not tried. The columns:

- *Answers*: the answers of ours that a peer finds, each checked in the same way.
- *Lines*: the code that is needed in addition to the unmodified program, without imports. Where the
  program accepts the symbols of sympy and z3, as with polynomials and bits, it makes their formulas
  itself. Otherwise, and for JAX, which Oryx inverts, the program is written again.
- *CPU time*: from the question to the answers, after imports and one small problem. Our time
  includes reading, planning and writing the inverse, and the check of each answer.
"""


def draw(chosen: Sequence[str]) -> None:
    """Draw the pictures of these problems."""
    from scripts import inverse_problem_pictures as pictures

    for name in chosen:
        if name in GALLERY.alternatives():
            GALLERY.draw(name, ran(name).names, pictures)


def main() -> None:
    """Run all problems and peers, or those named; draw the pictures, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*", help="all, where none is named")
    parser.add_argument("--page", action="store_true", help="of what is kept, with nothing run")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--peer", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one(given.one, given.peer), default=lambda number: number.item()))
        return
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    chosen = given.problems or names()
    if not given.page:
        for name in chosen:
            kept[name] = measured(name)
            print(name, kept[name]["seconds"], kept[name]["peers"], flush=True)
            kept = {each: kept[each] for each in names() if each in kept}
            KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
        draw(chosen)
    missing = [name for name in names() if name not in kept]
    if missing:
        sys.exit(f"no page: never run were {', '.join(missing)}")
    GALLERY.page.write_text(page(kept, GALLERY.alternatives()))


if __name__ == "__main__":
    main()
