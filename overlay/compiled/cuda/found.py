"""Availability of compilers for kernels: numba-cuda, or numba's GPU simulator."""

from __future__ import annotations

from importlib import util

from numba.core import config

from overlay.compiled.targets import Target
from overlay.core.errors import NotCompilable
from overlay.core.location import caller

__all__ = ["cuda_target", "is_simulated"]


def is_simulated() -> bool:
    """Whether the interpreter runs kernels: ``NUMBA_ENABLE_CUDASIM=1``."""
    return bool(config.ENABLE_CUDASIM)


def cuda_target() -> Target:
    """The engine's target for kernels. Raises NotCompilable unless numba-cuda is installed in a
    version whose internals are known."""
    try:
        from overlay.compiled.cuda.cuda_typing import CUDA
    except (ImportError, AttributeError) as error:
        is_missing = util.find_spec("numba_cuda") is None
        raise NotCompilable(
            "cannot compile for a GPU: "
            + ("numba-cuda is not installed" if is_missing else "this numba-cuda is not supported"),
            where=caller(),
            notes=[("import", f"{type(error).__name__}: {error}")],
            help="pip install 'overlay-dispatch[cuda]'; or set NUMBA_ENABLE_CUDASIM=1 to run "
            "kernels in the interpreter",
        ) from error
    return CUDA
