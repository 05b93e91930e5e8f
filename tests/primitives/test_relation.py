"""Relations are built from an equation and solvers, and mismatches are refused."""

import math
import operator
import traceback

import pytest
import typeguard

from overlay import Context, MethodTable, OverlayError
from primitives import (
    Bool,
    Integer,
    Positive,
    Real,
    base_relations,
    parametric,
    relation,
    relation_of,
)


def double(a: float) -> float:
    return 2 * a


def feet(metres: float) -> float:
    return metres / 0.3048


def three(a: float, aa: float, b: float) -> float:
    return a + aa + b


def test_keywords_are_unknown_axes_and_lambdas_take_the_known_ones_by_name():
    rel = relation(
        operator.sub, float, float, "return = a - b",
        a=lambda b, ret: ret + b,
        b=lambda ret, a: a - ret,
        ab=parametric(lambda ret, v: (ret + v, v), v=Real, recover=lambda b: (b,)),
    )  # fmt: skip
    assert rel(5.0, 3.0) == 2.0
    assert rel.mode(["a"]).takes == ("b", "return")
    assert rel.mode(["a"]).solver(3.0, 2.0) == 5.0
    assert rel.mode(["b", "a"]).unknown == ("a", "b")
    assert rel.mode(["a", "b"]).coordinates == {"v": Real}
    assert rel.shown_modes() == "{return}, {a}, {b}, {a, b}"
    assert rel.shown({"a": "x", "b": "2.0", "return": "y"}) == "y = x - 2.0"


def test_the_general_form_names_axes_of_any_length():
    def encrypt(block, key):
        return block ^ key

    rel = relation(
        encrypt, int, int, "return = encrypt(block, key)",
        block=lambda ret, key: ret ^ key,
        modes={
            ("key", "block"): parametric(
                lambda ret, k: (k, ret ^ k), k=Integer, recover=lambda key: (key,)
            )
        },
    )  # fmt: skip
    assert rel(6, 3) == 5
    assert rel.mode(["block", "key"]).unknown == ("key", "block")
    assert rel.shown({"block": "x", "key": "k"}) == "return = encrypt(x, k)"


def test_longer_names_may_run_together_where_they_read_in_one_way():
    def join(left, right):
        return left + right

    both = parametric(lambda ret, v: (ret - v, v), v=Real, recover=lambda right: (right,))
    rel = relation(join, float, float, "return = join(left, right)", leftright=both)
    assert rel.mode(["left", "right"]) is not None


def test_without_a_forward_mode_the_target_is_it():
    rel = relation(double, float, "return = double(a)", a=lambda ret: ret / 2)
    assert rel.mode(["return"]).solver is double
    assert rel(3.0) == 6.0


def failing(ret):
    return relation(double, float, "return = 2 * a", a=lambda ret: 1 / (ret - ret))


def test_lambdas_carry_their_names_in_tracebacks():
    rel = failing(1.0)
    with pytest.raises(ZeroDivisionError) as caught:
        rel.mode(["a"]).solver(1.0)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "double_a"


def test_the_lambdas_of_the_user_stay_as_they_are():
    solve, recover = (lambda ret, k: ret / 2 + 0 * k), (lambda a: (0,))
    codes = solve.__code__, recover.__code__
    rel = relation(double, float, "return = 2 * a", a=parametric(solve, k=Integer, recover=recover))
    assert (solve.__name__, recover.__name__) == ("<lambda>", "<lambda>")
    assert (solve.__code__, recover.__code__) == codes
    assert rel.mode(["a"]).solver.__name__ == "double_a"
    assert rel.mode(["a"]).recover.__name__ == "double_a_recover"


BAD = {
    "no equation": (lambda: relation(double, float), "has no equation"),
    "not an equation": (lambda: relation(double, float, "a = return"), "cannot read"),
    "no expression": (lambda: relation(double, float, "return = 2 *"), "cannot read"),
    "number of types": (
        lambda: relation(double, float, float, "return = double(a)"),
        "names 1 input for 2 types",
    ),
    "unknown axis": (
        lambda: relation(double, float, "return = double(a)", b=lambda ret: ret),
        "no axis 'b'",
    ),
    "unknown axis in the general form": (
        lambda: relation(double, float, "return = 2 * a", modes={("b",): lambda ret: ret}),
        "no axis 'b'",
    ),
    "axis with a near name": (
        lambda: relation(
            feet, float, "return = feet(metres)", ret=lambda metres: metres, meters=lambda ret: ret
        ),
        "no axis 'meters'.*\n  closest: metres\n  help: name the axis .*: ret, metres",
    ),
    "axes that read in two ways": (
        lambda: relation(
            three, float, float, float, "return = three(a, aa, b)", aaab=lambda ret: ret
        ),
        r"reads 'aaab' in several ways: as \('a', 'aa', 'b'\) and as",
    ),
    "an axis twice": (
        lambda: relation(double, float, "return = 2 * a", modes={("a", "a"): lambda ret: ret}),
        "has a mode that solves for a, a: one axis twice",
    ),
    "no axis to solve for": (
        lambda: relation(double, float, "return = 2 * a", modes={(): lambda ret: ret}),
        "has a mode that solves for none",
    ),
    "missing known axis": (
        lambda: relation(operator.add, float, float, "return = a + b", a=lambda ret: ret),
        r"solves a with a function of \(ret\)",
    ),
    "takes the unknown axis": (
        lambda: relation(double, float, "return = double(a)", a=lambda ret, a: ret),
        r"solves a with a function of \(ret, a\)",
    ),
    "missing coordinate": (
        lambda: relation(
            double, float, "return = 2 * a",
            a=parametric(lambda ret: ret, k=Integer, recover=lambda a: (0,)),
        ),
        "solves a with",
    ),
    "recover takes what is no axis": (
        lambda: relation(
            double, float, "return = 2 * a",
            a=parametric(lambda ret, k: ret, k=Integer, recover=lambda x: (0,)),
        ),
        r"solves a_recover with a function of \(x\)",
    ),
    "determined_if takes an unknown axis": (
        lambda: relation(
            double, float, "return = 2 * a",
            a=parametric(
                lambda ret, k: ret, k=Integer, recover=lambda a: (0,), determined_if=lambda a: a > 0
            ),
        ),
        "solves a_determined_if with",
    ),
    "coordinate without a domain": (
        lambda: relation(
            double, float, "return = 2 * a",
            a=parametric(lambda ret, k: ret, k=int, recover=lambda a: (0,)),
        ),
        "gives k no domain",
    ),
    "reserved axis": (
        lambda: relation(double, float, "return = double(domain)"),
        "reserved name",
    ),
    "domain of what is no axis": (
        lambda: relation(double, float, "return = double(a)", domain={"b": Positive}),
        "no input 'b'",
    ),
    "one domain for two inputs": (
        lambda: relation(operator.add, float, float, "return = a + b", domain=Positive),
        "several inputs and one domain",
    ),
    "type of the result": (
        lambda: relation(operator.mul, int, float, "return = a * b"),
        "what type its result has",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit_the_equation_is_refused(name):
    make, message = BAD[name]
    with typeguard.suppress_type_checks(), pytest.raises(OverlayError, match=message) as caught:
        make()
    assert caught.value.where is not None
    assert "test_relation.py" in caught.value.where
    assert caught.value.help


# ---- dispatch -----------------------------------------------------------------------------


def find(ctx, f, *types):
    method = (Context(base_relations) | ctx).method(relation_of(f), *types)
    return None if method is None else method.implementation(types)


def test_a_relation_is_a_target_told_apart_by_the_identity_of_its_function():
    table = MethodTable("mine")
    assert relation_of(math.sin) in base_relations
    assert relation_of(double) not in base_relations
    table.generated(relation_of(double))(lambda a: None)
    assert relation_of(double) in table
    assert len(table.methods(relation_of(double))) == 1
    assert double not in table


def test_a_relation_target_is_not_called():
    with pytest.raises(OverlayError, match="is a target for method tables"):
        relation_of(math.sin)(float)


def test_there_is_one_relation_for_each_signature():
    import numpy as np

    empty = Context()
    for kind in (float, int, np.int64, np.uint64):
        assert find(empty, operator.mul, kind, kind).types == (kind, kind)
    assert find(empty, operator.mul, np.float64, float).types == (float, float)
    assert find(empty, operator.mul, bytes, int) is None
    assert find(empty, np.sin, float) is find(empty, math.sin, float)


def test_a_table_of_a_context_shadows_the_base_relation():
    mine = relation(math.sqrt, float, "return = sqrt(a)", a=lambda ret: ret**2)
    table = MethodTable("mine")

    @table.generated(relation_of(math.sqrt))
    def sqrt(a: float):
        return mine

    assert find(Context(table), math.sqrt, float) is mine
    assert find(Context(), math.sqrt, float) is not mine


# ---- what a relation says of itself -------------------------------------------------------


def polar(x, y):
    return math.hypot(x, y), math.atan2(y, x)


def of_two_results(**options):
    return relation(
        polar, float, float, "r, phi = polar(x, y)", returns=(float, float),
        x=lambda r, phi, y: r * math.cos(phi),
        r=lambda phi, x, y: math.hypot(x, y),
        xy=lambda r, phi: (r * math.cos(phi), r * math.sin(phi)),
        **options,
    )  # fmt: skip


def test_a_relation_of_several_results_has_an_axis_for_each():
    rel = of_two_results()
    assert rel.outputs == ("r", "phi")
    assert rel.kinds == {"x": float, "y": float, "r": float, "phi": float}
    assert rel.shown_modes() == "{r, phi}, {x}, {r}, {x, y}"
    assert rel.codomain is None
    assert [of_two_results(low_information=weak).low_information for weak in (True, False)] == [
        True,
        False,
    ]


@pytest.mark.parametrize("left", ["ret, phi", "1, phi", "r, r", "domain, phi", "r"])
def test_names_of_several_results_are_names_each_another(left):
    with pytest.raises(OverlayError):
        relation(polar, float, float, f"{left} = polar(x, y)", returns=(float, float))


def test_what_is_known_besides_may_have_to_agree():
    over = {unknown: of_two_results().mode(unknown).overdetermined for unknown in ("x", "r", "xy")}
    assert over == {"x": False, "r": True, "xy": False}
    rel = of_two_results(independent=True)
    over = {unknown: rel.mode(unknown).overdetermined for unknown in ("x", "r", "xy")}
    assert over == {"x": True, "r": True, "xy": False}
    assert not rel.mode(["r", "phi"]).overdetermined
    assert not of_two_results().mode(["r", "phi"]).overdetermined


def test_axes_have_the_domains_of_their_types_where_none_is_given():
    kinds = (int, float)
    rel = relation(
        math.ldexp, *kinds[::-1], "return = ldexp(a, n)", returns=float, domain={"a": Positive}
    )
    assert (rel.domain, rel.codomain) == ({"a": Positive, "n": Integer}, Real)
    rel = relation(operator.sub, bool, bool, "return = a - b", returns=bool)
    assert rel.domain == {"a": Bool, "b": Bool}
    assert rel.codomain is Bool


def test_a_reason_holds_for_what_is_solved_or_for_the_modes_that_it_names():
    solutions = {"a": lambda b, ret: ret + b, "b": lambda a, ret: a - ret}
    types = operator.sub, float, float, "return = a - b"
    found = [
        [relation(*types, incomplete=given, **solutions).mode([u]).incomplete for u in known]
        for given in (None, "lost", {"a": "lost"})
        for known in [("return", "a", "b")]
    ]
    assert found == [[None] * 3, [None, "lost", "lost"], [None, "lost", None]]


def test_a_mode_leaves_a_choice_where_it_has_coordinates_that_count():
    def given(**options):
        pair = parametric(lambda ret, v: (ret + v, v), v=Real, recover=lambda b: (b,), **options)
        rel = relation(
            operator.sub, float, float, "return = a - b", a=lambda b, ret: ret + b, ab=pair
        )
        return rel.mode(["a"]), rel.mode(["a", "b"])

    assert [mode.settled for mode in given()] == [True, False]
    assert [mode.settled for mode in given(rounding_only=True)] == [True, True]
    assert given()[1].parts() == []


def test_inputs_stand_in_the_order_of_the_equation():
    for equation in ("return = (a + b) * c", "return = -(a * (b - c))", "return = f(a, (b, c))"):
        assert relation(math.fsum, float, float, float, equation).axes == ("a", "b", "c")


def test_a_condition_for_coordinates_is_kept_with_the_axes_that_it_takes():
    pair = parametric(
        lambda ret, k: ret + k, k=Integer, recover=lambda a: (0,), determined_if=lambda ret: ret > 0
    )
    mode = relation(operator.neg, float, "return = -a", a=pair).mode(["a"])
    assert mode.determined_by == ("return",)
    assert mode.determined_if(1.0)
    assert not mode.determined_if(-1.0)


def test_a_relation_shows_where_it_was_made():
    rel = relation(operator.neg, float, "return = -a", a=lambda ret: -ret)
    assert rel.where is not None
    place = rel.where.rpartition("/")[2]
    assert place.startswith("test_relation.py:")
    assert place in rel._repr_html_()


def test_the_result_has_the_type_that_all_arguments_have():
    assert relation(operator.sub, int, int, "return = a - b").returns is int
    with pytest.raises(OverlayError, match="does not say what type its result has"):
        relation(operator.sub, int, float, "return = a - b")
