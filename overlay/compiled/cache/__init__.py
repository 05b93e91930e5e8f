"""Compiled code on disk.

``kept_code`` what is kept for one entry from Python, and when it is right
``reads``     what a compilation has read, as a fingerprint
``canonical`` LLVM IR that tells nothing of the process that made it

How code becomes bytes stands in ``overlay.compiled.numba.object_code``.
"""
