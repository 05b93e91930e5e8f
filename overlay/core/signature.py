"""Meaning of annotations, one for the interpreter, for plum and for numba.

An annotation is translated once to a plum hint; specificity and matching are plum's own.
The translation is where our meaning differs from plum's:

- ``int`` also accepts ``numpy.int64`` and booleans, ``bool`` also accepts ``numpy.bool_``:
  compiled code cannot tell them apart;
- ``numpy.ndarray[tuple[int, int], numpy.dtype[numpy.float64]]`` and ``NDArray[numpy.float64]``
  match by dtype and number of dimensions;
- element-typed containers whose elements would only be sampled (``list[int]``,
  ``tuple[int, ...]``) are refused.

Return annotations play no part.
"""

from __future__ import annotations

import collections.abc
import copyreg
import enum
import functools
import importlib
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from overlay.core.errors import OverlayError
from overlay.core.interpreted_values import has_underlying, underlying
from overlay.core.location import location_of, name_of
from overlay.core.own_builtins import __builtins__
from overlay.core.target import is_below

if TYPE_CHECKING:
    from plum import Signature

__all__ = [
    "MethodParameter",
    "MethodParameters",
    "array_type",
    "as_python_type",
    "key_of",
    "literal_key_of",
    "load_plum",
    "loaded_types",
    "most_dependent",
    "shown_hint",
    "translate",
    "without_alias",
]

UNIONS = (typing.Union, types.UnionType)
EMPTY = inspect.Parameter.empty


# ---- arrays -------------------------------------------------------------------------------


class _ArrayMeta(type):
    """Metaclass of the array types: an instance is an array of this dtype and ndim."""

    dtype: type | None
    ndim: int | None

    def __instancecheck__(cls, value: Any) -> bool:
        arrays: Any = getattr(sys.modules.get("numpy"), "ndarray", None)
        return (
            arrays is not None  # numpy's import may be under way
            and issubclass(type(value), arrays)
            and (cls.dtype is None or value.dtype.type is cls.dtype)
            and (cls.ndim is None or value.ndim == cls.ndim)
        )


@functools.cache
def array_type(dtype: type | None, ndim: int | None) -> type:
    """The type of arrays of this scalar type and number of dimensions (None: any).

    A subclass of ``numpy.ndarray`` whose instance check looks at the value, and whose bases
    are the less specific array types, so that plum orders them as it orders classes.
    """
    import numpy

    if dtype is None and ndim is None:
        return numpy.ndarray
    bases: tuple[type, ...] = (numpy.ndarray,)
    if dtype is not None and ndim is not None:
        bases = (array_type(dtype, None), array_type(None, ndim))
    shape = "..." if ndim is None else ", ".join([":"] * ndim)
    name = f"{'ndarray' if dtype is None else dtype.__name__}[{shape}]"
    return _ArrayMeta(name, bases, {"dtype": dtype, "ndim": ndim})


def _array_again(made: _ArrayMeta) -> tuple[Callable[..., type], tuple[Any, ...]]:
    return array_type, (made.dtype, made.ndim)


copyreg.pickle(_ArrayMeta, _array_again)  # type: ignore[arg-type]


def _array_hint(hint: Any, refuse: Callable[[str], OverlayError]) -> type:
    import numpy

    generic: type = numpy.generic
    shape, dtype = (*typing.get_args(hint), Any)[:2]
    scalar: Any = (*typing.get_args(dtype), Any)[0]
    if scalar is Any or scalar is generic:
        scalar = None
    elif not (isinstance(scalar, type) and issubclass(scalar, generic)):
        raise refuse("the dtype of an array annotation is numpy.dtype[<numpy scalar type>]")
    dims = typing.get_args(shape)
    ndim = None if shape is Any or not dims or dims[-1] is Ellipsis else len(dims)
    return array_type(scalar, ndim)


# ---- translation --------------------------------------------------------------------------


def _union(one: Any, other: Any) -> Any:
    return one | other


def without_alias(hint: Any) -> Any:
    """An annotation, with a ``type X = ...`` alias expanded."""
    if isinstance(hint, typing.TypeAliasType):
        return without_alias(hint.__value__)
    origin = typing.get_origin(hint)
    if isinstance(origin, typing.TypeAliasType):
        return without_alias(origin.__value__[typing.get_args(hint)])
    return hint


def _loaded(name: str, attribute: str) -> Any | None:
    """A module if it already has this attribute, else None: its import may be under way."""
    module = sys.modules.get(name)
    return module if hasattr(module, attribute) else None


def loaded_types() -> tuple[bool, bool]:
    """Whether the types of numpy, and those of numba, are loaded: the meaning of annotations
    depends on it.
    """
    return _loaded("numpy", "bool_") is not None, _loaded("numba", "types") is not None


def translate(hint: Any, refuse: Callable[[str], OverlayError], *, checked: bool = False) -> Any:
    """The plum hint for an annotation; ``refuse(reason)`` makes the error to raise.

    checked: the elements of containers are checked elsewhere, so that the container's class alone
    decides.
    """
    hint = without_alias(hint)
    if hint is EMPTY or hint is Any:
        return Any
    if hint is None or hint is type(None):
        return type(None)
    if isinstance(hint, (int, float, str, list, tuple)) or hint is Ellipsis:
        raise refuse(f"{hint!r} is not a type")
    numpy = _loaded("numpy", "bool_")
    if numpy is not None:
        if hint is int:
            return int | numpy.int64 | numpy.bool_
        if hint is bool:
            return bool | numpy.bool_
        if typing.get_origin(hint) is numpy.ndarray:
            return _array_hint(hint, refuse)
    numba = _loaded("numba", "types")
    if numba is not None and (
        isinstance(hint, numba.types.Type)
        or (isinstance(hint, type) and is_below(hint, numba.types.Type))
    ):
        raise refuse("numba types say nothing about values; use the Python or numpy type")
    origin = typing.get_origin(hint)
    if origin is None:
        return hint
    if origin is typing.Literal:
        return hint
    if origin is typing.Annotated:
        return translate(typing.get_args(hint)[0], refuse, checked=checked)
    if origin in UNIONS:
        parts = (translate(part, refuse, checked=checked) for part in typing.get_args(hint))
        return functools.reduce(_union, parts)
    if origin is tuple:
        arguments = typing.get_args(hint)
        if Ellipsis in arguments and checked:
            return tuple
        if Ellipsis in arguments:
            raise refuse("the elements of tuple[X, ...] cannot be checked at every call; use tuple")
        parts = (translate(part, refuse, checked=checked) for part in arguments)
        return tuple[tuple(parts)]  # type: ignore[misc]
    if isinstance(origin, type) and issubclass(origin, collections.abc.Iterable):
        if checked:
            return origin
        raise refuse(f"the elements of {shown_hint(hint)} cannot be checked at every call")
    return hint


def shown_hint(hint: Any) -> str:
    """An annotation as its author would write it."""
    if hint is EMPTY or hint is Any:
        return "Any"
    if hint is type(None) or hint is None:
        return "None"
    if isinstance(hint, type) and typing.get_origin(hint) is None:
        return hint.__name__
    return str(hint).replace("typing.", "")


# ---- parameters ---------------------------------------------------------------------------


@dataclass(frozen=True)
class MethodParameter:
    """One parameter of a method: its name, annotation, whether it is required, and whether it
    can be given by name.
    """

    name: str
    hint: Any
    required: bool
    by_name: bool


@dataclass(frozen=True)
class MethodParameters:
    """The parameters of a method, read once from its signature.

    varargs, var_keyword: the annotations of ``*args`` and ``**kwargs``, NO_VARARGS without them.
    """

    positional: tuple[MethodParameter, ...]
    varargs: Any
    keyword_only: Mapping[str, MethodParameter]
    var_keyword: Any
    unresolved: str | None = None

    @classmethod
    def of(cls, function: Callable[..., Any], where: str) -> MethodParameters:
        """Read the parameters of a function; an OverlayError where it has no signature."""
        python = getattr(function, "py_func", function)
        try:
            signature = inspect.signature(python)
        except (TypeError, ValueError) as error:
            raise OverlayError(
                f"cannot read the signature of {name_of(function)}",
                where=where,
                help="give a Python function whose parameters are annotated",
            ) from error
        hints, unresolved = _resolved_hints(python)
        parameters = signature.parameters.values()

        def read(parameter: inspect.Parameter) -> MethodParameter:
            return MethodParameter(
                parameter.name,
                hints.get(parameter.name, parameter.annotation),
                parameter.default is EMPTY,
                parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY),
            )

        positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        rest = [read(p).hint for p in parameters if p.kind is p.VAR_POSITIONAL]
        named = [read(p).hint for p in parameters if p.kind is p.VAR_KEYWORD]
        return cls(
            positional=tuple(read(p) for p in parameters if p.kind in positional),
            varargs=rest[0] if rest else NO_VARARGS,
            keyword_only={p.name: read(p) for p in parameters if p.kind is p.KEYWORD_ONLY},
            var_keyword=named[0] if named else NO_VARARGS,
            unresolved=unresolved,
        )

    def bind(
        self, count: int, names: Sequence[str], of_target: Sequence[str] = ()
    ) -> tuple[Any, ...] | None:
        """The annotations for ``count`` positional arguments and these keywords, or None where
        the call does not fit.

        of_target: the target's positional parameters, in order. A positional argument beyond
        the method's own binds to the method's keyword-only parameter of the same name.
        """
        moved = self.moved(count, of_target)
        if moved is None or any(name in names for name in moved):
            return None
        given = {p.name: p for p in self.positional[count:] if p.by_name}
        if any(p.required and p.name not in names for p in self.positional[count:]):
            return None
        named = (*moved, *names)
        if any(p.required and p.name not in named for p in self.keyword_only.values()):
            return None
        hints = [p.hint for p in self.positional[:count]]
        hints += [self.keyword_only[name].hint for name in moved]
        hints += [self.varargs] * (count - len(hints))
        for name in names:
            if name in given:
                hints.append(given[name].hint)
            elif name in self.keyword_only:
                hints.append(self.keyword_only[name].hint)
            elif self.var_keyword is not NO_VARARGS:
                hints.append(self.var_keyword)
            else:
                return None
        return tuple(hints)

    def moved(self, count: int, of_target: Sequence[str]) -> tuple[str, ...] | None:
        """Keyword names for the positional arguments beyond the method's own, or None where it
        cannot take them.
        """
        if count <= len(self.positional) or self.varargs is not NO_VARARGS:
            return ()
        names = tuple(of_target[len(self.positional) : count])
        fits = count <= len(of_target) and all(name in self.keyword_only for name in names)
        return names if fits else None

    def uses_varargs(self, count: int) -> bool:
        """Whether ``*args`` takes part in a call with ``count`` positional arguments."""
        return self.varargs is not NO_VARARGS and count >= len(self.positional)

    def __str__(self) -> str:
        shown = [shown_hint(p.hint) + ("" if p.required else " = ...") for p in self.positional]
        if self.varargs is not NO_VARARGS:
            shown.append("*" + shown_hint(self.varargs))
        elif self.keyword_only:
            shown.append("*")
        for name, p in self.keyword_only.items():
            shown.append(f"{name}: {shown_hint(p.hint)}" + ("" if p.required else " = ..."))
        if self.var_keyword is not NO_VARARGS:
            shown.append("**" + shown_hint(self.var_keyword))
        return "(" + ", ".join(shown) + ")"


def _resolved_hints(function: Callable[..., Any]) -> tuple[dict[str, Any], str | None]:
    """Annotations with names looked up, and the reason where one of them could not be."""
    try:
        return typing.get_type_hints(function, include_extras=True), None
    except (NameError, AttributeError, SyntaxError) as error:
        return {}, f"{error} (in an annotation)"
    except TypeError:
        return {}, None


class _NoVarargs:
    def __repr__(self) -> str:
        return "NO_VARARGS"


NO_VARARGS: Any = _NoVarargs()


_plum: list[types.ModuleType] = []


def load_plum() -> types.ModuleType:
    """Import plum, and restore the state of ``random``: plum's imports draw numbers."""
    if not _plum:
        import random  # plum's own imports load it anyway

        state = random.getstate()
        _plum.append(importlib.import_module("plum"))  # waits where another thread imports it
        random.setstate(state)
    return _plum[0]


def plum_signature(
    hints: Sequence[Any], varargs: Any = NO_VARARGS, precedence: int = 0
) -> Signature:
    """The plum signature for translated hints; by default that of a call."""
    plum = load_plum()
    rest = plum.Missing if varargs is NO_VARARGS else varargs
    return plum.Signature(*hints, varargs=rest, precedence=precedence)


# ---- cache keys ---------------------------------------------------------------------------


def as_python_type(kind: type) -> type:
    """The Python type of a numpy scalar type that compiled code does not tell from it; any other
    type itself.
    """
    numpy = _loaded("numpy", "bool_")
    if numpy is None:
        return kind
    same = ((numpy.float64, float), (numpy.int64, int), (numpy.complex128, complex))
    return next((python for scalar, python in (*same, (numpy.bool_, bool)) if kind is scalar), kind)


def key_of(value: Any) -> Any:
    """Dispatch key of a value where array annotations take part: its type, and of an array also
    dtype and number of dimensions.
    """
    arrays: Any = getattr(sys.modules.get("numpy"), "ndarray", None)  # its import may be under way
    if arrays is not None and issubclass(type(value), arrays):
        return type(value), value.dtype, value.ndim
    return type(value)


def key_of_interpreted(value: Any) -> Any:
    """Dispatch key of a value, with the keys of the plain values that values of an interpretation
    represent, since methods may be chosen by these.
    """
    if has_underlying(value):
        return type(value), key_of_interpreted(underlying(value))
    if type(value) is tuple:
        return tuple, *map(key_of_interpreted, value)
    return key_of(value)


def depends_on(hint: Any) -> str:
    """The part of a value that decides whether it matches a translated hint: one of
    ``DEPENDENCES``.
    """
    parts = typing.get_args(hint) if typing.get_origin(hint) in UNIONS else (hint,)
    return most_dependent(map(_depends_on, parts))


DEPENDENCES = ("type", "array", "literal", "value")
"""The parts of a value that decide whether it matches a hint, each including those before:
its type; of an array dtype and number of dimensions; the value of an integer, text or such, by
equality; anything.
"""


def most_dependent(kinds: Iterable[str]) -> str:
    """The kind that includes all the others."""
    return max(kinds, key=DEPENDENCES.index, default="type")


def _depends_on(hint: Any) -> str:
    if isinstance(hint, _ArrayMeta):
        return "array"
    if typing.get_origin(hint) is typing.Literal:
        return "literal"
    return "type" if load_plum().is_faithful(hint) else "value"


_LITERAL = (int, bool, str, bytes, type(None))


def literal_key_of(value: Any) -> Any:
    """Dispatch key of a value where literals take part: also the value itself where a literal may
    be equal to it; None for values of other classes that may be equal to a literal.
    """
    kind = type(value)
    if kind in _LITERAL:
        return kind, value
    if issubclass(kind, _LITERAL) or isinstance(value, enum.Enum):
        return None
    return key_of(value)


def refusal(function: Callable[..., Any], target: object) -> Callable[[str], OverlayError]:
    """Return a function that makes the error for an annotation of ``function`` that cannot be
    honoured.
    """

    def refuse(reason: str) -> OverlayError:
        return OverlayError(
            f"cannot honour the signature of {name_of(function)} for {name_of(target)}: {reason}",
            where=location_of(function),
            help="annotate with classes, unions, Literal, tuple[X, Y], or array types",
        )

    return refuse
