"""Complex results of functions of real numbers: each way of differentiation has both parts."""

import numpy as np
import pytest

from overlay.interpretations.autodiff import (
    NotDifferentiable,
    derivative,
    gradient,
    hessian,
    jacobian,
    jvp,
    vjp,
)

X = np.array([0.3, 0.7, 1.1, -0.4, 0.9, 0.2, -1.3, 0.6, 0.5])  # more numbers than duals run at once

ARRAYS = {
    "phases": lambda x: np.exp(1j * x),
    "products": lambda x: (1j * x + 2.0) * x,
    "a pair": lambda x: (2.0 * x, 1j * x * x),
    "a sum": lambda x: np.sum(np.exp(1j * x) * x),
    "items": lambda x: x[0] * 1j + x[1] * x[2],
    "its real part": lambda x: np.real(np.exp(1j * x)),
}
NUMBERS = {name: ARRAYS[name] for name in ("a sum", "items")}


def differences(f, x, h=1e-6):
    columns = []
    for e in np.eye(len(x)):
        up, down = f(x + h * e), f(x - h * e)
        if not isinstance(up, tuple):
            up, down = (up,), (down,)
        columns.append([(np.asarray(a) - b) / (2 * h) for a, b in zip(up, down, strict=True)])
    return [np.stack(parts, axis=-1) for parts in zip(*columns, strict=True)]


@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
@pytest.mark.parametrize("name", ARRAYS)
def test_jacobians_have_both_parts(name, mode):
    found = jacobian(ARRAYS[name], mode=mode)(X)
    found = found if isinstance(found, tuple) else (found,)
    for part, wanted in zip(found, differences(ARRAYS[name], X), strict=True):
        np.testing.assert_allclose(part, wanted, atol=1e-8)


@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
@pytest.mark.parametrize("name", NUMBERS)
def test_gradients_have_both_parts(name, mode):
    (wanted,) = differences(NUMBERS[name], X)
    np.testing.assert_allclose(gradient(NUMBERS[name], mode=mode)(X), wanted, atol=1e-8)


@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
@pytest.mark.parametrize("cotangent", [1.0, 1j, 0.3 - 2j])
@pytest.mark.parametrize("name", NUMBERS)
def test_the_parts_of_a_cotangent_are_those_of_the_parts_of_the_result(name, cotangent, mode):
    (slopes,) = differences(NUMBERS[name], X)
    value, back = vjp(NUMBERS[name], X, mode=mode)
    assert value == pytest.approx(NUMBERS[name](X))
    wanted = cotangent.real * slopes.real + complex(cotangent).imag * slopes.imag
    np.testing.assert_allclose(back(cotangent)[0], wanted, atol=1e-8)


COMPLEX = {
    "derivative": lambda f: derivative(f)(0.3 + 1j),
    "gradient": lambda f: gradient(f)(0.3 + 1j),
    "gradient of an array": lambda f: gradient(f)(np.array([0.3 + 1j])),
    "jacobian": lambda f: jacobian(f)([0.3 + 1j]),
    "hessian": lambda f: hessian(f)(np.array([0.3 + 1j])),
    "jvp": lambda f: jvp(f, (0.3 + 1j,), (1.0,)),
    "vjp": lambda f: vjp(f, 0.3 + 1j),
}


@pytest.mark.parametrize("way", COMPLEX)
def test_complex_arguments_are_refused_with_the_way_to_differentiate_by_their_parts(way):
    with pytest.raises(NotDifferentiable, match="complex") as caught:
        COMPLEX[way](lambda z: z * z)
    assert "x + 1j * y" in caught.value.help


def test_a_function_is_differentiated_by_the_parts_of_its_argument():
    by_x, by_y = jacobian(lambda x, y: (x + 1j * y) ** 2)(0.3, 0.5)
    assert (by_x, by_y) == (pytest.approx(0.6 + 1j), pytest.approx(-1.0 + 0.6j))
