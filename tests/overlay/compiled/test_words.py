"""What compiled code compares tells of every name that is bound anew."""

import ctypes
import subprocess
import sys
import types

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay import Context
from overlay.compiled import engine
from overlay.compiled import watching as words
from overlay.compiled.watching import ReadsWatch

NAMES = ["a", "b", "c", "d", "name"]
MISSING = object()


def differs(before):
    return any(ctypes.c_uint64.from_address(at).value != found for at, found in before)


changes = st.lists(
    st.tuples(st.sampled_from(("set", "remove", "many", "clear")), st.sampled_from(NAMES)),
    max_size=6,
)


def change(namespace, what, name):
    if what == "set":
        namespace[name] = object()
    elif what == "remove":
        namespace.pop(name, None)
    elif what == "many":
        namespace.update((f"{name}{i}", i) for i in range(40))
    else:
        namespace.clear()


def test_the_layout_of_this_interpreter_is_known():
    assert words.LAYOUT_KNOWN


def test_changes_are_seen_where_a_debugger_traces_the_program_from_its_start():
    program = """
import sys
sys.settrace(lambda frame, event, arg: None)
from overlay import Context

def f(x):
    return abs(helper(x))

def helper(x):
    return x + 1.0

hot = Context().jit(f)
assert hot(1.0) == 2.0
helper = lambda x: x + 20.0
assert hot(1.0) == 21.0
abs = lambda x: -x
assert hot(1.0) == -21.0
"""
    done = subprocess.run([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr


@given(changes, st.sets(st.sampled_from(NAMES), min_size=1), changes, st.booleans())
def test_words_of_names_differ_whenever_one_is_bound_anew(before, watched, after, odd_keys):
    namespace = {5: "not a name"} if odd_keys else {}
    for each in before:
        change(namespace, *each)
    found = list(words.of_names(namespace, sorted(watched)))
    values = {name: namespace.get(name, MISSING) for name in watched}
    for each in after:
        change(namespace, *each)
    bound_anew = any(namespace.get(n, MISSING) is not v for n, v in values.items())
    assert differs(found) or not bound_anew


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize("space", [{}, {Text("helper"): 0}], ids=["plain", "names of a class"])
@pytest.mark.parametrize("layout", [True, False])
def test_a_function_that_is_bound_anew_is_called(monkeypatch, space, layout):
    """Also where memory does not tell, and Python is asked before every call."""
    monkeypatch.setattr(engine, "LAYOUT_KNOWN", layout)
    space = dict(space)
    exec("def helper(x):\n    return x + 1\ndef function(x):\n    return 2 * helper(x)", space)
    hot = Context().jit(space["function"])
    assert [hot(1), hot(2)] == [4, 6]
    exec("def helper(x):\n    return x + 10", space)
    assert [hot(1), hot(2.5)] == [22, 25.0]
    with pytest.raises(TypeError):
        hot()


def test_a_key_that_comes_in_the_place_of_the_last_is_seen():
    namespace = dict.fromkeys(NAMES)
    found = list(words.of_names(namespace, ["a", "later"]))
    namespace.popitem()
    namespace["later"] = 1
    assert differs(found)


def test_another_name_that_is_bound_anew_makes_no_difference():
    namespace = dict.fromkeys(NAMES)
    found = list(words.of_names(namespace, ["a", "b"]))
    namespace["c"] = object()
    del namespace["d"]
    assert not differs(found)


def test_a_watch_knows_what_changed_and_what_is_equal():
    library = types.ModuleType("library")
    library.inner = types.ModuleType("inner")
    library.inner.scale = 1.0
    names = {"library": library, "factor": 2.0}
    exec("def f(x, y=3): return x * factor + library.inner.scale + abs(y)", names)
    watch = ReadsWatch()
    watch.add(names["f"])
    assert not watch.changed()
    names["factor"] = float("2.0")
    names["unrelated"] = 1
    assert not watch.changed()
    for change_of, back in (
        (lambda: names.update(factor=3.0), lambda: names.update(factor=2.0)),
        (lambda: names.update(abs=len), lambda: names.pop("abs")),
        (lambda: setattr(library.inner, "scale", 2), lambda: setattr(library.inner, "scale", 1.0)),
    ):
        found = list(watch.words())
        change_of()
        assert watch.changed()
        assert differs(found)
        back()
        assert not watch.changed()
    names["f"].__defaults__ = (4,)
    assert watch.changed()
