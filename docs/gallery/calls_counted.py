"""Count all calls.

Kind: observed calls
Shows: a counter that sees functions in Python and in C, in an unmodified program
Tests: tests/overlay/python/test_around.py:
 test_a_real_program_gives_what_it_gives_and_is_seen_whole
"""

import collections
import math

from overlay import Context, Plugin


class Counter(Plugin):
    def __init__(self):
        self.calls = collections.Counter()

    def around(self, callee, run):
        def counted(*args):
            self.calls[callee.__name__] += 1
            return run(*args)

        return counted


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(math.trunc(n) - 2)


counter = Counter()
print("fib(10) is", Context(plugins=(counter,))(fib, 10))
print(dict(counter.calls))
