"""Calls in kernels that may raise, after which the kernel continues.

A function on a GPU returns a status beside its result, which its callers pass on: an exception ends
the thread. A function changed by ``end_well`` always returns the status of success.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba.cuda.core.callconv import RETCODE_OK

__all__ = ["end_well", "on_device"]

ENDED: Final = np.bool_(True)  # a plain bool would be a constant to callers, too


def on_device(f: Callable[..., Any], *args: Any) -> tuple[bool, Any]:
    """Implementation of ``attempted`` in a kernel: ``end_well`` changes its code."""
    return ENDED, f(*args)


def end_well(module: Any, symbol: str) -> None:
    """Make a function return zeros where it would pass an exception on."""
    function = module.get_global(symbol)
    result = function.args[0]
    for block in function.blocks:
        end = block.terminator
        if isinstance(end, ir.Ret) and end.operands[0] != RETCODE_OK:
            builder = ir.IRBuilder(block)
            builder.position_before(end)
            builder.store(ir.Constant(result.type.pointee, None), result)
            end.operands = [RETCODE_OK]
