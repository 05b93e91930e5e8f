"""``pytest --overlay package.module:ctx``."""

import importlib.metadata
import importlib.util
import subprocess
import sys

import pytest

CONTEXTS = """
import math
from overlay import Context, MethodTable

table = MethodTable("waves")

@table.overlay(math.sin)
def sin(x: float):
    return "overlaid"

@table.overlay(math.cos)
def cos(x: float):
    return "overlaid"

ctx = Context(table)
counted = Context(table, count_calls=True)
strict = Context(table, strict=True)
"""
# The installed package names its plugin to pytest; without that it is named here.
_NAMED = importlib.metadata.entry_points(group="pytest11", name="overlay")
PLUGIN = () if _NAMED else ("-p", "pytest_overlay")


@pytest.fixture
def suite(tmp_path):
    """Runs pytest over a test module; what it printed and its exit code."""
    (tmp_path / "contexts.py").write_text(CONTEXTS)

    def run(text, *arguments, context="contexts:ctx"):
        (tmp_path / "test_suite.py").write_text("import math\nimport pytest\n" + text)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", "."]
        option = () if context is None else ("--overlay", context)
        return subprocess.run(
            [*command, *PLUGIN, *option, *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
        )

    return run


def passed(done, count):
    assert f"{count} passed" in done.stdout, done.stdout + done.stderr
    return done.returncode == 0


def test_test_functions_run_under_the_context(suite):
    text = """
def test_plain():
    assert math.sin(1.0) == "overlaid"

@pytest.mark.parametrize("x", [1.0, 2.0])
def test_parametrized(x, tmp_path):
    assert math.sin(x) == "overlaid"

class TestGroup:
    def setup_method(self):
        self.made = math.sin(1.0)

    def test_method(self):
        assert math.sin(1.0) == self.made == "overlaid"
"""
    assert passed(suite(text), 4)
    assert "4 failed" in suite(text, context=None).stdout


def test_fixtures_of_the_suite_run_under_the_context(suite):
    text = """
ended = []

@pytest.fixture
def returned(tmp_path):
    return math.sin(1.0)

@pytest.fixture(scope="module")
def yielded():
    yield math.sin(1.0)
    ended.append(math.sin(1.0))

def test_fixtures(returned, yielded):
    assert returned == yielded == "overlaid"

def test_end_of_fixture(request):
    assert ended == []

@pytest.fixture(scope="session", autouse=True)
def at_end():
    yield
    assert ended == ["overlaid"]
"""
    assert passed(suite(text), 2)


def test_unittest_cases_run_under_the_context(suite):
    text = """
import asyncio
import unittest

class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.of_class = math.sin(1.0)

    def setUp(self):
        self.made = math.sin(1.0)

    def tearDown(self):
        assert math.sin(1.0) == "overlaid"

    def test_case(self):
        self.assertEqual({math.sin(1.0), self.made, self.of_class}, {"overlaid"})

class AsyncCase(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.made = math.sin(1.0)

    async def test_case(self):
        await asyncio.sleep(0)
        self.assertEqual({math.sin(1.0), self.made}, {"overlaid"})
"""
    assert passed(suite(text), 2)


def test_doctests_run_under_the_context(suite):
    text = '''
def documented():
    """
    >>> math.sin(1.0)
    'overlaid'
    """
'''
    assert passed(suite(text, "--doctest-modules"), 1)


def test_coroutine_tests_stay_coroutines_for_the_plugin_that_runs_them(suite, tmp_path):
    (tmp_path / "conftest.py").write_text(
        """
import asyncio, inspect, pytest

@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if inspect.iscoroutinefunction(pyfuncitem.obj):
        asyncio.run(pyfuncitem.obj())
        return True
"""
    )
    text = """
import asyncio

async def test_coroutine():
    await asyncio.sleep(0)
    assert math.sin(1.0) == "overlaid"
"""
    assert passed(suite(text), 1)


def test_a_failure_shows_the_assertion_and_no_frame_of_ours(suite):
    text = """
def helper(x):
    raise ValueError(x)

def test_assertion():
    found = [1, 2]
    assert math.sin(1.0) == [found, 3]

def test_error():
    helper(1)
"""
    done = suite(text)
    assert "2 failed" in done.stdout
    assert "AssertionError: assert 'overlaid' == [[1, 2], 3]" in done.stdout
    assert "where 'overlaid' = <built-in function sin>(1.0)" in done.stdout
    assert "test_suite.py:5: ValueError" in done.stdout
    assert "overlay/" not in done.stdout


def test_the_summary_tells_what_was_hit(suite):
    text = """
def test_plain():
    for _ in range(3):
        math.sin(1.0)
"""
    done = suite(text)
    assert "overlay contexts:ctx" in done.stdout
    assert "hit: math.sin(float)   contexts.py:7\n" in done.stdout
    assert "never hit: math.cos(float)   contexts.py:11\n" in done.stdout
    assert "1 of 2 methods hit\n" in done.stdout
    counted = suite(text, context="contexts:counted")
    assert "hit: math.sin(float)   contexts.py:7   3 calls" in counted.stdout


def test_a_strict_context_fails_the_test_that_leaves_it(suite):
    text = """
import contextvars

def test_leaves():
    contextvars.Context().run(math.sin, 1.0)

def test_stays():
    pass
"""
    done = suite(text, context="contexts:strict")
    assert "1 failed, 1 passed" in done.stdout
    assert "was called outside the context" in done.stdout
    assert "left the context:" in done.stdout


@pytest.mark.skipif(importlib.util.find_spec("xdist") is None, reason="needs pytest-xdist")
def test_what_happens_in_workers_is_told_together(suite):
    text = """
@pytest.mark.parametrize("x", range(4))
def test_many(x):
    assert math.sin(float(x)) == "overlaid"
"""
    done = suite(text, "-n", "2", context="contexts:counted")
    assert passed(done, 4)
    assert "hit: math.sin(float)" in done.stdout
    assert "   4 calls" in done.stdout
    assert done.stdout.count("1 of 2 methods hit") == 1


@pytest.mark.parametrize(
    ("context", "message"),
    [("contexts:ct", "closest: ctx"), ("contexts:math", "is not a Context"), ("x:y", "no module")],
)
def test_a_wrong_name_is_a_usage_error(suite, context, message):
    done = suite("def test_it(): pass\n", context=context)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def script(tmp_path):
    """Runs the command ``pytest``, whose script stands elsewhere, from a project's folder."""
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "pytest"
    command.write_text("import sys\nfrom pytest import console_main\nsys.exit(console_main())\n")
    project = tmp_path / "project"
    project.mkdir()
    (project / "contexts.py").write_text(CONTEXTS)
    (project / "broken.py").write_text("import math\nmath.sine(1.0)\n")
    (project / "test_suite.py").write_text(
        "import math\ndef test_it():\n    assert math.sin(1.0) == 'overlaid'\n"
    )

    def run(*arguments, flags=()):
        return subprocess.run(
            [sys.executable, *flags, str(command), "-p", "no:cacheprovider", *PLUGIN, *arguments],
            capture_output=True,
            text=True,
            cwd=project,
            check=False,
        )

    return run


def test_the_script_finds_modules_in_the_working_folder(script):
    for mode in ("prepend", "importlib"):
        assert passed(script("--overlay", "contexts:ctx", f"--import-mode={mode}"), 1)
    kept = script("--overlay", "contexts:ctx", flags=["-P"])  # where Python is told not to
    assert kept.returncode == pytest.ExitCode.USAGE_ERROR


@pytest.mark.parametrize(
    ("context", "messages"),
    [
        ("context:ctx", ["no module 'context'", "closest: contexts"]),
        ("contexts:counting", ["no 'counting'", "closest: counted"]),
        ("contexts:table", ["is not a Context", "contexts there: ctx, counted, strict"]),
        ("broken:ctx", ["no attribute 'sine'", "broken.py:2"]),
        ("", ["names nothing", "package.module:name"]),
    ],
)
def test_a_context_that_cannot_be_had_is_a_usage_error_with_candidates(script, context, messages):
    done = script("--overlay", context)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert [each for each in messages if each not in done.stderr] == []
    assert "INTERNALERROR" not in done.stdout + done.stderr


def test_without_the_option_the_package_is_not_imported():
    program = "import pytest_overlay, sys; assert 'overlay' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
