"""Hooks in an exact order.

Kind: observed calls
Shows: the plugin of the inner context sees a call first, and its result last
Tests: tests/overlay/python/test_around.py:
 test_the_innermost_plugin_sees_a_call_first
"""

import math

from overlay import Context, Plugin


class Hooks(Plugin):
    def __init__(self, label):
        self.label = label

    def around(self, callee, run):
        def hooked(*args):
            print(self.label, "before", callee.__name__)
            result = run(*args)
            print(self.label, "after", callee.__name__)
            return result

        return hooked


def program(x):
    return math.sqrt(x)


outer, inner = (Context(plugins=(Hooks(label),)) for label in ("outer", "inner"))
outer(inner, program, 4.0)
