"""Generic functions: declared to be overlaid, and seen by ``with ctx:``."""

from __future__ import annotations

import ctypes
import dis
import functools
import inspect
import itertools
import os
import weakref
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from overlay.core.dispatch import MethodChain
from overlay.core.errors import AmbiguousMethod, MethodNotFound, OverlayError
from overlay.core.in_force import current_key, current_stack, natively, runs_natively
from overlay.core.interpreted_values import plain_values
from overlay.core.location import caller, location_of
from overlay.core.own_builtins import __builtins__
from overlay.core.short_repr import named_value
from overlay.core.signature import NO_VARARGS, MethodParameters, load_plum, shown_hint
from overlay.core.table import LOCK
from overlay.core.target import GENERIC, positional_names
from overlay.generics.plum_methods import chosen
from overlay.generics.views import View

if TYPE_CHECKING:
    from plum import Function

    from overlay.generics.generic_function import GenericFunction

__all__ = ["Generic", "generic"]

P = ParamSpec("P")
R = TypeVar("R")
Any_F = Callable[..., Any]

# by this file name, messages and tracebacks treat the code of generic functions as ours
_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "<generic function>")
_CONSTANTS = ("LOAD_CONST", "LOAD_COMMON_CONSTANT", "RETURN_CONST")
_NOTHING_DONE = {"RESUME", "NOP", "RETURN_VALUE", *_CONSTANTS}


class _Missing:
    """Type of the sentinel ``MISSING``, the default of an argument that was not given."""

    def __repr__(self) -> str:
        return "<not given>"


MISSING: Any = _Missing()


def generic[**P, R](declaration: Callable[P, R], /) -> GenericFunction[P, R]:
    """Decorator: declare a generic function.

    A call runs the method of the tables in force for its arguments, innermost table first, or
    else a base method, which plum resolves. A declaration whose body is ``...`` has no base
    method; any other body is the first base method.

    Parameters
    ----------
    declaration : function
        A Python function. Its parameters name those of the generic function.

    Returns
    -------
    GenericFunction
        The generic function; its ``dispatch`` adds base methods.

    Raises
    ------
    OverlayError
        The declaration is no Python function.
    MethodNotFound, AmbiguousMethod
        Raised by a call for whose arguments there is no method, or no most specific one.

    Examples
    --------
    >>> from overlay import Context, MethodTable, call_next, generic
    >>> @generic
    ... def area(shape): ...
    >>> @area.dispatch
    ... def area(shape: float):
    ...     return shape * shape
    >>> doubled = MethodTable("doubled")
    >>> @doubled.overlay(area)
    ... def twice(shape: float):
    ...     return 2 * call_next(shape)
    >>> area(3.0)
    9.0
    >>> with Context(doubled):
    ...     area(3.0)
    18.0
    """
    if type(declaration) is not FunctionType:
        raise OverlayError(
            f"generic declares Python functions, not {named_value(declaration)}",
            where=caller(),
            help="write @generic above a def; @staticmethod and @classmethod go above @generic",
        )
    return cast("GenericFunction[P, R]", Generic(declaration).function)


class Generic:
    """State of a generic function: its base methods, views and memos.

    function: the function itself, which the program holds. views: all views of it, which cache
    resolutions to its base methods. native: its own code, where that is one object.
    """

    native: Any = None

    def __init__(self, declaration: FunctionType) -> None:
        self.declaration = declaration
        self.signature = inspect.signature(declaration)
        self.names = positional_names(self.signature)
        self.views: weakref.WeakSet[View] = weakref.WeakSet()
        self._rest = self._named = False
        # by the key of a stack: the memos of the view of that stack
        self._memos: tuple[dict[object, Any], ...] = ({}, {}, {})
        self._open_for(MethodParameters.of(declaration, location_of(declaration)))
        self.function = self._make_function()
        self.view = View(self, MethodChain.of(self.function, ()))
        self._plum = _plum_function(declaration)
        # the number of base methods added: compiled code reads it at each entry
        self.changes = ctypes.c_uint64(0)
        self.remember(None, self.view)
        self._fill_namespace()
        if not _is_empty(declaration):
            self.add(declaration, None, 0)

    # ---- base methods ----

    def dispatch(self, method: Any_F | None = None, /, *, precedence: int = 0) -> Any:
        """Add a base method, or return a decorator that adds one."""
        if method is None:
            return functools.partial(self.dispatch, precedence=precedence)
        return self.add(method, None, precedence)

    def dispatch_multi(self, *signatures: Any) -> Any:
        """Return a decorator that adds a base method for each of these signatures."""
        from plum import Signature

        made = [s if isinstance(s, Signature) else Signature(*s) for s in signatures]

        def add(method: Any_F) -> Any:
            for signature in made:
                self.add(method, signature, None)
            return self.function

        return add

    @runs_natively
    def add(self, method: Any_F, signature: Any, precedence: int | None) -> Any:
        """Add a base method. Returns the generic function itself."""
        if not callable(method):
            raise OverlayError(
                f"a method of the generic function {self} is not callable: {method!r}",
                where=caller(),
                help="decorate a function",
            )
        self.accept(MethodParameters.of(method, location_of(method)))
        with LOCK:
            self._plum.register(method, signature, precedence)
            self.changes.value += 1
            for view in list(self.views):
                view.forget()
        return self.function

    def methods(self) -> tuple[Any, ...]:
        """plum's base methods."""
        return tuple(self._plum.methods)

    @property
    def plum_function(self) -> Function:
        """The plum function that holds the base methods."""
        return self._plum

    def resolve(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any_F, Any, bool]:
        """The base method's function, the type that plum converts its result to, and whether
        the types of the arguments alone decide.

        Raises MethodNotFound and AmbiguousMethod.
        """
        from plum import AmbiguousLookupError, NotFoundLookupError

        methods = self._plum.methods  # registers pending methods
        lasting = all(m.signature.is_faithful for m in methods)
        try:
            return *chosen(self._plum, args, plain_values(args)), lasting
        except NotFoundLookupError:
            inherited = self._inherited(args)
            if inherited is None:
                raise self._not_found(args, kwargs) from None
            return inherited, Any, False
        except AmbiguousLookupError as error:
            raise AmbiguousMethod(
                f"generic function {self} has equally specific methods for "
                f"{self}({_types(args, kwargs)})",
                where=caller(),
                notes=[("candidate", self._shown(m)) for m in error.methods],
                help="add a method for exactly these types, or give one of them a precedence",
            ) from None

    def _inherited(self, args: tuple[Any, ...]) -> Any_F | None:
        """The inherited function of this name, from the next class of the MRO that has one, if
        this function belongs to the class of the first argument; else None.
        """
        if not args:
            return None
        name = self.function.__name__
        held = [(cls, cls.__dict__[name]) for cls in type(args[0]).__mro__ if name in cls.__dict__]
        below = list(itertools.dropwhile(lambda pair: pair[1] is not self.function, held))[1:]
        if not below or below[0][0] is object:
            return None
        return getattr(below[0][0], name)

    def _not_found(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> MethodNotFound:
        if len(args) > len(self.names) and not self._rest:
            # raises the interpreter's own TypeError for a call that the function does not accept
            self.function(*args, **kwargs)
        methods = self._plum.methods
        near = sorted(methods, key=lambda m: m.signature.compute_distance(args))[:3]
        return MethodNotFound(
            f"generic function {self} has no method {self}({_types(args, kwargs)})",
            where=caller(),
            notes=[("closest", self._shown(m)) for m in near],
            help="add a method with @" + str(self) + ".dispatch, or convert the argument"
            if near
            else f"add a method with @{self}.dispatch",
        )

    def _shown(self, method: Any) -> str:
        signature = method.signature
        hints = [shown_hint(t) for t in signature.types]
        if signature.has_varargs:
            hints.append("*" + shown_hint(signature.varargs))
        return f"{self}({', '.join(hints)})   {location_of(method.implementation)}"

    def __str__(self) -> str:
        return self.declaration.__name__

    # ---- the function ----

    def remember(self, key: object, view: View) -> None:
        """Use the memos of a view for calls while the stack with this key is in force."""
        for memos, memo in zip(self._memos, (view.one, view.two, view.more), strict=True):
            memos[key] = memo

    def forget_key(self, key: object) -> None:
        """Drop the memos of a stack that is gone, by its key."""
        for memos in self._memos:
            memos.pop(key, None)

    def accept(self, parameters: MethodParameters) -> None:
        """Widen the function's signature to accept the calls that a method with these parameters
        accepts.
        """
        with LOCK:
            if self._open_for(parameters):
                self.function.__code__ = self._compiled()

    def _open_for(self, parameters: MethodParameters) -> bool:
        """Record the calls that these parameters accept: with more arguments than the declaration
        has, or other keywords. Returns whether the function has to accept more than before.
        """
        before = self._rest, self._named
        own = parameters.positional
        named = {p.name for p in own if p.by_name} | {*parameters.keyword_only}
        self._named |= parameters.var_keyword is not NO_VARARGS or not named <= {*self.names}
        self._rest |= parameters.varargs is not NO_VARARGS or len(own) > len(self.names)
        return before != (self._rest, self._named)

    def _make_function(self) -> FunctionType:
        self._namespace: dict[str, Any] = {"__name__": self.declaration.__module__}
        made = FunctionType(
            self._compiled(), self._namespace, self.declaration.__name__, self._defaults()
        )
        functools.update_wrapper(made, self.declaration)
        made.__dict__.update(
            {
                GENERIC: self,
                "dispatch": self.dispatch,
                "dispatch_multi": self.dispatch_multi,
                "methods": self.methods,
            }
        )
        return made

    def _fill_namespace(self) -> None:
        """Set the globals that the generated code uses."""
        meant = {
            **{"key": current_key, "call": self._call, "type": type},
            **{"MISSING": MISSING, "KeyError": KeyError, "TypeError": TypeError},
            **dict(zip(("one", "two", "more"), self._memos, strict=True)),
        }
        self._namespace.update({self._mark + name: value for name, value in meant.items()})

    def _defaults(self) -> tuple[Any, ...]:
        return (MISSING,) * len(self.names)

    @property
    def _mark(self) -> str:
        """Prefix of the generated code's own names; no parameter begins with it."""
        mark = "_"
        while any(name.startswith(mark) for name in self.names):
            mark += "_"
        return mark

    def _compiled(self) -> CodeType:
        namespace: dict[str, Any] = {self._mark + "MISSING": MISSING}
        exec(compile(self._source(), _FILE, "exec", dont_inherit=True), namespace)
        code: CodeType = namespace["function"].__code__
        return code.replace(
            co_name=self.declaration.__name__, co_qualname=self.declaration.__qualname__
        )

    def _source(self) -> str:
        """Source of the function: it looks the types up, and leaves everything else to ``call``.

        For two parameters, with ``~`` as the prefix of its own names:

            def function(a=~MISSING, b=~MISSING):
                try:
                    ~found = ~two[~key()][~type(a)][~type(b)]
                except (~KeyError, ~TypeError):
                    pass
                else:
                    return ~found(a, b)
                return ~call((a, b), {})
        """
        kinds = [self.signature.parameters[name].kind for name in self.names]
        only = sum(kind is inspect.Parameter.POSITIONAL_ONLY for kind in kinds)
        shown = [f"{name}=~MISSING" for name in self.names]
        shown[only:only] = ["/"] if only else []
        shown += (["*~rest"] if self._rest else []) + (["**~named"] if self._named else [])
        lines = [f"def function({', '.join(shown)}):"]
        for count in self._fast():
            tests = [f"not ~{n}" for n in ("rest", "named") if getattr(self, f"_{n}")]
            tests += [f"{name} is ~MISSING" for name in self.names[count:]]
            lines += [f" if {' and '.join(tests) or '1'}:", *_lookup(self.names[:count])]
        given = "".join(name + ", " for name in self.names) + ("*~rest," if self._rest else "")
        lines.append(f" return ~call(({given}), {'~named' if self._named else '{}'})")
        return "\n".join(lines).replace("~", self._mark)

    def _fast(self) -> Sequence[int]:
        """The numbers of arguments that have a fast path."""
        parameters = self.signature.parameters
        required = sum(parameters[n].default is inspect.Parameter.empty for n in self.names)
        return range(max(required, 1), len(self.names) + 1)

    def _call(self, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Slow path: a call whose types, or whose shape, are not in the memos."""
        args, given = self._given(args)
        stack = current_stack()
        view = self.view if stack is None else natively(stack.view, self)
        return view(*args, **given, **named)

    @runs_natively
    def _given(self, args: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments before the first missing one, and those after it by name."""
        gap = next((i for i, value in enumerate(args) if value is MISSING), None)
        if gap is None:
            return args, {}
        later = zip(self.names[gap:], args[gap:], strict=True)
        return args[:gap], {name: value for name, value in later if value is not MISSING}


def _lookup(names: Sequence[str]) -> list[str]:
    """Lines that look the implementation up for a call with these arguments."""
    types = [f"~type({name})" for name in names]
    memo = ("one", "two", "more")[min(len(names), 3) - 1]
    keys = f"[{']['.join(types)}]" if len(names) <= 2 else f"[{', '.join(types)}]"
    return [
        "  try:",
        f"   ~found = ~{memo}[~key()]{keys}",
        "  except (~KeyError, ~TypeError):",
        "   pass",
        "  else:",
        f"   return ~found({', '.join(names)})",
    ]


def _is_empty(function: FunctionType) -> bool:
    """Whether a function's body is ``...``, or a docstring alone."""
    instructions = list(dis.get_instructions(function.__code__))
    constants = [i.argval for i in instructions if i.opname in _CONSTANTS]
    return {i.opname for i in instructions} <= _NOTHING_DONE and constants == [None]


def _plum_function(declaration: FunctionType) -> Function:
    function_class = load_plum().Function
    made = function_class(declaration)
    # plum's own list would keep it alive, and all that its methods refer to
    everything: list[Any] = getattr(function_class, "_instances", [])
    everything[:] = [f for f in everything if f is not made]
    return made


def _types(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    named = (f"{name}: {shown_hint(type(value))}" for name, value in kwargs.items())
    return ", ".join([*(shown_hint(type(value)) for value in args), *named])
