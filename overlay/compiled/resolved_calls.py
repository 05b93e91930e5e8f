"""Calls as a world resolves them: of what, with which types, and what they enter."""

from __future__ import annotations

import functools
import inspect
import types as python_types
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from numba import types

from overlay.compiled import failures
from overlay.compiled.dispatch_types import hint_of, underlying_type
from overlay.compiled.numba.numba_types import CalleeType, Native, StandIn, Type, type_of_constant
from overlay.core.dispatch import Call, by_types
from overlay.core.errors import OverlayError
from overlay.core.table import Method
from overlay.core.target import as_positional, describe, key_of_target, signature_of

if TYPE_CHECKING:
    from overlay.compiled.basis import Generated
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.world import World

__all__ = [
    "BY_POSITION",
    "GLUE",
    "SPREAD",
    "Body",
    "Callee",
    "Outcome",
    "Way",
    "as_type",
    "by_position",
    "calling",
    "calling_attribute",
    "has_code",
    "is_callable_in",
    "readings",
    "refuse_parameters",
    "type_of",
]


# The file of functions that the engine writes around others.
GLUE: Final = "<overlay>"
# How a function hands on an argument: by position, all that are in it, under a name, or not.
Way = str | None
BY_POSITION: Final = ""
SPREAD: Final = "*"


@dataclass(frozen=True, eq=False)
class Body:
    """What ``call_next`` goes on from in a method's body: the target that was called, and the
    methods gone through so far, this one last."""

    target: Any
    methods: tuple[Method, ...]

    @property
    def key(self) -> tuple[Any, ...]:
        return key_of_target(self.target), self.methods


class Callee(StandIn):
    """Stands in compiled code for a target: which method a call enters is found by its types.

    after: the methods that ``call_next`` has been through. is_base: no method is asked.
    context: the one that the call enters, where the target brings its own.
    """

    def __init__(
        self,
        world: World,
        target: Any,
        after: tuple[Method, ...] = (),
        *,
        is_base: bool = False,
        context: CompiledContext | None = None,
    ) -> None:
        self.world = world
        self.target = target
        self.after = after
        self.is_base = is_base
        self.context = context
        self.signature: inspect.Signature | None = signature_of(target)
        self._numba_type_ = CalleeType(self)

    def __repr__(self) -> str:
        return f"<overlaid {describe(self.target)}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self!r} stands for a target in compiled code only")

    def in_python(self) -> Any:
        if self.after:
            raise failures.next_in_block(self.target)
        return self.target

    @property
    def arity(self) -> int | None:
        """How many arguments the target takes, where that is one number."""
        if self.signature is None:
            return None
        parameters = self.signature.parameters.values()
        kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
        fixed = all(p.kind in kinds and p.default is p.empty for p in parameters)
        return len(parameters) if fixed else None

    def positional(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The same call with as much as possible given by position."""
        return as_positional(self.signature, tuple(args), kwargs)


@dataclass(eq=False)
class Outcome:
    """What a call resolves to. Where a checked method fails, ``callee`` comes to be what raises.

    callee: an InnerDispatcher, or what numba knows by itself (Native).
    method: the method entered, or None for the base.
    result: the annotation that plum would convert the result to, or Any.
    generated: what was asked, where the method is a generated one.
    """

    callee: Any
    method: Method | None = None
    result: Any = Any
    generated: Generated | None = None


def has_code(function: Any) -> bool:
    """Whether it is a Python function."""
    return isinstance(function, python_types.FunctionType)


def as_type(argument: Any) -> Type:
    """The numba type of an argument: a type, or the value of a default."""
    return argument if isinstance(argument, Type) else type_of_constant(argument)


def readings(
    args: Sequence[Type], names: Sequence[str], literal: bool = False
) -> tuple[Call, Call]:
    """A call read with Python's scalar types, and read with numpy's."""
    plain = [underlying_type(t) for t in args]
    below = (None, None) if plain == list(args) else readings(plain, names, literal)
    first, second = (
        by_types([hint_of(t, numpy=n, literal=literal) for t in args], names, below[n])
        for n in (False, True)
    )
    return first, second


def type_of(native: Native) -> Any:
    """The numba type of what is numba's own, or None for what numba does not know."""
    try:
        return native._numba_type_
    except ValueError:
        return None


def is_callable_in(world: World, value: Any) -> bool:
    """Whether code of a world can call a callable that is no Python function."""
    found = world.stand_ins.of(value)
    if found is not None:
        return issubclass(type(found._numba_type_), types.Callable)
    return type_of(Native(value)) is not None


def refuse_parameters(function: Any) -> None:
    """Raise NotCompilable for parameters that numba has no meaning for."""
    function = getattr(function, "py_func", function)
    code = function.__code__
    if code.co_kwonlyargcount and code.co_flags & inspect.CO_VARARGS:
        raise failures.keywords_after_rest(function)
    if code.co_flags & inspect.CO_VARKEYWORDS:
        raise failures.any_keywords(function)


# The functions below that something refers to: those of one target serve in every world.
_made: weakref.WeakValueDictionary[Any, python_types.FunctionType] = weakref.WeakValueDictionary()


def calling(target: Any, ways: tuple[Way, ...] | None = None) -> Any:
    """A Python function that calls ``target`` with its arguments, each handed on in its way, or
    all by position."""
    key = id(target), ways
    found = _made.get(key)
    if found is None:
        taken, handed = _handed_on(ways)
        namespace: dict[str, Any] = {"target": target}
        source = f"def entry({taken}): return target({handed})"
        exec(compile(source, GLUE, "exec"), namespace)
        found = _made[key] = namespace["entry"]
    return found


@functools.cache
def calling_attribute(name: str) -> Any:
    """A Python function that calls a method of its first argument."""
    namespace: dict[str, Any] = {}
    source = f"def call(receiver, *args): return receiver.{name}(*args)"
    exec(compile(source, GLUE, "exec"), namespace)
    return namespace["call"]


def ending(target: Any, ways: tuple[Way, ...], error: OverlayError) -> Any:
    """The same, of a target that is to end by an exception: where it does not this raises an
    error like the one given."""
    taken, handed = _handed_on(ways)
    namespace: dict[str, Any] = {"target": target, "kind": type(error), "message": str(error)}
    source = f"def entry({taken}):\n    target({handed})\n    raise kind(message)"
    exec(compile(source, GLUE, "exec"), namespace)
    return namespace["entry"]


def by_position(count: int | None, names: Sequence[str] = ()) -> tuple[Way, ...] | None:
    """The ways of so many arguments, and of others by name; of None, of all there are."""
    return None if count is None else (*[BY_POSITION] * count, *names)


def _handed_on(ways: tuple[Way, ...] | None) -> tuple[str, str]:
    """What a function takes, and what it hands on."""
    if ways is None:
        return "*args", "*args"
    names = [f"a{i}" for i in range(len(ways))]
    handed = [_handed(name, way) for name, way in zip(names, ways, strict=True) if way is not None]
    return ", ".join(names), ", ".join(handed)


def _handed(name: str, way: str) -> str:
    if way in (BY_POSITION, SPREAD):
        return way + name
    return f"{way}={name}"
