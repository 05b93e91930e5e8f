"""Cases that failed once are tried again; campaigns are equal for equal seeds, and
report failures.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.fuzz import fuzz
from tests.fuzz.kinds import KINDS, Kind

HERE = Path(__file__).parent
CORPUS = sorted((HERE / "corpus").glob("*.json"))


@pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning")
@pytest.mark.parametrize("path", CORPUS, ids=[path.stem for path in CORPUS])
def test_what_has_failed_once_passes(path):
    held = json.loads(path.read_text())
    assert held["why"]
    assert KINDS[held["kind"]].check(held["case"]).total()


@pytest.mark.parametrize("name", KINDS)
def test_a_seed_gives_the_same_case_each_time_which_json_holds(name):
    cases, again = ([json.dumps(KINDS[name].draw(seed)) for seed in (3, 17)] for _ in range(2))
    assert cases == again
    assert cases[0] != cases[1]


REACHED = {
    "tables": {"a method", "ambiguous", "nothing"},
    "command lines": {"overlay: 0", "overlay: 2", "inversion: 0", "inversion: 2"},
}


@pytest.mark.parametrize("name", REACHED)
def test_a_short_campaign_gets_to_what_it_is_for(name):
    reached = Counter()
    for seed in range(60):
        reached += KINDS[name].check(KINDS[name].draw(seed))
    assert REACHED[name] <= reached.keys()


def test_a_campaign_in_a_process_of_its_own_counts_what_was_reached(tmp_path):
    out = tmp_path / "figures.json"
    command = [sys.executable, "-m", "tests.fuzz.fuzz", "--kind", "tables", "--first", "7"]
    command += ["--count", "9", "--json", out]
    done = subprocess.run(command, cwd=fuzz.ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(out.read_text())["kinds"]["tables"]
    assert (found["first"], found["last"], found["cases"], found["failed"]) == (7, 15, 9, [])
    assert sum(found["reached"].values()) == 9 * 5


def test_a_case_that_fails_is_kept_with_its_seed(tmp_path, monkeypatch, capfd):
    def check(case):
        assert case["seed"] != 2, "two is wrong"
        return Counter({"fine": 1})

    odd = Kind(lambda seed: {"seed": seed}, check, 4)
    monkeypatch.setitem(KINDS, "odd", odd)
    monkeypatch.setattr(fuzz, "FAILED", tmp_path / "failed")
    monkeypatch.setattr(fuzz, "ROOT", tmp_path)
    fuzz.work(odd, 0, 4, 60)
    figures = {"last": -1, "cases": 0, "failed": [], "reached": Counter()}
    begun = 0
    for line in capfd.readouterr().out.splitlines():
        begun = fuzz.heard("odd", json.loads(line), figures, begun)
    assert (figures["last"], figures["cases"], figures["reached"]) == (3, 4, {"fine": 3})
    assert [each["seed"] for each in figures["failed"]] == [2]
    held = json.loads((tmp_path / "failed" / "odd-2.json").read_text())
    assert held["case"] == {"seed": 2}
    assert "two is wrong" in held["why"]
