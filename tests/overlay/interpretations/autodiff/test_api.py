"""Gradients, Jacobians and products with them; and what is refused."""

import colorsys
import inspect
import math
import pickle
import re

import numpy as np
import pytest

from overlay import Context, NotCompilable
from overlay.interpretations.autodiff import (
    NotDifferentiable,
    autodiff,
    derivative,
    gradient,
    hessian,
    jacobian,
    jvp,
    vjp,
)

X = np.array([0.5, 1.5, 2.0])
A = np.array([[2.0, 1.0], [1.0, 3.0]])


def differences(f, x, step=1e-6):
    """The Jacobian of a function of one array by central differences."""
    columns = []
    for i in range(x.size):
        move = np.zeros(x.size)
        move[i] = step
        move = move.reshape(x.shape)
        columns.append((f(x + move) - f(x - move)) / (2 * step))
    return np.moveaxis(np.array(columns), 0, -1).reshape(*np.shape(columns[0]), *x.shape)


def written(out, x):
    out[0] = x
    out[1] = out[0] * x
    return np.sum(out)


def named_parts(x):
    made = np.zeros(shape=2)
    made[0] = x[0]
    return (made * np.array([x[1], 2.0 * x[2]], dtype=float)).sum()


# fmt: off
OF_ARRAYS = [
    ("sum",         lambda x: np.sum(np.sin(x) * x), X),
    ("methods",     lambda x: x.sum() + x.mean() + x.max() + x.T[0], X),
    ("broadcast",   lambda x: np.sum(x[0] * X + x[1] + np.ones(3) / x[2]), X),
    ("made rows",   lambda x: np.sum(np.outer(x, X) @ x), X),
    ("slices",      lambda x: np.dot(x[1:], x[:-1]) + x[-1], X),
    ("iteration",   lambda x: sum(each * each for each in x), X),
    ("statistics",  lambda x: np.var(x) + np.std(x), X),
    ("chosen",      lambda x: np.sum(np.where(x > 1, x * x, 0.0)) + np.sum(np.clip(x, 1, 1.7)), X),
    ("joined",      lambda x: np.concatenate([x, x])[4] * np.stack([x, x])[1, 2], X),
    ("lists",       lambda x: np.prod(np.array([x[0] * x[1], x[2]])), X),
    ("sorted",      lambda x: np.dot(np.sort(-x), X), X),
    ("extremes",    lambda x: max(x[0], x[1]) * min(x[1], x[2]) + np.max(x), X),
    ("power",       lambda x: np.sum(x ** 3 + 2.0 ** x + x ** x), X),
    ("solve",       lambda x: np.sum(np.linalg.solve(x, np.array([1.0, 2.0]))), A),
    ("solve right", lambda x: np.sum(np.linalg.solve(A, x) ** 2), A),
    ("inverse",     lambda x: np.linalg.inv(x).sum() + np.linalg.det(x) + np.linalg.norm(x), A),
    ("cumulative",  lambda x: np.cumsum(x)[1] * np.diff(x)[0], X),
    ("keywords",    lambda x: x.sum(axis=0)[1] * np.mean(x, axis=1)[0], A),
    ("dtypes",      lambda x: written(np.zeros(2, dtype=float), x[0]) * math.fsum(x), X),
    ("by name",     lambda x: named_parts(x) + np.asarray(a=[x[0], x[1] * x[1]]).sum(), X),
    ("places",      lambda x: sum(x[i, j] ** 2 * j for i, j in np.ndindex(2, 2)), A),
    ("masks",       lambda x: x[x > 1].sum() + x[[0, 1]].sum(), X),
    ("trace",       lambda x: np.trace(x @ x.T) + np.sum(np.reshape(x, 4)[1:3]), A),
]
# fmt: on


@pytest.mark.parametrize(("name", "f", "x"), OF_ARRAYS, ids=[row[0] for row in OF_ARRAYS])
def test_gradients_of_functions_of_arrays(name, f, x):
    assert np.allclose(gradient(f)(x), differences(f, x), rtol=1e-6, atol=1e-7)


def test_a_jacobian_has_the_shape_of_the_result_and_then_of_the_argument():
    found = jacobian(lambda x: np.outer(x, x))(X)
    assert found.shape == (3, 3, 3)
    assert np.allclose(found, differences(lambda x: np.outer(x, x), X))


def test_a_jacobian_of_several_numbers():
    # colorsys is Python's own
    found = jacobian(colorsys.rgb_to_hls)(0.2, 0.4, 0.3)
    for i, column in enumerate(found):
        step = [1e-6 * (i == k) for k in range(3)]
        up = colorsys.rgb_to_hls(*(x + s for x, s in zip((0.2, 0.4, 0.3), step, strict=True)))
        down = colorsys.rgb_to_hls(*(x - s for x, s in zip((0.2, 0.4, 0.3), step, strict=True)))
        assert np.allclose(column, (np.array(up) - np.array(down)) / 2e-6, rtol=1e-6)


def test_a_gradient_by_many_numbers_takes_several_runs():
    x = np.linspace(1, 2, 21)
    assert np.allclose(gradient(lambda x: np.sum(x**3))(x), 3 * x**2)


def test_each_run_is_given_the_argument_as_it_was():
    def doubles_first(x):
        x[0] = 2 * x[0]
        return x[0] * x.sum()

    x = np.arange(1.0, 13.0)
    expected = np.full(12, 2.0)
    expected[0] = 2 * (x.sum() + 3 * x[0])
    assert np.allclose(gradient(doubles_first)(x), expected)
    assert x[0] == 1.0


def test_second_derivatives():
    assert np.allclose(hessian(lambda x: np.sum(x**3) * x[0])(X), [
        [3.0, 6.75, 12.0], [6.75, 4.5, 0.0], [12.0, 0.0, 6.0],
    ])  # fmt: skip
    assert hessian(lambda x, y: x**2 * y)(2.0, 3.0) == ((6.0, 4.0), (4.0, 0.0))


def test_products_with_the_jacobian_from_both_sides_agree():
    def f(x):
        return np.sin(x) * x[0]

    tangent, cotangent = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.1, 2.0])
    value, forward = jvp(f, (X,), (tangent,))
    same, back = vjp(f, X)
    assert np.allclose(value, f(X))
    assert np.allclose(same, f(X))
    assert math.isclose(np.dot(cotangent, forward), np.dot(back(cotangent)[0], tangent))


def test_arguments_are_active_or_constant():
    def power(x, n):
        return x**n

    assert gradient(power, active=("x",))(2.0, 3) == 12.0
    assert gradient(power, constant=("n",))(2.0, 3) == 12.0
    with pytest.raises(NotDifferentiable, match="no argument 'z'"):
        gradient(power, active=("z",))(2.0, 3)


# ---- what is refused ----------------------------------------------------------------------

captured = np.zeros(3)


def writes_active(x):
    captured[0] = x
    return x


def writes_constant(x):
    captured[0] = 1.0
    return x


def adds_in_place(x):
    outside = captured
    outside += x
    return x


@pytest.mark.parametrize("f", [writes_active, writes_constant, adds_in_place])
def test_writing_to_an_array_from_outside_is_refused(f):
    with pytest.raises(NotDifferentiable, match=r"did not create   \[.*test_api.py:\d+\]"):
        derivative(f)(1.0)
    assert not captured.any()


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: math.nextafter(x, 1.0), "no derivative is known of math.nextafter"),
        (writes_active, "writes to an array that it did not create"),
    ],
)
def test_what_is_refused_is_refused_where_it_is_compiled(f, message):
    with pytest.raises(NotDifferentiable, match=rf"(?s){message}.*test_api.py:\d+"):
        Context().jit(lambda x: autodiff(f, x))(1.0)


@pytest.mark.parametrize(
    ("f", "name"),
    [
        (lambda x: math.nextafter(x, 1.0), "math.nextafter"),
        (lambda x: np.nextafter(x, 1.0), "nextafter"),
        (lambda x: np.nextafter.outer(x, 1.0), "nextafter"),
        (lambda x: math.hypot(x, 1.0, 2.0, 3.0), "C function that takes a float"),
        (lambda x: complex(x), "C function that takes a"),
    ],
)
def test_a_function_without_a_rule_is_refused_by_name_and_line(f, name):
    with pytest.raises(NotDifferentiable, match=rf"(?s){name}.*test_api.py:\d+.*help: "):
        derivative(f)(1.0)


def test_autodiff_takes_some_numbers_and_is_of_one():
    with pytest.raises(NotDifferentiable, match="from 1 to 12"):
        autodiff(lambda: 1.0)
    with pytest.raises(NotDifferentiable, match="from 1 to 12"):
        autodiff(lambda *x: sum(x), *[1.0] * 13)
    with pytest.raises(NotDifferentiable, match="returns one number"):
        autodiff(lambda x: (x, x), 1.0)
    assert derivative(lambda x: (x, {"square": x * x}))(3.0) == (1.0, {"square": 6.0})


def test_a_gradient_is_of_a_number():
    with pytest.raises(NotDifferentiable, match="returns an array"):
        gradient(lambda x: x * x)(X)


@pytest.mark.parametrize(
    ("f", "x", "slope"),
    [(abs, 0.0, 1.0), (lambda x: max(x, 0.0), 0.0, 1.0), (lambda x: min(x, 2 * x), 0.0, 1.0)],
)
def test_at_a_kink_it_is_the_derivative_of_the_side_that_is_taken(f, x, slope):
    assert autodiff(f, x) == slope


def test_arguments_by_name_are_constant_unless_they_are_named_as_active():
    def f(x, y=2.0, *, scale=1.0):
        return scale * x * y * y

    assert gradient(f)(3.0, y=5.0) == 25.0
    assert gradient(f)(3.0, scale=2.0) == 8.0
    assert gradient(f)(3.0, y=5.0, scale=2.0) == 50.0
    assert gradient(f, active=("y",))(3.0, y=5.0) == 30.0
    assert gradient(f, constant=("x",))(3.0, 5.0, scale=2.0) == 60.0
    assert jacobian(f)(3.0, y=5.0) == 25.0
    assert hessian(f, active=("y",))(3.0, y=5.0, scale=2.0) == 12.0
    assert np.allclose(gradient(lambda x, k: k * np.sum(x), mode="reverse")(X, k=2.0), 2.0)


@pytest.mark.parametrize("order", [-1, 1.5, True, None])
def test_an_order_that_no_derivative_has_is_refused(order):
    with pytest.raises(NotDifferentiable, match="no derivative of the order"):
        derivative(math.sin, order=order)
    assert derivative(math.sin, order=0) is math.sin


def test_a_derivative_by_no_argument_is_refused():
    for take in (gradient, jacobian, hessian):
        with pytest.raises(NotDifferentiable, match="no argument by which to differentiate"):
            take(lambda: 1)()
    with pytest.raises(NotDifferentiable, match="no argument by which to differentiate"):
        gradient(lambda x: x)(x=1.0)


def power(x, n=2):
    return x**n


@pytest.mark.parametrize(
    ("call", "said", "remedy"),
    [
        (
            lambda: derivative(power)(2.0, 3),
            "derivative of power is by one number, and was called with 2 arguments",
            'gradient(power, constant=("n",))(x, ...)',
        ),
        (
            lambda: derivative(power)(2.0, n=3),
            "called with 2 arguments",
            'gradient(power, constant=("n",))(x, ...)',
        ),
        (
            lambda: derivative(power, order=2)(2.0, 3),
            "derivative of power is by one number, and was called with 2 arguments",
            "derivative(lambda x: power(x, ...), order=2)(x)",
        ),
        (
            lambda: derivative(lambda x: x)(2.0, 3),
            "called with 2 arguments",
            "derivative(lambda x: f(x, ...))(x) holds",
        ),
        (lambda: derivative(power)(), "called with no arguments", "derivative(power)(x)"),
        (lambda: derivative(power)(x=2.0), "1 argument by name", "derivative(power)(x)"),
        (lambda: jvp(power, (1.0,), (1.0, 2.0)), "1 of arguments and 2 of tangents", "None for"),
        (lambda: jvp(power, 1.0, 1.0), "no sequence of arguments", "jvp(f, (x, y), (d_x, d_y))"),
        (lambda: vjp(power), "power is given no argument", "pass at least one"),
        (lambda: gradient(power)(), "power is given no argument", "pass at least one"),
        (lambda: hessian(power)(), "power is given no argument", "pass at least one"),
        (lambda: jacobian(power)(), "power is given no argument", "pass at least one"),
    ],
)
def test_wrong_numbers_of_arguments_are_refused_with_a_remedy(call, said, remedy):
    with pytest.raises(NotDifferentiable, match=re.escape(said)) as caught:
        call()
    assert remedy in str(caught.value)
    assert gradient(power, constant=("n",))(2.0, 3) == 12.0
    assert derivative(lambda x: power(x, 3), order=2)(2.0) == 12.0
    assert str(inspect.signature(derivative(power))) == "(x, /)"


@pytest.mark.parametrize("take", [gradient, hessian, jacobian])
def test_too_many_arguments_raise_the_error_of_the_function(take):
    with pytest.raises(TypeError, match=r"power\(\) takes from 1 to 2 positional arguments"):
        take(power)(1.0, 2.0, 3.0)


# ---- what gradient, jacobian and hessian give ---------------------------------------------


def product(x: float, y: float) -> float:
    return x * x * y


@pytest.mark.parametrize("made", [gradient, jacobian, hessian])
def test_what_is_made_has_a_name_and_the_signature_of_its_function(made):
    found = made(product)
    assert re.fullmatch(rf"<{made.__name__} of product>", repr(found), re.IGNORECASE)
    assert list(inspect.signature(found).parameters) == ["x", "y"]
    again = pickle.loads(pickle.dumps(found))
    assert repr(again(2.0, 3.0)) == repr(found(2.0, 3.0))


def test_a_gradient_is_called_by_compiled_code():
    slopes, of_array = gradient(product), gradient(lambda x: np.sum(x**3))
    assert Context().jit(lambda x: slopes(x, 3.0))(2.0) == slopes(2.0, 3.0) == (12.0, 4.0)
    assert (Context().jit(of_array)(X) == of_array(X)).all()
    inner = gradient(lambda x: x**3)
    assert Context().jit(derivative(inner))(2.0) == derivative(inner)(2.0) == 12.0


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (jacobian(product), "<Jacobian of product> runs interpreted alone"),
        (hessian(product), "<Hessian of product> runs interpreted alone"),
        (gradient(product, active=("x",)), "with active, constant or mode given"),
        (gradient(product, mode="reverse"), "with active, constant or mode given"),
    ],
)
def test_what_only_interpreted_code_computes_is_refused_in_compiled_code(made, why):
    with pytest.raises(NotDifferentiable, match=re.escape(why)):
        Context().jit(lambda x, y: made(x, y))(2.0, 3.0)


@pytest.mark.parametrize("made", [derivative, gradient, jvp, vjp])
def test_making_a_derivative_in_compiled_code_is_refused_with_what_to_do(made):
    with pytest.raises(NotCompilable, match="which runs interpreted alone") as caught:
        Context().jit(lambda x: made(product)(x))(2.0)
    assert "autodiff(f, x)" in str(caught.value)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"a": 1.0}, "a dict"),
        ("1.5", "a str"),
        (["1", "2"], "a str"),
        (None, "None"),
        ([1.0, [2.0, 3.0]], "a list of parts of different lengths"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "an array of the dtype datetime64[D]"),
        (np.array([None]), "an array of the dtype object"),
    ],
    ids=repr,
)
def test_an_argument_that_is_no_number_is_refused(given, what):
    def f(x):
        return 1.0

    one = [lambda x: derivative(f)(x), lambda x: gradient(f)(x), lambda x: hessian(f)(x)]
    more = [lambda x: jvp(f, (x,), (1.0,)), lambda x: vjp(f, x), lambda x: jacobian(f)(x)]
    for ask in (*one, *more):
        with pytest.raises(NotDifferentiable, match=re.escape(f"is given {what}")):
            ask(given)


@pytest.mark.parametrize("given", [{"a": 1.0}, "1.5", None, [1.0], (1.0,)])
def test_autodiff_refuses_an_argument_that_is_no_number(given):
    with pytest.raises(NotDifferentiable, match="by which it cannot be differentiated"):
        autodiff(lambda x: 1.0, given)
