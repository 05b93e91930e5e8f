"""Machine code in a context is optimised as numba optimises that of the program by itself."""

import re

import llvmlite.binding
import numpy as np
import pytest
from numba import njit

from overlay import Context, MethodTable


def unreached(target):
    """A context whose table has a method of the target, for a type that does not occur."""

    class Unused: ...

    def unused(*args: Unused):
        raise AssertionError("no argument is one")

    table = MethodTable("never reached")
    table.overlay(target)(unused)
    return Context(table)


def element(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def leaf(x):
    return x * 3 + 1


def with_nested_loops(helper):
    of = helper(element)

    @helper
    def times(u, transposed):
        result = np.zeros(len(u))
        for i in range(len(u)):
            for j in range(len(u)):
                result[i] += u[j] * (of(j, i) if transposed else of(i, j))
        return result

    def run(u):
        return times(u, False)

    return run


def with_recursion(helper):
    end = helper(leaf)

    @helper
    def leaves(depth):
        return end(depth) if depth < 2 else leaves(depth - 1) + leaves(depth - 2)

    def run(depth):
        return leaves(depth)

    return run


def llvm(compiled):
    [text] = compiled.inspect_llvm().values()
    return text


def body(text):
    """The LLVM code of the program, without that of its wrappers for Python and C."""
    functions = re.findall(r"^define .*?^}", text, re.MULTILINE | re.DOTALL)
    return "\n".join(f for f in functions if "@_ZN7cpython" not in f and "@cfunc." not in f)


PROGRAMS = [(with_nested_loops, element, np.ones(20)), (with_recursion, leaf, 10)]


@pytest.mark.parametrize(("program", "target", "argument"), PROGRAMS)
def test_functions_that_the_program_calls_are_hidden_so_that_llvm_knows_their_callers(
    program, target, argument
):
    compiled = unreached(target).jit(program(lambda f: f))
    assert np.all(compiled(argument) == program(lambda f: f)(argument))
    defined = re.findall(r"^define ([^@]*)@\"?([^\"(]*)", llvm(compiled), re.MULTILINE)
    shown = [name for how, name in defined if not re.search(r"\b(private|internal)\b", how)]
    assert len(shown) == 3, shown  # the entry and its wrappers
    assert all("run" in name for name in shown)


def test_calls_that_cannot_raise_record_nothing():
    compiled = unreached(leaf).jit(with_recursion(lambda f: f))
    compiled(10)
    assert "overlay_note_call" not in body(llvm(compiled))


@pytest.mark.skipif(
    llvmlite.binding.llvm_version_info < (20,), reason="LLVM loads an item twice in such loops"
)
def test_loops_of_callees_are_optimised_again_with_their_caller():
    # numba optimises `times` by itself, and once more within `run`: only then is the sum of a row
    # held in a register, and an item of `u` all that is loaded for each division
    ours = unreached(element).jit(with_nested_loops(lambda f: f))
    for compiled in (ours, njit(with_nested_loops(njit))):
        compiled(np.ones(20))
        blocks = re.split(r"^\S+:.*$", body(llvm(compiled)), flags=re.MULTILINE)
        dividing = [block for block in blocks if " fdiv " in block]
        assert dividing
        for block in dividing:
            assert block.count(" load double") == block.count(" fdiv ")


@pytest.mark.parametrize(("program", "target", "argument"), PROGRAMS)
def test_a_table_that_is_not_reached_adds_no_instruction(program, target, argument):
    texts = []
    for context in (Context(), unreached(target)):
        compiled = context.jit(program(lambda f: f))
        compiled(argument)
        texts.append(body(llvm(compiled)))
    opcodes = [re.findall(r"^  (?:%\S+ = )?(?:tail )?(\w+)", text, re.MULTILINE) for text in texts]
    assert opcodes[0] == opcodes[1]
