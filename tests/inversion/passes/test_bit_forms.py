"""Programs over bits are solved by elimination: all solutions, and no others."""

import functools
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inversion import NoSolution, NotInvertible, choose, invert
from primitives import Integers
from primitives.forms.bit_systems import BitSystem

BYTE, HALF, WORD = Integers(0, 255), Integers(0, 2**16 - 1), Integers(0, 2**32 - 1)


def is_bits(inverse):
    return any(isinstance(s.relation, BitSystem) for s in inverse.program.program.statements)


# ---- random programs against all values -----------------------------------------------------

STEPS = (
    "{v} ^= {v} >> {k}",
    "{v} ^= ({v} << {k}) & {m}",
    "{v} = ({v} << {k} | {v} >> {r}) & 255",
    "{v} = ({v} >> 1) ^ ({m} if {v} & 1 else 0)",
    "{v} ^= -({w} & 1) & {m}",
    "{v} = {v} & {m}",
    "{v} = {v} | {m}",
    "{v} ^= {w}",
    "{v} = ~{v} & 255",
    "{v} = {v} * {p} & 255",
    "{v} = ({v} + {w}) & 1 | {v} & 254",
    "{v} = {v} % {p} + ({w} // {p}) * {p}",
    "if {w} & {p}:\n        {v} ^= {m}",
    "if {w} > 127:\n        {v} = {v} << 1 & 255\n    else:\n        {v} = {v} << 1 & 255 ^ {m}",
    "{v} = ({v} & {m}) | ({w} & ~{m} & 255)",
    "for i in range(3):\n        {v} = {v} >> 1 | (({v} ^ {v} >> {k}) & 1) << 7",
)
SIXTEEN = (
    "for i in range(20):\n        {v} = {v} >> 1 | (({v} ^ {w} >> {k}) & 1) << 7",
    "h = {v} >> 1\n    while h:\n        {v} ^= h\n        h >>= 1",
    "{v} = {v} ^ (0 if {w} & 3 == 1 else 0)",
)
ENDS = ("a", "b", "a, b", "a ^ b", "a & 15", "a, a >> 3", "(a << 8) | b", "a & 8 > 0, b")


@st.composite
def program_texts(draw, steps=(*STEPS, *SIXTEEN)):
    lines = []
    for _ in range(draw(st.integers(2, 6))):
        v, w = draw(st.permutations("ab"))
        k = draw(st.integers(1, 7))
        mask = draw(st.integers(0, 255))
        text = draw(st.sampled_from(steps))
        lines.append(text.format(v=v, w=w, k=k, r=8 - k, m=mask, p=1 << (k % 4)))
    return "\n    ".join(
        ["def f(a: int, b: int):", *lines, f"return {draw(st.sampled_from(ENDS))}"]
    )


def made(text):
    namespace = {}
    exec(compile(text, "<a program of bits>", "exec"), namespace)
    return namespace["f"]


@given(program_texts(), st.tuples(st.integers(0, 255), st.integers(0, 255)))
@settings(max_examples=150, deadline=None)
def test_all_solutions_of_random_programs_are_found(text, args):
    f = made(text)
    inverse = choose(f, known=("return", "b"), domain={"a": BYTE, "b": BYTE})
    if not is_bits(inverse):
        return
    a, b = args
    result = f(a, b)
    wanted = {x for x in range(256) if f(x, b) == result}
    assert {branch.point[0] for branch in inverse.solutions(result, b)} == wanted
    assert inverse.recover(a, b) is not None
    # and a result that is none
    other = (result[0] ^ 1, *result[1:]) if isinstance(result, tuple) else result ^ 1
    wanted = {x for x in range(256) if f(x, b) == other}
    assert {branch.point[0] for branch in inverse.solutions(other, b)} == wanted


@given(program_texts(steps=STEPS[:9]), st.tuples(st.integers(0, 255), st.integers(0, 255)))
@settings(max_examples=60, deadline=None)
def test_sums_of_bits_are_solved_for_both_inputs(text, args):
    f = made(text)
    inverse = invert(f, domain={"a": BYTE, "b": BYTE})
    result = f(*args)
    found = inverse(result)
    assert f(*found) == result
    assert inverse(result, inverse.recover(*args)) == args


# ---- programs that are known by name ----------------------------------------------------------


def crc_by_bits(a: int, b: int):
    crc = 0xFFFF
    for byte in (a, b):
        crc ^= byte << 8
        for _ in range(8):
            crc = ((crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc


def fibonacci(state: int):
    for _ in range(40):
        bit = (state ^ state >> 2 ^ state >> 3 ^ state >> 5) & 1
        state = state >> 1 | bit << 15
    return state


def galois(state: int):
    for _ in range(40):
        low = state & 1
        state >>= 1
        if low:
            state ^= 0xB400
    return state


def branchless_galois(state: int):
    for _ in range(40):
        state = (state >> 1) ^ (-(state & 1) & 0xB400)
    return state


def xorshift(y: int):
    y ^= y << 13 & 0xFFFFFFFF
    y ^= y >> 17
    y ^= y << 5 & 0xFFFFFFFF
    return y


def temper(y: int):
    y ^= y >> 11
    y ^= y << 7 & 0x9D2C5680
    y ^= y << 15 & 0xEFC60000
    return y ^ y >> 18


def from_gray(g: int):
    rest = g >> 1
    while rest:
        g ^= rest
        rest >>= 1
    return g


def from_gray_by_halves(g: int):
    for k in (16, 8, 4, 2, 1):
        g ^= g >> k
    return g


def reversed_bits(x: int):
    found = 0
    for i in range(16):
        found |= (x >> i & 1) << (15 - i)
    return found


def swapped(x: int):
    x = (x & 0x55555555) << 1 | (x & 0xAAAAAAAA) >> 1
    return (x & 0x33333333) << 2 | (x & 0xCCCCCCCC) >> 2


def interleaved(x: int, y: int):
    x = (x | x << 4) & 0x0F0F
    x = (x | x << 2) & 0x3333
    x = (x | x << 1) & 0x5555
    y = (y | y << 4) & 0x0F0F
    y = (y | y << 2) & 0x3333
    y = (y | y << 1) & 0x5555
    return x | y << 1


def doubled(a: int):  # in the field of AES
    a <<= 1
    return a ^ 0x11B if a >= 256 else a


def offset_binary(x: int):
    return (x & 0xFF) ^ 0x80


def hamming(d: int):
    d0, d1, d2, d3 = d & 1, d >> 1 & 1, d >> 2 & 1, d >> 3 & 1
    return d0 ^ d1 ^ d3, d0 ^ d2 ^ d3, d0, d1 ^ d2 ^ d3, d1, d2, d3


@pytest.mark.parametrize(
    ("f", "domain", "args"),
    [
        (crc_by_bits, {"a": BYTE, "b": BYTE}, (3, 200)),
        (fibonacci, {"state": HALF}, (0xACE1,)),
        (galois, {"state": HALF}, (0xACE1,)),
        (branchless_galois, {"state": HALF}, (0xACE1,)),
        (xorshift, {"y": WORD}, (2463534242,)),
        (temper, {"y": WORD}, (123456789,)),
        (from_gray, {"g": WORD}, (123456789,)),
        (from_gray_by_halves, {"g": WORD}, (123456789,)),
        (reversed_bits, {"x": HALF}, (12345,)),
        (swapped, {"x": WORD}, (123456789,)),
        (interleaved, {"x": BYTE, "y": BYTE}, (77, 200)),
        (doubled, {"a": BYTE}, (200,)),
        (offset_binary, {"x": Integers(-128, 127)}, (-5,)),
        (hamming, {"d": Integers(0, 15)}, (11,)),
    ],
    ids=lambda v: v.__name__ if callable(v) else "",
)
def test_the_only_solution_is_found_at_once(f, domain, args):
    inverse = invert(f, domain=domain)
    assert not len(inverse.parameters)
    assert inverse(f(*args)) == args


def test_what_the_results_leave_open_is_a_coordinate():
    top = invert(lambda x: x << 3 & 0xFF, int, domain={"x": BYTE})
    assert is_bits(top)
    assert [branch.point[0] & 31 for branch in top.solutions(40)] == [5] * 8
    packed = invert(
        lambda r, g, b: r >> 3 << 11 | g >> 2 << 5 | b >> 3, int, int, int,
        domain=dict.fromkeys("rgb", BYTE),
    )  # fmt: skip
    args = 21, 71, 167
    result = args[0] >> 3 << 11 | args[1] >> 2 << 5 | args[2] >> 3
    assert packed(result, packed.recover(*args)) == (21, 71, 167)
    assert len(packed.solutions(0x1234)) == 256


def test_no_solution_is_proved():
    even = invert(lambda x: (x ^ x >> 1) & 1 | (x ^ x >> 1) << 1 & 2, int, domain={"x": BYTE})
    with pytest.raises(NoSolution) as caught:
        even(1)
    assert caught.value.proved


def test_answers_stay_in_a_domain_that_is_no_power_of_two():
    inverse = invert(lambda x: (x ^ x >> 1) & 7, int, domain={"x": Integers(3, 100)})
    assert {b.point[0] for b in inverse.solutions(3)} == {
        x for x in range(3, 101) if (x ^ x >> 1) & 7 == 3
    }


def test_parity_is_a_sum_of_bits():
    def parity(x: int):
        found = 0
        while x:
            found ^= x & 1
            x >>= 1
        return found

    assert len(invert(parity, domain={"x": BYTE}).solutions(1)) == 128


def test_a_table_of_sums_of_bits_is_seen():
    from primitives import relation

    table = [functools.reduce(operator.xor, (0x1D << j for j in range(8) if i >> j & 1), 0) & 255
             for i in range(256)]  # fmt: skip
    from overlay import Context, MethodTable
    from primitives import parametric, relation_of

    def entry(i: int):
        return table[i]

    rule = relation(entry, int, "return = entry(i)", domain={"i": BYTE},
                    i=parametric(lambda ret, k: k, k=BYTE, recover=lambda i: (i,)))  # fmt: skip
    tables = MethodTable("tables")

    @tables.generated(relation_of(entry))
    def _(i: int):
        return rule

    def crc(a: int, b: int):
        return entry(entry(a) ^ b)

    inverse = choose(crc, known=("return", "a"), domain={"a": BYTE, "b": BYTE},
                     context=Context(tables))  # fmt: skip
    assert is_bits(inverse)
    assert crc(7, *inverse(crc(7, 99), 7)) == crc(7, 99)


def test_words_are_read_as_64_bits():
    def mixed(x):
        x = x ^ (x >> np.uint64(12)) ^ (x << np.uint64(25))
        return x ^ (x >> np.uint64(27))

    inverse = invert(mixed, np.uint64)
    for value in (np.uint64(1), np.uint64(2**64 - 1), np.uint64(0x0123456789ABCDEF)):
        (found,) = inverse(mixed(value))
        assert mixed(found) == mixed(value)


def test_products_of_bits_are_no_sums():
    for f in (lambda a: a & a >> 1, lambda a: (a | a >> 1) & 7, lambda a: a * a & 255):
        try:
            inverse = invert(f, int, domain={"a": BYTE})
        except NotInvertible:
            continue
        assert not is_bits(inverse)


def test_without_a_domain_the_remedy_is_named():
    with pytest.raises(NotInvertible, match="domain"):
        invert(xorshift)


OF_BYTES = {
    "shifted and masked": lambda x: (x << 3) & 0xFF,
    "mixed and masked": lambda x: (x ^ (x << 1)) & 0xFF,
    "a part": lambda x: (x & 0xF0) >> 4,
    "masked": lambda x: x & 0x0F,
    "set": lambda x: x | 0xF0,
    "shifted up": lambda x: x << 3,
    "shifted down": lambda x: x >> 2,
    "a remainder": lambda x: x % 16,
    "a quotient": lambda x: x // 4,
    "a parity": lambda x: (x ^ (x >> 4)) & 1,
}


@pytest.mark.parametrize("kind", [int, np.int64, np.uint64])
@pytest.mark.parametrize("name", OF_BYTES)
def test_a_domain_bounds_the_bits_of_integers_and_of_words(name, kind):
    f = OF_BYTES[name]
    inv = invert(f, kind, domain={"x": range(256)})
    value = f(kind(0x5A))
    wanted = {x for x in range(256) if f(kind(x)) == value}
    assert {int(branch.point[0]) for branch in inv.solutions(value)} == wanted
    assert type(inv(value)[0]) is kind


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        (np.int64, 2**40, 2**40 + 20),
        (np.int64, -40, -7),
        (np.uint64, 2**64 - 20, 2**64 - 1),
        (int, 2**40, 2**40 + 20),
    ],
)
def test_words_far_from_0_are_bounded_too(kind, low, high):
    def parts(x):
        return x & kind(1), (x >> kind(1)) & kind(3)

    inv = invert(parts, kind, domain={"x": Integers(low, high, kind=kind)})
    found = [int(branch.point[0]) for branch in inv.solutions((kind(0), kind(2)))]
    assert sorted(found) == [x for x in range(low, high + 1) if x & 7 == 4]
