"""Code as nested statements."""

from overlay.code.body import Apply
from overlay.code.read_bodies import body_of
from overlay.code.structured_tree import (
    Alternative,
    Exits,
    Guarded,
    Raise,
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


def test_a_handler_is_in_the_tree_where_a_raise_leads_to_it():
    def handles(x):
        try:
            return abs(x)
        except ZeroDivisionError:
            return 0

    def raises(x):
        try:
            if x < 0:
                raise ValueError
            y = abs(x)
        except ValueError:
            y = 0
        return y

    def leaves(x):
        raise ValueError

    tree = structured(body_of(handles))
    assert kinds(tree) == ["result"]
    assert {each.catches for each in tree if isinstance(each, Guarded)} == {(ZeroDivisionError,)}
    found = structured(body_of(raises))
    # where the class does not fit, the handler raises again
    assert [each.handled for each in raised_in(found)] == [True, True, False]
    assert [each.source is None for each in raised_in(found)] == [False, True, True]
    assert [each.handled for each in raised_in(structured(body_of(leaves)))] == [False]


def raised_in(tree):
    """The raise statements of a tree."""
    for item in tree:
        if isinstance(item, Raise):
            yield item
        elif isinstance(item, Alternative):
            yield from raised_in(item.yes)
            yield from raised_in(item.no)
