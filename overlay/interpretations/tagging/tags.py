"""Contexts in which values carry metadata."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from overlay import Context, MethodTable, Plugin, call_next, nonoverlay
from overlay.core.location import caller
from overlay.core.public_names import hides
from overlay.core.short_repr import counted
from overlay.interpretations.tagging.errors import NotTaggable
from overlay.interpretations.tagging.plain_arguments import given_plain
from overlay.interpretations.tagging.tagged_values import (
    ALONE,
    BASES,
    as_arrays,
    base_of,
    carried,
    combined,
    plain,
    with_tags,
)
from overlay.plugins.plugin import HOOKS

__all__ = ["Tagging", "union"]

Combine = Callable[[Any, Sequence[Any]], Any]

_SHARED = (type(None), bool, np.bool_, type(...), type(NotImplemented))
_OF_STRUCTURE = (len, id, isinstance, issubclass, callable, hasattr, print, repr)
"""Functions whose result does not depend on the items of a container."""


def union(operation: Any, metadata: Sequence[Any]) -> Any:
    """The default combination: the metadata if all are equal, else the frozenset of all.

    Parameters
    ----------
    operation : object
        The operation; it has no effect.
    metadata : sequence
        The metadata of the arguments.

    Returns
    -------
    object
        The combined metadata.

    Examples
    --------
    >>> import operator
    >>> from overlay.interpretations.tagging import union
    >>> union(operator.add, ["metre", "metre"])
    'metre'
    >>> union(operator.add, ["a", "b"]) == frozenset({"a", "b"})
    True
    """
    found: dict[Any, None] = {}
    for one in metadata:
        found.update(dict.fromkeys(one if isinstance(one, frozenset) else (one,)))
    return next(iter(found)) if len(found) == 1 else frozenset(found)


@hides(*HOOKS)
class Tagging(Plugin):
    """Metadata of values, separate from those of any other Tagging.

    Operators and methods of a value with metadata return values with metadata anywhere. C
    functions do so in a context with this plugin: ``tagging(f, ...)`` runs ``f`` in one.

    Parameters
    ----------
    combine : callable
        Maps an operation and the metadata of its arguments to the metadata of its result; by
        default ``union``. An operation is a function, or the name of a method.

    Attributes
    ----------
    context : Context
        The context of this Tagging alone.

    Examples
    --------
    >>> import math
    >>> from overlay.interpretations.tagging import Tagging
    >>> unit = Tagging()
    >>> x = unit.tag(2.0, "metre")
    >>> y = unit(lambda x: math.sqrt(x * 2) + 1, x)
    >>> y, unit.metadata(y), unit.metadata(y > 1)
    (3.0, 'metre', None)
    """

    shares_native_cache = True

    def __init__(self, combine: Combine = union) -> None:
        self._combine = combine
        self._objects: dict[int, tuple[Any, Any]] = {}
        self.context = Context(_classes, plugins=(self,))

    def __call__(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run a function in the context of this Tagging alone.

        Parameters
        ----------
        f : callable
            The function to run.
        *args, **kwargs
            Its arguments.

        Returns
        -------
        object
            Its result.
        """
        return self.context(f, *args, **kwargs)

    def _run_facts(self) -> str:
        return f"{counted(len(self._objects), 'object')} with metadata" if self._objects else ""

    # ---- values ----

    def tag(self, value: Any, metadata: Any) -> Any:
        """A value with metadata, instead of its previous metadata of this Tagging.

        Parameters
        ----------
        value : object
            The value. A number, text or array is copied to a new value that carries the metadata
            and is otherwise equal. The metadata of any other object, such as a list, is stored in
            this Tagging.
        metadata : object
            The metadata.

        Returns
        -------
        object
            The new value, or the object itself.

        Raises
        ------
        NotTaggable
            The value is None, True, False or another singleton.

        Examples
        --------
        >>> from overlay.interpretations.tagging import Tagging
        >>> unit = Tagging()
        >>> unit.metadata(unit.tag(2.0, "metre") * 3)
        'metre'
        """
        # the code of this class is no part of the program
        return nonoverlay(self._tagged)(value, metadata)

    def _tagged(self, value: Any, metadata: Any) -> Any:
        if base_of(value) is not None:
            return with_tags(value, {**carried(value), self: metadata})
        if isinstance(value, _SHARED) or (isinstance(value, tuple) and not value):
            raise NotTaggable(
                f"{value!r} cannot carry metadata: all users share this one object",
                where=caller(),
                help="tag a number, text, an array, or an object that holds it",
            )
        self._objects[id(value)] = (value, metadata)
        return value

    def metadata(self, value: Any, default: Any = None) -> Any:
        """The metadata of a value.

        Parameters
        ----------
        value : object
            The value.
        default : object
            The result for a value without metadata of this Tagging.

        Returns
        -------
        object
            The metadata, or the default.
        """
        return nonoverlay(self._metadata)(value, default)

    def _metadata(self, value: Any, default: Any) -> Any:
        held = self._objects.get(id(value))
        return held[1] if held is not None else carried(value).get(self, default)

    def untag(self, value: Any) -> Any:
        """A value without its metadata of this Tagging; that of others stays.

        Parameters
        ----------
        value : object
            The value.

        Returns
        -------
        object
            The value without metadata; the object itself where its metadata was stored in this
            Tagging.
        """
        return nonoverlay(self._untagged)(value)

    def _untagged(self, value: Any) -> Any:
        self._objects.pop(id(value), None)
        tags = {tagging: one for tagging, one in carried(value).items() if tagging is not self}
        return value if len(tags) == len(carried(value)) else with_tags(value, tags)

    # ---- propagation ----

    def combine(self, operation: Any, metadata: Sequence[Any]) -> Any:
        """The metadata of the result of an operation.

        Parameters
        ----------
        operation : callable or str
            A function, or the name of a method.
        metadata : sequence
            The metadata of its arguments.

        Returns
        -------
        object
            The metadata.
        """
        return self._combine(operation, metadata)

    def decided(self, operation: Any, metadata: Sequence[Any], result: Any) -> None:
        """Hook: called after a comparison of values with metadata, whose result has none.

        Parameters
        ----------
        operation : callable or str
            The comparison.
        metadata : sequence
            The metadata of its arguments.
        result : bool
            Its result.
        """

    def around(self, callee: Any, run: Callable[..., Any]) -> Callable[..., Any] | None:
        if not _is_native(callee):
            return None
        depth = 0 if any(callee is one for one in _OF_STRUCTURE) else 3

        converts = any(callee is each for each in _CONVERSIONS)
        computes = given_plain(callee, run)

        def carries(*args: Any, **kwargs: Any) -> Any:
            # __float__ and the like have to return plain numbers to C code
            natively = converts and any(base_of(arg) not in _PLAIN for arg in args)
            given = [*args, *kwargs.values()]
            if computes is not None:
                result, given = computes(args, kwargs)
            else:
                result = (nonoverlay(callee) if natively else run)(*args, **kwargs)
            made = sys.getrefcount(result) <= ALONE
            if kwargs.get("out") is ...:
                result = as_arrays(result)
            if any(callee is each for each in _CONVERTING) and _is_whole(result, *args[:1]):
                return args[0]
            given = given if depth else [arg for arg in given if base_of(arg) is not None]
            return combined(callee, given, result, made=made)

        return carries


_CONVERSIONS = (int, float, complex)
_CONVERTING = (np.array, np.asarray, np.ascontiguousarray, np.asfortranarray)
"""Functions that return an array as it is, or as a view where it is one of a subclass."""
_PLAIN = (*_CONVERSIONS, bool, str, bytes)

_classes = MethodTable("classes without metadata", faithful=True)


@_classes.overlay(type)
def _type_of(value: Any) -> Any:
    return nonoverlay(base_of)(value) or call_next(value)


@_classes.overlay(sys.intern)
def _intern(text: Any) -> Any:
    """Text of the class str itself, the only one that is interned."""
    return nonoverlay(with_tags)(call_next(nonoverlay(plain)(text)), nonoverlay(carried)(text))


def _is_native(callee: Any) -> bool:
    """Whether a callee is compiled, by C, Cython or numba, or one of the classes that carry
    metadata: its results are taken to depend on all arguments."""
    if isinstance(callee, type):
        return callee in BASES or (issubclass(callee, np.generic) and callee.__module__ == "numpy")
    return not isinstance(getattr(callee, "__func__", callee), FunctionType)


def _is_whole(result: Any, given: Any = None) -> bool:
    """Whether an array is a view of all of an array with metadata, as it is."""
    arrays = isinstance(given, np.ndarray) and isinstance(result, np.ndarray)
    if not arrays or not hasattr(type(given), "_base"):
        return False
    return result.__array_interface__ == given.__array_interface__
