"""Compiled code on disk.

``kept_code`` the code stored for an entry from Python, and the test of its validity
``reads``     fingerprint of the parts of the program that a compilation reads
``canonical`` LLVM IR in a form that does not depend on the process

``overlay.compiled.numba.object_code`` serializes code.
"""
