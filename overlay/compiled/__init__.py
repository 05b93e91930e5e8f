"""The compiled engine: functions compiled by numba, every call of which sees the tables first.

What a program means is decided here, by the resolver that the Python engine uses; how it is told
to numba stands in the modules ``numba_*``, and nowhere else.
"""

from overlay.compiled.engine import CompiledContext
from overlay.compiled.numba_kernels import is_kernel
from overlay.compiled.numba_types import is_dispatcher

__all__ = ["CompiledContext", "is_dispatcher", "is_kernel"]
