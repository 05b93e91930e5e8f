"""Quotient and remainder as the two results of divmod, derived from the relations of // and %.

A mode that knows only one of the results is a mode of // or %, after which the other function is
applied. Only modes that know both results are solved here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from primitives.domains import Bool
from primitives.errors import NoSolution
from primitives.integers.division import FLOOR_DIVISIONS, Division, is_remainder
from primitives.integers.exact import minus, product_and_rest
from primitives.integers.integer_kinds import KINDS, IntegerKind
from primitives.relation import RETURN, Mode, Relation, parametric, relation

__all__ = ["DIVISION", "divmod_int"]

DISAGREE = "the other result is not this one"


def _forward(rule: Relation) -> Any:
    return rule.modes[frozenset([RETURN])].solver


# ---- from both results --------------------------------------------------------------------


def _dividend_of(kind: IntegerKind, quotient: Callable[..., Any]) -> Callable[..., Any]:
    made, wraps = kind.type, kind.wraps

    def wrapped_dividend(q: Any, b: Any, r: Any) -> Any:
        return made(q * b + r)

    joined = wrapped_dividend if wraps else product_and_rest

    def dividend(q: Any, r: Any, b: Any) -> Any:
        if not is_remainder(r, b):
            raise NoSolution("a remainder lies between 0 and the divisor")
        a = joined(q, b, r)
        if wraps and quotient(a, b) != q:
            raise NoSolution("no word has this quotient and this remainder")
        return a

    return dividend


def _divisor_of(kind: IntegerKind, division: Division) -> Callable[..., Any]:
    quotient, remainder = _forward(division.floor), _forward(division.rest)
    signed, size, of_size, distance = kind.signed, kind.size, kind.of_size, kind.distance
    wraps, lowest, largest, larger = kind.wraps, kind.lowest, kind.largest, division.moduli.larger
    zero, opposite, none = kind.type(0), ~kind.type(0), kind.step(0)

    def integer_ratio(a: int, r: int, q: int) -> int:
        return quotient(minus(a, r), q)

    def word_ratio(a: Any, r: Any, q: Any) -> Any:
        """The quotient of sizes, since the difference may exceed the range of signed words."""
        found, below = distance(a, r) // size(q), signed and ((a < r) != (q < zero))
        if found == none or found > largest(below):
            raise NoSolution("no divisor has this quotient and this remainder")
        return of_size(found, below)

    ratio = word_ratio if wraps else integer_ratio

    def divisor(q: Any, r: Any, a: Any, excess: Any, negative: Any) -> Any:
        if q == zero:
            if a != r:
                raise NoSolution("a dividend smaller than the divisor is its own remainder")
            return larger(r, excess, negative)
        if wraps and signed and negative and a == lowest and q == lowest and r == zero:
            return opposite
        b = ratio(a, r, q)
        if b == zero or quotient(a, b) != q or remainder(a, b) != r:
            raise NoSolution("no divisor has this quotient and this remainder")
        return b

    return divisor


def _pair_of(
    kind: IntegerKind, division: Division, dividend: Callable[..., Any]
) -> Callable[..., Any]:
    made, quotient, remainder = kind.type, _forward(division.floor), _forward(division.rest)
    wraps, larger, none, one = kind.wraps, division.moduli.larger, kind.step(0), kind.step(1)

    def fits(q: Any, r: Any, b: Any) -> Any:
        """Return whether q * b + r does not wrap."""
        a = made(q * b + r)
        return quotient(a, b) == q and remainder(a, b) == r

    def smaller(q: Any, r: Any, excess: Any, negative: Any) -> Any:
        """The excess, or a smaller one that leaves room for the product."""
        left = excess
        while left != none and not fits(q, r, larger(r, left, negative)):
            left = left >> one
        return left

    def any_excess(q: Any, r: Any, excess: Any, negative: Any) -> Any:
        return excess

    within = smaller if wraps else any_excess

    def pair(q: Any, r: Any, excess: Any, negative: Any) -> Any:
        b = larger(r, within(q, r, excess, negative), negative)
        return dividend(q, r, b), b

    return pair


# ---- from one result ----------------------------------------------------------------------


def _with_other(mode: Mode, result: str, other_name: str, other: Callable[..., Any]) -> Mode:
    """The mode of divmod made from a mode of // or %. result: divmod's name for that function's
    result. other_name, other: the other result, which is an additional unknown, and its
    function.
    """
    solve = mode.solver

    def with_dividend(known: Any, b: Any, choice: Any) -> Any:
        a = solve(known, b, choice)
        return other(a, b), a

    def with_divisor(known: Any, a: Any, choice: Any, negative: Any) -> Any:
        b = solve(known, a, choice, negative)
        return other(a, b), b

    def with_both(known: Any, choice: Any, second: Any) -> Any:
        a, b = solve(known, choice, second)
        return other(a, b), a, b

    def with_both_signed(known: Any, choice: Any, second: Any, negative: Any) -> Any:
        a, b = solve(known, choice, second, negative)
        return other(a, b), a, b

    if mode.unknown == ("a",):
        solver: Any = with_dividend
    elif mode.unknown == ("b",):
        solver = with_divisor
    else:
        solver = with_both if len(mode.takes) == 3 else with_both_signed
    return replace(
        mode,
        unknown=(other_name, *mode.unknown),
        solver=solver,
        takes=tuple(result if name == RETURN else name for name in mode.takes),
        recovers=tuple(result if name == RETURN else name for name in mode.recovers),
        determined_if=None,  # divmod needs its parameters for every divisor
        determined_by=(),
    )


def _both_results(kind: IntegerKind, division: Division) -> Relation:
    """The relation of divmod."""
    floor, rest, moduli = division
    quotient, remainder, excess_of = _forward(floor), _forward(rest), moduli.excess_of
    dividend, divisor = _dividend_of(kind, quotient), _divisor_of(kind, division)
    pair = _pair_of(kind, division, dividend)
    excesses = kind.steps if kind.wraps else kind.sizes

    def divided(a: Any, b: Any) -> Any:
        return quotient(a, b), remainder(a, b)

    def choice_of(r: Any, b: Any) -> Any:
        return excess_of(r, b), b < 0

    def quotient_agreeing(r: Any, a: Any, b: Any) -> Any:
        if remainder(a, b) != r:
            raise NoSolution(DISAGREE)
        return quotient(a, b)

    def remainder_agreeing(q: Any, a: Any, b: Any) -> Any:
        if quotient(a, b) != q:
            raise NoSolution(DISAGREE)
        return remainder(a, b)

    def by_remainder(unknown: str) -> Mode:
        return _with_other(rest.modes[frozenset(unknown)], "r", "q", quotient)

    def by_quotient(unknown: str) -> Mode:
        return _with_other(floor.modes[frozenset(unknown)], "q", "r", remainder)

    return relation(
        divmod, kind.type, kind.type, "q, r = divmod(a, b)",
        returns=(kind.type, kind.type), domain={"b": kind.nonzero},
        edges="q = 0: r is a, and b exceeds it by excess",
        ret=divided,
        q=quotient_agreeing,
        r=remainder_agreeing,
        a=dividend,
        b=parametric(divisor, excess=excesses, negative=Bool, recover=choice_of),
        qa=by_remainder("a"),
        ra=by_quotient("a"),
        qb=by_remainder("b"),
        rb=by_quotient("b"),
        ab=parametric(pair, excess=excesses, negative=Bool, recover=choice_of),
        qab=by_remainder("ab"),
        rab=by_quotient("ab"),
    )  # fmt: skip


DIVISION: Mapping[Any, tuple[Relation, Relation, Relation]] = {
    kind.type: (*FLOOR_DIVISIONS[kind.type][:2], _both_results(kind, FLOOR_DIVISIONS[kind.type]))
    for kind in KINDS
}
"""The relations of //, % and divmod, by type."""
divmod_int = DIVISION[int][2]
