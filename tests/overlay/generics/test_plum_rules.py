"""A table chooses among its methods as plum does: the law, on random tables."""

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay import Context, MethodTable
from tests.examples import examples
from tests.overlay.generics.tables_beside_plum import HINTS, VALUES, compare

signatures = st.tuples(
    st.lists(st.sampled_from(HINTS), max_size=3),
    st.integers(0, 2),  # how many of the last parameters have defaults
    st.none() | st.sampled_from(HINTS),  # *args
    st.integers(0, 1),  # precedence
)


@settings(max_examples=examples(300))
@given(
    st.lists(signatures, min_size=1, max_size=6),
    st.lists(st.lists(st.sampled_from(VALUES), max_size=4), min_size=1, max_size=5),
)
def test_a_table_chooses_as_plum_does(drawn, calls):
    compare(drawn, calls)


def test_the_later_of_two_methods_that_defaults_make_the_same_wins():
    def target(*args):
        return "base"

    def one(x: float):
        return "one"

    def two(x: float, y: float = 1.0):
        return "two"

    for methods, expected in (((one, two), "two"), ((two, one), "one")):
        table = MethodTable("t")
        for method in methods:
            table.overlay(target)(method)
        assert Context(table)(lambda: (target(1.0), target(1.0, 2.0))) == (expected, "two")
