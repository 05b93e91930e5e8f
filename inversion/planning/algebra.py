"""Elimination of algebraic loops: the uses of a variable are collected into a single one.

If the uses of a variable meet again in one statement, only through sums, products and quotients,
this statement is a fraction of two polynomials in the variable. Up to degree two it is rewritten
with a single use of the variable: ``a + a`` as ``2 * a``, ``x * y + x`` as ``(y + 1) * x``, ``x * x
+ x`` by completing the square, ``(x + 1) / (x - 2)`` as a separate relation.
"""

from __future__ import annotations

import functools
import heapq
import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from inversion.passes.simplifying import fold, prune
from inversion.planning.joins import joins
from inversion.program.statements import Constant, Operand, Program, Statement, Variable
from inversion.program.variable_names import word_for
from overlay import Context
from primitives import Relation, base_relations, relation_of
from primitives.arrays.domain import is_array
from primitives.floats.arithmetic import squared
from primitives.forms.fractions import fraction
from primitives.forms.quadratics import MAYBE_LINEAR, QUADRATIC
from primitives.sequences.lists import is_sequence

__all__ = ["collected"]

MOST_TERMS = 3  # of a polynomial
Polynomial = tuple[Operand, ...]
"""The coefficients, in ascending powers; the last one is not known to be 0."""


@dataclass(frozen=True)
class Fraction:
    """A fraction of two polynomials."""

    top: Polynomial
    bottom: Polynomial


@dataclass
class Rewritten:
    """The replacement of a statement: other statements, of which the last may give its result; or
    an equal operand.
    """

    made: list[Statement] = field(default_factory=list[Statement])
    equal: Operand | None = None


def collected(
    program: Program, core: Sequence[Statement], unknown: Iterable[Variable]
) -> Program | None:
    """The program with core statements rewritten, so that each unknown whose uses meet is used only
    once; None if there are no such unknowns.
    """
    floats = [v for v in unknown if not (is_array(v.kind) or is_sequence(v.kind))]
    names = {v.name for v in program.variables}
    lookup = functools.cache(_relation)
    users = _users(core)
    changed: dict[tuple[Variable, ...], Rewritten] = {}
    for at, variable in joins(core, floats):
        results = core[at].results
        if results not in changed:
            algebra = _Algebra(core, users, names, lookup, variable)
            found = algebra.rewritten(at)
            if found is not None:
                changed[results] = found
                names.update(v.name for made in found.made for v in made.results)
    return _applied(program, changed) if changed else None


def _users(core: Sequence[Statement]) -> Mapping[Operand, list[int]]:
    users: dict[Operand, list[int]] = {}
    for i, statement in enumerate(core):
        for argument in statement.arguments:
            users.setdefault(argument, []).append(i)
    return users


def _applied(program: Program, changed: Mapping[tuple[Variable, ...], Rewritten]) -> Program:
    """The program with some statements replaced."""
    statements: list[Statement] = []
    for statement in program.statements:
        new = changed.get(statement.results)
        statements += [statement] if new is None else new.made
        if new is not None and new.equal is not None:
            statements.append(statement)  # a placeholder for its equal operand

    def change(statement: Statement) -> Statement | Sequence[Operand]:
        new = changed.get(statement.results)
        return statement if new is None or new.equal is None else (new.equal,)

    return prune(fold(program.replace(statements=tuple(statements)).rewritten(change)))


def _relation(target: Callable[..., Any], *kinds: Any) -> Relation | None:
    method = Context(base_relations).method(relation_of(target), *kinds)
    return None if method is None else method.function(*kinds)


Lookup = Callable[..., Relation | None]


class _Algebra:
    """Algebra on values that depend on one variable: they are fractions of polynomials in it.

    Raises ArithmeticError internally if a coefficient cannot be computed.
    """

    def __init__(
        self,
        core: Sequence[Statement],
        users: Mapping[Operand, list[int]],
        names: set[str],
        lookup: Lookup,
        variable: Variable,
    ) -> None:
        self.core = core
        self.users = users
        self.names = names
        self.lookup = lookup
        self.variable = variable
        self.kind = variable.kind
        self.zero, self.one = Constant(self.kind(0)), Constant(self.kind(1))
        self.known: dict[Operand, Fraction] = {
            variable: Fraction((self.zero, self.one), (self.one,))
        }
        self.new = Rewritten()
        self.where = ""
        self.unused: Iterator[str] = iter(())

    def rewritten(self, at: int) -> Rewritten | None:
        """Rewrite the statement with this number with a single use of the variable, if possible."""
        self.where = self.core[at].where
        self.unused = self.fresh(f"{self.core[at].results[0]}_part")
        try:
            found = self.reached(at)
            done = found is not None and self.write(found, self.core[at].results[0])
        except ArithmeticError:
            return None
        return self.new if done else None

    def fresh(self, stem: str) -> Iterator[str]:
        """Unused names for variables."""
        numbered = (f"{stem}_{count}" for count in itertools.count(2))
        return (name for name in itertools.chain((stem,), numbered) if name not in self.names)

    # ---- reading ----

    def reached(self, at: int) -> Fraction | None:
        """The result of a statement as a fraction in the variable; None if it is not a fraction of
        polynomials, or if its degree is too high.
        """
        waiting = sorted(set(self.users[self.variable]))
        seen = set(waiting)
        while waiting:
            i = heapq.heappop(waiting)
            found = self.combined(self.core[i])
            if found is None and i != at:
                continue  # a separate coefficient, beside which the variable may cancel
            if found is None or max(len(found.top), len(found.bottom)) > MOST_TERMS:
                return None
            if i == at:
                return found
            (result,) = self.core[i].results
            self.known[result] = found
            for j in self.users.get(result, ()):
                if j not in seen:
                    seen.add(j)
                    heapq.heappush(waiting, j)
        return None

    def combined(self, statement: Statement) -> Fraction | None:
        """The result of a statement on fractions; None if it is not a fraction."""
        rule = statement.relation
        if not isinstance(rule, Relation) or len(statement.results) > 1:
            return None
        kinds = [argument.kind for argument in statement.arguments]
        combine = self.rules.get(rule.target)
        if combine is None or rule is not self.lookup(rule.target, *kinds):
            return None
        return combine(*map(self.fraction, statement.arguments))

    def fraction(self, operand: Operand) -> Fraction:
        """The fraction of an operand; one that does not depend on the variable is a constant."""
        return self.known.get(operand) or Fraction(self.trimmed((operand,)), (self.one,))

    @functools.cached_property
    def rules(self) -> dict[Callable[..., Any], Callable[..., Fraction | None]]:
        """The operations on fractions, by function."""
        return {
            operator.add: functools.partial(self.sum, operator.add),
            operator.sub: functools.partial(self.sum, operator.sub),
            operator.neg: self.negated,
            operator.mul: self.product,
            operator.truediv: self.quotient,
            operator.pow: self.power,
            squared: self.squared,
        }

    def negated(self, p: Fraction) -> Fraction:
        return Fraction(tuple(self.apply(operator.neg, x) for x in p.top), p.bottom)

    def sum(self, target: Callable[..., Any], p: Fraction, q: Fraction) -> Fraction | None:
        if p.bottom == q.bottom:
            return Fraction(self.each(target, p.top, q.top), p.bottom)
        left, right = self.times(p.top, q.bottom), self.times(q.top, p.bottom)
        return Fraction(self.each(target, left, right), self.times(p.bottom, q.bottom))

    def product(self, p: Fraction, q: Fraction) -> Fraction | None:
        return Fraction(self.times(p.top, q.top), self.times(p.bottom, q.bottom))

    def squared(self, p: Fraction) -> Fraction | None:
        return self.product(p, p)

    def quotient(self, p: Fraction, q: Fraction) -> Fraction | None:
        if len(q.top) == 1 and len(p.bottom) == len(q.bottom) == 1:  # by a constant divisor
            top = (x if _zero(x) else self.apply(operator.truediv, x, q.top[0]) for x in p.top)
            return Fraction(tuple(top), (self.one,)) if p.bottom == q.bottom else None
        return Fraction(self.times(p.top, q.bottom), self.times(p.bottom, q.top))

    def power(self, p: Fraction, q: Fraction) -> Fraction | None:
        (exponent, *others) = q.top
        if others or not isinstance(exponent, Constant) or exponent.value not in (1, 2):
            return None
        return p if exponent.value == 1 else self.product(p, p)

    def each(self, target: Callable[..., Any], p: Polynomial, q: Polynomial) -> Polynomial:
        """Apply a function coefficient by coefficient."""
        size = max(len(p), len(q))
        pairs = zip(self.padded(p, size), self.padded(q, size), strict=True)
        return self.trimmed(tuple(self.apply(target, a, b) for a, b in pairs))

    def times(self, p: Polynomial, q: Polynomial) -> Polynomial:
        """The product of two polynomials."""
        if len(p) + len(q) - 1 > MOST_TERMS:
            raise ArithmeticError
        terms: list[Operand] = [self.zero] * (len(p) + len(q) - 1)
        for i, a in enumerate(p):
            for j, b in enumerate(q):
                term = self.apply(operator.mul, a, b)
                terms[i + j] = self.apply(operator.add, terms[i + j], term)
        return self.trimmed(tuple(terms))

    def padded(self, p: Polynomial, size: int) -> Polynomial:
        return (*p, *[self.zero] * (size - len(p)))

    def trimmed(self, p: Polynomial) -> Polynomial:
        while len(p) > 1 and _zero(p[-1]):
            p = p[:-1]
        return p

    # ---- writing ----

    def apply(self, target: Callable[..., Any], *operands: Operand) -> Operand:
        """The operand for a function of others, simplified if one of them is 0 or 1."""
        if target is operator.sub and _zero(operands[0]):
            target, operands = operator.neg, operands[1:]
        simple = _simplified(target, *operands)
        return self.state(target, *operands) if simple is None else simple

    def state(
        self, target: Callable[..., Any], *operands: Operand, result: Variable | None = None
    ) -> Operand:
        """The result of a new statement."""
        found = self.lookup(target, *(operand.kind for operand in operands))
        if found is None:
            raise ArithmeticError
        known = [operand.value for operand in operands if isinstance(operand, Constant)]
        if len(known) == len(operands) and result is None:
            return Constant(found(*known))
        if result is None:
            result = Variable(next(self.unused), found.returns, word_for(found.name))
        self.new.made.append(Statement(found, (result,), operands, self.where))
        return result

    def write(self, found: Fraction, result: Variable) -> bool:
        """Write a fraction with a single use of the variable; return whether that is possible."""
        found = self.shortened(found)
        if len(found.bottom) == 1 and len(found.top) <= 2:
            constant, slope = self.padded(found.top, 2)
            self.affine(constant, slope, result)
            return True
        if self.kind is int and found.bottom == (self.one,):
            return self.quadratic(found.top, result)
        is_complex = self.kind is complex
        if len(found.bottom) == 1 and isinstance(found.top[2], Constant) and not is_complex:
            constant, slope, lead = found.top
            assert isinstance(lead, Constant)
            return self.square(constant, slope, lead, result)
        if self.kind is not float and not is_complex:
            return False
        top, bottom = (self.padded(p, MOST_TERMS)[::-1] for p in (found.top, found.bottom))
        rule = fraction(
            self.kind, quadratic=max(len(found.top), len(found.bottom)) > 2, free=_may_cancel(found)
        )
        self.new.made.append(Statement(rule, (result,), (self.variable, *top, *bottom), self.where))
        return True

    def shortened(self, found: Fraction) -> Fraction:
        """Cancel common powers of the variable, and divide by a denominator without it."""
        top, bottom = found.top, found.bottom
        while min(len(top), len(bottom)) > 1 and _zero(top[0]) and _zero(bottom[0]):
            top, bottom = top[1:], bottom[1:]
        if len(bottom) == 1 and bottom != (self.one,):
            top = tuple(x if _zero(x) else self.apply(operator.truediv, x, bottom[0]) for x in top)
            bottom = (self.one,)
        return Fraction(top, bottom)

    def affine(self, constant: Operand, slope: Operand, result: Variable) -> None:
        """Write ``slope * variable + constant``."""
        if _zero(slope):
            self.new.equal = constant
        elif not _zero(constant):
            scaled = self.apply(operator.mul, slope, self.variable)
            self.state(operator.add, scaled, constant, result=result)
        elif _is(slope, 1):
            self.new.equal = self.variable
        else:
            self.state(operator.mul, slope, self.variable, result=result)

    def quadratic(self, top: Polynomial, result: Variable) -> bool:
        """Write a polynomial of an integer."""
        constant, slope, lead = top
        if _zero(slope) and isinstance(lead, Constant):
            return self.square(constant, slope, lead, result)
        rule = QUADRATIC if isinstance(lead, Constant) else MAYBE_LINEAR
        arguments = (self.variable, lead, slope, constant)
        self.new.made.append(Statement(rule, (result,), arguments, self.where))
        return True

    def square(self, constant: Operand, slope: Operand, lead: Constant, result: Variable) -> bool:
        """Write ``lead * (variable + shift)**2 + constant - lead * shift**2``."""
        if self.kind is not float and not _zero(slope):
            return False
        base: Operand = self.variable
        if not _zero(slope):
            shift = self.apply(operator.truediv, slope, Constant(2 * lead.value))
            lost = self.apply(operator.mul, lead, self.apply(squared, shift))
            constant = self.apply(operator.sub, constant, lost)
            base = self.apply(operator.add, base, shift)
        steps: list[tuple[Callable[..., Any], tuple[Operand, ...]]] = [(squared, ())]
        steps += [] if _is(lead, 1) else [(operator.mul, (lead,))]
        steps += [] if _zero(constant) else [(operator.add, (constant,))]
        for i, (target, others) in enumerate(steps):
            last = result if i == len(steps) - 1 else None
            base = self.state(target, base, *others, result=last)
        return True


def _may_cancel(found: Fraction) -> bool:
    """Return whether a fraction may be constant, according to the known coefficients."""
    size = max(len(found.top), len(found.bottom))
    top, bottom = (
        [x.value if isinstance(x, Constant) else math.nan for x in p] + [0.0] * (size - len(p))
        for p in (found.top, found.bottom)
    )
    pairs = list(zip(top, bottom, strict=True))
    if any(abs(a) > 0 and b == 0 for a, b in pairs):
        return False  # a power that remains for all values
    # unknown coefficients may be equal
    return not any(abs(a * d - b * c) > 0 for (a, b), (c, d) in itertools.combinations(pairs, 2))


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
