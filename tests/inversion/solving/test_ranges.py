"""State that is equal in each iteration: rates are searched for, and the end of a range is counted
to.
"""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inversion import NoSolution, choose, invert
from tests.examples import examples

F = float


def owed(debt, rate, payment, months):
    for _ in range(months):
        debt = debt * (1 + rate) - payment
    return debt


def grown(x, turns):
    for i in range(turns):
        x = x * 1.05 + i
    return x


def downwards(x, stop):
    for i in range(10, stop, -3):
        x = x * 1.05 + i
    return x


def periodic(turns):
    x = 1
    for _ in range(turns):
        x = (x * 5 + 1) % 16
    return x


LOAN = (2000.0, 0.01, 100.0, 24)


@pytest.mark.parametrize("axis", ["debt", "rate", "payment", "months"])
def test_each_figure_of_a_loan_follows_from_the_others(axis):
    names = ("debt", "rate", "payment", "months")
    known = tuple(name for name in names if name != axis)
    inverse = choose(owed, F, F, F, int, known=("return", *known))
    values = [LOAN[names.index(name)] for name in known]
    theta = inverse.recover(*LOAN)
    (found,) = inverse(owed(*LOAN), *values, *([theta] if theta else []))
    assert found == pytest.approx(LOAN[names.index(axis)])


@pytest.mark.parametrize("f", [grown, downwards])
@settings(max_examples=examples(40))
@given(x=st.floats(1, 9), end=st.integers(-20, 30))
def test_every_end_of_a_range_is_found_again(f, x, end):
    inverse = choose(f, F, int, known=("return", "x"))
    assert inverse.recover(x, end)[0] == len(range(end) if f is grown else range(10, end, -3))
    assert inverse(f(x, end), x, inverse.recover(x, end)) == (end,)


def test_of_several_numbers_of_turns_the_one_closest_to_the_choice_is_taken():
    inverse = invert(periodic, int)
    assert inverse.parameters.names == ("trips", "beyond")
    assert [inverse(periodic(21), (t, 0)) for t in (0, 9, 21, 30)] == [(5,), (5,), (21,), (37,)]
    assert inverse(1, (0, 4)) == (-4,)
    with pytest.raises(NoSolution, match="no number of iterations"):
        inverse(17, (0, 0))


def test_compiled_inverses_answer_alike():
    inverse = choose(grown, F, int, known=("return", "x"))
    fast = inverse.compile()
    for end in (-3, 0, 7):
        given = grown(2.5, end), 2.5, inverse.recover(2.5, end)
        assert fast(*given) == inverse(*given) == (end,)


def test_a_range_is_chosen_first_where_the_state_is_unknown_too():
    inverse = invert(grown, F, int)
    assert inverse.parameters.names == ("turns",)
    x, turns = inverse(40.0, (12,))
    assert turns == 12
    assert grown(x, 12) == pytest.approx(40.0)


@pytest.mark.parametrize(
    "names", [("best", "turn", "pool"), ("turn", "best", "trips"), ("trips", "beyond", "x_chosen"),
              ("again", "trips", "turn")],
)  # fmt: skip
def test_variables_may_be_called_like_what_the_inverse_counts_with(tmp_path, names):
    text = """
def doubled(A: float, B: int):
    C = 0.0
    for _ in range(B):
        C = C * 2 + A
    return C, A

def cubed(A: float, B: int):
    C = A
    for i in range(5):
        C = C**3 + C + i if C > 0 else C - i * A
    return C, A

def halved(B: int):
    C = 0
    while B > 3:
        B = B // 2
        C += 1
    return B, C
"""
    for letter, name in zip("ABC", names, strict=True):
        text = re.sub(rf"\b{letter}\b", name, text)
    file = tmp_path / "named.py"
    file.write_text(text)
    namespace: dict = {}
    exec(compile(text, str(file), "exec"), namespace)
    for name, args in (("doubled", (1.5, 4)), ("cubed", (0.7, 2)), ("halved", (37,))):
        f = namespace[name]
        inverse = invert(f)
        theta = inverse.recover(*args)
        assert inverse(f(*args), *((theta,) if theta else ())) == pytest.approx(args)
