"""A context from another module.

Kind: code of any shape
Shows: a module that defines a context, in helpers/degrees.py
"""

import math

from helpers.degrees import degrees, table

from overlay import Context


def height(angle, distance):
    return distance * math.sin(angle)


print(f"as it is: {height(30.0, 2.0):.3f}")
print(f"in the context: {degrees(height, 30.0, 2.0):.3f}")
print(f"compiled: {degrees.jit(height)(30.0, 2.0):.3f}")
print(f"its table in a context of ours: {Context(table)(height, 90.0, 2.0):.3f}")
