"""``overlay.kernels.local_array`` and ``atomic_add`` in kernels: numba-cuda's own."""

from __future__ import annotations

from typing import Any, Final

from numba import cuda
from numba.cuda import types
from numba.cuda.cudadecl import Cuda_array_decl, register_global
from numba.cuda.cudaimpl import cuda_local_array_integer, cuda_local_array_tuple, lower
from numba.cuda.typing.templates import signature

from overlay.kernels import local_array

__all__ = ["added_at_once", "register_local_arrays"]

FLOAT: Final = types.NumberClass(types.float64)


class _LocalArray(Cuda_array_decl):
    """Typing of a call, from that of ``cuda.local.array``."""

    key = local_array

    def generic(self) -> Any:
        typed = super().generic()

        def typer(shape: Any, dtype: Any = None) -> Any:
            return typed(shape, FLOAT if dtype is None else dtype)

        return typer


def added_at_once(array: Any, index: Any, value: Any) -> None:
    """Implementation of ``atomic_add`` in a kernel."""
    cuda.atomic.add(array, index, value)


def register_local_arrays() -> None:
    """Register the function with numba-cuda."""
    register_global(local_array)(_LocalArray)
    for shape, make in (
        (types.IntegerLiteral, cuda_local_array_integer),
        (types.BaseTuple, cuda_local_array_tuple),
    ):
        for rest in ((), (types.Any,)):
            lower(local_array, shape, *rest)(_lowering(make))


def _lowering(make: Any) -> Any:
    def lowered(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if len(sig.args) == 1:
            sig = signature(sig.return_type, *sig.args, FLOAT)
        return make(context, builder, sig, args)

    return lowered
