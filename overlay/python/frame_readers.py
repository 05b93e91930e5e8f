"""Builtins that read the frame that calls them: ``locals()``, ``eval(text)``, ``super()``.

A method of such a target has a frame of its own, and called through ``call_next`` the builtin would
read that one. Below methods these builtins are therefore called with the values that they would
have read in the program's frame, which called the target.
"""

from __future__ import annotations

import _warnings
import builtins
import functools
import inspect
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final

from overlay.code.versions import LOCALS_ARE_PROXIES
from overlay.core.in_force import natively
from overlay.core.location import is_ours
from overlay.core.own_builtins import __builtins__
from overlay.generics.views import View, named_by

__all__ = ["FRAME_READERS", "READS", "TARGETS", "for_frame_of_program"]


def for_frame_of_program(target: Any, native: Callable[..., Any], generic: Any) -> Any:
    """A callable that calls a target's own code as if in the frame that called the target.

    target: one of ``READS``. native: its own code. generic: the generic state of its views.
    """
    return functools.partial(_called, READS[id(target)][1], native, generic)


def _called(read: Any, native: Any, generic: Any, /, *args: Any, **kwargs: Any) -> Any:
    here: FrameType = natively(sys._getframe)  # which may be the target
    frame = _frame_of_program(here, generic)
    return native(*args, **kwargs) if frame is None else read(native, frame, args, kwargs)


def _frame_of_program(frame: FrameType | None, generic: Any) -> FrameType | None:
    """The frame that called the first method of the chain; None where that method has ended, or
    runs in another thread.
    """
    while frame is not None:
        below = named_by(frame.f_code)
        if below is not None and _is_of_first(frame.f_code, below, generic):
            break
        frame = frame.f_back
    frame = None if frame is None else frame.f_back
    while frame is not None and is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def _is_of_first(code: CodeType, below: View, generic: Any) -> bool:
    """Whether code that names a view is that of the chain's first method, and not nested in it."""
    own = None if below.code is None else below.code()
    return below.generic is generic and len(below.chain.passed) == 1 and own is code


# ---- replacements, one for each builtin ---------------------------------------------------


def _variables(frame: FrameType) -> Any:
    """The value of ``locals()`` in a frame."""
    found: Any = frame.f_locals
    copied = LOCALS_ARE_PROXIES and frame.f_code.co_flags & inspect.CO_OPTIMIZED
    return dict(found) if copied else found


def _locals(native: Any, frame: FrameType, args: Any, kwargs: Any) -> Any:
    return native(*args, **kwargs) if args or kwargs else _variables(frame)


def _globals(native: Any, frame: FrameType, args: Any, kwargs: Any) -> Any:
    return native(*args, **kwargs) if args or kwargs else frame.f_globals


def _names(native: Any, frame: FrameType, args: Any, kwargs: Any) -> Any:
    return native(*args, **kwargs) if args or kwargs else sorted(_variables(frame))


def _evaluated(native: Any, frame: FrameType, args: Any, kwargs: Any) -> Any:
    """``eval`` and ``exec``: missing namespaces are taken from the frame."""
    if not args or (not LOCALS_ARE_PROXIES and not {"globals", "locals"}.isdisjoint(kwargs)):
        return native(*args, **kwargs)  # raises the builtin's own error
    given, named = list(args[1:]), dict(kwargs)
    space = given.pop(0) if given else named.pop("globals", None)
    local = given.pop(0) if given else named.pop("locals", None)
    if space is None:
        space = frame.f_globals
        local = _variables(frame) if local is None else local
    elif type(space) is dict:
        space.setdefault("__builtins__", frame.f_builtins)
    spaces = [space] if local is None else [space, local]
    return native(args[0], *spaces, *given, **named)


def _super(native: Any, frame: FrameType, args: Any, kwargs: Any) -> Any:
    if args or kwargs:
        return native(*args, **kwargs)
    # the errors are those of a call without arguments, which reads the frame in this order
    code, variables = frame.f_code, frame.f_locals
    if not code.co_argcount:
        raise RuntimeError("super(): no arguments")
    if code.co_varnames[0] not in variables:
        raise RuntimeError("super(): arg[0] deleted")
    if "__class__" not in code.co_freevars:
        raise RuntimeError("super(): __class__ cell not found")
    if "__class__" not in variables:
        raise RuntimeError("super(): empty __class__ cell")
    return native(variables["__class__"], variables[code.co_varnames[0]])


def _made(native: Any, frame: FrameType, args: Any, kwargs: Any) -> Any:
    """``type(name, bases, namespace)``: the class's module is that of the frame."""
    if len(args) == 3 and isinstance(args[2], dict) and "__name__" in frame.f_globals:
        space: dict[Any, Any] = {**args[2]}
        space.setdefault("__module__", frame.f_globals["__name__"])
        args = (*args[:2], space)
    return native(*args, **kwargs)


def _above(frame: FrameType, depth: Any) -> FrameType | None:
    """The frame so many calls above; None if the stack is not that deep."""
    found: FrameType | None = frame
    for _ in range(depth):
        found = None if found is None else found.f_back
    return found


def _frame(native: Any, frame: FrameType, args: Any, kwargs: Any) -> Any:
    depth = args[0] if args else 0
    if len(args) > 1 or kwargs or not isinstance(depth, int):
        return native(*args, **kwargs)
    found = _above(frame, depth)
    return native(2**31 - 1) if found is None else found  # the error for a stack not as deep


def _module_name(native: Any, frame: FrameType, args: Any, kwargs: Any) -> Any:
    depth = args[0] if args else kwargs.get("depth", 0)
    if not isinstance(depth, int):
        return native(*args, **kwargs)
    found = _above(frame, depth)
    return None if found is None else found.f_globals.get("__name__")


def _warned(native: Any, frame: FrameType, args: Any, kwargs: Any) -> Any:
    """``warnings.warn``: levels are counted from the frame that is given."""
    level = args[2] if len(args) > 2 else kwargs.get("stacklevel", 1)
    if not isinstance(level, int):
        return native(*args, **kwargs)
    here: FrameType | None = natively(sys._getframe)
    level = max(level, 1)
    while here is not None and here is not frame:
        here, level = here.f_back, level + 1
    if len(args) > 2:
        return native(*args[:2], level, *args[3:], **kwargs)
    return native(*args, **{**kwargs, "stacklevel": level})


_FORMS: Final[dict[str, Any]] = {
    **{"locals": _locals, "vars": _locals, "globals": _globals, "dir": _names},
    **{"eval": _evaluated, "exec": _evaluated, "super": _super, "type": _made},
    **{"_getframe": _frame, "_getframemodulename": _module_name, "warn": _warned},
}
_HOLDERS: Final = {**vars(builtins), **vars(sys), **vars(_warnings)}
TARGETS: Final = {name: _HOLDERS[name] for name in _FORMS}
READS: Final = {id(target): (target, _FORMS[name]) for name, target in TARGETS.items()}
# Names by which code calls a function that reads its frame. For type() with one argument, and for
# warnings, the frame is irrelevant.
FRAME_READERS: Final = frozenset({*_FORMS, "breakpoint"} - {"type", "warn"})
