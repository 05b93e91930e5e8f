"""An inverse follows the overlays of its context, and the relations in its tables."""

import math
import operator

import numpy as np
import pytest
import scipy.special

from inversion import NoSolution, NotInvertible, choose, invert
from overlay import Context, MethodTable, OverlayError, call_next, nonoverlay
from primitives import Integer, Integers, NonZero, Positive, parametric, relation, relation_of

F = float
coarse = MethodTable("coarse")


@coarse.overlay(math.exp)
def linear_exp(x: float) -> float:
    return 1 + x


ctx = Context(coarse)


def helper(x):
    return math.exp(x)


def decay(t):
    return 10 * helper(-t)


def test_the_inverse_follows_the_overlay():
    plain, overlaid = invert(decay, F), invert(decay, F, context=ctx)
    assert plain(5.0) == (math.log(2),)
    assert overlaid(5.0) == (0.5,)
    assert ctx(decay, 0.5) == 5.0
    # a value that the true exp never takes
    assert overlaid(-5.0) == (1.5,)
    with pytest.raises(NoSolution):
        plain(-5.0)


def test_a_compiled_inverse_follows_the_overlay():
    assert invert(decay, F, context=ctx).compile()(5.0) == (0.5,)


def test_the_inverted_function_may_itself_be_overlaid():
    assert invert(math.exp, F, context=ctx)(5.0) == (4.0,)


def test_call_next_goes_on_to_what_lies_below():
    outer, inner = MethodTable("outer"), MethodTable("inner")

    @outer.overlay(math.log)
    def doubled(x: float):
        return 2 * call_next(x)

    @inner.overlay(math.log)
    def shifted(x: float):
        return call_next(x + 1) + 3

    @inner.overlay(math.log)
    def of_anything(x):
        return call_next(x) - 100

    def f(x):
        return math.log(x)

    both = Context(outer, inner)
    inverse = invert(f, F, context=both)
    value = both(f, 4.0)
    # the inner table's methods, most specific first, then the outer table's, then the base
    assert value == pytest.approx(2 * math.log(5.0) - 100 + 3)
    assert inverse(value) == pytest.approx((4.0,))


def test_nonoverlay_drops_the_overlays_below():
    def f(x):
        return nonoverlay(helper)(x) + math.exp(x) - x

    value = ctx(f, 2.0)
    assert value == math.exp(2.0) + 1
    assert invert(f, F, context=ctx)(value) == pytest.approx((2.0,))


def test_methods_are_chosen_by_type():
    table = MethodTable("by type")

    @table.overlay(helper)
    def of_float(x: float):
        return x + 1

    @table.overlay(helper)
    def of_int(x: int):
        return x + 2

    by_type = Context(table)
    assert invert(helper, F, context=by_type)(5.0) == (4.0,)
    assert invert(helper, int, context=by_type)(5) == (3,)


def test_overlaid_operators_are_inverted_through_their_method():
    table = MethodTable("operators")

    @table.overlay(operator.mul)
    def mul(a: float, b: float):
        return a + b

    assert invert(lambda x, y: x * y, F, F, context=Context(table))(5.0, (2.0,)) == (3.0, 2.0)
    assert choose(lambda x, y: x * y, F, F, known=("return", "x"), context=Context(table))(
        5.0, 2.0
    ) == (3.0,)


def test_generated_methods_are_inlined():
    table = MethodTable("generated")

    @table.generated(helper)
    def made(x):
        return (lambda v: v * 4) if x is float else None

    assert invert(helper, F, context=Context(table))(2.0) == (0.5,)


def test_a_method_that_calls_itself_for_ever_is_named():
    table = MethodTable("endless")

    @table.overlay(math.sin)
    def sin(x: float):
        return math.sin(x) + 1

    with pytest.raises(NotInvertible, match="calls itself endlessly") as caught:
        invert(lambda x: math.sin(x), F, context=Context(table))
    assert "call_next or nonoverlay" in caught.value.help


# ---- relations in tables ------------------------------------------------------------------


def encrypt(block, key):
    for _ in range(3):
        block = block ^ key
    return block


quirks = MethodTable("quirks")


@quirks.generated(relation_of(encrypt))
def encrypt_backwards(block: int, key: int):
    return relation(
        encrypt, int, int, "return = encrypt(block, key)", block=lambda ret, key: ret ^ key
    )


def test_a_function_with_a_relation_is_not_entered():
    def f(x, key):
        return encrypt(x + 1, key)

    inverse = choose(f, int, int, known=("return", "key"), context=Context(quirks))
    assert inverse(f(41, 99), 99) == (41,)
    assert inverse.recover(41, 99) == ()
    assert "encrypt(v1, key)" in str(inverse)
    assert "encrypt" not in str(choose(f, int, int, known=("return", "key")))


CODES = (3, 1, 4, 0, 2)  # what each of five symbols is written as


def symbol(place):
    return CODES[place]


@quirks.generated(relation_of(symbol))
def symbol_backwards(place: int):
    return relation(
        symbol, int, "return = symbol(place)", domain=Integers(0, 4), codomain=Integers(0, 4),
        place=lambda ret: CODES.index(ret),
    )  # fmt: skip


def test_a_lookup_table_is_inverted_by_a_rule_for_it():
    inverse = invert(lambda n: symbol(symbol(n)) + 10, int, context=Context(quirks))
    for n in range(5):
        assert inverse(symbol(symbol(n)) + 10) == (n,)
    with pytest.raises(NoSolution):
        inverse(15)


def test_a_function_written_in_c_is_inverted_by_a_rule_for_it():
    table = MethodTable("special functions")

    @table.generated(relation_of(scipy.special.exp10))
    def exp10_backwards(x: float):
        return relation(
            scipy.special.exp10, float, "return = exp10(x)", codomain=Positive,
            x=lambda ret: math.log10(ret),
        )  # fmt: skip

    def decibels(x):
        return scipy.special.exp10(x / 10) * 2

    inverse = invert(decibels, F, context=Context(table))
    assert inverse(200.0) == pytest.approx((20.0,))
    with pytest.raises(NoSolution):
        inverse(-1.0)
    with pytest.raises(NotInvertible, match="exp10"):
        invert(decibels, F)


def test_rules_for_a_function_are_chosen_by_type():
    entered = []

    def scrambled(value):
        entered.append(value)
        return -value

    table = MethodTable("by type")

    @table.generated(relation_of(scrambled))
    def of_float(value: float):
        return relation(
            scrambled, float, "return = scrambled(value)", value=lambda ret: -ret
        )  # fmt: skip

    @table.generated(relation_of(scrambled))
    def of_int(value: int):
        return relation(
            scrambled, int, "return = scrambled(value)",
            value=parametric(
                lambda ret, lift: -ret + 0 * lift, lift=Integer, recover=lambda value: (value,)
            ),
        )  # fmt: skip

    of_table = Context(table)
    floats = invert(scrambled, F, context=of_table)
    integers = invert(scrambled, int, context=of_table)
    assert not entered  # a relation says all: the body is not read
    assert not len(floats.parameters)
    assert [p.domain for p in integers.parameters] == [Integer]
    assert floats(2.5) == (-2.5,)
    assert integers(2, (7,)) == (-2,)
    assert entered == [-2.5, -2]  # by the check of the answers alone


def test_a_mode_that_a_relation_lacks_is_named():
    with pytest.raises(NotInvertible) as caught:
        choose(
            lambda x, key: encrypt(x, key), int, int, known=("return", "x"),
            context=Context(quirks),
        )  # fmt: skip
    assert str(caught.value).startswith("cannot solve `v1 = encrypt(x, key)` for {key}")
    assert ("modes available", "{return}, {block}") in caught.value.notes
    assert "root_finding=True" not in caught.value.help  # it was, and did not help


def test_a_relation_shadows_the_base_one_with_another_parameter_space():
    table = MethodTable("ratios")

    @table.generated(relation_of(operator.add))
    def shares(a: float, b: float):
        return relation(
            operator.add, float, float, "return = a + b",
            ret=lambda a, b: a + b,
            a=lambda ret, b: ret - b,
            b=lambda ret, a: ret - a,
            ab=parametric(
                lambda ret, share: (share * ret, (1 - share) * ret),
                share=NonZero,
                recover=lambda ret, a: (a / ret,),
            ),
        )  # fmt: skip

    inverse = invert(lambda x, y: x + y, F, F, context=Context(table))
    assert [p.name for p in inverse.parameters] == ["share_x_y"]
    assert inverse(10.0, (0.25,)) == (2.5, 7.5)
    assert inverse.recover(2.5, 7.5) == (0.25,)


def test_of_a_method_and_a_relation_the_inner_table_counts():
    table = MethodTable("relation of helper")

    @table.generated(relation_of(helper))
    def backwards(x: float):
        return relation(
            helper, float, "return = helper(x)", codomain=Positive, x=lambda ret: math.log(ret)
        )

    method = MethodTable("method of helper")

    @method.overlay(helper)
    def overlaid(x: float):
        return 3 * x

    assert invert(helper, F, context=Context(table, method))(6.0) == (2.0,)
    assert invert(helper, F, context=Context(table))(math.e) == (1.0,)
    # the outer method is run forward, and is not what the relation describes
    with pytest.raises(NoSolution, match="lost digits"):
        invert(helper, F, context=Context(method, table))(6.0)


def test_what_is_registered_for_a_relation_must_be_one():
    table = MethodTable("no relation")
    table.generated(relation_of(helper))(lambda x: None)
    with pytest.raises(OverlayError, match="gave None, which is not a relation"):
        invert(helper, F, context=Context(table))


@pytest.mark.parametrize("compiled", [False, True])
def test_after_a_change_of_a_table_nothing_wrong_is_answered(compiled):
    table = MethodTable("changing")
    table.overlay(math.exp)(linear_exp)
    inverse = invert(decay, F, context=Context(table))
    if compiled:
        inverse.compile()
    assert inverse(5.0) == (0.5,)
    table.remove(math.exp)
    with pytest.raises(NoSolution, match="call invert again"):
        inverse(5.0)
    assert invert(decay, F, context=Context(table))(5.0) == (math.log(2),)


def test_an_inverse_is_not_changed_by_a_context_it_is_called_in():
    inverse = invert(lambda x: math.exp(x) + 1, F)
    table = MethodTable("inside")

    @table.overlay(math.log)
    def log(x: float):
        return 0.0

    def use(value):
        return inverse(value), math.log(value)

    assert Context(table)(use, 3.0) == ((math.log(2),), 0.0)


def test_random_programs_under_an_overlay_are_sound():
    inverse = invert(lambda a, b: math.exp(a) * math.exp(b) + b, F, F, context=ctx)
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = inverse(3.0, inverse.parameters.sample(rng))
        assert (1 + a) * (1 + b) + b == pytest.approx(3.0)
