"""Locations in the user's files, for messages."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

from overlay.core.own_builtins import __builtins__
from overlay.core.short_repr import named_value

__all__ = [
    "PACKAGES",
    "RULES",
    "brief",
    "caller",
    "caller_frame",
    "home_of",
    "is_ours",
    "location_of",
    "name_of",
    "shown",
    "unwrapped",
]

_HOME = str(Path(__file__).absolute().parents[2])
PACKAGES: Final = tuple(
    os.path.join(_HOME, name) + os.sep for name in ("overlay", "primitives", "inversion")
)
"""The folders of this distribution's packages."""
RULES: Final = tuple(
    os.path.join(_HOME, "overlay", *names) + os.sep
    for names in (
        ("catalogue",),
        *(("interpretations", name) for name in ("autodiff", "intervals", "batching")),
    )
)
"""The folders of the rules of interpretations."""
# treated as the user's code: libraries on the public API, and calls that are tried
_LIBRARIES = (
    os.path.join(_HOME, "overlay", "interpretations") + os.sep,
    os.path.join(_HOME, "overlay", "plugins", "attempts.py"),
)


def is_ours(path: str) -> bool:
    """Whether a code object's file belongs to this distribution's packages, without the libraries
    of ``overlay.interpretations``, which are treated as the user's code.
    """
    return path.startswith(PACKAGES) and not path.startswith(_LIBRARIES)


def shown(path: str, line: int | None) -> str:
    """``file:line``, relative to the working directory for files in it; for a notebook's cell its
    number, as in ``In[3]:5``.
    """
    cell = _cell(path)
    if cell is not None:
        path = cell
    elif os.path.isabs(path) and (folder := _working_folder()) is not None:
        relative = os.path.relpath(path, folder)
        path = path if relative.startswith(os.pardir) else relative
    return path if line is None else f"{path}:{line}"


_getcwd = os.getcwd  # a program may replace that of os


def _working_folder() -> str | None:
    """The working directory; None where it was removed."""
    try:
        return _getcwd()
    except OSError:
        return None


def _cell(path: str) -> str | None:
    """The number of the IPython cell that was compiled under this file name; None for others."""
    ipython: Any = sys.modules.get("IPython")
    shell: Any = None if ipython is None else ipython.get_ipython()
    named = None if shell is None else shell.compile.format_code_name(path)
    return None if named is None else named[1]


def brief(where: str) -> str:
    """A location relative to its folder of ``sys.path``: ``statistics.py:12``."""
    here = _working_folder() or ""
    paths = (os.path.normpath(os.path.join(here, folder)) for folder in sys.path)
    folders = (os.path.join(path, "") for path in paths)
    holding = [folder for folder in folders if where.startswith(folder)]
    return where[len(max(holding, key=len, default="")) :]


def location_of(thing: object) -> str:
    """``file:line`` of a callable's definition, or its module where it has no Python code."""
    function = unwrapped(getattr(thing, "py_func", thing))[-1]
    code = getattr(function, "__code__", None)
    if isinstance(code, CodeType):
        return shown(code.co_filename, code.co_firstlineno)
    return home_of(function) or type(function).__name__


def unwrapped(function: Any) -> list[Any]:
    """A function, and those that it wraps, from the outermost in: wrappers are those of
    ``functools.wraps``, and partials.

    An object with a ``__getattr__`` that answers to any name wraps nothing, and a function that
    wraps itself is listed once.
    """
    found: list[Any] = []
    while not any(function is each for each in found):
        found.append(function)
        # a partial may have been given the name of another function
        if inspect.getattr_static(function, "__wrapped__", None) is not None:
            function = getattr(function, "__wrapped__", None) or function
        elif type(function) is functools.partial:
            function = function.func
    return found


def home_of(thing: object) -> str | None:
    """The name of a callable's module, or of its outermost package that has the callable too.
    (Some functions of ``math`` are defined in ``math.integer`` from Python 3.15 on.)
    """
    module, name = getattr(thing, "__module__", None), getattr(thing, "__name__", "")
    if not isinstance(module, str):
        return None
    if not isinstance(name, str):  # of an object that answers to any name
        return module
    outer = module.rpartition(".")[0]
    while outer and getattr(sys.modules.get(outer), name, None) is thing:
        module, outer = outer, outer.rpartition(".")[0]
    return module


def caller_frame() -> FrameType | None:
    """The innermost frame outside this distribution's packages."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGES):
        frame = frame.f_back
    return frame


def caller() -> str | None:
    """``file:line`` of the innermost frame outside this distribution's packages."""
    frame = caller_frame()
    return None if frame is None else shown(frame.f_code.co_filename, frame.f_lineno)


def name_of(thing: object) -> str:
    """A callable's name as a reader would write it."""
    if isinstance(thing, str):
        return thing
    name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None)
    if name is None and type(thing) is functools.partial:
        given = [*map(repr, thing.args), *(f"{k}={v!r}" for k, v in thing.keywords.items())]
        return f"partial({', '.join([name_of(thing.func), *given])})"
    if isinstance(name, str):
        return name
    return repr(thing) if callable(thing) else named_value(thing)
