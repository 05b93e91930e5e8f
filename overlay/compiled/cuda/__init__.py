"""Functions and kernels for a GPU: all that knows numba-cuda.

``found``         whether there is numba-cuda, or numba's simulator of a GPU
``cuda_typing``   how numba-cuda infers types: the target that code for a GPU is made for
``cuda_ir``       numba's representation of a function as numba-cuda has it
``compiling``     functions and kernels that numba-cuda compiles of it
``cuda_errors``   errors of numba-cuda and of NVIDIA's compiler
``local_arrays``  ``overlay.kernels.local_array`` in a kernel
``cuda_attempts`` ``overlay.kernels.attempted`` in a kernel
``simulated``     kernels that the interpreter runs in the simulator
"""
