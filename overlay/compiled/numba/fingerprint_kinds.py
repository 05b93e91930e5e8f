"""Fingerprints of numba's own objects, and of the surroundings of compiled code."""

from __future__ import annotations

import functools
import hashlib
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import llvmlite
import numba
import numpy as np
from numba.core import config, types
from numba.core.ccallback import CFunc
from numba.core.dispatcher import Dispatcher
from numba.core.registry import cpu_target
from numba.core.withcontexts import WithContext
from numba.experimental.jitclass.base import JitClassType
from numba.extending import _Intrinsic
from numba.np.ufunc.dufunc import DUFunc
from numba.np.ufunc.gufunc import GUFunc

from overlay.code.digest import Handler, NotHashable
from overlay.compiled.numba.dispatchers import InnerDispatcher
from overlay.compiled.numba.interfaces import callback_of, declared_by
from overlay.compiled.numba.python_entries import EntryDispatcher

__all__ = ["KINDS", "sources", "surroundings"]

HOME: Final = Path(__file__).absolute().parents[2]
# Folders of this package that do not affect compiled code.
BESIDE: Final = {"inspect", "interpretations", "python", "tools"}
FORMAT: Final = 1
# The settings of numba that affect the code it generates.
SETTINGS: Final = (
    "BOUNDSCHECK",
    "DEBUGINFO_DEFAULT",
    "DISABLE_PERFORMANCE_WARNINGS",
    "ENABLE_AVX",
    "FULL_TRACEBACKS",
    "LLVM_PASS_TIMINGS",
    "LLVM_REFPRUNE_FLAGS",
    "LLVM_REFPRUNE_PASS",
    "LOOP_VECTORIZE",
    "OPT",
    "PARFORS_MAX_TUPLE_SIZE",
    "SLP_VECTORIZE",
    "USING_SVML",
)
# Types whose values are functions or belong to a class that numba compiles.
NOT_HASHABLE: Final = (
    types.Callable,
    types.FunctionType,
    types.UndefinedFunctionType,
    types.ClassInstanceType,
    types.Generator,
    types.PyObject,
)


def surroundings() -> tuple[str, ...]:
    """Dependencies of compiled code outside the program."""
    settings = [f"{name}={getattr(config, name, None)!r}" for name in SETTINGS]
    codegen = cpu_target.target_context.codegen()
    return (*_versions(), *map(str, codegen.magic_tuple()), *settings)


@functools.cache
def _versions() -> tuple[str, ...]:
    packages = [numba.__version__, llvmlite.__version__, np.__version__]
    return (
        str(FORMAT),
        platform.python_implementation(),
        sys.version,
        *packages,
        metadata.version("plum-dispatch"),
        _digest_of_ours(),
    )


def _digest_of_ours() -> str:
    """Digest of this package's sources, as far as they affect compiled code."""
    found = hashlib.sha256()
    try:
        for path in sources():
            found.update(str(path).encode() + b"\0" + (HOME / path).read_bytes())
    except OSError:  # in an archive
        return metadata.version("overlay-dispatch")
    return found.hexdigest()


def sources() -> list[Path]:
    """The modules that affect compiled code. Code that interpretations add to it is hashed by
    content, and the other folders run beside it."""
    inside = [folder for folder in HOME.iterdir() if folder.is_dir() and folder.name not in BESIDE]
    found = [*HOME.glob("*.py"), *(path for folder in inside for path in folder.rglob("*.py"))]
    return sorted(path.relative_to(HOME) for path in found)


# ---- handlers of numba's objects ----------------------------------------------------------


def _type(fp: Any, value: types.Type) -> None:
    if isinstance(value, types.Dispatcher):
        _function_type(fp, value.dispatcher)
        return
    if isinstance(value, NOT_HASHABLE):
        raise NotHashable(
            f"the type {value}",
            "does not identify the function or class behind it",
            "refer to functions by name, and pass arrays and numbers as arguments",
        )
    fp.class_named(type(value))
    if isinstance(value, types.Omitted):
        fp.value(value.value)
    else:
        fp.value(value.key)


def _function_type(fp: Any, value: Any) -> None:
    """Add the type of a function that is an argument: the function itself."""
    fp.write("type of a function")
    if not isinstance(value, InnerDispatcher):
        fp.value(value)
    elif value.chain is None:
        fp.value(value.function)
    else:
        raise NotHashable(
            "a method's body as an argument", "cannot be compared", "pass its target instead"
        )


def _dispatcher(fp: Any, value: Dispatcher) -> None:
    fp.write("dispatcher")
    declared = declared_by(value)
    fp.value(sorted(value.targetoptions.items()))
    fp.value(declared.key())
    # one that numba inlines is not compiled by itself
    fp.function(value.py_func, enters="inline" in value.targetoptions)


def _entry(fp: Any, value: EntryDispatcher) -> None:
    fp.write("entry")
    fp.value(sorted(value.options.items()))
    fp.value(value.function)
    fp.context(value.engine.context)


def _vectorized(fp: Any, value: DUFunc) -> None:
    inner = value._dispatcher
    signatures = [str(code.signature) for code in inner.overloads.values()]
    fp.write("vectorize", repr(value.identity), int(value.reorderable), int(value._frozen))
    fp.value(signatures if value._frozen else ())
    fp.value(sorted(inner.targetoptions.items()))
    fp.function(inner.py_func, enters=True)


def _generalized(fp: Any, value: GUFunc) -> None:
    states = value._reduce_states()
    fp.write("guvectorize", *(repr(states[n]) for n in ("signature", "identity", "is_dynamic")))
    fp.value([str(sig) for sig in states.get("typesigs") or ()])
    fp.value(sorted(states["targetoptions"].items()))
    fp.function(states["py_func"], enters=True)


def _callback(fp: Any, value: CFunc) -> None:
    fp.write("cfunc")
    _dispatcher(fp, callback_of(value))


def _intrinsic(fp: Any, value: _Intrinsic) -> None:
    fp.write("intrinsic", int(value._prefer_literal))
    fp.function(value._defn, deep=True)


def _jitclass(fp: Any, value: type) -> None:
    raise fp.not_hashable(value, "is a jitclass")


KINDS: Final[dict[type, Handler]] = {
    EntryDispatcher: _entry,
    Dispatcher: _dispatcher,
    DUFunc: _vectorized,
    GUFunc: _generalized,
    CFunc: _callback,
    _Intrinsic: _intrinsic,
    JitClassType: _jitclass,
    WithContext: lambda fp, v: fp.class_named(type(v)),
    types.Type: _type,
}
