"""Programs, as data: straight-line lists of relations between variables."""

from __future__ import annotations

import functools
import re
import textwrap
import types
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from inversion.program.shown import html_of, svg_of
from overlay import MethodTable
from primitives.arrays.domain import type_of_array
from primitives.domains import Domain
from primitives.relation import Mode
from primitives.sequences.lists import element_of_sequence, list_of, type_of_list

__all__ = [
    "Constant",
    "EmptyList",
    "Operand",
    "Program",
    "Statement",
    "StatementRule",
    "Variable",
    "constant",
    "in_columns",
    "listed",
    "renumbered",
]


@dataclass(frozen=True)
class Variable:
    """A value that a program takes or computes, identified by its name.

    source: its name in the source, or a word for the function that computes it; "" if that is
    ``name``.
    """

    name: str
    kind: Any
    source: str = field(default="", compare=False)

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Constant:
    """A constant number or array of the program."""

    value: Any

    @property
    def kind(self) -> Any:
        """The type of the value."""
        if isinstance(self.value, list):
            return type_of_list(self.value)
        return type_of_array(self.value) if _is_array(self.value) else type(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        if _is_array(self.value):
            return np.ndarray, id(self.value)
        return type(self.value), repr(self.value)

    def __str__(self) -> str:
        if _is_array(self.value):
            return f"constant_{'x'.join(map(str, self.value.shape))}"
        plain = isinstance(self.value, (bool, int, float, str, list))
        return repr(self.value) if plain else str(self.value)


@dataclass(frozen=True, eq=False)
class EmptyList(Constant):
    """An empty list of a type. element: the type of its items."""

    element: type

    @property
    def kind(self) -> Any:
        """The type of the list."""
        return list_of(self.element)


def constant(value: Any, kind: Any) -> Constant:
    """The constant of a value of a type."""
    if isinstance(value, list) and not value:
        return EmptyList(value, element_of_sequence(kind))
    return Constant(value)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0


Operand = Variable | Constant


@dataclass(frozen=True)
class Statement:
    """``result = f(arguments)``, as the relation of f, which may have several results.

    where: ``file:line`` in the source.
    """

    relation: StatementRule
    results: tuple[Variable, ...]
    arguments: tuple[Operand, ...]
    where: str

    @property
    def result(self) -> Variable:
        """The only result."""
        (result,) = self.results
        return result

    def bindings(self) -> Iterable[tuple[str, Operand]]:
        """Pairs of axes and operands; results first."""
        yield from zip(self.relation.outputs, self.results, strict=True)
        yield from zip(self.relation.axes, self.arguments, strict=True)

    def axes_of(self, variable: Variable) -> tuple[str, ...]:
        """The axes on which a variable occurs."""
        return tuple(axis for axis, operand in self.bindings() if operand == variable)

    @functools.cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the statement, without duplicates."""
        operands = (operand for _, operand in self.bindings())
        return tuple(dict.fromkeys(v for v in operands if isinstance(v, Variable)))

    def __str__(self) -> str:
        return self._text

    @functools.cached_property
    def _text(self) -> str:
        return self.relation.shown({axis: str(operand) for axis, operand in self.bindings()})


class StatementRule(Protocol):
    """The rule of a statement: a relation, or a part of the program that is planned as one."""

    @property
    def name(self) -> str:
        """The name in generated code."""
        ...

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the inputs."""
        ...

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the results."""
        ...

    @property
    def domain(self) -> Mapping[str, Domain]:
        """The domains of the inputs."""
        ...

    @property
    def codomain(self) -> Domain | None:
        """The domain of the result."""
        ...

    @property
    def identity(self) -> Hashable:
        """A key that is equal for equivalent rules."""
        ...

    @property
    def low_information(self) -> bool:
        """Whether the results give little information on the inputs."""
        ...

    @property
    def whole(self) -> bool:
        """Whether it is solved at once for all variables that occur only in it."""
        ...

    def mode(self, unknown: Iterable[str]) -> Mode | None:
        """The mode that solves for exactly these axes, or None."""
        ...

    def shown(self, names: Mapping[str, str]) -> str:
        """The equation with axes replaced by expressions."""
        ...

    def shown_modes(self) -> str:
        """The modes, by the axes that they solve for."""
        ...

    def rows(self) -> Sequence[str]:
        """Lines of text for the contents; none for a relation."""
        ...

    def around(
        self, before: Sequence[Statement], after: Sequence[Statement], gives: Sequence[Variable]
    ) -> Statement | None:
        """One statement for this and the statements before and after it, with these results; None
        if it cannot absorb others.
        """
        ...


@dataclass(frozen=True)
class Program:
    """A function as a list of relations.

    name, where: those of the function. inputs: in the order of its parameters. results: by axis; a
    Constant if it does not depend on the inputs. holds: conditions that are necessary for a result.
    functions: the Python code from which it was lifted. attributes: the attributes that lifting
    read: object, name and value. tables: the tables of contexts that the function enters. rules:
    the partial derivatives of relations that were made for it.
    """

    name: str
    inputs: tuple[Variable, ...]
    statements: tuple[Statement, ...]
    results: Mapping[str, Operand]
    where: str
    functions: tuple[types.FunctionType, ...] = ()
    holds: tuple[tuple[Operand, bool], ...] = ()
    attributes: tuple[tuple[Any, str, Any], ...] = field(default=(), repr=False, compare=False)
    tables: tuple[MethodTable, ...] = field(default=(), repr=False, compare=False)
    rules: Mapping[Any, Callable[..., tuple[float, ...]]] = field(
        default_factory=dict[Any, Any], repr=False, compare=False
    )

    @property
    def result(self) -> Operand:
        """The only result."""
        (result,) = self.results.values()
        return result

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables: the inputs, then the results of the statements."""
        return (*self.inputs, *(v for statement in self.statements for v in statement.results))

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the inputs and of the results."""
        return (*(v.name for v in self.inputs), *self.results)

    def operand(self, axis: str) -> Operand:
        """The operand of an axis."""
        if axis in self.results:
            return self.results[axis]
        return next(v for v in self.inputs if v.name == axis)

    def replace(self, **changes: Any) -> Program:
        """A changed copy."""
        return replace(self, **changes)

    def rewritten(self, change: Callable[[Statement], Statement | Sequence[Operand]]) -> Program:
        """The program with each statement changed; if ``change`` returns operands, these replace
        the results.
        """
        known: dict[Operand, Operand] = {}
        kept: list[Statement] = []
        for statement in self.statements:
            arguments = tuple(known.get(operand, operand) for operand in statement.arguments)
            new = change(replace(statement, arguments=arguments))
            if isinstance(new, Statement):
                kept.append(new)
            else:
                given = (known.get(operand, operand) for operand in new)
                known.update(zip(statement.results, given, strict=True))
        return self.replace(
            statements=tuple(kept),
            results={axis: known.get(value, value) for axis, value in self.results.items()},
            holds=tuple((known.get(value, value), is_true) for value, is_true in self.holds),
        )

    @property
    def svg(self) -> str:
        """A drawing of the dataflow, as self-contained SVG."""
        return svg_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    def __str__(self) -> str:
        inputs = ", ".join(map(str, self.inputs))
        lines = [f"{self.name}({inputs})   {self.where}", *listed(self.statements, self.holds)]
        return in_columns([*lines, f"  return {', '.join(map(str, self.results.values()))}"])


def listed(
    statements: Sequence[Statement], holds: Sequence[tuple[Operand, bool]] = ()
) -> list[str]:
    """Lines of text for statements, with their source lines and nested statements, then for the
    conditions that hold.
    """
    lengths = [len(str(s)) for s in statements]
    width = max((length for length in lengths if length <= ALIGNED), default=0)
    rows: list[str] = []
    for statement in statements:
        rows.append(f"  {statement!s:<{width}}   {statement.where}")
        rows += [f"  {row}" for row in statement.relation.rows()]
    return rows + [f"  {value} is {is_true}" for value, is_true in holds]


def required(statements: Iterable[Statement]) -> Mapping[Operand, Sequence[Domain]]:
    """The domains that statements require of the operands that they read."""
    found: dict[Operand, list[Domain]] = {}
    for statement in statements:
        domains = statement.relation.domain
        for axis, operand in statement.bindings() if domains else ():
            if axis in domains and not domains[axis].total:
                found.setdefault(operand, []).append(domains[axis])
    return found


WIDTH = 100
ALIGNED = 64  # longer statements do not widen the column of source lines
_WITH_PLACE = re.compile(r"(\s*)(.*\S)\s{3,}(\S+:\d+)")


def in_columns(rows: Iterable[str]) -> str:
    """Join lines of text, wrapped at ``WIDTH``, with the source line at the end of each."""
    return "\n".join(line for row in rows for line in _lines(row))


def _lines(row: str) -> list[str]:
    if len(row) <= WIDTH:
        return [row]
    found = _WITH_PLACE.fullmatch(row)
    text, place = (row, "") if found is None else (found[1] + found[2], "   " + found[3])
    margin = text[: len(text) - len(text.lstrip())]
    lines = textwrap.wrap(
        text.lstrip(), WIDTH, initial_indent=margin, subsequent_indent=margin + "    ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    if len(lines[-1] + place) <= WIDTH:
        return [*lines[:-1], lines[-1] + place]
    return [*lines, f"{margin} {place}"]


def renumbered(wanted: str, taken: Container[str]) -> str:
    """``wanted``, with a number appended if it is taken."""
    if wanted not in taken:
        return wanted
    count = 2
    while f"{wanted}_{count}" in taken:
        count += 1
    return f"{wanted}_{count}"
