"""Amb: every outcome of a program that makes choices.

Kind: control flow
Shows: choices of random, tried one after the other
"""

import random

from overlay import Context, MethodTable


class Again(Exception):
    """Another choice is to be tried."""


def outcomes(program):
    table, results, paths = MethodTable("amb"), [], [()]
    path, taken = (), []

    @table.overlay(random.Random.choice)
    def choice(self, options):
        if len(taken) >= len(path):
            paths.extend((*taken, i) for i in reversed(range(1, len(options))))
        taken.append(path[len(taken)] if len(taken) < len(path) else 0)
        return options[taken[-1]]

    while paths:
        path, taken = paths.pop(), []
        try:
            results.append(Context(table)(program))
        except Again:
            continue
    return results


def triangle():
    a, b, c = (random.choice(range(1, 11)) for _ in "abc")
    if not (a < b and a * a + b * b == c * c):
        raise Again
    return a, b, c


print(outcomes(lambda: "".join(random.choice("HT") for _ in range(2))))
print(outcomes(triangle))
