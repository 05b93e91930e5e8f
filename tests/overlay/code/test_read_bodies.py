"""Source lines and instructions in the statements and blocks of functions that are read."""

import operator

from overlay.code import marks
from overlay.code.body import Apply, Copy, Make, is_step
from overlay.code.operators import BINARY, PLAIN
from overlay.code.read_bodies import body_of


def line_of(function, where):
    return int(where.rpartition(":")[2]) - function.__code__.co_firstlineno


def statements(function):
    return [each for block in body_of(function).blocks.values() for each in block.statements]


def branching(x):
    y = x
    if y > 0:
        return y
    while x < 3:
        x = x + 1
    return x


def test_blocks_copies_and_ends_have_their_lines():
    body = body_of(branching)
    copies = {
        each.target: line_of(branching, each.where)
        for each in statements(branching)
        if isinstance(each, Copy) and not is_step(each.target)
    }
    assert copies == {"y": 1, "x": 5}
    ends = {line_of(branching, block.end.where) for block in body.blocks.values()}
    assert {2, 3, 6} <= ends <= {2, 3, 4, 5, 6}
    begins = {line_of(branching, block.where) for block in body.blocks.values()}
    assert {0, 6} <= begins <= {*range(7)}


def test_a_function_that_is_made_has_its_line():
    def makes(x):
        y = x
        return lambda: y

    made = [each for each in statements(makes) if isinstance(each, Make)]
    assert [line_of(makes, each.where) for each in made] == [2]


def test_what_is_made_and_grows_says_by_which_instruction():
    def texts(x):
        return f"{x}{x!r}{x:.2f}", [*x, 1.0]

    told = [
        (each.function, each.instruction)
        for each in statements(texts)
        if isinstance(each, Apply) and each.function in (marks.new, marks.put)
    ]
    named = ("FORMAT_SIMPLE", "CONVERT_VALUE", "FORMAT_WITH_SPEC", "BUILD_STRING", "BUILD_LIST")
    assert {name for function, name in told if function is marks.new} == {*named}
    assert [name for function, name in told if function is marks.put] == [
        "LIST_EXTEND",
        "LIST_APPEND",
    ]


def test_a_block_says_what_it_needs_sets_and_lets_grow():
    def collected(x):
        return [x + i for i in (1.0, 2.0)]

    blocks = body_of(collected).blocks.values()
    grown = {name for block in blocks for name in block.grown}
    assert grown
    assert all(block.grown <= block.sets for block in blocks)
    assert any("x" in block.needs for block in blocks)
    assert not any("i" in block.needs and "i" in block.grown for block in blocks)


def test_each_operator_in_place_has_its_plain_one():
    assert PLAIN[operator.iadd] is operator.add
    assert PLAIN[operator.iand] is operator.and_
    assert operator.xor not in PLAIN
    assert {*PLAIN} | {*PLAIN.values()} == {*BINARY}
