"""Calls that interpret other calls: in a context, as derivatives, or as inverses.

``ctx(f, x)`` and ``ctx.wrap(f)`` lift f in that context, inside the contexts in force.
``autodiff(f, x)`` and ``derivative(f)`` become the statements that compute the derivative. A call
of an inverse is a statement whose relation is solved by the inverted function; its partial
derivatives follow from those of that function, in its own context.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol

from inversion.errors import NotInvertible
from inversion.lifting.lifted_slopes import derivative
from inversion.lifting.lifted_values import (
    CallSite,
    Constant,
    KnownObject,
    Named,
    Tupled,
    Value,
    Values,
    Variable,
    plain,
    variables_in,
)
from overlay import Context
from overlay.contexts.wrapping import interpreted_in
from overlay.core.target import describe
from overlay.interpretations import intervals
from overlay.interpretations.autodiff import (
    Rule,
    autodiff,
    differentiation,
    transformations,
)
from overlay.interpretations.autodiff.transformations import Derivative, OfArguments

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter
    from overlay import MethodTable
    from primitives import Relation

__all__ = ["InverseCall", "check_interpreted", "interpreted_call"]


@dataclass(frozen=True)
class InverseCall:
    """A call of an inverse with θ fixed, for lifting: the relation, the rule of its partial
    derivatives, and the code and tables of the inverse.
    """

    relation: Relation
    rule: Rule
    functions: tuple[FunctionType, ...]
    tables: tuple[MethodTable, ...]

    def partials(self, *known: float) -> tuple[float, ...]:
        """The partial derivatives of the answer for known values."""
        return self.rule.partials(*known, self.rule.function(*known))


class CanBeLifted(Protocol):
    """Protocol of an inverse whose calls can be lifted."""

    known: tuple[str, ...]

    def lifted_call(self, theta: Any) -> InverseCall:
        """The call with this θ. Raises NotInvertible unless it finds one float from floats."""
        ...


def interpreted_call(
    lifter: Lifter, site: CallSite, target: Any, args: Values, kwargs: Named
) -> Value | None:
    """The value of a call of a context, of a function bound to one, of ``autodiff`` or a function
    made by ``derivative`` or ``gradient``, or of an inverse; None for any other call.
    """
    if target is autodiff:
        return derivative(lifter, site, args)
    if isinstance(target, (Derivative, OfArguments)) and target.is_autodiff:
        if target.rules:
            raise _refused(site, "a derivative with rules", "give the rules as relations, or none")
        return derivative(lifter, site, (KnownObject(target.function), *args))
    if isinstance(target, Context) and args and isinstance(args[0], KnownObject):
        return _inside(lifter, site, target, args[0].value, args[1:], kwargs)
    bound = interpreted_in(target)
    if bound is not None:
        return _inside(lifter, site, *bound, args, kwargs)
    inverse: Any = target
    if hasattr(type(inverse), "lifted_call"):
        return _inverted(lifter, site, inverse, args, kwargs)
    check_interpreted(target, site.where)
    return None


def check_interpreted(function: Any, where: str) -> None:
    """Raise NotInvertible for a function of an interpretation, if another form of it can be
    inverted.
    """
    module = function.__module__ if isinstance(function, FunctionType) else None
    help = ""
    if module == f"{intervals.__name__}.enclosing" and function is intervals.enclose:
        help = "contract(f, Interval(low, high), returns=interval) encloses what leads to one"
    elif function is differentiation or function == Context.jit:
        help = "make the context, or the compiled function, outside of the function to invert"
    elif module == transformations.__name__ or (
        isinstance(function, OfArguments) and not function.is_autodiff
    ):
        help = "write autodiff(f, x), or make derivative(f) or gradient(f) outside"
    if help:
        name = describe(function).partition(".<")[0]
        raise NotInvertible(f"cannot invert a call of {name}", where=where, help=help)


def _inside(
    lifter: Lifter, site: CallSite, context: Context, function: Any, args: Values, kwargs: Named
) -> Value:
    """The value of a call in a context inside those in force."""
    outer = site.resolver if site.overlaid else lifter.resolver
    lifter.tables.update(dict.fromkeys(context.tables))
    inside = replace(site, resolver=outer.under(context), overlaid=True, chain=None)
    return lifter.call(inside, (function,), args, kwargs)


def _inverted(
    lifter: Lifter, site: CallSite, inverse: CanBeLifted, args: Values, kwargs: Named
) -> Value:
    """The tuple that an inverse returns: one number."""
    count = len(inverse.known)
    theta = [kwargs["theta"]] if {*kwargs} == {"theta"} else list(args[count:])
    known = args[:count]
    if len(known) < count or len(theta) > 1 or (kwargs and {*kwargs} != {"theta"}):
        raise _refused(site, "a call of an inverse in this form", "write inverse(value, theta)")
    if any(variables_in(each) for each in theta):
        raise _refused(site, "an inverse whose θ depends on the arguments", "give θ as a constant")
    numbers = [each for each in known if isinstance(each, (Variable, Constant))]
    if len(numbers) < count or any(each.kind not in (float, int, bool) for each in numbers):
        raise _refused(site, "an inverse of a value that is not a number", "give it floats")
    called = inverse.lifted_call(plain(theta[0]) if theta else None)
    lifter.functions.update(dict.fromkeys(called.functions))
    lifter.tables.update(dict.fromkeys(called.tables))
    lifter.rules[called.relation.target] = called.rule
    lifter.partials[called.relation] = called.partials
    site = replace(site, overlaid=False)
    given = [lifter.converted(site, each, float) for each in numbers]
    found = lifter.state(site, called.relation, given)
    return Tupled(tuple, (found,))


def _refused(site: CallSite, what: str, help: str) -> NotInvertible:
    return NotInvertible(f"cannot invert {what}", where=site.where, help=help)
