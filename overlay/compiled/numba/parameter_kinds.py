"""What functions take, and how numba is told of it.

numba knows no keyword-only parameters, and settles what a dispatcher takes when it makes it. Here
they are parameters like any other for numba, calls are bound by Python's own rules before it sees
them, and what a function takes can be another thing later.
"""

from __future__ import annotations

import inspect
import operator
import types as python_types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from numba import _dispatcher
from numba.core import errors, types
from numba.core.dispatcher import OmittedArg, _FunctionCompiler

from overlay.compiled.numba.copies import copied, twin
from overlay.compiled.numba.numba_types import Type
from overlay.compiled.resolved_calls import BY_POSITION, GLUE, SPREAD, Way
from overlay.core.location import name_of

__all__ = [
    "Parameters",
    "bind_by_python",
    "carrier",
    "given_by_position",
    "is_given",
    "take_from_python",
]

# In place of an argument that was not given, where the parameter has no default.
MISSING: Final = object()
# Before the name of a positional-only parameter, so that no keyword is it.
UNNAMED: Final = "positional_only_"


class Parameters:
    """What a function takes at one moment, and with which defaults."""

    def __init__(self, function: python_types.FunctionType) -> None:
        self._function = function
        self._read = _read(function)
        self._name = name_of(function)
        self.signature = inspect.signature(copied(function))
        self.for_numba = inspect.signature(twin(function))
        self._each = tuple(self.signature.parameters.values())
        self.has_keyword_only = any(p.kind is p.KEYWORD_ONLY for p in self._each)
        self.positional = sum(
            p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in self._each
        )
        self.has_rest = any(p.kind is p.VAR_POSITIONAL for p in self._each)

    def are_past(self) -> bool:
        """Whether the function takes something else by now."""
        now = _read(self._function)
        return len(now) != len(self._read) or not all(map(operator.is_, now, self._read))

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which Python may give arguments, for numba."""
        return tuple(
            f"{UNNAMED}{p.name}" if p.kind is p.POSITIONAL_ONLY else p.name for p in self._each
        )

    @property
    def defaults(self) -> tuple[Any, ...]:
        """Of all parameters but ``*rest``."""
        given = [p.default for p in self._each if p.kind is not p.VAR_POSITIONAL]
        return tuple(MISSING if each is inspect.Parameter.empty else each for each in given)

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Raise a TypeError where the function cannot be called so."""
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self._name}() {error}") from None

    def as_called(self, args: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The call of which numba has made these arguments."""
        given: list[Any] = []
        named: dict[str, Any] = {}
        for way, value in zip(self.ways(args), args, strict=True):
            if way == SPREAD:
                given += value
            elif way == BY_POSITION:
                given.append(value)
            elif way is not None:
                named[way] = value
        return given, named

    def ways(self, args: Sequence[Any]) -> tuple[Way, ...]:
        """How each argument was given. args: values or types, one for each parameter."""
        found: list[Way] = []
        for parameter, value in zip(self._each, args, strict=False):
            if not is_given(value):
                found.append(None)
            elif parameter.kind is parameter.VAR_POSITIONAL:
                found.append(SPREAD)
            elif parameter.kind is parameter.KEYWORD_ONLY or None in found:
                found.append(parameter.name)
            else:
                found.append(BY_POSITION)
        return tuple(found)


def is_given(argument: Any) -> bool:
    """Whether the caller gave an argument, which numba has as a value or as a type."""
    return not isinstance(argument, (OmittedArg, types.Omitted))


def _read(function: Any) -> tuple[Any, ...]:
    """What says what a function takes; it has changed where one of these is not the same."""
    by_name = (function.__kwdefaults__ or {}).items()
    return function.__code__, function.__defaults__, *(each for item in by_name for each in item)


def given_by_position(ways: Sequence[Way], args: Sequence[Type]) -> tuple[Type, ...]:
    """The types of the arguments that were given by position, those of ``*rest`` among them."""
    found: list[Type] = []
    for way, ty in zip(ways, args, strict=True):
        if way in (BY_POSITION, SPREAD):
            found += ty.types if way == SPREAD else [ty]
    return tuple(found)


# ---- calls from Python --------------------------------------------------------------------


def carrier(parameters: Parameters) -> Any:
    """A function of which numba makes a dispatcher that takes from Python what the parameters
    say, or less: for what is missing it compiles."""
    rest = [p.kind is p.VAR_POSITIONAL for p in parameters.signature.parameters.values()]
    taken = [f"*{n}" if is_rest else n for n, is_rest in zip(parameters.names, rest, strict=True)]
    namespace: dict[str, Any] = {}
    exec(compile(f"def carrier({', '.join(taken)}): pass", GLUE, "exec"), namespace)
    found = namespace["carrier"]
    found.__defaults__ = parameters.defaults
    return found


def take_from_python(dispatcher: Any, parameters: Parameters) -> None:
    """Have a dispatcher that holds no code take what these parameters say from now on."""
    can_compile = dispatcher._can_compile
    _dispatcher.Dispatcher.__init__(
        dispatcher,
        dispatcher._tm.get_pointer(),
        len(parameters.names),
        dispatcher._fold_args,
        parameters.names,
        tuple(map(OmittedArg, parameters.defaults)),
        False,  # no object mode
        parameters.has_rest,
        False,  # numbers may be converted
    )
    dispatcher._can_compile = can_compile


# ---- calls in compiled code ---------------------------------------------------------------


class _Binder(_FunctionCompiler):
    """numba's compiler of one function, for calls that are bound by Python's rules."""

    parameters: Parameters
    convert: Callable[[tuple[Type, ...]], tuple[Type, ...]] | None = None

    def fold_argument_types(self, args: Any, kws: Any) -> tuple[Any, tuple[Type, ...]]:
        if self.parameters.has_keyword_only:
            try:
                self.parameters.bind(args, dict(kws))
            except TypeError as error:
                raise errors.TypingError(str(error)) from None
        pysig, folded = super().fold_argument_types(args, kws)
        return pysig, folded if self.convert is None else self.convert(tuple(folded))


def bind_by_python(
    dispatcher: Any,
    parameters: Parameters,
    convert: Callable[[tuple[Type, ...]], tuple[Type, ...]] | None = None,
) -> None:
    """Have calls of a dispatcher in compiled code bound as the parameters say. convert: gives
    the types to which arguments of some types are converted."""
    old = dispatcher._compiler
    if not isinstance(old, _Binder):
        given = old.py_func, old.targetdescr, old.targetoptions, old.locals, old.pipeline_class
        dispatcher._compiler = _Binder(*given)
    dispatcher._compiler.parameters, dispatcher._compiler.convert = parameters, convert
    dispatcher._compiler.pysig = parameters.for_numba
