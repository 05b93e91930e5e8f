"""Exceptions in the threads of a parallel loop: the function that has the loop raises the first.

numba sets the exception in the thread that runs the part of the loop, and continues: in another
thread than the caller's it is lost. Loops that two threads of the program run at once share the
exceptions: one of the two raises.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Final

from llvmlite import binding
from llvmlite import ir as llvm
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.np.ufunc.wrappers import _GufuncWrapper
from numba.parfors import parfor_lowering

from overlay.compiled.glue import GLUE
from overlay.compiled.traces import TracePlace, explain

__all__ = ["thread_errors_raised"]

_TEXT: Final = llvm.IntType(8).as_pointer()
_WORD: Final = llvm.IntType(64)
_NOWHERE: Final = TracePlace("", GLUE, 0)
# The exceptions that ended loops have raised, until their callers raise them, and their number,
# which compiled code reads.
_raised: Final[list[BaseException]] = []
_COUNT: Final = ctypes.c_uint64(0)
_LOCK: Final = threading.Lock()


def _keep(error: BaseException) -> None:
    """Keep the exception of a part of a loop, with the calls that it has left in this thread."""
    explain(error, _NOWHERE)
    with _LOCK:
        _raised.append(error)
        _COUNT.value = len(_raised)


def _take() -> Any:
    """The first exception that was kept; the others of the loop are dropped."""
    with _LOCK:
        kept = [*_raised, RuntimeError("a parallel loop raised an exception, which another took")]
        _raised.clear()
        _COUNT.value = 0
    return kept[0]


_CALLBACKS: Final = {
    "overlay_keep_error": ctypes.PYFUNCTYPE(None, ctypes.py_object)(_keep),
    "overlay_take_error": ctypes.PYFUNCTYPE(ctypes.py_object)(_take),
}
_COUNTING: Final = "overlay_errors_kept"


@global_compiler_lock
def _make_symbols() -> Any:
    """Define the functions that compiled code calls, by name: code on disk has no addresses."""
    library = cpu_target.target_context.codegen().create_library(_COUNTING)
    module = library.create_ir_module(_COUNTING)
    counting = llvm.Function(module, llvm.FunctionType(_WORD, ()), _COUNTING)
    builder = llvm.IRBuilder(counting.append_basic_block())
    count = llvm.Constant(_WORD, ctypes.addressof(_COUNT)).inttoptr(_WORD.as_pointer())
    builder.ret(builder.load(count))
    library.add_ir_module(module)
    library.finalize()
    binding.add_symbol(_COUNTING, library.get_pointer_to_function(_COUNTING))
    for name, callback in _CALLBACKS.items():
        binding.add_symbol(name, ctypes.cast(callback, ctypes.c_void_p).value)
    return library


_LIBRARY: Final = _make_symbols()


@contextmanager
def thread_errors_raised() -> Generator[None]:
    """Have the parallel loops that are lowered in the block raise the exceptions of their threads.
    Needs numba's lock."""
    before = _GufuncWrapper.gen_loop_body, parfor_lowering.call_parallel_gufunc
    call = before[1]

    def call_loop(lowerer: Any, *args: Any) -> Any:
        found = call(lowerer, *args)
        _raise_kept(lowerer)
        return found

    _GufuncWrapper.gen_loop_body, parfor_lowering.call_parallel_gufunc = _loop_body, call_loop
    try:
        yield
    finally:
        _GufuncWrapper.gen_loop_body, parfor_lowering.call_parallel_gufunc = before


def _loop_body(self: Any, builder: Any, pyapi: Any, func: Any, args: Any) -> Any:
    """``_GufuncWrapper.gen_loop_body``, which keeps the exception that it raises."""
    types = self.signature.return_type, self.signature.args
    status, _ = self.call_conv.call_function(builder, func, *types, args)
    with builder.if_then(status.is_error, likely=False):
        gil = pyapi.gil_ensure()
        self.context.call_conv.raise_error(builder, pyapi, status)
        error = _call(builder, "PyErr_GetRaisedException", _TEXT)
        _call(builder, "overlay_keep_error", llvm.VoidType(), error)
        pyapi.decref(error)
        pyapi.gil_release(gil)
    return status.code, status.is_error


def _raise_kept(lowerer: Any) -> None:
    """Raise the exception of a loop that has ended, if there is one, in the function of the
    loop."""
    builder = lowerer.builder
    count = _call(builder, _COUNTING, _WORD)
    some = builder.icmp_unsigned("!=", count, llvm.Constant(_WORD, 0))
    with builder.if_then(some, likely=False):
        pyapi = lowerer.context.get_python_api(builder)
        gil = pyapi.gil_ensure()
        error = _call(builder, "overlay_take_error", _TEXT)
        _call(builder, "PyErr_SetRaisedException", llvm.VoidType(), error)
        pyapi.gil_release(gil)
        lowerer.context.call_conv.return_exc(builder)


def _call(builder: Any, name: str, result: Any, *args: Any) -> Any:
    kind = llvm.FunctionType(result, [arg.type for arg in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)
