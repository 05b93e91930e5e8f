"""The result type of a barrier, and the functions compiled for it.

The result type is that of the function's return annotation, where it is one type in compiled code;
else it is inferred from types alone, with metadata of which only the type is known. Each variant,
and each result of the interpreter, has to be of that type or convertible.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numba import typeof
from numba.core import errors, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.typing.templates import signature

from overlay.compiled import failures
from overlay.compiled.glue import by_position, calling, ending
from overlay.compiled.numba.context_values import (
    ContextType,
    KnownType,
    function_in,
    functions_within,
    programs_functions,
    value_of,
)
from overlay.compiled.numba.dispatchers import InnerDispatcher
from overlay.compiled.numba.hints import numba_type
from overlay.compiled.numba.made_contexts import MadeContextType, MadePluginType, unknown_metadata
from overlay.compiled.numba.memory_words import leaves_of, rebuilt
from overlay.compiled.numba.numba_types import Type, numba_typing
from overlay.core.errors import OverlayError
from overlay.core.short_repr import a_or_an
from overlay.plugins.plugin import Plugin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlay.compiled.barrier import Barrier
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.world import World
    from overlay.contexts.context import Context

__all__ = [
    "BarrierArgument",
    "Variant",
    "can_interpret",
    "checked",
    "compiled_variant",
    "parameter_of",
    "result_of",
]

# Types of values that the interpreter shares with compiled code, or receives as constants.
SHARED: Final = (
    types.Number,
    types.Boolean,
    types.NoneType,
    types.UnicodeType,
    types.Array,
    types.ListType,
    types.DictType,
    types.ClassInstanceType,
    types.EnumMember,
    types.NPDatetime,
    types.NPTimedelta,
)


class BarrierArgument(NamedTuple):
    """One argument of the calls: its type, and in a tuple its value if that is known at compile
    time, such as a function."""

    type: Type
    constant: tuple[Any] | None


@dataclass(eq=False)
class Variant:
    """The function compiled for one context. keeps: objects that its code needs."""

    engine: CompiledContext
    address: int
    keeps: Any


def parameter_of(ty: Type) -> BarrierArgument:
    """Description of an argument of this type for a barrier."""
    if isinstance(ty, ContextType):
        return BarrierArgument(ty, (ty.engine.context,))
    if isinstance(ty, KnownType):
        return BarrierArgument(ty, (ty.value,))
    if isinstance(ty, (MadeContextType, MadePluginType)):
        return BarrierArgument(ty, None)
    value = value_of(ty)
    if value is not None:
        return BarrierArgument(ty, (value,))
    for each in functions_within(ty):
        raise failures.handed_on(*programs_functions(each))
    return BarrierArgument(types.unliteral(ty), None)


def can_interpret(parameters: Sequence[BarrierArgument], result: Type) -> bool:
    """Whether a call has equal results in the interpreter, as far as types tell."""
    return _is_shared(result) and all(
        p.constant is not None or _is_shared(p.type) for p in parameters
    )


def _is_shared(ty: Type) -> bool:
    if isinstance(ty, types.Optional):
        return _is_shared(ty.type)
    if isinstance(ty, types.BaseTuple):
        return all(map(_is_shared, ty.types))
    return isinstance(ty, SHARED)


# ---- the type of the result ---------------------------------------------------------------


def result_of(
    world: World,
    engine: CompiledContext,
    made: MadeContextType,
    target: Any,
    parameters: Sequence[BarrierArgument],
    names: Sequence[str],
    is_base: bool,
) -> tuple[Type, CompiledContext | None]:
    """The result type of a barrier's calls, and the context in which it was inferred.

    Raises NotCompilable where the function does not declare it and it cannot be inferred.
    """
    declared = _declared(target)
    if declared is not None:
        return declared, None
    if not all(map(_keeps_types, _plugins_of(made))):
        raise failures.result_not_inferred(target, "a plugin that is made there may change it")
    only_types = _only_types(engine, made)
    inside = only_types.world(world.options)
    args, kws = _arguments(inside, parameters, names)
    callee = inside.stand_ins.callee(target, is_base=is_base)
    try:
        sig = callee._numba_type_.get_call_type(inside.typing, args, kws)
    except errors.NumbaError as error:
        failure = failures.failure_in(str(error))
        reason = str(error if failure is None else failure.error)
        cause = None if failure is None else failure.error.__cause__
        raise failures.result_not_inferred(target, reason) from cause
    return types.unliteral(sig.return_type), only_types


def _declared(target: Any) -> Type | None:
    """The type of a function's return annotation, or None."""
    function = getattr(target, "py_func", target)
    try:
        return numba_type(typing.get_type_hints(function)["return"])
    except (AttributeError, KeyError, NameError, TypeError, OverlayError):
        return None


def _plugins_of(made: MadeContextType) -> list[Any]:
    """The plugins of a context: for those made at run time, their classes."""
    plugins = dict(made.fields).get("plugins", types.Tuple(()))
    return [ty.kind if isinstance(ty, MadePluginType) else ty.value for ty in plugins.types]


def _keeps_types(plugin: Any) -> bool:
    """Whether a plugin, or a class of plugins, declares that it leaves types unchanged."""
    kind = plugin if isinstance(plugin, type) else type(plugin)
    return "types" in plugin.preserves and kind.infer is Plugin.infer


def _only_types(engine: CompiledContext, made: MadeContextType) -> CompiledContext:
    """The context for type inference: only the type of the metadata is known, and plugins that
    leave types unchanged do not take part."""
    changes: dict[str, Any] = {
        "plugins": tuple(plugin for plugin in engine.plugins if not _keeps_types(plugin))
    }
    metadata = dict(made.fields).get("metadata")
    if metadata is not None:
        is_known = not any(True for _ in leaves_of(metadata))
        known = rebuilt(metadata, iter(())) if is_known else unknown_metadata(metadata)
        changes["metadata"] = known
    context = engine.context.replace(**changes)
    return type(engine).of(context, engine.interpretation, only_types=True)


def _arguments(
    world: World, parameters: Sequence[BarrierArgument], names: Sequence[str]
) -> tuple[tuple[Type, ...], dict[str, Type]]:
    """The types of a barrier's arguments in code of a world."""
    args = tuple(p.type if p.constant is None else function_in(world, p.type) for p in parameters)
    count = len(args) - len(names)
    return args[:count], dict(zip(names, args[count:], strict=True))


# ---- variants -----------------------------------------------------------------------------


def compiled_variant(barrier: Barrier, engine: CompiledContext) -> tuple[Variant, World]:
    """Compile the function of a barrier for one context; return it with its world."""
    with global_compiler_lock:  # before the lock of tables, which a new world takes
        world = engine.world(barrier.options)
        try:
            code = _code(world, barrier)
        except errors.NumbaError as error:
            failure = failures.failure_in(str(error))
            if failure is not None:
                raise failure.raised() from failure.error.__cause__
            raise failures.of_entry(barrier.target, str(error)) from None
    address = code.library.get_pointer_to_function(code.fndesc.llvm_func_name)
    return Variant(engine, address, code), world


def _code(world: World, barrier: Barrier) -> Any:
    target = barrier.target
    callee = world.stand_ins.callee(target, is_base=barrier.is_base)
    given, named = _arguments(world, barrier.parameters, barrier.names)
    sig = callee._numba_type_.get_call_type(world.typing, given, named)
    returned = sig.return_type
    args, ways = (*given, *named.values()), by_position(len(given), tuple(named))
    if returned == types.none != barrier.result and not _holds_none(barrier.result):
        error = failures.other_result(target, str(barrier.result), "None", world.engine.context)
        entry = world.dispatcher(ending(callee, ways, error))
        entry.compile(args)
        return entry.overloads[args]
    if world.typing.unify_pairs(types.unliteral(returned), barrier.result) != barrier.result:
        raise failures.other_result(
            target, str(barrier.result), a_or_an(returned), world.engine.context
        )
    found = callee._numba_type_.outcome(given, named).callee
    if isinstance(found, InnerDispatcher) and not named and returned == barrier.result:
        code = found.overloads.get(given)
        if code is not None:
            return code
    entry = world.dispatcher(calling(callee, ways))
    entry.compile(signature(barrier.result, *args))
    return entry.overloads[args]


def _holds_none(ty: Type) -> bool:
    return isinstance(ty, (types.Optional, types.NoneType))


# ---- results of the interpreter -----------------------------------------------------------


def checked(barrier: Barrier, context: Context, result: Any) -> Any:
    """Check a result of the interpreter. Raises NotCompilable where compiled code expects another
    type."""
    expected = barrier.result
    if _is_number_of(expected, result):
        return result
    try:
        found = typeof(result)
    except (ValueError, errors.NumbaError):
        found = None
    if found is None or numba_typing().unify_pairs(found, expected) != expected:
        shown = f"{result!r}, {a_or_an(type(result).__qualname__)}"
        raise failures.other_result(barrier.target, str(expected), shown, context)
    return result


def _is_number_of(ty: Type, value: Any) -> bool:
    """Whether a number is a value of a type; Python's numbers have no width."""
    kind = type(value)
    if isinstance(ty, types.Integer):
        return issubclass(kind, (int, np.integer)) and ty.minval <= value <= ty.maxval
    if isinstance(ty, types.Float):
        return issubclass(kind, (int, float, np.integer, np.floating))
    return False
