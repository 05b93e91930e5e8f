"""Where a callable leaves the context: handed to C code, a thread, an executor or a loop.

What such code calls later, or by itself, runs with no overlay. A context that counts or is
strict looks at the arguments of those callables; other contexts have no part in this.
"""

from __future__ import annotations

import atexit
import functools
import sys
import weakref
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

from overlay.code.callbacks import CALLBACKS
from overlay.errors import OverlayError
from overlay.location import is_ours, location_of, name_of, shown
from overlay.python.unseen import unseen
from overlay.report import Hits
from overlay.target import BUILTINS, describe, key_of_target, lookup, type_attribute

if TYPE_CHECKING:
    from overlay.python.engine import PythonEngine
    from overlay.report import Record
    from overlay.table import Method

__all__ = [
    "Rule",
    "Watch",
    "described",
    "is_its_own",
    "is_native",
    "rule_of",
]

_LRU_CACHE: Any = type(functools.lru_cache(len))
# C functions, and those that are told the class that defines them.
_DESCRIPTORS = (MethodDescriptorType, WrapperDescriptorType, ClassMethodDescriptorType)


@dataclass(frozen=True)
class Rule:
    """Which arguments are called outside the context: by position and by name; None: all."""

    positions: tuple[int, ...] | None = None
    names: tuple[str, ...] | None = None

    def pick(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], bound: bool = False
    ) -> Iterator[Any]:
        """The arguments at risk; ``bound``: ``args`` are without the object itself."""
        for place, value in enumerate(args, start=bound):
            if self.positions is None or place in self.positions:
                yield value
        for name, value in kwargs.items():
            if self.names is None or name in self.names:
                yield value


@dataclass(frozen=True)
class Started(Rule):
    """What an object that is started will run: ``attribute`` of the object itself, or a
    method of this name that its class has in place of the one in ``module``."""

    attribute: str = ""
    method: str = ""
    module: str = ""

    def pick(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], bound: bool = False
    ) -> Iterator[Any]:
        for started in super().pick(args, kwargs, bound):
            yield vars(started).get(self.attribute)
            found = type_attribute(type(started), self.method)
            if type(found) is FunctionType and found.__module__ != self.module:
                yield found


ANYTHING = Rule()
NOTHING = Rule((), ())

# Functions of the standard library that pass a callable on to be called elsewhere, or later.
_PYTHON: dict[str, Rule] = {
    "asyncio.base_events:BaseEventLoop.call_soon": Rule((1,), ("callback",)),
    "asyncio.base_events:BaseEventLoop.call_soon_threadsafe": Rule((1,), ("callback",)),
    "asyncio.base_events:BaseEventLoop.call_later": Rule((2,), ("callback",)),
    "asyncio.base_events:BaseEventLoop.call_at": Rule((2,), ("callback",)),
    "asyncio.base_events:BaseEventLoop.run_in_executor": Rule((2,), ("func",)),
    "asyncio.unix_events:_UnixSelectorEventLoop.add_signal_handler": Rule((2,), ("callback",)),
    "asyncio.selector_events:BaseSelectorEventLoop.add_reader": Rule((2,), ("callback",)),
    "asyncio.selector_events:BaseSelectorEventLoop.add_writer": Rule((2,), ("callback",)),
    "asyncio.threads:to_thread": Rule((0,), ("func",)),
    "concurrent.futures._base:Executor.map": Rule((1,), ("fn",)),
    "concurrent.futures._base:Future.add_done_callback": Rule((1,), ("fn",)),
    "concurrent.futures.process:ProcessPoolExecutor.map": Rule((1,), ("fn",)),
    "concurrent.futures.process:ProcessPoolExecutor.submit": Rule((1,), ()),
    "concurrent.futures.thread:ThreadPoolExecutor.submit": Rule((1,), ()),
    **{
        f"multiprocessing.{module}:Popen._launch": Started(
            (1,), (), "_target", "run", "multiprocessing.process"
        )
        for module in ("popen_forkserver", "popen_spawn_posix", "popen_spawn_win32")
    },
    **{
        f"multiprocessing.pool:Pool.{name}": Rule((1,), ("func",))
        for name in (
            *("apply", "apply_async", "imap", "imap_unordered"),
            *("map", "map_async", "starmap", "starmap_async"),
        )
    },
    "signal:signal": Rule((1,), ("handler",)),
    "threading:Thread.__init__": Rule((2,), ("target",)),
    "threading:Thread.start": Started((0,), (), "", "run", "threading"),
    "threading:Timer.__init__": Rule((2,), ("function",)),
    "weakref:finalize.__init__": Rule((2,), ()),
}
# Where these hand on a callable, the place that handed it to them was seen already.
_MACHINERY = frozenset({"asyncio", "concurrent", "multiprocessing", "signal", "threading"})

# Modules in C whose functions and classes call none of their arguments, or look at the frame
# that calls them, and the exceptions.
_KEEPING = frozenset(
    {
        *("builtins", "collections", "contextvars", "functools", "gc", "itertools", "marshal"),
        *("operator", "sys", "types", "typing", "weakref", "_abc", "_collections", "_contextvars"),
        *("_frozen_importlib", "_functools", "_imp", "_io", "_operator", "_pickle", "_queue"),
        *("_typing", "_warnings", "_weakref"),
    }
)
_NATIVE: list[tuple[Any, Rule]] = [
    (atexit.unregister, NOTHING),
    (defaultdict, Rule((0,), ())),
    (iter, Rule((0,), ())),
    (sys.addaudithook, Rule((0,), ())),
    (sys.setprofile, Rule((0,), ())),
    (sys.settrace, Rule((0,), ())),
    (weakref.proxy, Rule((1,), ())),
    (weakref.ref, Rule((1,), ())),
]
_rules = {id(callee): (callee, rule) for callee, rule in _NATIVE}


def is_native(callee: Any) -> bool:
    """Whether it is implemented in C, as a function, a method or a class."""
    kind: Any = type(callee)
    if issubclass(kind, type):
        slots = type_attribute(callee, "__new__"), type_attribute(callee, "__init__")
        return all(type(slot) in (BuiltinFunctionType, WrapperDescriptorType) for slot in slots)
    return kind in BUILTINS or kind in _DESCRIPTORS


def rule_of(callee: Any) -> Rule:
    """Which arguments of a callable are called outside the context."""
    kind: Any = type(callee)
    if kind is FunctionType:
        return _rule_of_function(callee)
    if kind in BUILTINS:
        owner = callee.__self__
        if owner is not None and type(owner) is not ModuleType and type(owner) is not type:
            descriptor = type_attribute(type(owner), callee.__name__)
            return NOTHING if descriptor is None else rule_of(descriptor)
    elif kind not in _DESCRIPTORS and not issubclass(kind, type):
        return NOTHING
    known, rule = _rules.get(id(callee), (None, NOTHING))
    if known is callee:
        return rule
    if id(callee) in CALLBACKS or not is_native(callee) or _module_of(callee) in _KEEPING:
        return NOTHING
    return ANYTHING


def _rule_of_function(function: FunctionType) -> Rule:
    name = f"{function.__module__}:{function.__qualname__}"
    rule = _PYTHON.get(name)
    return NOTHING if rule is None or lookup(name) is not function else rule


def _module_of(callee: Any) -> Any:
    kind: Any = type(callee)
    if kind in _DESCRIPTORS:
        callee = callee.__objclass__
    elif issubclass(kind, type):  # a class in Python may take its construction from one in C
        made_by = (b for b in callee.__mro__ if "__new__" in b.__dict__ or "__init__" in b.__dict__)
        callee = next(made_by, callee)
    return getattr(callee, "__module__", None) or "builtins"


class Watch(Hits):
    """Tells the records of a stack's contexts what its engine sees."""

    def __init__(self, engine: PythonEngine, records: Iterable[Record]) -> None:
        super().__init__(records)
        self.active = any(record.watches for record in self.records)
        self._engine = engine

    def counted(
        self, record: Record, method: Method, implementation: Callable[..., Any]
    ) -> Callable[..., Any]:
        counted = super().counted(record, method, implementation)
        return unseen(counted) if type(counted) is FunctionType else counted

    def over(self, callee: Any, found: Any) -> Any:
        """What to call in place of ``callee`` where ``found`` would be: the same, with its
        arguments looked at where some of them may be called outside the context."""
        rule = rule_of(callee) if self.active else NOTHING
        if rule is NOTHING:
            return found
        bound = type(callee) in BUILTINS and type(callee.__self__) is not ModuleType

        @unseen
        def watched(*args: Any, **kwargs: Any) -> Any:
            for value in rule.pick(args, kwargs, bound):
                if self._runs_outside(value):
                    self._leaves(callee, value)
            return found(*args, **kwargs)

        return watched

    def _runs_outside(self, value: Any) -> bool:
        kind: Any = type(value)
        if key_of_target(value) in self._engine.overlaid and callable(value):
            return True
        if kind is MethodType:
            return self._runs_outside(value.__func__)
        if kind is functools.partial:
            return self._runs_outside(value.func)
        if kind is _LRU_CACHE:
            return self._runs_outside(value.__wrapped__)
        return kind is FunctionType and not is_ours(value.__code__.co_filename)

    def _leaves(self, callee: Any, value: Any) -> None:
        frame: Any = sys._getframe(1)
        while frame.f_back is not None and is_ours(frame.f_code.co_filename):
            frame = frame.f_back
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if package in _MACHINERY or is_its_own(package, value):
            return
        where = shown(frame.f_code.co_filename, frame.f_lineno)
        inner = value.func if type(value) is functools.partial else value
        handed = f"{name_of(inner)} ({location_of(inner)})"
        for record in self.records:
            if record.watches:
                record.left(described(callee), handed, where)
        if any(record.strict for record in self.records):
            raise _refused(callee, handed, where)


def is_its_own(package: str, value: Any) -> bool:
    """Whether a package of the standard library hands over a function of its own."""
    if type(value) is MethodType:
        value = value.__func__
    module = str(getattr(value, "__module__", None))
    return package in sys.stdlib_module_names and module.partition(".")[0] == package


def described(callee: Any) -> str:
    """What a callable is handed to, for messages."""
    name = describe(callee)
    if name.endswith(".__init__"):
        name = name.removesuffix(".__init__")
    module = getattr(callee, "__module__", None)
    same = type(callee) is not FunctionType or not isinstance(module, str)
    return name if same else f"{module}.{name}"


def _refused(callee: Any, handed: str, where: str) -> OverlayError:
    return OverlayError(
        f"{handed} would leave the context: {described(callee)} calls it with no overlay",
        where=where,
        help="hand over ctx.wrap(f)",
    )
