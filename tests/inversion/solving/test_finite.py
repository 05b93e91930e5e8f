"""Functions of few values that have no plan are inverted by trying all of them."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import pytest

from inversion import NoSolution, NotInvertible, choose, invert
from primitives import Integers


class Day(NamedTuple):
    """A month and a day in it."""

    month: int
    day: int


def easter(year: Annotated[int, Integers(1900, 2099)]) -> tuple[int, int]:
    a, b, c = year % 19, year % 4, year % 7
    d = (19 * a + 24) % 30
    e = (2 * b + 4 * c + 6 * d + 5) % 7
    day = 22 + d + e
    return (3, day) if day <= 31 else (4, day - 31)


def mixed(n: Annotated[int, Integers(-20, 20)], up: bool) -> Day:
    m = n * n % 13 + n // 3
    return Day(m if up else -m, (n ^ m) % 31)


def shown(n: Annotated[int, Integers(0, 300)], k: Annotated[int, Integers(0, 9)]) -> str:
    return f"{n * n % 101 + n % 7 + k}/{(n * k + n) % 10}"


def told(n: Annotated[int, Integers(0, 60)]) -> tuple[str, bool]:
    return str(n * n % 61 + n % 4), n * n % 7 > n % 5


PROGRAMS = {
    "a tuple": (easter, [(1961,), (2024,)]),
    "a named tuple": (mixed, [(-7, True), (11, False)]),
    "a string": (shown, [(7, 3), (300, 9)]),
    "a string and a truth value": (told, [(17,), (58,)]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_of_several_numbers_or_strings_are_tried(name: str):
    function, every = PROGRAMS[name]
    inverse = invert(function)
    for args in every:
        result = function(*args)
        assert function(*inverse(result)) == result
        assert inverse(result, theta=inverse.recover(*args)) == args
        solutions = inverse.solutions(result)
        assert args in [branch.point for branch in solutions]
        assert solutions.status == "complete"


def test_that_no_value_leads_to_a_result_is_proved():
    with pytest.raises(NoSolution) as error:
        invert(easter)((2, 1))
    assert error.value.proved


def test_known_arguments_stay_as_they_are():
    inverse = choose(shown, known=("return", "k"))
    assert shown(*inverse(shown(250, 4), 4), 4) == shown(250, 4)


def test_tuples_with_floats_are_not_compared_exactly():
    def f(n: Annotated[int, Integers(0, 60)]) -> tuple[float, int]:
        return (n * n % 61 + n % 4) / 10, n % 7 * (n % 5)

    with pytest.raises(NotInvertible):
        invert(f)
