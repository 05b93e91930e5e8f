"""Calls of inverses inside functions that are inverted.

The relation of such a call is solved by running the function that the inverse solves. Its
derivatives are those of that equation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from inversion.derivatives.implicit import check_active
from inversion.intrinsics.checks import is_close
from inversion.lifting.interpreted_calls import InverseCall
from overlay.interpretations.autodiff import autodiff, rule
from primitives import NoSolution, relation

if TYPE_CHECKING:
    from inversion.inverse import Inverse

__all__ = ["call_of"]

ANYWHERE = (-1.0, 1.0)


def call_of(inverse: Inverse, theta: Any) -> InverseCall:
    """The call of an inverse of floats with this θ; None means that θ is searched for.

    Raises NotInvertible unless the inverse finds one float from one float result and other floats.
    """
    definition = inverse.definition
    axes = definition.axes
    floats = all(kind is float for kind in definition.leaf_kinds(axes.trees))
    check_active(axes, definition.origin, [float] if floats else [])
    context, function = definition.context, definition.function
    names = {axis: f"known_{i}" for i, axis in enumerate(axes.known, 1)}
    (unknown,) = axes.unknown
    (result,) = (axis for axis in axes.known if axis not in axes.inputs)
    text = _Texts(names, [names.get(axis, "ret") for axis in axes.inputs], theta is not None)
    space = {
        "inverse": inverse,
        "function": function if context is None else context.wrap(function),
        "theta": theta,
        "tolerance": definition.tolerance,
        "autodiff": autodiff,
        "is_close": is_close,
        "NoSolution": NoSolution,
    }
    forward = _made("answer", text.forward, space)
    forward.__name__ = forward.__qualname__ = f"inverse_of_{_word(definition.name)}"
    back = _made("known_result", text.back(names[result]), space)
    partials = _made("partials", text.partials(axes.inputs, unknown), space)
    found = relation(
        forward,
        *[float] * len(names),
        f"return = {forward.__name__}({', '.join(names.values())})",
        modes={("return",): forward, (names[result],): back},
    )
    own = () if context is None else context.tables
    origin = definition.origin
    return InverseCall(
        found,
        rule(forward, partials, *[ANYWHERE] * len(names)),
        origin.functions,
        (*own, *origin.tables),
    )


def _word(name: str) -> str:
    last = name.rpartition(".")[2]
    return last if last.isidentifier() else "f"


class _Texts:
    """The source of the functions of a call. names: the parameter for each known axis. given: the
    arguments of the inverted function; ``ret`` is the answer.
    """

    def __init__(self, names: dict[str, str], given: list[str], has_theta: bool) -> None:
        self.names = names
        self.given = ", ".join(given)
        known = list(names.values())
        self.known = ", ".join(known)
        self.call = f"inverse({', '.join([*known, 'theta'] if has_theta else known)})"

    @property
    def forward(self) -> list[str]:
        return [f"def answer({self.known}):", f"    return {self.call}[0]"]

    def back(self, result: str) -> list[str]:
        """The function that maps an answer to the result for which the inverse returns it; it
        raises unless the inverse gives back this answer.
        """
        others = [name for name in self.names.values() if name != result]
        return [
            f"def known_result({', '.join(['ret', *others])}):",
            f"    {result} = function({self.given})",
            f"    if not is_close({self.call}[0], ret, tolerance[0], tolerance[1]):",
            "        raise NoSolution('the inverse returns another answer here')",
            f"    return {result}",
        ]

    def partials(self, inputs: tuple[str, ...], unknown: str) -> list[str]:
        """The function that returns the derivatives of the answer by the known axes."""
        rows = [
            f"def partials({self.known}, ret):",
            f"    slopes = autodiff(function, {self.given})",
        ]
        if len(inputs) == 1:
            return [*rows, "    return (1.0 / slopes,)"]
        by = f"slopes[{inputs.index(unknown)}]"
        parts = [
            f"-slopes[{inputs.index(axis)}] / {by}" if axis in inputs else f"1.0 / {by}"
            for axis in self.names
        ]
        return [*rows, f"    return ({', '.join(parts)},)"]


def _made(name: str, rows: list[str], space: dict[str, Any]) -> Callable[..., Any]:
    """A function made from its source."""
    names: dict[str, Any] = {**space, "__name__": __name__}
    exec(compile("\n".join(rows), f"<call of {space['inverse']!r}>", "exec"), names)
    made: Callable[..., Any] = names[name]
    return made
