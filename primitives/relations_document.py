"""The base table as a document: ``python -m primitives.relations_document > docs/relations.md``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from overlay.core.signature import shown_hint
from overlay.core.target import describe
from primitives.base_table import RelationOf, base_relations
from primitives.relation import RETURN, Mode, Relation

__all__ = ["markdown"]

HEAD = """# Relations

For users of `inversion`: the relations of the base table `primitives.base_relations`, which it
solves without further declarations. `python -m primitives.relations_document` makes this page from
the table. To add a relation, put it into a method table ([Inversion](inversion.md)) and check it
with `primitives.testing.check_relation`. The [glossary](glossary.md#inversion) defines the terms.

- *Solves for* lists each set of axes that a mode computes from all the others, with the parameters
  that choose among its solutions, and their domains. Every relation also runs forwards.
- A parameter `near` is an argument itself: it is the answer if it satisfies the equation to the
  last digits, so that every argument is reached. Otherwise the equation decides.
- `inverse.parameters` lists the parameters of an inverse, under longer names: `k` of `sin` is
  `branch_of_sin` there.
- *Rounding only* marks parameters that matter only if rounding has mapped several arguments to one
  result. They may be omitted.
- NaN is never an answer. Solutions larger than any float, and values outside a domain or a
  codomain, are refused.
"""


def markdown() -> str:
    """The document."""
    rows = [_row(relation, spellings) for relation, spellings in _spelled()]
    head = "| Function | Types | Equation | Solves for | Values | Edges |"
    return "\n".join([HEAD, head, "| --- | --- | --- | --- | --- | --- |", *rows, ""])


def _spelled() -> Iterator[tuple[Relation, list[str]]]:
    """Each relation with the names of its functions."""
    found: dict[int, tuple[Relation, list[str]]] = {}
    for method in base_relations.methods():
        relation: Relation = method.function()
        target: RelationOf = method.target
        names = found.setdefault(id(relation), (relation, []))[1]
        names.append(_name(target.function))
    yield from found.values()


def _name(function: Any) -> str:
    name = describe(function)
    numpys = isinstance(function, np.ufunc) or getattr(function, "__module__", None) == "numpy"
    return f"numpy.{name}" if numpys and "." not in name else name


def _row(relation: Relation, spellings: list[str]) -> str:
    kinds = ", ".join(map(shown_hint, relation.types))
    cells = (
        ", ".join(f"`{name}`" for name in dict.fromkeys(spellings)),
        f"{kinds} → {', '.join(shown_hint(relation.kinds[axis]) for axis in relation.outputs)}",
        f"`{relation.equation}`",
        "; ".join(
            _mode(mode) for mode in relation.modes.values() if mode.unknown != relation.outputs
        ),
        _values(relation),
        _edges(relation),
    )
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _mode(mode: Mode) -> str:
    shown = ", ".join(mode.unknown)
    if not mode.coordinates:
        return shown
    choices = ", ".join(f"{name}: {domain!r}" for name, domain in mode.coordinates.items())
    return f"{shown} by {choices}" + (" (rounding only)" if mode.rounding_only else "")


def _values(relation: Relation) -> str:
    """The domains and the codomain that do not contain all values of their types."""
    named = [*relation.domain.items(), (RETURN, relation.codomain)]
    return "; ".join(
        f"{name}: {domain!r}" for name, domain in named if domain is not None and not domain.total
    )


def _edges(relation: Relation) -> str:
    missing = dict.fromkeys(mode.incomplete for mode in relation.modes.values() if mode.incomplete)
    parts = [relation.edges] if relation.edges else []
    return "; ".join([*parts, *(f"incomplete: {reason}" for reason in missing)])


if __name__ == "__main__":
    print(markdown(), end="")
