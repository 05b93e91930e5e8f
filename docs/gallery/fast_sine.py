"""A fast sine everywhere but inside itself.

Kind: replaced calls
Shows: a method, interpreted and compiled, and a compiler plugin; the callee is named, returned by a
    function, or an item of a tuple
Tests: tests/overlay/python/test_plugins.py:
 test_a_plugin_that_also_enters_works_by_that_and_is_heard_in_what_is_compiled
"""

import math

from overlay import Context, MethodTable, Plugin, nonoverlay


def fast_sin(x):
    return x - x**3 / 6 + 0.0 * math.sin(x)  # the true one


class FastSin(Plugin):
    def enter(self, callee, types):
        return None if callee is fast_sin else self

    def after_inference(self, ir):
        for call in ir.calls(math.sin):
            ir.replace(call, fast_sin, *call.args)


def get_sin():
    return math.sin


def waves(x):
    return math.sin(x) + get_sin()(x) + (math.sin, math.cos)[0](x)


table = MethodTable("fast")
table.overlay(math.sin)(lambda x: nonoverlay(fast_sin)(x))
print("fast sine, three times:", 3 * fast_sin(0.5))
print("interpreted:", Context(table)(waves, 0.5))
print("compiled:", Context(table).jit(waves)(0.5))
print("by a plugin:", Context(plugins=(FastSin(),)).jit(waves)(0.5))
print("outside:", waves(0.5))
