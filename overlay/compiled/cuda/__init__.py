"""Functions and kernels for a GPU: the only folder that imports numba-cuda.

``found``         whether numba-cuda, or numba's GPU simulator, is available ``cuda_typing``
type inference of numba-cuda: the target of code for a GPU ``cuda_ir``       conversion of numba's
IR to numba-cuda's ``compiling``     functions and kernels that numba-cuda compiles from it
``optimiser``     plugins' stages around optimisation, for GPUs whose compiler takes the result
``cuda_errors``   errors of numba-cuda and of NVIDIA's compiler ``kernel_arrays``
``overlay.kernels.local_array`` and ``atomic_add`` in a kernel ``cuda_attempts``
``overlay.kernels.attempted`` in a kernel ``simulated``     kernels that the interpreter runs in
the simulator ``thread_values`` roles of numba-cuda's own objects in derivatives
"""
