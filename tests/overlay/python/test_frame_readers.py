"""Builtins that read the frame that calls them, as targets of methods that hand calls on."""

import sys
import warnings

import pytest

from overlay import Context, MethodTable, Plugin, call_next
from overlay.python import frame_readers, interception

pytestmark = pytest.mark.skipif(
    interception.intercept is None, reason="the part in C is not built here"
)
EXPLICIT = sys.version_info >= (3, 13)  # eval and exec take their namespaces by name, too
TEXT = "module"


def read_locals():
    x, y = 1, [2]
    return locals(), [locals() for _ in y], (lambda z: locals())(3)


def read_vars(x=1):
    return vars(), vars(read_locals) == read_locals.__dict__


def read_dir(b=1, a=2):
    return dir(), dir(1) == dir(2)


def read_globals():
    return globals() is sys.modules[__name__].__dict__


def evaluated(x=3):
    space = {"y": 4}
    found = [eval("x + 1"), eval("TEXT"), eval("y", space), eval("x", None, {"x": 5})]
    found += [eval("len('abc')", {}), "__builtins__" in space, eval("y", {}, space)]
    if EXPLICIT:
        found += [eval("y", globals=space), eval("x", locals={"x": 6})]
    return found


def executed():
    x, space = [], {"z": 7}
    exec("x.append((TEXT, len(x)))")
    exec("w = z + 1", space)
    exec("v = z", {"z": 8}, space)
    return x, space["w"], space["v"], "__builtins__" in space


class Above:
    def held(self):
        return "above", self.n

    @classmethod
    def made(cls):
        return cls.n


class Below(Above):
    n = 9

    def held(self):
        return super().held(), super().held(), super(Below, Below).made()

    @classmethod
    def made(cls):
        return super().made(), [m() for m in [super().made]]


def above():
    return Below().held(), Below.made()


def made():
    named = type("Named", (), {"__module__": "other"})
    return type("Made", (), {"x": 1}).__module__, named.__module__, int, type("M", (), {}).__name__


def frames():
    names = [sys._getframe().f_code.co_name, sys._getframe(0).f_code.co_name]
    with pytest.raises(ValueError, match="deep enough"):
        sys._getframe(10_000)
    return names


def modules():
    return sys._getframemodulename(), sys._getframemodulename(0), sys._getframemodulename(10_000)


def warned():
    def inner():
        warnings.warn("at the call", stacklevel=2)
        warnings.warn("here", UserWarning)  # noqa: B028
        warnings.warn("by place", UserWarning, 2, None)

    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        inner()
    return [(each.filename, each.lineno, str(each.message)) for each in found]


PROGRAMS = {
    **{"locals": read_locals, "vars": read_vars, "dir": read_dir, "globals": read_globals},
    **{"eval": evaluated, "exec": executed, "super": above, "type": made},
    **{"_getframe": frames, "_getframemodulename": modules, "warn": warned},
}


def plain(*args, **kwargs):
    return call_next(*args, **kwargs)


def nested(*args, **kwargs):
    def inner():
        (found,) = [call_next(*args, **kwargs) for _ in (1,)]
        return found

    (found,) = map(lambda f: f(), [inner])  # noqa: C417
    return found


class Around(Plugin):
    def around(self, callee, run):
        return lambda *args, **kwargs: run(*args, **kwargs)


def shown(value):
    return repr(value).replace("<function read_locals.<locals>.<lambda>", "<")


@pytest.mark.parametrize("plugins", [(), (Around(),)], ids=["", "plugin"])
@pytest.mark.parametrize("check", [False, True], ids=["", "checked"])
@pytest.mark.parametrize("methods", [(plain,), (nested,), (plain, nested, plain)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_methods_that_hand_calls_on_change_nothing(name, methods, check, plugins):
    program, target = PROGRAMS[name], frame_readers.TARGETS[name]
    native, tables, calls = program(), [], []
    for method in methods:
        table = MethodTable("passing", check=check)

        def passing(*args, _method=method, **kwargs):
            calls.append(args)
            return call_next(*args, **kwargs)

        table.overlay(target)(passing if method is plain else method)
        tables.append(table)
    assert shown(Context(*tables, plugins=plugins)(program)) == shown(native)
    assert calls or plain not in methods


def test_there_is_a_program_for_each():
    assert {*PROGRAMS} == {*frame_readers.TARGETS}


def test_a_method_that_reads_its_own_frame_reads_that():
    table = MethodTable("own")

    @table.overlay(globals)
    def of_method():
        return sorted(locals()), call_next() is sys.modules[__name__].__dict__

    assert Context(table)(lambda: globals()) == ([], True)


def test_call_next_in_another_thread_or_later_reads_the_frame_that_it_is_called_from():
    table, later = MethodTable("later"), []

    @table.overlay(locals)
    def kept():
        later.append(lambda: call_next())
        return {}

    def program():
        x = 1
        return locals(), x

    context = Context(table)
    assert context(program) == ({}, 1)
    assert "x" not in context(later[0])


def test_a_call_that_the_builtin_refuses_is_refused():
    table = MethodTable("passing")
    table.overlay(eval)(plain)
    table.overlay(dir)(plain)
    context = Context(table)
    for program in (lambda: eval(), lambda: eval("1", 2), lambda: eval("1", {}, {}, {}),
                    lambda: dir(1, 2), lambda: eval("1", other=1)):  # fmt: skip
        with pytest.raises(TypeError) as native:
            program()
        with pytest.raises(TypeError) as caught:
            context(program)
        assert str(caught.value).partition(" ")[0] == str(native.value).partition(" ")[0]


class WrongPlaces(Above):
    """Calls of ``super()`` in functions that it cannot serve, and in some that it can."""

    n = 2

    @staticmethod
    def first_variable():
        own = WrongPlaces()
        return super().held(), own

    @staticmethod
    def rest(*own):
        return super().held()

    @staticmethod
    def by_name(*, own):
        return super().held()

    @staticmethod
    def another(own):
        return super().held()

    def nested(self):
        def inner():
            return super().held()

        return inner()

    def nested_with_argument(self):
        def inner(own):
            return super().held()

        return inner(self)

    def captured(self):
        return super().held(), (lambda: self.n)()

    def deleted(self):
        del self
        return super().held()

    def in_an_expression(self):
        return next(super().held() for _ in [1])


def outside(self):
    return super().held()


WRONG_PLACES = {
    "first variable": WrongPlaces.first_variable,
    "rest": lambda: WrongPlaces.rest(WrongPlaces()),
    "by name": lambda: WrongPlaces.by_name(own=WrongPlaces()),
    "another": lambda: WrongPlaces.another(WrongPlaces()),
    "another class": lambda: WrongPlaces.another(3),
    "nested": lambda: WrongPlaces().nested(),
    "nested with argument": lambda: WrongPlaces().nested_with_argument(),
    "captured": lambda: WrongPlaces().captured(),
    "deleted": lambda: WrongPlaces().deleted(),
    "in an expression": lambda: WrongPlaces().in_an_expression(),
    "outside": lambda: outside(WrongPlaces()),
}


@pytest.mark.parametrize("place", WRONG_PLACES)
def test_super_without_arguments_does_what_it_does_natively_wherever_it_stands(place):
    def outcome(run):
        try:
            result = run(WRONG_PLACES[place])
        except (RuntimeError, TypeError, NameError) as error:
            return type(error), str(error)
        return result

    table = MethodTable("table")
    table.overlay(super)(lambda *args: call_next(*args))
    assert outcome(Context(table)) == outcome(lambda program: program())
