"""Mixed precision: chosen functions in single.

Kind: numerics
Shows: one function of a program in single precision, with all that it calls
Tests: tests/overlay/interpretations/test_precision.py:
 test_one_function_alone_is_lowered
"""

import math

from overlay.interpretations.precision import lowered, single_precision


def length(x, y):
    return math.sqrt(x * x + y * y)


def program(x, y):
    return length(x, y) + 1e-9


for name, context in {"single": single_precision, "only length in single": lowered(length)}.items():
    print(f"{name}: {context(program, 1.0, 1.0):.16f}")
    print(f"  compiled: {context.jit(program)(1.0, 1.0):.16f}")
print(f"double: {program(1.0, 1.0):.16f}")
