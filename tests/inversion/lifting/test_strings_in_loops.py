"""Strings that loops and recursive calls change are state of the loop in every iteration."""

import itertools

import pytest

from inversion import NotInvertible, invert

LOOPS = {
    "while": """
def program(n: int):
    out = ""
    while n >= 5:
        {change}
        n -= 5
    return out, n
""",
    "while_with_break": """
def program(n: int):
    out = ""
    while True:
        if n < 5:
            break
        {change}
        n -= 5
    return out, n
""",
    "for": """
def program(count: int):
    out, n = "", 4
    for turn in range(count):
        {change}
        n += 5
    return out, n
""",
    "for_of_known_length": """
def program(n: int):
    out = ""
    for turn in range(20):
        if n >= 5:
            {change}
            n -= 5
    return out, n
""",
    "nested": """
def program(n: int):
    out = ""
    while n >= 5:
        for turn in range(2):
            {change}
        n -= 5
    return out, n
""",
    "recursion": """
def again(n, out):
    if n < 5:
        return out, n
    {change}
    return again(n - 5, out)

def program(n: int):
    return again(n, "")
""",
}
CHANGES = {
    "appended": "out += 'V'",
    "put_first": "out = 'V' + out",
    "alternating": "out = 'b' if out == 'a' else 'a'",
    "of_other_lengths": "out = 'odd' if n % 2 else 'even'",
    "of_other_letters": "out += 'ab' if n % 3 == 0 else 'c'",
    "of_a_table": "out += 'xyz'[n % 3]",
    "of_digits": "out = str(n % 7) + out",
    "formatted": "out = f'{out}{n % 4}'",
    "set_once": "out = 'over' if n > 7 else out",
}


def program_of(loop, change):
    space = {"__name__": __name__}
    exec(LOOPS[loop].format(change=CHANGES[change]), space)
    return space["program"]


@pytest.mark.parametrize(("loop", "change"), list(itertools.product(LOOPS, CHANGES)))
def test_a_string_that_a_loop_changes_is_found_in_every_iteration(loop, change):
    program = program_of(loop, change)
    inverse = invert(program, max_trips=6)
    for n in (0, 2, 3) if loop == "for" else (3, 8, 16):
        result = program(n)
        assert program(*inverse(result)) == result
        assert inverse(result, inverse.recover(n)) == (n,)
        found = inverse.solutions(result, limit=4, timeout=0.5)
        held = any(b.contains(n) if len(b.parameters) else b.point == (n,) for b in found)
        assert held or found.status != "complete", (n, list(found))


def bytes_that_grow(n: int):
    out = b""
    while n >= 5:
        out += b"x"
        n -= 5
    return len(out), n


def another_function(x: float):
    change = abs
    while x < 10.0:
        x = change(x) + 1.0
        change = float
    return x


def none_at_first(x: float):
    last = None
    while x < 10.0:
        last = x
        x = 2.0 * x
    return x, last


def an_iterator(x: float):
    steps = iter((1.0, 2.0, 3.0))
    while x < 3.0:
        x += next(steps)
    return x


@pytest.mark.parametrize("program", [bytes_that_grow, another_function, none_at_first, an_iterator])
def test_an_object_that_a_loop_replaces_is_refused(program):
    with pytest.raises(NotInvertible):
        invert(program)


def of_an_attribute(n: int):
    counter = Counter()
    while n >= 5:
        counter.shown += "V"
        n -= 5
    return counter.shown, n


class Counter:
    def __init__(self):
        self.shown = ""


def of_an_inner_function(n: int):
    shown = ""

    def add():
        nonlocal shown
        shown += "V"

    while n >= 5:
        add()
        n -= 5
    return shown, n


def of_a_list(n: int):
    texts = ["", "u"]
    while n >= 5:
        texts[0] += "V"
        n -= 5
    return texts[0], texts[1], n


def of_a_tuple(n: int):
    state = ("a", 0)
    while n >= 5:
        state = ("b" if state[0] == "a" else "a", state[1] + 1)
        n -= 5
    return state, n


HELD = [of_an_attribute, of_an_inner_function, of_a_list, of_a_tuple]


@pytest.mark.parametrize("program", HELD)
def test_strings_that_objects_hold_are_found(program):
    inverse = invert(program, max_trips=6)
    for n in (3, 16):
        result = program(n)
        assert inverse(result, inverse.recover(n)) == (n,)
        assert [branch.point for branch in inverse.solutions(result)] == [(n,)]
