"""Resolution of calls in code of a world: to a method, a function of the program, or numba's own.

Methods of a table made with ``check=True`` are checked when code is compiled, as far as types tell.
A call that fails the check raises CheckFailed at run time.
"""

from __future__ import annotations

import itertools
import logging
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numba import types

from overlay.compiled.basis import Generated
from overlay.compiled.compilation_reports import LOG, resolved
from overlay.compiled.dispatch_types import (
    Unspellable,
    alternatives,
    hint_of,
    is_literal,
    underlying_type,
)
from overlay.compiled.glue import GLUE
from overlay.compiled.numba.dispatchers import InnerDispatcher
from overlay.compiled.numba.numba_types import (
    Native,
    Type,
    has_code,
    is_dispatcher,
    type_of_constant,
)
from overlay.compiled.numba.shown_ir import callable_of
from overlay.compiled.sharing import frame
from overlay.compiled.stand_ins import TargetStandIn
from overlay.contexts.context import nonoverlay, wrapped_in
from overlay.core.checking import annotations_of
from overlay.core.dispatch import Call, by_types, reads
from overlay.core.errors import CheckFailed, NotCompilable
from overlay.core.location import location_of
from overlay.core.signature import depends_on, plum_signature, shown_hint
from overlay.core.target import describe
from overlay.generics import plum_methods
from overlay.ir import UNKNOWN
from overlay.plugins.known_functions import type_of_function

if TYPE_CHECKING:
    from overlay.compiled.world import World
    from overlay.core.table import Method

__all__ = ["CompiledOutcome", "Outcomes"]


@dataclass(eq=False)
class CompiledOutcome:
    """Resolution of a call. Where a checked method fails, ``callee`` is replaced by a function that
    raises.

    callee: an InnerDispatcher, or a callable that numba knows (Native).
    method: the method entered, or None for the base.
    result: the annotation that plum would convert the result to, or Any.
    generated: the result of the generated method, if it is one.
    """

    callee: Any
    method: Method | None = None
    result: Any = Any
    generated: Generated | None = None


class Outcomes:
    """The calls in code of one world, by callee and types, with their resolutions."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._known: dict[Any, CompiledOutcome] = {}
        self._forms: dict[tuple[int, int], Any] = {}

    def of(
        self, callee: TargetStandIn, args: Sequence[Type], kwargs: Mapping[str, Type]
    ) -> CompiledOutcome:
        """Resolve a call of ``callee`` with arguments of these numba types.

        Raises AmbiguousMethod, and the errors of generated methods.
        """
        self.world.overlays(callee.target)  # the code being compiled depends on it
        key = callee, tuple(args), tuple(kwargs.items())
        found = self._known.get(key)
        if found is None:
            given, named = callee.positional(args, kwargs)
            arguments = [_as_type(t) for t in (*given, *named.values())]
            found = self._resolve(callee, arguments, tuple(named))
            if self.world.plugins:
                self._enter(found, arguments)
            self._known[key] = found
            if LOG.isEnabledFor(logging.DEBUG):
                called = f"{describe(callee.target)}({', '.join(map(str, arguments))})"
                resolved(called, str(found.method or "no method"))
        compiled = frame()
        if compiled is not None and found.generated is not None:
            compiled.asks(found.generated)
        if compiled is not None and isinstance(found.callee, Native):
            found.callee.note(compiled)
        return found

    def _enter(self, outcome: CompiledOutcome, args: Sequence[Type]) -> None:
        """Move the callee to the world of the plugins that stay active in it."""
        run = outcome.callee
        if isinstance(run, Native):
            self.world.ask_to_enter(run.value, args)
        elif run.world is self.world:
            world = self.world.entered(run.function, args)
            if world is not self.world:
                outcome.callee = world.dispatcher(run.function, run.chain)

    def _resolve(
        self, callee: TargetStandIn, args: list[Type], names: tuple[str, ...]
    ) -> CompiledOutcome:
        method = self._method(callee, args, names)
        instead = None
        if method is not None:
            instead = method.table.chosen_compiled(method, callee.chain.passed, self.world.tables)
        for actual in itertools.product(*map(alternatives, args)):
            if list(actual) != args and self._method(callee, actual, names) is not method:
                raise NotCompilable(
                    f"{describe(callee.target)}({', '.join(map(str, args))}) is one method or "
                    "another by a value that may be None when the program runs",
                    notes=[("candidate", str(method))] if method else (),
                    help="test for None before the call",
                )
        if method is None:
            return self._base_outcome(callee, args, names)
        implementation, generated = instead, None
        if instead is None:
            implementation, generated = self._implementation(method, args, names)
        if not (has_code(implementation) or is_dispatcher(implementation)):
            return CompiledOutcome(Native(implementation), method, generated=generated)
        run = self.world.dispatcher(implementation, callee.chain.after(method))
        return CompiledOutcome(run, method, generated=generated)

    def _method(
        self, callee: TargetStandIn, args: Sequence[Type], names: tuple[str, ...]
    ) -> Method | None:
        """The method for arguments of these types, from the resolver of both engines."""
        if callee.is_base:
            return None
        literal = any(map(is_literal, args)) and callee.chain.depends_on in ("literal", "value")
        plain, numpy = _readings(args, names, literal)
        return callee.chain.resolve(plain, otherwise=numpy)

    def _implementation(
        self, method: Method, args: Sequence[Type], names: tuple[str, ...]
    ) -> tuple[Any, Generated | None]:
        """The function of a method for these types; for a generated method also the record of its
        result."""
        if not method.generated:
            return method.function, None
        if not method.table.interprets:
            below = [underlying_type(t) for t in args]
            if any(reads(method, call) for call in _readings(below, names)):
                args = below
        plain, _ = _readings(args, names)
        is_plain = plain.matches(method.signature(plain.count, plain.names))
        hints = tuple(self._hint_of(t, numpy=not is_plain) for t in args)
        made = Generated(method, hints, method.implementation(hints))
        return made.implementation, made

    def _hint_of(self, ty: Type, *, numpy: bool) -> Any:
        """The type that a generated method is given: for a function the one that represents it,
        bound to its context."""
        hint = hint_of(ty, numpy=numpy)
        function = callable_of(ty) if hint is Unspellable else UNKNOWN
        if function is UNKNOWN:
            return hint
        callee = getattr(ty, "callee", None)
        if isinstance(callee, TargetStandIn) and callee.context is not None:
            function = self._form_of(callee.context.context.wrap(function))
        elif self.world.tables and _has_no_tables(getattr(ty, "dispatcher", callee)):
            function = self._form_of(nonoverlay(function))
        return type_of_function(function)

    def _form_of(self, made: Any) -> Any:
        """The first object made for a function and its context: types that represent functions
        compare them by identity."""
        inside = wrapped_in(made)
        context, function = inside or (None, made.function)
        return self._forms.setdefault((id(context), id(function)), made)

    def _base_outcome(
        self, callee: TargetStandIn, args: list[Type], names: tuple[str, ...]
    ) -> CompiledOutcome:
        count = len(args) - len(names)
        if not plum_methods.is_function(callee.target):
            found = self.world.stand_ins.base(callee.target)
            if isinstance(found, Native):
                named = dict(zip(names, args[count:], strict=True))
                found = self.world.implementation(found.type_known, args[:count], named) or found
            return CompiledOutcome(found)
        given, plain = args[:count], [underlying_type(t) for t in args[:count]]
        method, result = plum_methods.resolved(
            callee.target,
            *(
                (
                    [hint_of(t, numpy=n) for t in given],
                    None if plain == given else [hint_of(t, numpy=n) for t in plain],
                )
                for n in (False, True)
            ),
        )
        return CompiledOutcome(self.world.stand_ins.base(method), None, result)

    def accepts(self, outcome: CompiledOutcome, returned: Type) -> bool:
        """Whether plum would return a result of this type unchanged."""
        return outcome.result is Any or any(
            plum_methods.is_result(hint_of(ty), outcome.result)
            for ty in (returned, underlying_type(returned))
        )

    def failing(
        self,
        outcome: CompiledOutcome,
        args: Sequence[Any],
        kws: Mapping[str, Any],
        returned: Type | None,
    ) -> InnerDispatcher | None:
        """A function that raises CheckFailed in place of a method, if its table checks and the
        types of the arguments, or of the result, do not match the method's annotations; else
        None."""
        method, run = outcome.method, outcome.callee
        if method is None or not method.table.check or not isinstance(run, InnerDispatcher):
            return None
        if run.chain is None:
            return None  # it is already a function of ``_failing``
        function = run.original
        if returned is None:
            message = _failure_of_arguments(method, function, args, kws)
        else:
            message = _failure_of_result(method, function, returned)
        if message is None:
            return None
        made = self.world.dispatcher(_failing(run, message, len(args), at_once=returned is None))
        made.enters_methods = True
        return made


def _as_type(argument: Any) -> Type:
    """The numba type of an argument: a type, or the value of a default."""
    return argument if isinstance(argument, Type) else type_of_constant(argument)


def _readings(
    args: Sequence[Type], names: Sequence[str], literal: bool = False
) -> tuple[Call, Call]:
    """The two readings of a call: with Python's scalar types, and with numpy's."""
    plain = [underlying_type(t) for t in args]
    below = (None, None) if plain == list(args) else _readings(plain, names, literal)
    first, second = (
        by_types([hint_of(t, numpy=n, literal=literal) for t in args], names, below[n])
        for n in (False, True)
    )
    return first, second


def _has_no_tables(function: Any) -> bool:
    """Whether a function among the arguments is out of reach of all tables."""
    is_of_world = isinstance(function, (TargetStandIn, InnerDispatcher))
    return is_of_world and not function.world.tables


# ---- methods of checked tables ------------------------------------------------------------


def _failure_of_arguments(
    method: Method, function: Any, args: Sequence[Any], kws: Mapping[str, Any]
) -> str | None:
    """The error text for arguments of these numba types that do not match, or None."""
    signature, hints = annotations_of(function, method)
    bound = signature.bind(*args, **kws).arguments
    for name, given in bound.items():
        several = signature.parameters[name].kind is signature.parameters[name].VAR_POSITIONAL
        for ty in given if several else (given,):
            if name in hints and isinstance(ty, types.Type):
                failed = _failure(method, function, f"argument {name!r}", ty, hints[name])
                if failed is not None:
                    return failed
    return None


def _failure_of_result(method: Method, function: Any, returned: types.Type) -> str | None:
    """The error text for a result of this numba type that does not match, or None."""
    hint = annotations_of(function, method)[1].get("return", Any)
    return _failure(method, function, "the result", returned, hint)


def _failing(run: Callable[..., Any], message: str, count: int, *, at_once: bool) -> Any:
    """A function for compiled code that raises CheckFailed before or after it has called ``run``
    with ``count`` arguments."""
    names = ", ".join(f"a{i}" for i in range(count))
    first = "fail()" if at_once else "pass"
    source = (
        f"def fail(): raise CheckFailed({message!r})\n"
        f"def checked({names}):\n    {first}\n    result = run({names})\n    fail()\n"
        "    return result\n"
    )
    namespace: dict[str, Any] = {"run": run, "CheckFailed": CheckFailed}
    exec(compile(source, GLUE, "exec"), namespace)
    return namespace["checked"]


def _failure(method: Method, function: Any, what: str, ty: Any, hint: Any) -> str | None:
    if hint is Any or (typing.get_origin(hint) is None and hint in (object, Any)):
        return None
    verdicts = {_meets(each, hint) for each in alternatives(ty)}
    if verdicts == {True}:
        return None
    if verdicts != {False} or (depends_on(hint) in ("literal", "value") and _is_unknown(ty, hint)):
        raise NotCompilable(
            f"table {method.table.name!r} checks its methods, and whether {what} of {method} is "
            f"{shown_hint(hint)} is known only at run time",
            where=location_of(function),
            notes=[("compiled type", str(ty))],
            help="leave out check=True, or the annotation, for compiled code",
        )
    return (
        f"table {method.table.name!r}: {what} of {method} is not {shown_hint(hint)} but "
        f"{shown_hint(hint_of(ty))}"
    )


def _is_unknown(ty: types.Type, hint: Any) -> bool:
    """Whether the annotation depends on a value that is unknown at compile time: ``Literal``."""
    return "Literal" in str(hint) and not is_literal(ty)


def _meets(ty: types.Type, hint: Any) -> bool:
    wanted = plum_signature([hint])
    literal = is_literal(ty)
    readings = [_whole(ty, numpy=n, literal=v) for n in (False, True) for v in {False, literal}]
    return any(plum_signature([given]) <= wanted for given in readings)


def _whole(ty: types.Type, *, numpy: bool, literal: bool) -> Any:
    """The annotation that a value matches, with the element types of containers."""

    def inner(element: Any) -> Any:
        return _whole(element, numpy=numpy, literal=False)

    if isinstance(ty, types.List):
        return list[inner(ty.dtype)]
    if isinstance(ty, types.Set):
        return set[inner(ty.dtype)]
    if isinstance(ty, types.DictType) and not numpy:
        return dict[inner(ty.key_type), inner(ty.value_type)]
    return hint_of(ty, numpy=numpy, literal=literal)
