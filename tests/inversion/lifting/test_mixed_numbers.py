"""Numbers whose Python type depends on the path: each result is that of Python for the type."""

import itertools
import math

import pytest

from inversion import NoSolution, NotInvertible, invert
from overlay import Context, MethodTable
from primitives import Integers

VALUES = {
    "int": (1, 10, 3),
    "float": (0.1, 1.0, 2.5),
    "bool": (True, False),
    "int and float": (0.1, 1, 10),
    "bool and int": (0, True, 7),
    "bool and float": (0.5, True, 3.0),
    "all": (1.5, 2, True, 0, 4.0),
    "equal numbers": (1, 1.0, True, 2),
}
CONTAINERS = {
    "tuple": tuple,
    "list": list,
    "dict": lambda items: dict(zip("abcdefgh", items, strict=False)),
}


def programs_of(table, kind):
    """Functions of a key of a table, whose results depend on the type of the item, or do not."""

    def shown(k: kind) -> str:
        return str(table[k])

    def in_text(k: kind) -> str:
        return f"<{table[k]}>"

    def represented(k: kind) -> str:
        return f"{table[k]!r}"

    def with_width(k: kind) -> str:
        return f"{table[k]:>6}"

    def with_digits(k: kind) -> str:
        return f"{table[k]:.2f}"

    def formatted(k: kind) -> str:
        return format(table[k], "g")

    def by_method(k: kind) -> str:
        return "{:>5}|{}".format(table[k], table[k])  # noqa: UP032

    def by_percent(k: kind) -> str:
        return "%s%%" % table[k]  # noqa: UP031

    def whole(k: kind) -> bool:
        return isinstance(table[k], int)

    def equal(k: kind) -> bool:
        return table[k] == 1

    def tripled(k: kind) -> str:
        return str(table[k] * 3)

    def negated(k: kind) -> str:
        return str(-table[k])

    def divided(k: kind) -> str:
        return str(table[k] / 4)

    def floored(k: kind) -> str:
        return str(table[k] // 2 + 1)

    def halved(k: kind) -> float:
        return table[k] / 2

    def plain(k: kind) -> float:
        return table[k]

    def twice(k: kind) -> str:
        item = table[k]
        return f"{item} {item + 1}"

    def with_other(k: kind, x: int) -> str:
        return str(table[k] * 2 + x)

    return {
        name: f for name, f in locals().items() if callable(f) and name not in ("table", "kind")
    }


def results_of(function, keys):
    """The results in Python, by arguments."""
    more = [(-3,), (5,)] if function.__code__.co_argcount > 1 else [()]
    return {(key, *rest): function(key, *rest) for key in keys for rest in more}


NAMES = list(programs_of((0,), int))


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("name", NAMES)
def test_items_of_a_table_keep_their_types(name, values, container):
    table = CONTAINERS[container](VALUES[values])
    keys = list(table) if isinstance(table, dict) else range(len(table))
    function = programs_of(table, str if isinstance(table, dict) else int)[name]
    inverse = invert(function)
    for args, result in results_of(function, keys).items():
        found = function(*inverse(result))
        assert found == result, (args, result)


@pytest.mark.parametrize("values", VALUES)
def test_a_text_of_another_type_has_no_solution(values):
    table = VALUES[values]
    function = programs_of(table, int)["shown"]
    reached = set(map(str, table))
    inverse = invert(function)
    for item in table:
        for kind in (int, float, bool):
            if str(kind(item)) not in reached:
                with pytest.raises(NoSolution):
                    inverse(str(kind(item)))


def test_items_of_two_tables_have_each_of_their_types():
    first, second = (0.5, 1), (2, 3.0, True)

    def f(i: int, j: int) -> str:
        return str(first[i] + second[j])

    inverse = invert(f)
    for i, j in itertools.product(range(2), range(3)):
        assert f(*inverse(f(i, j))) == f(i, j)


def test_an_item_that_raises_for_its_type_is_left_out():
    letters = {1: "b", 2: "c"}

    def f(i: int) -> str:
        return letters[(0.5, 1, 2)[i]]

    assert f(*invert(f)("c")) == "c"


def test_overlay_methods_are_chosen_by_the_type_of_an_item():
    table = MethodTable("kinds")

    def kind_of(x):
        raise NotImplementedError

    @table.overlay(kind_of)
    def of_int(x: int):
        return x + 100

    @table.overlay(kind_of)
    def of_float(x: float):
        return x + 200

    def f(i: int) -> float:
        return kind_of((0.5, 1, 2.5)[i])

    inverse = invert(f, context=Context(table))
    assert inverse(101) == (1,)
    assert inverse(202.5) == (2,)


def branches():
    """Functions that return a number of a different type in each branch."""

    def if_expression(x: int) -> str:
        return str(1 if x > 3 else 0.5)

    def assigned(x: int) -> str:
        y = 2
        if x > 3:
            y = 0.5 * x
        return f"{y}"

    def nested(x: int) -> str:
        y = True if x > 10 else 1.5 if x > 3 else x
        return str(y)

    def inner(x: int) -> str:
        def pick(a):
            return a if a > 3 else 0.5

        return f"{pick(x) * 2}!"

    def of_table(x: int) -> str:
        y = (0.5, 1, True)[x - 4] if x > 3 else 7
        return str(y)

    def compared(x: int) -> bool:
        return isinstance(1 if x > 3 else 0.5, float)

    def larger(x: int) -> str:
        return str(max(4.5, x))

    def smaller(x: int) -> str:
        return f"{min(x, 4.5, 10)}"

    def number(x: int) -> float:
        return (x if x > 3 else 0.5) * 3

    return [f for f in locals().values() if callable(f)]


@pytest.mark.parametrize("function", branches(), ids=lambda f: f.__name__)
def test_a_number_of_another_type_on_each_way_keeps_them(function):
    inverse = invert(function)
    for x in (-2, 4, 5, 6, 20):
        try:
            result = function(x)
        except IndexError:
            continue
        assert function(*inverse(result)) == result


def test_a_loop_that_gives_one_type_or_another_is_refused_where_the_type_matters():
    def f(n: int) -> str:
        y = 0
        for i in range(n):
            y = i if i > 2 else 0.5
        return str(y)

    with pytest.raises(NotInvertible, match="which of") as refusal:
        invert(f)
    assert "float(" in refusal.value.help


def test_integers_that_no_float_equals_are_not_mixed_with_floats():
    def f(i: int) -> float:
        return (0.5, 2**60 + 1)[i]

    with pytest.raises(NotInvertible, match="no float"):
        invert(f)


@pytest.mark.parametrize("items", [(math.nan, 1.0), (math.inf, 1.0, math.nan), (1.0, math.nan)])
def test_entries_that_are_no_numbers_hide_no_others(items):
    places = {"i": Integers(0, len(items) - 1)}
    inv = invert(lambda i: items[i], int, domain=places)
    assert inv(1.0) == (items.index(1.0),)
    for table in (items, (*items, 2)):  # of one type, and mixed
        shown = invert(lambda i, table=table: str(table[i]), int, domain=places)
        assert shown("1.0") == (items.index(1.0),)
        with pytest.raises(NoSolution):
            shown("3.0")
