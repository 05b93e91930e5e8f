"""Edges of the relations of integers, words and truth values, worked out by hand."""

import itertools
import math
import operator

import numpy as np
import pytest

from overlay import Context
from primitives import NoSolution, base_relations, relation_of
from primitives.floats.arithmetic import ints_becoming
from primitives.integers.bits import (
    bit_count,
    rotate_left,
    rotate_right,
    xorshift_left,
    xorshift_right,
)
from primitives.integers.ordering import clip
from primitives.relation import RETURN
from primitives.solver_forms import compiled_solvers

W, S = np.uint64, np.int64
LOWEST, HIGHEST, ALL = S(-(2**63)), S(2**63 - 1), W(2**64 - 1)
NO = "refused"
HALF = -(2**62) - 1  # the quotient of the lowest word and this is still 1
REFUSED = (NoSolution, ValueError, ArithmeticError)


def found(f, *types):
    method = Context(base_relations).method(relation_of(f), *types)
    return method.implementation(types)


def solved(rel, unknown, **values):
    """The answer of the mode for these unknowns; NO if there is none."""
    values = {RETURN if name == "ret" else name: value for name, value in values.items()}
    mode = rel.mode(unknown)
    try:
        with np.errstate(all="ignore"):
            return mode.solver(*(values[name] for name in mode.takes))
    except REFUSED:
        return NO


INT, INTS = (int, int), (int, int, int)
EDGES = [
    # a quotient of 0 leaves the divisor all larger sizes, one of -1 all from the dividend on
    (operator.floordiv, INT, "a", {"ret": -3, "b": 5, "offset": 0}, -15),
    (operator.floordiv, INT, "a", {"ret": -3, "b": 5, "offset": 4}, -11),
    (operator.floordiv, INT, "a", {"ret": -3, "b": 5, "offset": 5}, -15),
    (operator.floordiv, INT, "a", {"ret": 3, "b": -5, "offset": -4}, -19),
    (operator.floordiv, INT, "b", {"ret": 0, "a": 7, "step": 0, "negative": True}, 8),
    (operator.floordiv, INT, "b", {"ret": 0, "a": -7, "step": 2, "negative": False}, -10),
    (operator.floordiv, INT, "b", {"ret": 0, "a": 0, "step": 4, "negative": True}, -5),
    (operator.floordiv, INT, "b", {"ret": -1, "a": 7, "step": 0, "negative": False}, -7),
    (operator.floordiv, INT, "b", {"ret": 2, "a": 17, "step": 0, "negative": False}, 6),
    (operator.floordiv, INT, "b", {"ret": 2, "a": 17, "step": 2, "negative": False}, 8),
    (operator.floordiv, INT, "b", {"ret": 2, "a": 17, "step": 3, "negative": False}, 6),
    (operator.floordiv, INT, "b", {"ret": -3, "a": 17, "step": 0, "negative": False}, -6),
    (operator.floordiv, INT, "b", {"ret": 5, "a": 7, "step": 0, "negative": False}, NO),
    (operator.floordiv, INT, "b", {"ret": 1, "a": 0, "step": 0, "negative": False}, NO),
    (operator.floordiv, INT, "a", {"ret": 1, "b": 0, "offset": 0}, NO),
    # a remainder has the sign of the divisor
    (operator.mod, INT, "a", {"ret": -2, "b": -5, "k": 3}, -17),
    (operator.mod, INT, "a", {"ret": 2, "b": -5, "k": 3}, NO),
    (operator.mod, INT, "a", {"ret": 0, "b": -5, "k": 0}, 0),
    (operator.mod, INT, "a", {"ret": 5, "b": 5, "k": 0}, NO),
    (operator.mod, INT, "b", {"ret": 2, "a": 14, "size": 5, "negative": False}, 4),
    (operator.mod, INT, "b", {"ret": 2, "a": 14, "size": 1, "negative": True}, 3),
    (operator.mod, INT, "b", {"ret": -2, "a": 10, "size": 100, "negative": False}, -12),
    (operator.mod, INT, "b", {"ret": 3, "a": 3, "size": 2, "negative": True}, 4),
    (operator.mod, INT, "b", {"ret": 0, "a": 0, "size": 6, "negative": True}, -6),
    (operator.mod, INT, "b", {"ret": 5, "a": 8, "size": 9, "negative": False}, NO),
    # 0 ** 0 is 1, and 1 has every exponent
    (operator.pow, INT, "a", {"ret": 1, "b": 0, "negative": False, "free": -9}, -9),
    (operator.pow, INT, "a", {"ret": 0, "b": 0, "negative": False, "free": 0}, NO),
    (operator.pow, INT, "a", {"ret": -27, "b": 3, "negative": False, "free": 0}, -3),
    (operator.pow, INT, "a", {"ret": 16, "b": 4, "negative": True, "free": 0}, -2),
    (operator.pow, INT, "a", {"ret": 0, "b": 7, "negative": True, "free": 5}, 0),
    (operator.pow, INT, "a", {"ret": 3**700, "b": 700, "negative": False, "free": 0}, 3),
    (operator.pow, INT, "a", {"ret": 3**70 + 1, "b": 70, "negative": True, "free": 0}, NO),
    (operator.pow, INT, "a", {"ret": 7, "b": -1, "negative": False, "free": 0}, NO),
    (operator.pow, INT, "b", {"ret": 1, "a": 1, "free": 44}, 44),
    (operator.pow, INT, "b", {"ret": 0, "a": 0, "free": 0}, 1),
    (operator.pow, INT, "b", {"ret": 1, "a": 0, "free": 9}, 0),
    (operator.pow, INT, "b", {"ret": -1, "a": -1, "free": 6}, 7),
    (operator.pow, INT, "b", {"ret": 1, "a": -1, "free": 7}, 6),
    (operator.pow, INT, "b", {"ret": -8, "a": -2, "free": 0}, 3),
    (operator.pow, INT, "b", {"ret": 8, "a": -2, "free": 0}, NO),
    (operator.pow, INT, "b", {"ret": 0, "a": 3, "free": 0}, NO),
    (operator.pow, INT, "b", {"ret": 2**1024, "a": 2, "free": 0}, NO),
    (operator.pow, INT, "ab", {"ret": 64, "v": 5, "negative": False, "free": 0}, (4, 3)),
    (operator.pow, INT, "ab", {"ret": -64, "v": 6, "negative": False, "free": 0}, (-4, 3)),
    (operator.pow, INT, "ab", {"ret": 1, "v": 0, "negative": False, "free": 8}, (8, 0)),
    (operator.pow, INT, "ab", {"ret": 0, "v": 0, "negative": False, "free": 8}, (0, 1)),
    # numbers of theirs
    (math.gcd, INT, "a", {"ret": 0, "b": 0, "m": 4}, 0),
    (math.gcd, INT, "a", {"ret": 5, "b": 0, "m": -1}, -5),
    (math.gcd, INT, "a", {"ret": 5, "b": 0, "m": 3}, 5),
    (math.gcd, INT, "a", {"ret": 4, "b": 24, "m": 2}, 20),
    (math.gcd, INT, "a", {"ret": 4, "b": 6, "m": 2}, NO),
    (math.gcd, INT, "ab", {"ret": 3, "m": 4, "n": 6}, (12, 21)),
    (math.gcd, INT, "ab", {"ret": 3, "m": 0, "n": 6}, (0, 3)),
    (math.factorial, (int,), "a", {"ret": 1, "one": False}, 0),
    (math.factorial, (int,), "a", {"ret": math.factorial(100), "one": True}, 100),
    (math.factorial, (int,), "a", {"ret": 0, "one": True}, NO),
    (math.isqrt, (int,), "a", {"ret": 3, "offset": 6}, 15),
    (math.isqrt, (int,), "a", {"ret": 3, "offset": 7}, 9),
    (math.isqrt, (int,), "a", {"ret": 0, "offset": 9}, 0),
    (math.comb, INT, "n", {"ret": 10, "k": 3, "free": 0}, 5),
    (math.comb, INT, "n", {"ret": 11, "k": 3, "free": 0}, NO),
    (math.comb, INT, "n", {"ret": 0, "k": 3, "free": 5}, 2),
    (math.comb, INT, "n", {"ret": 1, "k": 0, "free": 6}, 6),
    (math.comb, INT, "k", {"ret": 10, "n": 5, "mirrored": False, "free": 0}, 2),
    (math.comb, INT, "k", {"ret": 10, "n": 5, "mirrored": True, "free": 0}, 3),
    (math.comb, INT, "k", {"ret": 0, "n": 5, "mirrored": True, "free": 1}, 7),
    (math.comb, INT, "nk", {"ret": 7, "v": 5, "free": 0}, (7, 1)),
    # bits: a negative integer has endlessly many
    (operator.and_, INT, "b", {"ret": 5, "a": 7, "free": -1}, -3),
    (operator.and_, INT, "b", {"ret": 5, "a": 7, "free": 0}, 5),
    (operator.and_, INT, "b", {"ret": 5, "a": 6, "free": 0}, NO),
    (operator.and_, INT, "ab", {"ret": 5, "v": 2, "free": 10}, (7, 13)),
    (operator.or_, INT, "b", {"ret": 5, "a": 4, "free": -1}, 5),
    (operator.or_, INT, "b", {"ret": 5, "a": 4, "free": 0}, 1),
    (operator.or_, INT, "b", {"ret": -1, "a": 0, "free": 3}, -1),
    (operator.or_, INT, "b", {"ret": 5, "a": 2, "free": 3}, NO),
    (operator.lshift, INT, "a", {"ret": -(2**80), "k": 79}, -2),
    (operator.lshift, INT, "a", {"ret": 12, "k": 3}, NO),
    (operator.lshift, INT, "a", {"ret": 12, "k": -1}, NO),
    (operator.lshift, INT, "k", {"ret": 0, "a": 0, "free": 11}, 11),
    (operator.lshift, INT, "k", {"ret": -12, "a": -3, "free": 0}, 2),
    (operator.lshift, INT, "k", {"ret": 0, "a": 1, "free": 0}, NO),
    (operator.lshift, INT, "ak", {"ret": 12, "v": 5}, (3, 2)),
    (operator.rshift, INT, "a", {"ret": -1, "k": 2, "low": 0}, -4),
    (operator.rshift, INT, "a", {"ret": -1, "k": 2, "low": 7}, -1),
    (operator.rshift, INT, "k", {"ret": -1, "a": -4, "free": 0}, 2),
    (operator.rshift, INT, "k", {"ret": -1, "a": -4, "free": 9}, 9),
    (operator.rshift, INT, "k", {"ret": 1, "a": 7, "free": 9}, 2),
    (operator.rshift, INT, "k", {"ret": 2, "a": 7, "free": 9}, NO),
    (xorshift_right, INT, "x", {"ret": 0b11, "k": 1, "negative": False}, 0b10),
    (xorshift_right, INT, "x", {"ret": 0b11, "k": 1, "negative": True}, -3),
    (xorshift_right, INT, "x", {"ret": -1, "k": 1, "negative": False}, NO),
    (bit_count, (int,), "x", {"ret": 0, "index": W(3)}, 0),
    (bit_count, (int,), "x", {"ret": 2, "index": W(0)}, 0b11),
    (bit_count, (int,), "x", {"ret": 2, "index": W(1)}, 0b101),
    (bit_count, (int,), "x", {"ret": 64, "index": W(3)}, -1),
    (bit_count, (int,), "x", {"ret": 65, "index": W(3)}, NO),
    # order
    (operator.lt, INT, "b", {"ret": True, "a": 5, "excess": 0}, 6),
    (operator.lt, INT, "b", {"ret": False, "a": 5, "excess": 0}, 5),
    (operator.lt, INT, "a", {"ret": True, "b": 5, "excess": 2}, 2),
    (operator.le, INT, "b", {"ret": True, "a": 5, "excess": 0}, 5),
    (operator.le, INT, "b", {"ret": False, "a": 5, "excess": 0}, 4),
    (operator.gt, INT, "a", {"ret": True, "b": 5, "excess": 0}, 6),
    (operator.ge, INT, "a", {"ret": False, "b": 5, "excess": 0}, 4),
    (operator.eq, INT, "b", {"ret": False, "a": 5, "difference": -2}, 3),
    (operator.ne, INT, "b", {"ret": False, "a": 5, "difference": -2}, 5),
    (min, INT, "b", {"ret": 4, "a": 4, "excess": 3}, 7),
    (min, INT, "b", {"ret": 4, "a": 5, "excess": 3}, 4),
    (min, INT, "b", {"ret": 4, "a": 3, "excess": 3}, NO),
    (max, INT, "b", {"ret": 4, "a": 4, "excess": 3}, 1),
    (max, INT, "ab", {"ret": 4, "left": False, "excess": 3}, (1, 4)),
    (clip, INTS, "a", {"ret": 3, "low": 2, "high": 4, "down": True, "excess": 9}, 3),
    (clip, INTS, "a", {"ret": 2, "low": 2, "high": 4, "down": False, "excess": 9}, -7),
    (clip, INTS, "a", {"ret": 4, "low": 2, "high": 4, "down": True, "excess": 9}, 13),
    (clip, INTS, "a", {"ret": 2, "low": 2, "high": 2, "down": True, "excess": 9}, -7),
    (clip, INTS, "a", {"ret": 2, "low": 5, "high": 2, "down": False, "excess": 9}, 11),
    (clip, INTS, "a", {"ret": 5, "low": 5, "high": 2, "down": True, "excess": 9}, NO),
    (clip, INTS, "low", {"ret": 4, "a": 3, "high": 9, "down": False, "excess": 9}, 4),
    (clip, INTS, "low", {"ret": 4, "a": 3, "high": 4, "down": True, "excess": 2}, 6),
    (clip, INTS, "high", {"ret": 4, "a": 3, "low": 4, "excess": 2}, 6),
    (clip, INTS, "high", {"ret": 4, "a": 9, "low": 2, "excess": 2}, 4),
    # truth values
    (operator.and_, (bool, bool), "b", {"ret": True, "a": False, "free": True}, NO),
    (operator.and_, (bool, bool), "b", {"ret": False, "a": False, "free": True}, True),
    (operator.and_, (bool, bool), "ab", {"ret": False, "case": 1}, (False, True)),
    (operator.and_, (bool, bool), "ab", {"ret": True, "case": 1}, (True, True)),
    (operator.or_, (bool, bool), "b", {"ret": False, "a": True, "free": False}, NO),
    (operator.or_, (bool, bool), "ab", {"ret": True, "case": 0}, (True, True)),
    (operator.not_, (int,), "a", {"ret": False, "other": -4}, -4),
    (operator.not_, (float,), "a", {"ret": True, "other": 2.5}, 0.0),
    (int, (bool,), "a", {"ret": 2}, NO),
]  # fmt: skip


@pytest.mark.parametrize(("f", "types", "unknown", "values", "answer"), EDGES)
def test_edges_of_integers_and_truth_values(f, types, unknown, values, answer):
    rel = found(f, *types)
    axes = ("a", "low") if unknown == "alow" else rel.axes if len(unknown) == 2 else (unknown,)
    given = solved(rel, axes, **values)
    assert given == answer
    assert type(given) is type(answer)


WORDS = [
    (operator.floordiv, S, "a", {"ret": LOWEST, "b": S(-1), "offset": W(5)}, LOWEST),
    (operator.floordiv, S, "a", {"ret": HIGHEST, "b": S(2), "offset": W(0)}, NO),
    (operator.floordiv, S, "a", {"ret": LOWEST // S(3), "b": S(3), "offset": W(0)}, LOWEST),
    (operator.floordiv, S, "b", {"ret": LOWEST, "a": LOWEST, "step": W(0), "negative": True}, -1),
    (operator.floordiv, S, "b", {"ret": LOWEST, "a": LOWEST, "step": W(0), "negative": False}, 1),
    (operator.floordiv, S, "b", {"ret": S(1), "a": LOWEST, "step": W(0), "negative": True}, HALF),
    (operator.floordiv, S, "b", {"ret": S(0), "a": LOWEST, "step": W(0), "negative": True}, NO),
    (operator.floordiv, S, "b", {"ret": S(0), "a": HIGHEST, "step": W(0), "negative": True}, NO),
    (operator.floordiv, S, "b", {"ret": S(0), "a": -HIGHEST, "step": W(9), "negative": 0}, LOWEST),
    (operator.floordiv, W, "b", {"ret": ALL, "a": ALL, "step": W(7), "negative": True}, 1),
    (operator.floordiv, W, "b", {"ret": W(0), "a": ALL, "step": W(7), "negative": True}, NO),
    (operator.mod, W, "a", {"ret": W(3), "b": W(10), "index": W(0)}, 3),
    (operator.mod, W, "a", {"ret": W(5), "b": W(10), "index": W(1844674407370955161)}, ALL),
    (operator.mod, W, "a", {"ret": W(6), "b": W(10), "index": W(1844674407370955161)}, 6),
    (operator.mod, S, "a", {"ret": S(-3), "b": S(-10), "index": W(0)}, LOWEST + S(5)),
    (operator.mod, S, "b", {"ret": S(0), "a": LOWEST, "wish": ALL, "negative": False}, 2**62),
    (operator.mod, S, "b", {"ret": S(0), "a": LOWEST, "wish": ALL, "negative": True}, LOWEST),
    (operator.mod, S, "b", {"ret": HIGHEST, "a": HIGHEST, "wish": ALL, "negative": True}, NO),
    (operator.lshift, W, "a", {"ret": W(2**63), "k": W(63), "high": W(1)}, 3),
    (operator.lshift, W, "a", {"ret": W(2**62), "k": W(63), "high": W(1)}, NO),
    (operator.lshift, W, "a", {"ret": W(6), "k": W(0), "high": ALL}, 6),
    (operator.lshift, W, "k", {"ret": W(0), "a": W(2**60), "wish": W(2)}, 4),
    (operator.rshift, S, "a", {"ret": S(-1), "k": S(62), "low": W(0)}, -(2**62)),
    (operator.rshift, S, "a", {"ret": S(1), "k": S(63), "low": W(0)}, NO),
    (operator.rshift, W, "a", {"ret": W(1), "k": W(63), "low": ALL}, ALL),
    (operator.rshift, W, "k", {"ret": W(0), "a": W(1), "wish": W(0)}, 1),
    (operator.lt, W, "b", {"ret": True, "a": ALL, "excess": W(0)}, NO),
    (operator.lt, W, "b", {"ret": True, "a": ALL - W(1), "excess": W(77)}, ALL),
    (operator.lt, S, "b", {"ret": False, "a": LOWEST, "excess": W(77)}, LOWEST),
    (operator.le, S, "b", {"ret": True, "a": LOWEST, "excess": ALL}, HIGHEST),
    (operator.eq, W, "b", {"ret": False, "a": ALL, "difference": W(1)}, 0),
    (min, S, "b", {"ret": HIGHEST, "a": HIGHEST, "excess": W(9)}, HIGHEST),
    (max, W, "b", {"ret": W(2), "a": W(2), "excess": W(3)}, 2),
    (abs, S, "a", {"ret": LOWEST, "negative": True}, LOWEST),
    (abs, S, "a", {"ret": S(-1), "negative": True}, NO),
    (bit_count, S, "x", {"ret": 1, "index": W(63)}, LOWEST),
    (xorshift_left, W, "x", {"ret": W(0b110), "k": W(1)}, 0b10),
    (xorshift_left, W, "x", {"ret": W(1), "k": W(1)}, ALL),
    (xorshift_right, W, "x", {"ret": W(2**63), "k": W(1)}, ALL),
    (xorshift_right, S, "x", {"ret": LOWEST, "k": S(1), "negative": False}, NO),
    (rotate_left, W, "x", {"ret": W(1), "k": W(1)}, 2**63),
    (rotate_right, W, "x", {"ret": W(2**63), "k": W(1)}, 1),
]  # fmt: skip


@pytest.mark.parametrize(("f", "kind", "unknown", "values", "answer"), WORDS)
def test_edges_of_words(f, kind, unknown, values, answer):
    unary = f in (abs, bit_count)
    given = solved(found(f, *([kind] if unary else [kind, kind])), (unknown,), **values)
    if isinstance(answer, str):
        assert given == answer
    else:
        assert type(given) is kind
        assert int(given) == int(answer)


# ---- all solutions ------------------------------------------------------------------------

SMALL = range(-6, 7)
BINARY = (
    operator.floordiv,
    operator.mod,
    operator.and_,
    operator.or_,
    operator.xor,
    operator.lt,
    operator.ge,
    operator.ne,
    min,
    max,
    math.gcd,
)


def chosen_at(mode, values):
    """All coordinates that have some of these values."""
    names = mode.coordinates
    members = ([names[name].cast(v) for v in values if names[name].contains(v)] for name in names)
    for chosen in itertools.product(*members):
        yield dict(zip(names, chosen, strict=True))


@pytest.mark.parametrize("f", BINARY)
@pytest.mark.parametrize("unknown", ["a", "b"])
def test_exactly_the_small_solutions_are_reached(f, unknown):
    """Compared with a trial of all small integers."""
    rel = found(f, int, int)
    mode = rel.mode([unknown])
    other = "b" if unknown == "a" else "a"
    undefined = f in (operator.floordiv, operator.mod)  # where b is 0
    for known, ret in itertools.product(SMALL, (*SMALL, False, True)):
        if not rel.codomain.contains(ret) or (undefined and other == "b" and known == 0):
            continue
        pairs = [(x, known) if unknown == "a" else (known, x) for x in SMALL]
        given = {
            solved(rel, [unknown], **{"ret": ret, other: known}, **chosen)
            for chosen in chosen_at(mode, range(-13, 14))
        }
        wanted = {
            x
            for x, pair in zip(SMALL, pairs, strict=True)
            if not (undefined and pair[1] == 0) and f(*pair) == ret
        }
        assert given.intersection(SMALL) == wanted, (known, ret)


@pytest.mark.parametrize("f", [operator.and_, operator.or_, operator.xor, operator.eq, operator.ne])
def test_exactly_the_pairs_of_truth_values_are_reached(f):
    rel = found(f, bool, bool)
    mode = rel.mode(["a", "b"])
    for ret in (False, True):
        given = {solved(rel, ["a", "b"], ret=ret, **c) for c in chosen_at(mode, range(3))}
        pairs = itertools.product((False, True), repeat=2)
        assert given == {pair for pair in pairs if f(*pair) == ret}


def test_all_words_with_two_ones_are_numbered_once():
    rel = found(bit_count, np.uint64)
    mode = rel.mode(["x"])
    words = {int(mode.solver(2, W(i))) for i in range(math.comb(64, 2))}
    assert len(words) == 2016
    assert all(word.bit_count() == 2 for word in words)


T53, LARGEST = 2.0**53, 1.7976931348623157e308


@pytest.mark.parametrize(
    "value",
    [
        0.0,
        -3.0,
        T53 - 1,
        T53,
        T53 + 2,
        T53 + 4,
        -2 * T53,
        2 * T53 + 4,
        2.0**62,
        3.0 * 2**70,
        LARGEST,
    ],
)
def test_the_integers_that_become_a_float_are_known_exactly(value):
    low, high = ints_becoming(value)
    assert float(low) == float(high) == value
    assert float(low - 1) != value
    try:
        assert float(high + 1) != value
    except OverflowError:
        assert value > 1e308


def test_compiled_integers_beyond_a_word_are_refused():
    with pytest.raises(NoSolution, match="64 bits"):
        compiled_solvers.jit(ints_becoming)(2.0**63)
    assert compiled_solvers.jit(ints_becoming)(2.0**53) == (2**53, 2**53 + 1)
    shift = compiled_solvers.jit(found(operator.lshift, int, int).mode([RETURN]).solver)
    assert shift(-1, 63) == -(2**63)
    for a, k in ((1, 63), (3, 62), (1, 64), (-2, 63)):
        with pytest.raises(NoSolution, match="64 bits"):
            shift(a, k)
    assert shift(0, 1000) == 0
    power = compiled_solvers.jit(found(operator.pow, int, int).mode([RETURN]).solver)
    assert power(-2, 63) == -(2**63)
    assert power(-(2**63), 1) == -(2**63)
    for a, b in ((2, 63), (-(2**63), 3), (3, 1000)):
        with pytest.raises(NoSolution, match="64 bits"):
            power(a, b)
    quotient = compiled_solvers.jit(found(operator.floordiv, int, int).mode([RETURN]).solver)
    with pytest.raises(NoSolution, match="64 bits"):
        quotient(-(2**63), -1)


def test_the_functions_of_bits_mean_what_they_say():
    for x, k in ((0b1011, 1), (2**64 - 1, 63), (2**63 + 5, 17)):
        with np.errstate(over="ignore"):
            assert int(rotate_left(W(x), W(k))) == (x << k | x >> (64 - k)) % 2**64
            assert rotate_right(rotate_left(W(x), W(k)), W(k)) == x
            assert int(xorshift_left(W(x), W(k))) == (x ^ x << k) % 2**64
    assert rotate_left(W(5), W(64)) == 5
    assert [xorshift_right(n, 1) for n in range(8)] == [0, 1, 3, 2, 6, 7, 5, 4]
    assert [bit_count(n) for n in (0, 5, -1, W(2**63), LOWEST)] == [0, 2, 64, 1, 1]
    assert [clip(n, 2, 5) for n in (1, 2, 4, 5, 9)] == [2, 2, 4, 5, 5]
    assert clip(3, 5, 2) == 2


def test_numpy_and_operators_have_other_spellings_of_the_same_relations():
    assert found(np.bitwise_and, int, int) is found(operator.and_, int, int)
    assert found(np.minimum, W, W) is found(min, W, W)
    assert found(pow, int, int) is found(operator.pow, int, int)
    assert found(np.clip, S, S, S) is found(clip, S, S, S)
    assert found(operator.truth, float) is found(bool, float)
    assert found(np.logical_and, bool, bool).target is np.logical_and
