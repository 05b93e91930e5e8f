"""Powers of integers with an exponent that may be negative.

For these Python returns a float, and the relation of integer powers has no answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from inversion.program.statements import Constant, Statement
from inversion.program.structured import Structured
from primitives import Domain, Integers
from primitives.integers.integer_powers import power_int

__all__ = ["REMEDY", "negative_powers"]

REMEDY = "declare a domain of the exponent, as Integers(0, 9), or write float(a) ** b"


def negative_powers(
    statements: Iterable[Statement], domains: Mapping[str, Domain]
) -> Iterator[Statement]:
    """The statements of a program that are such powers. domains: the declared domains, by input."""
    for statement in statements:
        rule = statement.relation
        if rule is power_int and not _is_from_0(statement, domains):
            yield statement
        if isinstance(rule, Structured):
            yield from negative_powers(rule.inside, domains)


def _is_from_0(statement: Statement, domains: Mapping[str, Domain]) -> bool:
    exponent = statement.arguments[1]
    if isinstance(exponent, Constant):
        return bool(exponent.value >= 0)
    declared = domains.get(exponent.name)
    return isinstance(declared, Integers) and declared.low is not None and declared.low >= 0
