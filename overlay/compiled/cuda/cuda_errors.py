"""Errors of numba-cuda and of NVIDIA's compiler, as ours."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from numba.core import errors
from numba.cuda.core import errors as cuda_errors
from numba.cuda.cudadrv.error import NvvmError, NvvmSupportError

from overlay.compiled import failures
from overlay.compiled.numba.dispatchers import place_in
from overlay.core.errors import NotCompilable, OverlayError
from overlay.core.location import location_of, name_of

__all__ = ["explained"]

OF_COMPILERS: Final = (errors.NumbaError, cuda_errors.NumbaError, NvvmError, NvvmSupportError)


@contextmanager
def explained(function: Any, *, launches: bool = False) -> Generator[None]:
    """Turn errors from the compilation of a kernel in the block into NotCompilable.

    launches: whether the block also runs the kernel, which may raise anything.
    """
    try:
        yield
    except OverlayError:
        raise
    except Exception as error:
        if launches and not isinstance(error, OF_COMPILERS):
            raise
        text = str(error)
        failure = failures.failure_in(text)
        if failure is not None:
            raise failure.raised() from failure.error.__cause__
        kind = "" if isinstance(error, OF_COMPILERS) else f"{type(error).__name__}: "
        raise _not_on_gpu(function, kind + text, error) from error


def _not_on_gpu(function: Any, reason: str, error: Exception) -> NotCompilable:
    python = getattr(function, "py_func", function)
    has_code = hasattr(python, "__code__")
    return NotCompilable(
        f"{name_of(python)} cannot be compiled for a GPU",
        where=(place_in(python, error) if has_code else None) or location_of(python),
        notes=[("numba-cuda", line) for line in failures.shortened(reason)],
        help="a kernel calls only what runs on the GPU: compute what needs the host before the "
        "launch, or put a method of a table in its place",
    )
