"""What parameters are called: after the expressions of the source that they belong to.

A parameter's name is made of its label: what it chooses, and of which variable or function. Where
several have the same label, the line is added; where several stand on one line, the variable; where
that does not tell them apart either, a number. Nothing of it depends on other statements.
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
"""What operators give, in words."""

OF_FUNCTIONS = {"k": "branch", "u": "fraction"}
"""Coordinates that are named after the function that is undone, rather than after the unknown."""

ALONE = ("trips", "beyond")
"""Coordinates that have no unknown in their names."""


@dataclass(frozen=True)
class Label:
    """What a parameter is called before it is told from others. line: ``file:line``. of: what it
    belongs to. value: the variable of which it is the value, if it is one's."""

    base: str
    line: str
    of: str
    value: str = ""


def word_for(name: str) -> str:
    """What a function gives, as a name: ``sum`` of ``add``."""
    word = "".join(c if c.isalnum() else "_" for c in WORDS.get(name, name)).strip("_")
    return word if word.isidentifier() else f"value_{word}".rstrip("_")


def subject_of(variable: Variable) -> str:
    """A variable's name in the source; that of what it is computed by, where it has none."""
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
    """A name for each label: identifiers, each one once.

    inputs: variables whose values parameters may be called after. reserved: names that mean
    something else, as axes do.
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
    """A name for a label that tells it from others, if its line and what it belongs to can."""
    alike = [other for other in labels if other.base == label.base]
    here = [other for other in alike if other.line == label.line]
    told = len({other.of for other in here}) == len(here) > 1
    number = label.line.rpartition(":")[2]
    line = f"_line_{number}" if number.isdigit() else ""
    if told:
        return f"{label.base}{line if len(here) < len(alike) else ''}_{label.of}"
    return f"{label.base}{line}"
