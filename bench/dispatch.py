"""Generic functions: nanoseconds a call, beside a direct call and other libraries, in one run."""

import argparse
import contextlib
import functools
import time
import warnings
from pathlib import Path
from types import MethodType

import multimethod
import multipledispatch
import ovld
import plum
from common.page import part, section, written
from common.timing import interleaved, machine, spread, table

from overlay import Context, MethodTable, generic

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # effectful's own dependencies warn when imported
    import effectful.ops.semantics
    import effectful.ops.syntax

LOOPS = 20_000
CALLS = range(LOOPS)


class Unused:
    """No argument is one."""


def one(x: float):
    return x


def two(x: float, y: float):
    return x


def variants(arity):
    """Each way to the same function of one or two floats, and the block it is called in."""
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
    """The loop over calls of ``f``, in its block or under its context."""
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
    return {name: ((min(t) - nothing) / LOOPS * 1e9, spread(t)) for name, t in times.items()}


def report(arity, found):
    direct, of_plum = found["direct call"][0], found["plum"][0]
    best = min(ns for name, (ns, _) in found.items() if is_peer(name))
    yield (
        f"{arity} argument{'s' if arity > 1 else ''}",
        "ns",
        "/ direct",
        "plum /",
        "/ best peer",
        "spread",
    )
    for name, (ns, noise) in found.items():
        yield (
            name,
            f"{ns:.0f}",
            f"{ns / direct:.1f}",
            f"{of_plum / ns:.1f}",
            f"{ns / best:.2f}",
            f"{noise:.0%}",
        )


def is_peer(name):
    return name != "direct call" and not name.startswith("ours")


def page(figures):
    """The part of docs/benchmarks.md."""
    sections = [
        section(
            f"Of {rows[0][0]}", "", [("variant", *rows[0][2:]), *(drop_ns(r) for r in rows[1:])]
        )
        for rows in figures.values()
    ]
    text = (
        "A call of a function of one method, for one or two floats. The peers are a direct call "
        "and other libraries. *plum /* is how many times faster than plum a call is, */ best "
        "peer* how many times slower than the fastest of the libraries."
    )
    return part("Generic functions", text, sections)


def drop_ns(row):
    return row[0], *row[2:]


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40, help="runs of each variant (40)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    return parser.parse_args()


def main():
    chosen = options()
    start = time.perf_counter()
    print(machine())
    figures = {}
    for arity in (1, 2):
        figures[str(arity)] = list(report(arity, measured(arity, chosen.rounds)))
        print()
        print(table(figures[str(arity)]))
    written({**figures, "page": page(figures)}, chosen.json)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
