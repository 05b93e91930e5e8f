"""The chain of calls that an exception leaves, in compiled code that enters methods.

An exception that leaves a call which may have entered a method records the location of that call.
The code for it is on the error path alone; calls that reach no method are compiled as numba does.
"""

from __future__ import annotations

import ctypes
import operator
import re
from typing import Any, Final

from llvmlite import binding
from llvmlite import ir as llvm
from numba.core import cgutils, ir, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.imputils import fix_returning_optional, impl_ret_new_ref
from numba.core.registry import cpu_target
from numba.extending import lower_builtin, models, register_model

from overlay.compiled.traces import TracePlace, note

__all__ = ["DivisionType", "is_division", "leave_places", "name_places", "note_call"]

SYMBOL: Final = "overlay_note_call"
CALLBACK: Final = "overlay_note_call_in_python"
_CALLBACK: Final = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(note)
_TEXT: Final = llvm.IntType(8).as_pointer()
_CODE: Final = llvm.IntType(32)
# Status of a compiled function that raises an exception of the program; numba's own exceptions have
# been raised in Python by then.
FIRST_EXCEPTION: Final = 1
# Status of a function that returns a result, or None.
RESULTS: Final = {"0", "-2"}
RETURNED: Final = re.compile(r"^ *ret i32 ([^,\s]+)", re.MULTILINE)


@global_compiler_lock
def _make_symbol() -> Any:
    """Define the function that records calls; its arguments are a text and a status."""
    binding.add_symbol(CALLBACK, ctypes.cast(_CALLBACK, ctypes.c_void_p).value)
    library = cpu_target.target_context.codegen().create_library(SYMBOL)
    module = library.create_ir_module(SYMBOL)
    function = llvm.Function(module, llvm.FunctionType(llvm.VoidType(), (_TEXT, _CODE)), SYMBOL)
    callback = llvm.Function(module, llvm.FunctionType(llvm.VoidType(), (_TEXT,)), CALLBACK)
    text, code = function.args
    builder = llvm.IRBuilder(function.append_basic_block())
    first = llvm.Constant(_CODE, FIRST_EXCEPTION)
    with builder.if_then(builder.icmp_signed(">=", code, first)):
        builder.call(callback, (text,))
    builder.ret_void()
    library.add_ir_module(module)
    library.finalize()
    binding.add_symbol(SYMBOL, library.get_pointer_to_function(SYMBOL))
    return library


_LIBRARY: Final = _make_symbol()


def leave_places(code: Any, callee: TracePlace, caller_of: Any) -> None:
    """Make calls of this compiled function record their locations when it raises.

    caller_of: returns the function being compiled.
    """
    definitions = cpu_target.target_context._defns
    if not _may_raise(code):
        return
    if definitions.pop(code.entry_point, None) is not None:
        implementation = _implementation(code, callee, caller_of)
        definitions[code.entry_point].append(implementation, implementation.signature)


def _may_raise(code: Any) -> bool:
    """Whether a compiled function may return without a result."""
    try:
        function = code.library.get_function(code.fndesc.llvm_func_name)
    except NameError:
        return True  # it is machine code from disk
    return not RESULTS.issuperset(RETURNED.findall(str(function)))


def _implementation(code: Any, callee: TracePlace, caller_of: Any) -> Any:
    """Implementation of a call, like numba's own ``user_function`` with a record added."""
    fndesc = code.fndesc

    def call(context: Any, builder: Any, sig: Any, args: Any, loc: Any = None) -> Any:
        function = context.declare_function(builder.module, fndesc)
        status, value = context.call_conv.call_function(
            builder, function, fndesc.restype, fndesc.argtypes, args
        )
        with cgutils.if_unlikely(builder, status.is_error):
            note_call(context, builder, status, caller_of(), loc, callee)
            context.call_conv.return_status_propagate(builder, status)
        value = fix_returning_optional(context, builder, sig, status, value)
        return impl_ret_new_ref(context, builder, fndesc.restype, value)

    call.signature = fndesc.argtypes
    call.libs = (code.library,)
    return call


def note_call(
    context: Any, builder: Any, status: Any, caller: TracePlace | None, loc: Any, callee: TracePlace
) -> None:
    """Record the location of a call that an exception leaves; status: of the call, None where it
    raised an exception of the program."""
    if caller is not None and loc is not None:
        code = llvm.Constant(_CODE, FIRST_EXCEPTION) if status is None else status.code
        _write_note(context, builder, caller._replace(line=loc.line), callee, code)


def _write_note(
    context: Any, builder: Any, caller: TracePlace, callee: TracePlace, code: Any
) -> None:
    text = context.insert_const_string(builder.module, TracePlace.joined(caller, callee))
    kind = llvm.FunctionType(llvm.VoidType(), (text.type, code.type))
    builder.call(cgutils.get_or_insert_function(builder.module, kind, SYMBOL), (text, code))


class _Named(ir.Loc):
    """A location that knows its function; numba looks it up in the source."""

    name = ""

    def _raw_function_name(self) -> str:
        return self.name


def name_places(func_ir: Any) -> None:
    """Add the function's name to the errors that numba's own operations raise in it."""
    made: dict[Any, _Named] = {}
    for block in func_ir.blocks.values():
        for statement in block.body:
            loc = statement.loc
            named = made.get((loc.line, loc.col))
            if named is None:
                named = _Named(loc.filename, loc.line, loc.col, loc.maybe_decorator)
                named.name = func_ir.func_id.func_name
                made[loc.line, loc.col] = named
            statement.loc = named


# ---- divisions of numbers -----------------------------------------------------------------


class DivisionType(types.Callable, types.Opaque):
    """The type of a division of numbers that records its location when it raises."""

    def __init__(self, function: Any) -> None:
        self.function = function
        super().__init__(f"division({function.__name__})")

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        return context.resolve_function_type(self.function, args, kws)

    def get_call_signatures(self) -> Any:
        return (), True

    def get_impl_key(self, sig: Any) -> Any:
        return next(marker for function, marker in MARKERS if function is self.function)


register_model(DivisionType)(models.OpaqueModel)


def _marker(function: Any) -> Any:
    """The key of the implementation of a division."""

    def marker() -> None:
        pass

    @lower_builtin(marker, types.Number, types.Number)
    def divide(context: Any, builder: Any, sig: Any, args: Any, loc: Any = None) -> Any:
        implementation = context.get_function(function, sig)
        model = context.error_model
        context.error_model = _Located(model, loc)
        try:
            return implementation(builder, args)
        finally:
            context.error_model = model

    return marker


class _Located:
    """numba's error model, with the location of the operation where numba does not pass it."""

    def __init__(self, model: Any, loc: Any) -> None:
        self._model = model
        self._loc = loc

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def fp_zero_division(self, builder: Any, exc_args: Any = None, loc: Any = None) -> Any:
        return self._model.fp_zero_division(builder, exc_args, loc or self._loc)


MARKERS: Final = [(fn, _marker(fn)) for fn in (operator.truediv, operator.floordiv, operator.mod)]


def is_division(function: Any) -> bool:
    """Whether a function is an operator on numbers that may raise."""
    return any(function is each for each, _ in MARKERS)
