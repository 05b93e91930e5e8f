"""Continuations that are called any number of times.

Kind: control flow
Shows: shift and reset, implemented by running the program again up to the shift
"""

import statistics

from overlay import Context, MethodTable


def shift(function):
    """Gives what the rest of the program, a function, is called with."""


class Captured(Exception):
    """The rest of the program is to be a function."""


def reset(program, answers=()):
    table, left = MethodTable("continuations"), list(answers)

    @table.overlay(shift)
    def resumed(function):
        if left:
            return left.pop(0)
        raise Captured(function)

    try:
        return Context(table)(program)
    except Captured as captured:
        (function,) = captured.args
    return function(lambda value: reset(program, (*answers, value)))


print(reset(lambda: 1 + shift(lambda rest: rest(1) * rest(10))))
print(reset(lambda: statistics.mean([shift(lambda k: k(2)), shift(lambda k: [k(4), k(6)])])))
print(reset(lambda: 1 + shift(lambda rest: "left")))
