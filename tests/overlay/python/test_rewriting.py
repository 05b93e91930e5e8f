"""Every rewritten code object is one that the interpreter may run."""

import importlib
import math
import operator
import types

import pytest

from overlay import Context, MethodTable, UnsupportedPython, call_next
from overlay.python.emit import emitter
from overlay.python.rewrite import Rewriter
from overlay.python.verify import BadCode, verify

MODULES = ["statistics", "dataclasses", "asyncio.tasks", "contextlib", "enum", "pickle"]


class Identity:
    """A site that maps every callee to itself."""

    bound, clean = True, None

    def __init__(self, arity, attribute=None, of_class=False):
        self.pair, self.init = (object(), None), None
        self.inline = self.instance = object(), None, None
        self.same = lambda: None
        self.as_value = self.other = self

    def __getitem__(self, callee):
        return callee

    def pick(self, callee, argument):
        return callee


class Unbound(Identity):
    """The same, before methods that are loaded the native way."""

    bound = False


def codes_in(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_in(constant)


def all_operators(function):
    return function


def no_operators(function):
    return None


SHAPES = {
    **{(name, no_operators): name for name in MODULES},
    **{(name, all_operators): f"{name}-operators" for name in MODULES},
}


@pytest.mark.parametrize(("name", "operators"), SHAPES, ids=SHAPES.values())
def test_stack_depths_and_exception_tables_are_sound(name, operators):
    module = importlib.import_module(name)
    with open(module.__file__, encoding="utf-8") as file:
        code = compile(file.read(), module.__file__, "exec")
    nested = lambda code: code  # noqa: E731
    rewriter = Rewriter(emitter(), Identity, operators, nested)
    for each in codes_in(code):
        new = rewriter.rewrite(each, module.__dict__)
        assert verify(new) >= verify(each)
        assert kept(new) == kept(each)


def kept(code):
    """What rewriting leaves as it is."""
    lines = {line for *_, line in code.co_lines() if line}
    return code.co_name, code.co_qualname, code.co_filename, code.co_flags, code.co_argcount, lines


@pytest.mark.parametrize("site", [Identity, Unbound])
def test_rewritten_code_does_what_the_code_did(site):
    rewriter = Rewriter(emitter(), site, all_operators, lambda nested: nested)

    def program(values):
        total, text = 0, ""
        for value in values:
            try:
                total += 10 // value
            except ZeroDivisionError:
                text += "zero"
            else:
                text = f"{text}{value in (1, 2)}"
            finally:
                total = -total
        with open(__file__, encoding="utf-8") as file:
            first = file.readline()[:3]
        return total, text, first, [v for v in values if not v], values[1:2]

    twin = types.FunctionType(
        rewriter.rewrite(program.__code__, globals()), globals(), "program", None, None
    )
    assert twin([1, 0, 3]) == program([1, 0, 3])


def test_nested_handlers_that_only_raise_keep_their_stack_depth():
    def program(f, g):
        try:
            f()
        except ValueError:
            try:
                try:
                    raise
                finally:
                    raise
            except ValueError:
                pass
        return g()

    rewriter = Rewriter(emitter(), Identity, no_operators, lambda nested: nested)
    code = rewriter.rewrite(program.__code__, globals())
    verify(code)
    twin = types.FunctionType(code, globals(), "program", None, None)
    assert twin(lambda: int("x"), lambda: "after") == "after"


def test_code_may_have_more_constants_than_a_byte_can_number():
    count = 300
    lines = [
        "def make(free):",
        "    def program(text):",
        "        total = 0",
        *(
            f"        total += math.trunc({i}.5) + len(text.join('ab{i}')) + free({-i})"
            for i in range(count)
        ),
        "        return total",
        "    return program",
    ]
    namespace = {"math": math}
    exec("\n".join(lines), namespace)
    program = namespace["make"](abs)
    seen, table = [], MethodTable("seen")

    @table.overlay(math.trunc)
    def trunc(x):
        seen.append(x)
        return call_next(x)

    assert Context(table)(program, "-") == program("-")
    assert seen == [i + 0.5 for i in range(count)]


def test_a_table_of_lines_may_say_more_than_the_code_has():
    def divides():
        return abs(-1) / 0

    no_line = b"\xff" * 20  # eight instructions each
    divides.__code__ = divides.__code__.replace(co_linetable=no_line)
    with pytest.raises(ZeroDivisionError) as caught:
        Context(MethodTable("none"))(divides)
    place = caught.value.__traceback__
    while place.tb_next is not None:
        place = place.tb_next
    assert (place.tb_frame.f_code.co_name, place.tb_lineno) == ("divides", None)


def test_the_verifier_finds_a_stack_that_is_too_small():
    def program(a, b):
        return operator.add(a, operator.add(b, a))

    assert verify(program.__code__) <= program.__code__.co_stacksize
    with pytest.raises(BadCode, match="deeper than 1"):
        verify(program.__code__.replace(co_stacksize=1))


def test_an_unknown_python_is_refused():
    assert emitter()
    with pytest.raises(UnsupportedPython, match=r"not supported on Python 3\.99") as caught:
        emitter((3, 99))
    assert "supported: CPython 3.12, 3.13" in str(caught.value)
