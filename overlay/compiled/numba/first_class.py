"""First-class functions: values of which compiled code knows only the signature.

Such a value is an address, so the function to enter replaces it where the value comes into compiled
code in an argument from Python. Where a value cannot be replaced, as in the items of a typed list,
it is refused if it leads to a method.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from numba import typeof
from numba.core import types
from numba.core.errors import NumbaError
from numba.core.types.function_type import CompileResultWAP
from numba.core.typing.templates import Signature

from overlay.compiled import failures
from overlay.compiled.basis import Basis
from overlay.compiled.numba.dispatchers import InnerDispatcher
from overlay.compiled.numba.interfaces import Callback, callback_of
from overlay.compiled.numba.numba_types import Native, Type
from overlay.core.errors import NotCompilable

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["as_given", "as_returned", "gives_functions", "holds_functions", "misses_methods"]

# numba puts the signature of a function into the name of each type that contains it.
_WRITTEN = f"{types.FunctionType.__name__}["


def holds_functions(ty: Type) -> bool:
    """Whether values of a type are, or contain, functions known by their signature alone."""
    return _WRITTEN in ty.name and not isinstance(ty, types.TypeRef)


# ---- arguments and results ----------------------------------------------------------------


def as_given(world: World, value: Any, ty: Type) -> Any:
    """Convert an argument of this type for compiled code of a world.

    Raises NotCompilable for a container with a function that leads to a method.
    """
    if not holds_functions(ty) or value is None:
        return value
    if isinstance(ty, types.Optional):
        return as_given(world, value, ty.type)
    if isinstance(ty, types.FunctionType):
        return _entered(world, value, ty.signature)
    if isinstance(ty, types.BaseTuple):
        return _rebuilt(value, [as_given(world, *each) for each in zip(value, ty, strict=True)])
    for function, sig in _functions_in(value, ty):
        found = _entered(world, function, sig)
        if isinstance(found, InnerDispatcher) and _leads_to_methods(found, tuple(sig.args)):
            raise failures.function_in_container(function, str(ty))
    return value


def _entered(world: World, value: Any, sig: Signature) -> Any:
    if isinstance(value, CompileResultWAP):
        raise failures.function_in_container(value, "an object with its address alone")
    found = function_in_world(world, value)
    if isinstance(found, InnerDispatcher):
        found.get_compile_result(sig)
        world.keep(found)
    return found


def function_in_world(world: World, value: Any) -> Any:
    """The replacement of a function where its value is needed; unchanged for machine code without a
    Python function."""
    found = world.stand_ins.of(value)
    if found is None or isinstance(found, Native):
        return value
    return found if isinstance(found, InnerDispatcher) else world.limited(found)


def _functions_in(value: Any, ty: Type) -> Iterator[tuple[Any, Signature]]:
    """The functions in a value, with their signatures."""
    if not holds_functions(ty) or value is None:
        return
    if isinstance(ty, types.FunctionType):
        yield value, ty.signature
        return
    parts: list[tuple[Any, Type]]
    if isinstance(ty, types.Optional):
        parts = [(value, ty.type)]
    elif isinstance(ty, types.BaseTuple):
        parts = list(zip(value, ty, strict=True))
    elif isinstance(ty, (types.ListType, types.List, types.Set)):
        parts = [(each, ty.dtype) for each in value]
    elif isinstance(ty, types.DictType):
        parts = [(each, ty.value_type) for each in value.values()]
        parts += [(each, ty.key_type) for each in value]
    else:
        raise failures.functions_not_seen(str(ty))
    for part in parts:
        yield from _functions_in(*part)


def misses_methods(world: World, value: Any, args: tuple[Any, ...]) -> bool:
    """Whether the machine code of a ``@cfunc`` or ``@stencil`` object, called with these arguments,
    misses a method that its function leads to in a world. Code that cannot be compiled in the
    world may miss one.
    """
    callback = callback_of(value)
    function = value.kernel_ir.func_id.func if callback is None else callback
    given = tuple(map(typeof, args)) if callback is None else next(iter(callback.declared))
    try:
        return _leads_to_methods(world.dispatcher(function), given)
    except (NotCompilable, NumbaError):
        return True


def _leads_to_methods(function: InnerDispatcher, args: tuple[Type, ...]) -> bool:
    function.compile(args)
    code = function.codes[args]
    return code.enters_methods or any(map(_depends_on_context, code.basis.all_below()))


def _depends_on_context(basis: Basis) -> bool:
    is_reached = any(view.methods for view in basis.views.values())
    bound = basis.is_private or basis.context is not None or basis.metadata or basis.state
    return is_reached or bool(bound)


def _rebuilt(value: tuple[Any, ...], items: list[Any]) -> tuple[Any, ...]:
    kind = type(value)
    return kind(*items) if hasattr(kind, "_fields") else tuple(items)


def gives_functions(ty: Type) -> bool:
    """Whether a result of this type is, or contains, functions that ``as_returned`` converts."""
    if isinstance(ty, types.Dispatcher):
        return isinstance(ty.dispatcher, InnerDispatcher)
    if isinstance(ty, types.BaseTuple):
        return any(map(gives_functions, ty.types))
    if isinstance(ty, types.List):
        return gives_functions(ty.dtype)
    return holds_functions(ty)


def as_returned(value: Any) -> Any:
    """Convert a result for the program: dispatchers become its own functions."""
    if isinstance(value, tuple):
        return _rebuilt(value, list(map(as_returned, value)))
    if isinstance(value, list):
        return list(map(as_returned, value))
    if not isinstance(value, InnerDispatcher):
        return value
    function = value.function
    return function.callback() if isinstance(function, Callback) else function
