"""The series of costs measured as they grow."""

from time import perf_counter

import numba
from common.generated import unreached_table
from common.growing import (
    CALLS,
    ENTRIES,
    WORKERS,
    Series,
    answer,
    array_compiled,
    array_inverted,
    batch,
    batch_by_hand,
    branching,
    by_njit,
    call_in_a_table,
    call_inside_contexts,
    calls_by_njit,
    calls_of,
    compilation,
    compiled_by,
    entering_contexts,
    first_use,
    generic_call,
    in_own_context,
    loop_inverted,
    natively,
    planning,
    recovered,
    shared_by_threads,
    straight,
    summing,
    table_made,
    tables_joined,
    turns,
)

from overlay import Context

__all__ = ["SERIES"]

SIZES = (100, 10_000, 100_000, 1_000_000)
FEW = (1, 10, 100, 1000)
METHODS = "methods of one target"
NESTED = "contexts nested"

SERIES = (
    Series(
        "statements", "first use, Python engine", (10, 100, 1000), first_use(straight), fresh=True
    ),
    Series(
        "statements",
        "compiling",
        (3, 10, 30, 100, 300),
        compilation(straight),
        by_njit(straight),
        fresh=True,
    ),
    Series("statements", "planning an inverse", (10, 30, 100, 300), planning(straight), fresh=True),
    Series(
        "functions",
        "first use, Python engine",
        (3, 10, 30, 100, 300),
        first_use(calls_of),
        fresh=True,
    ),
    Series(
        "functions", "compiling", (1, 3, 10, 30), compilation(calls_of), calls_by_njit, fresh=True
    ),
    Series("functions", "planning an inverse", (1, 3, 10, 30), planning(calls_of), fresh=True),
    Series(
        "branches", "first use, Python engine", (1, 4, 16, 64), first_use(branching), fresh=True
    ),
    Series(
        "branches",
        "compiling",
        (1, 4, 16, 64),
        compilation(branching),
        by_njit(branching),
        fresh=True,
    ),
    Series("branches", "planning an inverse", (1, 4, 16, 64), planning(branching), fresh=True),
    Series(METHODS, "a call, Python engine", FEW, call_in_a_table, calls=CALLS),
    Series(METHODS, "a call of a generic function", FEW, generic_call, calls=CALLS),
    Series(METHODS, "a new table, and a first call", FEW, table_made, fresh=True),
    Series(NESTED, "a call inside, Python engine", (1, 4, 16), call_inside_contexts, calls=CALLS),
    Series(NESTED, "entering them all", (1, 4, 16), entering_contexts, calls=ENTRIES),
    Series(
        "tables of one context", "a call, Python engine", (1, 4, 16), tables_joined, calls=CALLS
    ),
    Series(
        "iterations of a loop",
        "interpreted",
        (10, 1000, 100_000),
        turns("interpreted"),
        turns("native"),
    ),
    Series(
        "iterations of a loop",
        "compiled",
        (100_000, 1_000_000, 10_000_000),
        turns("compiled"),
        turns("njit"),
    ),
    Series("iterations of a loop", "its inverse, interpreted", (10, 100, 1000), loop_inverted),
    Series(
        "elements of an array",
        "`batch` of an inverse",
        SIZES,
        batch,
        batch_by_hand,
    ),
    Series("elements of an array", "the compiled inverse of a program", SIZES, array_inverted),
    Series(
        "elements of an array",
        "a compiled program",
        SIZES,
        array_compiled(lambda f: Context(unreached_table(0)).jit(f)),
        array_compiled(numba.njit),
    ),
    Series("coordinates of θ", "planning", (1, 4, 16, 64), planning(summing), fresh=True),
    Series("coordinates of θ", "an answer", (1, 4, 16, 64), answer, calls=20),
    Series("coordinates of θ", "`recover`", (1, 4, 16, 64), recovered, calls=20),
    Series(
        "threads that share the same work",
        "interpreted, a context for each",
        WORKERS,
        shared_by_threads(in_own_context()),
        shared_by_threads(natively()),
        clock=perf_counter,
    ),
    Series(
        "threads that share the same work",
        "compiled, without the GIL",
        WORKERS,
        shared_by_threads(compiled_by(lambda f: Context(unreached_table(0)).jit(f, nogil=True))),
        shared_by_threads(compiled_by(numba.njit(nogil=True))),
        clock=perf_counter,
    ),
)
