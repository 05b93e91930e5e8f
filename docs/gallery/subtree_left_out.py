"""Leave the context below a call.

Kind: replaced calls
Shows: nonoverlay, below which the context has no effect
Tests: tests/overlay/python/test_plugins.py:
 test_a_plugin_that_bails_out_is_not_active_below
"""

import math

from overlay import Context, MethodTable, nonoverlay

table = MethodTable("floors")
table.overlay(math.sqrt)(lambda x: math.isqrt(int(x)))


@table.overlay(math.dist)
def dist(p, q):
    return nonoverlay(exact)(p, q)


def exact(p, q):
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(p, q, strict=True)))


def program():
    return math.sqrt(10.0), math.dist((0, 1), (1, 4))


print(*Context(table)(program))
