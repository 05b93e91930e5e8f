"""Rules of differentiation of functions of whole arrays: one row of a table.

A row gives a function's derivative by each of its *data* parameters, those that may carry
derivatives, as linear maps: ``jvp(t, ret, *args, **kwargs)`` maps the tangent of a data argument to
that of the result, ``vjp(d, ret, *args, **kwargs)`` the cotangent of the result to that of the
argument. ``args`` and ``kwargs`` are those of the call, ``ret`` is its result. Both are plain
numpy code; where numba compiles them, compiled code uses them. For complex numbers the cotangent
of z = x + iy is dL/dx + i dL/dy, so the pullback of a holomorphic function multiplies by the
conjugate of its derivative.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from overlay.core.target import read_signature

__all__ = [
    "ArrayRule",
    "Sample",
    "calling",
    "constant",
    "defined",
    "linear",
    "multilinear",
    "rearranging",
    "smooth",
    "takes_lists",
]

Sample = Callable[[Any], tuple[Any, ...]]
"""Draws the arguments of one call, from a random generator; a dict at the end holds keywords."""
Maps = Callable[..., Any] | Sequence[Callable[..., Any] | None]


@dataclass(frozen=True, eq=False)
class ArrayRule:
    """The derivative of a function of arrays.

    data: the names of the parameters that may carry derivatives; a data argument may be a list or
    tuple of arrays, and its tangent and cotangent are then lists, too. kind: how the derivative is
    made: ``"rearranging"``: each element of the result is one of the data or a constant;
    ``"linear"``: linear in all data together; ``"multilinear"``: in each of them; ``"smooth"``: by
    ``jvp`` and ``vjp``; ``"defined"``: by another function; ``"calling"``: by one that also takes
    how to run the functions among the arguments, which may hold active values; ``"constant"``: it
    has none, as its results are integers, booleans or text. jvp, vjp: for each data parameter the
    map, None where the derivative by it is not known. vjp_compiled: in compiled code, the maps by
    some data parameters, by their names, written as loops that numba compiles fast; they take the
    calls that numba compiles. by: the function that defines it. results: the number of results, if
    they are a tuple; 0 otherwise. parameters: its parameters, where ``inspect`` does not find them.
    compiled: the minimal and maximal number of further positional arguments with which compiled
    code in forward mode has a function that is linear in its first argument, or in its first two;
    None if it has not. calls_back: whether functions among its arguments are called, in the
    program's context.
    lists: whether an array may be given as a list, of whose elements numpy knows nothing; it is
    made an array first. samples: calls that tests try.
    """

    function: Callable[..., Any]
    data: tuple[str, ...]
    kind: Literal[
        "rearranging", "linear", "multilinear", "smooth", "defined", "calling", "constant"
    ]
    samples: tuple[Sample, ...]
    jvp: tuple[Callable[..., Any] | None, ...] = ()
    vjp: tuple[Callable[..., Any] | None, ...] = ()
    vjp_compiled: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    by: Callable[..., Any] | None = None
    results: int = 0
    parameters: str | None = None
    compiled: tuple[int, int] | None = None
    lists: bool = False
    also: tuple[Callable[..., Any], ...] = ()
    calls_back: bool = False

    @property
    def spellings(self) -> tuple[Callable[..., Any], ...]:
        """The function and its other spellings."""
        return (self.function, *self.also)

    @property
    def takes_second(self) -> bool:
        """Whether a call may have a second positional argument."""
        kinds = [each.kind for each in self.signature.parameters.values()]
        return len(kinds) > 1 and kinds[1] is not inspect.Parameter.KEYWORD_ONLY

    @cached_property
    def signature(self) -> inspect.Signature:
        """The parameters of the function."""
        if self.parameters is None:
            found = read_signature(self.function)
            assert found is not None, f"give the parameters of {self.function!r}"
            return found
        space: dict[str, Any] = {}
        exec(f"def call({self.parameters}): ...", space)
        return inspect.signature(space["call"])

    def is_defined_for(self, args: Sequence[Any], named: Mapping[str, Any]) -> bool:
        """Whether the function that defines it takes these arguments."""
        try:
            self._definition.bind(*args, **named)
        except TypeError:
            return False
        return True

    @cached_property
    def _definition(self) -> inspect.Signature:
        assert self.by is not None
        return inspect.signature(self.by)


def _maps(given: Maps, data: tuple[str, ...]) -> tuple[Callable[..., Any] | None, ...]:
    found = (given,) if callable(given) else tuple(given)
    assert len(found) == len(data)
    return found


def rearranging(
    function: Callable[..., Any],
    *samples: Sample,
    data: tuple[str, ...] = ("a",),
    **facts: Any,
) -> ArrayRule:
    """A rule of a function each of whose results' elements is an element of the data or a
    constant."""
    return ArrayRule(function, data, "rearranging", samples, **facts)


def linear(
    function: Callable[..., Any],
    vjp: Maps,
    *samples: Sample,
    data: tuple[str, ...] = ("a",),
    **facts: Any,
) -> ArrayRule:
    """A rule of a function that is linear in all its data together."""
    return ArrayRule(function, data, "linear", samples, vjp=_maps(vjp, data), **facts)


def multilinear(
    function: Callable[..., Any],
    vjp: Maps,
    *samples: Sample,
    data: tuple[str, ...] = ("a", "b"),
    **facts: Any,
) -> ArrayRule:
    """A rule of a function that is linear in each of its data."""
    return ArrayRule(function, data, "multilinear", samples, vjp=_maps(vjp, data), **facts)


def smooth(
    function: Callable[..., Any],
    jvp: Maps,
    vjp: Maps,
    *samples: Sample,
    data: tuple[str, ...] = ("a",),
    **facts: Any,
) -> ArrayRule:
    """A rule by the maps of tangents and of cotangents."""
    return ArrayRule(
        function, data, "smooth", samples, jvp=_maps(jvp, data), vjp=_maps(vjp, data), **facts
    )


def constant(
    function: Callable[..., Any],
    *samples: Sample,
    data: tuple[str, ...] = ("a",),
    **facts: Any,
) -> ArrayRule:
    """A rule of a function whose results have no derivative."""
    return ArrayRule(function, data, "constant", samples, **facts)


def takes_lists(*rules: ArrayRule) -> tuple[ArrayRule, ...]:
    """Rules of functions whose array arguments may be lists."""
    return tuple(dataclasses.replace(each, lists=True) for each in rules)


def defined(
    function: Callable[..., Any], by: Callable[..., Any], *samples: Sample, **facts: Any
) -> ArrayRule:
    """A rule of a function that ``by``, of its parameters, defines by functions with rules."""
    return ArrayRule(function, (), "defined", samples, by=by, **facts)


def calling(function: Callable[..., Any], by: Callable[..., Any], **facts: Any) -> ArrayRule:
    """A rule of a function that calls functions among its arguments: these may hold active values.

    ``by(run, **kwargs)`` is called outside all contexts, instead of the function, with its
    arguments by name; in it ``run(f, *args, **kwargs)`` calls f in the context of the call.
    """
    return ArrayRule(function, (), "calling", (), by=by, **facts)
