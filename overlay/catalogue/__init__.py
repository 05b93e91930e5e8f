"""The catalogue of functions: what is known of each elementary function, in one row.

Interpretations read it: derivatives, enclosures, precision, relations and their contractors have
no list of these functions of their own.

>>> import math
>>> from overlay.catalogue import FUNCTIONS
>>> (tanh,) = (row for row in FUNCTIONS if row.function is math.tanh)
>>> tanh.spellings
(<built-in function tanh>, <ufunc 'tanh'>)
>>> tanh.enclosure((-math.inf, math.inf))
(-1.0, 1.0)
"""

from overlay.catalogue.elementary import FUNCTIONS
from overlay.catalogue.math_function import MathFunction, everywhere, row

__all__ = ["FUNCTIONS", "MathFunction", "everywhere", "row"]
