"""Contexts that do nothing, three deep.

Kind: replaced calls
Shows: compiled code is shared with the plain context, and interpreted code runs unchanged
Tests: tests/overlay/compiled/test_sharing.py:
 test_a_context_of_no_table_and_one_of_unreached_tables_share
"""

import sys

from overlay import Context, MethodTable


def remainders(n):
    total = 0
    for i in range(n):
        total += i * i % 7
    return total


def frames():
    frame, found = sys._getframe(), []
    while frame is not None and len(found) < 2:
        found.append(frame.f_code.co_name)
        frame = frame.f_back
    return found


def program():
    return frames()


one, two, three = (Context(MethodTable(name)) for name in "abc")
print("frames:", one(two, three, program))
plain, nested = Context().jit(remainders), (one | two | three).jit(remainders)
print("results:", plain(9), nested(9), remainders(9))
print("functions compiled:", plain.functions_compiled, "then", nested.functions_compiled)
