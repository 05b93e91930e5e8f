"""Elements as numbers: statements about small arrays become statements about their elements.

A statement about an array is solved for all its elements, or for none. If no plan is found that
way, there may be one for the elements, of which some are known.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inversion.program.elementwise_statements import Elementwise
from inversion.program.moved_elements import Moved, moved
from inversion.program.statements import (
    Constant,
    Operand,
    Program,
    Statement,
    Variable,
    renumbered,
)
from inversion.program.structured import JOINTLY, ONE_AT_A_TIME
from primitives import Relation, complex_numbers
from primitives.arrays.domain import element_of, is_array, shape_of
from primitives.floats import arithmetic, extremes

__all__ = ["with_elements"]

MOST_ELEMENTS = 64
"""The largest number of elements of an array that are taken one by one."""
MOST_STATEMENTS = 4000

SUMS: Mapping[Any, Relation] = {float: arithmetic.add, complex: complex_numbers.add}
PRODUCTS: Mapping[Any, Relation] = {float: arithmetic.mul, complex: complex_numbers.mul}
FOLDED: Mapping[Any, Mapping[Any, Relation]] = {
    np.prod: PRODUCTS,
    np.max: {float: extremes.maximum},
    np.min: {float: extremes.minimum},
}
"""Functions of all elements of a row, by the relation that combines two elements."""


def with_elements(program: Program) -> Program:
    """The program with its small arrays as numbers; unchanged if there are none."""
    arrays = [v for v in program.variables if is_array(v.kind)]
    if not any(_is_small(v) for v in arrays):
        return program
    made = _Elements(program)
    found = made.program()
    return program if found is None else found


def _is_small(operand: Operand) -> bool:
    return is_array(operand.kind) and math.prod(shape_of(operand.kind)) <= MOST_ELEMENTS


class _Elements:
    """The rewriting of one program. numbers: for each variable the operands of its elements."""

    def __init__(self, program: Program) -> None:
        self.whole = program
        self.names = {v.name for v in program.variables}
        for statement in program.statements:
            self.names.update(getattr(v, "name", "") for v in statement.arguments)
        self.numbers: dict[Operand, tuple[Operand, ...]] = {}
        self.arrays: dict[Operand, Operand] = {}
        self.statements: list[Statement] = []

    def program(self) -> Program | None:
        for v in self.whole.inputs:
            if _is_small(v):
                self.arrays[v] = v
                self.apart(v, self.whole.where)
        for statement in self.whole.statements:
            self.statement(statement)
            if len(self.statements) > MOST_STATEMENTS:
                return None
        results = {axis: self.one(v, self.whole.where) for axis, v in self.whole.results.items()}
        holds = tuple((self.one(v, self.whole.where), truth) for v, truth in self.whole.holds)
        return self.whole.replace(statements=tuple(self.statements), results=results, holds=holds)

    def fresh(self, wanted: str) -> str:
        name = renumbered(wanted, self.names)
        self.names.add(name)
        return name

    # ---- operands ----

    def of(self, operand: Operand) -> tuple[Operand, ...] | None:
        """The numbers of an operand; None if it stays an array."""
        if operand in self.numbers:
            return self.numbers[operand]
        if not is_array(operand.kind):
            return (operand,)
        if isinstance(operand, Constant) and _is_small(operand):
            return tuple(_constant(x, element_of(operand.kind)) for x in operand.value.ravel())
        return None

    def one(self, operand: Operand, where: str) -> Operand:
        """An operand as a whole: an array is built from its numbers."""
        numbers = self.numbers.get(operand)
        if numbers is None or not isinstance(operand, Variable):
            return operand
        if not is_array(operand.kind):
            return numbers[0]
        if operand not in self.arrays:
            self.arrays[operand] = self.joined(operand, numbers, where)
        return self.arrays[operand]

    def joined(self, array: Variable, numbers: Sequence[Operand], where: str) -> Operand:
        """The array of these numbers."""
        if all(isinstance(number, Constant) for number in numbers):
            values = np.array([number.value for number in numbers if isinstance(number, Constant)])
            shaped = values.astype(np.dtype(element_of(array.kind))).reshape(shape_of(array.kind))
            return Constant(shaped)
        parts = list(dict.fromkeys(numbers))
        formals = [
            v if isinstance(v, Variable) else Variable(self.fresh("constant"), v.kind)
            for v in parts
        ]
        places = np.array([parts.index(number) for number in numbers])
        result = replace(array, name=self.fresh(array.name))
        self.statements.append(moved(self.fresh("joined"), formals, parts, {result: places}, where))
        return result

    def apart(self, array: Variable, where: str) -> None:
        """State the elements of an array as separate numbers."""
        count, element = math.prod(shape_of(array.kind)), element_of(array.kind)
        source = array.source or array.name
        numbers = [
            Variable(self.fresh(f"{array.name}_{i}"), element, f"{source}_{i}")
            for i in range(count)
        ]
        places = {v: np.array([i]) for i, v in enumerate(numbers)}
        self.statements.append(moved(self.fresh("apart"), [array], [array], places, where))
        self.numbers[array] = tuple(numbers)

    # ---- statements ----

    def statement(self, statement: Statement) -> None:
        """Add the equivalent statements about numbers."""
        rule = statement.relation
        given = [self.of(a) for a in statement.arguments]
        small = all(not is_array(v.kind) or _is_small(v) for v in statement.results)
        if small and None not in given:
            numbers = [part for part in given if part is not None]
            if isinstance(rule, Moved):
                pool = [number for part in numbers for number in part]
                for v, inner in zip(statement.results, rule.results, strict=True):
                    self.numbers[v] = tuple(pool[i] for i in rule.places[inner.name])
                return
            if isinstance(rule, Elementwise):
                self.each(statement, rule, numbers)
                return
            if isinstance(rule, Relation) and self.related(statement, rule, numbers):
                return
        arguments = tuple(self.one(a, statement.where) for a in statement.arguments)
        self.statements.append(replace(statement, arguments=arguments))
        for v in statement.results:
            if _is_small(v):
                self.arrays[v] = v
                self.apart(v, statement.where)

    def each(
        self, statement: Statement, rule: Elementwise, given: Sequence[tuple[Operand, ...]]
    ) -> None:
        """The statements of each element."""
        found: list[list[Operand]] = [[] for _ in rule.results]
        for i in range(math.prod(rule.shape)):
            known: dict[Operand, Operand] = {
                v: part[i] if v.name in rule.arrays else part[0]
                for v, part in zip(rule.read, given, strict=True)
            }
            for inner in rule.statements:
                results = tuple(replace(v, name=self.fresh(f"{v.name}_{i}")) for v in inner.results)
                known.update(zip(inner.results, results, strict=True))
                arguments = tuple(known.get(a, a) for a in inner.arguments)
                self.statements.append(replace(inner, results=results, arguments=arguments))
            for v, part in zip(rule.results, found, strict=True):
                part.append(known.get(v, v))
        for v, part in zip(statement.results, found, strict=True):
            self.numbers[v] = tuple(part)

    def related(
        self, statement: Statement, rule: Relation, given: Sequence[tuple[Operand, ...]]
    ) -> bool:
        """State a relation of arrays by relations of numbers; return whether that is possible."""
        arrays = [v for v in (*statement.arguments, *statement.results) if is_array(v.kind)]
        if not arrays or len(statement.results) != 1:
            return False
        result = statement.result
        element = element_of(result.kind)
        kinds = {element_of(v.kind) for v in arrays}
        if kinds != {element} or element not in SUMS:
            return False
        at = _Site(statement, element)
        if len(given) == 1 and (rule.target in JOINTLY or rule.target in ONE_AT_A_TIME):
            made = self.mapped(at, rule, given[0])
        elif len(given) == 2 and rule.target in ONE_AT_A_TIME[1:]:
            made = self.products(at, given)
        elif rule.target in FOLDED and element in FOLDED[rule.target]:
            made = self.rows(at, rule, given[0], FOLDED[rule.target][element])
        else:
            return False
        if made is None:
            return False
        self.numbers[result] = tuple(made)
        return True

    def mapped(self, at: _Site, rule: Relation, numbers: Sequence[Operand]) -> list[Operand] | None:
        """A linear relation of one array, or the square of its length."""
        kind = at.statement.arguments[0].kind
        dtype = np.dtype(at.element)
        units = np.eye(len(numbers), dtype=dtype)
        columns = [np.ravel(rule(unit.reshape(shape_of(kind)))) for unit in units]
        twice = np.ravel(rule((2 * units[0]).reshape(shape_of(kind))))
        if not np.array_equal(twice, 2 * columns[0]):  # a @ a
            return [self.total(at, [self.product(at, a, a) for a in numbers])]
        matrix: NDArray[Any] = np.stack(columns, axis=1)
        return [
            self.total(
                at,
                [
                    self.product(at, a, _constant(c, at.element))
                    for a, c in zip(numbers, row, strict=True)
                    if c != 0
                ],
            )
            for row in matrix
        ]

    def products(self, at: _Site, given: Sequence[tuple[Operand, ...]]) -> list[Operand] | None:
        """The products of two matrices, or of vectors and matrices."""
        shapes = [shape_of(v.kind) for v in at.statement.arguments]
        if any(len(shape) not in (1, 2) for shape in shapes):
            return None
        one = np.arange(len(given[0])).reshape((1, *shapes[0])[-2:])
        other = np.arange(len(given[1])).reshape((*shapes[1], 1)[:2])
        return [
            self.total(
                at,
                [
                    self.product(at, given[0][i], given[1][j])
                    for i, j in zip(row, column, strict=True)
                ],
            )
            for row in one
            for column in other.T
        ]

    def rows(
        self, at: _Site, rule: Relation, numbers: Sequence[Operand], joins: Relation
    ) -> list[Operand] | None:
        """The elements of each row joined."""
        kind = at.statement.arguments[0].kind
        values = 2.0 + np.arange(len(numbers))  # the elements in each row
        start = np.ravel(rule(values.reshape(shape_of(kind))))
        rows: list[list[Operand]] = [[] for _ in start]
        for i, number in enumerate(numbers):
            changed = values.copy()
            changed[i] = 1e3 if rule.target is not np.min else -1e3
            (places,) = np.nonzero(np.ravel(rule(changed.reshape(shape_of(kind)))) != start)
            if len(places) != 1:
                return None
            rows[places[0]].append(number)
        return [functools.reduce(lambda a, b: self.state(at, joins, a, b), row) for row in rows]

    def total(self, at: _Site, terms: Sequence[Operand]) -> Operand:
        if not terms:
            return Constant(at.element(0))
        return functools.reduce(lambda a, b: self.state(at, SUMS[at.element], a, b), terms)

    def product(self, at: _Site, a: Operand, b: Operand) -> Operand:
        if b == Constant(at.element(1)):
            return a
        return self.state(at, PRODUCTS[at.element], a, b)

    def state(self, at: _Site, rule: Relation, a: Operand, b: Operand) -> Operand:
        """State a relation of two numbers; returns its result."""
        source = at.statement.result
        made = Variable(self.fresh(source.name), at.element, source.source)
        self.statements.append(Statement(rule, (made,), (a, b), at.statement.where))
        return made


class _Site:
    """The statement that is rewritten, and the type of its elements."""

    def __init__(self, statement: Statement, element: Callable[[Any], Any]) -> None:
        self.statement = statement
        self.element: Any = element


def _constant(value: Any, element: Any) -> Constant:
    return Constant(element(value))
