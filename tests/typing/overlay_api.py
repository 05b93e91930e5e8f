"""What a type checker knows of ``overlay``. Nothing here runs: ``make check`` reads it."""

# pyright: strict, reportUnnecessaryTypeIgnoreComment=true

import math
from collections.abc import Iterator
from typing import Any, assert_type

from overlay import (
    Context,
    Method,
    MethodTable,
    call_next,
    current_context,
    generic,
    nonoverlay,
    recurse,
)

table = MethodTable("table")
ctx = Context(table)


def text_of(x: float, *, digits: int = 1) -> str:
    return f"{x:.{digits}f}"


# decorated functions keep their types


@table.overlay(math.sin)
def sin(x: float) -> float:
    return assert_type(call_next(x), Any)


@table.generated("scipy.special:erf")
def erf(x: float) -> Any:
    return math.erf


assert_type(sin(1.0), float)
sin("text")  # pyright: ignore[reportArgumentType]

# so do functions in a context, interpreted and compiled

assert_type(ctx(text_of, 1.0, digits=2), str)
assert_type(ctx.wrap(text_of)(1.0), str)
assert_type(ctx.jit(text_of)(1.0, digits=2), str)
assert_type(nonoverlay(text_of)(1.0), str)
assert_type(recurse(ctx, text_of, 1.0), str)
ctx(text_of, "text")  # pyright: ignore[reportArgumentType]
ctx(text_of, 1.0, digit=2)  # pyright: ignore[reportCallIssue]
ctx.wrap(text_of)("text")  # pyright: ignore[reportArgumentType]
ctx.jit(text_of)(1.0, digits="2")  # pyright: ignore[reportArgumentType]
nonoverlay(text_of)()  # pyright: ignore[reportCallIssue]

hot = ctx.jit(text_of)
assert_type(hot.functions_compiled, int)
assert_type([each.hits for each in hot.barriers()], list[int])

# contexts and tables are values

assert_type(ctx | Context(), Context)
assert_type(ctx.replace(metadata=2), Context)
assert_type(current_context(), Context | None)
assert_type(table.methods(math.sin)[0], Method)
assert_type(len(table), int)
assert_type([site.status for site in ctx.explain(text_of, float)], list[str])
assert_type([hit.calls for hit in ctx.report().hits], list[int | None])
ctx.replace(metadat=2)  # pyright: ignore[reportCallIssue]

with ctx as entered:
    assert_type(entered, Context)


# a generic function has the signature that it is declared with


@generic
def area(shape: object) -> float: ...


@area.dispatch
def area_of_number(shape: float) -> float:
    return shape


assert_type(area(1.0), float)


def numbers(n: int) -> Iterator[float]:
    yield float(n)


assert_type(ctx(numbers, 3), Iterator[float])
