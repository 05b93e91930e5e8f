"""Case of strings, numbers as text, characters, and comparisons of strings."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from primitives.domains import Integers, Strings, Text
from primitives.errors import NoSolution
from primitives.integers.integer_kinds import Natural
from primitives.relation import Relation, parametric, relation

__all__ = ["TEXTS"]

# ---- upper and lower case -----------------------------------------------------------------

Case = Callable[[str], str]

# for each function of a character: the preimages of each result, except unchanged characters
_images: dict[str, dict[str, list[str]]] = {}


def images_of(name: str, case: Case) -> dict[str, list[str]]:
    """The characters that a function changes, by their image."""
    if name not in _images:
        found: dict[str, list[str]] = {}
        for one in map(chr, range(0x110000)):
            if case(one) != one:
                found.setdefault(case(one), []).append(one)
        if case("Σ") == "\u03c3":  # at the end of a word its image is another letter
            found["ς"] = [*found.get("ς", []), "Σ"]
        _images[name] = found
    return _images[name]


def letters_before(ret: str, at: int, name: str, case: Case) -> list[tuple[str, int]]:
    """The characters that may have become the next ones of ``ret``, each with the number of these;
    the unchanged character first.
    """
    images, one = images_of(name, case), ret[at]
    found = [(one, 1)] if case(one) == one else []
    for width in (1, 2, 3):
        found += [(letter, width) for letter in images.get(ret[at : at + width], [])]
    return [(letter, width) for letter, width in found if at + width <= len(ret)]


def open_places(ret: str, name: str, case: Case) -> list[bool]:
    """For each position in ``ret``, and its end: whether the rest is the image of some string."""
    found = [True] * (len(ret) + 1)
    for at in range(len(ret) - 1, -1, -1):
        found[at] = any(found[at + n] for _, n in letters_before(ret, at, name, case))
    return found


def uncased(ret: str, choice: int, name: str, case: Case) -> str:
    """A string that a case function maps to ``ret``. Its letters are the digits of ``choice``, the
    first the lowest, in mixed bases: the numbers of possible letters.
    """
    leads, at = open_places(ret, name, case), 0
    if not leads[0]:
        raise NoSolution("the function never returns letters in this case")
    letters: list[str] = []
    plain: list[str] = []
    while at < len(ret):
        before = letters_before(ret, at, name, case)
        before = [(letter, n) for letter, n in before if leads[at + n]]
        choice, digit = divmod(choice, len(before))
        letter, width = before[digit]
        letters.append(letter)
        plain.append(ret[at : at + width] if letter == "Σ" else letter)
        at += width
    for answer in ("".join(letters), "".join(plain)):
        if case(answer) == ret:
            return answer
    raise NoSolution("the function never returns this letter here")


def cased(ret: str, a: str, name: str, case: Case) -> int:
    """The choice for which ``uncased`` answers a."""
    leads, at, digits = open_places(ret, name, case), 0, list[tuple[int, int]]()
    for letter in a:
        before = letters_before(ret, at, name, case)
        before = [(one, n) for one, n in before if leads[at + n]]
        digit = [one for one, _ in before].index(letter)
        digits.append((digit, len(before)))
        at += before[digit][1]
    choice = 0
    for digit, base in reversed(digits):
        choice = choice * base + digit
    return choice


IN_CASE = "choice has a digit for each letter, 0 for the letter of the result"

upper = relation(
    str.upper,
    str,
    "return = upper(a)",
    edges=IN_CASE,
    ret=lambda a: a.upper(),
    a=parametric(
        lambda ret, choice: uncased(ret, choice, "upper", str.upper),
        choice=Natural,
        recover=lambda ret, a: (cased(ret, a, "upper", str.upper),),
    ),
)
lower = relation(
    str.lower,
    str,
    "return = lower(a)",
    edges=IN_CASE,
    ret=lambda a: a.lower(),
    a=parametric(
        lambda ret, choice: uncased(ret, choice, "lower", str.lower),
        choice=Natural,
        recover=lambda ret, a: (cased(ret, a, "lower", str.lower),),
    ),
)
swapcase = relation(
    str.swapcase, str, "return = swapcase(a)", edges=IN_CASE,
    ret=lambda a: a.swapcase(),
    a=parametric(
        lambda ret, choice: uncased(ret, choice, "swapcase", str.swapcase), choice=Natural,
        recover=lambda ret, a: (cased(ret, a, "swapcase", str.swapcase),),
    ),
)  # fmt: skip

# ---- numbers as text ------------------------------------------------------------------------


def number_in(ret: str, kind: Callable[[str], Any]) -> Any:
    """The number with this standard text."""
    found = kind(ret)
    if str(found) != ret:
        raise NoSolution("no number of the type is written like this")
    return found


def is_written(near: str, ret: Any, kind: Callable[[str], Any]) -> bool:
    """Return whether a string is a text of a number."""
    try:
        return str(kind(near)) == str(ret)
    except ValueError:
        return False


def digits_of(ret: int, near: str) -> str:
    """``near`` if it is a text of ``ret``; otherwise its digits, zero-padded to the same length."""
    return near if is_written(near, ret, int) else str(ret).zfill(len(near))


def decimals_of(ret: float, near: str) -> str:
    """``near`` if it is a text of ``ret``; otherwise the text that Python writes, zero-padded."""
    return near if is_written(near, ret, float) else repr(ret).zfill(len(near))


def truth_in(ret: str) -> bool:
    """The truth value with this text."""
    if ret not in ("False", "True"):
        raise NoSolution("a truth value is written False or True")
    return ret == "True"


str_of_int = relation(
    str,
    int,
    "return = str(a)",
    returns=str,
    codomain=Strings("0123456789-", 1),
    ret=lambda a: str(a),
    a=lambda ret: number_in(ret, int),
)
str_of_float = relation(
    str,
    float,
    "return = str(a)",
    returns=str,
    codomain=Strings("0123456789.e+-", 3),
    ret=lambda a: str(a),
    a=lambda ret: number_in(ret, float),
)
str_of_bool = relation(
    str,
    bool,
    "return = str(a)",
    returns=str,
    ret=lambda a: str(bool(a)),
    a=truth_in,
)
str_of_str = relation(
    str,
    str,
    "return = str(a)",
    ret=lambda a: a,
    a=lambda ret: ret,
)
int_of_str = relation(
    int,
    str,
    "return = int(a)",
    returns=int,
    ret=lambda a: int(a),
    a=parametric(digits_of, near=Text, recover=lambda a: (a,)),
    edges="leading zeros, if near is longer",
)
float_of_str = relation(
    float, str, "return = float(a)", returns=float,
    ret=lambda a: float(a),
    a=parametric(decimals_of, near=Text, recover=lambda a: (a,)),
    edges="leading zeros, if near is longer",
)  # fmt: skip

# ---- characters -----------------------------------------------------------------------------

Point = Integers(0, 0x10FFFF)


def point_of(a: str) -> int:
    """The code point of a character."""
    if len(a) != 1:
        raise NoSolution("only one character has a code point")
    return ord(a)


def character_of(a: int) -> str:
    """The character of a code point."""
    if not 0 <= a <= 0x10FFFF:
        raise NoSolution("code points go from 0 to 0x10FFFF")
    return chr(a)


ord_ = relation(
    ord,
    str,
    "return = ord(a)",
    returns=int,
    codomain=Point,
    ret=lambda a: point_of(a),
    a=lambda ret: character_of(ret),
)
chr_ = relation(
    chr, int, "return = chr(a)", returns=str, domain=Point, codomain=Strings("", 1, 1),
    ret=lambda a: character_of(a),
    a=lambda ret: point_of(ret),
)  # fmt: skip

# ---- comparisons ----------------------------------------------------------------------------


def other_than(a: str, near: str) -> str:
    """``near``, extended if it equals a."""
    return near + "x" if near == a else near


def equal_or_not(ret: bool, a: str, near: str) -> str:
    """A string that is equal to a, or is not."""
    return a if ret else other_than(a, near)


def with_start(ret: bool, b: str, near: str) -> str:
    """A string that begins with b, or does not."""
    if near.startswith(b) == ret:
        return near
    if not b:
        raise NoSolution("every string begins with the empty string")
    return b + near if ret else ""


def start_of(ret: bool, a: str, near: str) -> str:
    """A prefix of a, or a string that is not one."""
    if a.startswith(near) == ret:
        return near
    if not ret:
        return a + near + "x"
    return next(near[:n] for n in range(len(near), -1, -1) if a.startswith(near[:n]))


def with_end(ret: bool, b: str, near: str) -> str:
    """A string that ends with b, or does not."""
    if near.endswith(b) == ret:
        return near
    if not b:
        raise NoSolution("every string ends with the empty string")
    return near + b if ret else ""


def end_of(ret: bool, a: str, near: str) -> str:
    """A suffix of a, or a string that is not one."""
    if a.endswith(near) == ret:
        return near
    if not ret:
        return "x" + near + a
    return next(near[n:] for n in range(len(near) + 1) if a.endswith(near[n:]))


def holding(ret: bool, b: str, near: str) -> str:
    """A string that contains b, or does not."""
    if (b in near) == ret:
        return near
    if not b:
        raise NoSolution("every string contains the empty string")
    return near + b if ret else ""


def held(ret: bool, a: str, near: str) -> str:
    """A substring of a, or a string that is not one."""
    if (near in a) == ret:
        return near
    if not ret:
        return a + near + "x"
    return next(near[:n] for n in range(len(near), -1, -1) if near[:n] in a)


def comparison(
    target: Any, equation: str, forward: Any, whole: Callable[..., str], part: Callable[..., str]
) -> Relation:
    """The relation of a condition between two strings.

    whole, part: compute the first and the second string from the condition, the other string, and a
    string to which the result should be close.
    """

    def pair(ret: bool, near: str, v: str) -> tuple[str, str]:
        first = whole(ret, v, near) if ret or v else near
        return first, part(ret, first, v)

    return relation(
        target, str, str, equation, returns=bool, low_information=True,
        ret=forward,
        a=parametric(lambda ret, b, near: whole(ret, b, near), near=Text, recover=lambda a: (a,)),
        b=parametric(lambda ret, a, near: part(ret, a, near), near=Text, recover=lambda b: (b,)),
        ab=parametric(pair, near=Text, v=Text, recover=lambda a, b: (a, b)),
        edges="near, if that is a solution",
    )  # fmt: skip


EQUAL = "return = a == b", "return = a != b"
eq = comparison(operator.eq, EQUAL[0], lambda a, b: a == b, equal_or_not, equal_or_not)
ne = comparison(
    operator.ne,
    EQUAL[1],
    lambda a, b: a != b,
    lambda ret, b, near: equal_or_not(not ret, b, near),
    lambda ret, a, near: equal_or_not(not ret, a, near),
)
begins = comparison(
    str.startswith, "return = startswith(a, b)", lambda a, b: a.startswith(b), with_start, start_of
)
ends = comparison(
    str.endswith, "return = endswith(a, b)", lambda a, b: a.endswith(b), with_end, end_of
)
contains = comparison(
    operator.contains, "return = contains(a, b)", lambda a, b: b in a, holding, held
)  # fmt: skip

TEXTS: tuple[Relation, ...] = (
    upper, lower, swapcase,
    str_of_int, str_of_float, str_of_bool, str_of_str, int_of_str, float_of_str,
    ord_, chr_, eq, ne, begins, ends, contains,
)  # fmt: skip
