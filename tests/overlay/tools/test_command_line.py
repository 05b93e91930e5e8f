"""``python -m overlay run``, ``explain`` and ``check``."""

import json
import subprocess
import sys
import textwrap
import zipfile
from importlib import metadata

import pytest

from overlay.core.errors import OverlayError
from overlay.tools.command_line import main
from overlay.tools.named import named, named_context, named_hint, named_type

CONTEXTS = """
import math
from overlay import Context, MethodTable

table = MethodTable("waves")

@table.overlay(math.sin)
def sin(x: float) -> float:
    return 10.0

ctx = Context(table)
other = 3

class Kind:
    pass
"""
SCRIPT = """
import math
import sys

def wave(x):
    return math.sin(x)

class Kind:
    pass

print("at module level:", math.sin(1.0))
if __name__ == "__main__":
    import pickle
    assert type(pickle.loads(pickle.dumps(Kind()))) is Kind
    print("in a function:", wave(1.0))
    print("arguments:", sys.argv[1:])
    print("file:", __file__.rpartition("/")[2], "package:", __package__)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "contexts.py").write_text(CONTEXTS)
    (tmp_path / "script.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def importable(place, monkeypatch):
    """The place as a part of this process's path, its modules forgotten afterwards."""
    monkeypatch.syspath_prepend(str(place))
    yield place
    for name in ("broken", "contexts", "script"):
        sys.modules.pop(name, None)


def overlay(*arguments, given=None, python=()):
    command = [sys.executable, *python, "-m", "overlay", *arguments]
    return subprocess.run(command, capture_output=True, text=True, input=given, check=False)


def native(*arguments):
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def run(*arguments, **options):
    return overlay("run", "--context", "contexts:ctx", *arguments, **options)


def script(place, text):
    (place / "script.py").write_text(textwrap.dedent(text))


# ---- run ----------------------------------------------------------------------------------


def test_a_script_runs_under_the_context(place):
    done = run("script.py", "--report", "-m")
    assert done.stdout.splitlines() == [
        "at module level: 10.0",
        "in a function: 10.0",
        "arguments: ['--report', '-m']",
        "file: script.py package: None",
    ]
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["program", "package", "package.part"])
def test_a_module_runs_under_the_context(place, name):
    package = place / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    text = "import math, sys\nprint(math.sin(1.0), __name__, __package__, __spec__.name)\n"
    for file in (place / "program.py", package / "__main__.py", package / "part.py"):
        file.write_text(text + "print(sys.argv[0] == __file__, sys.argv[1:])\n")
    done = run("-m", name, "one", "--two")
    same = native("-m", name, "one", "--two")
    assert done.stderr == same.stderr == ""
    assert done.stdout.startswith("10.0 __main__")
    assert done.stdout.split()[1:] == same.stdout.split()[1:]


def test_a_directory_an_archive_and_bytecode_run_under_the_context(place):
    import py_compile

    folder = place / "folder"
    folder.mkdir()
    (folder / "__main__.py").write_text("import math, beside\nprint(math.sin(1.0), beside.x)\n")
    (folder / "beside.py").write_text("x = 1\n")
    with zipfile.ZipFile(place / "archive.zip", "w") as archive:
        archive.write(folder / "__main__.py", "__main__.py")
        archive.write(folder / "beside.py", "beside.py")
    py_compile.compile(str(place / "script.py"), str(place / "script.pyc"))
    assert run("folder").stdout == "10.0 1\n"
    assert run("archive.zip").stdout == "10.0 1\n"
    assert run("script.pyc").stdout.startswith("at module level: 10.0")


@pytest.mark.parametrize(
    "ending",
    [
        *("sys.exit(7)", "sys.exit('bye')", "sys.exit()", "raise SystemExit(3)"),
        *("1 / 0", "outer()", "raise KeyboardInterrupt", "chained()"),
    ],
)
def test_a_program_ends_as_it_does_natively(place, ending):
    script(
        place,
        f"""
        import sys

        def outer():
            return inner()

        def inner():
            return {{}}["missing"]

        def chained():
            try:
                outer()
            except KeyError as error:
                raise ValueError("chained") from error

        {ending}
        """,
    )
    done, same = run("script.py"), native("script.py")
    assert done.returncode == same.returncode
    assert done.stderr == same.stderr


def test_what_the_program_itself_shows_of_an_error_is_kept(place):
    script(
        place,
        """
        import sys, traceback
        def hook(kind, error, trace):
            print("shown by the program:", kind.__name__, trace.tb_frame.f_code.co_name)
        sys.excepthook = hook
        1 / 0
        """,
    )
    done = run("script.py")
    assert done.stdout == "shown by the program: ZeroDivisionError <module>\n"
    assert done.returncode == 1


def test_the_report_is_printed_at_the_end(place):
    done = run("--report", "script.py")
    assert "1 of 1 method hit, 2 calls" in done.stderr
    assert "1 from script.py:6" in done.stderr
    assert "1 from script.py:11" in done.stderr
    assert "at module level" in done.stdout


def test_the_report_is_printed_after_an_error_too(place):
    script(place, "import math\nmath.sin(1.0)\n1 / 0\n")
    done = run("--report", "script.py")
    assert done.stderr.index("ZeroDivisionError") < done.stderr.index("1 of 1 method hit")


def test_strict_is_an_error_where_a_call_leaves(place):
    thread = "threading.Thread(target=math.sin, args=(1.0,))"
    script(place, f"import math, threading\n{thread}.start()\n")
    assert run("--strict", "script.py").returncode == 0
    script(place, "import contextvars, math\ncontextvars.Context().run(math.sin, 1.0)\n")
    done = run("--strict", "script.py")
    assert done.returncode == 1
    assert "math.sin was called outside the context, in the thread MainThread" in done.stderr
    assert run("script.py").returncode == 0


def test_without_a_script_a_console_runs_each_input_under_the_context(place):
    lines = [
        "import math, overlay, contexts",
        "math.sin(1.0)",
        "handle = overlay.install(overlay.Context())",
        "math.sin(2.0), overlay.current_context() is handle.context",
        "handle.remove()",
        "overlay.current_context() is contexts.ctx",
        "1 / 0",
    ]
    done = run(given="\n".join(lines) + "\n")
    assert "10.0" in done.stdout
    assert "(10.0, True)" in done.stdout
    assert done.stdout.count("True") == 2
    assert 'File "<console>", line 1, in <module>\nZeroDivisionError' in done.stderr


# ---- explain ------------------------------------------------------------------------------


def test_explain_prints_the_tree(importable, capsys):
    assert main(["explain", "--context", "contexts:ctx", "script:wave", "float"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == [
        "<Context waves>",
        "wave(float)  base",
        "  wave(float)   script.py:5",
        "    6: math.sin(x)  -> math.sin(float)   contexts.py:7",
    ]
    assert main(["explain", "--context", "contexts:ctx", "script:wave", "contexts:Kind"]) == 0
    assert "math.sin(x)  base" in capsys.readouterr().out
    arguments = ["explain", "--depth", "0", "--context", "contexts:ctx", "script:wave", "float"]
    assert main(arguments) == 0
    assert "deeper than asked" in capsys.readouterr().out


def test_what_is_found_is_printed_for_scripts(importable, capsys, monkeypatch):
    arguments = ["explain", "--json", "--context", "contexts:ctx", "script:wave", "float"]
    assert main(arguments) == 0
    shown = capsys.readouterr().out.partition("\n")[2]  # after what the module itself prints
    (site,) = [each for each in json.loads(shown) if each["target"] == "math.sin"]
    assert (site["call"], site["status"], site["line"]) == ("math.sin(x)", "resolved", 6)
    assert site["methods"] == ["math.sin(float)   contexts.py:7"]
    monkeypatch.setenv("OVERLAY_CACHE_DIR", str(importable / "cache"))
    assert main(["cache", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["functions"] == 0


def test_a_traceback_is_shown_where_it_is_asked_for(importable, capsys):
    arguments = ["explain", "--context", "contexts:ctx", "script:wav"]
    assert main(arguments) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert main([*arguments, "--traceback"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_script_of_its_own_finds_modules_of_the_working_directory_too(place):
    scripts = place / "scripts"
    scripts.mkdir()
    script = scripts / "overlay"
    script.write_text("import sys\nfrom overlay.tools.command_line import main\nsys.exit(main())\n")
    done = native(str(script), "run", "--context", "contexts:ctx", "script.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("at module level: 10.0")
    done = native(str(script), "explain", "--context", "contexts:ctx", "script:wav")
    assert done.stderr.startswith("overlay: 'script' has no 'wav'")


def test_types_may_stand_behind_options(importable, capsys):
    arguments = ["--context", "contexts:ctx", "colorsys:rgb_to_hls", "--json", "float", "int"]
    assert main(["explain", *arguments]) == 0
    assert json.loads(capsys.readouterr().out)[0]["call"] == "rgb_to_hls(float, int)"
    with pytest.raises(SystemExit):
        main(["explain", *arguments, "--jsn"])
    said = capsys.readouterr().err  # later versions name the option alone
    assert "unrecognized arguments: " in said
    assert "--jsn" in said


def test_the_version_is_that_of_the_distribution(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert f"overlay-dispatch {metadata.version('overlay-dispatch')}" in capsys.readouterr().out


# ---- check --------------------------------------------------------------------------------

CHECKED = """
import math

def shown(names):
    return ", ".join(each.uper() for each in names)

def fine(name):
    return name.upper()

def annotated(texts: list[str], last: int = 0, *, loud: "str"):
    return texts[0].uper() if loud else loud.upr()

def half_annotated(text: str, count, last: int = 0, *, loud):
    return text.upper() * count

def angle(x):
    return math.sin(x)
"""


@pytest.fixture
def checked(importable):
    (importable / "checked.py").write_text(CHECKED)
    yield importable
    sys.modules.pop("checked", None)


def test_check_ends_with_1_where_something_is_found(checked, capsys):
    assert main(["check", "checked:fine", "str"]) == 0
    assert capsys.readouterr().out == "nothing was found\n"
    assert main(["check", "checked:shown", "list[str]"]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert "checked.py:5" in shown[0]
    assert "an object of class str has no attribute 'uper'" in shown[0]
    assert shown[1].startswith("  closest: upper")


def test_check_takes_the_types_of_annotations(checked, capsys):
    assert main(["check", "checked:annotated"]) == 1
    shown = capsys.readouterr().out
    assert "an object of class str has no attribute 'uper'" in shown
    assert "an object of class str has no attribute 'upr'" in shown
    assert main(["check", "checked:half_annotated"]) == 2
    said = capsys.readouterr().err
    assert "object for any type" in said
    assert "half_annotated was given 0 types, and takes at least 2: text, count" in said
    assert main(["check", "json:dumps"]) == 2
    assert "dumps was given 0 types, and takes at least 1: obj " in capsys.readouterr().err
    assert main(["check", "json:dumps", "str"]) == 0
    assert main(["check", "checked:fine", "str", "str"]) == 2
    assert "fine was given 2 types, and takes 1: name" in capsys.readouterr().err


def test_check_prints_json(checked, capsys):
    assert main(["check", "--json", "checked:fine", "int | bytes"]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["check", "--json", "checked:fine", "int | float"]) == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["function"], found["path"]) == ("attribute", "fine", [])
    assert found["where"].endswith("checked.py:8")


def test_check_resolves_calls_in_a_context(checked, capsys):
    (checked / "wrong.py").write_text(
        "import math\nfrom overlay import Context, MethodTable\ntable = MethodTable('wrong')\n"
        "@table.overlay(math.sin)\ndef sin(x: float):\n    return x.reel\nctx = Context(table)\n"
    )
    assert main(["check", "checked:angle", "float"]) == 0
    assert main(["check", "--context", "wrong:ctx", "checked:angle", "float"]) == 1
    assert "closest: real" in capsys.readouterr().out
    sys.modules.pop("wrong", None)


@pytest.mark.parametrize(
    "arguments",
    [
        ("checked:missing", "str"),
        ("checked:fine", "strr"),
        ("checked:fine", "list[str"),
        ("checked:fine", "int[str]"),
        ("checked:fine", "str", "str"),
        ("checked:math", "str"),
        ("math:sin", "float"),
        ("--context", "checked:fine", "checked:fine", "str"),
    ],
)
def test_check_ends_with_2_where_it_is_asked_wrongly(checked, capsys, arguments):
    assert main(["check", *arguments]) == 2
    assert "Traceback" not in capsys.readouterr().err


# ---- errors -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--context", "contexts:ct", "script.py"], "has no 'ct', asked for as 'contexts:ct'"),
        (["--context", "context:ctx", "script.py"], "there is no module 'context'"),
        (["--context", "contexts:other", "script.py"], "is not a Context: 3"),
        (["--context", "contexts", "script.py"], "'contexts' is a module, and names nothing in it"),
        (["--context", "contexts", "script.py"], "contexts there: ctx"),
        (["--context", "nowhere", "script.py"], "'nowhere' names nothing"),
        (["--context", "contexts.py", "script.py"], "help: write contexts:ctx"),
        (["--context", "contexts.py:ctx", "script.py"], "help: write contexts:ctx"),
        (["--context", "contexts:ctx", "nowhere.py"], "there is no script 'nowhere.py'"),
        (["--context", "contexts:ctx", "-m", "nowhere"], "there is no module 'nowhere' to run"),
        (["--context", "contexts:ctx", "-m"], "-m names no module"),
        (["script.py"], "the following arguments are required: --context"),
    ],
)
def test_bad_input_ends_with_one_message_and_code_2(place, arguments, message):
    done = overlay("run", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_message_names_what_is_nearest(importable, capsys):
    def message(*arguments):
        assert main(["explain", "--context", "contexts:ctx", *arguments]) == 2
        return capsys.readouterr().err

    assert "closest: wave" in message("script:wav", "float")
    assert "closest: float" in message("script:wave", "flot")
    assert "is not a type: 3" in message("script:wave", "contexts:other")
    assert "is not callable: 3" in message("contexts:other")
    for module in ("script", "script.py"):
        assert "functions there: wave" in message(module)
    assert "help: write script:wave" in message("script.py:wave")
    assert main(["explain", "--context", "contex:ctx", "script:wave"]) == 2
    assert "closest: contexts" in capsys.readouterr().err


def test_an_error_that_a_module_raises_is_its_own(importable):
    (importable / "broken.py").write_text("import missing_module_of_this_test\n")
    with pytest.raises(ModuleNotFoundError, match="missing_module_of_this_test"):
        named_context("broken:ctx")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import missing_module_of_this_test", "ModuleNotFoundError: No module named"),
        ("x = ", "SyntaxError: invalid syntax   [broken.py:1]"),
        ("def f():\n    raise KeyError\nf()", "KeyError   [broken.py:2]"),
    ],
)
def test_what_a_module_raises_ends_with_one_message_and_code_2(importable, capsys, text, message):
    (importable / "broken.py").write_text(text)
    for arguments in (["run"], ["explain", "math:sin"]):
        command, *further = arguments
        assert main([command, "--context", "broken:ctx", *further]) == 2
        error = capsys.readouterr().err
        assert message in error
        assert "--traceback" in error
        assert "Traceback" not in error


def test_a_program_that_python_cannot_read_ends_as_it_does_natively(place):
    script(place, "def f(:\n")
    done, same = run("script.py"), native("script.py")
    assert (done.returncode, done.stderr.splitlines()[1:]) == (1, same.stderr.splitlines()[1:])


def test_types_are_found_by_name():
    import datetime

    assert named_type("float") is float
    assert named_type("datetime.date") is named_type("datetime:date") is datetime.date
    assert named_type("None") is type(None)
    assert named("datetime:date.today") == datetime.date.today
    with pytest.raises(OverlayError, match="no builtin type"):
        named_type("floot")


def test_types_of_items_are_found_by_name():
    assert named_hint("list[str]") == list[str]
    assert named_hint("dict[str, list[int | None]]") == dict[str, list[int | None]]
    assert named_hint("tuple[int, ...]") == tuple[int, ...]
    assert named_hint("float") is float
