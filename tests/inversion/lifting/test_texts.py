"""Programs that format, split, concatenate and iterate over strings and bytes."""

import base64
import itertools
import math
import struct
from typing import Annotated

import pytest

from inversion import NoSolution, WrongArguments, choose, invert
from primitives import Integers
from primitives.domains import Strings
from primitives.sequences.formats import Format

Byte = Annotated[int, Integers(0, 255)]


def colour(r: Byte, g: Byte, b: Byte):
    return f"#{r:02x}{g:02x}{b:02x}"


def colour_as_in_c(r: Byte, g: Byte, b: Byte):
    return "#%02x%02X%02x" % (r, g, b)  # noqa: UP031


def clock(hours: Annotated[int, Integers(0, 23)], minutes: int, seconds: float):
    return f"{hours:02d}:{minutes:02d}:{seconds:06.3f}"


def shown(x: float, n: int):
    return f"{x!r:>8}|{n:,}"


def hexadecimal(n: int):
    return hex(n)


def padded(n: int):
    return str(n).zfill(5)


def stripped(text: str):
    return text.strip().title()


def caesar(text: str):
    return "".join(chr((ord(c) - 97 + 3) % 26 + 97) for c in text)


def by_table(text: str):
    return "".join({"A": "T", "T": "A", "C": "G", "G": "C"}[c] for c in reversed(text))


def digits(text: str):
    return sum(int(c) * (3 if i % 2 else 1) for i, c in enumerate(text))


def bits(data: bytes):
    return "".join(f"{octet:08b}" for octet in data)


def quartets(data: bytes):
    return [half for octet in data for half in (octet >> 4, octet & 15)]


def as_base64(data: bytes):
    return base64.b64encode(data).decode("ascii")


def reversed_hex(data: bytes):
    return data[::-1].hex()


def packed(a: Annotated[int, Integers(0, 0xFFFF)], b: Annotated[int, Integers(-128, 127)]):
    return struct.pack("<Hxb", a, b)


def unpacked(data: bytes):
    kind, length = struct.unpack(">BH", data)
    return kind * 2, length + 1


def labels(name: str):
    wire = b""
    for label in name.split("."):
        raw = label.encode("ascii")
        wire += bytes([len(raw)]) + raw
    return wire + b"\0"


def doubled(items: list[int]):
    return [2 * item for item in items]


CASES = [
    (colour, (30, 144, 255)), (colour_as_in_c, (30, 144, 255)), (clock, (7, 5, 1.25)),
    (shown, (1.5, -12000)), (hexadecimal, (48879,)), (padded, (12,)), (stripped, (" Ab ",)),
    (caesar, ("xyzzy",)), (by_table, ("GATTACA",)), (digits, ("4711",)), (bits, (b"ok",)),
    (quartets, (b"\x12\xef",)), (as_base64, (b"light w",)), (reversed_hex, (b"\x01\x02\xff",)),
    (packed, (4660, -2)), (unpacked, (b"\x01\x02\x03",)), (labels, ("www.example",)),
    (doubled, ([1, 2, 3],)),
]  # fmt: skip


@pytest.mark.parametrize(("f", "args"), CASES, ids=lambda value: getattr(value, "__name__", ""))
def test_a_program_of_texts_is_inverted(f, args):
    inverse = invert(f)
    result = f(*args)
    assert f(*inverse(result)) == result
    theta = inverse.recover(*args)
    found = inverse(result, theta) if len(inverse.parameters) else inverse(result)
    assert all(
        math.isclose(a, b) if isinstance(b, float) else a == b
        for a, b in zip(found, args, strict=True)
    )


def test_formats_with_known_widths_leave_no_choice():
    assert invert(colour)("#1e90ff") == (30, 144, 255)
    assert not len(invert(colour).parameters)


def test_a_number_is_any_that_prints_so():
    inverse = invert(lambda x: f"{x:.1f} m", float)
    assert inverse("2.5 m") == (2.5,)
    assert all(f"{inverse('2.5 m', u)[0]:.1f}" == "2.5" for u in (-0.5, -0.2, 0.3, 0.5))


def test_keys_are_known_strings_of_any_length():
    def vigenere(text: str, key: str):
        shifts = [ord(key[i % len(key)]) - 97 for i in range(len(text))]
        return "".join(chr((ord(c) - 97 + s) % 26 + 97) for c, s in zip(text, shifts, strict=True))

    inverse = choose(vigenere, known=("return", "key"))
    for text, key in (("attackatdawn", "lemon"), ("hi", "k")):
        (found,) = inverse(vigenere(text, key), key)
        assert vigenere(found, key) == vigenere(text, key)
        theta = inverse.recover(text, key)
        assert inverse(vigenere(text, key), key, theta) == (text,)


def test_plans_are_kept_by_length():
    inverse = invert(caesar)
    assert inverse.at(3) is inverse.at(3)
    assert inverse.at(3)("def") == ("abc",)
    assert inverse.recover("hello")[0] == 5


def test_a_domain_says_how_long_a_string_is():
    def number(text: Annotated[str, Strings("01", 4, 4)]):
        return int(text[::-1], 2)

    assert invert(number)(3) == ("1100",)


def in_pieces(s):
    return "".join({"a": "x", "b": "xx"}[c] for c in s)


def test_solutions_have_all_lengths_that_are_tried_and_do_not_say_that_these_are_all():
    found = invert(in_pieces, str).solutions("xxx")
    assert {branch.point for branch in found} == {("ab",), ("ba",), ("aaa",)}
    assert found.status == "not_exhausted"
    assert "other lengths" in found.reason
    with pytest.raises(WrongArguments):
        invert(in_pieces, str).solutions("xxx", limit=-1)


def test_strings_of_different_lengths_on_two_ways_are_one_string():
    def f(a: int, apart: bool) -> str:
        digits = f"{a:02d}"
        return digits[0] + "-" + digits[1] if apart else "no" + digits

    inverse = invert(f)
    for args in ((42, True), (42, False)):
        assert f(*inverse(f(*args))) == f(*args)


def pair(line: str):
    name, value = line.split("=")
    return name, value


def minutes(time: str) -> int:
    hours, rest = time.split(":")
    return int(hours) * 60 + int(rest)


@pytest.mark.parametrize(
    ("function", "text"), [(pair, "a=5"), (pair, "width=12"), (minutes, "2:7")]
)
def test_texts_taken_apart_at_a_mark_are_found_without_theta(function, text):
    (found,) = invert(function)(function(text))
    assert function(found) == function(text)


def test_a_text_that_is_not_found_is_named_with_its_domain():
    with pytest.raises(NoSolution, match=r"domain=\{'line': Strings\('abc', 8, 8\)\}"):
        invert(pair)(("a=b", "c"))


@pytest.mark.parametrize(
    ("fill", "align"), [*itertools.product(" *", "<>^="), ("%", ">"), ("0", ">"), ("0", "=")]
)
def test_padding_of_each_kind_is_taken_off(fill, align):
    tried = 0
    for sign, kind in itertools.product(("", "+", " "), (".2f", "d", ".0%", ".1e")):
        spec = f"{fill}{align}{sign}12{kind}"
        if not Format.read(spec).is_clear:
            continue  # the padding could be part of the number
        for number in (-5, 0, 7, 1500) if kind == "d" else (-1.5, 0.0, 2.25, -1500.0):
            text = format(number, spec)
            inverse = invert(lambda x, spec=spec: format(x, spec), type(number))
            assert format(*inverse(text), spec) == text
            assert inverse(text, inverse.recover(number)) == (number,)
            tried += 1
    assert tried >= 36


def test_a_minus_sign_may_be_the_padding_of_a_number_without_a_sign():
    inverse = invert(lambda n: f"{n:->5d}", int, domain={"n": Integers(0, 999)})
    assert inverse("----5", inverse.recover(5)) == inverse("----5") == (5,)


def test_an_error_for_a_theta_is_told_where_an_answer_has_no_theta():
    inverse = invert(lambda n: 1 - 0.5**n, int, domain={"n": Integers(0, 100)})
    with pytest.raises(NoSolution) as caught:
        inverse(1.0, (60,))
    assert "with an answer" in str(caught.value)
