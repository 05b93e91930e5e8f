"""Command lines with mutated arguments: the exit code is documented, and there is no traceback."""

import contextlib
import importlib
import io
import os
import random
import sys
import tempfile
import warnings
from collections import Counter
from functools import lru_cache
from pathlib import Path
from unittest import mock

CONTEXTS = """
import math
from overlay import Context, MethodTable
table = MethodTable("waves")
@table.overlay(math.sin)
def sin(x: float) -> float:
    return 10.0
ctx = Context(table)
number = 3
def wave(x: float):
    return 2 * math.sin(x)
class Kind:
    pass
"""
CODES = {0, 1, 2}
"""Done, no solution, asked for wrongly."""
# Each is a package and its arguments; ``run`` would give the program's own code.
SEEDS = (
    ("overlay", "explain", "--context", "contexts:ctx", "contexts:wave", "float"),
    ("overlay", "explain", "--context", "contexts:ctx", "--json", "statistics:fmean", "list"),
    ("overlay", "explain", "--context", "contexts:ctx", "--depth", "1", "colorsys:rgb_to_hls"),
    ("overlay", "explain", "--everything", "--context", "contexts:number", "a:b"),
    ("overlay", "run", "--context", "contexts:ctx", "--report", "script.py", "10"),
    ("overlay", "run", "--context", "contexts:ctx", "--strict", "-m", "nothing.there"),
    ("overlay", "cache", "--json"),
    ("overlay", "cache", "--clear"),
    ("inversion", "lambda x, y: x * y", "--return", "6", "--known", "x=2"),
    ("inversion", "lambda x, y, z: x * y + z", "--return", "5", "--seed", "0"),
    ("inversion", "lambda x: math.exp(2 * x) + 1", "--show", "--json"),
    ("inversion", "contexts:wave", "float", "--return", "1.5", "--context", "contexts:ctx"),
    ("inversion", "lambda x, y: x + y", "float", "int", "--return", "3", "--theta", "1,2"),
    ("inversion", "lambda x: np.sum(x)", "numpy.ndarray", "--return", "(1, 2.5)"),
)
WORDS = (
    *("", ":", ".", "..", "=", "-", "--", "-1", "a:", ":a", "contexts:", "contexts:Kind", "x="),
    *("contexts:ctx.", "contexts..a:b", ".contexts:ctx", "None", "int", "nan", "1e999", "()", "[]"),
    *("lambda", "lambda x:", "lambda: 1", "lambda *a: 1", "lambda x=1/0: x", "lambda x: y"),
    *("lambda x: x, 1", "lambda x: x if", "lambda **k: k", "lambda x, /: x", "é", "\udc80"),
    *("lambda x: x[0]", "(lambda x: x)", "contexts:wave", "os:path", "math:pi", "math:sin", "str"),
    *("--theta", "--seed", "--known", "--return", "--json", "--show", "--context", "9" * 5000),
    *("(" * 300, "lambda x: " + "(" * 99 + "x" + ")" * 99, "{}", "1,", ",", "'a'", "b'a'", "1j"),
)


MODULES = {"overlay": "overlay.tools.command_line", "inversion": "inversion.inverse_command"}


def draw(seed):
    """A command line: one of SEEDS, with words and letters changed."""
    rng = random.Random(seed)
    package, *words = rng.choice(SEEDS)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        _change(rng, words)
    return {"package": package, "arguments": words}


def _change(rng, words):
    place = rng.randrange(len(words) + 1)
    way = rng.randrange(5)
    if way == 0 or place == len(words):
        words.insert(place, rng.choice(WORDS))
    elif way == 1:
        words[place] = rng.choice(WORDS)
    elif way == 2:
        del words[place]
    else:
        word = words[place]
        at = rng.randint(0, len(word))
        letters = rng.choice(("", "", rng.choice(WORDS)[:20], chr(rng.randrange(1, 0x250))))
        words[place] = word[:at] + letters + word[at + rng.randint(0, 3) :]


def check(case):
    """Raises AssertionError for an undocumented exit code, and any exception of the
    command line.
    """
    main = importlib.import_module(MODULES[case["package"]]).main  # which atheris imports first
    out, code = io.StringIO(), None
    with _place(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            code = main(case["arguments"])
        except SystemExit as end:
            code = 0 if end.code is None else end.code
    assert code in CODES, (code, out.getvalue()[-500:])
    # options may be written shorter
    if not any("--traceback".startswith(each) for each in case["arguments"] if each[2:]):
        assert "Traceback" not in out.getvalue(), out.getvalue()
    return Counter({f"{case['package']}: {code}": 1})


@contextlib.contextmanager
def _place():
    """A folder with a script and a module of contexts, and with an end of standard input."""
    before = os.getcwd(), sys.argv[:], dict(sys.modules)
    changed = mock.patch.dict(os.environ, OVERLAY_CACHE_DIR=str(_folder() / "cache"))
    typed = mock.patch.object(sys, "stdin", io.StringIO())
    path = mock.patch.object(sys, "path", [str(_folder()), *sys.path])
    ending = mock.patch("atexit.register")
    os.chdir(_folder())
    try:
        with changed, typed, path, ending, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        os.chdir(before[0])
        sys.argv[:] = before[1]
        sys.modules["__main__"] = before[2]["__main__"]
        for name in (sys.modules.keys() - before[2].keys()) & {"contexts", "script"}:
            del sys.modules[name]  # its folder leaves the path with it


@lru_cache
def _made():
    return tempfile.TemporaryDirectory()  # it goes when the process ends


@lru_cache
def _folder():
    folder = Path(_made().name)
    (folder / "contexts.py").write_text(CONTEXTS)
    (folder / "script.py").write_text("print('the script')\n")
    return folder
