"""Sum every number that a call returns.

Kind: observed calls
Shows: results of functions in Python and in C, observed
Tests: tests/overlay/python/test_around.py:
 test_arguments_and_results_may_be_others_and_the_call_left_out
"""

import math

from overlay import Context, Plugin


class Summed(Plugin):
    def __init__(self):
        self.found = []

    def around(self, callee, run):
        def kept(*args):
            result = run(*args)
            if isinstance(result, int | float):
                self.found.append(result)
            return result

        return kept


def half(x):
    return x / 2


def program(x):
    return math.floor(half(x)) + math.sqrt(len("16 characters it"))


summed = Summed()
print("the program gives", Context(plugins=(summed,))(program, 5.0))
print("sum of", summed.found, "is", sum(summed.found))
