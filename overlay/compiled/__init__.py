"""The compiled engine: functions compiled by numba, every call of which sees the tables first.

What a program means is decided here, by the resolver that the Python engine uses; how it is told
to numba stands in ``numba_internals`` and ``numba_passes``, and nowhere else.
"""

from overlay.compiled.engine import CompiledContext

__all__ = ["CompiledContext"]
