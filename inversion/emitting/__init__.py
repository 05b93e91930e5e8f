"""From a plan to the Python source of an inverse."""

from inversion.emitting.entry import emit
from inversion.emitting.writing import Source

__all__ = ["Source", "emit"]
