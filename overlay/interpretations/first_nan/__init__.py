"""Locates the first NaN or infinity that a program produces, interpreted or compiled.

``errors``: errors for operations that produce a NaN.
``finder``: runs programs until an operation produces a NaN.
``in_compiled_code``: NaN checks in compiled code, after each operation whose result is a float.
``nan_values``: detection of numbers that are not finite.

>>> import colorsys
>>> from overlay.interpretations.first_nan import FirstNaN, first_nan
>>> try:
...     first_nan(colorsys.rgb_to_hls, 1e308, -1e308, 1.0)
... except FirstNaN as error:
...     error.operation, error.arguments, error.result
('operator.sub', (1e+308, -1e+308), inf)
"""

from overlay.core.public_names import completes
from overlay.interpretations.first_nan.errors import FirstNaN
from overlay.interpretations.first_nan.finder import NaNFinder, first_nan

__all__ = ["FirstNaN", "NaNFinder", "first_nan"]
__dir__ = completes(__all__)
