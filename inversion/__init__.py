"""Program inversion: all inputs of a function that give a value, as a function of parameters."""

from typing import TYPE_CHECKING, Any

import overlay_dispatch

overlay_dispatch.check("overlay", "primitives")

from inversion.errors import (
    MissingPackage,
    NoSolution,
    NotInvertible,
    NotWritable,
    OutsideDomain,
    WrongArguments,
)
from inversion.inverse import Inverse
from inversion.invert import choose, invert
from inversion.planning.parameters import Parameter, ParameterSpace
from inversion.solving.solutions import SolutionBranch, Solutions
from inversion.tools.renderers import register as _register

if TYPE_CHECKING:
    from inversion.solving.constraints import Paving, contract, pave, solve

__all__ = [
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

_register()

# imported on first access: the tables of intervals, on which these are built, are slow to import
_LATER = ("Paving", "contract", "pave", "solve")


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from inversion.solving import constraints

    return getattr(constraints, name)
