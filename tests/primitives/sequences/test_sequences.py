"""Relations of strings and lists that are made for the constants of a program: parts, items,
slices.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from primitives import NoSolution, base_relations
from primitives.domains import Text
from primitives.sequences.chains import chain
from primitives.sequences.lists import Lists, is_list, list_of
from primitives.sequences.parts import sliced
from primitives.sequences.texts import lower, str_of_float, swapcase, upper
from primitives.testing import check_relation
from tests.examples import examples

KINDS = str, list_of(float), list_of(int), list_of(str)
SLICES = (
    (None, None, -1), (1, 3, None), (None, -1, None), (None, None, 2), (-3, None, None),
    (5, 1, -2),
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_slices_keep_the_laws(kind):
    for ends in SLICES:
        check_relation(sliced(kind, *ends), samples=10)


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_every_set_of_parts_is_found_from_the_others(kind):
    whole = chain(kind, (False, False, False))
    unknown = ({"p0"}, {"p0", "p2"}, {"p1", "p2"}, {"p0", "p1", "p2"})
    assert all(set(whole.mode(names).unknown) == names for names in unknown)
    check_relation(whole, samples=10)
    if is_list(kind):
        mixed = chain(kind, (True, False, False, True))
        assert mixed.equation == "return = [x0] + p1 + p2 + [x3]"
        assert all(mixed.mode(names) for names in ({"x0", "p2"}, {"x0", "x3"}, {"p1", "p2"}))
        check_relation(mixed, samples=10)


@settings(max_examples=examples(40))
@given(st.lists(st.text("ab", max_size=3), min_size=2, max_size=4), st.text("ab/", max_size=6))
def test_each_way_to_take_a_string_apart_has_one_number(known, ret):
    singles = (False,) * (2 * len(known) - 1)
    whole = chain(str, singles)
    # unknown parts with known ones between them
    open_parts = [name for i, name in enumerate(whole.axes) if i % 2 == 0]
    given_parts = {n: known[i // 2] for i, n in enumerate(whole.axes) if i % 2}
    mode = whole.mode(open_parts)
    count = whole.count({"return": ret, **given_parts})
    found = set()
    for index in range(count):
        values = {"return": ret, "index": index, **given_parts}
        parts = mode.solver(*(values[name] for name in mode.takes))
        both = dict(zip(mode.unknown, parts, strict=True)) | given_parts
        assert "".join(both[name] for name in whole.axes) == ret
        everything = {"return": ret, **both}
        assert mode.recover(*(everything[name] for name in mode.recovers)) == (index,)
        found.add(parts)
    assert len(found) == count
    if not count:
        values = {"return": ret, "index": 0, **given_parts}
        with pytest.raises(NoSolution):
            mode.solver(*(values[name] for name in mode.takes))


@pytest.mark.parametrize("rule", [upper, lower, swapcase], ids=lambda r: r.name)
def test_every_letter_of_unicode_is_reached_from_what_it_becomes(rule):
    mode = rule.mode(["a"])
    changed = [c for c in map(chr, range(0x110000)) if rule(c) != c]
    assert len(changed) > 1_000
    for letter in changed[::23]:
        text = f"x{letter}y"
        (choice,) = mode.recover(rule(text), text)
        assert mode.solver(rule(text), choice) == text


def test_the_digits_of_a_choice_are_cases():
    solve = upper.mode(["a"]).solver
    assert {solve("AB1", choice) for choice in range(4)} == {"AB1", "aB1", "Ab1", "ab1"}
    assert {solve("SS", choice) for choice in range(20)} >= {"SS", "ss", "ß", "sS"}
    with pytest.raises(NoSolution, match="letters in this case"):
        solve("a", 0)
    solve = lower.mode(["a"]).solver
    assert {solve("ας", choice) for choice in range(4)} >= {"ας", "ΑΣ"}


def test_a_number_is_written_in_one_way_only():
    read = str_of_float.mode(["a"]).solver
    assert read("0.1") == 0.1
    for text in ("0.10", " 1.0", "1"):
        with pytest.raises(NoSolution, match="written like this"):
            read(text)


def test_domains_of_strings_and_lists_draw_members():
    rng = np.random.default_rng(0)
    for domain in (Text, Lists(Text), list_of(float).domain):
        drawn = domain.sample(rng, 200)
        assert drawn.dtype == object
        assert all(map(domain.contains, drawn))
        assert len(set(map(len, drawn))) > 5
        assert domain.from_unit(0.25) == domain.from_unit(0.25)
    assert not list_of(float).domain.contains([1.0, "a"])
    assert not Text.contains(1)


def test_the_base_table_has_relations_of_strings_and_lists():
    kinds = {kind for m in base_relations.methods() for kind in m.function().types}
    assert set(KINDS) <= kinds
