"""Automatic differentiation of unmodified programs, interpreted and compiled.

``active_arguments``: arguments of derivatives: the active ones, as floats or arrays of floats.
``active_arrays``: methods of a level for functions of whole arrays, and for arrays that a program
creates.
``active_numbers``: methods of a level for functions that have a rule, for comparisons and for
conversions.
``adding``: ``add_gradient``, ``add_shared_gradient``: gradients added to existing arrays.
``applying``: application of the rules of functions of whole arrays to active arguments.
``checkpoints``: parts of a program that reverse mode runs again.
``directions``: derivatives in several directions, arranged as gradients and Jacobians.
``duals``: dual numbers: a value with its tangents, one class for each nesting level.
``errors``: errors of differentiation.
``escapes``: detection of active numbers that outlive a function: in lists, attributes and
variables of others.
``forward``: the tables of levels, and the functions that enter a level.
``levels``: nesting levels: the duals of one derivative, and the context with the methods for
them.
``optional_functions``: methods of a level for the functions of optional modules.
``partial_derivatives``: partial derivatives as methods of the target ``partials_of(f)``, and
adjoints of ``adjoint_of(f)``.
``recorded_rules``: the user's rules of adjoints on a tape.
``level_results``: results of a run in a level: their values and tangents.
``plain_values``: values without tangents, for rules of functions that call the program's.
``samples``: methods of a level for functions of the numbers in lists, tuples and arrays.
``linear_tape``: the tape of reverse mode: linear maps that a run records.
``tangent_table``: arrays of one shape with all their tangents as rows of plain numbers.
``testing``: a tester of rules, which compares partial derivatives with finite differences.
``transformations``: derivatives of functions of any number of numbers and arrays.
``unfit_calls``: errors of functions in C that are given active numbers.
``ufunc_methods``: methods of ufuncs, such as ``reduce``, defined by calls of the ufunc.
``reverse``: the adjoint of a program, as Python source generated from its statements.
``rules``: rules of differentiation: those of the catalogue of functions, and a table for each
other family, with one line for each function.
"""

from overlay.core.public_names import completes
from overlay.interpretations.autodiff import adding, applying, checkpoints, duals, forward
from overlay.interpretations.autodiff.checkpoints import checkpoint
from overlay.interpretations.autodiff.errors import NotDifferentiable
from overlay.interpretations.autodiff.forward import (
    add_gradient,
    add_shared_gradient,
    autodiff,
    differentiation,
    inactive,
)
from overlay.interpretations.autodiff.partial_derivatives import (
    AdjointOf,
    PartialsOf,
    ResidualsOf,
    adjoint_of,
    partials_of,
    residuals_of,
)
from overlay.interpretations.autodiff.reverse.taped import taped
from overlay.interpretations.autodiff.rules import RULES, Rule, rule
from overlay.interpretations.autodiff.transformations import (
    adjoint,
    derivative,
    gradient,
    gradient_at,
    hessian,
    jacobian,
    jvp,
    vjp,
)

__all__ = [
    "RULES",
    "AdjointOf",
    "NotDifferentiable",
    "PartialsOf",
    "ResidualsOf",
    "Rule",
    "add_gradient",
    "add_shared_gradient",
    "adjoint",
    "adjoint_of",
    "autodiff",
    "checkpoint",
    "derivative",
    "differentiation",
    "gradient",
    "hessian",
    "inactive",
    "jacobian",
    "jvp",
    "partials_of",
    "residuals_of",
    "rule",
    "vjp",
]
__dir__ = completes(__all__)

duals.applied.bind(lambda: applying.applied)
duals.applied_ufunc.bind(lambda: applying.applied_ufunc)
checkpoints.taped.bind(lambda: taped)
adding.gradient_at.bind(lambda: gradient_at)
forward.gradient.bind(lambda: gradient)
