"""Every change is seen at the next call, also by code that is running."""

import functools
import math
import operator
import sys
import types

import pytest

from overlay import Context, MethodTable, OverlayError, Plugin, UnsupportedPython
from overlay.core.target import describe
from overlay.python import interception
from tests.overlay.idle_plugins import Enters


def helper(x):
    return math.sin(x)


def test_a_method_replaced_added_and_removed():
    table = MethodTable("t")
    ctx = Context(table)
    assert ctx(helper, 1.0) == math.sin(1.0)

    @table.overlay(math.sin)
    def first(x: float):
        return "first"

    assert ctx(helper, 1.0) == "first"

    @table.overlay(math.sin)
    def second(x: float):
        return "second"

    assert len(table) == 1
    assert ctx(helper, 1.0) == "second"

    @table.overlay(math.sin)
    def for_ints(x: int):
        return "int"

    assert (ctx(helper, 1.0), ctx(helper, 1)) == ("second", "int")
    table.remove(math.sin, float)
    assert (ctx(helper, 1.0), ctx(helper, 1)) == (math.sin(1.0), "int")
    table.remove(math.sin)
    assert ctx(helper, 1) == math.sin(1)


def test_while_the_code_is_running():
    table = MethodTable("t")

    def running():
        seen = [math.sin(1.0)]
        for answer in ("one", "two"):
            table.overlay(math.sin)(eval(f"lambda x: {answer!r}"))
            seen.append(math.sin(1.0))
        table.remove(math.sin)
        return [*seen, math.sin(1.0)]

    assert Context(table)(running) == [math.sin(1.0), "one", "two", math.sin(1.0)]


def test_an_operator_overlaid_while_running_is_seen_by_the_next_function():
    table = MethodTable("t")

    def add(a, b):
        return a + b

    def running():
        before = add(1.0, 2.0)

        @table.overlay(operator.add)
        def method(a: float, b: float):
            return "added"

        return before, add(1.0, 2.0)

    assert Context(table, plugins=(Plugin(),))(running) == (3.0, "added")


def test_an_operator_overlaid_while_running_is_seen_at_once_by_what_runs():
    table = MethodTable("t")

    def add(a, b):
        return a + b

    def running():
        before = add(1, 2), 1 + len("ab")
        table.overlay(operator.add)(lambda a, b: "added")
        one = len("a")
        return before, operator.add(1, 2), add(1, 2), one + 2

    expected = (3, 3), "added", "added", "added"
    assert Context(table)(running) == expected


def test_what_statements_call_is_overlaid_while_they_run():
    table = MethodTable("t")
    ctx = Context(table)

    def running():
        table.overlay(__import__)(lambda *args: "imported")
        import a_module_that_is_not_there

        return a_module_that_is_not_there

    assert ctx(running) == "imported"


def test_a_target_that_cannot_be_intercepted_is_told_at_once_and_at_each_entry(monkeypatch):
    table = MethodTable("t")
    table.overlay(math.cos)(lambda x: "overlaid")
    ctx, why_not = Context(table), interception.why_not
    monkeypatch.setattr(
        interception,
        "why_not",
        lambda target: "so it is" if target is math.sin else why_not(target),
    )

    def running():
        with pytest.raises(OverlayError, match=r"sin is overlaid in a table .*: so it is"):
            table.overlay(math.sin)(lambda x: "overlaid")
        return math.cos(0)

    assert ctx(running) == "overlaid"  # the rest of the run sees its targets
    for enter in (lambda: ctx(running), ctx.__enter__):
        with pytest.raises(UnsupportedPython, match=r"not all[\s\S]*sin[\s\S]*so it is"):
            enter()
    table.remove(math.sin)
    assert ctx(lambda: math.cos(0)) == "overlaid"


OWN = (
    *(id, len, isinstance, getattr, hasattr, list.append, dict, set, range, operator.getitem),
    *(operator.mul, operator.iadd, operator.is_, operator.and_, operator.add, str, type, any, all),
)


@pytest.mark.parametrize("target", OWN, ids=describe)
def test_tables_and_contexts_are_made_natively_in_a_context(target):
    table = MethodTable("odd")
    table.overlay(target)(lambda *args, **kwargs: 7)

    def program():
        inner = MethodTable("inner")

        @inner.overlay(math.cos)
        def cos(x: float):
            return "overlaid"

        found = Context(inner)(math.cos, 1.0)
        inner.remove(math.cos)
        return found

    assert Context(table)(program) == "overlaid"


@pytest.mark.skipif(sys.version_info < (3, 14), reason="annotations are evaluated at once")
def test_annotations_that_name_nothing_are_not_evaluated():
    space = {}
    exec("def function(x: Missing = 1, *, y: Missing = 2): return x, y", space)
    function, table = space["function"], MethodTable("t")
    assert Context(plugins=(Enters(),))(lambda: function(y=3)) == (1, 3)

    @table.overlay(function)
    def method(x, *, y):
        return "overlaid"

    assert Context(table)(lambda: function(x=1, y=3)) == "overlaid"


def test_a_helper_redefined_in_its_module():
    module = types.ModuleType("notebook")
    exec("def helper(x):\n    return x\ndef main(x):\n    return helper(x)", module.__dict__)
    table = MethodTable("t")

    @table.overlay(math.sin)
    def sin(x: float):
        return "overlaid"

    ctx = Context(table)
    assert ctx(module.main, 1.0) == 1.0
    exec("import math\ndef helper(x):\n    return math.sin(x)", module.__dict__)
    assert ctx(module.main, 1.0) == "overlaid"
    module.helper = math.sin
    assert ctx(module.main, 1.0) == "overlaid"
    module.helper = len
    assert ctx(module.main, "four") == 4


def test_a_class_attribute_redefined():
    class Thing:
        def __init__(self):
            self.value = 1

        def method(self):
            return self.value

    ctx = Context(MethodTable("t"))

    def use():
        return Thing().method()

    assert ctx(use) == 1

    def new_init(self):
        self.value = math.sin(0.0)

    Thing.__init__ = new_init
    Thing.method = lambda self: ("new", self.value)
    assert ctx(use) == ("new", 0.0)


def test_a_target_named_before_its_module_is_imported(tmp_path, monkeypatch):
    (tmp_path / "late_module.py").write_text("def late(x):\n    return x\n")
    monkeypatch.syspath_prepend(tmp_path)
    table = MethodTable("t")

    @table.overlay("late_module:late")
    def late(x: int):
        return "overlaid"

    def program():
        import late_module
        from late_module import late

        return late_module.late(1), late(2), late("text")

    assert "late_module" not in sys.modules
    assert len(table) == 1
    try:
        assert Context(table)(program) == ("overlaid", "overlaid", "text")
        assert "late_module:late" in table
        with pytest.raises(OverlayError, match="no 'lat' to overlay") as caught:
            table.overlay("late_module:lat")
        assert "late" in str(caught.value)
    finally:
        del sys.modules["late_module"]


def test_a_name_that_is_no_name_is_refused():
    with pytest.raises(OverlayError, match="does not name a target"):
        MethodTable("t").overlay("no colon")


# ---- parts of the program redefined while it runs -------------------------------------------


def mark(value):
    return "outside", value


MARKS = MethodTable("marks")
MARKS.overlay(mark)(lambda value: ("inside", value))

# what is defined, how it is called, and what redefines it while the program runs
CHANGES = {
    "a helper": (
        "def f(): return mark('old')",
        "f()",
        "exec(\"def f(): return mark('new')\", globals())",
    ),
    "a helper by rebinding": (
        "def f(): return mark('old')\ndef g(): return mark('new')",
        "f()",
        "globals()['f'] = g",
    ),
    "a helper that becomes another kind of callable": (
        "def f(): return mark('old')",
        "f()",
        "globals()['f'] = functools.partial(mark, 'new')",
    ),
    "a function of a module": (
        "module.f = lambda: mark('old')",
        "module.f()",
        "module.f = lambda: mark('new')",
    ),
    "a method": (
        "class C:\n    def f(self): return mark('old')\nc = C()",
        "c.f()",
        "C.f = lambda self: mark('new')",
    ),
    "a method of a base class": (
        "class B:\n    def f(self): return mark('old')\nclass C(B): pass\nc = C()",
        "c.f()",
        "B.f = lambda self: mark('new')",
    ),
    "a method reached through super()": (
        "class B:\n    def f(self): return mark('old')\n"
        "class C(B):\n    def f(self): return super().f()\nc = C()",
        "c.f()",
        "B.f = lambda self: mark('new')",
    ),
    "a method hidden by one of the instance": (
        "class C:\n    def f(self): return mark('old')\nc = C()",
        "c.f()",
        "c.f = lambda: mark('new')",
    ),
    "a class attribute that is no function": (
        "class C:\n    value = 'old'\n    def f(self): return mark(self.value)\nc = C()",
        "c.f()",
        "C.value = 'new'",
    ),
    "the class of an object": (
        "class C:\n    def f(self): return mark('old')\n"
        "class D:\n    def f(self): return mark('new')\nc = C()",
        "c.f()",
        "c.__class__ = D",
    ),
    "a class method": (
        "class C:\n    @classmethod\n    def f(cls): return mark('old')",
        "C.f()",
        "C.f = classmethod(lambda cls: mark('new'))",
    ),
    "a static method": (
        "class C:\n    @staticmethod\n    def f(): return mark('old')",
        "C().f()",
        "C.f = staticmethod(lambda: mark('new'))",
    ),
    "__init__": (
        "class C:\n    def __init__(self): self.value = mark('old')",
        "C().value",
        "def init(self): self.value = mark('new')\n        C.__init__ = init",
    ),
    "__init__ of a base class": (
        "class B:\n    def __init__(self): self.value = mark('old')\nclass C(B): pass",
        "C().value",
        "def init(self): self.value = mark('new')\n        B.__init__ = init",
    ),
    "__new__": (
        "class C:\n    def __new__(cls): return mark('old')",
        "C()",
        "C.__new__ = lambda cls: mark('new')",
    ),
    "__call__": (
        "class C:\n    def __call__(self): return mark('old')\nc = C()",
        "c()",
        "C.__call__ = lambda self: mark('new')",
    ),
    "__call__ of a metaclass": (
        "class M(type):\n    def __call__(cls): return mark('old')\nclass C(metaclass=M): pass",
        "C()",
        "M.__call__ = lambda cls: mark('new')",
    ),
    "what a decorator made": (
        "def twice(f): return lambda: f()\n@twice\ndef f(): return mark('old')",
        "f()",
        "globals()['f'] = twice(lambda: mark('new'))",
    ),
    "what a decorated function calls": (
        "def inner(): return mark('old')\n"
        "def deco(f):\n    @functools.wraps(f)\n    def g(): return f()\n    return g\n"
        "@deco\ndef f(): return inner()",
        "f()",
        "globals()['inner'] = lambda: mark('new')",
    ),
    "a variable of a closure": (
        "def make():\n    g = lambda: mark('old')\n    def f(): return g()\n"
        "    def change():\n        nonlocal g\n        g = lambda: mark('new')\n"
        "    return f, change\nf, change = make()",
        "f()",
        "change()",
    ),
    "an entry of a dict": (
        "d = {'f': lambda: mark('old')}",
        "d['f']()",
        "d['f'] = lambda: mark('new')",
    ),
}
PROGRAM = """
{defined}
def running():
    seen = []
    for step in range(6):
        if step == 3:
            alter()
        seen.append({use})
    return seen
def alter():
    if True:
        {changed}
"""


@pytest.mark.parametrize("importable", [True, False])
@pytest.mark.parametrize(("defined", "use", "changed"), CHANGES.values(), ids=CHANGES)
def test_a_change_of_the_program_is_seen_by_running_code(
    defined, use, changed, importable, monkeypatch
):
    program = PROGRAM.format(defined=defined, use=use, changed=changed)
    for enter, where in ((lambda f: f(), "outside"), (Context(MARKS), "inside")):
        module = types.ModuleType("redefined_here")
        if importable:
            monkeypatch.setitem(sys.modules, "redefined_here", module)
        module.__dict__.update(mark=mark, functools=functools, module=types.ModuleType("other"))
        exec(program, module.__dict__)
        expected = [(where, "old")] * 3 + [(where, "new")] * 3
        assert enter(module.running) == expected
        assert enter(module.running)[-1] == (where, "new")


def test_a_function_changed_in_place_is_seen_by_the_next_run():
    namespace = {"mark": mark}
    exec("def f(x='old', *, y=1): return mark(x), y\ndef run(): return f()", namespace)
    f, run = namespace["f"], namespace["run"]
    ctx = Context(MARKS)
    for _ in range(3):
        assert ctx(run) == (("inside", "old"), 1)
    f.__defaults__ = ("new",)
    assert ctx(run) == (("inside", "new"), 1)
    f.__kwdefaults__ = {"y": 2}
    assert ctx(run) == (("inside", "new"), 2)
    f.__code__ = (lambda x, *, y: (y, mark([x]))).__code__
    assert ctx(run) == (2, ("inside", ["new"]))
    assert run() == (2, ("outside", ["new"]))


def test_a_cell_run_again_in_the_same_namespace():
    cell = "def f(): return mark({0}), g()\ndef g(): return mark({0} + 10)"
    namespace = {"mark": mark}
    ctx = Context(MARKS)
    for number in range(5):
        ctx(exec, cell.format(number), namespace)
        expected = ("inside", number), ("inside", number + 10)
        assert ctx(lambda: namespace["f"]()) == ctx(namespace["f"]) == expected
    assert namespace["f"]() == (("outside", 4), ("outside", 14))


def test_a_method_redefined_by_the_code_that_it_runs_in():
    table = MethodTable("t")

    def change():
        table.overlay(mark)(lambda value: ("changed", value))

    @table.overlay(mark)
    def method(value):
        change()
        return "first", value, mark(value)

    def running():
        return [mark(1), mark(2)]

    assert Context(table)(running) == [("first", 1, ("changed", 1)), ("changed", 2)]


def changed(x):
    return "own code"


def test_a_method_that_another_thread_adds_while_a_call_is_resolved_is_seen_by_the_next(
    monkeypatch,
):
    table = MethodTable("t")
    table.overlay(changed)(lambda x: "first")
    ctx, asked = Context(table), []

    def resolved(*args):
        answer = found(*args)
        if not asked:  # as a thread does that takes its turn before the answer is used
            asked.append(answer)
            table.overlay(changed)(lambda x: "second")
        return answer

    found = interception.resolved
    monkeypatch.setattr(interception, "resolved", resolved)
    assert ctx(lambda: changed(1.0)) == "first"  # the call began before
    assert asked
    assert [ctx(lambda: changed(1.0)) for _ in range(3)] == ["second"] * 3
