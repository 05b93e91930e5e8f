"""A context that a module of its own defines."""

import math

from overlay import Context, MethodTable, call_next

table = MethodTable("degrees")


@table.overlay(math.sin)
def sin(x: float):
    return call_next(math.radians(x))


degrees = Context(table)
