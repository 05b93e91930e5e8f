"""The adapter of numba: all that knows its internals."""
