"""Functions without a frame that a program can see.

To the interpreter a frame has begun once it is past its RESUME instruction. A frame that never
reaches it is in no traceback, no ``f_back`` and no ``sys._getframe``, and warnings do not count it.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from types import CodeType, FunctionType
from typing import Any

from overlay.core.own_builtins import __builtins__, own_copy
from overlay.core.target import with_code
from overlay.python.frame_readers import FRAME_READERS

__all__ = ["hidden", "is_hidden", "may_be_hidden"]

_dis: Any = own_copy("dis")
_NOP, _RESUME = _dis.opmap["NOP"], _dis.opmap["RESUME"]
_SUSPENDS = (
    inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
    | inspect.CO_ITERABLE_COROUTINE
)
_codes: dict[int, weakref.ref[CodeType]] = {}  # those without a frame, by identity
# by the identity of a code object: that, held weakly, and the code without a frame
_hidden: dict[int, tuple[weakref.ref[CodeType], CodeType]] = {}


def may_be_hidden(function: Any) -> bool:
    """Whether a value is a plain function that runs to its end without suspension and does not
    inspect its own frame, as ``super()`` and ``locals()`` do."""
    if type(function) is not FunctionType:
        return False
    code = function.__code__
    looks = "__class__" in code.co_freevars or not FRAME_READERS.isdisjoint(code.co_names)
    return not code.co_flags & _SUSPENDS and not looks


def is_hidden(code: CodeType) -> bool:
    """Whether a code object is that of a function without a frame."""
    known = _codes.get(id(code))
    return known is not None and known() is code


def hidden(function: FunctionType) -> FunctionType:
    """Copy a function without its frame; both share their variables."""
    return with_code(function, _without_frame(function.__code__))


def _without_frame(code: CodeType) -> CodeType:
    key = id(code)
    known = _hidden.get(key)
    if known is not None and known[0]() is code:
        return known[1]
    units = bytearray(code.co_code)
    offsets = [i.offset for i in _dis.get_instructions(code)]
    at = next(k for k, offset in enumerate(offsets) if units[offset] == _RESUME)
    # and its inline caches, which it has from 3.15 on
    for offset in range(offsets[at], offsets[at + 1], 2):
        units[offset : offset + 2] = bytes((_NOP, 0))
    # a generator expression or a lambda in it keeps its frame: it may run anywhere
    found = code.replace(co_code=bytes(units))
    _hidden[key] = weakref.ref(code, functools.partial(_hidden.pop, key)), found
    own = id(found)
    _codes[own] = weakref.ref(found, functools.partial(_codes.pop, own))
    return found
