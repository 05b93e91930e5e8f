"""Callables that make another call: partials, cached and wrapped functions, methods, objects."""

import functools
import math

import numba
import pytest

from inversion import NotInvertible, WrongArguments, choose, invert
from overlay import Context, MethodTable
from overlay.interpretations.autodiff import derivative
from overlay.interpretations.intervals import Interval, enclose
from primitives import Reals as Between


def scaled(x: float, k: float) -> float:
    return x * k + 1.0


def plain(x: float) -> float:
    return x * 4.0 + 1.0


def forwarded(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


class Scaled:
    k: float  # no parameter of a call

    def __init__(self, k):
        self.k = k

    def __call__(self, x: float) -> float:
        return x * self.k + 1.0

    def method(self, x: float) -> float:
        return x * self.k + 1.0

    @functools.lru_cache  # noqa: B019
    def cached(self, x: float) -> float:
        return x * self.k + 1.0

    @classmethod
    def of_class(cls, x: float) -> float:
        return x * 4.0 + 1.0

    @staticmethod
    def static(x: float) -> float:
        return x * 4.0 + 1.0


four = Scaled(4.0)
CALLABLES = {
    "partial": functools.partial(scaled, k=4.0),
    "partial by position": functools.partial(lambda k, x: x * k + 1.0, 4.0),
    "partial of a partial": functools.partial(functools.partial(scaled), k=4.0),
    "partial of a method": functools.partial(four.method),
    "partial of a cached function": functools.partial(functools.cache(scaled), k=4.0),
    "partial of compiled code": functools.partial(numba.njit(scaled), k=4.0),
    "lru_cache": functools.lru_cache(plain),
    "cache": functools.cache(plain),
    "cache of a partial": functools.cache(functools.partial(scaled, k=4.0)),
    "wraps": forwarded(plain),
    "wraps of a cache": forwarded(functools.cache(plain)),
    "method": four.method,
    "cached method": four.cached,
    "class method": Scaled.of_class,
    "static method": Scaled.static,
    "object": four,
    "compiled": numba.njit(plain),
}
TYPED = {name: f for name, f in CALLABLES.items() if name != "partial by position"}


@pytest.mark.parametrize("f", CALLABLES.values(), ids=CALLABLES)
def test_each_callable_has_an_inverse(f):
    assert invert(f, float)(9.0) == (2.0,)
    assert choose(f, float, known=("x",))(2.0) == (9.0,)
    assert invert(lambda x: 2.0 * f(x), float)(18.0) == (2.0,)


@pytest.mark.parametrize("f", TYPED.values(), ids=TYPED)
def test_the_annotations_of_the_code_that_it_runs_count(f):
    inverse = invert(f)
    assert [inverse(9.0) for _ in range(40)] == [(2.0,)] * 40  # as compiled code, too
    assert choose(f, known=("x",))(2.0) == (9.0,)


@pytest.mark.parametrize("f", CALLABLES.values(), ids=CALLABLES)
def test_each_callable_is_differentiated_and_enclosed(f):
    assert derivative(f)(2.0) == 4.0
    found = enclose(f, Interval(1.0, 2.0))
    assert (found.low, found.high) == (5.0, 9.0)


def test_values_of_interpretations_pass_caches_by():
    @functools.cache
    def count(n):
        return n if n < 2 else count(n - 1) + count(n - 2)

    @functools.cache
    def wave(x, n=1):
        return math.sin(x) * count(30) * n  # plain values are cached

    assert derivative(lambda x: wave(x) + wave(x, n=2))(0.5) == 3 * 832040 * math.cos(0.5)
    assert derivative(derivative(wave))(0.5) == -832040 * math.sin(0.5)
    assert wave.cache_info().currsize == 0


def test_a_method_of_what_a_partial_calls_applies():
    table = MethodTable("tenfold")

    @table.overlay(scaled)
    def tenfold(x: float, k: float) -> float:
        return x * k * 10.0

    assert invert(CALLABLES["partial"], context=Context(table))(80.0) == (2.0,)


def test_what_a_partial_does_not_say_is_told_by_its_function():
    with pytest.raises(WrongArguments, match=r"^partial\(.*<lambda>, 4.0\) does not say the type"):
        invert(functools.partial(lambda k, x: x * k, 4.0))
    with pytest.raises(NotInvertible, match="takes any number of arguments"):
        invert(functools.partial(lambda *xs: sum(xs)), float)


# ---- defaults ---------------------------------------------------------------------------------


def by_position(x: float, k: float = 2.0) -> float:
    return x * k


def by_keyword(x: float, *, k: float = 2.0) -> float:
    return x * k


def after_another(x: float, a: float = 1.0, k: float = 2.0) -> float:
    return x * k + a - 1.0


DEFAULTS = [by_position, by_keyword, after_another, functools.partial(scaled, k=4.0)]


@pytest.mark.parametrize("f", DEFAULTS)
def test_an_argument_with_a_default_is_an_axis_where_it_is_named(f):
    result = f(2.0, k=3.0)
    assert invert(f)(f(5.0)) == (5.0,)
    assert choose(f, known=("return", "k"))(result, 3.0) == (2.0,)
    assert choose(f, known=("return", "k"))(result, k=3.0) == (2.0,)
    assert choose(f, known=("x", "k"))(2.0, 3.0) == (result,)
    x, k = invert(f, domain={"k": Between(2.5, 3.0)})(result)
    assert 2.5 <= k <= 3.0
    assert f(x, k=k) == pytest.approx(result, rel=1e-9)


def test_a_name_is_missing_types_or_unknown():
    with pytest.raises(WrongArguments, match="k has a default") as raised:
        choose(by_position, float, known=("return", "k"))
    assert raised.value.help == "k has a default: it is an axis if its type is given, too"
    assert choose(by_position, float, float, known=("return", "k"))(6.0, 3.0) == (2.0,)
    with pytest.raises(WrongArguments, match="does not say the type of k"):
        choose(lambda *, k=2.0: 3.0 * k, known=("return", "k"))
    with pytest.raises(WrongArguments, match="has no axis 'z'"):
        choose(by_position, known=("return", "z"))
