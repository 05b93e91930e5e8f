"""What an inverse is made of, and the types of what goes in and comes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from inversion.emitting.module_text import Source
from inversion.errors import OutsideDomain, WrongArguments
from inversion.planning.parameters import ParameterSpace
from inversion.planning.plan import Plan
from inversion.program.number_types import cast, is_close
from inversion.program.statements import Program
from inversion.program.trees import (
    Axes,
    Node,
    Tree,
    Trees,
    classes_of,
    is_dataclass,
    leaves,
    mapped,
    rebuilt,
    taken_apart,
    written,
)
from overlay import Context
from overlay.core.location import caller
from primitives import Domain

__all__ = ["Definition"]


@dataclass(frozen=True)
class Definition:
    """What an inverse is made of.

    function: that is inverted. source: the code for the plan. context: what calls are resolved
    against. domains: declared for axes of the program. tolerance: rtol and atol. origin: the
    program that was read from the function, as it is before it is planned. hides_errors: whether
    the function, compiled, may give a result where it raises in Python.
    """

    function: Callable[..., Any]
    plan: Plan
    axes: Axes
    source: Source
    context: Context | None
    domains: Mapping[str, Domain]
    tolerance: tuple[float, float]
    origin: Program
    hides_errors: bool = False

    @property
    def name(self) -> str:
        """The function's name."""
        return self.plan.program.name

    @property
    def where(self) -> str:
        """The function's ``file:line``."""
        return self.plan.program.where

    @property
    def filename(self) -> str:
        """What the generated code says that it is the file of."""
        return f"<inverse of {self.name}>"

    @property
    def parameters(self) -> ParameterSpace:
        """The free choices."""
        return self.plan.parameters

    def __repr__(self) -> str:
        known, unknown = ", ".join(self.axes.known), ", ".join(self.axes.unknown)
        return f"<Inverse of {self.name}: {known} -> {unknown}>"

    # ---- types ----

    @cached_property
    def kinds(self) -> Mapping[str, Tree]:
        """The types of the numbers of each axis."""
        return Trees(
            (axis, mapped(tree, lambda _, leaf: self.plan.operand(leaf).kind))
            for axis, tree in self.axes.trees.items()
        )

    @cached_property
    def unknown_kinds(self) -> list[Tree]:
        """Those of the unknown axes."""
        return [self.kinds[axis] for axis in self.axes.unknown]

    def leaf_kinds(self, axes: Iterable[str]) -> list[Any]:
        """The types of the numbers that axes are made of, one after the other."""
        return [kind for axis in axes for kind in leaves(self.kinds[axis])]

    def parts(self, axis: str, value: Any) -> list[Any]:
        """The numbers that a value of an axis is made of. Raises WrongArguments."""
        tree = self.axes.trees[axis]
        if not isinstance(tree, Node):
            return [value]
        try:
            return taken_apart(tree, value)
        except TypeError:
            kept = any(map(is_dataclass, classes_of(tree)))
            shape = mapped(self.kinds[axis], lambda _, kind: getattr(kind, "__name__", kind))
            raise WrongArguments(
                f"{axis} = {value!r} is not built as {written(shape)}",
                where=caller(),
                help=f"give a {'value' if kept else 'tuple or a list'} like the function's",
            ) from None

    def cast(self, axis: str, value: Any) -> Any:
        """A value given for an axis, in the types that the program has there."""
        kinds = self.kinds[axis]
        if not isinstance(kinds, Node):
            return cast(axis, kinds, value)
        parts = zip(leaves(kinds), self.parts(axis, value), strict=True)
        return rebuilt(kinds, iter([cast(axis, kind, number) for kind, number in parts]))

    def cast_known(self, values: Sequence[Any]) -> list[Any]:
        """Values given for the known axes, in their types.

        Raises OutsideDomain for what is outside a declared domain.
        """
        given = list(map(self.cast, self.axes.known, values))
        for axis, value in zip(self.axes.known, given, strict=True) if self.domains else ():
            for leaf, number in zip(
                leaves(self.axes.trees[axis]), self.parts(axis, value), strict=True
            ):
                if leaf in self.domains and not self.domains[leaf].contains(number):
                    raise OutsideDomain(
                        f"{leaf} = {number!r} is outside {self.domains[leaf]!r}", where=caller()
                    )
        return given

    def as_argument(self, theta: tuple[Any, ...]) -> tuple[tuple[Any, ...], ...]:
        """θ as the generated code takes it: not at all, where there are no parameters."""
        return (theta,) if len(self.parameters) else ()

    def are_close(self, axis: str, answer: Any, wanted: Any) -> bool:
        """Whether a value of an axis is another one, within the tolerances."""
        tree = self.axes.trees[axis]
        pairs = zip(taken_apart(tree, answer), taken_apart(tree, wanted), strict=True)
        return all(is_close(found, value, *self.tolerance) for found, value in pairs)
