"""The page of relations is generated from the base table, and agrees with it."""

from pathlib import Path

from primitives import base_relations
from primitives.relations_document import markdown

PAGE = Path(__file__).parents[2] / "docs" / "relations.md"


def test_the_page_is_that_of_the_table():
    assert PAGE.read_text(encoding="utf-8") == markdown(), (
        "run: python -m primitives.relations_document > docs/relations.md"
    )


def test_every_relation_has_a_row_with_its_spellings_modes_and_edges():
    rows = [row for row in markdown().splitlines() if row.startswith("| `")]
    assert len(rows) == len({id(method.function()) for method in base_relations.methods()})
    (tanh,) = [row for row in rows if "`math.tanh`" in row]
    assert "`math.tanh`, `numpy.tanh`" in tanh
    assert "a by near: Real (rounding only)" in tanh
    assert "Reals(-1.0, 1.0)" in tanh
    assert "all arguments from 19.06 on" in tanh
