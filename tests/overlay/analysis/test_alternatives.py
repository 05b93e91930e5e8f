"""Places that fail for some of the types of an argument: they are found if each alternative that
reaches them fails there."""

from __future__ import annotations

import itertools
import re
import sys

import pytest

from overlay.analysis import check


def plus(o):
    return o + "a"


def first(o):
    return o[0]


def upper(o):
    return o.uper()


def found_in(xs):
    for x in xs:
        return x
    return None


def plus_of_group(text):
    return plus(re.match("x", text).group(1))


def first_of_found(xs):
    return first(found_in(xs))


def one_step_further(xs):
    return first_of_found([found_in(xs)])


class Left:
    def joined(self, text):
        return "l" + text


class Right:
    def joined(self, text):
        return text


def by_receiver(flag):
    if flag:
        made, given = Left(), "a"
    else:
        made, given = Right(), 1
    return made.joined(given)


class Stops:
    def __add__(self, other):
        raise NotImplementedError


def operator_that_raises(flag):
    value = Stops() if flag else 1
    return value + "a"


def branches(o):
    if isinstance(o, int):
        return o.bit_lenght()
    return o


def either(flag, function):
    return function(1 if flag else "a")


@pytest.mark.parametrize(
    ("function", "types"),
    [
        (plus_of_group, (str,)),
        (first_of_found, (list[str],)),
        (one_step_further, (list[str],)),
        (by_receiver, (bool,)),
        (operator_that_raises, (bool,)),
    ],
)
def test_nothing_is_found_where_an_alternative_succeeds(function, types):
    assert check(function, *types) == ()


def test_what_fails_for_each_alternative_is_found():
    one, other = check(lambda flag: either(flag, upper), bool)
    assert one.where == other.where
    for found, cls in zip((one, other), ("int", "str"), strict=True):
        assert found.message == f"an object of class {cls} has no attribute 'uper'"
        assert len(found.path) == 2


def test_alternatives_that_do_not_reach_a_place_do_not_count():
    (finding,) = check(lambda flag: either(flag, branches), bool)
    assert finding.candidates[0] == "bit_length"


def test_an_alternative_of_a_class_is_one_too():
    class Held:
        def __init__(self, value):
            self.value = value + "a"

    assert check(Held, int | str) == ()
    assert {finding.kind for finding in check(Held, int | float)} == {"call"}


# ---- handlers that raise ------------------------------------------------------------------


class Other(Exception):
    pass


def translated():
    try:
        return sys.not_there
    except AttributeError:
        raise Other("x") from None


def translated_in_a_loop(names):
    for _ in names:
        try:
            return sys.not_there
        except AttributeError as error:
            raise Other from error
    return None


def raised_again():
    try:
        return sys.not_there
    except AttributeError:
        print("seen")
        raise


def another_is_translated():
    try:
        return sys.not_there
    except KeyError:
        raise Other from None


def finally_closed(file):
    try:
        return sys.not_there
    finally:
        file.close()


def test_an_error_that_a_handler_translates_is_none():
    assert check(translated) == check(translated_in_a_loop, list[int]) == ()


@pytest.mark.parametrize("function", [raised_again, another_is_translated, finally_closed])
def test_an_error_that_leaves_its_handlers_is_found(function):
    arguments = [object] * function.__code__.co_argcount
    assert [finding.kind for finding in check(function, *arguments)] == ["attribute"]


# ---- formats ------------------------------------------------------------------------------

_WIDTHS = ("", "5", "*", "05", "0*", "-*", "-5", "#*", " 5", "+*")
_PRECISIONS = ("", ".2", ".*", ".")
_VALUES = {"d": (1, "a"), "f": (1.5, "a"), "s": ("a", 1), "r": ("a", 1), "x": (1, "a")}


@pytest.mark.parametrize("parts", [*itertools.product(_WIDTHS, _PRECISIONS)], ids="".join)
def test_formats_are_read_as_python_reads_them(parts):
    for letter, alternatives in _VALUES.items():
        text = f"<%{''.join(parts)}{letter}>%%"
        widths = (3,) * text.count("*")
        for values in (*((*widths, value) for value in alternatives), (*widths, 1, 2)):
            fails = False
            try:
                text % values
            except TypeError:
                fails = True
            shown = eval(f"lambda: {text!r} % {values!r}")  # a constant, as programs have it
            found = check(shown)
            assert not found or fails, (text, values)
            assert found or not fails or widths, (text, values)
