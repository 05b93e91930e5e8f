"""Products become sums.

Kind: replaced calls
Shows: an operator as target: in an expression, in reduce, and in compiled code
Tests: tests/overlay/python/test_operators.py:
 test_infix,
 tests/overlay/python/test_operators.py:
 test_operators_called_as_functions_are_the_same_targets
"""

import functools
import operator

import numpy as np

from overlay import Context, MethodTable

table = MethodTable("sums")
table.overlay(operator.mul)(lambda a, b: a + b)


def product(numbers):
    found = numbers[0]
    for number in numbers[1:]:
        found = found * number
    return found


sums = Context(table)
print("product:", product([3, 4, 5]))
print("in the context:", sums(product, [3, 4, 5]))
print("by reduce:", sums(functools.reduce, operator.mul, [3, 4, 5]))
print("compiled:", sums.jit(product)(np.array([3.0, 4.0, 5.0])))
