"""The part in C: targets are intercepted where they are called. ``intercept`` is None where it was
not built, or was built for another Python."""

try:
    from overlay._native import intercept
except ImportError:
    intercept = None

__all__ = ["intercept"]
