"""Comparison of a program's precision in single and double precision."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from overlay.contexts.rules_alone import in_program, runs_alone
from overlay.core.location import name_of
from overlay.core.markup import listed, sheet, shown_value
from overlay.core.short_repr import short_repr
from overlay.interpretations.precision.single import lowered, single_precision
from overlay.interpretations.precision.stochastic import MOST_DIGITS, Significance, significance

__all__ = ["PrecisionReport", "precision_report"]


@dataclass(frozen=True, eq=False)
class PrecisionReport:
    """The precision of a result.

    Attributes
    ----------
    value : object
        The result in double precision.
    double : Significance
        The estimate of random rounding.
    single : object
        The result in single precision.
    by_function : dict of str to object
        The result with each of some functions alone in single precision.

    Examples
    --------
    >>> from overlay.interpretations.precision.precision_report import precision_report
    >>> precision_report(lambda x: x / 3.0, 1.0).digits_of(1.0 / 3.0) > 15
    True
    """

    value: Any
    double: Significance
    single: Any
    by_function: dict[str, Any]

    def __repr__(self) -> str:
        digits = f"{float(np.min(self.double.digits)):.1f} digits"
        return short_repr("PrecisionReport", f"{digits} of {self.value!r}")

    def _repr_html_(self) -> str:
        least = float(np.min(self.double.digits))
        rows = [("double precision, significant", least)]
        rows += [("single precision, as double", self.digits_of(self.single))]
        rows += [
            (f"only {name}", self.digits_of(found)) for name, found in self.by_function.items()
        ]
        digits = listed(("", "digits"), rows, lambda pair: (pair[0], f"{pair[1]:.1f}"))
        return sheet("precision of", "", None, shown_value(self.value), digits)

    @runs_alone
    def digits_of(self, other: Any) -> float:
        """The number of decimal digits in which another result agrees with ``value``.

        Parameters
        ----------
        other : number or array
            A result of the shape of ``value``.

        Returns
        -------
        float
            The smallest number of digits over the elements, at most that of a double.
        """
        value, other = (np.asarray(each, dtype=np.float64) for each in (self.value, other))
        with np.errstate(all="ignore"):
            errors = np.abs(value - other) / np.abs(value)
            digits = np.where(value == other, MOST_DIGITS, -np.log10(errors))
        least = np.nan_to_num(digits, nan=0.0).min()
        return float(min(max(0.0, least), MOST_DIGITS))

    @runs_alone
    def __str__(self) -> str:
        least = float(np.min(self.double.digits))
        lines = [
            f"double precision: {least:4.1f} digits are significant",
            f"single precision: {self.digits_of(self.single):4.1f} digits agree with double",
        ]
        lines += [
            f"  only {name}: {self.digits_of(found):4.1f} digits agree"
            for name, found in self.by_function.items()
        ]
        return "\n".join(lines)


@runs_alone
def precision_report(
    f: Callable[..., Any],
    /,
    *args: Any,
    functions: Iterable[Callable[..., Any]] = (),
    samples: int = 10,
    **kwargs: Any,
) -> PrecisionReport:
    """Compare the precision of a function in double and in single precision.

    Parameters
    ----------
    f : callable
        The function.
    *args, **kwargs
        Its arguments.
    functions : iterable of callable
        Functions that are also run alone in single precision, one after the other.
    samples : int
        The number of runs with random rounding, at least 2.

    Returns
    -------
    PrecisionReport
        The result in double precision, with random rounding, in single precision, and with each
        of ``functions`` alone in single precision.

    Raises
    ------
    OverlayError
        The result is no number and no array, or there are too few samples.

    Examples
    --------
    >>> from overlay.interpretations.precision.precision_report import precision_report
    >>> found = precision_report(lambda x: (x + 1e12) - 1e12, 0.1)
    >>> found.digits_of(found.single)
    0.0
    """
    value = in_program(f, *args, **kwargs)
    return PrecisionReport(
        value,
        in_program(significance, f, *args, samples=samples, **kwargs),
        in_program(single_precision, f, *args, **kwargs),
        {name_of(each): in_program(lowered(each), f, *args, **kwargs) for each in functions},
    )
