"""``outer | inner`` in compiled code, where at least one of the contexts is made at run time."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from numba.core import types
from numba.core.imputils import impl_ret_borrowed, lower_builtin
from numba.core.typing.templates import Signature, signature
from numba.extending import models, register_model

from overlay.compiled import failures
from overlay.compiled.numba.context_values import ContextType, KnownType
from overlay.compiled.numba.made_contexts import MadeContextType, made_context, struct_of
from overlay.compiled.numba.numba_types import Type, refused
from overlay.contexts.context import Context

if TYPE_CHECKING:
    from collections.abc import Mapping

    from overlay.compiled.world import World

__all__ = ["Joins", "joined"]

JOINING: Final = (operator.or_, operator.ior)


def joined(world: World, function: Any, args: Sequence[Type]) -> Signature | None:
    """The signature of an operator that joins contexts, unless both are constants; else None."""
    function = getattr(function, "typing_key", function)
    contexts = all(isinstance(ty, (ContextType, MadeContextType)) for ty in args)
    if not (contexts and len(args) == 2 and any(function is each for each in JOINING)):
        return None
    outer, inner = args
    fields = {
        name: field
        for name, field in (
            ("metadata", _metadata(world, outer, inner)),
            ("plugins", _plugins(world, outer, inner)),
        )
        if field is not None
    }
    both = (_known(outer) | _known(inner)).compiled
    world.keep(both)
    return signature(made_context(world, both, fields) if fields else ContextType(both), *args)


def _known(ty: Type) -> Context:
    """The part of a context that is known at compile time."""
    return ty.template.context if isinstance(ty, MadeContextType) else ty.engine.context


def _field(ty: Type, name: str) -> Type | None:
    """The type of a field that is known only at run time, or None."""
    return dict(ty.fields).get(name) if isinstance(ty, MadeContextType) else None


def _gives_metadata(inner: Type) -> bool:
    """Whether the inner one of two contexts has metadata, which are then those of both."""
    return _field(inner, "metadata") not in (None, types.none)


def _metadata(world: World, outer: Type, inner: Type) -> Type | None:
    given, around = _field(inner, "metadata"), _field(outer, "metadata")
    if not isinstance(given, types.Optional):
        known = given is None and _known(inner).metadata is not None
        return given if _gives_metadata(inner) else None if known else around
    if around not in (None, types.none) or _known(outer).metadata is not None:
        raise refused(world, failures.joined_with_none(str(given)))
    return given


def _plugins(world: World, outer: Type, inner: Type) -> Type | None:
    if _field(outer, "plugins") is None and _field(inner, "plugins") is None:
        return None
    return types.Tuple([ty for each in (outer, inner) for ty in _types_of_plugins(world, each)])


def _types_of_plugins(world: World, ty: Type) -> Sequence[Type]:
    field = _field(ty, "plugins")
    if field is None:
        return [KnownType(plugin) for plugin in _known(ty).plugins]
    if not isinstance(field, types.BaseTuple):
        raise refused(world, failures.unknown_to_compiled_code("plugins", str(field)))
    return field.types


# ---- code generation ----------------------------------------------------------------------


class Joins(types.Callable, types.Opaque):
    """The type of the callable that joins two contexts."""

    def __init__(self, made: MadeContextType) -> None:
        self.made = made
        super().__init__(f"joins({made})")

    @property
    def key(self) -> Any:
        return self.made

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        return signature(self.made, *args)

    def get_call_signatures(self) -> Any:
        return (), True

    def get_impl_key(self, sig: Signature) -> Any:
        return _joined_of


register_model(Joins)(models.OpaqueModel)


def _joined_of() -> None:
    """Key of the implementation."""


@lower_builtin(_joined_of, types.Any, types.Any)
def _join(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    given = list(zip(sig.args, args, strict=True))
    values: list[Any] = []
    for name, ty in sig.return_type.fields:
        if name == "plugins":
            parts = [part for each in given for part in _parts(context, builder, *each)]
            values.append(context.make_tuple(builder, ty, parts))
        else:
            values.append(_value(builder, *given[_gives_metadata(sig.args[1])], name))
    return impl_ret_borrowed(
        context, builder, sig.return_type, struct_of(context, builder, sig.return_type, values)
    )


def _value(builder: Any, ty: Type, value: Any, name: str) -> Any:
    return builder.extract_value(value, [each for each, _ in ty.fields].index(name))


def _parts(context: Any, builder: Any, ty: Type, value: Any) -> list[Any]:
    """The plugins of a context."""
    field = _field(ty, "plugins")
    if field is None:
        return [context.get_dummy_value() for _ in _known(ty).plugins]
    held = _value(builder, ty, value, "plugins")
    return [builder.extract_value(held, index) for index in range(len(field.types))]
