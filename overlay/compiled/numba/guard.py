"""Guards: functions that Python calls in front of compiled code.

A guard compares the words of memory from ``watching`` with their expected content, which takes
about a nanosecond each, and calls the compiled code; where one differs it calls Python. Python also
receives exceptions that leave the compiled code, to add the chain of calls to the traceback.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from llvmlite import ir as llvm
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from overlay.compiled.numba.first_class import (
    as_given,
    as_returned,
    gives_functions,
    holds_functions,
)
from overlay.compiled.sharing import functions_made
from overlay.compiled.traces import TracePlace, explain
from overlay.compiled.watching import ALWAYS, Word
from overlay.core.table import LOCK

if TYPE_CHECKING:
    from overlay.compiled.numba.numba_types import Type
    from overlay.compiled.numba.python_entries import EntryDispatcher
    from overlay.compiled.world import World

__all__ = ["EntryGuards", "Guard", "RetiredCode", "compare"]

_WORD = llvm.IntType(64)
_POINTER = llvm.IntType(8).as_pointer()
_START_OF_BYTES = bytes.__basicsize__ - 1  # without the zero at the end
_WRAPPER = llvm.FunctionType(_POINTER, (_POINTER, _POINTER, _POINTER))


class _Pair(ctypes.Structure):
    _fields_ = (("address", ctypes.c_uint64), ("expected", ctypes.c_uint64))


class _Record(ctypes.Structure):
    """Input of the machine code. All fields are words of eight bytes."""

    _fields_ = (
        ("compiled", ctypes.c_void_p),
        ("closure", ctypes.c_void_p),
        ("count", ctypes.c_int64),
        ("pairs", ctypes.c_void_p),
        ("stale", ctypes.c_void_p),
        ("failed", ctypes.c_void_p),
        ("passed", ctypes.c_void_p),
    )


class _CallCounts(ctypes.Structure):
    """Calls of guards, counted by their machine code, which runs under the GIL at the beginning and
    the end of a call. running: those that have not ended. ends: how often the last one ended."""

    _fields_ = (("running", ctypes.c_uint64), ("ends", ctypes.c_uint64))


_calls: Final = _CallCounts()


class RetiredCode:
    """Compiled code that no new call reaches: its guards are retired.

    Calls that were running when it was retired may still be in it. A guard counts each, whatever
    thread it is in, so that none is left once there was a moment at which no guard was running.
    functions: the number of functions compiled in it.
    """

    def __init__(self, held: list[Any], guards: list[Guard], functions: int) -> None:
        self.functions = functions
        self._held = held
        self._guards = guards
        self._ends = _calls.ends

    def is_over(self) -> bool:
        """Whether all calls that may be in it have ended."""
        return _calls.running == 0 or _calls.ends != self._ends

    def release(self) -> None:
        """Release the code. Its guards live on where a caller may still call them."""
        for guard in self._guards:
            guard.let_go()


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


class _Place(bytes):
    """The address of a guard's record, as machine code receives it. It keeps the guard alive: any
    holder of the function may call it.
    """

    guard: Guard


class Guard:
    """The guard of one compiled function. It lives as long as its ``function``.

    stale: called with this guard and the arguments where a word differs; its result is the result
    of the call, and it leaves no frame in a traceback. failed: called with the exception where the
    compiled code raises one.
    """

    def __init__(
        self,
        compiled: Any,
        words: Iterable[Word],
        stale: Callable[..., Any],
        failed: Callable[[BaseException], None],
    ) -> None:
        self._kept: tuple[Any, ...] | None = compiled, stale, failed
        self.is_retired = False
        self._failed = failed
        self._stale = functools.partial(stale, self)
        self._record = _Record(
            compiled=_function_of(compiled),
            closure=_self_of(compiled),
            stale=id(self._stale),
            failed=id(failed),
            passed=id(_without_own_frames),
        )
        self._compare(words)
        address = ctypes.addressof(self._record)
        place = _Place(address.to_bytes(8, "little"))
        place.guard = self
        self._definition = _MethodDef(b"compiled", _guard_address(), _VARARGS_KEYWORDS, None)
        self.function: Any = _new_function(ctypes.byref(self._definition), place, None)

    @functools.cached_property
    def unchecked(self) -> Guard:
        """A guard of the same code that compares nothing, for a call whose words never agree."""
        assert self._kept is not None
        compiled, stale, failed = self._kept
        return Guard(compiled, (), stale, failed)

    def retire(self) -> None:
        """Make every later call be handled by ``stale``, and none by the compiled code."""
        self.is_retired = True
        self.renew([ALWAYS])

    def let_go(self) -> None:
        """Drop the compiled code of a retired guard."""
        self._kept = None
        vars(self).pop("unchecked", None)

    def renew(self, words: Iterable[Word]) -> None:
        """Replace the words to compare."""
        self._compare(words)

    def _compare(self, words: Iterable[Word]) -> None:
        pairs = [_Pair(*word) for word in words]
        array = (_Pair * max(len(pairs), 1))(*pairs)
        # frees the former array: no thread is reading it, since readers hold the GIL
        self._pairs = array
        self._record.count = len(pairs)
        self._record.pairs = ctypes.addressof(array)


class CallingGuard(Guard):
    """Calls Python in place of one compiled function: its word always differs.

    guard: of the compiled function. call: called with this guard and the arguments.
    """

    def __init__(self, guard: Guard, call: Callable[..., Any]) -> None:
        self.guard, self._call, self._word = guard, call, ctypes.c_uint64(0)
        words = [(ctypes.addressof(self._word), 1)]
        super().__init__(guard.function, words, call, _nothing)

    @functools.cached_property
    def unchecked(self) -> Guard:
        return CallingGuard(self.guard.unchecked, self._call)

    def retire(self) -> None:
        self.guard.retire()
        self.is_retired = True

    def let_go(self) -> None:
        self.guard.let_go()
        super().let_go()

    def renew(self, words: Iterable[Word]) -> None:
        self.guard.renew(words)


_STALE: Final = object()
_OWN_FILES: Final = (__file__, os.path.join(os.path.dirname(__file__), "callers.py"))


def _is_stale(*args: Any) -> Any:
    """Report that code is out of date."""
    return _STALE


class EntryGuards:
    """The guards of one entry's code, by the types of the arguments."""

    def __init__(self, entry: EntryDispatcher) -> None:
        self.entry = entry
        self._guards: dict[tuple[Type, ...], Guard] = {}
        # numba's dispatch in C holds no reference to what it calls, but one to the entry
        self._retired: list[Guard] = []

    def function(self, args: tuple[Type, ...]) -> Any:
        """The function that Python calls with arguments of these types."""
        return self._guards[args].function

    def insert(self, args: tuple[Type, ...], guard: Guard) -> None:
        """Install a guard for the code of these types."""
        self._guards[args] = guard

    def words(self) -> dict[Guard, list[Word]]:
        """The words that each guard has to compare now."""
        of, codes = self.entry.engine.words, self.entry.codes
        return {guard: of(codes.get(args)) for args, guard in self._guards.items()}

    def retired(self) -> list[Guard]:
        """Retire all guards, and return them."""
        found = list(self._guards.values())
        self._guards = {}
        self._retired += found
        for guard in found:
            guard.retire()
        return found

    def made(self, code: Any, world: World, args: tuple[Type, ...]) -> Guard:
        """Make the guard of compiled code."""
        module = str(self.entry.py_func.__module__)
        of_numba = module.startswith("numba.")  # stores functions, calls none
        types_ = *args, code.signature.return_type
        if any(holds_functions(ty) or _holds_generators(ty) for ty in types_):
            self.entry.engine.lasts = True  # Python may call them, past all guards
        words = self.entry.engine.words(self.entry.codes.get(args))
        is_plain = not (any(map(holds_functions, args)) or gives_functions(types_[-1]))
        if of_numba or is_plain:
            return Guard(code.entry_point, words, self._stale, self._failed)
        guard = Guard(code.entry_point, words, _is_stale, self._failed)

        def call(called: CallingGuard, *given: Any) -> Any:
            result = called.guard.function(*self._as_given(world, given, args))
            return self._stale(called, *given) if result is _STALE else as_returned(result)

        return CallingGuard(guard, call)

    def _as_given(self, world: World, given: tuple[Any, ...], types_: tuple[Type, ...]) -> Any:
        """The arguments of a call, with functions replaced by those of a world."""
        before = functions_made()
        with self.entry._explaining(), global_compiler_lock:
            values = [as_given(world, *each) for each in zip(given, types_, strict=True)]
        if functions_made() != before:
            self.entry.engine.renew()
        return values

    def _stale(self, called: Guard, *args: Any) -> Any:
        """Handle a call where a watched word has changed, because a name of the program was
        rebound or by chance.
        """
        given, named = self.entry.parameters.as_called(args)
        if called.is_retired:
            return self.entry(*given, **named)
        with LOCK:
            words = self.words()  # first, so that the guards see any later change
            rebound = self.entry.engine.rebound()
            if rebound:
                self.entry.engine.begin_anew()
            else:
                compare(words)
        if ALWAYS in words.get(called, ()) and not rebound:
            return called.unchecked.function(*args)
        return self.entry(*given, **named)

    def _failed(self, error: BaseException) -> None:
        """Add the chain of calls to an exception of the compiled code."""
        explain(error, TracePlace.of(self.entry.py_func))

    def for_one_call(self, code: Any, *kept: Any) -> Any:
        """Make a guard for code that will be out of date by the next call, and that needs these
        objects."""
        guard = Guard(code.entry_point, [], self._stale, self._failed)
        self.entry.engine.outlives((guard, kept))
        return guard.function


def compare(words: Mapping[Guard, Iterable[Word]]) -> None:
    """Replace the words that guards compare."""
    for guard, found in words.items():
        guard.renew(found)


def _holds_generators(ty: Type) -> bool:
    return "generator(func=" in ty.name


def _without_own_frames(error: BaseException) -> None:
    """Take the frames of what guards call, outermost in the traceback, out of an exception of a
    call that went through Python."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in _OWN_FILES:
        trace = trace.tb_next
    error.__traceback__ = trace


def _nothing(error: BaseException) -> None:
    """No action: the inner guard has handled the exception."""


_VARARGS_KEYWORDS = 3

_new_function = ctypes.pythonapi.PyCFunction_NewEx
_new_function.restype = ctypes.py_object
_new_function.argtypes = (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)

_function_of = ctypes.pythonapi.PyCFunction_GetFunction
_function_of.restype = ctypes.c_void_p
_function_of.argtypes = (ctypes.py_object,)

_self_of = ctypes.pythonapi.PyCFunction_GetSelf
_self_of.restype = ctypes.c_void_p
_self_of.argtypes = (ctypes.py_object,)


# ---- the machine code of all guards -------------------------------------------------------

_made: list[tuple[Any, int]] = []


def _guard_address() -> int:
    """The address of the machine code, which is generated at the first use."""
    if not _made:
        library = cpu_target.target_context.codegen().create_library("overlay_guard")
        module = library.create_ir_module("overlay_guard")
        _write_guard(module)
        library.add_ir_module(module)
        library.finalize()
        _made.append((library, library.get_pointer_to_function("overlay_guard")))
    return _made[0][1]


def _write_guard(module: Any) -> None:
    guard = llvm.Function(module, _WRAPPER, "overlay_guard")
    place, args, kwargs = guard.args
    blocks = [guard.append_basic_block(n) for n in ("entry", "test", "body", "call", "stale")]
    entry, test, body, call, stale = blocks
    builder = llvm.IRBuilder(entry)
    text = builder.gep(place, (llvm.Constant(_WORD, _START_OF_BYTES),))
    holder = builder.bitcast(text, _POINTER.as_pointer())
    record = builder.bitcast(builder.load(holder), _WORD.as_pointer())

    def field(name: str) -> Any:
        index = [n for n, _ in _Record._fields_].index(name)
        return builder.load(builder.gep(record, (llvm.Constant(_WORD, index),)))

    _count_begin(builder)
    count = field("count")
    pairs = builder.inttoptr(field("pairs"), _WORD.as_pointer())
    end = builder.mul(count, llvm.Constant(_WORD, 2))
    builder.branch(test)

    builder.position_at_end(test)
    index = builder.phi(_WORD)
    index.add_incoming(llvm.Constant(_WORD, 0), entry)
    builder.cbranch(builder.icmp_unsigned("<", index, end), body, call)

    builder.position_at_end(body)
    address = builder.load(builder.gep(pairs, (index,)))
    one = llvm.Constant(_WORD, 1)
    expected = builder.load(builder.gep(pairs, (builder.add(index, one),)))
    found = builder.load(builder.inttoptr(address, _WORD.as_pointer()))
    index.add_incoming(builder.add(index, llvm.Constant(_WORD, 2)), body)
    builder.cbranch(builder.icmp_unsigned("==", found, expected), test, stale)

    builder.position_at_end(stale)
    call_object = _external(module, "PyObject_Call", _POINTER, _POINTER, _POINTER, _POINTER)
    callee = builder.inttoptr(field("stale"), _POINTER)
    called = builder.call(call_object, (callee, args, kwargs))
    with builder.if_then(builder.icmp_unsigned("==", called, _POINTER(None)), likely=False):
        _write_failure(module, builder, builder.inttoptr(field("passed"), _POINTER))
    _count_end(builder)
    builder.ret(called)

    builder.position_at_end(call)
    wrapper = builder.inttoptr(field("compiled"), _WRAPPER.as_pointer())
    closure = builder.inttoptr(field("closure"), _POINTER)
    result = builder.call(wrapper, (closure, args, kwargs))
    with builder.if_then(builder.icmp_unsigned("==", result, _POINTER(None)), likely=False):
        _write_failure(module, builder, builder.inttoptr(field("failed"), _POINTER))
    _count_end(builder)
    builder.ret(result)


def _counter(builder: Any, name: str) -> Any:
    address = ctypes.addressof(_calls) + getattr(_CallCounts, name).offset
    return builder.inttoptr(llvm.Constant(_WORD, address), _WORD.as_pointer())


def _count_begin(builder: Any) -> None:
    running = _counter(builder, "running")
    builder.store(builder.add(builder.load(running), llvm.Constant(_WORD, 1)), running)


def _count_end(builder: Any) -> None:
    running, ends = (_counter(builder, name) for name in ("running", "ends"))
    left = builder.sub(builder.load(running), llvm.Constant(_WORD, 1))
    builder.store(left, running)
    is_last = builder.icmp_unsigned("==", left, llvm.Constant(_WORD, 0))
    builder.store(builder.add(builder.load(ends), builder.zext(is_last, _WORD)), ends)


def _write_failure(module: Any, builder: Any, failed: Any) -> None:
    """Call ``failed(exception)`` with no error set, and set it again."""
    pointers = _POINTER.as_pointer()
    void = llvm.VoidType()
    kind, value, trace = (builder.alloca(_POINTER) for _ in range(3))
    for name in ("PyErr_Fetch", "PyErr_NormalizeException"):
        function = _external(module, name, void, pointers, pointers, pointers)
        builder.call(function, (kind, value, trace))
    error = builder.load(value)
    with builder.if_then(builder.icmp_unsigned("!=", builder.load(trace), _POINTER(None))):
        set_trace = _external(
            module, "PyException_SetTraceback", llvm.IntType(32), _POINTER, _POINTER
        )
        builder.call(set_trace, (error, builder.load(trace)))
    call = _external(module, "PyObject_CallOneArg", _POINTER, _POINTER, _POINTER)
    builder.call(call, (failed, error))
    get_trace = _external(module, "PyException_GetTraceback", _POINTER, _POINTER)
    restore = _external(module, "PyErr_Restore", void, _POINTER, _POINTER, _POINTER)
    builder.call(restore, (builder.load(kind), error, builder.call(get_trace, (error,))))


def _external(module: Any, name: str, result: Any, *arguments: Any) -> Any:
    if name in module.globals:
        return module.globals[name]
    return llvm.Function(module, llvm.FunctionType(result, arguments), name)
