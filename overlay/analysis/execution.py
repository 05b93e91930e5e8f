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
from overlay.analysis.lattice import Entered, UnsetVariable
from overlay.analysis.resolution import Callee, Setting, callees
from overlay.analysis.runs import Run, Step
from overlay.code import constants, marks
from overlay.code.body import (
    Apply,
    Block,
    Body,
    Branch,
    ConstantValue,
    Copy,
    Make,
    Name,
    Return,
    Statement,
    WithBlock,
    is_step,
)
from overlay.code.constants import Captured
from overlay.code.statements import SLOT
from overlay.contexts.current import nonoverlay
from overlay.core.errors import OverlayError

if TYPE_CHECKING:
    from overlay.analysis.interpreter import Interpreter

__all__ = ["Execution"]

_UNPACKING = "CALL_FUNCTION_EX"
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
    """Outcome of a call: its result, the runs of its callees, its errors, whether each alternative
    of its arguments has one, whether all code of the program that runs in it was analysed, and
    whether native code runs too."""

    def __init__(self, result: Any) -> None:
        self.result = result
        self.inner: list[Run] = []
        self.errors: list[OverlayError] = []
        self.certain = True
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
        self._at = ""
        self._read_well: set[tuple[str, str]] = set()
        self._unset: list[tuple[Step, str]] = []
        self._keeping: dict[str, bool] = {}

    @property
    def body(self) -> Body:
        """The function's body."""
        assert self._body is not None
        return self._body

    def execute(self, statement: Statement, state: AbstractState) -> bool:
        """Apply the effect of a statement to a state; return whether the next one is reached."""
        if isinstance(statement, ConstantValue):
            self._set_constant(statement.target, statement.value, state)
        elif isinstance(statement, Apply):
            return self._apply(statement, state)
        else:
            try:
                self._assign(statement, state)
            except OverlayError:
                return False
        return True

    def _assign(self, statement: Copy | Make, state: AbstractState) -> None:
        if isinstance(statement, Copy):
            value = state.values.get(statement.source, self.domain.top)
            is_kept = is_step(statement.target) and not statement.target.startswith(SLOT)
            if not is_kept:  # else it is put aside, whether or not it is set
                value = self._value(state, statement.source)
            if statement.target in self.body.shared:
                self.domain.handed((value,))
            state.set_copy(statement.target, value, statement.source)
            return
        held, namespace = self._captured(statement, state), self.body.function.__globals__
        made = self.interpreter.function_made(statement, held, namespace)
        self._set_constant(statement.target, made, state)

    def noted(self, into: Mapping[int, AbstractState]) -> Any:
        """Return the function's result, of a generator function the generator, from the states at
        the fixed point; record the function's calls in the run."""
        domain, found = self.domain, self.domain.bottom
        for label in sorted(into):  # the order of the source
            block, state = self.body.blocks[label], into[label].copy()
            found = domain.join(found, self._of_block(block, state))
        for step, name in self._unset:  # a compiler may copy a line into several blocks
            if (step.where, name) not in self._read_well:
                self.run.note(step)
        if self.body.kind == "generator":
            return domain.generated(self._given)
        domain.handed((self._given,))
        return found if self.body.kind == "function" else domain.awaited(found)

    def _of_block(self, block: Block, state: AbstractState) -> Any:
        """The value that a block returns; ``bottom`` if it returns none. Its steps are recorded."""
        statement: Statement | Branch | Return = block.end
        try:
            for statement in block.statements:
                self._at = getattr(statement, "where", "") or block.where
                if isinstance(statement, Apply):
                    caught = caught_in(block, self._keeping)
                    if not self._apply(statement, state, noted=True, catches=caught):
                        return self.domain.bottom
                elif isinstance(statement, ConstantValue):
                    self.execute(statement, state)
                else:
                    self._assign(statement, state)
            statement = block.end
            self._at = statement.where or block.where
            if isinstance(statement, Return):
                self.domain.handed([self._value(state, name) for name in statement.raised or ()])
                if statement.value is not None:
                    return self._value(state, statement.value)
            elif statement.condition is not None:
                self._value(state, statement.condition)
        except OverlayError as error:
            outcome = CallOutcome(self.domain.bottom)
            outcome.errors.append(error)
            self._note(statement, None, (), outcome, caught_in(block, self._keeping), self._at)
        return self.domain.bottom

    def _enters(self, args: tuple[Any, ...], native: WithBlock) -> CallOutcome:
        """The outcome of the beginning of a ``with`` statement."""
        method, may_end = self.domain.manager(args[0], native.instruction)
        self._keeping[native.leaves] = self._keeping.get(native.leaves, True) and not may_end
        return self.outcome(method, args, {})

    # ---- values ----

    def _value(self, state: AbstractState, name: str) -> Any:
        if name in state.values:
            if not is_step(name):
                self._read_well.add((self._at, name))
            return state.values[name]
        return self.domain.top if is_step(name) else self.domain.unset(name, self.body)

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
        self,
        step: Apply,
        state: AbstractState,
        *,
        noted: bool = False,
        catches: frozenset[type[Exception]] = frozenset(),
    ) -> bool:
        """Apply the effect of a call to a state; return whether it may return."""
        function = step.function
        args: tuple[Any, ...] = ()
        kwargs: dict[str, Any] = {}
        try:
            if isinstance(function, str):
                function = self._function(state, function)
            known = self._computed(function, step, state)
            if known is not None:
                self._set_constant(step.target, known[0], state)
                return True
            args = tuple(self._value(state, name) for name in step.args)
            kwargs = {key: self._value(state, name) for key, name in step.kwargs}
            told = self.domain.applied(step, self.body, state)
            if told is not None:
                outcome = CallOutcome(told[0])
            elif isinstance(step.native, WithBlock):
                outcome = self._enters(args, step.native)
            elif step.native == _UNPACKING:
                outcome = self._spread(args, kwargs)
            else:
                if function is None and isinstance(step.function, str):
                    self.domain.called(self._value(state, step.function))
                outcome = self.outcome(function, args, kwargs)
        except OverlayError as error:
            outcome = CallOutcome(self.domain.bottom)
            outcome.errors.append(error)
        if noted:
            if function is marks.give and args:
                self._given = self.domain.join(self._given, args[0])
            self._note(step, function, (*args, *kwargs.values()), outcome, catches, step.where)
        if function is None or kwargs:
            state.set(step.target, outcome.result)
        else:
            names = tuple(map(state.origin, step.args))
            state.set(step.target, outcome.result, Fact(function, names))
        is_known = id(function) not in _MARKS or bool(outcome.errors)
        return not is_known or outcome.result != self.domain.bottom

    def _note(
        self,
        statement: Statement | Branch | Return,
        function: Any,
        args: tuple[Any, ...],
        outcome: CallOutcome,
        catches: frozenset[type[Exception]],
        where: str,
    ) -> None:
        seen = Step(
            function,
            args,
            outcome.result,
            where,
            self.body.function,
            statement,
            tuple(outcome.errors),
            outcome.followed,
            outcome.native,
            catches,
            tuple(outcome.inner),
            outcome.certain,
        )
        unset = [error.variable for error in outcome.errors if isinstance(error, UnsetVariable)]
        if unset:
            self._unset.append((seen, unset[0]))
        else:
            self.run.note(seen)

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
            count = len(found.errors)
            result = self._called(function, given, kwargs, found)
            found.certain = found.certain and len(found.errors) > count
            found.result = domain.join(found.result, result)
        return found

    def _called(
        self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], found: CallOutcome
    ) -> Any:
        """The result of a call; the rest of its outcome is added to ``found``."""
        domain = self.domain
        if function is None or not callable(function):
            return self._unfollowed(args, kwargs, found)
        if id(function) in _MARKS:
            entered = domain.entered(function, args, kwargs)
            if entered is not None:
                return self._entered(entered, self.setting, found)
            known = self._transferred(function, args, kwargs, None)
            if known is None:
                domain.handed(args)
            return domain.top if known is None else known[0]
        try:
            run = callees(domain, function, args, kwargs, self.setting)
        except OverlayError as error:
            found.errors.append(error)
            return domain.bottom
        if run is None:
            return self._unfollowed(args, kwargs, found)
        if not run:  # such as current_context(): nothing of the program runs
            return domain.top
        result = domain.bottom
        for callee in run:
            result = domain.join(result, self._of(callee, found))
        return result

    def _spread(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> CallOutcome:
        """The outcome of a call that unpacks its arguments. args: the callee, and the arguments."""
        known = self.domain.known(args[0])
        if known is not None and callable(known[0]):
            given = self.domain.spread(known[0], args[1:], kwargs)
            if given is not None:
                return self.outcome(known[0], tuple(given[0]), given[1])
        return self.outcome(None, args, kwargs)

    def _unfollowed(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], found: CallOutcome
    ) -> Any:
        found.followed = False
        self.domain.handed((*args, *kwargs.values()))
        return self.domain.top

    def _transferred(
        self, function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], otherwise: Any
    ) -> Any:
        """The result of a call by its transfer function, in a tuple of one; ``otherwise`` if there
        is none."""
        method = self.interpreter.transfer(function, args, kwargs)
        if method is None:
            return otherwise
        found = self.domain.transfer(method)(*args, **kwargs)
        return (self.domain.settled(function, args, found),)

    def _of(self, callee: Callee, found: CallOutcome) -> Any:
        """The result of one callee of a call."""
        entered = self.domain.entered(callee.function, callee.args, callee.kwargs)
        if entered is not None:
            return self._entered(entered, callee.setting, found)
        known = self._transferred(callee.function, callee.args, callee.kwargs, None)
        if known is not None:
            return known[0]
        result = self._read(callee, found)
        if result != self.domain.bottom and callee.then is not None:
            then = callee.then(result)
            if then is None:
                return self._unfollowed((result, *callee.args), callee.kwargs, found)
            if then and self._of(then[0], found) == self.domain.bottom:
                return self.domain.bottom
        bottom = self.domain.bottom
        return result if callee.result is None or result == bottom else callee.result[0]

    def _read(self, callee: Callee, found: CallOutcome) -> Any:
        """The result of a callee by analysis of its code; ``top`` if it has none."""
        domain = self.domain
        body = self.interpreter.body(callee.function)
        if body is None:
            domain.handed((*callee.args, *callee.kwargs.values()))
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
            return self._unfollowed(tuple(bound), {}, found)
        found.inner.append(run)
        return run.result

    def _entered(self, entered: Entered, setting: Setting, found: CallOutcome) -> Any:
        """The result of a native function that calls functions of the program; bottom if no such
        call accepts its arguments."""
        result, count = self.domain.bottom, len(found.errors)
        inner = Execution(self.interpreter, self._body, self.run, setting)
        for function, args in entered.calls:
            result = self.domain.join(result, inner._called(function, args, {}, found))
        if entered.calls and len(found.errors) - count >= len(entered.calls):
            return self.domain.bottom
        return result if entered.result is None else entered.result(result)

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
                made = self.domain.keywords(given.get(name, {}))
                if made is None:
                    self.domain.handed(given.get(name, {}).values())
                    cls = (self.domain.constant(dict),)
                    made = self._transferred(marks.new, cls, {}, top)[0]
                values.append(made)
            elif name in given:
                values.append(given[name])
            else:
                values.append(self._default(parameter.default.value))
        return tuple(values)

    def _default(self, value: Any) -> Any:
        return value.value if type(value) is Captured else self.domain.constant(value)


def caught_in(block: Block, keeping: Mapping[str, bool]) -> frozenset[type[Exception]]:
    """The classes of errors that may be caught in a block. keeping: whether each ``with`` statement
    lets exceptions pass."""
    ends = any(not keeping.get(name, False) for name in block.managers)
    return block.catches if ends else block.handled


def is_native(function: Any) -> bool:
    """Whether a callable is written in C, so that no code of the program is behind it."""
    return type(function) in _NATIVE or (
        type(function) is type and function.__module__ in ("builtins", "numpy")
    )
