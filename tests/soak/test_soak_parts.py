"""The parts of the soak, each for a moment: they do what they claim, and growth is noticed."""

import json
import subprocess
import sys

import pytest

from tests.soak import soak

DONE = {
    "contexts": {"contexts": 200},
    "threads": {"threads": 64, "calls": 2560},
    "tasks": {"tasks": 2, "calls": 60},
    "redefinitions": {"redefinitions": 20},
}


@pytest.mark.parametrize("part", soak.PARTS)
def test_a_part_does_what_it_says_and_looks_at_the_memory(part):
    command = [sys.executable, "-m", "tests.soak.soak", "--part", part, "--scale", "0.002"]
    done = subprocess.run(command, cwd=soak.ROOT, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert done.stderr == ""
    assert found["wrong"] == []
    assert {key: found[key] for key in DONE[part]} == DONE[part]
    assert len(found["memory"]) == soak.LOOKS
    assert all(each["blocks"] > 100_000 for each in found["memory"])


def test_growth_counts_from_the_second_look_on():
    def looks(*blocks):
        return [{"blocks": each, "objects": 5, "megabytes": 100.0} for each in blocks]

    assert soak.growth(looks(0, 500_000, 500_100, 500_200)) == {}
    assert soak.growth(looks(0, 500_000, 520_000)) == {"blocks": 20_000}
