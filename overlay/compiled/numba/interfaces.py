"""Interfaces of functions, as numba is told of them: parameters, defaults, declared signatures.

numba knows no keyword-only parameters, and settles what a dispatcher takes when it makes it. Here
they are parameters like any other for numba, calls are bound by Python's own rules before it sees
them, and what a function takes can be another thing later.

Code of a world keeps to the declarations of ``@njit`` and ``@cfunc`` as numba's own code does:
arguments are converted to those of the signature that numba's rules choose, the result to the one
that it names.
"""

from __future__ import annotations

import inspect
import operator
import types as python_types
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from numba import _dispatcher
from numba.core import errors, sigutils, types
from numba.core.ccallback import CFunc
from numba.core.dispatcher import OmittedArg, _FunctionCompiler
from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import Signature, make_concrete_template, signature

from overlay.compiled import failures
from overlay.compiled.glue import BY_POSITION, GLUE, SPREAD, Way
from overlay.compiled.numba.numba_types import Type, is_dispatcher
from overlay.core.location import name_of
from overlay.core.target import is_below, with_code

__all__ = [
    "NOTHING",
    "REQUIRED",
    "Callback",
    "Declarations",
    "FunctionParameters",
    "bind_by_python",
    "callback_of",
    "carrier",
    "copied",
    "declared_by",
    "given_by_position",
    "is_given",
    "refuse_parameters",
    "take_from_python",
    "twin",
]

# ---- functions as numba is given them -----------------------------------------------------


# In place of a default, of a parameter that has none but comes after one that has.
REQUIRED: Final = object()


def copied(function: Any) -> Any:
    """The same function as an object of its own, with nothing that was put on it since."""
    made = with_code(function, function.__code__)
    made.__doc__ = function.__doc__
    return made


def twin(function: Any) -> Any:
    """A copy, which numba tells from the function where that calls itself. Keyword-only
    parameters, of which numba knows none, are parameters like any other in it: Python's rules
    have seen the call before."""
    made, code = copied(function), function.__code__
    if code.co_kwonlyargcount:
        made.__defaults__ = _defaults(function)
        made.__kwdefaults__ = None
        count = code.co_argcount + code.co_kwonlyargcount
        made.__code__ = code.replace(co_argcount=count, co_kwonlyargcount=0)
    return made


def _defaults(function: Any) -> tuple[Any, ...]:
    """Of all parameters from the first that has one."""
    code, by_position = function.__code__, function.__defaults__ or ()
    count = code.co_argcount
    names = code.co_varnames[count : count + code.co_kwonlyargcount]
    by_name = function.__kwdefaults__ or {}
    given = [REQUIRED] * (count - len(by_position)) + list(by_position)
    given += [by_name.get(name, REQUIRED) for name in names]
    first = next((i for i, each in enumerate(given) if each is not REQUIRED), len(given))
    return tuple(given[first:])


# ---- parameters ---------------------------------------------------------------------------


# In place of an argument that was not given, where the parameter has no default.
MISSING: Final = object()
# Before the name of a positional-only parameter, so that no keyword is it.
UNNAMED: Final = "positional_only_"


class FunctionParameters:
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


def refuse_parameters(function: Any) -> None:
    """Raise NotCompilable for parameters that numba has no meaning for."""
    function = getattr(function, "py_func", function)
    code = function.__code__
    if code.co_kwonlyargcount and code.co_flags & inspect.CO_VARARGS:
        raise failures.keywords_after_rest(function)
    if code.co_flags & inspect.CO_VARKEYWORDS:
        raise failures.any_keywords(function)


# ---- calls from Python --------------------------------------------------------------------


def carrier(parameters: FunctionParameters) -> Any:
    """A function of which numba makes a dispatcher that takes from Python what the parameters
    say, or less: for what is missing it compiles."""
    rest = [p.kind is p.VAR_POSITIONAL for p in parameters.signature.parameters.values()]
    taken = [f"*{n}" if is_rest else n for n, is_rest in zip(parameters.names, rest, strict=True)]
    namespace: dict[str, Any] = {}
    exec(compile(f"def carrier({', '.join(taken)}): pass", GLUE, "exec"), namespace)
    found = namespace["carrier"]
    found.__defaults__ = parameters.defaults
    return found


def take_from_python(dispatcher: Any, parameters: FunctionParameters) -> None:
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

    parameters: FunctionParameters
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
    parameters: FunctionParameters,
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


# ---- declarations of ``@njit`` and ``@cfunc`` ---------------------------------------------


class Declarations(NamedTuple):
    """The signatures that a function is limited to, and the types of its variables.

    results: by the types of the arguments, in the order of the declaration, the type of the
    result, or None where it is inferred. variables: by name.
    """

    results: Mapping[tuple[Type, ...], Type | None]
    variables: Mapping[str, Type]

    @property
    def is_limited(self) -> bool:
        """Whether there is nothing beside the signatures."""
        return bool(self.results)

    def chosen(self, typing: Any, args: Sequence[Type]) -> tuple[Type, ...]:
        """The arguments of the signature that a call with these has, as numba chooses it."""
        given = tuple(args)
        if given in self.results:
            return given
        template = make_concrete_template("declared", "declared", self.signatures())
        found = template(typing).apply(given, {})
        if found is None:
            raise errors.TypingError(self.no_match(given))
        return tuple(found.args)

    def signatures(self) -> list[Signature]:
        """numba's form of the signatures; a result that is inferred is undefined."""
        return [signature(r or types.undefined, *args) for args, r in self.results.items()]

    def asked(self, args: tuple[Type, ...]) -> Any:
        """What numba is asked to compile for the arguments of one of the signatures."""
        returned = self.results[args]
        return args if returned is None else signature(returned, *args)

    def no_match(self, args: Sequence[Type]) -> str:
        """numba's message for arguments that no signature takes, with the signatures."""
        shown = "; ".join(
            f"({', '.join(map(str, each))}) -> {returned or 'inferred'}"
            for each, returned in self.results.items()
        )
        given = ", ".join(map(str, args))
        return f"No matching definition for argument type(s) {given}; declared are {shown}"

    def key(self) -> tuple[Any, ...]:
        """What tells code that keeps to these declarations from other code of a function."""
        return tuple(self.results.items()), tuple(sorted(self.variables.items()))


NOTHING: Final = Declarations({}, {})


def declared_by(function: Any) -> Declarations:
    """The declarations of a function of the program: none of one that Python made."""
    function = callback_of(function) or function
    if isinstance(function, Callback):
        return Declarations(function.declared, function.locals)
    if not is_dispatcher(function):
        return NOTHING
    variables = getattr(function, "locals", None) or {}
    return Declarations({} if function._can_compile else _signatures_of(function), variables)


def _signatures_of(dispatcher: Any) -> dict[tuple[Type, ...], Type | None]:
    """The signatures of a dispatcher that compiles no more. numba counts what it was asked for,
    in the form in which that was said: one without a result is told from the rest by this."""
    asked: dict[tuple[Type, ...], Type | None] = {}
    for each in (*dispatcher._cache_hits, *dispatcher._cache_misses):
        args, returned = sigutils.normalize_signature(each)
        asked.setdefault(tuple(args), returned)
    return {
        args: asked.get(args, code.signature.return_type)
        for args, code in dispatcher.overloads.items()
        if not code.objectmode
    }


class Callback(CPUDispatcher):
    """The function of a ``@cfunc``, as a dispatcher that is limited to its signature.

    callback: what ``@cfunc`` made, as long as it is there.
    """

    def __init__(self, callback: CFunc) -> None:
        made = callback._compiler
        options = {**made.targetoptions, "nopython": True}
        self.callback = weakref.ref(callback)
        super().__init__(callback._pyfunc, locals=made.locals, targetoptions=options)
        self.declared = {tuple(callback._sig.args): callback._sig.return_type}


_callbacks: weakref.WeakKeyDictionary[CFunc, Callback] = weakref.WeakKeyDictionary()


def callback_of(value: Any) -> Callback | None:
    """The function of what ``@cfunc`` made; None for anything else."""
    if not is_below(type(value), CFunc):
        return None
    found = _callbacks.get(value)
    if found is None:
        found = _callbacks[value] = Callback(value)
    return found
