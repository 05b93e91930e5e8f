"""Count calls by the types of their arguments.

Kind: observed calls
Shows: a method that calls call_next, inside a library
Tests: tests/overlay/interpretations/test_profiling.py:
 test_counts_are_those_of_cprofile
"""

import collections
import fractions
import math

from overlay import Context, MethodTable, call_next

table, counts = MethodTable("counting"), collections.Counter()


@table.overlay(math.gcd)
def counted(*numbers):
    counts[tuple(type(number).__name__ for number in numbers)] += 1
    return call_next(*numbers)


def program():
    half = fractions.Fraction(1, 2)
    return half + fractions.Fraction(6, 8), math.gcd(True, 4, 6)


print(*Context(table)(program))
print(*sorted(counts.items()), sep="\n")
