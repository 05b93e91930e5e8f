"""Log each call before and after it.

Kind: observed calls
Shows: a plugin around each call, in code of the standard library
Tests: tests/overlay/python/test_around.py:
 test_functions_classes_methods_and_what_is_written_in_c
"""

import colorsys
import math

from overlay import Context, Plugin


class Log(Plugin):
    def around(self, callee, run):
        def logged(*args):
            print(f"{callee.__name__}{args}")
            result = run(*args)
            print(f"{callee.__name__} gave {result}")
            return result

        return logged


def loudness(red, green, blue):
    return math.log10(colorsys.rgb_to_yiq(red, green, blue)[0])


logging = Context(plugins=(Log(),))
logging(loudness, 1.0, 1.0, 0.0)
