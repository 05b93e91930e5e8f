"""``current_context().state`` in compiled code: one value in memory from which the code loads it.

Compiled code that reads the state contains the address of that memory, so it belongs to one state
and cannot be stored on disk.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any, Final

from llvmlite import ir as llvm
from numba import njit, typeof
from numba.core import types
from numba.core.errors import NumbaError
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from overlay.compiled import failures
from overlay.compiled.numba.numba_types import Native, StandIn, Type

__all__ = ["Box", "is_of_state"]

# numba copies values of these types into compiled code and back: changes by one call would be
# lost to others
COPIED: Final = (types.List, types.Set)


class Box(StandIn):
    """A value that compiled code loads from memory and shares with Python.

    Raises NotCompilable for a value that numba cannot hold, or would copy.
    """

    def __init__(self, value: Any) -> None:
        try:
            ty = typeof(value)
        except (ValueError, NumbaError):
            raise failures.state_not_held(value) from None
        if isinstance(ty, COPIED):
            raise failures.state_not_held(value)
        self.value = value
        data = cpu_target.target_context.get_data_type(ty)
        size = cpu_target.target_context.get_abi_sizeof(data)
        self._memory = ctypes.create_string_buffer(size)
        address = ctypes.addressof(self._memory)
        self.addresses = range(address, address + size)
        _boxes.add(self)
        store, release, load = _accessors(ty, address)
        store(value)
        self.load = Native(load)
        weakref.finalize(self, _release, release, self._memory).atexit = False


_boxes: weakref.WeakSet[Box] = weakref.WeakSet()


def is_of_state(address: int) -> bool:
    """Whether a number is an address in the memory of a state."""
    return any(address in box.addresses for box in list(_boxes))


def _release(release: Any, memory: Any) -> None:
    release()


def _accessors(ty: Type, address: int) -> tuple[Any, Any, Any]:
    """Functions that store a value in memory, release it, and load it (the last for compiled code
    alone)."""

    def pointer(context: Any) -> Any:
        data = context.get_value_type(ty)
        whole = llvm.Constant(llvm.IntType(64), address)
        return whole.inttoptr(data.as_pointer())

    @intrinsic
    def put(typingctx: Any, value: Type) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            context.nrt.incref(builder, ty, args[0])
            builder.store(args[0], pointer(context))
            return context.get_dummy_value()

        return types.none(value), generate

    @intrinsic
    def let_go(typingctx: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            context.nrt.decref(builder, ty, builder.load(pointer(context)))
            return context.get_dummy_value()

        return types.none(), generate

    @intrinsic
    def load(typingctx: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            value = builder.load(pointer(context))
            context.nrt.incref(builder, ty, value)
            return value

        return ty(), generate

    # compiled now: a collection may release in the middle of a compilation for another target
    release = njit(lambda: let_go())
    release.compile(())
    return njit(lambda value: put(value)), release, load
