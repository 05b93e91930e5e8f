"""Roles of numba-cuda's own objects in programs that are differentiated in kernels."""

from __future__ import annotations

from typing import Any, Final, Literal

from numba import cuda

from overlay.compiled.cuda.cuda_typing import CUDA

__all__ = ["MODULE", "Role", "name_in_cuda", "role_of"]

MODULE: Final = cuda

Role = Literal["place", "number", "grid", "whole", "barrier", "sum", "local", "other"]
"""``place``: an object with the attributes x, y and z. ``number``: a value without a call.
``grid``: a function with the number of axes as its argument. ``whole``: a function of whole numbers
to whole numbers. ``barrier``: a function that orders what threads do. ``sum``: the atomic sum.
``local``: a maker of local arrays. ``other``: any other function."""
ROLES: Final[tuple[tuple[Role, tuple[Any, ...]], ...]] = (
    ("place", (cuda.threadIdx, cuda.blockIdx, cuda.blockDim, cuda.gridDim)),
    ("number", (cuda.laneid, cuda.warpsize)),
    ("grid", (cuda.grid, cuda.gridsize)),
    ("whole", (cuda.popc, cuda.clz, cuda.brev, cuda.ffs, cuda.lanemask_lt)),
    (
        "barrier",
        (
            *(cuda.syncthreads, cuda.syncwarp, cuda.threadfence),
            *(cuda.threadfence_block, cuda.threadfence_system),
        ),
    ),
    ("sum", (cuda.atomic.add,)),
    ("local", (cuda.local.array,)),
)


def role_of(value: Any) -> Role | None:
    """The role of an object of numba-cuda; None for any other object."""
    for role, members in ROLES:
        if any(value is member for member in members):
            return role
    return "other" if CUDA.owns(value) and CUDA.function_of(value) is None else None


def name_in_cuda(value: Any) -> str:
    """The name of an object of numba-cuda, as programs write it."""
    inner = value.__module__.removeprefix("numba.cuda.").partition(".")[0]
    prefix = "cuda" if inner in ("stubs", "intrinsics") else f"cuda.{inner}"
    return f"{prefix}.{getattr(value, '__qualname__', value)}"
