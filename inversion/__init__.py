"""Program inversion: all inputs for which a function gives a value, as a function of parameters.

``deadline``: the time limit of a search: long computations check it; those that do not are
interrupted.
``errors``: the errors of inversion.
``inverse``: the inverse of a function: a callable that solves for the inputs and checks its answer.
``inverse_command``: the command line: ``python -m inversion FUNCTION --return VALUE``.
``inverting``: ``invert`` and ``choose``: from a function to its inverse.
``minimal``: a complete minimal implementation of inversion by overlays alone, for straight-line
programs.
``minimal_relations``: ``inversion.minimal`` with all primitives, by overlays and the table of
relations.
``numba_compilation``: compilation of generated functions by numba, and inference of return types.
``contraction``: interval contraction: constraint propagation backwards through programs, which
excludes values before a search.
``derivatives``: derivatives of programs and of their inverses.
``emitting``: from a plan to the Python source of an inverse.
``intrinsics``: functions that generated code calls, compiled once for all inverses.
``lifting``: lifting of a function to a program, by abstract execution of its code.
``passes``: passes that rewrite programs before they are planned.
``planning``: the plan of an inverse: its free choices, and the order in which statements are
solved.
``program``: programs: statements that relate variables, including branches and loops.
``running``: inverses that run: on one result, on rows of results, and in other processes.
``solving``: searches: all solutions, the nearest one, and one for which no θ is given.
``tools``: tools for inverses: inspection, checks and export.
``by_length``: inverses of functions that iterate over strings, bytes or lists of unknown length.
"""

from typing import TYPE_CHECKING

import overlay_dispatch

overlay_dispatch.check("overlay", "primitives")

from inversion.program import late_parts
from overlay.core.late_binding import lazy_names

if TYPE_CHECKING:
    from inversion.errors import (
        MissingPackage,
        NoSolution,
        NotInvertible,
        NotWritable,
        OutsideDomain,
        WrongArguments,
    )
    from inversion.inverse import Inverse
    from inversion.inverting import choose, invert
    from inversion.planning.parameters import Parameter, ParameterSpace
    from inversion.solving.constraints import Paving, contract, pave, solve
    from inversion.solving.least_squares import Fit
    from inversion.solving.solutions import SolutionBranch, Solutions

__all__ = [
    "Fit",
    "Inverse",
    "MissingPackage",
    "NoSolution",
    "NotInvertible",
    "NotWritable",
    "OutsideDomain",
    "Parameter",
    "ParameterSpace",
    "Paving",
    "SolutionBranch",
    "Solutions",
    "WrongArguments",
    "choose",
    "contract",
    "invert",
    "pave",
    "solve",
]


# imported on first access: numba, the tables and the parts of inversion are slow to import
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "errors": (
            "MissingPackage",
            "NoSolution",
            "NotInvertible",
            "NotWritable",
            "OutsideDomain",
            "WrongArguments",
        ),
        "inverse": ("Inverse",),
        "inverting": ("choose", "invert"),
        "planning.parameters": ("Parameter", "ParameterSpace"),
        "solving.constraints": ("Paving", "contract", "pave", "solve"),
        "solving.least_squares": ("Fit",),
        "solving.solutions": ("SolutionBranch", "Solutions"),
    },
)


# ---- what programs ask of parts above them --------------------------------------------------


@late_parts.renderers.bind
def _():
    from inversion.tools.renderers import register

    register()


@late_parts.plans.bind
def _():
    from inversion.planning import loop_modes, statement_modes

    return loop_modes, statement_modes  # their imports register what they plan
