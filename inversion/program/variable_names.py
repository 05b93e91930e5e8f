"""Names of parameters, from the expressions of the source to which they belong.

The name of a parameter comes from its label: the kind of choice, and the variable or function.
Equal labels are distinguished by the line; on one line by the variable, or else by a number. A name
does not depend on other statements.
"""

from __future__ import annotations

import keyword
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from inversion.program.statements import StatementRule, Variable, renumbered
from primitives import Relation

__all__ = ["Label", "coordinate_label", "names_of", "subject_of", "word_for"]

WORDS = {
    "add": "sum", "sub": "difference", "mul": "product", "truediv": "quotient",
    "floordiv": "quotient", "mod": "remainder", "pow": "power", "neg": "negative",
    "pos": "positive", "and_": "bitwise_and", "or_": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift", "invert": "bitwise_not", "not_": "negation",
    "lt": "comparison", "le": "comparison", "gt": "comparison", "ge": "comparison",
    "eq": "comparison", "ne": "comparison", "getitem": "item", "matmul": "product",
    "from_polar": "polar",
}  # fmt: skip
"""The results of operators, as words."""

OF_FUNCTIONS = {"k": "branch", "u": "fraction"}
"""Coordinates named after the inverted function, not after the unknown."""

ALONE = ("trips", "beyond")
"""Coordinates without an unknown in their names."""


@dataclass(frozen=True)
class Label:
    """The parts of a parameter's name, before names are made unique.

    line: ``file:line``. of: the variable or function to which it belongs. value: the variable whose
    value it is, if any.
    """

    base: str
    line: str
    of: str
    value: str = ""


def word_for(name: str) -> str:
    """The name for the result of a function: ``sum`` for ``add``."""
    word = "".join(c if c.isalnum() else "_" for c in WORDS.get(name, name)).strip("_")
    return word if word.isidentifier() else f"value_{word}".rstrip("_")


def subject_of(variable: Variable) -> str:
    """The name of a variable in the source; if it has none, the name of its function."""
    return variable.source or variable.name


def coordinate_label(
    coordinate: str, rule: StatementRule, unknown: Sequence[Variable], line: str
) -> Label:
    """The label for a coordinate of the mode that solves a statement for some variables."""
    subjects = "_".join(map(subject_of, unknown))
    value = ""
    if coordinate in ALONE:
        base = coordinate
    elif coordinate in OF_FUNCTIONS and isinstance(rule, Relation):
        base = f"{OF_FUNCTIONS[coordinate]}_of_{word_for(rule.name)}"
    elif coordinate == "free" and len(unknown) == 1:
        base, value = subjects, unknown[0].name
    else:
        base = f"{coordinate}_{subjects}"
    return Label(base, line, subjects, value)


def names_of(
    labels: Sequence[Label], inputs: Collection[str], reserved: Collection[str]
) -> list[str]:
    """Unique identifiers for labels, one for each.

    inputs: variables after whose values parameters may be named. reserved: names with another
    meaning, such as axes.
    """
    values = Counter(label.value for label in labels)
    own = [
        label.value in inputs and label.value == label.base and values[label.value] == 1
        for label in labels
    ]
    settled = {label.base for label, is_own in zip(labels, own, strict=True) if is_own}
    alike = [label for label, is_own in zip(labels, own, strict=True) if not is_own]
    counts = Counter(label.base for label in alike)
    taken = {*reserved, *keyword.kwlist, *settled}
    names: list[str] = []
    for label, is_own in zip(labels, own, strict=True):
        if is_own:
            names.append(label.base)
            continue
        unique = counts[label.base] == 1 and label.base not in taken
        name = label.base if unique else _told_apart(label, alike)
        names.append(renumbered(name, taken))
        taken.add(names[-1])
    return names


def _told_apart(label: Label, labels: Sequence[Label]) -> str:
    """A name that distinguishes a label from equal ones, by its line and subject if possible."""
    alike = [other for other in labels if other.base == label.base]
    here = [other for other in alike if other.line == label.line]
    told = len({other.of for other in here}) == len(here) > 1
    number = label.line.rpartition(":")[2]
    line = f"_line_{number}" if number.isdigit() else ""
    if told:
        return f"{label.base}{line if len(here) < len(alike) else ''}_{label.of}"
    return f"{label.base}{line}"
