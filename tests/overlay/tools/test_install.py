"""``install``: a context for all later top-level code of a program or session."""

import asyncio
import code
import contextlib
import math
import os
import re
import subprocess
import sys
import textwrap
import threading

import pytest

from overlay import Context, MethodTable, OverlayError, current_context, install
from overlay.tools.install import session_of_console

table = MethodTable("waves")
ctx = Context(table)


@table.overlay(math.sin)
def sin(x: float):
    return "overlaid"


inner_table = MethodTable("inner")
inner = Context(inner_table)


@inner_table.overlay(math.sin)
def sin_inside(x: float):
    return "inner"


def wave(x):
    return math.sin(x)


@pytest.fixture
def shell():
    pytest.importorskip("IPython")
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    shell.user_ns |= {"math": math, "asyncio": asyncio, "wave": wave, "install": install}
    shell.user_ns |= {"ctx": ctx, "inner": inner, "current_context": current_context}
    yield shell
    InteractiveShell.clear_instance()


@pytest.fixture
def cell(shell):
    def run(text):
        done = shell.run_cell(text)
        done.raise_error()
        return done.result

    return run


def test_each_later_cell_runs_in_the_context(cell):
    assert cell("wave(1.0)") == math.sin(1.0)
    cell("handle = install(ctx)")
    assert cell("wave(1.0)") == "overlaid"
    assert cell("math.sin(1.0)") == "overlaid"
    assert cell("current_context() is ctx")
    assert wave(1.0) == math.sin(1.0)  # what is not the session's is untouched
    assert current_context() is None
    cell("handle.remove()")
    assert cell("wave(1.0)") == math.sin(1.0)
    assert cell("current_context()") is None


def test_a_helper_that_is_defined_again_is_seen_by_the_next_cell(cell):
    cell("install(ctx)")
    cell("def helper(): return 'old', math.sin(1.0)")
    assert cell("helper()") == ("old", "overlaid")
    cell("def helper(): return 'new', math.sin(1.0)")
    assert cell("helper()") == ("new", "overlaid")


def test_a_cell_that_awaits_runs_in_the_context(cell):
    cell("install(ctx)")
    assert cell("await asyncio.sleep(0)\nawait asyncio.sleep(0, math.sin(1.0))") == "overlaid"


def test_installed_contexts_stack_and_each_handle_removes_its_own(cell):
    cell("outer_handle = install(ctx)")
    cell("inner_handle = install(inner)")
    assert cell("wave(1.0)") == "inner"
    cell("outer_handle.remove()")
    assert cell("wave(1.0)") == "inner"
    cell("inner_handle.remove(); inner_handle.remove()")
    assert cell("wave(1.0)") == math.sin(1.0)


def test_a_handle_is_a_block_too(shell, cell):
    with install(ctx) as handle:
        assert cell("wave(1.0)") == "overlaid"
        assert repr(handle) == "<Installed <Context waves>: in force>"
    assert repr(handle) == "<Installed <Context waves>: removed>"
    assert cell("wave(1.0)") == math.sin(1.0)


def test_an_error_in_a_cell_shows_the_cell_alone(shell, capsys):
    install(ctx)
    shell.run_cell("def fails():\n    return 1 / 0\nfails()")
    shown = capsys.readouterr().out
    assert "ZeroDivisionError" in shown
    assert "overlay/" not in shown


def test_a_console_of_the_standard_library_runs_each_later_input_in_the_context():
    results = []
    names = {"math": math, "results": results, "wave": wave, "install": install, "ctx": ctx}
    console = code.InteractiveConsole(names)
    inputs = """
        results.append(wave(1.0))
        handle = install(ctx); results.append(wave(1.0))
        results.append(wave(1.0))
        def local(x): return math.sin(x)

        results.append(local(1.0))
        handle.remove()
        results.append(local(1.0))"""
    for line in textwrap.dedent(inputs).splitlines()[1:]:
        console.push(line)
    native = math.sin(1.0)
    assert results == [native, native, "overlaid", "overlaid", native]
    assert current_context() is None


def test_a_console_may_be_given_its_contexts():
    results = []
    console = code.InteractiveConsole({"results": results, "wave": wave})
    session_of_console(console).add(ctx)
    console.push("results.append(wave(1.0))")
    assert results == ["overlaid"]


# ---- programs ------------------------------------------------------------------------------------

CONTEXTS = """
    import math, functools, operator
    from overlay import Context, MethodTable, Plugin, call_next, current_context, install

    def labelled(text):
        table = MethodTable(text)
        @table.overlay(math.sin)
        def sin(x: float):
            return text
        return Context(table)

    class Counted(Plugin):
        def __init__(self):
            self.seen = []
        def around(self, callee, run):
            self.seen.append(callee)

    one, two = labelled("one"), labelled("two")
    sums = MethodTable("sums")
    sums.overlay(operator.mul)(lambda a, b: a + b)
    counted = Counted()
    counting = Context(plugins=(counted,))
"""


def run_python(folder, *arguments, **options):
    (folder / "contexts.py").write_text(textwrap.dedent(CONTEXTS))
    (folder / "imported.py").write_text("import math\nAT_IMPORT = math.sin(1.0)\n")
    (folder / "imported_later.py").write_text("import math\nAT_IMPORT = math.sin(1.0)\n")
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])},
        timeout=60,
        **options,
    )


def script(folder, text):
    path = folder / "program.py"
    path.write_text(textwrap.dedent(text))
    return run_python(folder, str(path))


def test_the_top_level_code_of_a_script_is_in_what_its_first_line_installs(tmp_path):
    done = script(
        tmp_path,
        """
        from contexts import *; handle = install(one)
        from concurrent.futures import ThreadPoolExecutor
        import asyncio, atexit, imported
        def helper():
            return math.sin(1.0)
        async def task():
            return helper()
        print(math.sin(1.0), helper(), [math.sin(x) for x in (1.0,)], imported.AT_IMPORT)
        print(*ThreadPoolExecutor().map(math.sin, [1.0]), asyncio.run(task()))
        print(current_context() is one, two(helper), helper())
        handle.remove()
        at_import = one(lambda: __import__("imported_later").AT_IMPORT)
        print(math.sin(0.0), helper() == at_import, current_context())
        install(one)
        atexit.register(lambda: print("at exit", math.sin(1.0)))
        """,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        *("one one ['one'] one", "one one", "True two one", "0.0 True None", "at exit one")
    ]


def test_numpy_and_numba_are_imported_in_an_installed_context(tmp_path):
    """Calls that their imports make are resolved while these are half imported."""
    done = script(
        tmp_path,
        """
        from overlay import Context, MethodTable, install
        install(Context(MethodTable("empty")))
        import numpy
        import numba
        print(numpy.arange(3).sum(), numba.njit(lambda x: x + 1)(1))
        """,
    )
    assert (done.returncode, done.stdout.split()[-2:]) == (0, ["3", "2"]), done.stderr


def test_operators_and_hooks_hold_at_the_top_level_that_already_runs(tmp_path):
    done = script(
        tmp_path,
        """
        from contexts import *
        three = int("3")
        with install(Context(sums)):
            print(three * 4)
        print(three * 4)
        with install(counting):
            math.sqrt(2.0)
        math.sqrt(3.0)
        print(counted.seen)
        """,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["7", "12", "[<built-in function sqrt>]"]


def test_installed_contexts_of_a_script_stack_and_each_handle_removes_its_own(tmp_path):
    done = script(
        tmp_path,
        """
        from contexts import *
        first, second = install(one), install(two)
        print(math.sin(1.0), first, second)
        first.remove()
        print(math.sin(1.0), first)
        third = install(one)
        print(math.sin(1.0))
        third.remove(), third.remove(), second.remove()
        print(math.sin(0.0))
        """,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "two <Installed <Context one>: in force> <Installed <Context two>: in force>",
        "two <Installed <Context one>: removed>",
        *("one", "0.0"),
    ]


@pytest.mark.parametrize("call", ["install(two)", "handle.remove()"])
def test_where_it_would_not_hold_for_the_program_it_is_refused(tmp_path, call):
    done = script(
        tmp_path,
        f"""
        from contexts import *
        import asyncio, threading
        handle = install(one)
        def change():
            try:
                {call}
            except Exception as error:
                print(type(error).__name__, str(error).splitlines()[0])
        async def task():
            change()
        two(change)
        with two:
            change()
        asyncio.run(task())
        thread = threading.Thread(target=change)
        thread.start(), thread.join()
        print(math.sin(1.0), handle)
        handle.remove()
        """,
    )
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) == 5
    assert all(line.startswith("OverlayError") and "cannot" in line for line in lines[:4])
    assert ["inside" in line for line in lines[:4]] == [True, True, False, False]
    assert lines[4] == "one <Installed <Context one>: in force>"


def test_a_script_under_a_context_installs_further_ones(tmp_path):
    (tmp_path / "program.py").write_text(
        "from contexts import *\n"
        "print(math.sin(1.0))\nhandle = install(two)\nprint(math.sin(1.0))\n"
        "handle.remove()\nprint(math.sin(1.0))\ninstall(two)\n"
    )
    done = run_python(tmp_path, "-m", "overlay", "run", "--context", "contexts:one", "program.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["one", "two", "one"]


def test_a_program_of_the_command_line_and_a_module_are_scripts_too(tmp_path):
    (tmp_path / "program.py").write_text(
        "from contexts import *; install(one)\nprint(math.sin(1.0))"
    )
    command = "from contexts import *; install(one); print(math.sin(1.0))"
    for arguments in (("-c", command), ("-m", "program")):
        done = run_python(tmp_path, *arguments)
        assert (done.stdout, done.stderr) == ("one\n", "")


def test_the_prompt_that_runs_tasks_refuses_it(tmp_path):
    typed_in = "from contexts import *\ninstall(one)\nprint('native', math.sin(0.0))\n"
    done = run_python(tmp_path, "-m", "asyncio", input=typed_in)
    assert "cannot install <Context one> in a task" in done.stderr
    assert "native 0.0" in done.stdout


PROMPT = """\
from contexts import *
print("before", math.sin(0.0))
handle = install(one)
print("inside", math.sin(1.0), len("ab"))
def helper():
    return math.sin(1.0)

print("helper", helper())
1 / 0
print("still", helper())
handle.remove()
print("after", helper() == "one")
"""


@pytest.mark.parametrize("where", ["pipe", "terminal", "start-up"])
def test_each_later_input_of_pythons_prompt_is_in_the_context(tmp_path, where):
    if where == "terminal":
        shown = typed(tmp_path, PROMPT)
    elif where == "start-up":  # a script that leaves a prompt
        (tmp_path / "begin.py").write_text("\n".join(PROMPT.splitlines()[:3]))
        rest = "\n".join(PROMPT.splitlines()[3:]) + "\n"
        shown = run_python(tmp_path, "-i", "begin.py", input=rest).stdout
    else:
        shown = run_python(tmp_path, "-i", input=PROMPT).stdout
    said = [line for line in map(str.rstrip, shown.splitlines()) if line[:1].isalpha()]
    expected = ["before 0.0", "inside one 2", "helper one", "still one", "after False"]
    assert [line for line in said if line in expected] == expected


def typed(folder, text):
    """The output of a prompt on a terminal; from Python 3.13 on its editor is in Python."""
    pty = pytest.importorskip("pty")
    (folder / "contexts.py").write_text(textwrap.dedent(CONTEXTS))
    primary, secondary = pty.openpty()
    path = os.pathsep.join([str(folder), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "TERM": "xterm", "NO_COLOR": "1"}
    environment |= {"PYTHON_HISTORY": str(folder / "history"), "HOME": str(folder)}
    with subprocess.Popen(
        [sys.executable, "-q"],
        stdin=secondary,
        stdout=secondary,
        stderr=secondary,
        env=environment,
        cwd=folder,
        start_new_session=True,
    ) as process:
        os.close(secondary)
        watchdog = threading.Timer(60, process.kill)
        watchdog.start()
        shown = b""
        pending = [*text.splitlines(), "exit()"]
        with contextlib.suppress(OSError):  # the terminal ends with the process
            while chunk := os.read(primary, 4096):
                shown += chunk
                if pending and plain(shown).rstrip().endswith((">>>", "...")):
                    os.write(primary, pending.pop(0).encode() + b"\r")
        watchdog.cancel()
        os.close(primary)
    return plain(shown)


def plain(shown):
    """The text written to a terminal, without the sequences that move the cursor."""
    return re.sub(r"\x1b(\[[?0-9;]*[a-zA-Z]|.)", "", shown.decode(errors="replace"))


def test_what_is_no_context_is_refused():
    with pytest.raises(OverlayError, match=r"takes a context; 3 was given(.|\n)*Context\(table\)"):
        install(3)
