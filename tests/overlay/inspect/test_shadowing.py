"""What lies above and below each method of a stack of tables."""

import itertools

from overlay import MethodTable
from overlay.inspect.shadowing import layers


def target(x, y=0):
    return x


def one(x: float):
    return x


def two(x: float, y: int = 0):
    return x


def any_number(x: float | int):
    return x


def found(*tables):
    """By table and number, of each method: what takes its calls, and what lies below it."""
    ((_, each),) = layers(tables)
    return {
        name_of(layer.method): (
            layer.taken_by and name_of(layer.taken_by),
            layer.below and name_of(layer.below),
            layer.is_ambiguous,
        )
        for layer in each
    }


def name_of(method):
    return f"{method.table.name} {method.function.__name__}"


def table(name, *functions):
    made = MethodTable(name)
    for function in functions:
        made.overlay(target)(function)
    return made


def test_a_method_alone_has_nothing_above_or_below():
    assert found(table("t", one)) == {"t one": (None, None, False)}


def test_a_method_of_an_inner_table_takes_the_calls_of_an_outer_one():
    # what lies below is told for calls with the method's own types, of which one is a union
    assert found(table("outer", one), table("inner", any_number)) == {
        "inner any_number": (None, None, False),
        "outer one": ("inner any_number", None, False),
    }


def test_a_more_specific_method_is_above_and_not_in_the_place_of_another():
    assert found(table("t", one, any_number)) == {
        "t one": (None, "t any_number", False),
        "t any_number": (None, None, False),
    }


def test_a_method_that_is_called_for_some_numbers_of_arguments_is_not_taken():
    assert found(table("outer", two), table("inner", one)) == {
        "inner one": (None, "outer two", False),
        "outer two": (None, None, False),
    }


def test_methods_below_of_which_none_is_most_specific_are_told():
    def left(x: float, y: object):
        return x

    def right(x: object, y: int):
        return x

    def both(x: float, y: int):
        return x

    assert found(table("outer", left, right), table("inner", both)) == {
        "inner both": (None, None, True),
        "outer left": (None, None, False),
        "outer right": (None, None, False),
    }


def test_targets_are_told_apart_by_identity_without_being_hashed():
    class Alike(type):
        """Classes that are equal to everything and that nothing can have as a key."""

        __hash__ = None

        def __eq__(cls, other):
            return True

    made = MethodTable("t")
    targets = [Alike(name, (), {"__init__": lambda self, x: None}) for name in ("A", "B")]
    for each in targets:
        made.overlay(each)(one)
    ((first, of_first), (second, of_second)) = layers([made])
    assert first is targets[0]
    assert second is targets[1]
    assert len(of_first) == len(of_second) == 1


def test_a_target_that_is_not_imported_is_told_by_its_name():
    tables = [MethodTable("outer"), MethodTable("inner")]
    for made, name in itertools.product(tables, ["f", "g"]):
        made.overlay(":".join(["imported_by_nobody", name]))(one)
    shown = {target: [layer.method.table.name for layer in each] for target, each in layers(tables)}
    assert shown == {f"imported_by_nobody:{name}": ["inner", "outer"] for name in ("f", "g")}
    ((_, (layer, _)), _) = layers(tables)
    assert (layer.taken_by, layer.below, layer.is_ambiguous) == (None, None, False)


def test_nothing_is_told_while_an_annotation_of_a_method_is_not_defined():
    def method(x: "NotDefined"):  # noqa: F821
        return x

    assert found(table("t", one, any_number, method)) == {
        "t one": (None, None, False),
        "t any_number": (None, None, False),
        "t method": (None, None, False),
    }
