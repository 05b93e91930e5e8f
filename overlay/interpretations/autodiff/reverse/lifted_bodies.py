"""Lifting of a Python function to a program for its adjoint: calls are resolved, helpers inlined,
and each variable is set once."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Mapping, Sequence
from types import CellType, FunctionType, MethodType
from typing import Any

from overlay.code import body as code
from overlay.code import marks
from overlay.code.fingerprint import MISSING
from overlay.code.record import FunctionReads
from overlay.code.structured_tree import Alternative, Exits, Leave, Repeat, Result
from overlay.core.target import describe
from overlay.interpretations.autodiff.reverse.branching import Branching, PathEnd
from overlay.interpretations.autodiff.reverse.operands import (
    LiftedFunction,
    WithCells,
    copied,
)
from overlay.interpretations.autodiff.reverse.reverse_program import (
    UNSET,
    KnownBefore,
    Local,
    Memory,
    ReverseFork,
    ReverseValue,
    StatementRegion,
    leaves,
)
from overlay.interpretations.autodiff.reverse.structure import Unreadable, tree_of

__all__ = ["ReverseLifter"]

DEEPEST = 40
"""The maximal nesting depth of inlined helpers."""


class ReverseLifter(Branching):
    """Lifts one function."""

    # ---- functions ----

    def lift(self, function: Any, kinds: Sequence[Any]) -> LiftedFunction:
        """The program of a function. kinds: of its arguments, or ``KnownBefore`` for a constant
        that is no number."""
        names = _parameters(function, len(kinds))
        given: list[Any] = []
        values: list[ReverseValue] = []
        for name, kind in zip(names, kinds, strict=True):
            if isinstance(kind, KnownBefore):
                given.append(kind)
                continue
            value = ReverseValue(self.fresh(name), kind)
            if kind.ndim:
                value.memory = Memory((), is_own=False)
            values.append(value)
            given.append(value)
        result = self.call_in_force(function, given, {})
        return LiftedFunction(tuple(values), self.region, result)

    def enter(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Inline a Python function, and return its result."""
        if isinstance(function, MethodType):
            return self.enter(function.__func__, [KnownBefore(function.__self__), *args], kwargs)
        plain = getattr(function, "py_func", function)
        if type(plain) is not FunctionType:
            raise Unreadable(f"{describe(function)} is not written in Python")
        if any(active is plain.__code__ for active in self._active):
            raise Unreadable(f"{describe(function)} calls itself")
        if len(self._active) > DEEPEST:
            raise Unreadable("its helpers are nested too deep")
        reading = FunctionReads(plain)
        if any(content is MISSING for _, content in reading.cells):
            raise Unreadable("a variable around it is not set")
        self.readings.append(reading)
        tree = tree_of(plain)
        env = _bound(plain, args, kwargs)
        self._active.append(plain.__code__)
        state = self.run(tree, env, None, plain)
        self._active.pop()
        if state.result is None:
            raise Unreadable(f"{describe(function)} may give nothing")
        return state.result

    def enter_local(self, local: Local, args: list[Any], kwargs: dict[str, Any]) -> Any:
        cells: list[Any] = []
        env: dict[str, Any] = {}
        for name, held in zip(local.code.co_freevars, local.captured, strict=True):
            if held is UNSET:
                raise Unreadable(f"{name!r} may change while a function that reads it is there")
            env[name] = held
            cells.append(CellType(None))
        made = FunctionType(local.code, local.space, None, None, tuple(cells))
        if any(active is local.code for active in self._active):
            raise Unreadable("a function calls itself")
        tree = tree_of(made)
        names = local.code.co_varnames[: local.code.co_argcount]
        filled = dict(zip(names[len(names) - len(local.defaults) :], local.defaults, strict=True))
        filled |= dict(zip(names, args, strict=False)) | kwargs
        if len(args) > len(names) or any(name not in filled for name in names):
            raise Unreadable("a function is called with other arguments than it takes")
        self._active.append(local.code)
        state = self.run(tree, WithCells(env, filled), None, made)
        self._active.pop()
        if state.result is None:
            raise Unreadable("a function gives nothing")
        return state.result

    # ---- statements ----

    def run(
        self,
        tree: Sequence[Any],
        env: dict[str, Any],
        ways: Mapping[int, int] | None,
        function: Any,
    ) -> PathEnd:
        """Lift a tree. ways: the number of each block at which an iteration of a loop ends."""
        for item in tree:
            match item:
                case None:
                    raise Unreadable("it may raise an exception")
                case Leave():
                    code = None if ways is None or item.label not in ways else ways[item.label]
                    return PathEnd(env, None if code is None else KnownBefore(code))
                case Result():
                    return PathEnd(env, None, self.read(env, item.value))
                case Alternative():
                    done = self._choose(item, env, ways, function)
                    if done is not None:
                        return done
                case Repeat():
                    self._repeat(item, env, function)
                case Exits():
                    done = self._exits(item, env, ways, function)
                    if done is not None:
                        return done
                case _:
                    self.state(item, env, function)
        return PathEnd(env)

    def read(self, env: Mapping[str, Any], name: str) -> Any:
        found = env.get(name, UNSET)
        if found is UNSET:
            shown = "a step of it" if name.startswith("$") else f"the variable {name!r}"
            raise Unreadable(f"{shown} is not known, or may not be set")
        for value in leaves(found):
            self._check_shares(value)
        return found

    def _check_shares(self, value: ReverseValue) -> None:
        for memory, version in value.shares:
            if memory.version != version:
                raise Unreadable(f"{value.name} is part of an array that is written to")
        if value.shares or value.memory is not None:
            for loop in self.loops:
                loop.uses.append(value)

    def state(self, statement: Any, env: dict[str, Any], function: Any) -> None:
        match statement:
            case code.ConstantValue():
                env[statement.target] = self.constant(statement.value)
            case code.Copy():
                found = env.get(statement.source, UNSET)
                env[statement.target] = found
                if isinstance(found, ReverseValue) and not statement.target.startswith("$"):
                    self._rename(found, statement.target)
            case code.Make():
                captured = tuple(
                    UNSET if n is None else env.get(n, UNSET) for n in statement.captured
                )
                defaults = tuple(
                    UNSET if n is None else env.get(n, UNSET) for n in statement.defaults
                )
                if statement.by_name:
                    raise Unreadable("it defines a function with parameters by name")
                env[statement.target] = Local(
                    statement.code, captured, defaults, function.__globals__
                )
            case code.Apply():
                self.where = statement.where
                env[statement.target] = self._apply(statement, env)
            case _:
                raise Unreadable("it does what is not known")

    def _rename(self, value: ReverseValue, name: str) -> None:
        """Name the result of an expression after the variable that it is assigned to."""
        if value.name.startswith("t") and value.name[1:].replace("_", "").isdigit():
            value.name = self.fresh(name)

    def _apply(self, statement: Any, env: dict[str, Any]) -> Any:
        function = statement.function
        if function is None:
            raise Unreadable("it does what is not known")
        if any(function is each for each in marks.UNKNOWN):
            return UNSET
        if function is marks.new:
            if env[statement.args[0]].value is not list:
                raise Unreadable("it makes a set, a dict or a text")
            return tuple(self.read(env, name) for name in statement.native)
        if isinstance(function, str):
            function = self.read(env, function)
        args = [self.read(env, name) for name in statement.args]
        kwargs = {key: self.read(env, name) for key, name in statement.kwargs}
        return self.call_in_force(function, args, kwargs)

    # ---- loops ----

    def _exits(self, item: Exits, env: dict[str, Any], ways: Any, function: Any) -> PathEnd | None:
        code, at_end = self._repeat(item.repeat, env, function)
        numbers = {label: i + 1 for i, label in enumerate(item.repeat.exits)}
        trees = [(numbers[label], tree) for label, tree in item.trees.items()]
        # the normal end of a loop, which has no exit number, is tested last
        trees.sort(key=lambda each: each[0] == at_end)
        return self._leave(trees, code, env, ways, function)

    def _leave(
        self, trees: Any, code: Any, env: dict[str, Any], ways: Any, function: Any
    ) -> PathEnd | None:
        (number, tree), *rest = trees
        if isinstance(code, KnownBefore):
            tree = next(each for n, each in trees if n == code.value)
        if not rest or isinstance(code, KnownBefore):
            return self._after_choice(self.run(tree, env, ways, function), env)
        condition = self.call(operator.eq, [code, KnownBefore(number)], {})
        fork = ReverseFork(condition, StatementRegion(self._loop()), StatementRegion(self._loop()))
        yes = self._inside(fork.yes, tree, copied(env), ways, function)
        other = copied(env)
        before, self.region = self.region, fork.no
        no = self._leave(rest, code, other, ways, function) or PathEnd(other)
        self.region = before
        self.region.ops.append(fork)
        return self._after_choice(self._merged(fork, yes, no), env)

    def _repeat(self, item: Repeat, env: dict[str, Any], function: Any) -> Any:
        """Lift a loop, and return the number of the exit by which it is left, and the number of its
        normal end."""
        from overlay.interpretations.autodiff.reverse.looping import repeat

        return repeat(self, item, env, function)


def _parameters(function: Any, count: int) -> list[str]:
    try:
        names = list(inspect.signature(function).parameters)[:count]
    except (TypeError, ValueError):
        names = []
    return [*names, *(f"x{i}" for i in range(len(names), count))]


def _bound(
    function: FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The initial variables of a call."""
    try:
        found = inspect.signature(function, follow_wrapped=False).bind(*args, **kwargs)
    except TypeError as error:
        raise Unreadable(str(error)) from None
    env: dict[str, Any] = {}
    for name, parameter in inspect.signature(function, follow_wrapped=False).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            if found.arguments.get(name):
                raise Unreadable("it is called with other names than its parameters")
            env[name] = UNSET
        elif parameter.kind is parameter.VAR_POSITIONAL:
            env[name] = tuple(found.arguments.get(name, ()))
        elif name in found.arguments:
            env[name] = found.arguments[name]
        else:
            env[name] = KnownBefore(parameter.default)
    return env
