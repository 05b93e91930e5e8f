"""A tree of calls, with another plugin for each level.

Kind: observed calls
Shows: enter, which returns the plugin that is active below a call
Tests: tests/overlay/python/test_plugins.py:
 test_a_plugin_that_bails_out_is_not_active_below
"""

import math

from overlay import Context, Plugin


class Level(Plugin):
    def __init__(self, depth):
        self.depth = self.cache_token = depth

    def enter(self, callee, types):
        return Level(self.depth + 1)

    def around(self, callee, run):
        def shown(*args):
            print(self.depth, "  " * self.depth + callee.__name__)
            return run(*args)

        return shown


def outer(x):
    return inner(x) + inner(2 * x)


def inner(x):
    return math.sqrt(x)


Context(plugins=(Level(0),))(outer, 4.0)
