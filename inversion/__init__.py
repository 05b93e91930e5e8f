"""Functions run backwards: all the inputs that lead to a value, one for each choice of θ."""

import overlay_dispatch

overlay_dispatch.check("overlay", "primitives")

from inversion.constraints import Paving, contract, pave, solve
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
from inversion.parameters import Parameter, ParameterSpace
from inversion.preimage import SolutionBranch

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
    "WrongArguments",
    "choose",
    "contract",
    "invert",
    "pave",
    "solve",
]
