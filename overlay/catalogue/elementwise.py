"""numpy's elementwise functions under the names that they have in ``math``.

What is written for ``math`` serves numpy, too, when it is given this module.
"""

from numpy import fabs

from overlay.catalogue.elementary import FUNCTIONS

__all__ = ["fabs"]

globals().update({row.name: row.numpy[0] for row in FUNCTIONS if row.numpy})
