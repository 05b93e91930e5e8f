"""Precision analysis: double-precision code run in single precision, and with random rounding,
which estimates the significant digits of a result.

``operations``: the operations and functions whose results are rounded.
``precision_report``: comparison of a program's precision in single and double precision.
``stochastic``: random rounding: estimates of the digits of a result that are free of rounding
errors.

>>> from overlay.interpretations.precision import significance, single_precision
>>> def cancels(x):
...     return (x + 1e12) - 1e12
>>> single_precision(cancels, 0.1)
0.0
>>> round(significance(cancels, 0.1).digits)
3
"""

from overlay.core.public_names import completes
from overlay.interpretations.precision.precision_report import PrecisionReport, precision_report
from overlay.interpretations.precision.single import lowered, single_precision
from overlay.interpretations.precision.stochastic import Significance, significance, stochastic

__all__ = [
    "PrecisionReport",
    "Significance",
    "lowered",
    "precision_report",
    "significance",
    "single_precision",
    "stochastic",
]
__dir__ = completes(__all__)
