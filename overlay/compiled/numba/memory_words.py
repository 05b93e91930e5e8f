"""Run-time values as words of memory and as Python objects.

Compiled code compares values by type and by words of eight bytes: numbers by their bits, text by
its characters. A *leaf* is a part of a value that is neither a tuple nor a plugin.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from llvmlite import ir as llvm
from numba.core import cgutils, types

from overlay.compiled.dispatch_types import SCALARS
from overlay.compiled.numba.context_values import KnownType
from overlay.compiled.numba.made_contexts import MadePluginType
from overlay.compiled.numba.numba_types import Type

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["TEXT", "WORD", "kinds_of", "leaves", "leaves_of", "rebuilt", "unknown_part", "words"]

WORD: Final = llvm.IntType(64)
# The kinds of words: bits; and for a text, its length and width, and the address of its characters.
BITS, TEXT, CHARACTERS = "bits", "text", "characters"


def _is_constant(ty: Type) -> bool:
    return isinstance(ty, (KnownType, types.StringLiteral, types.NoneType))


def unknown_part(ty: Type) -> Type | None:
    """The first part of a type whose values compiled code cannot compare, or None."""
    return next((leaf for leaf in leaves_of(ty) if kinds_of(leaf) is None), None)


def leaves_of(ty: Type) -> Iterator[Type]:
    """The types of the leaves of a value, without those whose value follows from the type."""
    if isinstance(ty, MadePluginType):
        parts = ty.args
    elif isinstance(ty, types.BaseTuple):
        parts = ty.types
    else:
        if not _is_constant(ty):
            yield ty
        return
    for part in parts:
        yield from leaves_of(part)


def leaves(builder: Any, ty: Type, value: Any) -> Iterator[tuple[Type, Any]]:
    """The leaves of a value in compiled code, each with its type."""
    parts = ty.args if isinstance(ty, MadePluginType) else getattr(ty, "types", None)
    if isinstance(ty, (MadePluginType, types.BaseTuple)):
        for index, part in enumerate(parts):
            yield from leaves(builder, part, builder.extract_value(value, index))
    elif not _is_constant(ty):
        yield ty, value


def rebuilt(ty: Type, objects: Iterator[Any]) -> Any:
    """The Python value of a type, from the objects of its leaves."""
    if isinstance(ty, KnownType):
        return ty.value
    if isinstance(ty, types.StringLiteral):
        return ty.literal_value
    if isinstance(ty, types.NoneType):
        return None
    if isinstance(ty, MadePluginType):
        return ty.made([rebuilt(part, objects) for part in ty.args])
    if isinstance(ty, types.BaseTuple):
        parts = [rebuilt(part, objects) for part in ty.types]
        return ty.instance_class(*parts) if isinstance(ty, types.BaseNamedTuple) else tuple(parts)
    found = next(objects)
    return SCALARS[ty](found) if isinstance(ty, types.Number) and ty in SCALARS else found


# ---- words --------------------------------------------------------------------------------


def kinds_of(leaf: Type) -> tuple[str, ...] | None:
    """The kinds of the words of a leaf, or None where it has none."""
    if leaf == types.unicode_type:
        return TEXT, CHARACTERS
    if isinstance(leaf, types.Optional):
        inner = kinds_of(leaf.type)
        return (BITS, *inner) if inner is not None and TEXT not in inner else None
    if isinstance(leaf, types.Complex):
        return BITS, BITS
    if isinstance(leaf, types.EnumMember):
        return kinds_of(leaf.dtype)
    plain = types.Integer, types.Float, types.Boolean
    return (BITS,) if isinstance(leaf, plain) else None


def words(context: Any, builder: Any, leaf: Type, value: Any) -> list[Any]:
    """The words of a leaf in compiled code."""
    if isinstance(leaf, types.Optional):
        held = context.make_helper(builder, leaf, value)
        valid = cgutils.as_bool_bit(builder, held.valid)
        inner = words(context, builder, leaf.type, held.data)
        nothing = WORD(0)
        return [builder.zext(valid, WORD), *(builder.select(valid, w, nothing) for w in inner)]
    if isinstance(leaf, types.EnumMember):
        return words(context, builder, leaf.dtype, value)
    if isinstance(leaf, types.Complex):
        parts = context.make_complex(builder, leaf, value)
        return [_bits(builder, part) for part in (parts.real, parts.imag)]
    if leaf == types.unicode_type:
        text = context.make_helper(builder, leaf, value)
        kind = builder.zext(text.kind, WORD)
        return [
            builder.or_(builder.shl(text.length, WORD(3)), kind),
            builder.ptrtoint(text.data, WORD),
        ]
    return [_bits(builder, value)]


def _bits(builder: Any, value: Any) -> Any:
    if isinstance(value.type, llvm.FloatType):
        value = builder.bitcast(value, llvm.IntType(32))
    elif isinstance(value.type, llvm.DoubleType):
        return builder.bitcast(value, WORD)
    return value if value.type == WORD else builder.zext(value, WORD)


def bytes_of_text(word: int) -> int:
    """The size in bytes of the characters of a text, from its first word."""
    return (word >> 3) * (word & 7)


def sequence_of_kinds(fields: Sequence[tuple[str, Type]]) -> list[str]:
    """The kinds of all words of these fields."""
    found: list[str] = []
    for _, ty in fields:
        for leaf in leaves_of(ty):
            found += kinds_of(leaf) or ()
    return found
