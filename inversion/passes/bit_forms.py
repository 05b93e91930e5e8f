"""Programs over bits: statements whose bits are sums, modulo 2, of bits of the inputs.

The statements run on forms (``primitives.forms.bit_systems``) in place of numbers. A branch on one
bit adds a multiple of that bit. A loop that shifts until nothing remains runs once for each bit.
The result is one statement, which is solved as a whole.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from inversion.passes.integer_forms import ordered, replaced
from inversion.program.branches import Branch
from inversion.program.loops import Loop
from inversion.program.statements import Constant, Operand, Program, Statement, Variable
from primitives import Bool, Domain, Integers, NoSolution, Relation
from primitives.domains import domain_of
from primitives.forms.bit_systems import BitForms, BitInput, bit_system
from primitives.integers.bits import (
    bit_count,
    rotate_left,
    rotate_right,
    xorshift_left,
    xorshift_right,
)
from primitives.integers.integer_table import INTEGER_RELATIONS
from primitives.logical import booleans

__all__ = ["in_bits"]

MOST_BITS = 4096
"""The largest number of bits of a number; shifts and products beyond stay unchanged."""
MOST_STATEMENTS = 100_000
"""The largest number of statements that run on forms, with those of loops counted in each
iteration.
"""
MOST_TABULATED = 8
"""The largest number of bits of an argument whose values are all tried, such as an index of a
table.
"""
WORD = 64
KINDS = (int, bool, np.int64, np.uint64)
UNKNOWN = -1
"""A placeholder for the form of a bit that is not a sum of bits; a mask may remove it."""


class NotAffine(Exception):
    """A result is not a sum of bits. For internal use."""


class Test(NamedTuple):
    """A test whether any of several forms is 1; or none of them, if ``negated``."""

    forms: tuple[int, ...]
    negated: bool


class Count(NamedTuple):
    """The number of ones among several forms."""

    forms: tuple[int, ...]


Value = BitForms | Test | Count
Values = dict[Operand, Value]


def in_bits(program: Program, domains: Mapping[str, Domain]) -> Program:
    """Combine statements over bits of the same integers into one each.

    domains: the declared domains of inputs, which determine their numbers of bits.
    """
    reading = _BitReading(program, domains)
    reading.read()
    return reading.rewritten()


# ---- forms --------------------------------------------------------------------------------


def constant(number: int) -> BitForms:
    """The forms of a constant integer."""
    return forms((number >> i & 1 for i in range(number.bit_length())), int(number < 0))


def forms(low: Iterable[int], sign: int) -> BitForms:
    """The forms of an integer, without the highest ones that equal the sign."""
    found = list(low)
    if len(found) > MOST_BITS:
        raise NotAffine
    while found and found[-1] == sign:
        found.pop()
    return BitForms(tuple(found), sign)


def known(value: BitForms) -> int | None:
    """The integer, if all forms are constants."""
    if not {value.sign, *value.low} <= {0, 1}:
        return None
    return sum(form << i for i, form in enumerate(value.low)) - (value.sign << len(value.low))


def at(value: BitForms, place: int) -> int:
    """The form of a bit."""
    return value.low[place] if place < len(value.low) else value.sign


def each(combine: Callable[[int, int], int], a: BitForms, b: BitForms) -> BitForms:
    """The forms that are combined bit by bit."""
    size = max(len(a.low), len(b.low))
    return forms((combine(at(a, i), at(b, i)) for i in range(size)), combine(a.sign, b.sign))


def is_whole(value: BitForms) -> bool:
    """Return whether each bit has a form."""
    return value.sign != UNKNOWN and UNKNOWN not in value.low


def added(*several: int) -> int:
    """The sum of forms, modulo 2."""
    found = 0
    for form in several:
        if form == UNKNOWN:
            return UNKNOWN
        found ^= form
    return found


def both(a: int, b: int) -> int:
    """The product of two forms."""
    if a in (0, 1) or b in (0, 1):
        return 0 if 0 in (a, b) else b if a == 1 else a
    if UNKNOWN in (a, b) or a ^ b > 1:
        return UNKNOWN
    return a if a == b else 0


def either(a: int, b: int) -> int:
    return 1 if 1 in (a, b) else added(a, b, both(a, b))


def flipped(value: BitForms) -> BitForms:
    """~value."""
    return BitForms(tuple(added(form, 1) for form in value.low), added(value.sign, 1))


def total(a: BitForms, b: BitForms, carry: int = 0) -> BitForms:
    """The sum; a carry that is a product of different forms is unknown."""
    found: list[int] = []
    size = max(len(a.low), len(b.low)) + 1
    for i in range(size + 1):
        one, other = at(a, i), at(b, i)
        found.append(added(one, other, carry))
        before, carry = carry, _majority(one, other, carry)
        if i == size and carry != before:
            raise NotAffine
    return forms(found[:-1], found[-1])


def _majority(a: int, b: int, c: int) -> int:
    """The majority of three forms."""
    for one, other, third in ((a, b, c), (a, c, b), (b, c, a)):
        if UNKNOWN not in (one, other) and one ^ other <= 1:
            return one if one == other else third
    return UNKNOWN


def negative(value: BitForms) -> BitForms:
    """-value."""
    return total(flipped(value), constant(0), 1)


def product(a: BitForms, b: BitForms) -> BitForms:
    """The product with a known integer."""
    factor, other = known(a), b
    if factor is None:
        factor, other = known(b), a
    if factor is None:
        raise NotAffine
    found = constant(0)
    for i in range(abs(factor).bit_length()):
        if abs(factor) >> i & 1:
            found = total(found, up(other, i))
    return negative(found) if factor < 0 else found


def up(value: BitForms, places: int) -> BitForms:
    """``value << places``."""
    if places > MOST_BITS:
        raise NotAffine
    return forms((0,) * places + value.low, value.sign)


def down(value: BitForms, places: int) -> BitForms:
    """``value >> places``."""
    return BitForms(value.low[places:], value.sign)


def lowest(value: BitForms, count: int) -> BitForms:
    """The lowest bits, as a number that is not negative."""
    return forms((at(value, i) for i in range(count)), 0)


def wrapped(kind: Any, value: BitForms) -> BitForms:
    """The value converted to a type: words lose the bits that exceed their width."""
    if kind is int:
        return value
    if kind is bool:
        return lowest(value, 1)
    word = [at(value, i) for i in range(WORD)]
    return forms(word, 0) if kind is np.uint64 else forms(word[:-1], word[-1])


def rotated(value: BitForms, places: int) -> BitForms:
    word = [at(value, i) for i in range(WORD)]
    places %= WORD
    return forms(word[WORD - places :] + word[: WORD - places], 0)


def nonzero(value: BitForms, *, negated: bool = False) -> Value:
    """The truth of ``value != 0``: a form if only one bit may be set."""
    return _test({form for form in (*value.low, value.sign) if form}, negated=negated)


def _test(found: set[int], *, negated: bool) -> Value:
    if 1 in found or any(form ^ 1 in found for form in found if form != UNKNOWN):
        return constant(not negated)
    if UNKNOWN in found:
        raise NotAffine
    if len(found) > 1:
        return Test(tuple(sorted(found)), negated)
    return forms((next(iter(found), 0) ^ negated,), 0)


def compared(sign: Any, a: BitForms, b: BitForms) -> Value:
    """The truth of a comparison, if it depends only on whether some bits are 0."""
    if sign in (operator.eq, operator.ne):
        return nonzero(each(added, a, b), negated=sign is operator.eq)
    if sign in (operator.gt, operator.le):  # a > b is b < a
        return compared(operator.lt if sign is operator.gt else operator.ge, b, a)
    bound = known(b)
    if bound is None:  # k < a is not a < k + 1
        bound = known(a)
        if bound is None:
            raise NotAffine
        return compared(operator.ge if sign is operator.lt else operator.lt, b, constant(bound + 1))
    # a >= bound, for a bound of 0 or a power of two
    negated = sign is operator.lt
    if bound == 0:
        return forms((added(a.sign, 1, negated),), 0)
    if a.sign != 0 or bound < 0 or bound & (bound - 1):
        raise NotAffine
    return nonzero(down(a, bound.bit_length() - 1), negated=negated)


def reduced(span: Sequence[int], form: int) -> int:
    """The remainder of a form after reduction by an echelon basis, highest first."""
    for other in span:
        form = min(form, form ^ other)
    return form


def basis(found: Iterable[int]) -> list[int]:
    """An echelon basis of forms."""
    made: list[int] = []
    for form in found:
        rest = reduced(made, form)
        if rest:
            made = sorted((*made, rest), reverse=True)
    return made


def agree(span: Sequence[int], one: Value, other: Value) -> bool:
    """Return whether two integers are equal wherever all forms of a basis are 0."""
    if not isinstance(one, BitForms) or not isinstance(other, BitForms):
        return one == other
    apart = each(added, one, other)
    return is_whole(apart) and not any(reduced(span, form) for form in (*apart.low, apart.sign))


def chosen(condition: Value, one: Value, other: Value) -> Value:
    """``one`` if a condition holds, else ``other``. Raises NotAffine."""
    if one == other:
        return one
    if isinstance(condition, Test):
        there, none = (other, one) if condition.negated else (one, other)
        if agree(basis(condition.forms), there, none):
            return there
        raise NotAffine
    if not (
        isinstance(condition, BitForms)
        and isinstance(one, BitForms)
        and isinstance(other, BitForms)
    ):
        raise NotAffine
    bit = at(condition, 0)
    apart = each(added, one, other)
    return each(added, other, each(both, apart, BitForms((), bit)))


# ---- statements ---------------------------------------------------------------------------


def _shifted(move: Callable[[BitForms, int], BitForms]) -> Callable[..., Value]:
    def run(a: BitForms, k: BitForms) -> Value:
        places = known(k)
        if places is None or places < 0:
            raise NotAffine
        return move(a, places)

    return run


def _comparison(sign: Any) -> Callable[..., Value]:
    def run(a: BitForms, b: BitForms) -> Value:
        return compared(sign, a, b)

    return run


def _places_of(divisor: BitForms) -> int:
    """The binary logarithm of a divisor that is a constant power of two."""
    number = known(divisor)
    if number is None or number < 1 or number & (number - 1):
        raise NotAffine
    return number.bit_length() - 1


def _parts(a: BitForms, b: BitForms) -> tuple[Value, Value]:
    places = _places_of(b)
    return down(a, places), lowest(a, places)


def _same(a: BitForms) -> Value:
    return a


def _bitwise(combine: Callable[[int, int], int]) -> Callable[[BitForms, BitForms], Value]:
    return lambda a, b: each(combine, a, b)


def _difference(a: BitForms, b: BitForms) -> Value:
    return total(a, flipped(b), 1)


def _quotient(a: BitForms, b: BitForms) -> Value:
    return _parts(a, b)[0]


def _remainder(a: BitForms, b: BitForms) -> Value:
    return _parts(a, b)[1]


def _is_zero(a: BitForms) -> Value:
    return nonzero(a, negated=True)


def _ones(a: BitForms) -> Value:
    return Count(tuple(at(a, i) for i in range(WORD)))


def _mixed(move: Callable[[BitForms, int], BitForms]) -> Callable[..., Value]:
    """A xorshift step."""

    def mixed(a: BitForms, k: int) -> BitForms:
        return each(added, a, move(a, k))

    return _shifted(mixed)


def _rotated_right(a: BitForms, k: int) -> BitForms:
    return rotated(a, -k)


RULES: Mapping[Any, Callable[..., Any]] = {
    operator.and_: _bitwise(both),
    operator.or_: _bitwise(either),
    operator.xor: _bitwise(added),
    operator.invert: flipped,
    operator.not_: _is_zero,
    operator.add: total,
    operator.sub: _difference,
    operator.neg: negative,
    operator.mul: product,
    operator.lshift: _shifted(up),
    operator.rshift: _shifted(down),
    operator.floordiv: _quotient,
    operator.mod: _remainder,
    divmod: _parts,
    xorshift_left: _mixed(up),
    xorshift_right: _mixed(down),
    rotate_left: _shifted(rotated),
    rotate_right: _shifted(_rotated_right),
    bit_count: _ones,
    bool: nonzero,
    int: _same,
    np.int64: _same,
    np.uint64: _same,
    **{
        sign: _comparison(sign)
        for sign in (
            operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
        )
    },
}  # fmt: skip
"""Functions of forms, by the function of integers that they replace."""
KNOWN_RELATIONS = frozenset(map(id, (*INTEGER_RELATIONS, *booleans)))


def _run(rule: Relation, values: Sequence[Value]) -> tuple[Value, ...]:
    """The results of a relation. Raises NotAffine."""
    kinds = rule.returns if isinstance(rule.returns, tuple) else (rule.returns,)
    if any(kind not in KINDS for kind in kinds):
        raise NotAffine
    run = RULES.get(rule.target) if id(rule) in KNOWN_RELATIONS else None
    if run is not None:
        try:
            found = _counted(rule.target, values) or run(*map(_numbers, values))
            several = found if len(kinds) > 1 else (found,)
            return tuple(
                wrapped(kind, value) if isinstance(value, BitForms) else value
                for kind, value in zip(kinds, several, strict=True)
            )
        except NotAffine:
            pass
    return (_tabulated(rule, [_numbers(value) for value in values]),)


def _counted(target: Any, values: Sequence[Value]) -> Value | None:
    """The lowest bit of a count, which is the sum of its forms; None for anything else."""
    if not isinstance(values[0], Count):
        return None
    number = known(_numbers(values[1])) if len(values) == 2 else None
    if (target, number) not in ((operator.and_, 1), (operator.mod, 2)):
        raise NotAffine
    return forms((added(*values[0].forms),), 0)


def _numbers(value: Value) -> BitForms:
    if not isinstance(value, BitForms):
        raise NotAffine
    return value


def _tabulated(rule: Relation, values: Sequence[BitForms]) -> BitForms:
    """The result of a relation with a single argument that is not constant and has few bits, by
    trying all its values.
    """
    varying = [i for i, value in enumerate(values) if known(value) is None]
    if len(varying) != 1 or len(rule.outputs) > 1 or len(rule.modes) == 1:
        raise NotAffine
    value = values[varying[0]]
    size = len(value.low)
    if value.sign not in (0, 1) or not is_whole(value) or size > MOST_TABULATED:
        raise NotAffine
    given = [known(one) for one in values]
    entries: list[int] = []
    for number in range(1 << size):
        own = number - (value.sign << size)
        args = [own if one is None else one for one in given]
        try:
            entries.append(
                int(rule(*(kind(arg) for kind, arg in zip(rule.types, args, strict=True))))
            )
        except (NoSolution, ValueError, ArithmeticError, TypeError, LookupError) as error:
            raise NotAffine from error
    first = entries[0]
    columns = [entries[1 << i] ^ first for i in range(size)]
    for number, entry in enumerate(entries):
        expected = first
        for i in range(size):
            expected ^= columns[i] if number >> i & 1 else 0
        if entry != expected:
            raise NotAffine
    found = constant(first)
    for column, form in zip(columns, value.low, strict=True):
        found = each(added, found, each(both, constant(column), BitForms((), form)))
    return wrapped(rule.returns, found)


class _Runner:
    """An interpreter that runs statements on forms. left: how many statements may still run."""

    def __init__(self) -> None:
        self.left = MOST_STATEMENTS

    def results(self, statement: Statement, values: Mapping[Operand, Value]) -> tuple[Value, ...]:
        """The results of a statement. Raises NotAffine."""
        self.left -= 1
        if self.left < 0:
            raise NotAffine
        rule: Any = statement.relation
        given = [operand_of(operand, values) for operand in statement.arguments]
        if isinstance(rule, Branch):
            return self.branch(rule, dict(zip(rule.inputs, given, strict=True)))
        if isinstance(rule, Loop):
            return self.loop(rule, dict(zip(rule.inputs, given, strict=True)))
        if not isinstance(rule, Relation) or any(value is None for value in given):
            raise NotAffine
        return _run(rule, [value for value in given if value is not None])

    def run(
        self, statements: Iterable[Statement], values: Mapping[Operand, Value | None]
    ) -> Values:
        """The values after some statements; variables that are not sums of bits have none."""
        found: Values = {v: value for v, value in values.items() if value is not None}
        for statement in statements:
            try:
                made = self.results(statement, found)
            except NotAffine:
                continue
            found.update(zip(statement.results, made, strict=True))
        return found

    def branch(self, rule: Branch, given: Mapping[Operand, Value | None]) -> tuple[Value, ...]:
        before = self.run(rule.before, given)
        condition = needed_of(rule.condition, before)
        settled = truth(condition)
        arms: list[list[Value]] = []
        for arm, taken in zip(rule.arms, (True, False), strict=True):
            if settled is not None and settled is not taken:
                continue
            values = self.run(arm.statements, before)
            held(arm.holds, values)
            arms.append([needed_of(give, values) for give in arm.gives])
        if len(arms) == 1:
            return tuple(arms[0])
        return tuple(chosen(condition, a, b) for a, b in zip(*arms, strict=True))

    def loop(self, rule: Loop, given: Mapping[Operand, Value | None]) -> tuple[Value, ...]:
        counted = self.counted(rule, given)
        free = {v: given[v] for v in rule.free}
        state: dict[Operand, Value | None] = {v: given[v] for v in rule.state}
        exits: list[tuple[Test | BitForms, Values]] = []
        for turn in self.turns(counted):
            values: Values = {v: x for v, x in {**free, **state}.items() if x is not None}
            if rule.bounds is not None and turn is not None:
                values[rule.bounds.index] = constant(turn)
            if counted is not None and turn is None:  # the range has ended
                values = self.run(rule.before.statements, values)
                return self.left_at(rule, values, exits)
            values = self.run(rule.before.statements, values)
            held(rule.before.holds, values)
            if rule.condition is not None:
                condition = needed_of(rule.condition, values)
                settled = truth(condition)
                if settled is rule.leaves:
                    return self.left_at(rule, values, exits)
                if settled is None:
                    exits.append((_where_left(condition, leaves=rule.leaves), values))
            values = self.run(rule.after.statements, values)
            held(rule.after.holds, values)
            following = zip(rule.state, rule.following, strict=True)
            state = {v: operand_of(operand, values) for v, operand in following}
        raise NotAffine

    def counted(self, rule: Loop, given: Mapping[Operand, Value | None]) -> range | None:
        """The numbers over which a loop counts; None if it does not count."""
        if rule.bounds is None:
            return None
        ends = [known(_numbers(needed_of(v, given))) for v in rule.limits]
        if None in ends or ends[2] == 0:
            raise NotAffine
        return range(*(end for end in ends if end is not None))

    def turns(self, counted: range | None) -> Iterator[int | None]:
        if counted is None:
            yield from (None for _ in range(MOST_BITS))
        else:
            yield from counted
            yield None

    def left_at(
        self, rule: Loop, values: Values, exits: Sequence[tuple[Test | BitForms, Values]]
    ) -> tuple[Value, ...]:
        """The results of a loop that has run for its largest possible number of iterations. If it
        may have ended before, its results there have to be the same.

        Where it may have been left before, the results have to be the same there.
        """
        held(rule.ends, values)
        gives = [needed_of(give, values) for give in rule.gives]
        for condition, before in exits:
            span = basis(condition.forms if isinstance(condition, Test) else condition.low)
            for give, last in zip(rule.gives, gives, strict=True):
                if not agree(span, needed_of(give, before), last):
                    raise NotAffine
        return tuple(gives)


def _where_left(condition: Value, *, leaves: bool) -> Test | BitForms:
    """The forms that are all 0 where a loop ends. Raises NotAffine."""
    if isinstance(condition, Test):
        if condition.negated is not leaves:
            raise NotAffine
        return condition
    form = at(_numbers(condition), 0)
    if form == UNKNOWN:
        raise NotAffine
    return BitForms((form ^ leaves,), 0)


def operand_of(operand: Operand, values: Mapping[Operand, Value | None]) -> Value | None:
    """The forms of an operand; None if it has none."""
    if isinstance(operand, Constant):
        return constant(int(operand.value)) if operand.kind in KINDS else None
    return values.get(operand)


def needed_of(operand: Operand, values: Mapping[Operand, Value | None]) -> Value:
    found = operand_of(operand, values)
    if found is None:
        raise NotAffine
    return found


def truth(condition: Value) -> bool | None:
    """The truth value of a condition, if it is constant."""
    number = known(condition) if isinstance(condition, BitForms) else None
    return None if number is None else bool(number)


def held(holds: Iterable[tuple[Operand, bool]], values: Mapping[Operand, Value]) -> None:
    """Raise NotAffine unless all conditions hold for any bits."""
    if any(truth(needed_of(value, values)) is not is_true for value, is_true in holds):
        raise NotAffine


# ---- programs -----------------------------------------------------------------------------


class _BitReading:
    """A program read as forms: the values of its variables, and the inputs whose bits are the
    unknowns.

    sources: the variables whose bits are the unknowns, each with the position of its first bit:
    inputs with a domain, and bounded results of other statements.
    """

    def __init__(self, program: Program, domains: Mapping[str, Domain]) -> None:
        self.program = program
        self.domains = domains
        self.values: Values = {}
        self.sources: dict[Variable, tuple[BitInput, int]] = {}
        self.size = 0
        self.runner = _Runner()

    def read(self) -> None:
        """Run the statements on forms."""
        for variable in self.program.inputs:
            self.add(variable, self.domains.get(variable.name))
        for statement in self.program.statements:
            try:
                made = self.runner.results(statement, self.values)
            except NotAffine:
                for result in statement.results:
                    self.add(result, _range_of(statement, result))
                continue
            for result, value in zip(statement.results, made, strict=True):
                self.values[result] = value
                if _is_hidden(value):
                    self.add(result, _range_of(statement, result))

    def add(self, variable: Variable, domain: Domain | None) -> None:
        """Add the bits of a variable as unknowns, if their number is known."""
        own = _input_of(variable, domain)
        if own is None:
            return
        bits = [1 << (self.size + i + 1) for i in range(own.size)]
        self.sources[variable] = own, self.size
        self.size += own.size
        self.values[variable] = BitForms(
            tuple(bits[: own.width]), bits[own.width] if own.signed else 0
        )

    def rewritten(self) -> Program:
        """The program with a statement for each group of results that share bits."""
        program = self.program
        inner = {
            v: s
            for s in program.statements
            for v in s.results
            if all(self.has_forms(r) for r in s.results)
        }
        wanted: set[Operand] = {*program.results.values(), *(v for v, _ in program.holds)}
        outer: list[Statement] = []
        for statement in reversed(program.statements):
            if statement.results[0] not in inner and not wanted.isdisjoint(statement.results):
                wanted.update(statement.arguments)
                outer.append(statement)
        ends = [v for v in inner if v in wanted]
        same: dict[Operand, Operand] = {}
        for v in ends:
            number = known(_numbers(self.values[v]))
            if number is not None:
                same[v] = Constant(v.kind(number))
        ends = [v for v in ends if v not in same]
        made = [s for group in self.groups(ends) if (s := self.system(group, inner)) is not None]
        if not made and not same:
            return program
        gone = {v for s in made for v in s.results}
        kept = [s for s in program.statements if gone.isdisjoint(s.results)]
        found = ordered(program, [*kept, *made])
        return program if found is None else replaced(program.replace(statements=found), same)

    def has_forms(self, result: Variable) -> bool:
        """Return whether a result consists of sums of bits of other variables."""
        value = self.values.get(result)
        return isinstance(value, BitForms) and is_whole(value) and result not in self.sources

    def groups(self, ends: Sequence[Variable]) -> Iterator[list[Variable]]:
        """Results that share sources, together."""
        left = {v: set(self.used(v)) for v in ends}
        while left:
            first = next(iter(left))
            group, near = [first], left.pop(first)
            while True:
                more = [v for v, own in left.items() if own & near]
                if not more:
                    break
                for v in more:
                    near |= left.pop(v)
                group += more
            yield [v for v in ends if v in group]

    def used(self, variable: Variable) -> list[Variable]:
        """The sources on whose bits a value depends."""
        value = _numbers(self.values[variable])
        bits = value.sign
        for form in value.low:
            bits |= form
        return [
            v
            for v, (own, start) in self.sources.items()
            if bits >> (start + 1) & ((1 << own.size) - 1)
        ]

    def system(
        self, group: Sequence[Variable], inner: Mapping[Variable, Statement]
    ) -> Statement | None:
        """The statement for a group; None if it is one statement already."""
        sources = [v for v in self.sources if any(v in self.used(end) for end in group)]
        waiting, statements = list[Operand](group), set[int]()
        for variable in waiting:
            if isinstance(variable, Variable) and variable in inner:
                statement = inner[variable]
                if id(statement) not in statements:
                    statements.add(id(statement))
                    waiting += statement.arguments
        plain = all(isinstance(inner[v].relation, Relation) for v in group)
        if len(statements) < 2 and plain:
            return None

        def moved(form: int) -> int:
            found, place = form & 1, 1
            for v in sources:
                own, start = self.sources[v]
                found |= (form >> (start + 1) & ((1 << own.size) - 1)) << place
                place += own.size
            return found

        results: list[tuple[type, BitForms]] = []
        for v in group:
            value = _numbers(self.values[v])
            results.append((v.kind, BitForms(tuple(map(moved, value.low)), moved(value.sign))))
        rule = bit_system(tuple(self.sources[v][0] for v in sources), tuple(results))
        return Statement(rule, tuple(group), tuple(sources), inner[group[-1]].where)


def _is_hidden(value: Value) -> bool:
    """Return whether no bit that is not constant has a form."""
    return isinstance(value, BitForms) and {value.sign, *value.low} - {0, 1} == {UNKNOWN}


def _input_of(variable: Variable, domain: Domain | None) -> BitInput | None:
    """The bits of a variable; None if their number is not known."""
    if variable.kind is bool or domain is Bool:
        return BitInput(bool, 1, signed=False) if variable.kind is bool else None
    kind = variable.kind
    if kind not in (int, np.int64, np.uint64):
        return None
    bounds = domain if isinstance(domain, Integers) else domain_of(kind)
    if not isinstance(bounds, Integers) or bounds.low is None or bounds.high is None:
        return None
    width = max(bounds.low.bit_length() if bounds.low >= 0 else (~bounds.low).bit_length(),
                bounds.high.bit_length())  # fmt: skip
    return BitInput(kind, width, signed=bounds.low < 0) if 0 < width <= MOST_BITS else None


def _range_of(statement: Statement, result: Variable) -> Domain | None:
    """The range of a result that is not a sum of bits, if its statement bounds it."""
    rule = statement.relation
    if not isinstance(rule, Relation):
        return None
    if id(rule) in KNOWN_RELATIONS and result.kind is int:
        *_, last = statement.arguments
        number = last.value if isinstance(last, Constant) else None
        if isinstance(number, int) and number > 0:
            if rule.target is operator.and_:
                return Integers(0, number)
            if rule.target is operator.mod or (
                rule.target is divmod and result == statement.results[-1]
            ):
                return Integers(0, number - 1)
    return rule.codomain if len(rule.outputs) == 1 else None
