"""Refusal of operations that programs over arrays, strings or lists do not support."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from inversion.errors import NotInvertible
from inversion.program.statements import Program, Statement
from inversion.program.structured import Structured
from overlay.core.short_repr import a_or_an
from primitives.arrays.domain import is_array, shape_of
from primitives.sequences.lists import is_sequence

__all__ = ["first_sequence", "has_arrays", "has_floats", "refuse_arrays", "refuse_sequences"]


def refuse_arrays(program: Program, what: str) -> None:
    """Raise NotInvertible if a program has arrays; the error names the axis or inner value.

    what: the operation, to complete ``"cannot ..."``.
    """
    for name, kind, where in _operands(program):
        if is_array(kind):
            raise NotInvertible(
                f"cannot {what} of {program.name}: {name} is an array of shape {shape_of(kind)}",
                where=where,
                help="call the inverse with a θ instead: inv.recover(*arguments) computes one, "
                "inv.parameters.sample(rng) draws one",
            )


def first_sequence(program: Program) -> tuple[str, str, str] | None:
    """The name, type and line of the first string or list among axes and inner values."""
    for name, kind, where in _operands(program):
        if is_sequence(kind):
            return name, kind.__name__, where
    return None


def refuse_sequences(program: Program, what: str) -> None:
    """Raise NotInvertible if a program has strings or lists; the error names the first.

    what: the operation, to complete ``"cannot ..."``.
    """
    found = first_sequence(program)
    if found is not None:
        name, kind, where = found
        raise NotInvertible(
            f"cannot {what} of {program.name}: {name} is {a_or_an(kind)}",
            where=where,
            help="inv.solutions(value) enumerates the solutions",
        )


def has_arrays(program: Program) -> bool:
    """Return whether an axis of a program, or an inner value, is an array."""
    return any(is_array(kind) for _, kind, _ in _operands(program))


def has_floats(program: Program) -> bool:
    """Return whether an axis of a program, or an inner value, is a float."""
    return any(kind is float for _, kind, _ in _operands(program))


def _operands(program: Program) -> Iterator[tuple[str, type, str]]:
    """The name, type and line of each axis and inner value."""
    yield from ((axis, program.operand(axis).kind, program.where) for axis in program.axes)
    yield from _values(program.statements)


def _values(statements: Iterable[Statement]) -> Iterator[tuple[str, type, str]]:
    """The name, type and line of all operands of statements, nested ones included."""
    for statement in statements:
        for operand in (*statement.results, *statement.arguments):
            yield str(operand), operand.kind, statement.where
        if isinstance(statement.relation, Structured):
            yield from _values(statement.relation.inside)
