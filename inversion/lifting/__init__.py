"""From a function to a program: its code is gone through, its calls are resolved."""

from inversion.lifting.lifter import Lifted, lift

__all__ = ["Lifted", "lift"]
