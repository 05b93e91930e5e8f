"""All passes of ``invert``, in the order in which they run; each gives a program of equal meaning.

Nothing else rewrites a program between lifting and planning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inversion.passes.grouping import (
    absorb,
    chained,
    fuse_elementwise,
    fuse_moved,
    in_polar_coordinates,
    with_systems,
)
from inversion.passes.integer_forms import by_digits, reduced, with_integer_systems
from inversion.passes.simplifying import fold, fuse, narrow, pair, prune, settle, share
from inversion.program.statements import Program

__all__ = ["IF_NOT_PLANNED", "PASSES", "SIMPLIFY", "Pass", "rewritten", "simplified"]

Pass = Callable[..., Program]
"""Takes a program; those of ``TAKE_KNOWN`` also the names of its known axes."""

SIMPLIFY: tuple[Pass, ...] = (
    fold,  # statements whose arguments are constants are computed
    share,  # equal statements become one
    fuse,  # n ^ (n >> k) becomes one step of a xorshift
    pair,  # a quotient and a remainder of the same numbers become one divmod
    narrow,  # of a branch or loop whose result is known, only the paths that give it are left
    settle,  # a condition about the lowest bit of an integer says what the bit is
    prune,  # what the results do not need is left out
)
"""The passes that run inside of branches, loops and elementwise statements, too."""

PASSES: tuple[Pass, ...] = (
    *SIMPLIFY,
    by_digits,  # quotients and remainders of one integer by constants become a chain of divmods
    reduced,  # a product of integers that is reduced becomes one congruence
    chained,  # strings and lists that are joined in steps become one chain of parts
    prune,
    fuse_moved,  # statements that move elements of one array become one
    with_systems,  # a loop of shared arrays that is linear becomes one system of equations
    fuse_elementwise,  # elementwise statements that share an array become one
    absorb,  # what only a branch needs is computed by the branch
    in_polar_coordinates,  # a point's x and y, or its length and angle, become one statement
    prune,
)
"""The passes that every program goes through."""

IF_NOT_PLANNED: tuple[Pass, ...] = (
    with_integer_systems,  # sums that share integers become one system of equations
    prune,
)
"""The passes after which a program is planned again where it cannot be planned without them."""

TAKE_KNOWN: tuple[Pass, ...] = (with_systems, in_polar_coordinates)


def rewritten(
    program: Program, known: Sequence[str] = (), passes: Sequence[Pass] = PASSES
) -> Program:
    """A program after some passes. known: the names of its known axes."""
    for rewrite in passes:
        program = rewrite(program, known) if rewrite in TAKE_KNOWN else rewrite(program)
    return program


def simplified(program: Program) -> Program:
    """A program that stands inside of a statement, as it is planned."""
    return absorb(rewritten(program, passes=SIMPLIFY))
