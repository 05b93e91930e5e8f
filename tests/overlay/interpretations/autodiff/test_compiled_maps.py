"""The maps of cotangents for compiled code: those of the tape where Python runs them, and compiled
by numba."""

import inspect

import numpy as np
import pytest
from numba import TypingError, njit

from overlay import Context, NotCompilable
from overlay.interpretations.autodiff import NotDifferentiable, autodiff, gradient
from overlay.interpretations.autodiff.reverse.taped import taped
from overlay.interpretations.autodiff.rules.array_rules import ARRAY_RULES, array_rule_of

RNG = np.random.default_rng(3)


def drawn(*shape):
    return RNG.normal(size=shape)


def gapped(*shape):
    found = drawn(*shape)
    found.flat[2] = np.nan
    return found


S = drawn(3, 3)
P = S @ S.T + np.eye(3)
NEAR_DIAGONAL = np.diag([1.0, 2.0, 4.0]) + 0.1 * S
GAPPED = [(gapped(6),), (gapped(2, 3),)]
KNOTS = np.arange(4.0) ** 1.2
PAIRS = ((5, 3), (5, 4), (2, 5), (4, 6), (3, 3), (3, 1))
MODES = [(drawn(n), drawn(m), mode) for mode in ("full", "same", "valid") for n, m in PAIRS]
TABLES = [(drawn(5), drawn(5)), (drawn(2, 4), drawn(3, 4)), (drawn(2, 4), drawn(4)), (drawn(2, 4),)]
SAMPLES = {
    np.ptp: [(drawn(5),), (drawn(2, 3),)],
    np.average: [
        *((drawn(4),), (drawn(2, 3),)),
        *((drawn(4), None, abs(drawn(4))), (drawn(2, 3), None, abs(drawn(2, 3)))),
    ],
    np.cumsum: [(drawn(4),), (drawn(2, 3),), *((drawn(2, 3, 2), axis) for axis in (0, 1, -1))],
    **{
        getattr(np, f"nan{name}"): GAPPED
        for name in (
            *("max", "min", "sum", "mean", "var", "std", "prod", "cumsum", "cumprod", "median"),
        )
    },
    np.cov: TABLES,
    np.corrcoef: TABLES,
    np.quantile: [(drawn(7), 0.3), (drawn(2, 3), 0.77), (drawn(5), 0.5)],
    np.percentile: [(drawn(7), 30.0), (drawn(2, 3), 77.0)],
    np.nanquantile: [(gapped(6), 0.3), (gapped(2, 3), 0.77)],
    np.nanpercentile: [(gapped(6), 30.0)],
    np.partition: [(drawn(6), 2), (drawn(2, 5), 1)],
    np.vdot: [(drawn(4), drawn(4))],
    np.cross: [(drawn(3), drawn(3)), (drawn(2, 3), drawn(3)), (drawn(2, 3), drawn(2, 3))],
    np.kron: [(drawn(2), drawn(3)), (drawn(2, 3), drawn(3, 2)), (drawn(2), drawn(2, 3))],
    np.convolve: MODES,
    np.correlate: MODES,
    np.vander: [(drawn(3),), (drawn(3), 2), (drawn(3), 4, True), (drawn(3), 1)],
    np.diff: [(drawn(5), 2), (drawn(2, 5),), (drawn(2, 5), 3), (drawn(4), 0)],
    np.ediff1d: [(drawn(5),), (drawn(2, 3),)],
    np.unwrap: [(np.array([0.1, 3.0, 6.1, 9.4]),)],
    np.interp: [
        *((2.2, KNOTS, drawn(4)), (np.array([-1.0, 0.4, 2.2, 9.0]), KNOTS, drawn(4))),
        (np.array([[0.3, 0.4], [2.2, 1.9]]), KNOTS, drawn(4)),
    ],
    np.roots: [(np.array([1.0, -3.0, 1.0, 0.5]),)],
    np.linspace: [(0.3, 1.4, 5), (0.3, 1.4, 1)],
    np.logspace: [(0.3, 1.4, 5)],
    np.geomspace: [(0.3, 1.4, 5)],
    np.trace: [(S,), (drawn(3, 4), 1), (drawn(3, 2), -1), (drawn(2, 3), -5)],
    np.linalg.slogdet: [(S,)],
    np.linalg.cholesky: [(P,), (P + np.triu(S, 1),)],
    np.linalg.qr: [(S,), (drawn(4, 2),), (drawn(2, 4),)],
    np.linalg.eigh: [(S + S.T,), (S,)],
    np.linalg.eigvalsh: [(S + S.T,), (S,)],
    np.linalg.eig: [(NEAR_DIAGONAL,)],
    np.linalg.eigvals: [(NEAR_DIAGONAL,)],
    np.linalg.svd: [(S,), (drawn(4, 2), False), (drawn(2, 4), False)],
    np.linalg.cond: [(S,), (drawn(4, 2),)],
    np.linalg.matrix_power: [(S, 3), (S, 1), (S, 0), (S, -2)],
    np.linalg.pinv: [(S,), (drawn(4, 2),), (drawn(2, 4),)],
    np.linalg.lstsq: [
        *((drawn(4, 2), drawn(4)), (drawn(4, 2), drawn(4, 3))),
        *((drawn(2, 4), drawn(2)), (S, drawn(3))),
    ],
    np.linalg.norm: [(drawn(4), order) for order in (0, 1, 2, 3, 0.5, -2, np.inf, -np.inf)],
    **{
        getattr(np, name): [
            *((drawn(5),), (drawn(2, 5),), (drawn(4), drawn(4)), (drawn(4), None, 0.7)),
            *((drawn(2, 4), drawn(2, 4)), (drawn(2, 4), drawn(4))),
        ]
        for name in ("trapezoid", "trapz")
        if hasattr(np, name)
    },
}
"""Calls of each function, in the forms that numba has."""


def is_float(x):
    return isinstance(x, float) or (isinstance(x, np.ndarray) and x.dtype.kind == "f")


@pytest.mark.filterwarnings("ignore:.trapz. is deprecated:DeprecationWarning")  # before numpy 2.4
@pytest.mark.parametrize("function", SAMPLES)
def test_a_map_for_compiled_code_is_that_of_the_tape(function):
    rule = array_rule_of(function)
    for args in SAMPLES[function]:
        names = list(rule.signature.bind(*args).arguments)
        active = [i for i, x in enumerate(args) if is_float(x) and names[i] in rule.vjp_compiled]
        run = taped(lambda *given: function(*given), list(args), active, ())
        ret = function(*args)
        parts = ret if isinstance(ret, tuple) else (ret,)
        if any(map(np.iscomplexobj, parts)):
            pytest.skip("since numpy 2.5 eigenvalues are complex; in compiled code they are real")
        ds = [RNG.normal(size=np.shape(p)) * (np.asarray(p).dtype.kind == "f") for p in parts]
        expected = run.pull_back(ds)
        d = tuple(ds) if isinstance(ret, tuple) else ds[0]
        for i, one in zip(active, expected, strict=True):
            found = rule.vjp_compiled[names[i]](d, ret, *args)
            assert np.shape(found) == np.shape(one), (names[i], args)
            assert np.allclose(found, one, rtol=1e-8, atol=1e-9), (names[i], args)


def test_every_map_for_compiled_code_has_a_sample_of_each_of_its_parameters():
    rows = [rule for rule in ARRAY_RULES if rule.vjp_compiled]
    assert {rule.function for rule in rows} == set(SAMPLES)
    for rule in rows:
        given = [rule.signature.bind(*args).arguments for args in SAMPLES[rule.function]]
        for name, vjp in rule.vjp_compiled.items():
            assert any(is_float(each.get(name)) for each in given), (rule.function, name)
            assert set(inspect.signature(vjp).parameters) - {"d", "ret"} <= set(
                rule.signature.parameters
            )


COMPILED = {
    "ptp": (lambda x: np.ptp(x) ** 2, drawn(5)),
    "average": (lambda x, y: np.average(x, weights=y) ** 2, drawn(4), abs(drawn(4))),
    "cumsum": (lambda x: np.sum(np.cumsum(x, 1) ** 2), drawn(2, 3)),
    "nanstd": (lambda x: np.nanstd(x) * 3.0, drawn(4)),
    "quantile": (lambda x, q: np.quantile(x, q) ** 2, drawn(7), 0.3),
    "cov": (lambda x, y: np.sum(np.cov(x, y) ** 2), drawn(4), drawn(4)),
    "convolve": (lambda x, y: np.sum(np.convolve(x, y) ** 2), drawn(5), drawn(3)),
    "interp": (lambda x, y: np.sum(np.interp(x, KNOTS, y) ** 2), drawn(3), drawn(4)),
    "linspace": (lambda x, y: np.sum(np.linspace(x, y, 5) ** 2), 0.3, 1.4),
    "cholesky": (lambda x: np.sum(np.linalg.cholesky(x @ x.T) ** 3), S),
    "qr": (lambda x: np.sum(np.linalg.qr(x)[1] ** 3), S),
    "eigh": (lambda x: np.sum(np.linalg.eigh(x + x.T)[1] ** 4), S),
    "slogdet": (lambda x: np.linalg.slogdet(x)[1] ** 2, S),
    "reshape": (lambda x: np.sum(np.fliplr(x)[0] ** 2), drawn(2, 3)),
}
"""Programs of functions with maps for compiled code, and one of a function that moves elements."""


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_derivatives_of_functions_of_arrays_are_those_of_interpreted_code(name):
    program, *args = COMPILED[name]
    try:
        found = Context().jit(lambda *given: autodiff(program, *given))(*args)
    except NotCompilable:
        with pytest.raises(TypingError):
            njit(program)(*args)
        pytest.skip("this numba has no form of it")
    expected = gradient(program, mode="reverse")(*args)
    for one, other in zip(
        found if isinstance(found, tuple) else (found,),
        expected if isinstance(expected, tuple) else (expected,),
        strict=True,
    ):
        assert np.allclose(one, other, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    ("program", "form"),
    [
        (lambda x: np.sum(np.nanmax(x, axis=1)), "nanmax(<array of 2 dimensions>, axis=1)"),
        (lambda x: np.sum(np.max(x, axis=1)), "max(<array of 2 dimensions>, axis=1)"),
        (lambda x: np.linalg.norm(x, 1), "norm(<array of 2 dimensions>, 1)"),
    ],
)
def test_a_form_that_numba_does_not_have_is_named(program, form):
    with pytest.raises(NotDifferentiable) as raised:
        Context().jit(lambda x: autodiff(program, x))(np.ones((2, 3)))
    assert f"compiled code has no derivative of {form}" in str(raised.value)
    assert "order_statistics" not in str(raised.value)


def test_functions_of_constants_alone_have_a_result_in_compiled_code():
    def program(x):
        return np.sum(x * np.linspace(0.0, 1.0, 4))

    found = Context().jit(lambda x: autodiff(program, x))(np.ones(4))
    assert np.allclose(found, np.linspace(0.0, 1.0, 4))
