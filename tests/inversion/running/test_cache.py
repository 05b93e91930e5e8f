"""Compiled inverses on disk: another process loads them, and compiles again if anything differs."""

import json
import math
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import inversion
from inversion import invert
from overlay.core.background import rest
from overlay.core.errors import CacheWarning

PROGRAM = """
import json, math, sys
import numpy as np
from inversion import invert
from overlay import Context, MethodTable

table = MethodTable("steps")

@table.overlay(math.exp)
def exp(x: float):
    return 1.0 + x

def helper(x):
    return x * FACTOR

def plain(x: float):
    return math.log(helper(x) + 1)

def growth(t: float):
    return 3 * math.exp(t)

def summed(v):
    return (v * 2).sum()

inverses = {
    "plain": (invert(plain, cache=FOLDER), (0.5,)),
    "context": (invert(growth, context=Context(table), cache=FOLDER), (6.0,)),
    "array": (invert(summed, np.zeros(2), cache=FOLDER), (8.0, None)),
}
for name, (inverse, args) in inverses.items():
    if args[-1] is None:
        args = (*args[:-1], inverse.parameters.default())
    known = args[: len(inverse.known)]
    theta = {"theta": args[-1]} if len(args) > len(known) else {}
    fast = inverse.compile()
    fast(*args)
    batch = inverse.batch(*(np.array([k, k]) for k in known), **theta)
    hits = [sum(f.stats.cache_hits.values()) for f in (fast, inverse._code.rows.now())]
    print(json.dumps([name, hits, np.ravel(inverse(*args)).tolist(), np.ravel(batch).tolist()]))
"""


def run(folder, text):
    path = Path(folder) / "program.py"
    path.write_text(text.replace("FOLDER", repr(os.fspath(folder / "code"))))
    root = os.path.dirname(os.path.dirname(inversion.__file__))
    given = {**os.environ, "PYTHONPATH": root}
    found = subprocess.run(
        [sys.executable, os.fspath(path)], env=given, capture_output=True, text=True, check=True
    )
    return {name: rest for name, *rest in map(json.loads, found.stdout.splitlines())}


def test_another_process_loads_what_one_has_compiled(tmp_path):
    first = run(tmp_path, PROGRAM.replace("FACTOR", "3.0"))
    assert all(hits == [0, 0] for hits, *_ in first.values())
    again = run(tmp_path, PROGRAM.replace("FACTOR", "3.0"))
    assert all(hits == [1, 1] for hits, *_ in again.values())
    assert [rest for _, *rest in again.values()] == [rest for _, *rest in first.values()]
    changed = run(tmp_path, PROGRAM.replace("FACTOR", "6.0").replace("1.0 + x", "2.0 + x"))
    same = {name for name, (hits, *_) in changed.items() if hits == [1, 1]}
    assert same == {"array"}
    assert changed["plain"][1][0] == pytest.approx(first["plain"][1][0] / 2)
    assert (first["context"][1], changed["context"][1]) == ([1.0], [0.0])


def scaled(x: float):
    return 3 * x + 1


def rooted(x: float):
    return x * math.exp(x)


def statistics(inverse):
    found = inverse.compile().stats
    return sum(found.cache_hits.values()), sum(found.cache_misses.values())


def test_code_is_found_again_in_one_process(tmp_path):
    assert statistics(invert(scaled, cache=tmp_path)) == (0, 1)
    again = invert(scaled, cache=tmp_path)
    assert statistics(again) == (1, 0)
    assert again.compile()(7.0) == (2.0,)
    looser = invert(scaled, cache=tmp_path, rtol=1e-6)  # another program, not the same code
    assert statistics(looser) == (0, 1)
    assert Counter(statistics(invert(scaled))) == Counter({0: 2})


def test_damaged_code_is_compiled_anew_with_a_warning(tmp_path):
    invert(scaled, cache=tmp_path).compile()
    files = list(tmp_path.rglob("*.code"))
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[:-7])
    again = invert(scaled, cache=tmp_path)
    with pytest.warns(CacheWarning, match="damaged"):
        assert again.compile()(7.0) == (2.0,)
    assert statistics(invert(scaled, cache=tmp_path)) == (1, 0)


LARGE = np.ones(200_000)  # numba has its address in the code, and not its elements


def of_large(x: float):
    return x + LARGE[7]


def test_what_is_not_kept_is_said_where_it_was_asked_for(tmp_path):
    inverse = invert(of_large, cache=tmp_path)
    with pytest.warns(CacheWarning, match="not stored on disk") as caught:
        assert inverse.compile()(3.0) == (2.0,)
    assert Path(caught[0].filename).name == Path(__file__).name
    assert not list(tmp_path.rglob("*.code"))


def test_inverses_that_search_are_kept(tmp_path):
    for _ in range(2):
        assert invert(rooted, cache=tmp_path).compile()(0.0, (0.5,)) == (0.0,)
    assert statistics(invert(rooted, cache=tmp_path)) == (1, 0)


def test_a_batch_has_what_is_kept_on_disk_loaded_in_the_background(tmp_path):
    values = np.array([0.0, 1.0])
    for kept in (False, True):
        inverse = invert(rooted, cache=tmp_path)
        answers = [inverse.batch(values)]
        rest()
        hits = inverse._code.rows.now().stats.cache_hits
        assert sum(hits.values()) == kept
        answers.append(inverse.batch(values))
        np.testing.assert_allclose(*answers, rtol=1e-14)
