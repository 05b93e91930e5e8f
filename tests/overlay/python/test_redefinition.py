"""Every change is seen at the next call, also by code that is running."""

import math
import operator
import sys
import types

import pytest

from overlay import Context, MethodTable, OverlayError


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

    assert Context(table)(running) == (3.0, "added")


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
