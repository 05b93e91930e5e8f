"""All passes of ``invert``, in the order in which they run. Each preserves the meaning of a
program.

Nothing else rewrites a program between lifting and planning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from inversion.passes.array_elements import with_elements
from inversion.passes.bit_forms import in_bits
from inversion.passes.grouping import (
    absorb,
    chained,
    fuse_elementwise,
    fuse_moved,
    in_polar_coordinates,
    with_systems,
)
from inversion.passes.integer_forms import (
    by_digits,
    reduced,
    with_integer_sums,
    with_integer_systems,
)
from inversion.passes.simplifying import fold, fuse, narrow, pair, prune, settle, share
from inversion.program.statements import Program
from primitives import Domain

__all__ = [
    "IN_BITS",
    "PASSES",
    "SIMPLIFY",
    "Pass",
    "otherwise",
    "rewritten",
    "simplified",
]

Pass = Callable[..., Program]
"""A pass, which rewrites a program; those in ``TAKE_KNOWN`` also take the names of its
known axes.
"""

SIMPLIFY: tuple[Pass, ...] = (
    fold,  # statements whose arguments are constants are computed
    share,  # equal statements become one
    fuse,  # n ^ (n >> k) becomes one step of a xorshift
    pair,  # a quotient and a remainder of the same numbers become one divmod
    narrow,  # if the result of a branch or loop is known, only the paths that give it remain
    settle,  # a condition on the lowest bit of an integer determines the bit
    prune,  # statements that no result needs are removed
)
"""The passes that also run inside branches, loops and elementwise statements."""

PASSES: tuple[Pass, ...] = (
    *SIMPLIFY,
    by_digits,  # quotients and remainders of one integer by constants become a chain of divmods
    reduced,  # a product of integers, taken modulo a constant, becomes one congruence
    with_integer_sums,  # a sum of integers that are all multiplied becomes sums of two terms
    chained,  # strings and lists concatenated in steps become one chain of parts
    prune,
    fuse_moved,  # statements that move elements of one array become one
    with_systems,  # a loop of shared arrays that is linear becomes one system of equations
    fuse_elementwise,  # elementwise statements that share an array become one
    absorb,  # statements that only a branch needs move into it
    in_polar_coordinates,  # a point's x and y, or its length and angle, become one statement
    prune,
)
"""The passes that run on every program."""

IF_NOT_PLANNED: tuple[Pass, ...] = (
    with_integer_systems,  # sums that share integers become one system of equations
    prune,
)
"""The passes after which a program is planned again if planning failed."""

IN_BITS: tuple[Pass, ...] = (
    *SIMPLIFY,
    in_bits,  # statements over bits of the same integers become one system of sums modulo 2
    *PASSES,
)
"""The passes for a program for which ``PASSES`` lead to no plan, or to one with choices."""

TAKE_KNOWN: tuple[Pass, ...] = (with_systems, in_polar_coordinates)


def rewritten(
    program: Program,
    known: Sequence[str] = (),
    passes: Sequence[Pass] = PASSES,
    domains: Mapping[str, Domain] | None = None,
) -> Program:
    """The program after some passes.

    known: the names of its known axes. domains: the declared domains of inputs.
    """
    for rewrite in passes:
        if rewrite is in_bits:
            program = rewrite(program, domains or {})
        else:
            program = rewrite(program, known) if rewrite in TAKE_KNOWN else rewrite(program)
    return program


def otherwise(whole: Program, program: Program, known: Sequence[str]) -> Iterator[Program]:
    """Other forms of a program for which no plan was found: after the passes in ``IF_NOT_PLANNED``,
    and with small arrays as numbers.

    whole: the program before all passes.
    """
    yield rewritten(program, known, IF_NOT_PLANNED)
    yield rewritten(with_elements(whole), known)


def simplified(program: Program) -> Program:
    """A program inside a statement, simplified for planning."""
    return absorb(rewritten(program, passes=SIMPLIFY))
