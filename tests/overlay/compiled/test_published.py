"""Compiled functions of published packages, in contexts with a table that they never reach.

The packages are the extra ``published``. Each function gives the bits that it gives outside, when
it is called by itself, from compiled code and from interpreted code; where it is compiled with
``fastmath``, which leaves the rounding open, the same numbers up to rounding.
"""

import importlib
import math
import warnings

import numpy as np
import pytest
from numba import njit

from overlay import Context, MethodTable

never = MethodTable("never")


@never.overlay(math.erfc)
def erfc(x: float):
    return 7.0


def numbers(kind=np.float64, count=24, seed=3):
    return np.random.default_rng(seed).random(count).astype(kind)


def states():
    """States of a generator of random numbers."""
    return np.random.default_rng(5).integers(-(2**31), 2**31, (12, 3))


def points():
    """Two vectors of the precision that the packages of neighbours work in."""
    return numbers(np.float32), numbers(np.float32, seed=4)


def sorted_ints(count=16, most=40):
    return np.sort(np.random.default_rng(6).integers(0, most, count))


def cube(x):
    return x**3 - 2.0


def slope(x):
    return 3.0 * x**2


compiled_cube, compiled_slope = njit(cube), njit(slope)
on_line = np.linspace(-2.0, 2.0, 17)
Calls = list[tuple]


def neighbours() -> Calls:
    """The generator of random numbers, and distances."""
    found: Calls = [("utils:tau_rand_int", state) for state in states()]
    found += [("utils:tau_rand", state) for state in states()[:4]]
    found += [("utils:norm", points()[0])]
    names = ("euclidean", "squared_euclidean", "manhattan", "canberra", "bray_curtis", "jaccard")
    names += ("cosine", "correlation", "hellinger", "chebyshev", "minkowski", "alternative_cosine")
    return found + [(f"distances:{name}", *points()) for name in names]


def embedding() -> Calls:
    found: Calls = [("utils:tau_rand_int", state) for state in states()[:3]]
    found += [("layouts:clip", x) for x in (-9.5, 0.25, 9.5)]
    found += [("layouts:rdist", *points())]
    names = "euclidean_grad", "cosine_grad", "canberra_grad", "hellinger", "poincare"
    return found + [(f"distances:{name}", *(0.1 * p for p in points())) for name in names]


def economics() -> Calls:
    found: Calls = [("util.combinatorics:comb_jit", n, k) for n, k in ((5, 2), (60, 30), (3, 7))]
    return [
        *found,
        ("util.array:searchsorted", on_line, 0.3),
        ("util.combinatorics:k_array_rank_jit", np.array([0, 2, 5])),
        ("_gridtools:simplex_grid", 3, 4),
        ("markov.utilities:sa_indices", 3, 2),
        ("optimize.root_finding:brentq", compiled_cube, 0.0, 2.0),
        ("optimize.root_finding:newton", compiled_cube, 1.0, compiled_slope),
        ("optimize.root_finding:bisect", compiled_cube, 0.0, 2.0),
    ]


def distributions() -> Calls:
    args = on_line, 0.25, 1.5
    found: Calls = [(f"norm:{name}", *args) for name in ("_logpdf", "_pdf", "_cdf")]
    found += [("norm:_cdf1", x) for x in (-1.5, 1)] + [("norm:_ppf1", 0.3)]
    found += [("norm:_ppf", np.linspace(0.1, 0.9, 9), 0.25, 1.5)]
    found += [(f"expon:{name}", *args) for name in ("_pdf", "_cdf")]
    return [*found, ("truncnorm:_pdf", on_line, -1.0, 1.0, 0.25, 1.5)]


def series() -> Calls:
    return [
        ("core:_sliding_dot_product", numbers(count=5), numbers()),
        ("core:_welford_nanvar", numbers(), 4, np.ones(21, dtype=bool)),
        ("core:_p_norm_distance_profile", numbers(count=5), numbers()),
        ("core:_rolling_isconstant", numbers(), 4),
        ("core:_total_diagonal_ndists", 1, 5, 10, 12),
    ]


def resampling() -> Calls:
    window = numbers(count=65)
    delta = np.append(np.diff(window), 0.0)
    signal, times = numbers(count=32), np.arange(0, 30, 1.3)
    return [
        (f"interpn:{name}", signal, times, window, delta, 8, 0.9, np.zeros(len(times)))
        for name in ("_resample_loop_s",)
    ]


def sparse_arrays() -> Calls:
    return [
        ("numba_backend._compressed.convert:uncompress_dimension", np.array([0, 2, 2, 5, 9])),
        ("numba_backend._compressed.convert:is_sorted", sorted_ints()),
        ("numba_backend._compressed.convert:unravel_index", 37, np.array([3, 4, 5])),
        ("numba_backend._compressed.convert:ravel_multi_index", (1, 2, 3), np.array([3, 4, 5])),
    ]


PACKAGES = {
    "pynndescent": neighbours,
    "umap": embedding,
    "quantecon": economics,
    "numba_stats": distributions,
    "stumpy": series,
    "resampy": resampling,
    "sparse": sparse_arrays,
}


def same(found, plain, rounded=False):
    """Whether two results are of the same types and bits; rounded: whether rounding may differ."""
    if isinstance(plain, (tuple, list)):
        pairs = zip(found, plain, strict=True)
        return type(found) is type(plain) and all(same(*pair, rounded) for pair in pairs)
    one, other = np.asarray(found), np.asarray(plain)
    if type(found) is not type(plain) or one.dtype != other.dtype or one.shape != other.shape:
        return False
    if rounded and one.dtype.kind in "fc":
        return np.allclose(one, other, rtol=16 * np.finfo(one.dtype).eps, atol=0.0, equal_nan=True)
    return one.tobytes() == other.tobytes()


def fresh(args):
    return [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]


def results(call, args):
    """What a call gives, and what it leaves in its arguments."""
    given = fresh(args)
    result = call(*given)
    return result, [arg for arg in given if isinstance(arg, np.ndarray)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("package", PACKAGES)
def test_functions_of_published_packages_give_the_bits_that_they_give_outside(package):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip(package, reason=f"left out: {package} is not installed")
        calls = PACKAGES[package]()
        modules = {name: importlib.import_module(f"{package}.{name}") for name in _modules(calls)}
    context, compiled = Context(never), {}
    for place, *args in calls:
        module, _, name = place.partition(":")
        function = getattr(modules[module], name)
        if place not in compiled:
            caller = _calling(function, len(args))
            compiled[place] = (
                (function, context.jit(function)),
                (function, lambda *given, f=function: context(f, *given)),
                (njit(caller), context.jit(caller)),  # into which numba may inline it
            )
        rounded = bool(function.targetoptions.get("fastmath"))
        for outside, inside in compiled[place]:
            plain, found = results(outside, args), results(inside, args)
            assert same(found[0], plain[0], rounded), (place, args, found[0], plain[0])
            assert same(found[1], plain[1], rounded), (place, args)


def _modules(calls):
    return dict.fromkeys(place.partition(":")[0] for place, *_ in calls)


def _calling(function, count):
    names = ", ".join(f"a{i}" for i in range(count))
    namespace = {"function": function}
    exec(f"def call({names}): return function({names})", namespace)
    return namespace["call"]
