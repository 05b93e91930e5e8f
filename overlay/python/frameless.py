"""Code whose frames nobody sees.

To the interpreter a frame has begun when it has come past its RESUME instruction. One that never
comes to it is in no traceback, no ``f_back`` and no ``sys._getframe``; warnings do not count it,
and trace functions are not told of it.
"""

from __future__ import annotations

import dis
import functools
import inspect
import sys
from types import CodeType
from typing import Any

from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.code.versions import REWRITABLE

__all__ = ["may_lose_frame", "with_frame", "without_frame"]

_IS_KNOWN = sys.version_info[:2] in REWRITABLE
_NOP, _RESUME = dis.opmap["NOP"], dis.opmap["RESUME"]
_SUSPENDS = (
    inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
    | inspect.CO_ITERABLE_COROUTINE
)
_originals: dict[CodeType, CodeType] = {}


def without_frame(code: CodeType) -> CodeType:
    """The same code, and that of functions made in it, without frames; not for generators. As it
    is on a version on which ``ctx(f)`` is refused."""
    # an interpreter of another version may crash at code without RESUME
    return _hidden(code) if _IS_KNOWN and code not in _originals else code


def with_frame(code: CodeType) -> CodeType:
    """The code that ``without_frame`` was given."""
    return _originals.get(code, code)


@functools.cache
def _hidden(code: CodeType) -> CodeType:
    assert not code.co_flags & _SUSPENDS
    units = bytearray(code.co_code)
    resume = next(i.offset for i in dis.get_instructions(code) if i.opcode == _RESUME)
    units[resume : resume + 2] = bytes((_NOP, 0))
    inner = (without_frame(c) if may_lose_frame(c) else c for c in code.co_consts)
    hidden = code.replace(co_code=bytes(units), co_consts=tuple(inner))
    _originals[hidden] = code
    return hidden


def may_lose_frame(constant: Any) -> bool:
    """Whether it is the code of a function that runs through, and does not look at its own frame
    as ``super()`` does."""
    if type(constant) is not CodeType or not constant.co_flags & inspect.CO_OPTIMIZED:
        return False
    return not constant.co_flags & _SUSPENDS and "__class__" not in constant.co_freevars
