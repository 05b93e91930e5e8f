"""What calls in code of a world resolve to: a method, a body of the program, or what is numba's."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from overlay.compiled.basis import Generated
from overlay.compiled.checked_methods import failing, failure_of_arguments, failure_of_result
from overlay.compiled.dispatch_types import (
    Unspellable,
    alternatives,
    hint_of,
    is_literal,
    underlying_type,
)
from overlay.compiled.numba.dispatchers import InnerDispatcher
from overlay.compiled.numba.numba_types import Native, Type, is_dispatcher
from overlay.compiled.numba.shown_ir import callable_of
from overlay.compiled.resolved_calls import (
    Body,
    Callee,
    Outcome,
    as_type,
    has_code,
    readings,
    type_of,
)
from overlay.compiled.sharing import frame
from overlay.contexts.context import nonoverlay, wrapped_in
from overlay.core.dispatch import reachable, reads, resolve
from overlay.core.errors import NotCompilable
from overlay.core.target import describe
from overlay.generics import plum_methods
from overlay.ir import UNKNOWN
from overlay.plugins.known_functions import type_of_function

if TYPE_CHECKING:
    from overlay.compiled.world import World
    from overlay.core.table import Method

__all__ = ["Outcomes"]


class Outcomes:
    """The calls that code of one world makes, by callee and types, and what each enters."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._known: dict[Any, Outcome] = {}
        self._forms: dict[tuple[int, int], Any] = {}

    def of(self, callee: Callee, args: Sequence[Type], kwargs: Mapping[str, Type]) -> Outcome:
        """What a call of ``callee`` with arguments of these numba types enters.

        Raises AmbiguousMethod, and what a generated method raises.
        """
        self.world.overlays(callee.target)  # the code that is being compiled depends on the answer
        key = callee, tuple(args), tuple(kwargs.items())
        found = self._known.get(key)
        if found is None:
            given, named = callee.positional(args, kwargs)
            arguments = [as_type(t) for t in (*given, *named.values())]
            found = self._resolve(callee, arguments, tuple(named))
            if self.world.plugins:
                self._enter(found, arguments)
            self._known[key] = found
        compiled = frame()
        if compiled is not None and found.generated is not None:
            compiled.asks(found.generated)
        return found

    def _enter(self, outcome: Outcome, args: Sequence[Type]) -> None:
        """Have the plugins say in which world a call goes on."""
        run = outcome.callee
        if isinstance(run, Native):
            self.world.ask_to_enter(run.value, args)
        elif run.world is self.world:
            world = self.world.entered(run.function, args)
            if world is not self.world:
                outcome.callee = world.dispatcher(run.function, run.body)

    def _resolve(self, callee: Callee, args: list[Type], names: tuple[str, ...]) -> Outcome:
        method = self._method(callee, args, names)
        instead = None
        if method is not None:
            instead = method.table.chosen_compiled(method, callee.after, self.world.tables)
        for actual in itertools.product(*map(alternatives, args)):
            if list(actual) != args and self._method(callee, actual, names) is not method:
                raise NotCompilable(
                    f"{describe(callee.target)}({', '.join(map(str, args))}) is one method or "
                    "another by a value that may be None when the program runs",
                    notes=[("candidate", repr(method))] if method else (),
                    help="test for None before the call",
                )
        if method is None:
            return self._base_outcome(callee, args, names)
        implementation, generated = instead, None
        if instead is None:
            implementation, generated = self._implementation(method, args, names)
        if not (has_code(implementation) or is_dispatcher(implementation)):
            return Outcome(Native(implementation), method, generated=generated)
        body = Body(callee.target, (*callee.after, method))
        return Outcome(self.world.dispatcher(implementation, body), method, generated=generated)

    def _method(
        self, callee: Callee, args: Sequence[Type], names: tuple[str, ...]
    ) -> Method | None:
        """The method for arguments of these types, by the resolver of both engines."""
        if callee.is_base:
            return None
        literal = any(map(is_literal, args)) and self._has_literals(callee.target)
        plain, numpy = readings(args, names, literal)
        return resolve(self.world.tables, callee.target, plain, callee.after, otherwise=numpy)

    def _has_literals(self, target: Any) -> bool:
        return any(m.depends_on == "value" for m in reachable(self.world.tables, target))

    def _implementation(
        self, method: Method, args: Sequence[Type], names: tuple[str, ...]
    ) -> tuple[Any, Generated | None]:
        """The function of a method for these types; and of a generated one, that it was asked."""
        if not method.generated:
            return method.function, None
        if not method.table.interprets:
            below = [underlying_type(t) for t in args]
            if any(reads(method, call) for call in readings(below, names)):
                args = below
        plain, _ = readings(args, names)
        is_plain = plain.matches(method.signature(plain.count, plain.names))
        hints = tuple(self._hint_of(t, numpy=not is_plain) for t in args)
        made = Generated(method, hints, method.implementation(hints))
        return made.implementation, made

    def _hint_of(self, ty: Type, *, numpy: bool) -> Any:
        """The type that a generated method is given: for a function one that stands for it, in
        the context that it brings."""
        hint = hint_of(ty, numpy=numpy)
        function = callable_of(ty) if hint is Unspellable else UNKNOWN
        if function is UNKNOWN:
            return hint
        callee = getattr(ty, "callee", None)
        if isinstance(callee, Callee) and callee.context is not None:
            function = self._form_of(callee.context.context.wrap(function))
        elif self.world.tables and _has_no_tables(getattr(ty, "dispatcher", callee)):
            function = self._form_of(nonoverlay(function))
        return type_of_function(function)

    def _form_of(self, made: Any) -> Any:
        """What was first made for a function and the context that it brings: types that stand for
        functions tell them apart by identity."""
        inside = wrapped_in(made)
        context, function = inside or (None, made.function)
        return self._forms.setdefault((id(context), id(function)), made)

    def _base_outcome(self, callee: Callee, args: list[Type], names: tuple[str, ...]) -> Outcome:
        count = len(args) - len(names)
        if not plum_methods.is_function(callee.target):
            found = self.world.stand_ins.base(callee.target)
            if isinstance(found, Native):
                named = dict(zip(names, args[count:], strict=True))
                found = self.world.implementation(type_of(found), args[:count], named) or found
            return Outcome(found)
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
        return Outcome(self.world.stand_ins.base(method), None, result)

    def accepts(self, outcome: Outcome, returned: Type) -> bool:
        """Whether plum would return a result of this type as it is."""
        return outcome.result is Any or any(
            plum_methods.is_result(hint_of(ty), outcome.result)
            for ty in (returned, underlying_type(returned))
        )

    def failing(
        self, outcome: Outcome, args: Sequence[Any], kws: Mapping[str, Any], returned: Type | None
    ) -> InnerDispatcher | None:
        """What raises CheckFailed in place of a method, if its table checks and the arguments,
        or a result of this type, are not what it says."""
        method, run = outcome.method, outcome.callee
        if method is None or not method.table.check or not isinstance(run, InnerDispatcher):
            return None
        if run.body is None:
            return None  # it raises already
        function = run.original
        if returned is None:
            message = failure_of_arguments(method, function, args, kws)
        else:
            message = failure_of_result(method, function, returned)
        if message is None:
            return None
        made = self.world.dispatcher(failing(run, message, len(args), at_once=returned is None))
        made.enters_methods = True
        return made


def _has_no_tables(function: Any) -> bool:
    """Whether a function among the arguments is one that no table reaches."""
    is_of_world = isinstance(function, (Callee, InnerDispatcher))
    return is_of_world and not function.world.tables
