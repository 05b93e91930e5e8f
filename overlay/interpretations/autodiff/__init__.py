"""Automatic differentiation of unmodified programs, interpreted and compiled."""

from overlay.interpretations.autodiff import adding, forward
from overlay.interpretations.autodiff.errors import NotDifferentiable
from overlay.interpretations.autodiff.forward import (
    add_gradient,
    autodiff,
    differentiation,
    inactive,
)
from overlay.interpretations.autodiff.partial_derivatives import (
    AdjointOf,
    PartialsOf,
    adjoint_of,
    partials_of,
)
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
    "Rule",
    "add_gradient",
    "adjoint",
    "adjoint_of",
    "autodiff",
    "derivative",
    "differentiation",
    "gradient",
    "hessian",
    "inactive",
    "jacobian",
    "jvp",
    "partials_of",
    "rule",
    "vjp",
]

adding.gradient_at.bind(lambda: gradient_at)
forward.gradient.bind(lambda: gradient)
