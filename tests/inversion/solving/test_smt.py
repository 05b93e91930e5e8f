"""Functions that z3 solves."""

import pickle
import sys

import numpy as np
import pytest

from inversion import MissingPackage, NoSolution, NotInvertible, WrongArguments, choose, invert
from primitives import Integers
from primitives.domains import ByteStrings, Strings
from primitives.errors import TooHard
from primitives.sequences.lists import Lists

pytest.importorskip("z3")

WORD = Integers(0, 2**32 - 1)
DIGIT = Integers(0, 9)
SBOX = (99, 124, 119, 123, 242, 107, 111, 197)


def generator(state: int):
    """The first outputs of a linear congruential generator: the upper 24 of its 32 bits."""
    found = []
    for _ in range(3):
        state = (1664525 * state + 1013904223) % 2**32
        found.append(state >> 8)
    return tuple(found)


def luhn(digits: list[int]):
    total = 0
    for place, digit in enumerate(reversed(digits)):
        if place % 2 == 1:
            digit *= 2
            if digit > 9:
                digit -= 9
        total += digit
    return total % 10


def congruence(x: int, y: int, z: int):
    return (3 * x + 5 * y + 7 * z) % 101, x * y - z


def xorshift(x: np.uint64):
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= (x << np.uint64(17)) & np.uint64(0xFFFF0000FFFF)
    return x


def crc(data: bytes):
    found = 0xFFFF
    for byte in data:
        found ^= byte << 8
        for _ in range(8):
            shifted = found << 1
            found = (shifted ^ 0x1021) & 0xFFFF if found & 0x8000 else shifted & 0xFFFF
    return found


def hashed(a: int, b: int):
    found = 0x811C9DC5
    for value in (a, b):
        found ^= value
        found = (found * 0x01000193) & 0xFFFFFFFF
        found ^= found >> 15
    return found


def substituted(x: int):
    return SBOX[x & 7] ^ x


def spelled(text: str):
    found = 0
    for character in text:
        found = (found * 31 + ord(character)) % 1000003
    return found


def checked(text: str):
    if text[0] != "q" or not text.endswith("z"):
        raise ValueError(text)
    return sum(ord(c.upper()) for c in text)


def ones(n: int):
    count = 0
    while n:
        count += n & 1
        n >>= 1
    return count


def divided(a: int, b: int):
    return a // b, a % b


def of_square(x: int):
    return x * x % 8


LETTERS = Strings("abcdefghijklmnopqrstuvwxyz", 4, 4)
CASES = (
    (generator, {"state": WORD}, (123456789,)),
    (luhn, {"digits": Lists(DIGIT, 4)}, ([7, 9, 9, 2],)),
    (congruence, {}, (5, 6, 7)),
    (xorshift, {}, (np.uint64(123456789),)),
    (crc, {"data": ByteStrings(2, 2)}, (b"ab",)),
    (hashed, {"a": WORD, "b": WORD}, (1, 2)),
    (substituted, {"x": Integers(0, 255)}, (77,)),
    (spelled, {"text": LETTERS}, ("word",)),
    (checked, {"text": LETTERS}, ("quiz",)),
    (ones, {"n": Integers(0, 255)}, (201,)),
    (divided, {"b": Integers(-50, -1)}, (17, -5)),
)


@pytest.mark.parametrize(
    ("function", "domain", "args"), CASES, ids=lambda c: getattr(c, "__name__", "")
)
def test_an_answer_gives_the_known_result_and_recovers_itself(function, domain, args):
    inverse = invert(function, domain=domain, solver="z3")
    result = function(*args)
    answer = inverse(result)
    assert function(*answer) == result
    assert inverse(result, inverse.recover(*args)) == args
    assert [*map(type, answer)] == [*map(type, args)]


def test_all_solutions_are_those_of_trial():
    inverse = invert(substituted, domain={"x": Integers(0, 255)}, solver="z3")
    for result in range(100, 110):
        found = inverse.solutions(result)
        wanted = {x for x in range(256) if substituted(x) == result}
        assert {branch.point[0] for branch in found} == wanted
        assert found.status == "complete"
    none = invert(of_square, solver="z3").solutions(3)
    assert (len(none), none.status) == (0, "complete")
    assert "z3 proves" in none.reason


def test_solutions_go_on_until_the_limit():
    def sums(x: int, y: int, z: int):  # without products, which may take z3 long
        return (3 * x + 5 * y + 7 * z) % 101, x + y - z

    found = invert(sums, solver="z3").solutions((18, 23), limit=3)
    points = [branch.point for branch in found]
    assert len(set(points)) == 3
    assert all(sums(*point) == (18, 23) for point in points)
    assert found.status == "limit"


def test_answers_are_those_of_algebra_where_both_have_them():
    for x in map(np.uint64, (0, 1, 2**63, 987654321987654321)):
        result = xorshift(x)
        assert invert(xorshift, solver="z3")(result) == (x,) == invert(xorshift)(result)

    def line(a: int, b: int):
        return 2 * a + 3 * b, a - b

    assert invert(line, solver="z3")((13, -1)) == (2, 3) == invert(line)((13, -1))


def test_other_axes_may_be_known():
    inverse = choose(hashed, known=("return", "b"), domain={"a": WORD}, solver="z3")
    assert inverse(hashed(123, 45), 45) == (123,)
    forward = choose(divided, known=("return[0]", "b"), solver="z3")
    a, result = forward(3, 7)
    assert divided(a, 7) == result
    assert result[0] == 3


def test_no_solution_is_proved():
    for domain in (None, {"x": Integers(0, 10**6)}):
        with pytest.raises(NoSolution, match="z3 proves") as raised:
            invert(of_square, domain=domain, solver="z3")(3)
        assert raised.value.proved


def test_what_raises_is_no_solution():
    def inverse_of(x: int):
        if x < 0:
            raise ValueError(x)
        return 12 // x

    found = invert(inverse_of, domain={"x": Integers(-20, 20)}, solver="z3").solutions(2)
    assert sorted(branch.point for branch in found) == [(5,), (6,)]


def test_a_statement_without_translation_is_refused_with_its_line():
    def scaled(x: int):
        return x * 0.5

    def masked(x: int):
        y = x + 1
        return y & 0xFF1

    def collatz(n: int):
        turns = 0
        while n != 1:
            n = 3 * n + 1 if n % 2 else n // 2
            turns += 1
        return turns

    for function, why, line in (
        (scaled, "float", 1),
        (masked, "without bounds", 2),
        (collatz, "iterations", 2 if sys.version_info >= (3, 14) else 3),  # where the code has it
    ):
        domain = {"n": Integers(1, 40)} if function is collatz else None
        with pytest.raises(NotInvertible, match=why) as raised:
            invert(function, domain=domain, solver="z3")
        where = function.__code__.co_firstlineno + line
        assert raised.value.where.endswith(f"test_smt.py:{where}")
        assert raised.value.help


def test_what_is_not_decided_in_time_is_refused_with_the_limit():
    def product(a: int, b: int):
        return a * b

    factor = Integers(2, 2**64)
    domain = {"a": factor, "b": factor}
    inverse = invert(product, domain=domain, solver="z3", solver_timeout=0.01)
    number = (2**61 - 1) * (2**59 - 55)
    with pytest.raises(TooHard, match=r"within 0\.01 s") as raised:
        inverse(number)
    assert "solver_timeout=0.1" in raised.value.help
    found = inverse.solutions(number)
    assert (len(found), found.status) == (0, "not_exhausted")


def test_a_missing_solver_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "z3", None)
    with pytest.raises(MissingPackage, match=r"overlay-dispatch\[smt\]"):
        invert(of_square, solver="z3")


def test_an_unknown_solver_is_refused():
    with pytest.raises(WrongArguments, match="yices"):
        invert(of_square, solver="yices")
    with pytest.raises(WrongArguments, match="solver_timeout"):
        invert(of_square, solver="z3", solver_timeout=-1)


def test_a_function_of_more_than_its_arguments_is_not_answered_wrongly():
    calls = []

    def impure(x: int):
        calls.append(x)
        return x + len(calls)

    try:
        inverse = invert(impure, solver="z3")
    except NotInvertible:
        return
    with pytest.raises((TooHard, NoSolution)):
        inverse(10)


def test_the_nearest_solution_is_refused():
    with pytest.raises(NotInvertible, match="z3"):
        invert(xorshift, solver="z3").nearest(np.uint64(5), np.uint64(6))


def test_an_inverse_can_be_sent_to_another_process():
    inverse = pickle.loads(
        pickle.dumps(invert(substituted, domain={"x": Integers(0, 255)}, solver="z3"))
    )
    assert substituted(*inverse(200)) == 200
