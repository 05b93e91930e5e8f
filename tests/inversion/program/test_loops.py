"""Programs that loop: iterations are undone in reverse order, or an unknown is searched for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inversion import NoSolution, NotInvertible, choose, invert
from inversion.program.loops import Loop

F = float
NUMBERS = st.floats(1, 50).map(lambda x: round(x, 3))


def growth(x):
    for _ in range(50):
        x = x + 0.1 * x
    return x


def halved(x):
    count = 0
    while x > 1.0:
        x = x / 2
        count += 1
    return x, count


def left_in_the_middle(x):
    while True:
        x = x / 2
        if x < 1:
            break
        x = x + 0.1
    return x


def horner(x):
    total = 0.0
    for c in (1.0, 2.0, 3.0):
        total = total * x + c
    return total


def recurrence(a, b):
    for _ in range(30):
        a, b = b, 1.5 * a + b / 8
    return a, b


def counting(x):
    weight = 1.0
    for i in range(3, 40, 2):
        weight = weight * 1.01 + i / 100
        x = x * 1.1 + weight - i
    return x


def geometric(x, y):
    total = 0.0
    for _ in range(100):
        total = total * y + x
    return total, y


def depreciated(value):
    for year in range(1, 31):
        value = value - value / (year + 40)
        if value < 10.0:
            value = value + 5.0
    return value


def twice(x):
    for _ in range(20):
        y = x
        for _ in range(18):
            y = y * 1.01 + 0.5
        x = y - x / 2
    return x


PROGRAMS = [growth, halved, left_in_the_middle, horner, recurrence, counting, geometric]
PROGRAMS += [depreciated, twice]
MADE = {f: invert(f, *[F] * f.__code__.co_argcount) for f in PROGRAMS}


@pytest.mark.parametrize("f", PROGRAMS)
@given(st.data())
def test_what_recover_finds_leads_back(f, data):
    args = tuple(data.draw(NUMBERS) for _ in range(f.__code__.co_argcount))
    inverse, value = MADE[f], f(*args)
    theta = inverse.recover(*args)
    found = inverse(value, theta) if theta else inverse(value)
    assert f(*found) == pytest.approx(value, rel=1e-8)
    assert found == pytest.approx(args, rel=1e-6)


@pytest.mark.parametrize("f", PROGRAMS)
def test_compiled_inverses_answer_alike(f):
    inverse = MADE[f]
    fast = inverse.compile()
    args = (2.5, 0.9)[: f.__code__.co_argcount]
    value, theta = f(*args), inverse.recover(*args)
    given = (value, *([theta] if theta else []))
    assert fast(*given) == pytest.approx(inverse(*given))


def loops(f):
    return [s.relation for s in MADE[f].program.program.statements if isinstance(s.relation, Loop)]


def test_long_ranges_are_not_written_out():
    assert len(loops(growth)) == 1
    assert MADE[growth].source.count("for turn in range") == 1
    assert not loops(horner)


def test_the_number_of_turns_may_be_an_argument():
    def f(n, x):
        for i in range(n):
            x = 2 * x + i
        return x

    inverse = choose(f, int, F, known=("return", "n"))
    for n in (0, 1, 7, 30):
        assert inverse(f(n, 0.5), n) == pytest.approx((0.5,))
        assert inverse.compile()(f(n, 0.5), n) == pytest.approx((0.5,))
    assert inverse(3.0, -4) == (3.0,)


def test_the_number_of_turns_of_a_while_loop_is_a_parameter():
    inverse = invert(lambda x: left_in_the_middle(x), F)
    assert inverse.parameters.names == ("trips",)
    for trips in range(4):
        (x,) = inverse(0.7, (trips,))
        assert left_in_the_middle(x) == pytest.approx(0.7)
        assert inverse.recover(x) == (trips,)
    with pytest.raises(NoSolution):
        inverse(2.0, (1,))


def test_integers_are_exact_in_loops():
    def fibonacci(a, b):
        for _ in range(30):
            a, b = b, a + b
        return a, b

    inverse = invert(fibonacci, int, int)
    assert inverse(fibonacci(3, 4)) == (3, 4)
    assert inverse(fibonacci(10**30, -7)) == (10**30, -7)


def test_what_does_not_change_is_looked_for():
    def owed(debt, rate):
        for _ in range(24):
            debt = debt * (1 + rate) - 100.0
        return debt

    inverse = choose(owed, F, F, known=("return", "debt"))
    (rate,) = inverse(owed(2000.0, 0.01), 2000.0, (0.02,))
    assert rate == pytest.approx(0.01)
    with pytest.raises(NotInvertible, match="root_finding=True"):
        choose(owed, F, F, known=("return", "debt"), root_finding=False)


def test_a_loop_that_begins_with_something_else_has_no_solution():
    def f(x):
        total = 1.0
        for _ in range(20):
            total = total * 2
        return total + 0 * x

    with pytest.raises(NoSolution):
        choose(f, F, known=("return",))(3.0, (0.0,))


def counted_down(n: int):
    count = 0
    while n >= 5:
        count += 1
        n -= 5
    return count, n


def halved(x: float):
    count = 0
    while x > 1.0:
        count += 1
        x = x / 2.0
    return count, x


def marked(n: int):
    marks = ""
    while n >= 5:
        marks += "V"
        n -= 5
    return marks, n


def left_at_ten(n: int):
    count = 0
    while True:
        n -= 3
        if n < 10:
            return count, n
        count += 1


@pytest.mark.parametrize(
    ("function", "beyond"),
    [(counted_down, 40), (halved, 256.0), (marked, 40), (left_at_ten, 40)],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_solutions_with_more_iterations_than_are_tried_are_not_ruled_out(function, beyond):
    value = function(beyond)
    found = invert(function, max_trips=4).solutions(value)
    assert list(found) == []
    assert found.status == "not_exhausted"
    assert "max_trips" in found.reason
    with pytest.raises(NoSolution) as caught:
        invert(function, max_trips=4)(value)
    assert not caught.value.proved
    more = invert(function).solutions(value, limit=1)
    assert [solution.contains(beyond) for solution in more] == [True]
