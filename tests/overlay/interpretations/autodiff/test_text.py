"""Text made of active numbers is constant, however it is formatted."""

# ruff: noqa: F507, RUF015, UP031, UP032 (the ways to format are the matter)

import collections
import dataclasses
import io
import logging
import operator
import pprint
import reprlib
import string
import types

import numpy as np
import pytest

from overlay.interpretations.autodiff import derivative, gradient, hessian
from overlay.interpretations.autodiff.reverse.taped import taped

Point = collections.namedtuple("Point", "a b")


@dataclasses.dataclass
class Box:
    a: object


class Named:
    def __init__(self, x):
        self.x = x

    def __getitem__(self, name):
        return self.x


class Shows:
    def __init__(self, x):
        self.x = x

    def __str__(self):
        return "at %.2f" % self.x


def printed(*values):
    into = io.StringIO()
    print(*values, sep="|", end=".", file=into)
    return into.getvalue()


def logged(form, *values):
    into = io.StringIO()
    logger = logging.Logger("of a test")
    logger.addHandler(logging.StreamHandler(into))
    logger.warning(form, *values)
    return into.getvalue()


def in_place(x):
    text = "%.3f"
    text %= x
    return text


WAYS = {
    "%f": lambda x: "%.3f" % x,
    "%s": lambda x: "%s" % x,
    "%r": lambda x: "%r" % x,
    "%a": lambda x: "%a" % x,
    "%d": lambda x: "%d" % x,
    "%tuple": lambda x: "%.3f %s" % (x, x),
    "%*": lambda x: "%*.*f" % (9, 2, x),
    "%dict": lambda x: "%(a).3f" % {"a": x},
    "%defaultdict": lambda x: "%(a).3f" % collections.defaultdict(lambda: x),
    "%mapping": lambda x: "%(a).3f" % Named(x),
    "%% of list": lambda x: "%%(%s)" % [x],
    "%% of number": lambda x: "%%(%f)" % x + "%%(%f)" % 2.0,
    "%namedtuple": lambda x: "%.3f %s" % Point(x, 1),
    "%list": lambda x: "%s" % [x],
    "%lists": lambda x: "%s %s" % ([x], {"a": x}),
    "%object": lambda x: "%s" % Shows(x),
    "%bytes": lambda x: b"%.3f" % x,
    "%bytes of a tuple": lambda x: b"%.3f" % (x,),
    "%bytearray": lambda x: bytearray(b"%.3f") % x,
    "operator.mod": lambda x: operator.mod("%f", x),
    "%=": in_place,
    "__mod__": lambda x: "%f".__mod__(x),
    "str.__mod__": lambda x: str.__mod__("%f", x),
    "map of __mod__": lambda x: [*map("%f".__mod__, [x])][0],
    "format": lambda x: format(x, ".3f"),
    "format without form": lambda x: format(x),
    ".format": lambda x: "{:.3f} {}".format(x, x),
    ".format by name": lambda x: "{a:.3f} {a!r}".format(a=x),
    "format_map": lambda x: "{a:.3f}".format_map({"a": x}),
    "f": lambda x: f"{x}",
    "f with form": lambda x: f"{x:.3f}",
    "f with repr": lambda x: f"{x!r:>9}",
    "f of list": lambda x: f"{[x]}",
    "str": lambda x: str(x),
    "repr": lambda x: repr(x),
    "ascii": lambda x: ascii(x),
    "str of list": lambda x: str([x]),
    "repr of list": lambda x: repr([x]),
    "ascii of list": lambda x: ascii([x]),
    "tuple": lambda x: str((x,)),
    "dict": lambda x: str({"a": x}),
    "namedtuple": lambda x: str(Point(x, 1)),
    "dataclass": lambda x: str(Box(x)),
    "deque": lambda x: str(collections.deque([x])),
    "OrderedDict": lambda x: str(collections.OrderedDict(a=x)),
    "SimpleNamespace": lambda x: str(types.SimpleNamespace(a=x)),
    "nested": lambda x: str([(x, {"a": [x]})]),
    "array": lambda x: str(np.array([x, 1.0])),
    "repr of array": lambda x: repr(np.array([x, 1.0])),
    "f of array": lambda x: f"{np.array([x, 1.0])}",
    "% of array": lambda x: "%s" % np.array([x, 1.0]),
    "array2string": lambda x: np.array2string(np.array([x, 1.0]), precision=2),
    "join": lambda x: ",".join(map(str, [x])),
    "print": lambda x: printed(x),
    "print of list": lambda x: printed([x], {"a": x}),
    "print of many": lambda x: printed(1, 2, 3, 4, 5, 6, 7, x),
    "logging": lambda x: logged("%f", x),
    "logging of two": lambda x: logged("%s %s", x, [x]),
    "logging of dict": lambda x: logged("%(a)f", {"a": x}),
    "pprint": lambda x: pprint.pformat([x, {"a": x}]),
    "reprlib": lambda x: reprlib.repr([x]),
    "Template": lambda x: string.Template("$a").substitute(a=x),
    "error": lambda x: str(ValueError("at", x)),
}  # fmt: skip


def seen(way):
    """A program that uses its text, and the texts that it saw."""
    texts = []

    def program(x):
        y = x + 0.25
        text = way(y)
        texts.append(text)
        return y * y * len(text)

    return program, texts


def of_array(program):
    return lambda v: program(v[0]) + v[1]


V = np.array([3.0, 1.0])
MODES = {
    "forward": (1, lambda f: derivative(f)(3.0)),
    "second order": (2, lambda f: derivative(f, order=2)(3.0)),
    "hessian": (2, lambda f: hessian(of_array(f))(V)[0, 0]),
    "reverse": (1, lambda f: gradient(f, mode="reverse")(3.0)),
    "reverse of an array": (1, lambda f: gradient(of_array(f), mode="reverse")(V)[0]),
    "tape": (1, lambda f: taped(f, [3.0], [0], ()).gradient()[0]),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("way", WAYS)
def test_text_is_that_of_the_plain_value_and_constant(way, mode):
    program, texts = seen(WAYS[way])
    order, taken = MODES[mode]
    found = taken(program)
    plain = {str(WAYS[way](3.25)), str(WAYS[way](np.float64(3.25)))}
    assert {*map(str, texts)} <= plain
    assert texts
    assert found == (6.5, 2.0)[order - 1] * len(texts[-1])


def test_remainders_and_text_meet_in_one_call_site():
    def program(values, x):
        total = x
        for left in values:
            found = left % x
            total = total + (len(found) if isinstance(found, str) else found)
        return total

    assert derivative(lambda x: program([7.5, "%.2f", 7.5], x))(2.0) == 1 - 3 - 3


def test_wrong_forms_raise_the_errors_of_plain_values():
    with pytest.raises(TypeError, match="not all arguments converted"):
        derivative(lambda x: x * len("text" % x))(2.0)
    with pytest.raises(TypeError, match="not enough arguments"):
        derivative(lambda x: x * len("%f %f" % (x,)))(2.0)
