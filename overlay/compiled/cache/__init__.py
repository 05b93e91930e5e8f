"""Compiled code on disk.

``kept_code`` the code stored for an entry from Python, and the test of its validity
``reads``     fingerprint of the parts of the program that a compilation reads
``canonical`` LLVM IR in a form that does not depend on the process

``overlay.compiled.numba.object_code`` serializes code.

It is not built on numba's ``FunctionCache``. That looks up code by a key that must be known before
the code is compiled, and holds only the function's own source and closure. What code depends on in
a context is found by reading the functions that it calls, so it is known after compilation: an
entry is found in two steps, by key and then by fingerprint. Its files are also loaded only where
nobody else can have written them, and inverses are stored in the same folders.
"""
