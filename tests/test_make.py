"""The commands of make find a Python, an environment and a compiler by themselves."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import EVERY, HALVED, LONG
from tests.mutation.mutate import CORES

ROOT = Path(__file__).parents[1]
CHOOSE = ROOT / "scripts" / "choose_python.sh"
PREFERRED = ("3.13", "3.12", "3.14", "3.15")
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


class Machine:
    """A PATH and a HOME with nothing but basic commands and the stubs that a test puts there."""

    def __init__(self, folder: Path):
        self.home, self.bin = folder / "home", folder / "bin"
        self.home.mkdir()
        self.bin.mkdir()
        for name in ("sh", "dirname", "sed", "rm", "find", "touch", "chmod", "make", "cat", "grep"):
            found = shutil.which(name)
            assert found is not None
            (self.bin / name).symlink_to(found)

    def write(self, path: Path, script: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def python(self, path: Path | str, version: str, lacks: str = "", kind: str = "CPython") -> str:
        """A stub that answers what scripts/probe_python.py would print; its path."""
        path = self.bin / path  # an absolute one stays
        return str(self.write(path, f"printf '%s\\n' '{path}' '{kind} {version}' '{lacks}'"))

    def pyenv(self, version: str, lacks: str = "") -> str:
        path = self.home / ".pyenv" / "versions" / version / "bin" / "python3"
        return self.python(path, version, lacks)

    def uv(self, version: str) -> str:
        name = f"cpython-{version}-linux-x86_64-gnu"
        return self.python(self.home / ".local/share/uv/python" / name / "bin" / "python3", version)

    def shim(self, name: str) -> None:
        """What pyenv puts on PATH for a version that is not chosen."""
        self.write(self.bin / name, f"echo 'pyenv: {name}: command not found' >&2; exit 127")

    def run(self, *command: str | Path, **given: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(part) for part in command],
            env={"PATH": str(self.bin), "HOME": str(self.home), **given},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )

    def chosen(self, *versions: str, **given: str) -> tuple[str, str]:
        """The path that is chosen, and the one line that says so or why there is none."""
        done = self.run("sh", CHOOSE, *(versions or PREFERRED), **given)
        (line,) = done.stderr.splitlines()
        assert (done.returncode == 0) == bool(done.stdout)
        return done.stdout.strip(), line


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_a_python3_that_is_too_old_is_passed_over_for_one_in_the_folder_of_pyenv(machine):
    machine.python("python3", "3.11.7")
    found = [machine.pyenv(version) for version in ("3.11.7", "3.12.1", "3.13.0", "3.14.0")]
    path, line = machine.chosen()
    assert path == found[2]
    assert line == f"Python: {path} (CPython 3.13.0); passed over: python3 is CPython 3.11.7"


def test_shims_that_do_not_run_are_passed_over(machine):
    for name in ("python3", "python3.13", "python3.12"):
        machine.shim(name)
    wanted = machine.python("python3.14", "3.14.1")
    path, line = machine.chosen()
    assert path == wanted
    assert "python3 does not run; python3.13 does not run; python3.12 does not run" in line


def test_python3_comes_first_and_path_comes_before_folders(machine):
    machine.pyenv("3.13.0")
    machine.uv("3.13.1")
    machine.python("python3.14", "3.14.1")
    assert machine.chosen()[0] == str(machine.bin / "python3.14")
    machine.python("python3.12", "3.12.1")
    assert machine.chosen()[0] == str(machine.bin / "python3.12")
    machine.python("python3", "3.15.0")
    assert machine.chosen()[0] == str(machine.bin / "python3")


def test_the_folder_of_uv_comes_after_that_of_pyenv_and_may_be_named(machine, tmp_path):
    found = machine.uv("3.13.1")
    assert machine.chosen()[0] == found
    assert machine.chosen("3.13", UV_PYTHON_INSTALL_DIR=str(tmp_path))[0] == ""
    folder = tmp_path / "elsewhere"
    other = machine.python(folder / "cpython-3.14.2-linux" / "bin" / "python3", "3.14.2")
    assert machine.chosen(UV_PYTHON_INSTALL_DIR=str(folder))[0] == other
    assert machine.chosen()[0] == found
    older = machine.pyenv("3.12.1")
    assert machine.chosen()[0] == older


@pytest.mark.parametrize(
    ("version", "lacks", "kind"),
    [
        ("3.11.7", "", "CPython"),
        ("3.16.0", "", "CPython"),
        ("3.1.5", "", "CPython"),
        ("3.13.0", "Python.h", "CPython"),
        ("3.13.0", "venv or ensurepip", "CPython"),
        ("3.13.0", "a lock (it is free-threaded)", "CPython"),
        ("3.13.0", "", "PyPy"),
    ],
)
def test_what_does_not_fit_is_passed_over_and_alone_an_error_with_a_remedy(
    machine, version, lacks, kind
):
    machine.python("python3", version, lacks, kind)
    why = f"python3 is {kind} {version}" + f" without {lacks}" * bool(lacks)
    path, line = machine.chosen()
    assert path == ""
    assert why in line
    assert "make PYTHON=/path/to/python" in line
    fitting = machine.pyenv("3.12.4")
    path, line = machine.chosen()
    assert path == fitting
    assert line.endswith(f"passed over: {why}")


def test_nothing_there_is_said(machine):
    assert "none was found" in machine.chosen()[1]


def test_a_given_python_wins_and_one_that_does_not_fit_is_an_error(machine):
    machine.python("python3", "3.13.0")
    other = machine.python(machine.home / "my python", "3.12.0")
    assert machine.chosen(PYTHON=other)[0] == other
    old = machine.python("old", "3.11.7")
    for given, why in ((old, f"{old} is CPython 3.11.7"), ("gone", "gone is not there")):
        path, line = machine.chosen(PYTHON=given)
        assert (path, why in line) == ("", True)


def test_one_version_asked_for_is_looked_for_alone(machine):
    machine.python("python3", "3.13.0")
    assert machine.chosen("3.12")[0] == ""
    wanted = machine.pyenv("3.12.1")
    assert machine.chosen("3.12")[0] == wanted


def test_the_python_of_these_tests_fits_unless_it_lacks_headers():
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "probe_python.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    path, kind, lacks = done.stdout.split("\n")[:3]
    assert os.path.exists(path)
    assert kind == f"CPython {'.'.join(map(str, sys.version_info[:3]))}"
    assert lacks in {"", "Python.h"}


# ---- the environment -------------------------------------------------------------------------

# a stub that "makes" environments: their python is a stub of the same version, with a pip that
# notes its calls and fails while the file "offline" is there
MAKES_ENVIRONMENTS = """
case "$1 $2" in
"-m venv") mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; echo "venv VERSION" >>"$HOME/calls" ;;
"-m pip") echo "pip VERSION" >>"$HOME/calls"; [ ! -e "$HOME/offline" ] ;;
-c*) echo VERSION ;;
*) printf '%s\\n' "$0" 'CPython VERSION' '' ;;
esac
"""


class Environments:
    """``make venv`` on a machine whose Pythons make environments of stubs."""

    def __init__(self, machine: Machine):
        self.machine, self.venv = machine, machine.home / "venv"
        for name in ("mkdir", "cp"):
            found = shutil.which(name)
            assert found is not None
            (machine.bin / name).symlink_to(found)
        machine.write(machine.bin / "cc", "")

    def python(self, name: str, version: str) -> str:
        script = MAKES_ENVIRONMENTS.replace("VERSION", version)
        return str(self.machine.write(self.machine.bin / name, script))

    def make(self, *given: str) -> tuple[int, list[str]]:
        """The exit status, and what was called."""
        calls = self.machine.home / "calls"
        calls.write_text("")
        done = self.machine.run("make", "-s", "venv", f"VENV={self.venv}", *given)
        self.said = done.stdout + done.stderr
        return done.returncode, calls.read_text().splitlines()


@pytest.fixture
def environments(machine):
    return Environments(machine)


def test_an_environment_is_made_once(environments):
    environments.python("python3", "3.13.0")
    assert environments.make() == (0, ["venv 3.13.0", "pip 3.13.0"])
    assert environments.make() == (0, [])
    assert environments.make(f"CONSTRAINTS={ROOT / 'constraints-oldest.txt'}") == (0, [])


def test_an_environment_is_brought_up_to_date_in_place(environments, tmp_path):
    environments.python("python3", "3.13.0")
    pins = tmp_path / "pins.txt"
    pins.write_text("")
    os.utime(pins, (0, 0))
    environments.make(f"CONSTRAINTS={pins}")
    assert environments.make(f"CONSTRAINTS={pins}") == (0, [])
    os.utime(pins, (2**32, 2**32))
    assert environments.make(f"CONSTRAINTS={pins}") == (0, ["pip 3.13.0"])


def test_an_environment_left_over_from_an_old_python_is_made_anew(environments):
    environments.python("python3", "3.11.7")
    environments.make()  # says that it cannot
    old = environments.python("python3.11", "3.11.7")
    subprocess.run(["mkdir", "-p", environments.venv / "bin"], check=True)
    shutil.copy(old, environments.venv / "bin" / "python")
    (environments.venv / "ready").touch()
    environments.python("python3.12", "3.12.1")
    assert environments.make() == (0, ["venv 3.12.1", "pip 3.12.1"])
    assert "made anew" in environments.said


def test_an_environment_whose_python_is_gone_is_made_anew(environments):
    environments.python("python3", "3.13.0")
    environments.make()
    (environments.venv / "bin" / "python").unlink()
    (environments.venv / "bin" / "python").symlink_to("/no/such/python")
    assert environments.make() == (0, ["venv 3.13.0", "pip 3.13.0"])


def test_an_environment_of_another_python_than_the_given_one_is_made_anew(environments):
    environments.python("python3", "3.13.0")
    other = environments.python("other", "3.12.1")
    environments.make()
    assert environments.make(f"PYTHON={other}") == (0, ["venv 3.12.1", "pip 3.12.1"])
    assert environments.make(f"PYTHON={other}") == (0, [])
    assert environments.make() == (0, [])  # it is of a version that fits


def test_what_was_interrupted_is_completed_by_the_next_command(environments):
    environments.python("python3", "3.13.0")
    offline = environments.machine.home / "offline"
    offline.touch()
    status, _ = environments.make()
    assert status != 0
    offline.unlink()
    assert environments.make() == (0, ["venv 3.13.0", "pip 3.13.0"])
    assert environments.make() == (0, [])


def test_only_an_old_python_is_an_error_of_one_line_that_leaves_things_alone(environments):
    environments.python("python3", "3.11.7")
    status, calls = environments.make()
    assert (status != 0, calls, environments.venv.exists()) == (True, [], False)
    ours = [line for line in environments.said.splitlines() if not line.startswith("make: ***")]
    assert len(ours) == 1
    assert "python3 is CPython 3.11.7" in ours[0]
    assert "uv python install 3.13" in ours[0]


def test_without_a_compiler_that_of_ziglang_is_installed_and_is_what_make_exports(environments):
    environments.python("python3", "3.13.0")
    (environments.machine.bin / "cc").unlink()
    assert environments.make() == (0, ["venv 3.13.0", "pip 3.13.0", "pip 3.13.0"])
    wrapper = environments.venv / "bin" / "zig-cc"
    assert f'"{environments.venv}/bin/python" -m ziglang cc' in wrapper.read_text()
    compiler = [str(ROOT / "scripts" / "compiler.sh")]
    (wrapper.parent / "python").write_text("#!/bin/sh\n")
    done = environments.machine.run("sh", *compiler, VENV=str(environments.venv))
    assert done.stdout.strip() == str(wrapper)
    environments.machine.write(environments.machine.bin / "gcc", "")
    done = environments.machine.run("sh", *compiler, VENV=str(environments.venv))
    assert done.stdout.strip() == "gcc"
    environments.machine.write(environments.machine.bin / "mine", "")
    done = environments.machine.run("sh", *compiler, CC="mine -O2")
    assert done.stdout.strip() == "mine -O2"


EXTENSION = """
#include <Python.h>
static PyObject *answer(PyObject *self, PyObject *none) { return PyLong_FromLong(42); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "tiny", NULL, -1, methods};
PyMODINIT_FUNC PyInit_tiny(void) { return PyModule_Create(&module); }
"""
SETUP = "from setuptools import Extension, setup; "
SETUP += "setup(name='tiny', ext_modules=[Extension('tiny', ['tiny.c'])])"


def test_the_compiler_that_make_exports_builds_an_extension_that_can_be_imported(tmp_path):
    found = subprocess.run(
        ["sh", ROOT / "scripts" / "compiler.sh"],
        env={**os.environ, "VENV": sys.prefix},
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        pytest.skip("no C compiler, and ziglang is not installed")
    (tmp_path / "tiny.c").write_text(EXTENSION)
    (tmp_path / "setup.py").write_text(SETUP)
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    environment = {**os.environ, "CC": found.stdout.strip()}
    subprocess.run(build, cwd=tmp_path, env=environment, check=True)
    code = "import tiny; print(tiny.answer())"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=True
    )
    assert done.stdout.strip() == b"42"


# ---- what is said of the versions, in one place and in others --------------------------------


def listed(name: str) -> list[str]:
    text = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    (found,) = re.findall(rf"^{name} := (.+)$", text, re.M)
    return found.split()


def test_the_workflow_of_ci_has_every_version():
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert re.findall(r'"(3\.\d+)"', text.partition("matrix:")[2].partition("\n    steps")[0]) == (
        listed("VERSIONS")
    )


def test_what_the_short_part_of_the_tests_names_is_there_and_touches_every_package():
    paths = listed("SHORT")
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert {"overlay", "primitives", "inversion"} <= {Path(path).parts[1] for path in paths}


NAMED = [*EVERY, *HALVED, *(f"{path}::{test}" for path in LONG for test in LONG[path] or [""])]


@pytest.mark.parametrize("name", NAMED)
def test_what_the_lists_of_long_tests_name_is_there(name):
    path, _, test = name.partition("::")
    assert (ROOT / path).exists()
    assert not test or f"def {test}(" in (ROOT / path).read_text()


def test_ci_runs_the_quick_tests_for_each_change_and_the_long_ones_once_a_week():
    run = (ROOT / ".ci" / "run").read_text()
    assert {"test", "check"} <= {*re.findall(r"for target in (.+); do", run)[0].split()}
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
    assert "schedule:" in workflow
    assert {"test", "test-long", "check"} <= {*re.findall(r"run: make (\S+)", workflow)}


@pytest.mark.parametrize("core", CORES)
def test_what_a_core_of_the_mutation_tests_names_is_there(core):
    assert [path for part in CORES[core] for path in part if not (ROOT / path).exists()] == []


def test_every_requirement_with_a_marker_says_a_version_of_make():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [line for extra in extras["optional-dependencies"].values() for line in extra]
    lines += (ROOT / "constraints.txt").read_text().splitlines()
    named = {
        v for line in lines for v in re.findall(r"""python_version [<>=]+ ['"]([\d.]+)""", line)
    }
    assert named <= set(listed("VERSIONS"))
