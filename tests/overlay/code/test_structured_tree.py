"""Code as nested statements."""

import pytest

from overlay.code.body import Apply
from overlay.code.read_bodies import body_of
from overlay.code.structured_tree import (
    Alternative,
    Exits,
    NotStructured,
    Repeat,
    Result,
    structured,
)


def kinds(tree):
    """The nesting of a tree, its steps left out."""
    found = []
    for item in tree:
        if isinstance(item, Alternative):
            found.append(("choice", kinds(item.yes), kinds(item.no)))
        elif isinstance(item, Repeat):
            found.append(("repeat", kinds(item.body)))
        elif isinstance(item, Exits):
            found.append(("exits", kinds(item.repeat.body), len(item.trees)))
        elif isinstance(item, Result):
            found.append("result")
        elif isinstance(item, Apply) and isinstance(item.function, str):
            found.append("call")
    return found


def chosen(x):
    y = abs(x) if x else 1
    return y + 1


def looped(n):
    total = 0
    while total < n:
        total = max(total, 1) + total
    return total


def left_early(n):
    for i in range(n):
        if i > 3:
            return i
    return abs(n)


def test_branches_and_loops_are_nested():
    assert kinds(structured(body_of(chosen))) == [("choice", ["call"], []), "result"]
    found = structured(body_of(looped))
    assert "call" in str(kinds(found))
    assert any(isinstance(each, (Repeat, Alternative)) for each in found)
    assert any(isinstance(each, Exits) for each in structured(body_of(left_early)))


def test_code_that_handles_exceptions_is_no_tree():
    def handles(x):
        try:
            return 1 / x
        except ZeroDivisionError:
            return 0

    with pytest.raises(NotStructured, match="handles exceptions"):
        structured(body_of(handles))
