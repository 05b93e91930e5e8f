"""Closing loops by algebra: a variable that is used several times is collected.

Where a statement's result is a polynomial of degree one or two in a variable, it is written
with this variable standing once: ``a + a`` as ``2 * a``, ``x * y + x`` as ``(y + 1) * x``, and
``x * x + x`` as a square, completed.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from inversion.passes import fold, prune
from inversion.program import Constant, Operand, Program, Statement, Variable, renumbered
from overlay import Context
from primitives import Relation, relation_of, relations
from primitives.arithmetic import squared
from primitives.arrays.domain import is_array

__all__ = ["collected"]

Polynomial = tuple[Operand, Operand, Operand]


Lookup = Callable[..., Relation | None]


def collected(
    program: Program, core: Iterable[Statement], unknown: Iterable[Variable]
) -> Iterator[Program]:
    """The programs with one statement of the core rewritten so that one of these unknowns
    stands in it once."""
    unknown = tuple(v for v in unknown if not is_array(v.kind))
    lookup = functools.cache(_relation)
    for statement in core:
        if not isinstance(statement.relation, Relation) or len(statement.results) > 1:
            continue
        for variable in unknown:
            algebra = _Algebra(program, statement, variable, lookup)
            if algebra.uses(statement.result) > 1 and algebra.rewrite():
                yield prune(fold(algebra.program()))


def _relation(target: Callable[..., Any], *kinds: Any) -> Relation | None:
    method = Context(relations).method(relation_of(target), *kinds)
    return None if method is None else method.function(*kinds)


class _Algebra:
    """Rewrites one statement as a polynomial in one variable."""

    def __init__(
        self, program: Program, statement: Statement, variable: Variable, lookup: Lookup
    ) -> None:
        self.lookup = lookup
        self.old = program
        self.statement = statement
        self.variable = variable
        self.kind = variable.kind
        self.made: list[Statement] = []
        self.names = {v.name for v in program.variables}
        self.definitions = {v: s for s in program.statements for v in s.results}
        self.counts: dict[Operand, int] = {variable: 1}
        self.known: dict[Operand, Polynomial] = {}
        self.equal: Operand | None = None  # what the result is, where no statement is needed

    def program(self) -> Program:
        """The program with the statement rewritten."""
        at = self.old.statements.index(self.statement)
        before, after = self.old.statements[:at], self.old.statements[at:]
        new = self.old.replace(statements=(*before, *self.made, *after))
        return new.rewritten(self._replaced)

    def _replaced(self, statement: Statement) -> Statement | Sequence[Operand]:
        if statement.results != self.statement.results or statement in self.made:
            return statement
        return statement.results if self.equal is None else (self.equal,)

    def uses(self, operand: Operand) -> int:
        """How often an operand, written out in full, uses the variable."""
        if operand not in self.counts:
            defined = self.definitions.get(operand) if isinstance(operand, Variable) else None
            arguments = defined.arguments if defined else ()
            self.counts[operand] = sum(map(self.uses, arguments))
        return self.counts[operand]

    # ---- reading ----

    def polynomial(self, operand: Operand) -> Polynomial:
        """The coefficients of an operand in the variable. What is no polynomial, such as its
        sine, is a coefficient of its own."""
        if operand not in self.known:
            zero, one = Constant(self.kind(0)), Constant(self.kind(1))
            found = (zero, one, zero) if operand == self.variable else self._combined(operand)
            self.known[operand] = (operand, zero, zero) if found is None else found
        return self.known[operand]

    def _combined(self, operand: Operand) -> Polynomial | None:
        if not self.uses(operand) or not isinstance(operand, Variable):
            return None
        defined = self.definitions[operand]
        kinds = [argument.kind for argument in defined.arguments]
        for target, combine in self.rules().items():
            if defined.relation is self.lookup(target, *kinds):
                return combine(*map(self.polynomial, defined.arguments))
        return None

    def rules(self) -> dict[Callable[..., Any], Callable[..., Polynomial | None]]:
        """What a function of polynomials is as a polynomial."""
        return {
            operator.add: functools.partial(self.each, operator.add),
            operator.sub: functools.partial(self.each, operator.sub),
            operator.neg: self.negated,
            operator.mul: self.product,
            operator.truediv: self.quotient,
            squared: lambda *p: self.product(*p, *p),
        }

    def negated(self, p: Polynomial) -> Polynomial:
        a, b, c = (self.apply(operator.neg, x) for x in p)
        return a, b, c

    def each(self, target: Callable[..., Any], p: Polynomial, q: Polynomial) -> Polynomial:
        a, b, c = (self.apply(target, x, y) for x, y in zip(p, q, strict=True))
        return a, b, c

    def product(self, p: Polynomial, q: Polynomial) -> Polynomial | None:
        def term(i: int, j: int) -> Operand:
            return self.apply(operator.mul, p[i], q[j])

        def total(*terms: Operand) -> Operand:
            first, *others = terms
            for other in others:
                first = self.apply(operator.add, first, other)
            return first

        if not all(_zero(term(i, j)) for i, j in ((1, 2), (2, 1), (2, 2))):
            return None
        return (
            term(0, 0),
            total(term(0, 1), term(1, 0)),
            total(term(0, 2), term(1, 1), term(2, 0)),
        )

    def quotient(self, p: Polynomial, q: Polynomial) -> Polynomial | None:
        if not (_zero(q[1]) and _zero(q[2])):
            return None
        a, b, c = (x if _zero(x) else self.apply(operator.truediv, x, q[0]) for x in p)
        return a, b, c

    def apply(self, target: Callable[..., Any], *operands: Operand) -> Operand:
        """The operand for a function of others, simplified where one of them is 0 or 1."""
        if target is operator.sub and _zero(operands[0]):
            target, operands = operator.neg, operands[1:]
        simple = _simplified(target, *operands)
        return self.state(target, *operands) if simple is None else simple

    def state(
        self, target: Callable[..., Any], *operands: Operand, result: Variable | None = None
    ) -> Operand:
        """A new statement's result."""
        found = self.lookup(target, *(operand.kind for operand in operands))
        if found is None:
            raise ArithmeticError
        known = [operand.value for operand in operands if isinstance(operand, Constant)]
        if len(known) == len(operands) and result is None:
            return Constant(found(*known))
        if result is None:
            result = Variable(
                renumbered(f"{self.statement.result}_part", self.names), found.returns
            )
            self.names.add(result.name)
        self.made.append(Statement(found, (result,), operands, self.statement.where))
        return result

    # ---- writing ----

    def rewrite(self) -> bool:
        """Write the statement's result with the variable standing once; whether that is done."""
        try:
            found = self.polynomial(self.statement.result)
            if found[0] == self.statement.result:
                return False
            return self.affine(*found[:2]) if _zero(found[2]) else self.quadratic(*found)
        except ArithmeticError:
            return False

    def affine(self, constant: Operand, slope: Operand) -> bool:
        result = self.statement.result
        if _zero(slope):
            self.equal = constant
        elif not _zero(constant):
            scaled = self.apply(operator.mul, slope, self.variable)
            self.state(operator.add, scaled, constant, result=result)
        elif _is(slope, 1):
            self.equal = self.variable
        else:
            self.state(operator.mul, slope, self.variable, result=result)
        return True

    def quadratic(self, constant: Operand, slope: Operand, lead: Operand) -> bool:
        """``lead * (variable + shift)**2 + constant - lead * shift**2``"""
        if not isinstance(lead, Constant) or (self.kind is not float and not _zero(slope)):
            return False
        base: Operand = self.variable
        if not _zero(slope):
            shift = self.apply(operator.truediv, slope, Constant(2 * lead.value))
            lost = self.apply(operator.mul, lead, self.apply(squared, shift))
            constant = self.apply(operator.sub, constant, lost)
            base = self.apply(operator.add, base, shift)
        result = self.statement.result
        steps: list[tuple[Callable[..., Any], tuple[Operand, ...]]] = [(squared, ())]
        steps += [] if _is(lead, 1) else [(operator.mul, (lead,))]
        steps += [] if _zero(constant) else [(operator.add, (constant,))]
        for i, (target, others) in enumerate(steps):
            last = result if i == len(steps) - 1 else None
            base = self.state(target, base, *others, result=last)
        return True


def _is(operand: Operand, value: int) -> bool:
    return isinstance(operand, Constant) and operand.value == value


def _zero(operand: Operand) -> bool:
    return _is(operand, 0)


def _simplified(target: Callable[..., Any], a: Operand, b: Operand | None = None) -> Operand | None:
    if target is operator.neg or b is None:
        return a if target is operator.neg and _zero(a) else None
    if target is operator.add and _zero(a):
        return b
    if target in (operator.add, operator.sub) and _zero(b):
        return a
    if target is operator.mul:
        if _zero(a) or _zero(b):
            return a if _zero(a) else b
        if _is(a, 1):
            return b
        return a if _is(b, 1) else None
    return a if target is operator.truediv and _is(b, 1) else None
