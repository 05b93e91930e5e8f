"""Which of numba's implementations are bodies of the program, compiled in a world.

These are what another library gave numba with ``@overload``, and the constructors and operators
of a ``jitclass``; where it is asked for (``enter_numba=True``) also numba's own implementations
in Python of builtins and numpy functions.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from numba import njit
from numba.core import cgutils, errors, types
from numba.core.typing.templates import _OverloadFunctionTemplate
from numba.experimental.jitclass.base import imp_dtor
from numba.extending import intrinsic

from overlay.compiled.numba.numba_types import Type, numba_typing
from overlay.compiled.resolved_calls import GLUE
from overlay.core.target import type_attribute

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["implementation"]


def implementation(
    world: World, function: Any, args: Sequence[Type], kws: Mapping[str, Type]
) -> Any | None:
    """The Python function, as a numba dispatcher, that a call of what is numba's own runs in a
    world; None where it is left to numba. function: its type, or the callable."""
    if isinstance(function, types.ClassType):
        return constructor(function.instance_type)
    subscript = subscript_of(function, args)
    if subscript is not None:
        return subscript
    if not isinstance(function, Type):
        function = numba_typing()._lookup_global(function)
    if not isinstance(function, types.Function):
        return None
    if function.typing_key is bool and args and isinstance(args[0], types.BaseNamedTuple):
        return type_attribute(args[0].instance_class, "__bool__")
    for template in function.templates:
        if not issubclass(template, _OverloadFunctionTemplate):
            if world.enters_numba and _accepts(template, args, kws):
                return None
        elif _is_entered(world, template, args):
            found = _chosen(template, args, kws)
            if found is not None:
                return found
    return None


def _is_entered(world: World, template: Any, args: Sequence[Type]) -> bool:
    """Whether the implementations of one ``@overload`` are the program's."""
    if world.enters_numba:
        return True
    module = template._overload_func.__globals__.get("__name__", "")
    if module.startswith("numba.experimental.jitclass"):
        return bool(args) and isinstance(args[0], types.ClassInstanceType)
    return not f"{module}.".startswith("numba.")


def _accepts(template: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> bool:
    try:
        return template(numba_typing()).apply(tuple(args), dict(kws)) is not None
    except errors.NumbaError:
        return False


def _chosen(template: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any | None:
    """What one ``@overload`` chooses for these types, or None."""
    plain = [types.unliteral(a) for a in args], {n: types.unliteral(a) for n, a in kws.items()}
    readings = [(args, kws), plain] if template.prefer_literal else [plain, (args, kws)]
    for given, named in readings:
        try:
            found = template._overload_func(*given, **named)
        except (TypeError, errors.NumbaError):
            continue  # it refuses these types, as numba sees it
        if inspect.isfunction(found):
            options = {k: v for k, v in template._jit_options.items() if k != "nopython"}
            return njit(**options)(found)
    return None


# ---- jitclasses ---------------------------------------------------------------------------


SUBSCRIPTS: Final = {operator.getitem: "__getitem__", operator.setitem: "__setitem__"}


def subscript_of(function: Any, args: Sequence[Type]) -> Any | None:
    """The method of a ``jitclass`` that a subscript calls, or None for anything else."""
    if not (args and isinstance(args[0], types.ClassInstanceType)):
        return None
    function = getattr(function, "typing_key", function)
    name = next((name for fn, name in SUBSCRIPTS.items() if fn is function), "")
    return args[0].jit_methods.get(name)


def constructor(instance: types.ClassInstanceType) -> Any:
    """A function that makes an instance of a ``jitclass``."""
    init = instance.jit_methods["__init__"]
    parameters = list(inspect.signature(init.py_func).parameters.values())[1:]
    defaults = {f"_{p.name}": p.default for p in parameters if p.default is not p.empty}
    taken = [p.name + (f"=_{p.name}" if f"_{p.name}" in defaults else "") for p in parameters]
    given = [p.name for p in parameters]
    source = (
        f"def make({', '.join(taken)}):\n"
        "    made_ = allocate_()\n"
        f"    init_({', '.join(['made_', *given])})\n"
        "    return made_\n"
    )
    namespace: dict[str, Any] = {"allocate_": _allocator(instance), "init_": init, **defaults}
    exec(compile(source, GLUE, "exec"), namespace)
    return njit(namespace["make"])


def _allocator(instance: types.ClassInstanceType) -> Any:
    """What gives an instance that no ``__init__`` has seen, for compiled code."""

    @intrinsic
    def allocate(typingctx: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            data = context.get_data_type(instance.get_data_type())
            size = context.get_constant(types.uintp, context.get_abi_sizeof(data))
            destructor = imp_dtor(context, builder.module, instance)
            meminfo = context.nrt.meminfo_alloc_dtor(builder, size, destructor)
            memory = builder.bitcast(context.nrt.meminfo_data(builder, meminfo), data.as_pointer())
            builder.store(cgutils.get_null_value(data), memory)
            made = context.make_helper(builder, instance)
            made.meminfo = meminfo
            made.data = memory
            return made._getvalue()

        return instance(), generate

    return allocate
