"""How numba-cuda infers types: the target of the engine that code for a GPU is made for."""

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
from overlay.compiled.cuda.local_arrays import register_local_arrays
from overlay.compiled.numba.numba_types import StandIn
from overlay.compiled.targets import Target
from overlay.core.target import is_below
from overlay.plugins.attempts import attempted

__all__ = [
    "CUDA",
    "Capability",
    "as_compiler",
    "capabilities",
    "capability_at_hand",
    "nvvm_is_there",
]

Capability = tuple[int, int]
# What numba-cuda's typing is asked by the engine and by numba's inference.
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
    """numba-cuda's typing context, whose errors are numba's."""

    def __init__(self, typing: BaseContext) -> None:
        vars(self).update(vars(typing))  # a world's typing takes the tables from here
        self._of_cuda = typing


def _asking(name: str) -> Callable[..., Any]:
    """A question to numba-cuda's typing, of which numba understands the errors."""

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
    """What numba-cuda compiles with where it makes code only to know the type."""
    flags = ConfigStack.top_or_none()
    if isinstance(flags, CUDAFlags):
        return flags
    flags = CUDAFlags()
    flags.nvvm_options = {"opt": 3, "fastmath": False}
    flags.compute_capability = _present.capability
    return flags


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
        if value is attempted:
            return on_device
        of_cuda = is_below(type(value), CUDADispatcher) and not is_below(type(value), StandIn)
        return value.py_func if of_cuda else None


CUDA: Final = _Cuda()


# ---- the GPU that code is made for --------------------------------------------------------


class _Device:
    """What numba-cuda asks a GPU for while it compiles."""

    def __init__(self, capability: Capability) -> None:
        self.compute_capability = capability


class _Present:
    capability: Capability = (0, 0)


_present: Final = _Present()


@contextmanager
def as_compiler(
    capability: Capability, function: Any = None, kernel: Callable[[], Any] | None = None
) -> Generator[None]:
    """What numba-cuda compiles in the block is for such GPUs, whichever is at hand, if any; where
    it would compile ``function``, it takes what ``kernel`` gives.

    numba's lock for compiling has to be held.
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
    """The compute capabilities that code can be made for."""
    return tuple(nvrtc.get_supported_ccs())


def capability_at_hand() -> Capability | None:
    """That of the GPU that numba-cuda would launch a kernel on."""
    return tuple(cuda.get_current_device().compute_capability) if cuda.is_available() else None


def nvvm_is_there() -> bool:
    """Whether NVIDIA's compiler can be loaded."""
    return bool(nvvm.is_available())
