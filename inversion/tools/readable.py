"""What can be looked at in an inverse."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from inversion.emitting.definition import Definition
from inversion.planning.parameters import ParameterSpace
from inversion.planning.plan import Plan
from inversion.program.shown import html_of
from inversion.program.statements import Program, in_columns
from inversion.program.trees import Axes
from inversion.tools.standalone.module import standalone
from overlay import Context
from primitives import Domain

__all__ = ["Readable"]


class Readable:
    """What an inverse is made of, to be looked at."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition

    @property
    def parameters(self) -> ParameterSpace:
        """The free choices."""
        return self._definition.parameters

    @property
    def known(self) -> tuple[str, ...]:
        """The axes whose values it takes, in order."""
        return self._definition.axes.known

    @property
    def unknown(self) -> tuple[str, ...]:
        """The axes that it answers, in order."""
        return self._definition.axes.unknown

    @property
    def program(self) -> Plan:
        """The inverse as data: what is chosen, and what is solved after what."""
        return self._definition.plan

    @cached_property
    def source(self) -> str:
        """The generated Python: a module that runs by itself, with ``inverse``, ``forward`` and
        ``recover``. What has no source to be written out is imported by its name.

        Raises NotWritable where something has neither a source nor a name.
        """
        return standalone(self._definition)

    @property
    def axes(self) -> Axes:
        """The function's axes, as trees of those of the program."""
        return self._definition.axes

    @property
    def context(self) -> Context | None:
        """What calls are resolved against."""
        return self._definition.context

    @property
    def domains(self) -> Mapping[str, Domain]:
        """What is declared for inputs of the program."""
        return self._definition.domains

    @property
    def tolerance(self) -> tuple[float, float]:
        """rtol and atol."""
        return self._definition.tolerance

    @property
    def origin(self) -> Program:
        """The program that was read from the function, as it is before it is planned."""
        return self._definition.origin

    def _repr_html_(self) -> str:
        return html_of(self)

    def __repr__(self) -> str:
        return repr(self._definition)

    def __str__(self) -> str:
        first, *rest = str(self.program.program).splitlines()
        return in_columns([f"inverse of {first}", *rest, *str(self.program).splitlines()])
