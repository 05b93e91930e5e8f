"""A transform of a transform.

Kind: replaced calls
Shows: the outer context sees the program that the inner context transforms
Tests: tests/overlay/contexts/test_composition.py:
 test_joining_is_nesting
"""

import math

from overlay import Context, MethodTable, call_next

to_cosine, doubled = MethodTable("to cosine"), MethodTable("doubled")
to_cosine.overlay(math.sin)(lambda x: math.cos(x))


@doubled.overlay(math.cos)
def twice(x):
    return 2 * call_next(x)


def program(x):
    return math.sin(x)


transformed = Context(to_cosine).wrap(program)
print("sine of 0:", program(0.0))
print("the sine's transform:", transformed(0.0))
print("the transform of that:", Context(doubled)(transformed, 0.0))
print("both as one context:", (Context(to_cosine) | Context(doubled))(program, 0.0))
print("the outer one alone:", Context(doubled)(program, 0.0))
