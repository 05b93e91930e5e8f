"""Closures, comprehensions, generators, partials.

Kind: code of any shape
Shows: every shape of code that calls a target
Tests: tests/overlay/python/test_routes.py:
 test_each_call_of_a_target_is_seen_and_the_outcome_is_as_natively
"""

import functools
import math

from overlay import Context, MethodTable

table = MethodTable("tens")
table.overlay(math.sqrt)(lambda x: 10.0)


def program(scale):
    def scaled(x):
        return scale * math.sqrt(x)

    def each(xs):
        for x in xs:
            yield scaled(x)

    print("list:", [scaled(x) for x in (1.0, 2.0)])
    print("dict:", {x: math.sqrt(x) for x in (1.0,)})
    print("generator:", *each((1.0, 4.0)), sum(math.sqrt(x) for x in (1.0, 4.0)))
    print("map and sorted:", *map(math.sqrt, (1.0, 4.0)), *sorted((9.0,), key=math.sqrt))
    print("partial and lambda:", functools.partial(math.sqrt, 4.0)(), (lambda: math.sqrt(4.0))())


Context(table)(program, 2.0)
