"""Programs that nobody here wrote, unmodified: reached exactly as often as they call."""

import collections
import colorsys
import fractions
import json.encoder
import math
import random
import statistics
import sys
import textwrap

import pytest

from overlay import Context, MethodTable, call_next

RANDOM = random.Random(1)
NUMBERS = [RANDOM.uniform(-5, 5) for _ in range(20)]


def colours():
    return [colorsys.hls_to_rgb(*colorsys.rgb_to_hls(r / 9, 0.4, 0.1)) for r in range(9)]


def moments():
    mean, spread = statistics.mean(NUMBERS), statistics.stdev(NUMBERS)
    normal = statistics.NormalDist.from_samples(NUMBERS)
    return mean, spread, normal.cdf(0.5), statistics.quantiles(NUMBERS)


def prose():
    return textwrap.fill("it was the best of times " * 9, 30), textwrap.shorten("a b c " * 9, 12)


def exact():
    return [fractions.Fraction(str(round(x, 3))).limit_denominator(50) for x in NUMBERS]


def encoded():
    return list(json.encoder.JSONEncoder(indent=2).iterencode({"a": [1, None, {"b": "c"}]}))


PROGRAMS = {
    colours: [colorsys.rgb_to_hls, colorsys.hls_to_rgb, colorsys._v],
    moments: [statistics.mean, statistics._sum, statistics._exact_ratio, statistics._ss],
    prose: [textwrap.TextWrapper.__init__, textwrap.TextWrapper._split, textwrap.fill],
    exact: [fractions.Fraction.limit_denominator],
    encoded: [json.encoder._make_iterencode, json.encoder.JSONEncoder.iterencode],
}


def counted_natively(program, functions):
    """How often each function starts, as the interpreter itself reports it."""
    codes = {function.__code__: function for function in functions}
    counts = collections.Counter()

    def profile(frame, event, arg):
        if event == "call" and frame.f_code in codes:
            counts[codes[frame.f_code]] += 1

    sys.setprofile(profile)
    try:
        result = program()
    finally:
        sys.setprofile(None)
    return result, counts


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_table_that_is_never_reached_changes_nothing(program):
    table = MethodTable("never")
    table.overlay(math.gamma)(lambda x: None)
    assert Context(table)(program) == program()


@pytest.mark.parametrize("program", PROGRAMS)
def test_counting_overlays_see_every_call(program):
    table, counts = MethodTable("count"), collections.Counter()
    functions = PROGRAMS[program]
    for function in functions:

        @table.overlay(function)
        def method(*args, function=function, **kwargs):
            counts[function] += 1
            return call_next(*args, **kwargs)

    expected, natively = counted_natively(program, functions)
    assert Context(table)(program) == expected
    assert all(natively[function] for function in functions)
    assert counts == natively
