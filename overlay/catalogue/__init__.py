"""The catalogue of elementary functions: one row of facts for each.

Derivatives, enclosures, precision, relations and their contractors read it, and have no separate
lists of these functions.

``elementwise``: numpy's elementwise functions under their names in ``math``.
``inverse_enclosures``: enclosures of the inverses of monotone and even functions.
``math_function``: one row of the catalogue: the facts of a function of real numbers.
``operator_ufuncs``: the ufunc of numpy that computes each operator of arrays.

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
