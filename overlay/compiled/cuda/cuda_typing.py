"""Type inference of numba-cuda: the engine's target for code on a GPU."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Final

from numba import cuda
from numba.core import errors
from numba.core.target_extension import target_override
from numba.core.typing.context import Context as TypingContext
from numba.cuda import dispatcher as cuda_dispatcher
from numba.cuda.core import errors as cuda_errors
from numba.cuda.core.targetconfig import ConfigStack
from numba.cuda.cudadrv import nvrtc, nvvm
from numba.cuda.descriptor import cuda_target
from numba.cuda.dispatcher import CUDADispatcher
from numba.cuda.flags import CUDAFlags
from numba.cuda.typing import BaseContext

from overlay.compiled.cuda.cuda_attempts import on_device
from overlay.compiled.cuda.kernel_arrays import added_at_once, register_local_arrays
from overlay.compiled.numba.numba_types import StandIn
from overlay.compiled.targets import Target
from overlay.core.target import is_below
from overlay.kernels import atomic_add, attempted

__all__ = [
    "CUDA",
    "Capability",
    "as_compiler",
    "capabilities",
    "capability_at_hand",
    "nvvm_is_there",
]

Capability = tuple[int, int]
# Methods of numba-cuda's typing context that the engine and numba's inference call.
ASKED: Final = (
    "resolve_getattr",
    "resolve_setattr",
    "resolve_function_type",
    "resolve_static_getitem",
    "resolve_static_setitem",
    "resolve_value_type",
    "resolve_value_type_prefer_literal",
)


class _Typing(TypingContext):
    """numba-cuda's typing context, whose errors are converted to numba's."""

    def __init__(self, typing: BaseContext) -> None:
        vars(self).update(vars(typing))  # a world's typing copies the tables from here
        self._of_cuda = typing


def _asking(name: str) -> Callable[..., Any]:
    """A method that calls numba-cuda's typing and converts its errors to numba's."""

    def asked(self: _Typing, *args: Any, **kwargs: Any) -> Any:
        with ConfigStack().enter(_flags()), target_override("cuda"):
            try:
                return getattr(self._of_cuda, name)(*args, **kwargs)
            except cuda_errors.ForceLiteralArg as error:
                raise errors.ForceLiteralArg(
                    error.requested_args, error.fold_arguments, error.loc
                ) from error
            except cuda_errors.NumbaError as error:
                raise errors.TypingError(str(error)) from error

    return asked


for _name in ASKED:
    setattr(_Typing, _name, _asking(_name))


def _flags() -> Any:
    """The flags of numba-cuda where it compiles only to infer a type."""
    flags = ConfigStack.top_or_none()
    if isinstance(flags, CUDAFlags):
        return flags
    flags = CUDAFlags()
    flags.nvvm_options = {"opt": 3, "fastmath": False}
    flags.compute_capability = _present.capability
    return flags


# Implementations in kernels of functions for code that also runs in kernels.
IN_KERNELS: Final = ((attempted, on_device), (atomic_add, added_at_once))


class _Cuda(Target):
    name = "cuda"
    is_device = True

    @functools.cached_property
    def _typing(self) -> Any:
        register_local_arrays()
        cuda_target.target_context.refresh()
        return _Typing(cuda_target.typing_context)

    @property
    def typing(self) -> Any:
        return self._typing

    def owns(self, value: Any) -> bool:
        return str(getattr(value, "__module__", "")).startswith("numba.cuda.")

    def function_of(self, value: Any) -> Any | None:
        for function, in_kernels in IN_KERNELS:
            if value is function:
                return in_kernels
        of_cuda = is_below(type(value), CUDADispatcher) and not is_below(type(value), StandIn)
        return value.py_func if of_cuda else None


CUDA: Final = _Cuda()


# ---- the GPU that code is compiled for ----------------------------------------------------


class _Device:
    """Stub of a GPU, with the attributes that numba-cuda reads during compilation."""

    def __init__(self, capability: Capability) -> None:
        self.compute_capability = capability


class _Present:
    capability: Capability = (0, 0)


_present: Final = _Present()


@contextmanager
def as_compiler(
    capability: Capability, function: Any = None, kernel: Callable[[], Any] | None = None
) -> Generator[None]:
    """Compile for GPUs of this capability in the block, whichever GPU the machine has, if any.
    Where numba-cuda would compile ``function``, it takes the result of ``kernel``.

    The caller holds numba's compiler lock.
    """
    module, device = cuda_dispatcher, _Device(capability)
    before = module.get_current_device, module.compile_cuda, _present.capability

    def compile_cuda(asked: Any, *args: Any, **options: Any) -> Any:
        if kernel is not None and asked is function:
            return kernel()
        return before[1](asked, *args, **options)

    module.get_current_device, module.compile_cuda = (lambda: device), compile_cuda
    _present.capability = capability
    try:
        yield
    finally:
        module.get_current_device, module.compile_cuda, _present.capability = before


def capabilities() -> tuple[Capability, ...]:
    """The compute capabilities that code can be compiled for."""
    return tuple(nvrtc.get_supported_ccs())


def capability_at_hand() -> Capability | None:
    """The compute capability of the GPU that numba-cuda would launch a kernel on, or None."""
    return tuple(cuda.get_current_device().compute_capability) if cuda.is_available() else None


def nvvm_is_there() -> bool:
    """Whether NVIDIA's compiler can be loaded."""
    return bool(nvvm.is_available())
