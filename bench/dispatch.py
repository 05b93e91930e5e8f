"""Generic functions: nanoseconds a call, beside a direct call and other libraries, in one run."""

import contextlib
import functools
import statistics
import time
import warnings
from types import MethodType

import multimethod
import multipledispatch
import ovld
import plum
from common.options import options
from common.page import part, section, written
from common.timing import interleaved, machine, spread_of, table

from overlay import Context, MethodTable, generic

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # effectful's own dependencies warn when imported
    import effectful.ops.semantics
    import effectful.ops.syntax

LOOPS = 20_000
CALLS = range(LOOPS)


class Unused:
    """A class without instances."""


def one(x: float):
    return x


def two(x: float, y: float):
    return x


def variants(arity):
    """The variants of a function of one or two floats, each with the block that calls it."""
    body, native = one if arity == 1 else two, contextlib.nullcontext
    declared, reached = ours(body), ours(body)
    unreached, hit = MethodTable("unreached"), MethodTable("hit")
    other = ours(body)
    unreached.overlay(other)(body)
    hit.overlay(reached)(body)
    made = {
        "direct call": (body, native),
        "ours, no context": (declared, native),
        "ours, with: not reached": (declared, lambda: Context(unreached)),
        "ours, with: reached": (reached, lambda: Context(hit)),
        "ours, ctx(f): not reached": (declared, Context(unreached).__call__),
        "ours, ctx(f): reached": (reached, Context(hit).__call__),
        "plum": (plum.Dispatcher()(body), native),
        "ovld": (in_ovld(body), native),
        "multipledispatch": (
            multipledispatch.dispatch(*[float] * arity, namespace={})(body),
            native,
        ),
        "multimethod": (multimethod.multimethod(body), native),
        "effectful, no handler": (in_effectful(body)[0], native),
        "effectful, handled": in_effectful(body),
    }
    if arity == 1:
        made["functools.singledispatch"] = (in_singledispatch(body), native)
    return made


def ours(body):
    def declared(x): ...
    def of_two(x, y): ...

    return generic(declared if body is one else of_two).dispatch(body)


def in_ovld(body):
    dispatcher = ovld.Ovld()
    dispatcher.register(body)
    return dispatcher.dispatch


def in_singledispatch(body):
    def base(x):
        raise TypeError

    dispatcher = functools.singledispatch(base)
    dispatcher.register(float)(body)
    return dispatcher


def in_effectful(body):
    if body is one:

        @effectful.ops.syntax.defop
        def operation(x: float) -> float:
            return x
    else:

        @effectful.ops.syntax.defop
        def operation(x: float, y: float) -> float:
            return x

    return operation, lambda: effectful.ops.semantics.handler({operation: body})


def once(f):
    for _ in CALLS:
        f(1.5)


def twice(f):
    for _ in CALLS:
        f(1.5, 2.5)


def job(loop, f, place):
    """A run of the loop over calls of ``f``, in its block or under its context."""
    if isinstance(place, MethodType):
        return lambda: place(loop, f)

    def run():
        with place():
            loop(f)

    return run


def empty(f):
    for _ in CALLS:
        pass


def measured(arity, rounds):
    loop = once if arity == 1 else twice
    jobs = {name: job(loop, *made) for name, made in variants(arity).items()}
    jobs["the loop itself"] = lambda: empty(None)
    times = interleaved(jobs, rounds)
    nothing = min(times.pop("the loop itself"))
    return {name: of_a_call(taken, nothing) for name, taken in times.items()}


def of_a_call(taken, nothing):
    """Nanoseconds of one call: the fastest and the median run, and the spread of the runs."""
    fastest, middle = ((t - nothing) / LOOPS * 1e9 for t in (min(taken), statistics.median(taken)))
    return {"ns": fastest, "median": middle, "spread": spread_of(taken)}


def report(arity, found):
    direct, of_plum = found["direct call"]["ns"], found["plum"]["ns"]
    best = min(each["ns"] for name, each in found.items() if is_peer(name))
    variant = f"{arity} argument{'s' if arity > 1 else ''}"
    yield (variant, "/ direct", "plum /", "/ best peer", "ns", "median", "spread")
    for name, each in found.items():
        ns = each["ns"]
        ratios = f"{ns / direct:.1f}", f"{of_plum / ns:.1f}", f"{ns / best:.2f}"
        yield (name, *ratios, f"{ns:.0f}", f"{each['median']:.0f}", f"{each['spread']:.0%}")


def is_peer(name):
    return name != "direct call" and not name.startswith("ours")


def page(figures):
    """The part of docs/report.md."""
    sections = [
        section(f"Of {rows[0][0]}", "", [("variant", *rows[0][1:]), *rows[1:]])
        for rows in (list(report(int(arity), found)) for arity, found in figures.items())
    ]
    text = (
        "A call of a function with one method, for one or two floats. The peers are a direct "
        "call and other libraries. *plum /* is the speed relative to plum, and */ best peer* "
        "the time relative to the fastest library."
    )
    return part("Generic functions", text, sections)


def main():
    chosen = options(__doc__)
    rounds = 1 if chosen.smallest else 4 * chosen.rounds  # they are short
    start = time.perf_counter()
    print(machine())
    figures = {}
    for arity in (1, 2):
        figures[str(arity)] = measured(arity, rounds)
        print()
        print(table(list(report(arity, figures[str(arity)]))))
    written({**figures, "page": page(figures)}, chosen.json)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
