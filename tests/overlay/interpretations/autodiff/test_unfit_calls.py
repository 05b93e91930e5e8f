"""Functions in C that take active values for other objects are refused by name."""

import array
import datetime
import decimal
import json
import pickle
import struct

import pytest

from overlay.interpretations.autodiff import NotDifferentiable, derivative, gradient, inactive

CALLS = {
    "decimal.Decimal": lambda x: decimal.Decimal(x),
    "struct.pack": lambda x: struct.pack("d", x + 1.0),
    "datetime.timedelta": lambda x: datetime.timedelta(seconds=x),
    "_iterencode": lambda x: json.dumps(x),
    "_iterencode of a dict": lambda x: json.dumps({"a": [x]}),
    "pickle": lambda x: pickle.dumps([x]),
    "takes a float": lambda x: array.array("d", [x]),
    "range": lambda x: range(x),
}
TAKEN = {
    "forward": lambda f: derivative(f)(2.0),
    "second order": lambda f: derivative(f, order=2)(2.0),
    "reverse": lambda f: gradient(f, mode="reverse")(2.0),
}


@pytest.mark.parametrize("taken", TAKEN)
@pytest.mark.parametrize("name", CALLS)
def test_a_function_that_tests_types_itself_is_refused(name, taken):
    call = CALLS[name]

    def program(x):
        call(x * 2)
        return x * x

    with pytest.raises(NotDifferentiable, match=name.split(" of ")[0]) as caught:
        TAKEN[taken](program)
    assert "inactive" in str(caught.value)
    assert ":" in str(caught.value.where)


def test_the_error_of_the_function_is_the_cause():
    with pytest.raises(NotDifferentiable, match=r"decimal\.Decimal.*ValueError") as caught:
        derivative(lambda x: x * float(decimal.Decimal(x)))(2.0)
    assert type(caught.value.__cause__) is ValueError
    assert derivative(lambda x: x * float(inactive(decimal.Decimal)(x)))(2.0) == 2.0


@pytest.mark.parametrize(
    ("program", "error"),
    [
        (lambda x: [1.0].index(x), ValueError),
        (lambda x: x + "text", TypeError),
        (lambda x: [*x], TypeError),
        (lambda x: len(x), TypeError),
        (lambda x: x[0], TypeError),
        (lambda x: int(str(x * 1.5) + "a"), ValueError),
        (lambda x: x * int("a"), ValueError),
    ],
)
def test_errors_of_the_program_are_its_own(program, error):
    with pytest.raises(error):
        program(2.0)
    with pytest.raises(error):
        derivative(program)(2.0)


def test_errors_that_a_program_raises_are_its_own():
    def program(x):
        raise ValueError(x)

    with pytest.raises(ValueError, match=r"2\.0"):
        derivative(program)(2.0)
