"""A program that tests the class or the capabilities of a value gets the answer for the plain
value, in every interpretation, or is refused by name.
"""

import numpy as np
import pytest

from inversion import NotInvertible, invert
from overlay import Context
from overlay.interpretations.autodiff import NotDifferentiable, derivative, gradient
from overlay.interpretations.intervals import Interval, Undecided, enclose
from overlay.interpretations.precision import significance
from overlay.interpretations.tagging import Tagging
from tests.laws.asking import PROGRAMS


def in_a_context(f):
    return Context().wrap(f)(2.0) / 2.0


def rate(f):
    return derivative(f)(2.0)


def second_rate(f):
    return derivative(derivative(lambda x: f(x) * x))(2.0) / 2.0


def rate_of_numpys(f):
    return derivative(f)(np.float64(2.0))


def rate_backwards(f):
    return gradient(lambda x, y: f(x) + 0.0 * y, mode="reverse")(2.0, 1.0)[0]


def enclosed(f):
    found = enclose(f, Interval(2.0, 3.0))
    return found.low / 2.0 if found.low / 2.0 == found.high / 3.0 else found


def tagged(f):
    unit = Tagging()
    found = unit(f, unit.tag(2.0, "metre"))
    assert unit.metadata(found) == "metre"
    return found / 2.0


def rounded(f):
    return significance(f, 2.0).value / 2.0


def inverted(f):
    return 18.0 / invert(f, float)(18.0)[0]


WAYS = (in_a_context, rate, second_rate, rate_of_numpys, enclosed, tagged, rounded)
# these are made of code, which says by name what it does that they do not know
MADE_OF_CODE = ((rate_backwards, NotDifferentiable), (inverted, NotInvertible))
STANDING_FOR_A_FLOAT = {
    rate: NotDifferentiable,
    second_rate: NotDifferentiable,
    rate_of_numpys: NotDifferentiable,
    enclosed: Undecided,
}
REFUSED = {"by_getattr": r"float\.hex", "by_hash": "hash"}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_what_it_asks_is_answered_as_for_the_plain_value(program, way):
    assert program(2.0) == 18.0
    name = program.__name__
    if way in STANDING_FOR_A_FLOAT and name in REFUSED:
        with pytest.raises(STANDING_FOR_A_FLOAT[way], match=REFUSED[name]):
            way(program)
    elif way in STANDING_FOR_A_FLOAT and name == "by_sequence_pattern":
        # the interpreter takes a value of several parts for a sequence, and asks for its length
        with pytest.raises(TypeError, match="no length"):
            way(program)
    else:
        assert way(program) == 9.0


@pytest.mark.parametrize(("way", "refusal"), MADE_OF_CODE)
@pytest.mark.parametrize("program", PROGRAMS)
def test_made_of_code_it_is_right_or_refused(program, way, refusal):
    try:
        found = way(program)
    except refusal as error:
        found, where = 9.0, str(error)
        assert ".py:" in where
    except TypeError as error:
        assert program.__name__ == "by_sequence_pattern"
        found = 9.0 if "no length" in str(error) else None
    assert found == 9.0
