"""The measures of the structure count what they say, and may fall and not rise."""

import shutil
import subprocess
from pathlib import Path

import pytest

from scripts import measures, structure

A = "import overlay.b\n"
B = "def late():\n    from overlay import a\n    return a\n"


def put(root: Path, **files: str) -> Path:
    """Files of overlay, beside an empty ``__init__``; ``sub_c`` is ``sub/c.py``."""
    for name, text in {"__init__": "", **files}.items():
        path = root / "overlay" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def found(root: Path) -> dict[str, measures.Measure]:
    return {each.name: each for each in measures.measured(measures.texts_of(root))}


def methods(count: int) -> str:
    return "".join(f"    def m{i}(self): pass\n" for i in range(count))


# ---- what is counted ------------------------------------------------------------------------


def test_an_import_inside_a_function_closes_a_cycle(tmp_path):
    each = found(put(tmp_path, a=A, b=B, c="import overlay.a\n"))
    assert (each["cycles-overlay"].value, each["cycle-largest"].value) == (2, 2)
    shown = each["cycle-largest"].listing
    assert shown[0] == "overlay.a, overlay.b"
    assert shown[-1] == "  overlay/b.py:2: overlay.b imports overlay.a"


@pytest.mark.parametrize("test", ["TYPE_CHECKING", "typing.TYPE_CHECKING"])
def test_an_import_for_types_closes_none_and_what_is_for_running_counts(tmp_path, test):
    for_types = f"if {test}:\n    import overlay.a\n"
    assert found(put(tmp_path, a=A, b=for_types))["cycles-overlay"].value == 0
    both = f"{for_types}else:\n    import overlay.a\n"
    assert found(put(tmp_path, a=A, b=both))["cycles-overlay"].value == 2


@pytest.mark.parametrize(
    "text",
    [
        "import overlay.a",
        "import overlay.a as other",
        "from overlay import a",
        "from overlay.a import name",
        "from . import a",
        "from .a import name",
        "import importlib\nimportlib.import_module('overlay.a')",
    ],
)
def test_every_form_of_an_import_leads_to_the_module(text):
    texts = {"overlay/__init__.py": "", "overlay/a.py": "", "overlay/b.py": text}
    assert structure.read(texts).imported()["overlay.b"] == {"overlay.a"}


def test_the_modules_of_names_that_a_package_imports_late_are_imported():
    late = "lazy_names(__name__, {'a': ('one', 'two'), 'b.c': ('three',)})"
    texts = {"overlay/__init__.py": late, "overlay/a.py": "", "overlay/b/c.py": ""}
    read = structure.read(texts)
    assert read.imported()["overlay"] == {"overlay.a", "overlay.b.c"}
    assert all(each.inside for each in read.imports)


def test_a_name_of_a_package_that_is_no_module_leads_to_the_package():
    texts = {"overlay/__init__.py": "from .a import name", "overlay/a.py": "from overlay import x"}
    imported = structure.read(texts).imported()
    assert imported == {"overlay": {"overlay.a"}, "overlay.a": {"overlay"}}


def test_cycles_that_share_no_module_are_two(tmp_path):
    c, d = "import overlay.d\nimport overlay.a\n", "import overlay.c\n"
    each = found(put(tmp_path, a=A, b=B, c=c, d=d))
    assert (each["cycles-overlay"].value, each["cycle-largest"].value) == (4, 2)


def test_fans_are_the_highest_and_name_the_module(tmp_path):
    each = found(put(tmp_path, a=A, b="", c="import overlay.b\nimport overlay.a\n"))
    assert (each["fan-in-overlay"].value, each["fan-out-overlay"].value) == (2, 2)
    assert "overlay.b" in each["fan-in-overlay"].what
    assert "overlay.c" in each["fan-out-overlay"].what
    assert each["fan-in-inversion"].value == 0


def test_a_class_of_26_methods_is_large_and_a_property_is_one(tmp_path):
    both = "    @property\n    def m0(self): pass\n    @m0.setter\n    def m0(self, value): pass\n"
    each = found(
        put(tmp_path, a=f"class Big:\n{methods(26)}", b=f"class Fit:\n{both}{methods(25)}")
    )
    assert each["classes-large"].listing == ("overlay/a.py:1: Big has 26 methods",)
    assert (each["class-largest"].value, "Big" in each["class-largest"].what) == (26, True)


def test_names_of_more_than_one_class_and_module_are_listed_with_their_places(tmp_path):
    twice = "class Inner: pass\nclass Site:\n    class Inner: pass\n"
    each = found(
        put(tmp_path, a="class Site: pass\n", b=twice, **{"sub/__init__": "", "sub/a": ""})
    )
    assert (each["class-names-twice"].value, each["classes-of-one-name"].value) == (2, 4)
    assert each["class-names-twice"].listing == (
        "Inner: overlay/b.py:1, overlay/b.py:3",
        "Site: overlay/a.py:1, overlay/b.py:2",
    )
    assert each["module-names-twice"].listing == ("a: overlay/a.py:1, overlay/sub/a.py:1",)


def test_one_class_in_two_branches_is_one(tmp_path):
    text = "if x:\n    class Site: pass\nelse:\n    class Site: pass\n"
    assert found(put(tmp_path, a=text))["class-names-twice"].value == 0


def test_functions_of_more_than_60_lines_and_what_typing_leaves_out(tmp_path):
    body = "    pass\n"
    text = f"def long():\n{60 * body}class A:\n  def fits(self):\n{59 * body}"
    (tmp_path / "pyproject.toml").write_text('[tool.pyright]\nexclude = [\n  "a",\n  "b",\n]\n')
    each = found(put(tmp_path, a=text))
    assert each["functions-long"].listing == ("overlay/a.py:1: long has 61 lines",)
    assert [*each["typing-excluded"].found.values()] == [
        "pyproject.toml:3: a",
        "pyproject.toml:4: b",
    ]


# ---- what is held ---------------------------------------------------------------------------


def run(root: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """The exit status of the command, and what it prints."""
    status = measures.main([*arguments], root)
    return status, capsys.readouterr().out


def commit(root: Path) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    user = ("-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    for command in (["init", "-q"], ["add", "."], [*user, "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=root, check=True)


def test_a_measure_that_is_not_held_is_asked_for_and_kept(tmp_path, capsys):
    status, text = run(put(tmp_path, a=A, b=B), capsys, "--check")
    assert status == 1
    assert "python -m scripts.measures --keep writes them" in text
    assert run(tmp_path, capsys, "--keep")[0] == 0
    lines = (tmp_path / measures.HELD).read_text().splitlines()
    held = [line for line in lines if not line.startswith("#")]
    assert "cycles-overlay = 2" in held
    assert held == sorted(held)
    status, text = run(tmp_path, capsys, "--check")
    assert (status, text.count("\n")) == (0, 1)


def test_a_measure_that_has_risen_fails_and_says_what_is_new_where_and_what_to_do(tmp_path, capsys):
    run(put(tmp_path, a=A, b=B, c="import overlay.a\nclass Site: pass\n"), capsys, "--keep")
    commit(tmp_path)
    put(tmp_path, b=f"class Site: pass\n{B}def more():\n    import overlay.c\n")
    status, text = run(tmp_path, capsys, "--check")
    assert status == 1
    parts = {part.partition(" ")[0]: part for part in text.split("\n\n")}
    assert parts["cycles-overlay"].splitlines() == [
        "cycles-overlay was 2 and is 3: modules of overlay in import cycles",
        "  new:",
        "    overlay/b.py:6: overlay.b imports overlay.c",
        "    overlay/c.py:1: overlay.c is in a cycle of 3 modules",
        "  help: cut the import, or have what both need in a module below them",
        "  or: python -m scripts.measures --raise cycles-overlay=REASON",
    ]
    assert parts["class-names-twice"].splitlines()[1:4] == [
        "  new:",
        "    overlay/b.py:1: class Site, also overlay/c.py:2",
        "    overlay/c.py:2: class Site, also overlay/b.py:1",
    ]


def test_where_git_does_not_say_what_was_before_all_that_counts_is_named(tmp_path, capsys):
    run(put(tmp_path, a="class Site: pass\n", b=""), capsys, "--keep")
    put(tmp_path, b="class Site: pass\n")
    status, text = run(tmp_path, capsys, "--check")
    assert status == 1
    shown = text.splitlines()
    at = shown.index("  all that count (git has none to compare with):")
    assert shown[at + 1] == "    overlay/a.py:1: class Site, also overlay/b.py:1"


def test_a_measure_that_has_fallen_passes_and_is_kept_lower(tmp_path, capsys):
    run(put(tmp_path, a=A, b=B), capsys, "--keep")
    put(tmp_path, b="")
    status, text = run(tmp_path, capsys, "--check")
    assert status == 0
    assert "cycles-overlay was 2 and is 0" in text
    assert "python -m scripts.measures --keep lowers the bar" in text
    assert "cycles-overlay: 2 → 0" in run(tmp_path, capsys, "--keep")[1]
    assert measures.held_in(tmp_path)["cycles-overlay"] == measures.Held(0)


def test_a_higher_measure_is_kept_with_its_reason_alone(tmp_path, capsys):
    run(put(tmp_path, a=A, b=""), capsys, "--keep")
    put(tmp_path, b=B)
    status, text = run(tmp_path, capsys, "--keep")
    assert status == 1
    assert "cycles-overlay was 0 and is 2: not written" in text
    assert measures.held_in(tmp_path)["cycles-overlay"] == measures.Held(0)
    reason = 'said "so"'
    run(tmp_path, capsys, "--raise", f"cycles-overlay={reason}")
    assert measures.held_in(tmp_path)["cycles-overlay"] == measures.Held(2, 0, reason)
    assert f"raised from 0: {reason}" in run(tmp_path, capsys)[1]
    put(tmp_path, b="")
    run(tmp_path, capsys, "--keep")
    assert measures.held_in(tmp_path)["cycles-overlay"] == measures.Held(0)


@pytest.mark.parametrize("given", ["cycles-overlay", "cycles-overlay=", "=why"])
def test_a_raise_without_a_name_or_a_reason_is_refused(tmp_path, capsys, given):
    with pytest.raises(SystemExit):
        measures.main(["--raise", given], put(tmp_path))
    assert "is not NAME=reason" in capsys.readouterr().err


def test_a_raise_of_what_has_not_risen_is_refused(tmp_path, capsys):
    run(put(tmp_path), capsys, "--keep")
    status, text = run(tmp_path, capsys, "--raise", "cycles-overlay=why")
    assert (status, text) == (1, "cycles-overlay is not higher than what is held\n")


def test_ways_that_were_not_measured_stay_as_they_are_held(tmp_path, capsys):
    held = {"files-jit-first": measures.Held(9), "of-another-day": measures.Held(1)}
    measures.write(put(tmp_path), held)
    run(tmp_path, capsys, "--keep")
    kept = measures.held_in(tmp_path)
    assert kept["files-jit-first"] == measures.Held(9)
    assert "of-another-day" not in kept


# ---- this project ---------------------------------------------------------------------------


def test_a_call_runs_through_the_same_files_each_time_that_it_is_measured():
    one, other = (measures.entered("context", measures.ROOT) for _ in range(2))
    assert one == other
    assert len(one["first"]) >= len(one["again"]) > 0
    assert one["again"][0][1] == "Context.__call__"


def test_the_sources_that_are_measured_are_those_of_the_packages():
    texts = measures.texts_of(measures.ROOT)
    assert {"overlay/contexts/context.py", "overlay/_native/intercept.c", "pyproject.toml"} <= {
        *texts
    }
    assert not [path for path in texts if path.startswith("tests/")]
