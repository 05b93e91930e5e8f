"""Bad input of each kind is named, with its line and a remedy."""

import math
import random
import time

import numpy as np
import pytest
import typeguard

from inversion import NoSolution, NotInvertible, OutsideDomain, WrongArguments, choose, invert
from overlay import MethodTable, OverlayError
from overlay.interpretations.intervals import Interval as Box
from primitives import Positive, Reals, Shape

F = float
Z = np.zeros


def catching(x):
    try:
        return 1 / x
    except ZeroDivisionError:
        return 0.0


def managed(x):
    with open("file") as file:
        return x * file.fileno()


def changed(x):
    x[0] = 1.0
    return x


def undefined(x):
    return unknown_function(x)  # noqa: F821


def read_by_variable(x, i):
    return x[i]


def with_class(x):
    class Inner:
        pass

    return x


def with_global(x):
    global assigned
    assigned = x
    return x


STATEMENTS = {
    "try": (catching, (F,), "try, an exception that is caught"),
    "with": (managed, (F,), r"a call of _io\.open"),
    "a set": (lambda x: {x}, (F,), "a set"),
    "a string": (lambda x: str(x).splitlines(), (F,), r"str\.splitlines\(str\)"),
    "a format": (lambda x: f"{x:n}", (F,), r"format\(float, str\)"),
    "a class statement": (with_class, (F,), "a class statement"),
    "a global": (with_global, (F,), "assignment to a global"),
    "a name that is not defined": (undefined, (F,), "unknown_function, which is not defined"),
    "output": (lambda x: print(x), (F,), r"print\(float\)"),
    "assignment to an element": (changed, (Z(3),), "a write to x, which the function did not make"),
    "a mask": (lambda x: x[x > 0], (Z(3),), r"getitem\(float64\[3\], bool\[3\]\)"),
    "an index that varies": (read_by_variable, (Z(3), int), r"getitem\(float64\[3\], int\)"),
    "a function without relation": (lambda x: np.linalg.eigvals(x), (Z((2, 2)),), "eigvals"),
    "shapes that do not fit": (lambda x, y: x + y, (Z(3), Z(2)), "broadcast|shape"),
}


@pytest.mark.parametrize("function", [with_class, with_global])
def test_a_statement_that_is_not_read_is_named_with_its_own_line_and_no_instruction(function):
    with pytest.raises(NotInvertible, match="is not supported") as caught:
        invert(function, F)
    line = function.__code__.co_firstlineno
    assert int(caught.value.where.rpartition(":")[2]) > line
    assert "opcode" not in str(caught.value)


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_that_cannot_be_solved_is_named_with_its_line(name):
    f, types, message = STATEMENTS[name]
    with pytest.raises(NotInvertible, match=message) as caught:
        invert(f, *types)
    assert "test_bad_input.py:" in caught.value.where
    assert caught.value.help
    assert ("import it" in caught.value.help) == (f is undefined)


TYPES = {
    "no function": (5, (F,), "cannot invert 5: it is not callable"),
    "a string for a function": ("sin", (F,), "cannot invert 'sin': it is not callable"),
    "too many types": (lambda x: x, (F, F), "2 types were given"),
    "no type": (lambda x: x, (), "type of x"),
    "a string": (lambda x: x, ("float",), "not supported: 'float'"),
    "None": (lambda x: x, (None,), "not supported: None"),
    "a tuple of any length": (lambda x: x[0], (tuple[float, ...],), "not supported"),
    "a dict": (lambda x: x, (dict[str, float],), "not supported"),
    "narrow floats": (lambda x: x, (np.zeros(3, np.float32),), "arrays of float32"),
    "an array of strings": (lambda x: x, (np.array(["a"]),), "arrays of <U1"),
    "an empty array": (lambda x: x, (Z(0),), "no elements"),
    "any argument": (lambda *xs: xs[0], (F,), "any number of arguments"),
    "any argument, and no type": (lambda *xs: xs[0], (), "any number of arguments"),
    "more arguments": (lambda x, *more: x, (F,), "any number of arguments"),
    "any keyword": (lambda x, **more: x, (), "any number of arguments"),
}


@pytest.mark.parametrize("name", TYPES)
def test_a_type_that_cannot_be_is_named(name):
    f, types, message = TYPES[name]
    with typeguard.suppress_type_checks(), pytest.raises(OverlayError, match=message) as caught:
        invert(f, *types)
    assert "test_bad_input.py:" in caught.value.where
    assert caught.value.help


line = invert(lambda x, y: 2 * x + y, F, F)
product = choose(lambda x, y: x * y, F, F, known=("return", "x"))
whole = invert(lambda x: np.exp(x) * 2, Z(3))
bounded = invert(lambda x: x * 2, F, domain={"x": Reals(0, 1)})

CALLS = {
    "NaN": (lambda: line(math.nan, (1.0,)), NoSolution, "nan"),
    "an infinite value": (lambda: line(math.inf, (1.0,)), NoSolution, "inf"),
    "a value that is too large": (lambda: line(10**400, (1.0,)), NoSolution, "too large"),
    "NaN in θ": (lambda: line(1.0, (math.nan,)), OutsideDomain, "x|y"),
    "an infinite coordinate": (lambda: line(1.0, (math.inf,)), OutsideDomain, "outside Real"),
    "too long a θ": (lambda: line(1.0, (1.0, 2.0)), WrongArguments, r"1 coordinate \(x\); 2 were"),
    "θ that is no value": (lambda: line(1.0, object()), OutsideDomain, "θ"),
    "θ twice": (lambda: line(1.0, (1.0,), x=1.0), WrongArguments, "twice"),
    "a name that does not exist": (lambda: line(1.0, xx=1.0), WrongArguments, "closest: x"),
    "a θ with such a name": (lambda: line(1.0, {"xx": 1.0}), WrongArguments, "closest: x"),
    "a string for a float": (lambda: line("1", (1.0,)), WrongArguments, "'1'"),
    "a string in θ": (lambda: line(1.0, ("1",)), OverlayError, "1"),
    "too few known values": (lambda: product(1.0), WrongArguments, "takes return, x"),
    "a tuple for a number": (lambda: line((1.0, 2.0), (1.0,)), WrongArguments, "return"),
    "NaN in an array": (lambda: whole(np.array([1.0, math.nan, 1.0])), NoSolution, "1"),
    "another shape": (lambda: whole(Z(4)), WrongArguments, r"shape"),
    "an empty array": (lambda: whole(Z(0)), WrongArguments, r"shape"),
    "an element without solution": (lambda: whole(np.array([1.0, -1.0, 1.0])), NoSolution, "1"),
    "an answer outside its domain": (lambda: bounded(3.0), NoSolution, "outside Reals"),
    "recover with too few": (lambda: line.recover(1.0), WrongArguments, "2 inputs"),
    "batches that do not fit": (lambda: product.batch(Z(3), Z(2), theta=(0.0,)),
                                WrongArguments, "broadcast|shape"),
    "a batch with a name that does not exist": (lambda: line.batch(Z(3), theta={"q": Z(3)}),
                                                WrongArguments, "no coordinate 'q'"),
    "a batch without known values": (lambda: line.batch(), WrongArguments, "theta"),
    "an axis that does not exist": (lambda: choose(math.sin, F, known=("z",)),
                                    WrongArguments, "no axis 'z'"),
    "a domain of what does not exist": (lambda: invert(math.sin, F, domain={"z": Positive}),
                                        WrongArguments, "no axis 'z'"),
    "an axis that is known twice": (lambda: choose(math.sin, F, known=("x", "x")),
                                    WrongArguments, "twice"),
    "a pair of bounds for all domains": (lambda: invert(math.sin, F, domain=(0, 1)), WrongArguments,
                                         r"write domain={'x': primitives.Reals\(0, 1\)}"),
    "an interval for all domains": (lambda: invert(math.sin, F, domain=Reals(0, 1)),
                                    WrongArguments, r"domain={'x': Reals\(0.0, 1.0\)}"),
    "a pair of bounds for a domain": (lambda: invert(math.sin, F, domain={"x": (0, 1)}),
                                      WrongArguments, r"such as primitives.Reals\(0, 1\)"),
    "an interval without samples": (lambda: invert(math.sin, F, domain={"x": Box(0, 1)}),
                                    WrongArguments, r"such as primitives.Reals\(0.0, 1.0\)"),
    "a misspelt axis": (lambda: choose(math.sin, F, known=("retrun",)), WrongArguments,
                        "closest: return"),
    "a table for a context": (lambda: invert(math.sin, F, context=MethodTable("units")),
                              WrongArguments, "context is not a Context"),
    "an array for a number": (lambda: line(Z(2), (1.0,)), WrongArguments, r"inv.batch\(array\)"),
    "a batch with θ by position": (lambda: line.batch(Z(3), Z(3)), WrongArguments,
                                   r"θ \(x\) as theta=; 2 arrays were given"),
    "a guess without a value for each": (lambda: line.nearest(1.0, 2.0), WrongArguments,
                                         "one value for each of x, y"),
    "an empty domain": (lambda: Reals(1, 0), OverlayError, "empty"),
    "an empty shape": (lambda: Shape(0), OverlayError, "0"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_call_that_cannot_be_answered_says_why(name):
    call, error, message = CALLS[name]
    with typeguard.suppress_type_checks(), pytest.raises(error, match=message) as caught:
        call()
    assert caught.value.help or isinstance(caught.value, (NoSolution, OutsideDomain))


GENERATOR = np.random.default_rng(0)


@pytest.mark.parametrize(
    "drawn",
    [
        random.random,
        lambda: random.gauss(0, 1),
        lambda: random.choice([1.0, 2.0]),
        random.Random(3).random,
        np.random.rand,
        lambda: np.random.normal(0.0, 1.0, 3)[0],
        np.random.default_rng(0).normal,
        lambda: np.random.Generator.normal(GENERATOR),
        time.time,
        lambda: time.perf_counter_ns() * 1e-9,
    ],
)
def test_a_function_of_chance_is_refused_by_name(drawn):
    with pytest.raises(NotInvertible) as refused:
        invert(lambda x: x + drawn(), F)
    assert "returns a different result at each call" in str(refused.value)
    assert "as an argument" in refused.value.help


def test_an_argument_that_is_none_by_default_takes_its_way():
    def scaled(x, factor=None):
        if factor is None:
            return x * 3
        return x * factor

    assert invert(scaled, F)(6.0) == (2.0,)
    assert choose(scaled, F, F, known=("return", "factor"))(6.0, 2.0, (0.0,)) == (3.0,)
