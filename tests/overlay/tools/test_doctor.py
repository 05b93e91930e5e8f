"""``python -m overlay doctor``: the versions and the engines of an installation."""

import json
import sys

import pytest

from overlay import UnsupportedPython
from overlay.tools import doctor
from overlay.tools.command_line import main

ENGINES = ("interpreted code, ctx(f)", "compiled code, ctx.jit(f)", "inverses, invert(f)")


@pytest.fixture
def found(capsys):
    """The findings of the command, and its exit code."""

    def run():
        code = main(["doctor", "--json"])
        return {each["name"]: each for each in json.loads(capsys.readouterr().out)}, code

    return run


def test_it_tells_versions_folders_and_what_works(found, tmp_path, monkeypatch):
    monkeypatch.setenv("OVERLAY_CACHE_DIR", str(tmp_path / "kept"))
    told, code = found()
    assert code == 0
    assert sys.executable in told["Python"]["told"]
    assert told["OVERLAY_CACHE_DIR"]["told"] == str(tmp_path / "kept")
    assert told["compiled code on disk"]["told"].startswith(str(tmp_path / "kept"))
    for name in ("overlay-dispatch", *doctor.LIBRARIES, *ENGINES):
        assert told[name]["state"] == "works"


def test_it_says_what_fails_with_the_remedy_and_goes_on(found, monkeypatch):
    def refused():
        raise UnsupportedPython("no engine here", help="take another Python")

    monkeypatch.setattr(doctor, "_interpreted", refused)
    monkeypatch.setattr(doctor, "LIBRARIES", ("numba", "no-such-library"))
    told, code = found()
    assert code == 1
    assert told[ENGINES[0]]["state"] == "fails"
    assert told[ENGINES[0]]["remedy"] == "take another Python"
    assert "reinstall" in told["no-such-library"]["remedy"]
    assert told[ENGINES[1]]["state"] == "works"


def test_a_wrong_result_is_a_failure(found, monkeypatch):
    monkeypatch.setattr(doctor, "_twice", lambda x: x)
    told, code = found()
    assert code == 1
    assert "4.0 in place of 7.0" in told[ENGINES[0]]["told"]


def test_it_prints_a_line_for_each(capsys):
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("numba: 0.") for line in lines)
