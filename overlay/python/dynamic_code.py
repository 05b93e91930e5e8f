"""``exec`` and ``eval`` inside a context: the code that they run is rewritten too."""

from __future__ import annotations
import __future__

import functools
import inspect
import operator
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.python.unseen import unobserved, unseen

if TYPE_CHECKING:
    from overlay.python.callees import Callees

__all__ = ["MODES", "running"]

# mode in which a string is compiled
MODES = {exec: "exec", eval: "eval"}
_FUTURES = functools.reduce(
    operator.or_, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names)
)


def running(native: Callable[..., Any], callees: Callees) -> Callable[..., Any]:
    """What stands in the callee map for ``exec`` or ``eval``."""

    rewritten = unobserved(callees.engine.rewritten)

    @unseen
    def run(source: Any, /, *args: Any, **kwargs: Any) -> Any:
        given = dict(zip(("globals", "locals"), args, strict=False)) | kwargs
        namespace, local = given.pop("globals", None), given.pop("locals", None)
        if len(args) > 2 or not isinstance(source, (str, bytes, CodeType)):
            return native(source, *args, **kwargs)  # its own error
        caller = sys._getframe(1)
        if namespace is None:
            namespace = caller.f_globals
            local = _locals_of(caller) if local is None else local
        elif not isinstance(namespace, dict):
            return native(source, *args, **kwargs)
        if not isinstance(source, CodeType):
            text = source if native is exec else source.lstrip(_blanks(source))
            flags = caller.f_code.co_flags & _FUTURES
            source = compile(text, "<string>", MODES[native], flags, dont_inherit=True)
        code = rewritten(source, namespace, callees)
        return native(code, namespace, namespace if local is None else local, **given)

    return run


@unseen
def _locals_of(frame: FrameType) -> Any:
    """What ``locals()`` gives in a frame: of a function, a copy from Python 3.13 on."""
    optimized = frame.f_code.co_flags & inspect.CO_OPTIMIZED
    return dict(frame.f_locals) if optimized else frame.f_locals


@unseen
def _blanks(source: Any) -> Any:
    return b" \t" if isinstance(source, bytes) else " \t"
