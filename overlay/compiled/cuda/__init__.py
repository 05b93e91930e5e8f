"""Functions and kernels for a GPU: all that knows numba-cuda."""
