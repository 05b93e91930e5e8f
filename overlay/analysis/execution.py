"""Abstract execution of single statements, in one analysis of a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    MethodDescriptorType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

import numpy as np

from overlay.analysis.abstract_state import CONSTANT, AbstractState, Fact
from overlay.analysis.resolution import Callee, Setting, callees
from overlay.analysis.runs import Run, Step
from overlay.code import constants, marks
from overlay.code.body import Apply, Body, ConstantValue, Copy, Make, Name, Return, Statement
from overlay.code.constants import Captured
from overlay.contexts.current import nonoverlay
from overlay.core.errors import OverlayError

if TYPE_CHECKING:
    from overlay.analysis.interpreter import Interpreter

__all__ = ["Execution"]

_MARKS = frozenset(id(each) for each in vars(marks).values() if callable(each))
_NATIVE = (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    MethodDescriptorType,
    MethodWrapperType,
    WrapperDescriptorType,
    np.ufunc,
    type(np.dot),
)


class CallOutcome:
    """Outcome of a call: its result, the runs of its callees, its errors, whether all code of the
    program that runs in it was analysed, and whether native code runs too."""

    def __init__(self, result: Any) -> None:
        self.result = result
        self.inner: list[Run] = []
        self.errors: list[OverlayError] = []
        self.followed = True
        self.native = False


class Execution:
    """Analysis of one function with given arguments, in a setting."""

    def __init__(
        self, interpreter: Interpreter, body: Body | None, run: Run, setting: Setting
    ) -> None:
        self.interpreter = interpreter
        self.domain = interpreter.domain
        self._body = body
        self.run = run
        self.setting = setting
        self._given = self.domain.bottom

    @property
    def body(self) -> Body:
        """The function's body."""
        assert self._body is not None
        return self._body

    def execute(self, statement: Statement, state: AbstractState) -> None:
        """Apply the effect of a statement to a state."""
        if isinstance(statement, ConstantValue):
            self._set_constant(statement.target, statement.value, state)
        elif isinstance(statement, Copy):
            value = self._value(state, statement.source)
            state.set_copy(statement.target, value, statement.source)
        elif isinstance(statement, Make):
            held, namespace = self._captured(statement, state), self.body.function.__globals__
            made = self.interpreter.function_made(statement, held, namespace)
            self._set_constant(statement.target, made, state)
        else:
            self._apply(statement, state)

    def noted(self, into: Mapping[int, AbstractState]) -> Any:
        """Return the function's result, of a generator function the generator, from the states at
        the fixed point; record the function's calls in the run."""
        domain, found = self.domain, self.domain.bottom
        for label in sorted(into):  # the order of the source
            block, state = self.body.blocks[label], into[label].copy()
            for statement in block.statements:
                if isinstance(statement, Apply):
                    self._apply(statement, state, noted=True, catches=block.catches)
                else:
                    self.execute(statement, state)
            if isinstance(block.end, Return) and block.end.value is not None:
                found = domain.join(found, self._value(state, block.end.value))
        if self.body.kind == "generator":
            return domain.generated(self._given)
        return found if self.body.kind == "function" else domain.top

    # ---- values ----

    def _value(self, state: AbstractState, name: str) -> Any:
        return state.values.get(name, self.domain.top)

    def _set_constant(self, target: str, value: Any, state: AbstractState) -> None:
        if type(value) is Captured:
            state.set(target, value.value)
        else:
            state.set(target, self.domain.constant(value), Fact(CONSTANT, (), value))

    def _captured(self, statement: Make, state: AbstractState) -> list[Any]:
        """The values of a nested function's free variables, then of its defaults."""
        names = (*statement.captured, *statement.defaults)
        held: list[Any] = []
        for name in names:
            known = None if name is None else state.constant(name)
            if known is None:
                value = self.domain.top if name is None else self._value(state, name)
                known = (Captured(value),)
            held.append(known[0])
        return held

    # ---- calls ----

    def _apply(
        self, step: Apply, state: AbstractState, *, noted: bool = False, catches: bool = False
    ) -> None:
        function = step.function
        if isinstance(function, str):
            function = self._function(state, function)
        known = self._computed(function, step, state)
        if known is not None:
            self._set_constant(step.target, known[0], state)
            return
        args = tuple(self._value(state, name) for name in step.args)
        kwargs = {key: self._value(state, name) for key, name in step.kwargs}
        outcome = self.outcome(function, args, kwargs)
        if noted:
            if function is marks.give:
                self._given = self.domain.join(self._given, args[0])
            self._note(step, function, (*args, *kwargs.values()), outcome, catches)
        if function is None or kwargs:
            state.set(step.target, outcome.result)
        else:
            names = tuple(map(state.origin, step.args))
            state.set(step.target, outcome.result, Fact(function, names))

    def _note(
        self, step: Apply, function: Any, args: tuple[Any, ...], outcome: CallOutcome, catches: bool
    ) -> None:
        errors = tuple(outcome.errors)
        caller = self.body.function
        seen = Step(
            function,
            args,
            outcome.result,
            step.where,
            caller,
            step,
            errors,
            outcome.followed,
            outcome.native,
            catches,
        )
        self.run.note(seen, outcome.inner)

    def _function(self, state: AbstractState, name: str) -> Any:
        known = state.constant(name) or self.domain.known(self._value(state, name))
        return None if known is None else known[0]

    def _computed(self, function: Any, step: Apply, state: AbstractState) -> tuple[Any] | None:
        """The result of a step that is computed on the program's own objects, in a tuple of one:
        a constant attribute of a module or class, or ``nonoverlay(function)``; else None."""
        if function is not getattr and function is not nonoverlay:
            return None
        known = [state.constant(name) for name in step.args]
        held = [each[0] for each in known if each is not None]
        if len(held) != len(known):
            return None
        if function is nonoverlay:
            return (self.interpreter.without_overlays(held[0]),) if len(held) == 1 else None
        return constants.attribute(*held) if type(held[-1]) is Name else None

    def outcome(
        self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> CallOutcome:
        """The outcome of a call, joined over the alternatives of its arguments."""
        domain = self.domain
        found = CallOutcome(domain.bottom)
        for given in domain.alternatives(args):
            if any(value == domain.bottom for value in (*given, *kwargs.values())):
                continue
            result = self._called(function, given, kwargs, found)
            found.result = domain.join(found.result, result)
        return found

    def _called(
        self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], found: CallOutcome
    ) -> Any:
        """The result of a call; the rest of its outcome is added to ``found``."""
        domain = self.domain
        if function is None or not callable(function):
            found.followed = False
            return domain.top
        if id(function) in _MARKS:
            return self._transferred(function, args, kwargs, (domain.top,))[0]
        try:
            run = callees(domain, function, args, kwargs, self.setting)
        except OverlayError as error:
            found.errors.append(error)
            return domain.bottom
        if run is None:
            found.followed = False
            return domain.top
        if not run:  # such as current_context(): nothing of the program runs
            return domain.top
        result = domain.bottom
        for callee in run:
            result = domain.join(result, self._of(callee, found))
        return result

    def _transferred(
        self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], otherwise: Any
    ) -> Any:
        """The result of a call by its transfer function, in a tuple of one; ``otherwise`` if there
        is none."""
        method = self.interpreter.transfer(function, args, kwargs)
        if method is None:
            return otherwise
        return (self.domain.settled(function, args, method(*args, **kwargs)),)

    def _of(self, callee: Callee, found: CallOutcome) -> Any:
        """The result of one callee of a call."""
        known = self._transferred(callee.function, callee.args, callee.kwargs, None)
        if known is not None:
            return known[0]
        result = self._read(callee, found)
        bottom = self.domain.bottom
        return result if callee.result is None or result == bottom else callee.result[0]

    def _read(self, callee: Callee, found: CallOutcome) -> Any:
        """The result of a callee by analysis of its code; ``top`` if it has none."""
        domain = self.domain
        body = self.interpreter.body(callee.function)
        if body is None:
            found.native = True
            handed = any(map(self._is_function, (*callee.args, *callee.kwargs.values())))
            if handed or not is_native(callee.function):
                found.followed = False
            return domain.top
        bound = self.bound(body, callee.args, callee.kwargs)
        if bound is None:
            return domain.bottom
        run = self.interpreter.analyse(body, bound, callee.setting)
        if run is None:
            found.followed = False
            return domain.top
        found.inner.append(run)
        return run.result

    def _is_function(self, value: Any) -> bool:
        """Whether a value is a function of the program, which native code may call."""
        known = self.domain.known(value)
        return known is not None and callable(known[0]) and not is_native(known[0])

    def bound(
        self, body: Body, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, ...] | None:
        """A value for each parameter; None if the arguments do not fit the signature."""
        top = (self.domain.top,)
        if body.signature is None:
            return tuple(args) if len(args) == len(body.parameters) and not kwargs else None
        try:
            given = body.signature.bind(*args, **kwargs).arguments
        except TypeError:
            return None
        values: list[Any] = []
        for name, parameter in body.signature.parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                rest = given.get(name, ())
                values.append(self._transferred(marks.pack, rest, {}, top)[0])
            elif parameter.kind is parameter.VAR_KEYWORD:
                made = (self.domain.constant(dict),)
                values.append(self._transferred(marks.new, made, {}, top)[0])
            elif name in given:
                values.append(given[name])
            else:
                values.append(self._default(parameter.default.value))
        return tuple(values)

    def _default(self, value: Any) -> Any:
        return value.value if type(value) is Captured else self.domain.constant(value)


def is_native(function: Any) -> bool:
    """Whether a callable is written in C, so that no code of the program is behind it."""
    return type(function) in _NATIVE or (
        type(function) is type and function.__module__ in ("builtins", "numpy")
    )
