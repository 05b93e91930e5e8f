"""``python -m overlay doctor``: the versions and the engines of an installation."""

import json
import re
import sys
from pathlib import Path

import pytest

from overlay import NotCompilable, UnsupportedPython
from overlay.python.seen_calls import SEEN, UNSEEN
from overlay.tools import doctor
from overlay.tools.command_line import main

ROOT = Path(__file__).parents[3]
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


def test_it_tells_what_is_supported_and_what_is_not(found, monkeypatch):
    told, _ = found()
    assert told["supported Python"]["told"].endswith(" here: yes")
    monkeypatch.setattr(doctor, "READABLE", ((3, 9),))
    monkeypatch.setattr(doctor, "NUMBA_TESTED", ((0, 1), (0, 2)))
    told, code = found()
    assert code == 1
    assert "no" in told["supported Python"]["told"]
    assert told["supported Python"]["remedy"]
    assert "here: no" in told["supported numba"]["told"]
    assert told["supported numba"]["remedy"]


def test_what_is_missing_is_told_with_its_remedy_and_without_a_place(found, monkeypatch):
    def missing():
        raise NotCompilable(
            "cannot compile for a GPU: it is not installed", where="file.py:1", help="install it"
        )

    monkeypatch.setattr(doctor, "_kernel", missing)
    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
    told, code = found()
    kernels = next(each for name, each in told.items() if name.startswith("kernels"))
    kept = {"part": "engines", "name": kernels["name"], "state": "not available"}
    assert kernels == {**kept, "told": "it is not installed", "remedy": "install it"}
    monkeypatch.setattr(doctor, "_interpreted", missing)
    told, code = found()
    assert code == 1
    assert "file.py" not in str(told)


def test_kernels_that_are_compiled_and_cannot_run_here_are_told_as_such(found, monkeypatch):
    cuda_typing = pytest.importorskip("overlay.compiled.cuda.cuda_typing")
    if not cuda_typing.nvvm_is_there():
        pytest.skip("no compiler for kernels")
    monkeypatch.setattr(cuda_typing, "capability_at_hand", lambda: None)
    monkeypatch.delenv("NUMBA_ENABLE_CUDASIM", raising=False)
    told, code = found()
    assert code == 0
    kernels = next(each for name, each in told.items() if name.startswith("kernels"))
    assert kernels["state"] == "compiles only"
    assert kernels["told"] == "kernels cannot run here: this machine has no GPU"
    assert "NUMBA_ENABLE_CUDASIM=1" in kernels["remedy"]


def test_the_kinds_of_calls_are_those_that_the_page_explains():
    text = (ROOT / "docs/python_engine.md").read_text().replace("`", "")
    rows = re.findall(r"^\| (.+?) \|", text.partition("| Target |")[2].partition("\n\n")[0], re.M)
    rows = [row for row in rows if "---" not in row]
    assert len(rows) == len([*SEEN, "a function that is the __init__"])
    assert [kind for kind in SEEN if not any(row.startswith(kind) for row in rows)] == []
    section = text.partition("## Calls that are not seen")[2].partition("\n## ")[0]
    items = re.findall(r"^- (.*)$", section, re.M)
    assert [bool(item.startswith(kind)) for item, kind in zip(items, UNSEEN, strict=True)] == [
        True
    ] * len(items)


def test_a_wrong_result_is_a_failure(found, monkeypatch):
    monkeypatch.setattr(doctor, "_twice", lambda x: x)
    told, code = found()
    assert code == 1
    assert "4.0 in place of 7.0" in told[ENGINES[0]]["told"]


def test_it_prints_a_line_for_each(capsys):
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("numba: 0.") for line in lines)
