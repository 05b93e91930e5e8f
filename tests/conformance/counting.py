"""Counts the starts of functions: natively by the profiler, in a context by overlays.

Natively each start is told apart by how it came about, from the instruction that the caller
stands at:

- *explicit*: an instruction that calls, or C code that was handed the function;
- *implicit*: any other instruction: an operator, an attribute, a ``with``, an iteration;
- *in C*: a special method that C code looks up by itself, such as ``__hash__`` from a dict.

A context is expected to see a start if that start and all between it and the beginning of the
run are explicit, or with ``implicit=True`` explicit or implicit.
"""

import dis
import importlib
import inspect
import sys
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType
from typing import Any

from overlay import MethodTable, call_next

_CALLS = {dis.opmap[n] for n in ("CALL", "CALL_FUNCTION_EX", "CALL_KW") if n in dis.opmap}
# what takes the next item of an iterator, which C code may make by calling a function
_NEXT = {
    dis.opmap[name]
    for name in (
        *("FOR_ITER", "UNPACK_SEQUENCE", "UNPACK_EX", "LIST_EXTEND", "SET_UPDATE", "CONTAINS_OP"),
        *("SEND", "YIELD_FROM", "CALL_INTRINSIC_1"),
    )
    if name in dis.opmap
}
_RESUME, _CACHE = dis.opmap["RESUME"], 0
_SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_CONSTRUCTION = {"__init__", "__new__", "__call__"}
# C functions to which a class may be handed as their callback
_CALLS_BACK = {"sorted", "min", "max", "sort", "reduce"}
# special methods that classes written in C look up when they are called: list(x), str(x), ...
_BY_CLASSES = {
    *("__bool__", "__bytes__", "__complex__", "__contains__", "__eq__", "__float__", "__format__"),
    *("__fspath__", "__get__", "__getattr__", "__getattribute__", "__getitem__", "__hash__"),
    *("__index__", "__init_subclass__", "__int__", "__iter__", "__len__", "__length_hint__"),
    *("__missing__", "__next__", "__prepare__", "__repr__", "__set_name__", "__str__"),
    *("__setattr__", "__trunc__"),
}
# C functions that find by themselves what they call: special methods, or a Python function
_LOOK_UP = {
    *("abs", "ascii", "bin", "dir", "divmod", "format", "getattr", "hasattr", "hash", "hex", "len"),
    *("isinstance", "issubclass", "iter", "oct", "pow", "repr", "round", "setattr", "strptime"),
}
# Python functions that C code finds by itself: pattern.sub and TypeVar look for these
_FOUND_BY_C = {
    *("_compile_template", "_expand", "_subx"),
    *("_paramspec_subst", "_type_check", "_typevar_subst"),
}

Seen = tuple[bool, bool]  # by a context, and by one with implicit=True
Counts = dict[str, dict[str, int]]


def found(name: str) -> FunctionType:
    """The function that ``module:qualified.name`` stands for, below any decorators of classes."""
    module, _, path = name.partition(":")
    holder: Any = importlib.import_module(module)
    for part in path.split("."):
        holder = inspect.getattr_static(holder, part)
    holder = getattr(holder, "fget", holder)
    holder = getattr(holder, "__func__", holder)
    if not isinstance(holder, FunctionType):
        raise TypeError(f"{name} is not a Python function but {holder!r}")
    return holder


def overlay(table: MethodTable, name: str, counts: dict[str, int]) -> None:
    """Add a method to the table that counts the starts of ``name`` and does no more."""
    counts[name] = 0
    function = found(name)

    @table.overlay(function)
    def counted(*args: Any, **kwargs: Any) -> Any:
        counts[name] += 1
        try:
            return call_next(*args, **kwargs)
        except TypeError as error:
            counts[name] -= not started(error, function)
            raise


def started(error: TypeError, function: FunctionType) -> bool:
    """Whether an error came from a function's body: otherwise the arguments did not fit it, and
    it did not start."""
    code, trace = function.__code__, error.__traceback__
    place = code.co_filename, code.co_firstlineno
    while trace is not None:
        running = trace.tb_frame.f_code
        if (running.co_filename, running.co_firstlineno) == place:
            return True
        trace = trace.tb_next
    return False


def natively(names: list[str], run: Callable[[Any], Any], argument: Any) -> Counts:
    """Run ``run(argument)`` and count the starts of these functions in this thread.

    Raises RuntimeError if the run has ended with another profiler, or none: an error in the
    profiler, such as at the limit of recursion, puts it off in silence.
    """
    starts = Starts(names)
    profiler = starts.event
    sys.setprofile(profiler)
    try:
        run(argument)
    finally:
        lost = sys.getprofile() is not profiler
        sys.setprofile(None)
    if lost:
        raise RuntimeError("the profiler was lost in the run")
    return starts.counts


class Starts:
    """Follows which frames a context would be expected to see, and counts starts."""

    def __init__(self, names: list[str]) -> None:
        self.counts: Counts = {n: dict.fromkeys(("all", "explicit", "implicit"), 0) for n in names}
        self.name_of = {id(found(name).__code__): name for name in names}
        self.seen: dict[int, Seen] = {}  # by the id of a frame that has not ended
        # by the id of a frame that has called C code: where, and which function
        self.in_c: dict[int, tuple[int, str]] = {}
        self.codes: dict[int, tuple[CodeType, bytes]] = {}

    def event(self, frame: FrameType, kind: str, argument: Any) -> None:
        """What ``sys.setprofile`` calls."""
        if kind == "call":
            code = frame.f_code
            if code.co_flags & _SUSPENDS and not self.starts(frame):
                return  # a generator goes on; it keeps what was found at its start
            seen = self.seen[id(frame)] = self.classify(frame, code)
            name = self.name_of.get(id(code))
            if name is not None:
                counts = self.counts[name]
                counts["all"] += 1
                counts["explicit"] += seen[0]
                counts["implicit"] += seen[1]
        elif kind == "c_call":
            self.in_c[id(frame)] = frame.f_lasti, argument.__name__
        elif kind == "return":
            self.in_c.pop(id(frame), None)
            if not frame.f_code.co_flags & _SUSPENDS:
                self.seen.pop(id(frame), None)
        else:
            self.in_c.pop(id(frame), None)

    def starts(self, frame: FrameType) -> bool:
        """Whether a generator's frame is at its beginning."""
        code, at = self.instructions(frame.f_code), frame.f_lasti
        return at <= 0 or (code[at] == _RESUME and code[at + 1] & 3 == 0)

    def instructions(self, code: CodeType) -> bytes:
        entry = self.codes.get(id(code))
        if entry is None:
            entry = self.codes[id(code)] = code, code.co_code
        return entry[1]

    def site(self, frame: FrameType) -> tuple[int, str | None]:
        """The instruction that a frame stands at, and the C function that it has called there."""
        instructions, at = self.instructions(frame.f_code), frame.f_lasti
        called_at, name = self.in_c.get(id(frame), (-1, None))
        c_function = name if called_at == at else None
        while instructions[at] == _CACHE and at > 0:
            at -= 2
        return instructions[at], c_function

    def classify(self, frame: FrameType, code: CodeType) -> Seen:
        """Which contexts are expected to see the start of this frame."""
        back = frame.f_back
        if back is None:
            return False, False
        parent = self.seen.get(id(back), (True, True))
        name = code.co_name
        special = (name.startswith("__") and name.endswith("__")) or name in _FOUND_BY_C
        instruction, c_function = self.site(back)
        if code.co_flags & _SUSPENDS and not special:
            # it starts here, and was made here too if this is what iterates over it
            made_here = name == "<genexpr>" or (instruction in _NEXT and c_function is None)
            return parent if made_here else (True, True)
        if c_function is not None:
            handed = name in _CONSTRUCTION and c_function in _CALLS_BACK
            plain = not special and c_function not in _LOOK_UP
            return parent if plain or handed else (False, False)
        if instruction in _CALLS:
            named = name in back.f_code.co_names or name in back.f_code.co_consts
            written = named or name not in _BY_CLASSES | _FOUND_BY_C
            return parent if written else (False, False)
        if instruction in _NEXT and not special:
            return parent
        return False, parent[1]
