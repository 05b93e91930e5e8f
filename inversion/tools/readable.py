"""The public attributes of an inverse, and its interface for searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from inversion.emitting.definition import Definition
from inversion.errors import NoSolution, OutsideDomain
from inversion.planning.parameters import ParameterSpace
from inversion.planning.plan import Plan
from inversion.program.limits import refuse_arrays
from inversion.program.shown import html_of
from inversion.program.statements import Program, in_columns
from inversion.program.trees import Axes, Node
from inversion.running.generated_functions import GeneratedFunctions
from inversion.tools.standalone.module import standalone
from overlay import Context
from primitives import Bool, Domain
from primitives.relation import RETURN

__all__ = ["REFUSALS", "Checkable", "Readable"]


class Readable:
    """Base class of an inverse with its inspectable parts: parameters, axes, plan, source."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition

    @property
    def parameters(self) -> ParameterSpace:
        """The parameters of the inverse: one for each degree of freedom."""
        return self._definition.parameters

    @property
    def known(self) -> tuple[str, ...]:
        """The names of the axes whose values a call takes, in order."""
        return self._definition.axes.known

    @property
    def unknown(self) -> tuple[str, ...]:
        """The names of the axes whose values a call returns, in order."""
        return self._definition.axes.unknown

    @property
    def program(self) -> Plan:
        """The plan of the inverse, as data: its free choices, and the order of solving."""
        return self._definition.plan

    @cached_property
    def source(self) -> str:
        """The inverse as a standalone Python module with ``inverse``, ``forward`` and ``recover``.

        The module imports objects without source by name.

        Raises
        ------
        NotWritable
            An object that the module needs has neither source nor an importable name.
        """
        return standalone(self._definition)

    @property
    def axes(self) -> Axes:
        """The axes of the function, as trees of axes of the program."""
        return self._definition.axes

    @property
    def context(self) -> Context | None:
        """The context in which calls are resolved, or None."""
        return self._definition.context

    @property
    def domains(self) -> Mapping[str, Domain]:
        """The declared domains, by input of the program."""
        return self._definition.domains

    @property
    def tolerance(self) -> tuple[float, float]:
        """The tolerances ``(rtol, atol)`` of the check of answers."""
        return self._definition.tolerance

    @property
    def origin(self) -> Program:
        """The program that was lifted from the function, before it is planned."""
        return self._definition.origin

    def _repr_html_(self) -> str:
        return html_of(self)

    def __repr__(self) -> str:
        return repr(self._definition)

    def __str__(self) -> str:
        first, *rest = str(self.program.program).splitlines()
        return in_columns([f"inverse of {first}", *rest, *str(self.program).splitlines()])


REFUSALS = (
    NoSolution, OutsideDomain, ValueError, ArithmeticError, LookupError, RecursionError,
)  # fmt: skip


class Checkable(Readable):
    """Base class of an inverse that runs the function and compares results, for searches."""

    def __init__(self, definition: Definition, code: GeneratedFunctions) -> None:
        super().__init__(definition)
        self._code = code

    def is_result(self, result: Any, wanted: Any) -> bool:
        """Return whether a result equals the wanted one, within the tolerances."""
        return self._definition.are_close(RETURN, result, wanted)

    def coordinates_of(self, args: Sequence[Any]) -> tuple[Any, ...] | None:
        """The θ for which the inverse returns these arguments; None if there is none."""
        try:
            with np.errstate(all="ignore"):
                return self.parameters.normal(self._code.namespace["recover"](*args))
        except REFUSALS:
            return None

    def result_of(self, args: Sequence[Any]) -> Any:
        """The result of the function for arguments, in its context; it may raise any exception."""
        with np.errstate(all="ignore"):
            return self._code.namespace["forward"](*args)

    def leads_to(self, args: Sequence[Any], wanted: Any) -> bool:
        """Return whether these arguments give this result, within the tolerances."""
        try:
            result = self.result_of(args)
        except Exception:
            return False
        return self.is_result(result, wanted)

    def unknown_domains(self) -> list[Domain | None]:
        """The domain of each unknown axis that is one number; None if none is declared."""
        found: list[Domain | None] = []
        for axis in self.unknown:
            tree = self.axes.trees[axis]
            if axis == RETURN or isinstance(tree, Node):
                found.append(None)
                continue
            kind = self.program.operand(str(tree)).kind
            found.append(Bool if kind is bool else self.domains.get(axis) if kind is int else None)
        return found

    def agrees(self, answers: Sequence[Any], args: Sequence[Any]) -> bool:
        """Return whether answers are the unknown axes of these arguments, within the tolerances."""
        given = dict(zip(self._definition.axes.inputs, args, strict=True))
        for axis, answer in zip(self.unknown, answers, strict=True):
            if axis in given:
                wanted = self._definition.cast(axis, given[axis])
                if not self._definition.are_close(axis, answer, wanted):
                    return False
        return True

    def known_values(self, known: Sequence[Any]) -> tuple[Any, ...]:
        """Convert known values to their types. Raises NotInvertible for programs with arrays, whose
        solutions cannot be enumerated.
        """
        refuse_arrays(self.origin, "search the solutions")
        return self._definition.cast_alone(known)
