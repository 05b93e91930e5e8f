"""Values of interpretations that are named tuples, such as dual numbers. Among them are numbers of
a level: a plain number becomes one where a variable holds the one or the other."""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.core.boxing import box_tuple
from numba.core.datamodel.models import TupleModel
from numba.core.imputils import lower_cast
from numba.core.typeconv import Conversion
from numba.core.typing.templates import Signature
from numba.extending import box, register_model

from overlay.compiled.numba.numba_types import Type, address_of, boxed_object
from overlay.core.interpreted_values import INTERPRETED, LEVEL, UNDERLYING
from overlay.core.target import type_attribute

__all__ = ["LevelNumberType", "made_of_interpretation"]

PLAIN = (types.Number, types.Boolean)


class InterpretedTupleType(types.NamedTuple):
    """The type of named tuples that compiled code makes and takes from no caller.

    What boxes them has the address of their class. numba would pickle the class, by value, with the
    context that it refers to, and all that refers to.
    """


class LevelNumberType(InterpretedTupleType):
    """The type of the numbers of a level: named tuples whose fields are zero for a plain number,
    except the one that holds it.

    A number of a level further out is a plain one.
    """

    @property
    def level(self) -> int:
        return type_attribute(self.instance_class, LEVEL)

    @property
    def place(self) -> int:
        """The index of the field of the plain number."""
        return self.fields.index(type_attribute(self.instance_class, UNDERLYING))

    def is_of(self, other: Type) -> bool:
        """Whether values of a type have the same class."""
        return isinstance(other, LevelNumberType) and other.instance_class is self.instance_class

    def takes(self, other: Type) -> bool:
        """Whether values of a type are plain numbers to this one."""
        if isinstance(other, LevelNumberType):
            return other.level < self.level
        return isinstance(other, PLAIN)

    def unify(self, typingctx: Any, other: Type) -> Type | None:
        if self.is_of(other):
            pairs = zip(self.types, other.types, strict=True)
            parts = [typingctx.unify_pairs(mine, theirs) for mine, theirs in pairs]
        elif self.takes(other):
            plain = typingctx.unify_pairs(self.types[self.place], types.unliteral(other))
            parts = [None if plain is None else _with_number(typingctx, t, plain) for t in self]
        else:
            return None
        return None if None in parts else LevelNumberType(parts, self.instance_class)

    def can_convert_from(self, typingctx: Any, other: Type) -> Any:
        if self.is_of(other):
            pairs = zip(other.types, self.types, strict=True)
            found = [typingctx.can_convert(theirs, mine) for theirs, mine in pairs]
            return None if None in found else max(found)
        if not self.takes(other):
            return None
        found = typingctx.can_convert(other, self.types[self.place])
        return None if found is None else max(found, Conversion.safe)


for _type in (InterpretedTupleType, LevelNumberType):
    register_model(_type)(TupleModel)


@box(InterpretedTupleType)
@box(LevelNumberType)
def _boxed(ty: Any, value: Any, c: Any) -> Any:
    cls = boxed_object(c, address_of(c, ty.instance_class))
    parts = box_tuple(ty, value, c)
    made = c.pyapi.call(cls, parts)
    c.pyapi.decref(cls)
    c.pyapi.decref(parts)
    return made


def _with_number(typingctx: Any, part: Type, plain: Type) -> Type | None:
    """The type of a field of a number whose plain number has another type."""
    if isinstance(part, types.BaseTuple) and not isinstance(part, LevelNumberType):
        parts = [_with_number(typingctx, each, plain) for each in part.types]
        return None if None in parts else types.BaseTuple.from_types(parts)
    return typingctx.unify_pairs(part, plain)


def made_of_interpretation(cls: type, sig: Signature) -> Signature:
    """The signature of a call of a class of named tuples; where its instances are values of an
    interpretation, with the type of these."""
    if type_attribute(cls, LEVEL) is not None:
        made: type[types.NamedTuple] = LevelNumberType
    elif type_attribute(cls, INTERPRETED) is True:
        made = InterpretedTupleType
    else:
        return sig
    return sig.replace(return_type=made(sig.return_type.types, cls))


@lower_cast(types.Number, LevelNumberType)
@lower_cast(types.Boolean, LevelNumberType)
def _of_plain(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    """A constant of a level: its other fields are zero."""
    parts = [context.get_constant_null(ty) for ty in toty.types]
    parts[toty.place] = context.cast(builder, value, fromty, toty.types[toty.place])
    return context.make_tuple(builder, toty, parts)


@lower_cast(LevelNumberType, LevelNumberType)
def _of_level(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    if not toty.is_of(fromty):
        return _of_plain(context, builder, fromty, toty, value)
    parts = [
        context.cast(builder, part, ty, wanted)
        for part, ty, wanted in zip(
            cgutils.unpack_tuple(builder, value), fromty.types, toty.types, strict=True
        )
    ]
    return context.make_tuple(builder, toty, parts)
