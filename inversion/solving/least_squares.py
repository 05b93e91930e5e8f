"""Fits: the arguments for which a function comes closest to given values, by least squares.

``scipy.optimize.least_squares`` minimises the sum of squared differences (the trust region method
of M. A. Branch, T. F. Coleman and Y. Li, SIAM J. Sci. Comput. 21, 1999), within the bounds of
declared domains, from several starts. For a program of floats the derivatives are exact up to
rounding; for others they are difference quotients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from inversion.errors import NoSolution, NotInvertible, WrongArguments
from inversion.program.shown import html_of
from inversion.program.trees import axis_of, part, taken_apart
from inversion.solving.argument_search import (
    ArgumentProblem,
    argument_problem,
    flat_numbers,
    has_known_numbers,
)
from overlay.core.late_binding import LateBound
from overlay.core.location import caller
from primitives.relation import RETURN

if TYPE_CHECKING:
    from inversion.inverse import Inverse

__all__ = ["Fit", "fitted_arguments"]

STARTS = 12
"""The number of starts, if none is given."""
EVALUATIONS = 60
"""The largest number of evaluations from one start; from the best start, ten times as many."""
ENOUGH = 3
"""The number of starts with the least cost after which the search ends."""
SAME = 1e-6  # relative: costs of one minimum
GOOD = 1e-12  # a residual of this size, relative to the values, is only rounding
FULL_RANK = 1e-10
TOLERANCE = 1e-13

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """The result of a least-squares fit; it is not an exact solution.

    ``fit[axis]`` is the value of an unknown axis.

    Attributes
    ----------
    values : mapping of str to object
        The values of the unknown axes, by name.
    result : object
        The result of the function for these values.
    residual : ndarray of float64
        The differences between ``result`` and the known values, number by number.
    cost : float
        Half the sum of the squared residuals, each multiplied by its weight or divided by the
        variance of its noise.
    covariance : ndarray of float64 or None
        The covariance matrix of the numbers in ``values``, in order. None if the derivatives do not
        have full rank, or if the noise is neither given nor can be estimated.
    converged : bool
        Whether the search ended at a local minimum. It is not proved to be the global one.
    message : str
        The reason why the search ended.
    starts : int
        The number of starts.

    Examples
    --------
    >>> from inversion import invert
    >>> line = invert(lambda a, b: (b, a + b, 2 * a + b), float, float)
    >>> found = line.fit((1.0, 3.1, 4.9), noise=0.1)
    >>> found.residual.round(3).tolist(), found.errors.round(3).tolist()
    ([0.05, -0.1, 0.05], [0.071, 0.091])
    """

    values: Mapping[str, Any]
    result: Any
    residual: Numbers
    cost: float
    covariance: Numbers | None
    converged: bool
    message: str
    starts: int

    def __getitem__(self, axis: str) -> Any:
        return self.values[axis]

    @property
    def errors(self) -> Numbers | None:
        """The standard errors of the numbers in ``values``; None if ``covariance`` is None."""
        return None if self.covariance is None else np.sqrt(np.diag(self.covariance))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.values.items())
        ended = "" if self.converged else f"; not converged: {self.message}"
        return f"<Fit {shown}; cost {self.cost:.6g}{ended}>"

    def _repr_html_(self) -> str:
        return html_of(self)


@LateBound
def _least_squares() -> Any:
    """The solver of scipy."""
    from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

    return optimize.least_squares


def fitted_arguments(
    inverse: Inverse,
    known: tuple[Any, ...],
    noise: Any,
    weights: Any,
    start: Sequence[Any] | None,
) -> Fit:
    """The fit of the unknown axes to known values.

    noise, weights: those of the known numbers of the result, or None. start: values of the unknown
    axes. Raises NoSolution if the function gives no numbers from any start.
    """
    if not has_known_numbers(inverse):
        raise NotInvertible(
            f"{inverse!r} has no fit: the unknown inputs have to be floats, the results numbers",
            where=inverse.origin.where,
            help="make the inputs that are not floats known, with choose",
        )
    least_squares = _least_squares.load()
    problem = argument_problem(inverse, known)
    fit = _FitProblem(inverse, known, problem, noise, weights)
    low, high = problem.ends()
    starts = [problem.numbers(start)] if start is not None else map(problem.start, range(STARTS))

    def search(x: Numbers, most: int) -> Any:
        with np.errstate(all="ignore"):
            return least_squares(
                fit.residual, x, fit.slopes, (low, high), x_scale="jac",
                ftol=TOLERANCE, xtol=TOLERANCE, gtol=TOLERANCE, max_nfev=most,
            )  # fmt: skip

    best: Any = None
    count, agreeing = 0, 0
    for x in starts:
        count += 1
        # the method of scipy starts inside the bounds
        inside = np.clip(x, low, high)
        if fit.off(inside) is None:
            continue
        found = search(inside, EVALUATIONS)
        if best is not None and abs(found.cost - best.cost) <= SAME * best.cost:
            agreeing += 1
        elif best is None or found.cost < best.cost:
            best, agreeing = found, 1
        if agreeing == ENOUGH or best.cost <= 0.5 * (GOOD * fit.size) ** 2:
            break
    if best is None:
        raise NoSolution(
            f"{inverse.origin.name} gives no finite numbers at any start of the fit",
            where=inverse.origin.where,
            help="give start=, a tuple of values of the unknown axes, or declare domains",
        )
    if best.status == 0:  # it reached the limit of evaluations
        best = search(best.x, 10 * EVALUATIONS)
    return fit.ended(best, count)


class _FitProblem:
    """Residuals and their derivatives. size: the norm of the weighted known values."""

    def __init__(
        self,
        inverse: Inverse,
        known: tuple[Any, ...],
        problem: ArgumentProblem,
        noise: Any,
        weights: Any,
    ) -> None:
        self.inverse = inverse
        self.problem = problem
        given = dict(zip(inverse.known, known, strict=True))
        self.axes = [axis for axis in inverse.known if axis_of(axis)[0] == RETURN]
        self.wanted = self._numbers(given)
        self.has_noise = noise is not None
        self.scale = np.ones(self.wanted.size)
        if noise is not None:
            self.scale = 1 / self._positive("noise", noise)
        if weights is not None:
            self.scale = self.scale * np.sqrt(self._positive("weights", weights, zero=True))
        self.size = max(float(np.linalg.norm(self.wanted * self.scale)), 1e-300)
        self.penalty = np.full(self.wanted.size, 1e6 * self.size)
        self.is_exact = True

    def _numbers(self, values: Mapping[str, Any]) -> Numbers:
        """The real numbers of the known axes of the result."""
        trees = self.inverse.axes.trees
        parts = [v for axis in self.axes for v in taken_apart(trees[axis], values[axis])]
        return np.concatenate([flat_numbers(value) for value in parts])

    def _positive(self, name: str, given: Any, *, zero: bool = False) -> Numbers:
        """The positive numbers of an option, one for each known number."""
        try:
            numbers = np.concatenate([flat_numbers(v) for v in _listed(given)])
            found = np.array(np.broadcast_to(numbers, self.wanted.shape))
        except (TypeError, ValueError):
            found = np.zeros(0)
        fine = found >= 0 if zero else found > 0
        if found.size != self.wanted.size or not (fine & np.isfinite(found)).all():
            raise WrongArguments(
                f"{name} = {given!r} is not one positive number, or {self.wanted.size} of them",
                where=caller(),
                help=f"give {name}=0.1, or as many numbers as are known of the result",
            )
        return found

    def plain(self, x: Numbers) -> Numbers:
        """The differences from the known values. Raises the exceptions of the function."""
        result = self.inverse.result_of(self.problem.arguments(x))
        tree = self.inverse.axes.trees[RETURN]
        whole = {axis: part(tree, result, axis.removeprefix(RETURN)) for axis in self.axes}
        return self._numbers(whole) - self.wanted

    def off(self, x: Numbers) -> Numbers | None:
        """The weighted differences; None if the function gives no finite numbers."""
        try:
            off = self.plain(x) * self.scale
        except Exception:  # of the function
            return None
        return off if np.all(np.isfinite(off)) else None

    def residual(self, x: Numbers) -> Numbers:
        """The weighted differences; large ones if the function gives no numbers."""
        off = self.off(x)
        return self.penalty if off is None else off

    def slopes(self, x: Numbers) -> Numbers:
        """The derivatives of the weighted differences."""
        found = self.problem.exact_slopes(x, self.axes) if self.is_exact else None
        if found is None:
            self.is_exact = False
            found = self.problem.differences(self.residual, x)
        return found * self.scale[:, None] if self.is_exact else found

    def ended(self, found: Any, starts: int) -> Fit:
        """The fit at the end of a search."""
        inverse, args = self.inverse, self.problem.arguments(found.x)
        by_name = dict(zip(inverse.axes.inputs, args, strict=True))
        return Fit(
            {axis: by_name[axis] for axis in inverse.unknown if axis in by_name},
            inverse.result_of(args),
            self.plain(found.x),
            float(found.cost),
            self.covariance(found),
            bool(found.status > 0),
            str(found.message),
            starts,
        )

    def covariance(self, found: Any) -> Numbers | None:
        """The covariance of the numbers at a minimum."""
        high, wide = found.jac.shape
        if not self.has_noise and high <= wide:
            return None
        _, sizes, right = np.linalg.svd(found.jac / np.maximum(_lengths(found.jac), 1e-300), False)
        if high < wide or not sizes[-1] > FULL_RANK * sizes[0]:
            return None
        whole = (right.T / sizes**2) @ right
        lengths = _lengths(found.jac)
        whole = whole / lengths[:, None] / lengths[None, :]
        return whole if self.has_noise else whole * (2 * found.cost / (high - wide))


def _lengths(slopes: Numbers) -> Numbers:
    return np.sqrt((slopes * slopes).sum(axis=0))


def _listed(given: Any) -> Sequence[Any]:
    if isinstance(given, (tuple, list)):
        return [item for one in given for item in _listed(one)]
    return [given]
