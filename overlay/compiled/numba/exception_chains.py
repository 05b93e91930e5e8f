"""The chain of calls that an exception leaves, in compiled code.

An exception that leaves a call of a function that may raise records the location of that call.
The code for it is on the error path only; functions that call nothing that raises are compiled as
by numba. An exception that numba's own operations raise in a function is given the location of
the operation. Loops over elements raise the exceptions of the function of an element.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from types import CodeType
from typing import Any, Final

from llvmlite import binding
from llvmlite import ir as llvm
from numba.core import cgutils, inline_closurecall, ir
from numba.core.callconv import CPUCallConv
from numba.core.compiler_lock import global_compiler_lock
from numba.core.inline_closurecall import InlineWorker
from numba.core.registry import cpu_target
from numba.core.unsafe import eh
from numba.np.npyimpl import _Kernel

from overlay.compiled.traces import NOTED, TracePlace, forget, note

__all__ = [
    "TracedCalls",
    "element_errors_raised",
    "forget_callee",
    "handler_of",
    "inlined_calls_known",
    "record_callee",
]

SYMBOL: Final = "overlay_note_call"
FORGET: Final = "overlay_forget_calls"
_IN_PYTHON: Final = "_in_python"
_NOTE: Final = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(note)
_FORGET: Final = ctypes.CFUNCTYPE(None)(forget)
_TEXT: Final = llvm.IntType(8).as_pointer()
_CODE: Final = llvm.IntType(32)
_WORD: Final = llvm.IntType(64)
_BIT: Final = llvm.IntType(1)
# Status of a compiled function that raises an exception of the program, and of one that leaves an
# exception which Python code has raised.
FIRST_EXCEPTION: Final = 1
OF_PYTHON: Final = -1
# Status of a function that returns a result, or None.
RESULTS: Final = {"0", "-2"}
RETURNED: Final = re.compile(r"^ *ret i32 ([^,\s]+)", re.MULTILINE)

_OF_TRY: Final = (eh.exception_check, eh.mark_try_block, eh.end_try_block)


@global_compiler_lock
def _make_symbols() -> Any:
    """Define the functions that compiled code calls: one records a call, given as a text, that an
    exception with this status leaves; one drops what was recorded, where an exception is caught."""
    library = cpu_target.target_context.codegen().create_library(SYMBOL)
    module = library.create_ir_module(SYMBOL)

    def in_python(name: str, function: Any, *args: Any) -> Any:
        binding.add_symbol(name + _IN_PYTHON, ctypes.cast(function, ctypes.c_void_p).value)
        kind = llvm.FunctionType(llvm.VoidType(), args)
        return llvm.Function(module, kind, name + _IN_PYTHON)

    noting = llvm.Function(module, llvm.FunctionType(llvm.VoidType(), (_TEXT, _CODE)), SYMBOL)
    text, code = noting.args
    builder = llvm.IRBuilder(noting.append_basic_block())
    callback = in_python(SYMBOL, _NOTE, _TEXT)
    with builder.if_then(builder.icmp_signed(">=", code, llvm.Constant(_CODE, FIRST_EXCEPTION))):
        builder.call(callback, (text,))
    with builder.if_then(builder.icmp_signed("==", code, llvm.Constant(_CODE, OF_PYTHON))):
        _call_aside(module, builder, callback, text)
    builder.ret_void()

    forgetting = llvm.Function(module, llvm.FunctionType(llvm.VoidType(), ()), FORGET)
    builder = llvm.IRBuilder(forgetting.append_basic_block())
    count = llvm.Constant(_WORD, ctypes.addressof(NOTED)).inttoptr(_WORD.as_pointer())
    some = builder.icmp_unsigned("!=", builder.load(count), llvm.Constant(_WORD, 0))
    with builder.if_then(some, likely=False):
        builder.call(in_python(FORGET, _FORGET), ())
    builder.ret_void()

    library.add_ir_module(module)
    library.finalize()
    for name in (SYMBOL, FORGET):
        binding.add_symbol(name, library.get_pointer_to_function(name))
    return library


def _call_aside(module: Any, builder: Any, callback: Any, text: Any) -> None:
    """Call Python while an exception of Python is set, which stays set."""

    def of_python(name: str, result: Any, *args: Any) -> Any:
        return llvm.Function(module, llvm.FunctionType(result, args), name)

    # the code may run without the GIL
    held = builder.call(of_python("PyGILState_Ensure", _CODE), ())
    error = builder.call(of_python("PyErr_GetRaisedException", _TEXT), ())
    builder.call(callback, (text,))
    builder.call(of_python("PyErr_SetRaisedException", llvm.VoidType(), _TEXT), (error,))
    builder.call(of_python("PyGILState_Release", llvm.VoidType(), _CODE), (held,))


_LIBRARY: Final = _make_symbols()

# The first lines of the functions with these symbols in LLVM; None for those that cannot raise.
_callees: Final[dict[str, TracePlace | None]] = {}


def record_callee(code: Any, place: TracePlace) -> None:
    """Register a function of compiled code, for the calls of it."""
    _callees[code.fndesc.llvm_func_name] = place if _may_raise(code) else None


def forget_callee(symbol: str) -> None:
    """Release the records about code that is gone."""
    _callees.pop(symbol, None)


def _may_raise(code: Any) -> bool:
    """Whether a compiled function may return without a result."""
    try:
        function = code.library.get_function(code.fndesc.llvm_func_name)
    except NameError:
        return True  # it is machine code from disk
    return not RESULTS.issuperset(RETURNED.findall(str(function)))


class _Named(ir.Loc):
    """A location that knows its function; numba looks it up in the source."""

    def __init__(self, place: TracePlace) -> None:
        super().__init__(place.path, place.line)
        self._name = place.name

    def _raw_function_name(self) -> str:
        return self._name


class TracedCalls(CPUCallConv):
    """numba's calling convention, for the code of one function of the program.

    lower: lowers it. first: its first line.
    """

    def __init__(self, context: Any, lower: Any, first: TracePlace) -> None:
        super().__init__(context)
        self._lower: Any = lower
        self._first = first
        self._symbol: str = lower.fndesc.llvm_func_name
        # by the identity of a status' code, with the code: the function that has returned it
        self._callees: dict[int, tuple[Any, TracePlace | None, bool]] = {}

    def end(self) -> None:
        """Release the function: numba keeps the context with code of its own."""
        self._lower = None
        self._callees.clear()

    def _places(self, builder: Any, loc: Any = None) -> list[TracePlace]:
        """The line that is lowered, innermost first where the code was inlined; nothing for an
        implementation of numba's own that the function uses."""
        lower = self._lower
        if lower is None or builder.module is not lower.module:
            return []
        loc = lower.loc if loc is None else loc
        found: list[TracePlace] = []
        while isinstance(loc, InlinedLoc):
            found.append(loc.place)
            loc = loc.outer
        return [*found, self._first._replace(line=loc.line)] if isinstance(loc, ir.Loc) else []

    # ---- exceptions that are raised here ----

    def set_static_user_exc(
        self, builder: Any, exc: Any, exc_args: Any = None, loc: Any = None, func_name: Any = None
    ) -> None:
        loc = self._named(builder, loc)
        super().set_static_user_exc(builder, exc, exc_args, loc, func_name)

    def set_dynamic_user_exc(
        self,
        builder: Any,
        exc: Any,
        exc_args: Any,
        nb_types: Any,
        loc: Any = None,
        func_name: Any = None,
    ) -> None:
        loc = self._named(builder, loc)
        super().set_dynamic_user_exc(builder, exc, exc_args, nb_types, loc, func_name)

    def return_user_exc(
        self, builder: Any, exc: Any, exc_args: Any = None, loc: Any = None, func_name: Any = None
    ) -> None:
        if not getattr(builder, "_in_try_block", False):
            self._note_inlined(builder, loc)
        super().return_user_exc(builder, exc, exc_args, loc, func_name)

    def return_dynamic_user_exc(
        self,
        builder: Any,
        exc: Any,
        exc_args: Any,
        nb_types: Any,
        loc: Any = None,
        func_name: Any = None,
    ) -> None:
        self._note_inlined(builder, loc)
        super().return_dynamic_user_exc(builder, exc, exc_args, nb_types, loc, func_name)

    def _note_inlined(self, builder: Any, loc: Any) -> None:
        """Record the calls in whose place code was inlined that raises here."""
        places = self._places(builder, loc)
        self._note(builder, places[1:], places[:1], llvm.Constant(_CODE, FIRST_EXCEPTION))

    def _named(self, builder: Any, loc: Any) -> Any:
        places = self._places(builder, loc)
        return _Named(places[0]) if places else loc

    def return_passed(self, builder: Any, exc: Any, callee: TracePlace) -> None:
        """Raise an exception that has come from Python, in a call of this function."""
        places = self._places(builder)
        self._note(builder, places, [callee], llvm.Constant(_CODE, FIRST_EXCEPTION))
        lower, self._lower = self._lower, None  # its traceback is complete
        self.return_user_exc(builder, exc)
        self._lower = lower

    def return_exc(self, builder: Any) -> None:
        places = self._places(builder)
        self._note(builder, places, [None], llvm.Constant(_CODE, OF_PYTHON))
        super().return_exc(builder)

    # ---- exceptions that leave a call ----

    def call_function(self, builder: Any, callee: Any, *args: Any, **kwargs: Any) -> Any:
        status, value = super().call_function(builder, callee, *args, **kwargs)
        name = getattr(callee, "name", None)
        if name == self._symbol:
            self.enters(status, self._first)
        elif name in _callees:
            self.enters(status, _callees[name])
        return status, value

    def enters(self, status: Any, callee: TracePlace | None) -> None:
        """Record which function has returned a status; None for one that cannot raise."""
        self._callees[id(status.code)] = status.code, callee, callee is not None

    def return_status_propagate(self, builder: Any, status: Any) -> None:
        _, callee, may_raise = self._callees.get(id(status.code), (None, None, True))
        places = self._places(builder)
        if not (may_raise and places):
            super().return_status_propagate(builder, status)
            return
        builder.store(status.excinfoptr, self._get_excinfo_argument(builder.function))
        if self._may_be_caught(builder):
            kind = llvm.FunctionType(llvm.VoidType(), ())
            builder.call(cgutils.get_or_insert_function(builder.module, kind, FORGET), ())
        else:
            self._leave(builder, places, callee, status.code)
            builder.position_at_end(builder.append_basic_block("left"))

    def check_try_status(self, builder: Any) -> Any:
        # numba counts the blocks that are entered: it still counts one whose handler has run, and
        # not the one around that
        found = super().check_try_status(builder)
        return found._replace(in_try=llvm.Constant(_BIT, int(self._may_be_caught(builder))))

    def _may_be_caught(self, builder: Any) -> bool:
        """True if the code that is lowered is inside ``try``."""
        # wrappers are written without a lowering, by numba
        loc = None if self._lower is None else self._lower.loc
        found = bool(getattr(builder, "_in_try_block", None))
        while isinstance(loc, InlinedLoc) and not found:
            found, loc = loc.is_tried, loc.outer
        return found

    def _leave(
        self, builder: Any, places: list[TracePlace], callee: TracePlace | None, code: Any
    ) -> None:
        self._note(builder, places, [callee], code)
        self._return_errcode_raw(builder, code)

    def _note(
        self,
        builder: Any,
        places: list[TracePlace],
        callee: Sequence[TracePlace | None],
        code: Any,
    ) -> None:
        """Record the location of a call, innermost first. callee: the function that was called, or
        None where it is not known."""
        for caller, called in zip(places, [*callee, *places], strict=False):
            text = TracePlace.joined(caller, called)
            constant = self.context.insert_const_string(builder.module, text)
            kind = llvm.FunctionType(llvm.VoidType(), (constant.type, code.type))
            function = cgutils.get_or_insert_function(builder.module, kind, SYMBOL)
            builder.call(function, (constant, code))


# ---- handlers -----------------------------------------------------------------------------


def handler_of(blocks: Any, block: Any) -> int | None:
    """The label of the handler of exceptions of a block that ends in a branch of the program, as
    the blocks before it have it, in which numba tests for exceptions; None for a block that is in
    no ``try``, and for one with a test of its own."""
    if any(_of_try(block)) or not isinstance(block.terminator, ir.Branch):
        return None
    after = [label for label, each in blocks.items() if each is block]
    seen = set(after)
    while after:
        label = after.pop()
        for before, each in blocks.items():
            end, called = each.terminator, _of_try(each)
            if label not in end.get_targets() or before in seen:
                continue
            if called[-1:] == [eh.exception_check] and end.falsebr == label:
                return end.truebr
            if not called:
                seen.add(before)
                after.append(before)
    return None


def _of_try(block: Any) -> list[Any]:
    """numba's functions for ``try`` that a block calls, in order."""
    values = (each.value for each in block.body if isinstance(each, ir.Assign))
    found = [value.value for value in values if isinstance(value, ir.Global)]
    return [each for each in found if any(each is one for one in _OF_TRY)]


# ---- functions of elements ----------------------------------------------------------------


@contextmanager
def element_errors_raised() -> Generator[None]:
    """Have the loops over elements that numba compiles in the block, those of ``vectorize`` and
    ``guvectorize``, raise what the function of an element raises; numba drops it. Needs numba's
    lock."""
    generate = _Kernel.generate
    _Kernel.generate = _called
    try:
        yield
    finally:
        _Kernel.generate = generate


def _called(self: Any, *args: Any) -> Any:
    """The result of the function of an element, converted: ``_Kernel.generate``, with a check of
    what the function returns."""
    context, inner, outer = self.context, self.inner_sig, self.outer_sig
    given = [self.cast(*each) for each in zip(args, outer.args, inner.args, strict=True)]
    function = context.declare_function(self.builder.module, self.cres.fndesc)
    function.attributes.add("alwaysinline")
    found = context.call_internal(self.builder, self.cres.fndesc, inner, given)
    return self.cast(found, inner.return_type, outer.return_type)


# ---- code that is inlined -----------------------------------------------------------------


class InlinedLoc(ir.Loc):
    """A location in code that was inlined in the place of a call.

    place: the line, in the function that was called. outer: the location of the call. is_tried:
    whether the call is inside ``try``.
    """

    place: TracePlace
    outer: Any
    is_tried = False

    @classmethod
    def of(cls, loc: Any, function: TracePlace, call: Any, *, is_tried: bool) -> InlinedLoc:
        """A location in a function, inlined in the place of a call."""
        made = cls(loc.filename, loc.line, loc.col)
        if isinstance(loc, InlinedLoc):  # in a function that was inlined in this one before
            outer = cls.of(loc.outer, function, call, is_tried=is_tried)
            made.place, made.outer, made.is_tried = loc.place, outer, loc.is_tried
        else:
            place = function._replace(line=loc.line)
            made.place, made.outer, made.is_tried = place, call, is_tried
        return made


@contextmanager
def inlined_calls_known() -> Generator[None]:
    """Make the code that numba inlines in the block keep the locations of the calls. numba
    compiles in one thread at a time.
    """
    closure, function = inline_closurecall.inline_closure_call, InlineWorker.inline_ir

    def inline_closure(
        func_ir: Any, glbls: Any, block: Any, i: int, callee: Any, *a: Any, **k: Any
    ):
        code = getattr(callee, "code", None) or callee.__code__
        with _kept(func_ir, block, i, code):
            return closure(func_ir, glbls, block, i, callee, *a, **k)

    def inline_ir(
        self: Any, caller_ir: Any, block: Any, i: int, callee_ir: Any, *a: Any, **k: Any
    ) -> Any:
        with _kept(caller_ir, block, i, callee_ir.func_id.code):
            return function(self, caller_ir, block, i, callee_ir, *a, **k)

    inline_closurecall.inline_closure_call, InlineWorker.inline_ir = inline_closure, inline_ir
    try:
        yield
    finally:
        inline_closurecall.inline_closure_call, InlineWorker.inline_ir = closure, function


@contextmanager
def _kept(func_ir: Any, block: Any, i: int, code: CodeType) -> Generator[None]:
    """Make the code that is inlined in the block in the place of a call keep its location."""
    own, call = {id(each): each for b in func_ir.blocks.values() for each in b.body}, block.body[i]
    is_tried = any(map(_is_check, block.body[i:]))
    yield
    first = TracePlace(code.co_name, code.co_filename, code.co_firstlineno)
    for each in func_ir.blocks.values():
        for statement in each.body:
            if id(statement) not in own and statement.loc is not call.loc:
                statement.loc = InlinedLoc.of(statement.loc, first, call.loc, is_tried=is_tried)


def _is_check(statement: Any) -> bool:
    """Whether a statement is numba's test for an exception, which stands at the end of each block
    inside ``try``."""
    value = getattr(statement, "value", None)
    return isinstance(value, ir.Global) and value.value is eh.exception_check
