"""Contexts and plugins that are known only at run time, in compiled code.

``context.replace(metadata=value)`` and ``MyPlugin(value)`` are values that hold the parts unknown
at compile time. The objects are made from these where they are entered: see ``barrier_calls``.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed, lower_builtin
from numba.core.types.functions import WeakType
from numba.core.typing.templates import Signature, signature
from numba.extending import models, register_model

from overlay.compiled import failures
from overlay.compiled.numba.numba_types import CalledAtOnce, StandIn, Type, refused
from overlay.core.target import is_below
from overlay.plugins.plugin import Plugin

if TYPE_CHECKING:
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.world import World

__all__ = [
    "AttributeReader",
    "MadeContextType",
    "MadePluginType",
    "Makes",
    "Named",
    "UnknownMetadata",
    "fields_after",
    "is_plugin_class",
    "made_context",
    "made_plugin",
    "plain",
    "struct_of",
    "unknown_metadata",
]

# Fields that may differ from call to call, in the order of a value's fields.
CHANGING = ("metadata", "plugins")


def is_plugin_class(value: Any) -> bool:
    return type(value) is type and is_below(value, Plugin)


class UnknownMetadata(StandIn):
    """Metadata of contexts used for type inference, of which only the type is known."""

    def __init__(self, ty: Type) -> None:
        self._numba_type_ = ty

    def __eq__(self, other: object) -> bool:
        return type(other) is UnknownMetadata and other._numba_type_ == self._numba_type_

    def __hash__(self) -> int:
        return hash((UnknownMetadata, self._numba_type_))

    def __repr__(self) -> str:
        return f"a {self._numba_type_}"


@functools.cache
def unknown_metadata(ty: Type) -> UnknownMetadata:
    """The cached object for a type."""
    return UnknownMetadata(ty)


# ---- contexts -----------------------------------------------------------------------------


class MadeContextType(WeakType, CalledAtOnce):
    """The type of a context that is ``template`` with some fields set at run time."""

    def __init__(self, template: CompiledContext, fields: tuple[tuple[str, Type], ...]) -> None:
        self._store_object(template)
        self.fields = fields
        changes = ", ".join(f"{name}={ty}" for name, ty in fields)
        super().__init__(f"{template.context!r}.replace({changes})")

    @property
    def template(self) -> CompiledContext:
        return self._get_object()

    @property
    def key(self) -> Any:
        return self._wr, self.fields

    def __eq__(self, other: object) -> bool:
        if type(other) is not MadeContextType:
            return NotImplemented
        return self._wr() is other._wr() is not None and self.fields == other.fields

    def __hash__(self) -> int:
        return hash((id(self._wr()), self.fields))

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        """The signature of a call ``context(f, *args)``."""
        return context.world.barriers.signature(self, args, kws, dropped=1)


@register_model(MadeContextType)
class _MadeContextModel(models.StructModel):
    def __init__(self, manager: Any, made: MadeContextType) -> None:
        super().__init__(manager, made, list(made.fields))


def fields_after(
    world: World, fields: Mapping[str, Type], args: Sequence[Type], kws: Mapping[str, Type]
) -> dict[str, Type]:
    """The fields of a context after ``replace(*args, **kws)``."""
    if args:
        raise refused(world, failures.replaced_by_position())
    for name in kws:
        if name not in CHANGING:
            raise refused(world, failures.changed_at_run_time(name))
    changed = {**fields, **{name: plain(ty) for name, ty in kws.items()}}
    return {name: changed[name] for name in CHANGING if name in changed}


def made_context(world: World, owner: CompiledContext, fields: Mapping[str, Type]) -> Type:
    """The type of a context like that of ``owner``, with these fields."""
    wiped = {name: () if name == "plugins" else None for name in fields}
    template = owner.context.replace(**wiped).compiled
    world.keep(template)
    return MadeContextType(template, tuple(fields.items()))


def plain(ty: Type) -> Type:
    """The type that a field is stored as; a text literal keeps its type."""
    if isinstance(ty, types.StringLiteral):
        return ty
    if isinstance(ty, types.BaseTuple) and not isinstance(ty, types.BaseNamedTuple):
        return types.Tuple(tuple(map(plain, ty.types)))
    return types.unliteral(ty)


# ---- plugins ------------------------------------------------------------------------------


class MadePluginType(types.Type):
    """The type of a plugin that is made at run time."""

    def __init__(self, kind: type[Plugin], args: tuple[Type, ...], names: tuple[str, ...]) -> None:
        self.kind = kind
        self.args = args
        self.names = names
        super().__init__(f"{kind.__qualname__}({', '.join(map(str, args))})")

    @property
    def key(self) -> Any:
        return self.kind, self.args, self.names

    def made(self, args: Sequence[Any]) -> Plugin:
        """The plugin made from these arguments."""
        count = len(args) - len(self.names)
        return self.kind(*args[:count], **dict(zip(self.names, args[count:], strict=True)))


@register_model(MadePluginType)
class _MadePluginModel(models.StructModel):
    def __init__(self, manager: Any, made: MadePluginType) -> None:
        super().__init__(manager, made, [(f"a{i}", ty) for i, ty in enumerate(made.args)])


def made_plugin(kind: type[Plugin], args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
    """The signature of a call of a class of plugins."""
    given = tuple(map(plain, (*args, *kws.values())))
    return signature(MadePluginType(kind, given, tuple(kws)), *args, *kws.values())


# ---- construction -------------------------------------------------------------------------


class NamesType(types.Opaque):
    """The type of the names of the fields passed to ``replace``."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        super().__init__(f"names{names}")


class Named(StandIn):
    """Stand-in for the names of fields."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._numba_type_ = NamesType(names)


class Makes(types.Callable, types.Opaque):
    """The type of the constructor of a value of one of the types above.

    Called with the values of a plugin; or with names, the replaced context, and the values.
    """

    def __init__(self, made: Type) -> None:
        self.made = made
        super().__init__(f"makes({made})")

    @property
    def key(self) -> Any:
        return self.made

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        if isinstance(self.made, MadePluginType):
            return signature(self.made, *self.made.args)
        fields = dict(self.made.fields)
        names = args[0].names
        return signature(self.made, *args[:2], *(fields[name] for name in names))

    def get_call_signatures(self) -> Any:
        return (), True

    def get_impl_key(self, sig: Signature) -> Any:
        return _plugin_of if isinstance(self.made, MadePluginType) else _context_of


register_model(NamesType)(models.OpaqueModel)
register_model(Makes)(models.OpaqueModel)


class AttributeReader(types.Callable, types.Opaque):
    """The type of the reader of an attribute of a context that is made at run time: a field, or
    ``replace``, whose value is that of the context. Called with the name and the context."""

    def __init__(self, result: Type) -> None:
        self.result = result
        super().__init__(f"reads({result})")

    @property
    def key(self) -> Any:
        return self.result

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        return signature(self.result, *args)

    def get_call_signatures(self) -> Any:
        return (), True

    def get_impl_key(self, sig: Signature) -> Any:
        return _field_of


register_model(AttributeReader)(models.OpaqueModel)


def _field_of() -> None:
    """Key of the implementation."""


def _plugin_of() -> None:
    """Key of the implementation."""


def _context_of() -> None:
    """Key of the implementation."""


@lower_builtin(_field_of, types.VarArg(types.Any))
def _read_field(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    (name,), names = sig.args[0].names, [each for each, _ in sig.args[1].fields]
    value = args[1]
    if name in names:
        value = builder.extract_value(value, names.index(name))
    return impl_ret_borrowed(context, builder, sig.return_type, value)


@lower_builtin(_plugin_of, types.VarArg(types.Any))
def _make_plugin(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    made = struct_of(context, builder, sig.return_type, args)
    return impl_ret_borrowed(context, builder, sig.return_type, made)


@lower_builtin(_context_of, types.VarArg(types.Any))
def _make_context(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    given = dict(zip(sig.args[0].names, args[2:], strict=True))
    owner = getattr(sig.args[1], "made", None)
    before = [] if owner is None else [name for name, _ in owner.fields]
    values = [
        given[name] if name in given else builder.extract_value(args[1], before.index(name))
        for name, _ in sig.return_type.fields
    ]
    made = struct_of(context, builder, sig.return_type, values)
    return impl_ret_borrowed(context, builder, sig.return_type, made)


def struct_of(context: Any, builder: Any, ty: Type, values: Sequence[Any]) -> Any:
    """A struct value of a type with these fields."""
    made = cgutils.get_null_value(context.get_value_type(ty))
    for index, value in enumerate(values):
        made = builder.insert_value(made, value, index)
    return made
