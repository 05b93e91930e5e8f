"""Abstract interpretation: a fixed point over a function's blocks, and over its calls."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from overlay.analysis.body import Apply, Body, Branch, Constant, Copy, Return
from overlay.analysis.lattice import Domain
from overlay.dispatch import by_values, resolve
from overlay.errors import NotCompilable, OverlayError
from overlay.location import location_of, name_of

__all__ = ["Interpreter", "Run", "State", "Step"]

# how often a loop's values are let grow by joins before they are widened, and how many rounds
# after the fixed point take back what widening gave away
_JOINS = 2
_ROUNDS = 2

Key = tuple[Any, tuple[Any, ...]]
Fact = tuple[Any, tuple[str, ...]]


@dataclass(frozen=True)
class Step:
    """A call as the analysis saw it: the callee, abstract arguments and result, ``file:line``.

    function: None where it is not known. caller: the function in which it stands. statement:
    the call in the caller's body. errors: why some of its arguments have no callee.
    """

    function: Any
    args: tuple[Any, ...]
    result: Any
    where: str
    caller: Callable[..., Any]
    statement: Apply
    errors: tuple[OverlayError, ...] = ()


@dataclass
class State:
    """What is known at one point of a function.

    values: by variable. facts: how a variable was computed, while its operands are as they were.
    """

    values: dict[str, Any]
    facts: dict[str, Fact] = field(default_factory=dict[str, Fact])

    def copy(self) -> State:
        """Another of the same contents."""
        return State(dict(self.values), dict(self.facts))

    def set(self, name: str, value: Any, fact: Fact | None = None) -> None:
        """A variable gets a value, so that nothing that was known of the old one holds."""
        stale = [k for k, (_, names) in self.facts.items() if k == name or name in names]
        for key in stale:
            del self.facts[key]
        self.values[name] = value
        if fact is not None and name not in fact[1]:
            self.facts[name] = fact


@dataclass
class Run:
    """A function analysed with given arguments: its result, the calls in it, and the runs of the
    functions that it calls."""

    function: Callable[..., Any]
    result: Any
    steps: list[Step] = field(default_factory=list[Step])
    inner: dict[int, Run] = field(default_factory=dict[int, Any])
    finished: bool = False
    recursive: bool = False

    def walk(self) -> tuple[Run, ...]:
        """This run and all below it, each once."""
        seen: dict[int, Run] = {}
        todo: list[Run] = [self]
        while todo:
            run = todo.pop()
            if id(run) not in seen:
                seen[id(run)] = run
                todo.extend(reversed(run.inner.values()))
        return tuple(seen.values())


class Interpreter:
    """Runs functions over the values of a domain.

    A call of a Python or @njit function is analysed with its abstract arguments, once for each
    combination; recursion is a fixed point of its own. Functions are taken to read the globals
    and closure variables that they have now.
    """

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self._bodies: dict[int, tuple[Any, Body | None]] = {}
        self._runs: dict[Key, Run] = {}
        self._open: list[tuple[Key, Run]] = []

    def run(self, function: Callable[..., Any], *args: Any) -> Run:
        """Analyse a call. args: abstract values, one for each parameter.

        Raises NotCompilable where the function's code cannot be read, and OverlayError where it
        takes another number of arguments.
        """
        from overlay.compiled.numba_cfg import body_of

        body = self._body(function)
        if body is None:
            body_of(function)
            raise AssertionError("a body that can be read was not")
        if len(args) != len(body.parameters):
            raise OverlayError(
                f"{name_of(function)} was given {len(args)} abstract values, and takes "
                f"{len(body.parameters)}: {', '.join(body.parameters)}",
                where=location_of(function),
                help="give one for each parameter",
            )
        return self._analyse(body, self._bound(body, args, {}) or tuple(args))

    @property
    def unread(self) -> tuple[Callable[..., Any], ...]:
        """The functions met whose code cannot be read: calls of them give anything."""
        return tuple(function for function, body in self._bodies.values() if body is None)

    # ---- functions ----

    def _body(self, function: Any) -> Body | None:
        from overlay.compiled.numba_cfg import body_of

        plain = getattr(function, "py_func", function)
        if id(plain) not in self._bodies:
            try:
                found = body_of(plain)
            except NotCompilable:
                found = None
            self._bodies[id(plain)] = plain, found
        return self._bodies[id(plain)][1]

    def _bound(
        self, body: Body, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, ...] | None:
        """A value for each parameter; None where the call does not fit, or may be spread."""
        signature = inspect.signature(body.function)
        rest = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
        if any(p.kind in rest for p in signature.parameters.values()):
            return None
        try:
            bound = signature.bind(*args, **kwargs).arguments
        except TypeError:
            return None
        return tuple(
            bound[name] if name in bound else self.domain.constant(p.default)
            for name, p in signature.parameters.items()
        )

    def _analyse(self, body: Body, args: tuple[Any, ...]) -> Run:
        args = self._settled(body, args)
        key: Key = (id(body.function), args)
        known = self._runs.get(key)
        if known is not None:
            known.recursive = known.recursive or not known.finished
            return known
        run = self._runs[key] = Run(body.function, self.domain.bottom)
        before = set(self._runs)
        self._open.append((key, run))
        try:
            while True:
                found = self._fixed_point(body, args, run)
                if self.domain.is_below(found, run.result):
                    break
                if not run.recursive:
                    run.result = found
                    break
                run.result = self.domain.widen(run.result, found)
                for other in set(self._runs) - before:
                    del self._runs[other]
        finally:
            self._open.pop()
        run.finished = True
        return run

    def _settled(self, body: Body, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, widened by those of a call of the same function that is under way, so
        that recursion comes to an end."""
        for (function, outer), _ in reversed(self._open):
            if function == id(body.function) and len(outer) == len(args):
                if all(map(self.domain.is_below, args, outer)):
                    return outer
                return tuple(map(self.domain.widen, outer, args))
        return args

    # ---- blocks ----

    def _fixed_point(self, body: Body, args: tuple[Any, ...], run: Run) -> Any:
        entry = State(dict(zip(body.parameters, args, strict=True)))
        into: dict[int, State] = {body.first: entry}
        visits: dict[int, int] = {}
        todo = [body.first]
        place = {label: i for i, label in enumerate(body.order)}
        while todo:
            label = min(todo, key=place.__getitem__)
            todo.remove(label)
            for after, state in self._through(body, label, into[label], run):
                if self._grow(into, after, state, body, visits) and after not in todo:
                    todo.append(after)
        for _ in range(_ROUNDS):
            into = self._again(body, entry, into, run)
        run.steps.clear()
        run.inner.clear()
        return self._result(body, into, run)

    def _grow(
        self,
        into: dict[int, State],
        label: int,
        state: State,
        body: Body,
        visits: dict[int, int],
    ) -> bool:
        """Add what is known on one way into a block; whether that was new."""
        old = into.get(label)
        if old is None:
            into[label] = state
            return True
        widens = label in body.loop_heads and visits.get(label, 0) >= _JOINS
        new = self._joined(old, state, self.domain.widen if widens else self.domain.join)
        if self._is_below(new, old):
            return False
        visits[label] = visits.get(label, 0) + 1
        into[label] = new
        return True

    def _again(
        self, body: Body, entry: State, into: dict[int, State], run: Run
    ) -> dict[int, State]:
        """One more round, in which values may only become more precise."""
        ways = {label: self._through(body, label, state, run) for label, state in into.items()}
        found: dict[int, State] = {}
        for label in body.order:
            states = [state for way in ways.values() for after, state in way if after == label]
            states += [entry] if label == body.first else []
            if states:
                joined = states[0]
                for state in states[1:]:
                    joined = self._joined(joined, state, self.domain.join)
                found[label] = joined
                ways[label] = self._through(body, label, joined, run)
            else:
                ways.pop(label, None)
        return found

    def _result(self, body: Body, into: dict[int, State], run: Run) -> Any:
        """The join of what is returned; the calls on the way are noted in ``run``."""
        result = self.domain.bottom
        for label in sorted(into):  # the order of the source
            state = into[label].copy()
            self._execute(body, label, state, run, note=True)
            end = body.blocks[label].end
            if isinstance(end, Return) and end.value is not None:
                result = self.domain.join(result, self._value(state, end.value))
        return result

    def _joined(self, old: State, new: State, join: Callable[[Any, Any], Any]) -> State:
        """What holds on both ways. A variable that only one of them sets is bound on that one
        alone: to read it elsewhere is an error of the program."""
        values = dict(old.values)
        for name, value in new.values.items():
            values[name] = join(values[name], value) if name in values else value
        facts = {k: f for k, f in old.facts.items() if new.facts.get(k) == f}
        return State(values, facts)

    def _is_below(self, one: State, other: State) -> bool:
        return set(one.values) <= set(other.values) and (
            set(other.facts) <= set(one.facts)
            and all(self.domain.is_below(v, other.values[k]) for k, v in one.values.items())
        )

    def _through(self, body: Body, label: int, before: State, run: Run) -> list[tuple[int, State]]:
        """The blocks that come after one, with what is known there."""
        state = before.copy()
        self._execute(body, label, state, run)
        end = body.blocks[label].end
        if isinstance(end, Return):
            return []
        if end.condition is None or end.yes == end.no:
            ways = [(end.yes, state)]
        else:
            ways = self._branched(end, end.condition, state)
        for after, reached in ways:
            changed = body.changed.get((label, after))
            if changed is not None:  # what a loop does not set is as it was before the loop
                kept = {name: v for name, v in reached.values.items() if name in changed}
                reached.values = kept
        return ways

    def _branched(self, end: Branch, condition: str, state: State) -> list[tuple[int, State]]:
        found: list[tuple[int, State]] = []
        for after, truth in ((end.yes, True), (end.no, False)):
            refined = state.copy()
            if self._assume(refined, condition, truth):
                found.append((after, refined))
        return found

    # ---- statements ----

    def _value(self, state: State, name: str) -> Any:
        return state.values.get(name, self.domain.top)

    def _execute(self, body: Body, label: int, state: State, run: Run, note: bool = False) -> None:
        for statement in body.blocks[label].statements:
            if isinstance(statement, Constant):
                state.set(statement.target, self.domain.constant(statement.value))
            elif isinstance(statement, Copy):
                value = self._value(state, statement.source)
                state.set(statement.target, value, (None, (statement.source,)))
            else:
                self._apply(body, statement, state, run, note)

    def _apply(self, body: Body, step: Apply, state: State, run: Run, note: bool) -> None:
        args = tuple(self._value(state, name) for name in step.args)
        kwargs = {key: self._value(state, name) for key, name in step.kwargs}
        function = step.function
        if isinstance(function, str):
            known = self.domain.known(self._value(state, function))
            function = None if known is None else known[0]
        inner: list[Run] = []
        errors: list[OverlayError] = []
        result = self.domain.bottom
        for given in self.domain.alternatives(args):
            found = self._called(function, given, kwargs, inner, errors)
            result = self.domain.join(result, found)
        if note:
            all_args = (*args, *kwargs.values())
            seen = function, all_args, result, step.where, body.function, step, tuple(errors)
            run.steps.append(Step(*seen))
            run.inner.update({id(each): each for each in inner})
        fact = None if function is None or step.kwargs else (function, step.args)
        state.set(step.target, result, fact)

    def _called(
        self,
        function: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        inner: list[Run],
        errors: list[OverlayError],
    ) -> Any:
        """What a call gives; the runs below it and what is wrong with it are added to lists."""
        domain = self.domain
        if any(value == domain.bottom for value in (*args, *kwargs.values())):
            return domain.bottom
        if function is None or not callable(function):
            return domain.top
        try:
            callee = domain.callee(function, args, kwargs)
        except OverlayError as error:
            errors.append(error)
            return domain.bottom
        method = resolve((domain.table,), callee, by_values(args, kwargs))
        if method is not None:
            return method.function(*args, **kwargs)
        body = self._body(callee) if _has_body(callee) else None
        given = None if body is None else self._bound(body, args, kwargs)
        if body is None or given is None:
            return domain.top
        run = self._analyse(body, given)
        inner.append(run)
        return run.result

    # ---- conditions ----

    def _assume(self, state: State, name: str, truth: bool) -> bool:
        """Take in that a variable is true, or false; whether that is possible."""
        refined = self.domain.assume(bool, (self._value(state, name),), truth)
        if refined is None:
            return False
        self._refine(state, name, refined[0])
        fact = state.facts.get(name)
        if fact is None:
            return True
        function, names = fact
        if function is None or function is bool:
            return self._assume(state, names[0], truth)
        if function is operator.not_:
            return self._assume(state, names[0], not truth)
        args = tuple(self._value(state, n) for n in names)
        found = self.domain.assume(function, args, truth)
        if found is None:
            return False
        for each, value in zip(names, found, strict=True):
            self._refine(state, each, value)
        return True

    def _refine(self, state: State, name: str, value: Any) -> None:
        """A variable is known to be within a value; so is what it is a copy of, or made from."""
        if self._value(state, name) == value:
            return
        state.values[name] = value
        fact = state.facts.get(name)
        if fact is None:
            return
        function, names = fact
        if function is None:
            self._refine(state, names[0], value)
            return
        args = tuple(self._value(state, n) for n in names)
        for each, found in zip(names, self.domain.backwards(function, args, value), strict=True):
            self._refine(state, each, found)


def _has_body(function: Any) -> bool:
    return getattr(getattr(function, "py_func", function), "__code__", None) is not None
