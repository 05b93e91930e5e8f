"""Interfaces of functions for numba: parameters, defaults, declared signatures.

numba does not support keyword-only parameters, and fixes the parameters of a dispatcher when it is
made. Here keyword-only parameters are ordinary ones for numba, calls are bound by Python's rules
before numba gets them, and the parameters of a function may change later.

Code of a world obeys the declarations of ``@njit`` and ``@cfunc`` as numba's own code does:
arguments are converted to those of the signature that numba's rules choose, the result to the type
in it.
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
from overlay.core.interpreted_values import INTERPRETED
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

# ---- functions in the form that numba gets ------------------------------------------------


# In place of a missing default, for a parameter after one that has a default.
REQUIRED: Final = object()


def copied(function: Any) -> Any:
    """A copy of a function as a new object, without attributes that were set on the original."""
    made = with_code(function, function.__code__)
    made.__doc__ = function.__doc__
    return made


def twin(function: Any) -> Any:
    """A copy of a function, so that numba can tell its recursive calls from those of the original.
    Keyword-only parameters, which numba does not support, are ordinary ones in it: calls are bound
    by Python's rules before."""
    made, code = copied(function), function.__code__
    if code.co_kwonlyargcount:
        made.__defaults__ = _defaults(function)
        made.__kwdefaults__ = None
        count = code.co_argcount + code.co_kwonlyargcount
        made.__code__ = code.replace(co_argcount=count, co_kwonlyargcount=0)
    return made


def _defaults(function: Any) -> tuple[Any, ...]:
    """The defaults of all parameters from the first that has one."""
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
# Prefix of the name of a positional-only parameter, so that no keyword matches it.
UNNAMED: Final = "positional_only_"


class FunctionParameters:
    """The parameters of a function at one moment, and their defaults."""

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
        """Whether the function's parameters have changed since."""
        now = _read(self._function)
        return len(now) != len(self._read) or not all(map(operator.is_, now, self._read))

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which Python may pass arguments, for numba."""
        return tuple(
            f"{UNNAMED}{p.name}" if p.kind is p.POSITIONAL_ONLY else p.name for p in self._each
        )

    @property
    def defaults(self) -> tuple[Any, ...]:
        """The defaults of all parameters but ``*rest``."""
        given = [p.default for p in self._each if p.kind is not p.VAR_POSITIONAL]
        return tuple(MISSING if each is inspect.Parameter.empty else each for each in given)

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Raise TypeError where the function cannot be called with these arguments."""
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self._name}() {error}") from None

    def as_called(self, args: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The call that numba has converted to these arguments."""
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
        """The way in which each argument was passed. args: values or types, one for each
        parameter."""
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
    """Whether the caller passed an argument. argument: a value or a type."""
    return not isinstance(argument, (OmittedArg, types.Omitted))


def _read(function: Any) -> tuple[Any, ...]:
    """The objects that determine a function's parameters; these have changed once one is
    replaced."""
    by_name = (function.__kwdefaults__ or {}).items()
    return function.__code__, function.__defaults__, *(each for item in by_name for each in item)


def given_by_position(ways: Sequence[Way], args: Sequence[Type]) -> tuple[Type, ...]:
    """The types of the arguments that were passed by position, those of ``*rest`` among them."""
    found: list[Type] = []
    for way, ty in zip(ways, args, strict=True):
        if way in (BY_POSITION, SPREAD):
            found += ty.types if way == SPREAD else [ty]
    return tuple(found)


def refuse_parameters(function: Any) -> None:
    """Raise NotCompilable for parameters that numba does not support, and for a function that runs
    interpreted alone."""
    function = getattr(function, "py_func", function)
    if getattr(function, INTERPRETED, False):
        raise failures.runs_interpreted(function)
    code = function.__code__
    if code.co_kwonlyargcount and code.co_flags & inspect.CO_VARARGS:
        raise failures.keywords_after_rest(function)
    if code.co_flags & inspect.CO_VARKEYWORDS:
        raise failures.any_keywords(function)


# ---- calls from Python --------------------------------------------------------------------


def carrier(parameters: FunctionParameters) -> Any:
    """A function of which numba makes a dispatcher that accepts these parameters from Python, or
    fewer: it compiles where some are missing."""
    rest = [p.kind is p.VAR_POSITIONAL for p in parameters.signature.parameters.values()]
    taken = [f"*{n}" if is_rest else n for n, is_rest in zip(parameters.names, rest, strict=True)]
    namespace: dict[str, Any] = {}
    exec(compile(f"def carrier({', '.join(taken)}): pass", GLUE, "exec"), namespace)
    found = namespace["carrier"]
    found.__defaults__ = parameters.defaults
    return found


def take_from_python(dispatcher: Any, parameters: FunctionParameters) -> None:
    """Make a dispatcher without code accept these parameters from now on."""
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
    """Bind calls of a dispatcher in compiled code by these parameters. convert: returns the types
    to which arguments of some types are converted."""
    old = dispatcher._compiler
    if not isinstance(old, _Binder):
        given = old.py_func, old.targetdescr, old.targetoptions, old.locals, old.pipeline_class
        dispatcher._compiler = _Binder(*given)
    dispatcher._compiler.parameters, dispatcher._compiler.convert = parameters, convert
    dispatcher._compiler.pysig = parameters.for_numba


# ---- declarations of ``@njit`` and ``@cfunc`` ---------------------------------------------


class Declarations(NamedTuple):
    """The signatures that a function is limited to, and the types of its variables.

    results: maps the types of the arguments, in the order of the declaration, to the type of the
    result, or None where it is inferred. variables: by name.
    """

    results: Mapping[tuple[Type, ...], Type | None]
    variables: Mapping[str, Type]

    @property
    def is_limited(self) -> bool:
        """Whether the function accepts only the declared signatures."""
        return bool(self.results)

    def chosen(self, typing: Any, args: Sequence[Type]) -> tuple[Type, ...]:
        """The arguments of the signature that numba chooses for a call with these."""
        given = tuple(args)
        if given in self.results:
            return given
        template = make_concrete_template("declared", "declared", self.signatures())
        found = template(typing).apply(given, {})
        if found is None:
            raise errors.TypingError(self.no_match(given))
        return tuple(found.args)

    def signatures(self) -> list[Signature]:
        """The signatures in numba's form; a result that is inferred is undefined."""
        return [signature(r or types.undefined, *args) for args, r in self.results.items()]

    def asked(self, args: tuple[Type, ...]) -> Any:
        """The signature that numba is to compile for the arguments of one of the declared ones."""
        returned = self.results[args]
        return args if returned is None else signature(returned, *args)

    def no_match(self, args: Sequence[Type]) -> str:
        """numba's message for arguments that match no signature, with the signatures."""
        given = ", ".join(map(str, args))
        return f"No matching definition for argument type(s) {given}; declared are {self.shown()}"

    def shown(self) -> str:
        """The text of the declarations."""
        signatures = [
            f"({', '.join(map(str, each))}) -> {returned or 'inferred'}"
            for each, returned in self.results.items()
        ]
        return "; ".join([*signatures, *(f"{n}: {t}" for n, t in self.variables.items())])

    def key(self) -> tuple[Any, ...]:
        """Key that distinguishes code with these declarations from other code of a function."""
        return tuple(self.results.items()), tuple(sorted(self.variables.items()))


NOTHING: Final = Declarations({}, {})


def declared_by(function: Any) -> Declarations:
    """The declarations of a function of the program; none for a plain Python function."""
    function = callback_of(function) or function
    if isinstance(function, Callback):
        return Declarations(function.declared, function.locals)
    if not is_dispatcher(function):
        return NOTHING
    variables = getattr(function, "locals", None) or {}
    return Declarations({} if function._can_compile else _signatures_of(function), variables)


def _signatures_of(dispatcher: Any) -> dict[tuple[Type, ...], Type | None]:
    """The signatures of a dispatcher that compiles no more. numba counts requests in the form in
    which they were made: signatures without a result type are recognized by this."""
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

    callback: the object from ``@cfunc``, as long as it exists.
    """

    def __init__(self, callback: CFunc) -> None:
        made = callback._compiler
        options = {**made.targetoptions, "nopython": True}
        self.callback = weakref.ref(callback)
        super().__init__(callback._pyfunc, locals=made.locals, targetoptions=options)
        self.declared = {tuple(callback._sig.args): callback._sig.return_type}


_callbacks: weakref.WeakKeyDictionary[CFunc, Callback] = weakref.WeakKeyDictionary()


def callback_of(value: Any) -> Callback | None:
    """The function of an object from ``@cfunc``; None for anything else."""
    if not is_below(type(value), CFunc):
        return None
    found = _callbacks.get(value)
    if found is None:
        found = _callbacks[value] = Callback(value)
    return found
