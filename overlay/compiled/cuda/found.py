"""What there is to make kernels with: numba-cuda, or numba's simulator of a GPU."""

from __future__ import annotations

from numba.core import config

from overlay.compiled.targets import Target
from overlay.core.errors import NotCompilable
from overlay.core.location import caller

__all__ = ["cuda_target", "is_simulated"]


def is_simulated() -> bool:
    """Whether kernels are run by the interpreter: ``NUMBA_ENABLE_CUDASIM=1``."""
    return bool(config.ENABLE_CUDASIM)


def cuda_target() -> Target:
    """The target of the engine that kernels are made for. Raises NotCompilable without a
    numba-cuda of which the internals are known."""
    try:
        from overlay.compiled.cuda.cuda_typing import CUDA
    except (ImportError, AttributeError) as error:
        raise NotCompilable(
            "cannot compile for a GPU: there is no numba-cuda whose internals are known here",
            where=caller(),
            notes=[("import", f"{type(error).__name__}: {error}")],
            help="pip install 'overlay-dispatch[cuda]'; or set NUMBA_ENABLE_CUDASIM=1 to have "
            "kernels run by the interpreter",
        ) from error
    return CUDA
