"""Changed files of compiled code: each is compiled again or ignored, with a warning."""

import random
import shutil
import tempfile
import warnings
from collections import Counter
from functools import lru_cache
from pathlib import Path

from inversion import invert
from overlay import CacheWarning

PROGRAM = """
import math
from overlay import Context, MethodTable
table = MethodTable("waves")
@table.overlay(math.sin)
def sin(x: float) -> float:
    return x * 10
context = Context(table)
def helper(x):
    return math.sin(x) + FACTOR
def program(x):
    return helper(x) * 3.0
def other(x):
    return helper(x) - 1.0
"""
WAYS = ("flip", "cut", "empty", "insert", "overwrite", "swap", "copy", "folder", "remove", "append")


def draw(seed):
    """Edits of the files, which are identified by their number in order."""
    rng = random.Random(seed)
    edits = [
        {
            "way": rng.choice(WAYS),
            "file": rng.randrange(12),
            "with": rng.randrange(12),
            "at": rng.random(),
            "bytes": list(rng.randbytes(rng.choice((1, 1, 8, 300)))),
        }
        for _ in range(rng.choice((1, 1, 2, 6)))
    ]
    return {"of": "inverse" if seed % 4 == 0 else "contexts", "edits": edits}


def check(case):
    """Raises AssertionError for a wrong result, or a warning that is not one of ours."""
    runs = RUNS[case["of"]]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "kept"
        shutil.copytree(_kept(case["of"]), place)
        for edit in case["edits"]:
            _edit(sorted(place.rglob("*.code")), **edit)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found, hits = runs(place)
    expected, _ = _first(case["of"])
    assert found == expected
    assert all(each.category is CacheWarning for each in caught), [str(w) for w in caught]
    said = len(caught)
    return Counter({case["of"]: 1, "found": hits, "compiled": len(found) - hits, "said": said})


# ---- what is kept -------------------------------------------------------------------------


def run_contexts(place):
    """The results of four programs, and how many were found in the cache. Each is made anew, so
    that no compiled code in this process is found for it.
    """
    results, hits = [], 0
    for factor in ("2.0", "5.0"):
        names = {"__name__": "a_program", "FACTOR": float(factor)}
        exec(compile(PROGRAM, "<a program>", "exec"), names)
        for name in ("program", "other"):
            hot = names["context"].jit(names[name], cache=place)
            results.append(hot(0.5))
            hits += sum(hot.stats.cache_hits.values())
    return results, hits


def run_inverse(place):
    """The answers of a compiled inverse, and whether it was found."""
    names = {"__name__": "a_program"}
    exec("def f(x: float, y: float):\n    return 3 * x + y", names)
    inverse = invert(names["f"], cache=place)
    fast = inverse.compile()
    return [fast(7.0, inverse.parameters.default())], sum(fast.stats.cache_hits.values())


RUNS = {"contexts": run_contexts, "inverse": run_inverse}


@lru_cache
def _made():
    return tempfile.TemporaryDirectory()  # it goes when the process ends


@lru_cache
def _first(of):
    """The right results, and the files in the folder after they were computed."""
    place = Path(_made().name) / of
    found, hits = RUNS[of](place)
    assert hits == 0
    assert RUNS[of](place) == (found, len(found))  # what was kept is found as long as it is whole
    return found, place


def _kept(of):
    return _first(of)[1]


# ---- edits --------------------------------------------------------------------------------


def _edit(files, *, way, file, at, bytes, **others):
    path = files[file % len(files)] if files else None
    if path is None or path.is_dir():
        return
    data = bytearray(path.read_bytes())
    place, new = int(at * len(data)), bytearray(bytes)
    if way == "flip" and data:
        data[place] ^= 1 << new[0] % 8
    elif way == "cut":
        del data[place:]
    elif way == "empty":
        data.clear()
    elif way == "insert":
        data[place:place] = new
    elif way == "overwrite":
        data[place : place + len(new)] = new
    elif way == "append":
        data += new
    else:
        _exchange(path, files[others["with"] % len(files)], way)
        return
    path.write_bytes(data)


def _exchange(path, other, way):
    """Apply an edit of whole files."""
    if way == "swap" and other.is_file():
        mine, theirs = path.read_bytes(), other.read_bytes()
        path.write_bytes(theirs)
        other.write_bytes(mine)
    elif way == "copy" and other.is_file():
        path.write_bytes(other.read_bytes())
    elif way in ("folder", "remove"):
        path.unlink()
        if way == "folder":
            path.mkdir()
