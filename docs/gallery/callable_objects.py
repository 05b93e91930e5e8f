"""Objects that are called.

Kind: code of any shape
Shows: methods, partials of objects, and objects as the program that runs
Tests: tests/overlay/python/test_callable_kinds.py:
 test_a_site_calls_what_it_holds_whatever_it_has_held
"""

import functools
import math

from overlay import Context, MethodTable


class Scaled:
    def __init__(self, scale):
        self.scale = scale

    def __call__(self, x):
        return self.scale * math.sqrt(x)

    @property
    def of_four(self):
        return self(4.0)


table, half = MethodTable("tens"), functools.partial(Scaled(0.5))
table.overlay(math.sqrt)(lambda x: 10.0)
tens = Context(table)
print("called inside:", tens(lambda: (Scaled(2)(4.0), half(4.0), Scaled(4).of_four)))
print("called by the context:", tens(Scaled(3), 4.0))

table.overlay(Scaled.__call__)(lambda self, x: "the object itself")
print("as a target:", tens(lambda: Scaled(2)(4.0)))
