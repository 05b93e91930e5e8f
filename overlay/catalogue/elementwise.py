"""numpy's elementwise functions under their names in ``math``.

Code that takes the module ``math`` as an argument works on arrays when it is given this module.
"""

from numpy import fabs

from overlay.catalogue.elementary import FUNCTIONS

__all__ = ["fabs"]

globals().update({row.name: row.numpy[0] for row in FUNCTIONS if row.numpy})
