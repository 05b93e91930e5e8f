"""``cache=True``: compiled code is kept on disk, found by what it was compiled of, never wrong."""

import ast
import importlib
import linecache
import math
import os
import pickle
import stat
import subprocess
import sys
import threading
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest
from numba import njit

from overlay import CacheWarning, Context, Plugin, current_context
from overlay.compiled.numba import fingerprint_kinds, resolve_pass
from overlay.core import table
from overlay.core.cache_folder import Folder
from overlay.tools.command_line import main

PROGRAM = """\
import math
from overlay import Context, MethodTable, call_next
FACTOR = 2.0
UNUSED = 1
def helper(x):
    return math.sin(x) + FACTOR
def unused(x):
    return x
def make(offset):
    def program(x, times=3.0):
        return helper(x) * times + max(offset, 0.0)
    return program
program = make(0.5)
table = MethodTable("waves")
@table.overlay(math.sin)
def sin(x: float) -> float:
    return x * 10
context = Context(table, metadata=(1, "a"))
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = tmp_path / "kept"
    monkeypatch.setenv("OVERLAY_CACHE_DIR", str(place))
    return place


def fresh(source=PROGRAM, name="<a program>"):
    """The names of a program, which has not run in this process before: nothing that compiled
    code is kept under in a process is known of it."""
    namespace = {"__name__": "a_program"}
    exec(compile(source, name, "exec"), namespace)
    return namespace


def run(names, *args, **options):
    """What the program's function gives, compiled in the program's context; hits, and misses."""
    hot = names["context"].jit(names["program"], cache=True, **options)
    result = hot(*args)
    return result, sum(hot.stats.cache_hits.values()), sum(hot.stats.cache_misses.values())


def files(folder):
    return sorted(folder.rglob("*.code"))


def first(caught):
    """The first of our warnings: a garbage collection may bring others at any time."""
    return next(each for each in caught if each.category is CacheWarning)


# ---- in other processes -------------------------------------------------------------------


def start():
    # the classes of the main script are not kept, those of a module are
    script = "import warnings, overlay\n"
    script += "from tests.overlay.compiled.cache import cached_cases as cases\n"
    script += "warnings.simplefilter('error', overlay.OverlayWarning)\ncases.main()"
    path = os.pathsep.join([str(Path(__file__).parents[4]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", script]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def results(process):
    out, _ = process.communicate()
    assert process.returncode == 0
    lines = [line for line in out.splitlines() if line.startswith("(")]
    return {name: rest for name, *rest in map(ast.literal_eval, lines)}


def test_another_process_finds_the_code_of_every_kind_of_program(folder):
    both = start(), start()  # they write into the same folder
    first, second = map(results, both)
    later = results(start())
    assert later.keys() == first.keys() == second.keys()
    for name, (result, hits, misses) in later.items():
        assert (result, result) == (first[name][0], second[name][0]), name
        assert (hits, misses) == (1, 0), name
    assert all(sum(each[name][1:]) == 1 for each in (first, second) for name in each)
    modes = {stat.S_IMODE(p.stat().st_mode) for p in (folder, *folder.iterdir())}
    assert modes == {0o700}
    assert {stat.S_IMODE(p.stat().st_mode) for p in files(folder)} == {0o600}


# ---- what code is kept under --------------------------------------------------------------

CHANGES = {
    "a helper": ("math.sin(x) + FACTOR", "math.sin(x) - FACTOR", 1.0),
    "a global": ("FACTOR = 2.0", "FACTOR = 3.0", 1.0),
    "the type of a global": ("FACTOR = 2.0", "FACTOR = 2", 1.0),
    "a closure's variable": ("make(0.5)", "make(1.5)", 1.0),
    "a default": ("times=3.0", "times=4.0", 1.0),
    "the function": ("* times + max", "/ times + max", 1.0),
    "a method": ("x * 10", "x * 20", 1.0),
    "a method's types": ("x: float", "x: bool", 1.0),
    "a target": ("overlay(math.sin)", "overlay(math.cos)", 1.0),
    "another method": ("context =", "table.overlay(helper)(lambda x: 5.0)\ncontext =", 1.0),
    "call_next": ("return x * 10", "return call_next(x) * 10", 1.0),
    "checks": ('"waves"', '"waves", check=True', 1.0),
    "metadata": ('(1, "a")', '(1.0, "a")', 1.0),
    "a builtin": ("UNUSED = 1", "def max(x, y): return 7", 1.0),
    "argument types": ("", "", 1),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_compiled_code_is_made_of_decides_whether_it_is_found(folder, change):
    old, new, argument = CHANGES[change]
    before = fresh()
    assert run(before, 1.0) == (before["program"](1.0) - 3 * math.sin(1.0) + 30.0, 0, 1)
    assert run(fresh(), 1.0)[1:] == (1, 0)
    after = fresh(PROGRAM.replace(old, new))
    expected = after["context"](after["program"], argument)
    assert run(after, argument) == (pytest.approx(expected), 0, 1)


def test_what_compiled_code_does_not_depend_on_decides_nothing(folder):
    run(fresh(), 1.0)
    changed = PROGRAM.replace("UNUSED = 1", "UNUSED = 2").replace("return x\n", "return -x\n")
    assert changed.count("-x") == 1
    assert run(fresh(changed), 1.0)[1:] == (1, 0)


GRADIENT = """
import math
from overlay import Context
from overlay.interpretations.autodiff import autodiff
def helper(x):
    return math.sin(x) * 2
def energy(a):
    return helper(a[0]) + a[1] * a[1]
def program(a):
    return autodiff(energy, a)
context = Context()
"""


def test_a_gradient_is_found_until_a_function_below_what_it_differentiates_changes(folder):
    at = np.array([0.5, 3.0])

    def found(source):
        gradient, *counts = run(fresh(source), at)
        return [*gradient.tolist(), *counts]

    assert found(GRADIENT) == [2 * math.cos(0.5), 6.0, 0, 1]
    assert found(GRADIENT) == [2 * math.cos(0.5), 6.0, 1, 0]
    assert found(GRADIENT.replace("* 2", "* 4")) == [4 * math.cos(0.5), 6.0, 0, 1]


def test_a_gradient_is_computed_anew_once_a_function_below_is_another():
    names = fresh(GRADIENT)
    hot, at = names["context"].jit(names["program"]), np.array([0.5, 3.0])
    assert hot(at)[0] == 2 * math.cos(0.5)
    names["helper"] = lambda x: x * x
    assert hot(at)[0] == 1.0


def test_contexts_stand_side_by_side_under_one_function(folder):
    other = PROGRAM.replace("x * 10", "x * 20")
    for expected in ((0, 1), (1, 0)):
        one, two = fresh(), fresh()
        exec(other.partition("program = make")[2].partition("\n")[2], two)
        two["program"] = one["program"]
        first, second = run(one, 1.0), run(two, 1.0)
        assert first == (36.5, *expected)
        assert second == (66.5, *expected)
    assert len(files(folder)) == 2


def test_options_and_the_folder_are_told_apart(folder, tmp_path):
    assert run(fresh(), 1.0)[1:] == (0, 1)
    assert run(fresh(), 1.0, fastmath=True)[1:] == (0, 1)
    assert run(fresh(), 1.0, error_model="numpy")[1:] == (0, 1)
    names = fresh()
    elsewhere = names["context"].jit(names["program"], cache=tmp_path / "elsewhere")
    elsewhere(1.0)
    assert elsewhere.stats.cache_path == str(tmp_path / "elsewhere")
    assert len(files(folder)) == 3
    assert len(files(tmp_path / "elsewhere")) == 1


def test_another_numba_or_python_finds_nothing(folder, monkeypatch):
    from overlay.compiled.cache import kept_code as keeping

    run(fresh(), 1.0)
    monkeypatch.setattr(keeping, "surroundings", lambda: ("numba 0.1",))
    assert run(fresh(), 1.0) == (36.5, 0, 1)
    assert run(fresh(), 1.0) == (36.5, 1, 0)


class Token(Plugin):
    def __init__(self, token):
        self.cache_token = token


class Shares(Plugin):
    shares_native_cache = True


def test_plugins_are_told_apart_by_their_tokens(folder):
    def under(*plugins):
        names = fresh()
        names["context"] = names["context"].replace(plugins=plugins)
        return run(names, 1.0)[1:]

    assert [under(Token(("a", n))) for n in (1, 2, 1, 1.0)] == [(0, 1), (0, 1), (1, 0), (0, 1)]
    assert [under(), under(Shares())] == [(0, 1), (1, 0)]
    with pytest.warns(CacheWarning, match="cannot keep code on disk that depends on"):
        assert under(Plugin()) == (0, 1)


def test_code_of_cells_and_strings_is_found_under_another_name_of_its_file(folder):
    source = PROGRAM.replace("return x * 10", "return 1 // (x > 100.0)")
    chains = []
    for number, expected in ((1, (0, 1)), (2, (1, 0))):
        name = f"/tmp/ipykernel_{number}/cell.py"
        linecache.cache[name] = len(source), None, source.splitlines(True), name
        names = fresh(source, name)
        hot = names["context"].jit(names["program"], cache=True)
        with pytest.raises(ZeroDivisionError) as caught:
            hot(1.0)
        frames = traceback.extract_tb(caught.tb)[1:]
        chains.append([(f.name, f.lineno, f.filename) for f in frames])
        assert {path for _, _, path in chains[-1]} == {name}
        assert tuple(map(len, (hot.stats.cache_hits, hot.stats.cache_misses))) == expected
    assert [f[:2] for f in chains[0]] == [f[:2] for f in chains[1]]
    assert [f[0] for f in chains[0]] == ["program", "helper", "sin"]


def test_a_target_that_only_looks_like_the_one_that_is_mentioned_is_another(folder):
    source = PROGRAM.replace("def helper", "@njit\ndef helper")
    source = source.replace("import math", "import math; from numba import njit")
    source = source.replace("math.sin)", "helper)").replace("* 10", "* 100")
    reloaded = source + "target = helper\nhelper = njit(helper.py_func)\n"
    one, other = fresh(source), fresh(reloaded)
    assert run(one, 1.0) == (300.5, 0, 1)
    assert run(other, 1.0) == (pytest.approx(3 * math.sin(1) + 6.5), 0, 1)
    assert run(fresh(source), 1.0)[1:] == run(fresh(reloaded), 1.0)[1:] == (1, 0)


def test_functions_given_as_arguments_are_told_by_content(folder):
    source = "from overlay import Context\nimport math\ndef program(f, x): return f(x)\n"
    source += "def {name}(x): return x {operator} 2\ncontext = Context()"
    found = []
    for operator in "++-+":
        names = fresh(source.format(name="given", operator=operator))
        found.append(run(names, njit(names["given"]), 3.0))
    assert found == [(5.0, 0, 1), (5.0, 1, 0), (1.0, 0, 1), (5.0, 1, 0)]


# ---- code from disk is code like any other ------------------------------------------------


def test_changes_are_seen_after_code_came_from_disk(folder):
    run(fresh(), 1.0)
    names = fresh()
    hot = names["context"].jit(names["program"], cache=True)
    assert hot(1.0) == 36.5
    assert sum(hot.stats.cache_hits.values()) == 1
    names["FACTOR"] = 0.0
    assert hot(1.0) == 30.5
    names["helper"] = lambda x: x
    assert hot(1.0) == 3.5
    exec("def helper(x): return math.sin(x)", names)
    assert hot(1.0) == 30.5

    @names["table"].overlay(math.sin)
    def sin(x: float) -> float:
        return 1000.0

    assert hot(1.0) == 3000.5
    names["table"].clear()
    assert hot(1.0) == 3 * math.sin(1.0) + 0.5


def test_changes_of_a_context_that_is_entered_are_seen_after_code_came_from_disk(folder):
    source = PROGRAM + "inner = Context(MethodTable('inner'))\n"
    source += "def program(x): return inner(helper, x)\n"
    run(fresh(source), 1.0)
    names = fresh(source)
    hot = names["context"].jit(names["program"], cache=True)
    assert hot(1.0) == 12.0
    assert sum(hot.stats.cache_hits.values()) == 1

    @names["inner"].tables[0].overlay(math.sin)
    def sin(x: float) -> float:
        return 100.0

    assert hot(1.0) == 102.0


def test_plain_njit_functions_call_code_from_disk_and_see_changes(folder):
    run(fresh(), 1.0)
    names = fresh()
    hot = names["context"].jit(names["program"], cache=True)

    @njit
    def caller(x):
        return hot(x) + 1000

    assert caller(1.0) == 1036.5
    assert sum(hot.stats.cache_hits.values()) == 1
    names["FACTOR"] = 0.0
    assert caller(1.0) == 1030.5


def test_code_compiled_before_the_cache_was_asked_for_is_kept_too(folder):
    names = fresh()
    names["context"].jit(names["program"])(1.0)
    assert run(names, 1.0)[1:] == (0, 1)
    assert run(fresh(), 1.0)[1:] == (1, 0)


def test_a_compiled_function_keeps_its_cache_where_it_is_pickled_and_entered_again(folder):
    names = fresh()
    hot = names["context"].jit(names["program"], cache=True)
    build, arguments = hot.__reduce__()
    assert build(*arguments).stats.cache_path == str(folder)
    assert Context().jit(hot).stats.cache_path == str(folder)


def test_going_back_to_code_that_was_read_before_is_no_compilation(folder):
    names = fresh()
    hot = names["context"].jit(names["program"], cache=True)
    for _ in range(3):
        for factor in (2.0, 0.0):
            names["FACTOR"] = factor
            assert hot(1.0) == 30.5 + 3 * factor
    assert sum(hot.stats.cache_misses.values()) == 2
    assert sum(hot.stats.cache_hits.values()) == 4


# ---- what is not kept ---------------------------------------------------------------------


def test_state_of_a_context_is_not_kept(folder):
    def program(x):
        current_context().state[0] += x
        return x

    context = Context(state=np.zeros(1))
    with pytest.warns(CacheWarning, match=r"program .* is not stored on disk: .*state"):
        assert context.jit(program, cache=True)(2.0) == 2.0
    assert context.state[0] == 2.0
    assert files(folder) == []


def test_state_whose_address_is_taken_out_of_a_loop_is_not_kept(folder):
    def program(n):
        for _ in range(n):
            current_context().state[0] += 1.0
            current_context().state[1] += current_context().state[0]
        return n

    context = Context(state=np.zeros(2))
    with pytest.warns(CacheWarning, match=r"program .* is not stored on disk: .*state"):
        assert context.jit(program, cache=True)(3) == 3
    assert list(context.state) == [3.0, 6.0]
    assert files(folder) == []


def test_a_state_that_is_not_read_is_no_obstacle(folder):
    for expected in ((0, 1), (1, 0)):
        names = fresh()
        names["context"] = names["context"].replace(state=np.zeros(2))
        assert run(names, 1.0)[1:] == expected


UNKEPT = {
    "array": ("large = np.zeros(300_000)", "return large[0] + x"),
    "block": ("from numba import objmode", "with objmode(y='float64'): y = x\n    return y"),
    "jitclass": (
        "from numba import float64\nfrom numba.experimental import jitclass\n"
        "@jitclass([('v', float64)])\nclass Box:\n    def __init__(self, v): self.v = v",
        "return Box(x).v",
    ),
    "class": (
        "import collections\nPair = collections.namedtuple('Pair', 'x y')",
        "return Pair(x, x)",
    ),
    "exception": (
        "class Bad(Exception): pass",
        "if x > 1: raise Bad\n    return x",
    ),
    "library": (
        "from numba import types\nfrom numba.extending import overload_method\n"
        "@overload_method(types.Array, 'byteswap')\n"
        "def swapped(a): return lambda a: a.copy()\n",
        "return (x + np.zeros(1)).byteswap()[0]",
    ),
    "ctypes": (
        "import ctypes\ncos = ctypes.CDLL(None).cos\ncos.restype = ctypes.c_double\n"
        "cos.argtypes = (ctypes.c_double,)",
        "return cos(x)",
    ),
}


@pytest.mark.parametrize("kind", UNKEPT)
def test_addresses_of_this_process_are_not_kept(folder, kind):
    before, body = UNKEPT[kind]
    source = f"import numpy as np\nfrom overlay import Context\n{before}\n"
    source += f"def program(x):\n    {body}\ncontext = Context()\n"
    names = fresh(source)
    with pytest.warns(CacheWarning, match="not stored on disk") as caught:
        assert run(names, 0.0) == (names["program"](0.0), 0, 1)
    assert "leave cache=True out" in str(first(caught).message)
    assert files(folder) == []


def test_an_array_that_has_changed_since_it_was_compiled_is_not_kept(folder):
    source = "import numpy as np\nfrom overlay import Context\ncontext = Context()\n"
    source += "numbers = np.ones(300)\ndef helper(x): return numbers[0] + x\n"
    source += "def program(x): return helper(x)\n"
    names = fresh(source)
    names["context"].jit(lambda x: names["helper"](x))
    names["context"].jit(names["helper"])(1.0)
    names["context"].jit(names["program"])(1.0)
    names["numbers"][0] = 100.0
    with pytest.warns(CacheWarning, match="has changed since it was compiled"):
        run(names, 1.0)
    assert run(fresh(source), 1.0) == (2.0, 0, 1)
    changed = source + "numbers[0] = 100.0\n"
    assert run(fresh(changed), 1.0) == (101.0, 0, 1)


# ---- files that are of no use -------------------------------------------------------------

DAMAGES = {
    "cut off": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "one bit": lambda data: data[:-5] + bytes([data[-5] ^ 1]) + data[-4:],
    "in its head": lambda data: data[:20] + bytes([data[20] ^ 1]) + data[21:],
    "another version": lambda data: b"overlay code 0\n" + data[15:],
    "something else": lambda data: b"hello",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_a_warning_and_a_compilation(folder, damage):
    run(fresh(), 1.0)
    (path,) = files(folder)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    with pytest.warns(CacheWarning) as caught:
        assert run(fresh(), 1.0) == (36.5, 0, 1)
    assert str(path) in str(first(caught).message)
    assert "it has been removed" in str(first(caught).message)
    assert run(fresh(), 1.0) == (36.5, 1, 0)


def rewritten(path, change):
    """Give a file another content, whole and with a right checksum."""
    folder, key = Folder(str(path.parent.parent)), path.parent.name
    (entry,) = folder.entries(key)
    folder.put(key, entry.name, *change(entry.manifest, entry.payload))


class Gone:
    def __reduce__(self):
        return importlib.import_module, ("a_module_that_is_gone",)


SYMBOL = b"PyFloat_FromDouble", b"PyFloat_FromNowher"


@pytest.mark.parametrize(
    "change",
    [
        lambda manifest, payload: (manifest, pickle.dumps(Gone())),
        lambda manifest, payload: (pickle.dumps(Gone()), payload),
        lambda manifest, payload: (manifest, payload.replace(*SYMBOL)),
    ],
    ids=["a class is gone", "a manifest that cannot be read", "a symbol is nowhere"],
)
def test_code_that_this_process_cannot_use_is_a_warning_and_a_compilation(folder, change):
    import overlay.compiled.numba.object_code as objects

    run(fresh(), 1.0)
    (path,) = files(folder)
    rewritten(path, change)
    objects._read.clear()
    with pytest.warns(CacheWarning, match="cannot use the compiled code in"):
        assert run(fresh(), 1.0) == (36.5, 0, 1)
    assert run(fresh(), 1.0)[0] == 36.5


def test_a_file_from_another_place_is_a_warning_and_a_compilation(folder):
    run(fresh(), 1.0)
    (path,) = files(folder)
    data = path.read_bytes()
    path.unlink()
    run(fresh(PROGRAM.replace("x * 10", "x * 20")), 1.0)
    (other,) = files(folder)
    other.write_bytes(data)
    with pytest.warns(CacheWarning, match="belongs to another"):
        assert run(fresh(PROGRAM.replace("x * 10", "x * 20")), 1.0) == (66.5, 0, 1)


def test_a_file_that_others_can_write_is_not_read(folder):
    run(fresh(), 1.0)
    (path,) = files(folder)
    path.chmod(0o666)
    with pytest.warns(CacheWarning, match="can be written by other users"):
        assert run(fresh(), 1.0) == (36.5, 0, 1)
    assert run(fresh(), 1.0) == (36.5, 1, 0)


# ---- folders that are of no use -----------------------------------------------------------


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o720])
def test_a_folder_that_others_can_write_is_not_used(folder, mode):
    folder.mkdir()
    folder.chmod(mode)
    with pytest.warns(CacheWarning, match="can be written by other users") as caught:
        assert run(fresh(), 1.0) == (36.5, 0, 1)
    assert str(folder) in str(first(caught).message)
    assert "chmod 700" in str(first(caught).message)
    assert list(folder.iterdir()) == []


def test_a_folder_of_another_user_is_not_used(folder, monkeypatch):
    run(fresh(), 1.0)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with pytest.warns(CacheWarning, match="belongs to another user") as caught:
        assert run(fresh(), 1.0) == (36.5, 0, 1)
    assert "OVERLAY_CACHE_DIR" in str(first(caught).message)
    monkeypatch.undo()


def test_a_folder_that_cannot_be_made_is_a_warning(folder, tmp_path):
    folder.write_text("a file")
    with pytest.warns(CacheWarning, match="cannot be made"):
        assert run(fresh(), 1.0) == (36.5, 0, 1)


def test_a_full_disk_is_a_warning_and_leaves_nothing_behind(folder, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(CacheWarning, match="No space left on device"):
        assert run(fresh(), 1.0) == (36.5, 0, 1)
    assert [p for p in folder.rglob("*") if p.is_file()] == []


def test_what_is_wrong_with_keeping_is_never_an_error(folder, monkeypatch):
    import overlay.compiled.cache.kept_code as keeping

    def broken(*args, **kwargs):
        raise AttributeError("an internal of another numba")

    monkeypatch.setattr(keeping, "dumped", broken)
    with pytest.warns(CacheWarning, match="an internal of another numba"):
        assert run(fresh(), 1.0) == (36.5, 0, 1)


def test_the_warning_points_at_the_call(folder):
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.warns(CacheWarning) as caught:
        run(fresh(), 1.0)
    assert first(caught).filename == __file__


# ---- the folder itself --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "~/.cache/overlay-dispatch"),
        ("linux", {"XDG_CACHE_HOME": "/elsewhere"}, "/elsewhere/overlay-dispatch"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, "~/.cache/overlay-dispatch"),
        ("darwin", {}, "~/Library/Caches/overlay-dispatch"),
        ("linux", {"OVERLAY_CACHE_DIR": "~/here"}, "~/here"),
    ],
)
def test_the_folder_is_where_the_platform_has_such_folders(
    monkeypatch, platform, variables, expected
):
    for name in ("XDG_CACHE_HOME", "OVERLAY_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    assert Folder.of().path == os.path.expanduser(expected)


def test_readers_see_whole_files_while_others_write_them(tmp_path):
    folder, key = Folder(str(tmp_path)), "0" * 64
    seen, done = [], threading.Event()

    def write(letter):
        for _ in range(200):
            folder.put(key, "same", letter, letter * 50_000)

    def read():
        while not done.is_set():
            seen.extend((e.manifest, e.payload) for e in folder.entries(key))

    reader = threading.Thread(target=read)
    writers = [threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b", b"c")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for thread in (reader, *writers):
            thread.start()
        for thread in writers:
            thread.join()
        done.set()
        reader.join()
    assert seen
    assert all(payload == manifest * 50_000 for manifest, payload in seen)
    assert len(list((tmp_path / key).iterdir())) == 1


def test_the_least_used_code_goes_where_the_folder_grows_too_large(tmp_path, monkeypatch):
    monkeypatch.setenv("OVERLAY_CACHE_MEGABYTES", "1")
    folder, payload = Folder(str(tmp_path)), b"x" * 100_000
    for number in range(100):
        folder.put(f"{number:064x}", "code", b"", payload)
        os.utime(tmp_path / f"{number:064x}" / "code.code", (number, number))
    assert folder.size() <= (1 << 20) + 25 * 101_000
    left = [int(path.parent.name, 16) for path in files(tmp_path)]
    assert max(left) == 99
    assert min(left) > 50


def test_one_function_keeps_a_bounded_number_of_variants(tmp_path):
    folder = Folder(str(tmp_path))
    for number in range(40):
        folder.put("a" * 64, f"{number}", b"", b"")
    assert len(files(tmp_path)) == 16


def test_clearing_removes_compiled_code_and_nothing_else(folder, capsys):
    run(fresh(), 1.0)
    (folder / "notes.txt").write_text("mine")
    assert main(["cache"]) == 0
    assert ": 1 function, " in capsys.readouterr().out
    assert main(["cache", "--clear"]) == 0
    assert capsys.readouterr().out == f"{folder}: removed 1 function\n"
    assert [p.name for p in folder.rglob("*")] == ["notes.txt"]
    assert run(fresh(), 1.0)[1:] == (0, 1)


def test_code_on_disk_is_told_apart_by_every_module_that_decides_it():
    parts = {"analysis", "code", "compiled", "contexts", "core", "generics", "plugins"}
    found = fingerprint_kinds.sources()
    assert {path.parts[0] for path in found if len(path.parts) > 1} >= parts
    known = [Path(module.__file__).resolve() for module in (table, resolve_pass, fingerprint_kinds)]
    assert {*known} <= {(fingerprint_kinds.HOME / path).resolve() for path in found}
