"""Existing contexts see a redefinition.

Kind: code of any shape
Shows: methods that are replaced, and functions that are rebound, interpreted and compiled
Tests: tests/overlay/python/test_redefinition.py:
 test_a_method_replaced_added_and_removed,
 tests/overlay/compiled/test_redefinition.py:
 test_a_method_added_replaced_and_removed_is_seen_at_the_next_call
"""

import math

from overlay import Context, MethodTable

table = MethodTable("table")


def scale():
    return 1.0


def program():
    return scale() * math.sqrt(4.0)


context = Context(table)
compiled = context.jit(program)
print(context(program), compiled())

table.overlay(math.sqrt)(lambda x: 10.0)
print(context(program), compiled())

table.overlay(math.sqrt)(lambda x: 20.0)
print(context(program), compiled())


def scale():  # noqa: F811 (it is redefined on purpose)
    return 0.5


print(context(program), compiled())
