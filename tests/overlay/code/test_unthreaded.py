"""Jumps of `and` and `or`, joined as the expression is nested."""

import dis
import itertools
from types import FunctionType

from hypothesis import given
from hypothesis import strategies as st

from overlay.code.py314 import unthreaded

NAMES = "abcde"
NAMED = st.sampled_from([*NAMES, *(f"not {name}" for name in NAMES)])
EXPRESSIONS = st.recursive(
    NAMED,
    lambda part: st.builds(
        lambda word, parts: f"({f' {word} '.join(parts)})",
        st.sampled_from(["and", "or"]),
        st.lists(part, min_size=2, max_size=3),
    ),
    max_leaves=12,
)


def nested(function):
    return FunctionType(unthreaded(function.__code__), function.__globals__)


def jumps_into_the_middle(code):
    """Conditional jumps to the place after a test, which they were threaded past."""
    rows = [row for row in dis.get_instructions(code) if row.opname != "NOT_TAKEN"]
    tests = {
        after.offset: row
        for copy, truth, row, after in zip(rows, rows[1:], rows[2:], rows[3:], strict=False)
        if (copy.opname, truth.opname) == ("COPY", "TO_BOOL") and row.opname.startswith("POP_JUMP")
    }
    return [
        row
        for row in rows
        if row.opname.startswith("POP_JUMP")
        and row.argval in tests
        and tests[row.argval].offset > row.offset
        and tests[row.argval].opname != row.opname
    ]


@given(EXPRESSIONS)
def test_it_means_the_same(text):
    function = eval(f"lambda {', '.join(NAMES)}: {text}")
    found = nested(function)
    assert not jumps_into_the_middle(found.__code__)
    for values in itertools.product((0, "x"), repeat=len(NAMES)):
        assert found(*values) == function(*values)


def test_long_jumps_keep_what_extends_them():
    right = " + ".join(["e"] * 400)
    function = eval(f"lambda a, b, c, d, e: (a or (b and ({right}))) and (c or d)")
    for values in itertools.product((0, 1), repeat=len(NAMES)):
        assert nested(function)(*values) == function(*values)


def test_what_is_not_threaded_stays():
    def plain(a, b):
        return a if a > b else b

    assert unthreaded(plain.__code__).co_code == plain.__code__.co_code
