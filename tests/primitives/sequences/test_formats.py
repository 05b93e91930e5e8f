"""Relations of formats, padded strings, changes of strings, items of sequences, and domains."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from primitives import NoSolution
from primitives.domains import ByteStrings, Strings
from primitives.sequences.chains import chain
from primitives.sequences.changes import CHANGES, CONDITIONS, changed, condition
from primitives.sequences.formats import int_of_base, of_format, padded
from primitives.sequences.items import apart, from_bytes
from primitives.sequences.lists import list_of
from primitives.testing import check_relation

SPECS = {
    int: [
        "d",
        "02x",
        "08b",
        ",",
        "X",
        "#x",
        "+d",
        "05d",
        "<6",
        "^7",
        "0<5",
        "*^9",
        "_b",
        "#010x",
        "o",
    ],
    float: [
        ".3f",
        "e",
        ".2e",
        "g",
        ".0f",
        ">10.2f",
        ",.2f",
        "+.1f",
        "06.3f",
        "%",
        ".1%",
        ".3g",
        "*<9.1f",
    ],
    str: [">10", "<4", "^7", "*^5", "5"],
}
ARGUMENTS = {
    "strip": [(), ("0",)], "lstrip": [("0",)], "rstrip": [()],
    "replace": [("-", ""), ("a", "bb")], "translate": [(str.maketrans("abc", "xyz", "-"),)],
    "removeprefix": [("ab",)], "removesuffix": [("x",)],
}  # fmt: skip


@pytest.mark.parametrize("kind", SPECS)
def test_formats_keep_the_laws(kind):
    for spec in SPECS[kind]:
        check_relation(of_format(kind, spec), samples=15)


def test_changes_and_conditions_keep_the_laws():
    for method in CHANGES:
        for args in ARGUMENTS.get(method, [()]):
            check_relation(changed(method, args), samples=15)
    for method, single in itertools.product(CONDITIONS, (True, False)):
        check_relation(condition(method, single=single), samples=8)


def test_padding_and_bases_keep_the_laws():
    for method, args in (("zfill", (5,)), ("ljust", (4, "x")), ("rjust", (6,)), ("center", (7,))):
        check_relation(padded(method, args), samples=15)
    for base, width in itertools.product((2, 10, 16, 36), (None, 1, 3)):
        check_relation(int_of_base(base, width), samples=15)


def test_sequences_taken_apart_keep_the_laws():
    templates = (str, (None, "-", None)), (bytes, (None, None)), (list_of(int), (None, None))
    for kind, template in templates:
        whole = apart(kind, template)
        for unknown in (whole.outputs[:1], (*whole.outputs[:1], "a")):
            assert whole.mode(unknown)
        check_relation(whole, samples=15)
    for signed in (True, False):
        check_relation(from_bytes(2, signed=signed), samples=15)


@pytest.mark.parametrize("args", [("zfill", (3,)), ("center", (4, "0")), ("ljust", (3, "1"))])
def test_all_texts_that_are_padded_to_one_are_found(args):
    rule = padded(*args)
    texts = ["".join(t) for n in range(5) for t in itertools.product("01-", repeat=n)]
    by_result = {}
    for text in texts:
        by_result.setdefault(rule(text), set()).add(text)
    solve = rule.mode(["a"]).solver
    for ret, wanted in by_result.items():
        assert {solve(ret, kept) for kept in range(2 * len(wanted))} == wanted


@given(st.integers(-(10**6), 10**6))
def test_padding_with_digits_leaves_a_choice(number):
    rule = of_format(int, "0<9")
    mode = rule.mode(["a"])
    found = {mode.solver(rule(number), which) for which in range(12)}
    assert number in found
    assert all(rule(each) == rule(number) for each in found)


@given(st.floats(-1e9, 1e9), st.floats(-0.5, 0.5))
def test_each_place_among_rounded_numbers_prints_so(number, u):
    for spec in (".2f", ".3e", ".4g", ".1%"):
        rule = of_format(float, spec)
        text = rule(number)
        assert rule(rule.mode(["a"]).solver(text, u)) == text


def test_a_text_of_another_format_is_refused():
    for kind, spec, text in ((int, "04d", "12"), (float, ".2f", "1.5"), (int, "02x", "0X")):
        with pytest.raises(NoSolution):
            of_format(kind, spec).mode(["a"]).solver(*(text, 0.0)[: 2 if kind is float else 1])


def test_parts_are_cut_where_their_domains_end():
    digits = Strings("0123456789", 1)
    whole = chain(str, (False, False, False), (digits, Strings(":", 1, 1), digits))
    mode = whole.mode(["p0", "p1", "p2"])
    assert not mode.coordinates
    assert mode.solver("12:345") == ("12", ":", "345")
    check_relation(whole, samples=15)
    pair = chain(str, (False, False), (digits, digits))
    assert pair.count({"return": "1234"}) == 3
    check_relation(pair, samples=15)


def test_domains_of_strings_and_bytes():
    code = Strings("01", 2, 3)
    assert all(code.contains(value) for value in (*code.edges, *code.spread([0.1, 0.5, 0.9])))
    assert eval(code.condition("x"), {"x": "011"})
    assert not eval(code.condition("x"), {"x": "012"})
    assert code.meet(Strings("12", 0, 2)) == Strings("1", 2, 2)
    assert ByteStrings(2).meet(ByteStrings(0, 4)) == ByteStrings(2, 4)
    assert all(map(ByteStrings(1, 3).contains, ByteStrings(1, 3).spread([0.2, 0.7])))
