"""From a function to a program of relations: calls are resolved, user functions inlined.

A function's blocks are gone through as the interpreter would, with a variable of the program in
the place of each number. Where the way depends on such a variable both ways are gone, and what
they give becomes one statement, a branch.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from inversion.branches import Arm, branch
from inversion.errors import NotInvertible
from inversion.loops import Bounds, Loop, Part
from inversion.numba_ir import (
    Apply,
    Argument,
    Attribute,
    Build,
    Code,
    Copy,
    First,
    Fork,
    Item,
    Iterate,
    Jump,
    Literal,
    Next,
    Op,
    Raise,
    Return,
    Second,
    Unknown,
    Unpack,
    code_of,
    refused,
    result_type,
)
from inversion.program import Constant, Operand, Program, Statement, Variable, renumbered
from inversion.resolve import Resolver
from inversion.trees import Node, Tree, fields_of, is_record, leaves, mapped
from overlay import Context, Method, call_next, nonoverlay
from overlay.dispatch import Chain
from overlay.location import location_of
from overlay.target import as_positional, describe, signature_of
from primitives import Relation, relation
from primitives.relation import RETURN

__all__ = ["Lifted", "lift"]

WORDS = (np.int64, np.uint64)


@dataclass(frozen=True)
class Lifted:
    """A function as a program. axes: for each argument, and for ``"return"``, the tree of the
    program's axes that it is made of."""

    program: Program
    axes: Mapping[str, Tree]


def lift(
    function: Callable[..., Any], inputs: Sequence[tuple[str, Tree]], context: Context | None
) -> Lifted:
    """The program of a function for inputs of these names and trees of types, as ``context``
    sees it.

    Raises NotInvertible, with the line, at a statement that is not a call of something that
    has a relation, an overlay method, or Python code.
    """
    lifter = _Lifter(Resolver(context))
    given = {name: lifter.input(name, tree) for name, tree in inputs}
    where = location_of(function)
    site = _Site("result", where, overlaid=context is not None)
    result = lifter.call(site, (function,), [_of_tree(tree) for tree in given.values()], {})
    returned: dict[str, Operand] = {}

    def leaf(path: str, value: Value) -> str:
        if isinstance(value, _Object):
            raise NotInvertible(
                f"cannot invert {describe(function)}: it returns {value.value!r}",
                where=where,
                help="return a number, or a tuple of numbers",
            )
        returned[RETURN + path] = value
        return RETURN + path

    axes: dict[str, Tree] = {
        name: mapped(tree, lambda _, variable: variable.name) for name, tree in given.items()
    }
    axes[RETURN] = mapped(_as_tree(result), leaf)
    program = Program(
        describe(function),
        tuple(v for tree in given.values() for v in leaves(tree)),
        tuple(lifter.statements),
        returned,
        where,
        tuple(lifter.functions),
        tuple(lifter.holds),
    )
    return Lifted(program, axes)


@dataclass(frozen=True, eq=False)
class _Object:
    """A value known while lifting that is no number: a function, a module, an instance."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Object) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)

    @property
    def kind(self) -> Any:
        return type(self.value)


@dataclass(frozen=True)
class _Tuple:
    """A tuple of values, or a named one."""

    kind: type
    items: tuple[Value, ...]


@dataclass(frozen=True)
class _Broken:
    """What cannot be given a meaning, where it is not used either."""

    error: NotInvertible
    kind: type = object


@dataclass(frozen=True)
class _Returned:
    """What a way through a function gives at its end."""

    value: Value


class _Nowhere:
    """A way through a function that raises."""


@dataclass(frozen=True)
class _Range:
    """A range, some of whose ends may be variables."""

    start: Operand
    stop: Operand
    step: Operand
    kind: type = range


@dataclass(frozen=True)
class _Iterator:
    """An iterator: over a range that is not written out, or over the items that are left."""

    over: _Range | None
    items: tuple[Value, ...] = ()
    kind: type = object


@dataclass(frozen=True)
class _Next:
    """What an iterator gives: an item, None where there was none; MORE, where that is not
    known."""

    item: Value | None
    more: Value
    kind: type = object


@dataclass(frozen=True)
class _Exit:
    """The point of a turn where a loop may be left. leaves: for which value of the condition;
    known: what the names stand for there."""

    condition: Value
    leaves: bool
    known: dict[str, Value]
    outside: int
    inside: int


Value = Operand | _Object | _Tuple | _Broken | _Range | _Iterator | _Next
Values = Sequence[Value]
Named = Mapping[str, Value]


@dataclass(frozen=True)
class _Site:
    """Where a call stands: what it assigns, its line, and inside of what.

    overlaid: whether the context is in force. chain: the methods of ``target`` that
    ``call_next`` has gone through to get here. active: the calls being inlined.
    """

    name: str
    where: str
    overlaid: bool
    target: Any = None
    chain: Chain = ()
    active: tuple[Any, ...] = ()


class _Lifter:
    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self.statements: list[Statement] = []
        self.holds: list[tuple[Operand, bool]] = []
        self.ways = 0
        self.turns = 0
        self.depth = 0
        self.functions: dict[types.FunctionType, None] = {}
        self.names: set[str] = set()

    def fresh(self, wanted: str) -> str:
        """A variable name that is not taken, after the name in the source where it has one."""
        base = wanted.partition(".")[0]
        base = base if base.isidentifier() else f"v{len(self.statements) + 1}"
        name = renumbered(base, self.names)
        self.names.add(name)
        return name

    def input(self, name: str, tree: Tree) -> Tree:
        """The variables of an input, in a tree."""

        def variable(path: str, kind: Any) -> Variable:
            parts = path.replace("[", "_").replace("]", "").replace(".", "_")
            return Variable(self.fresh(name + parts), kind)

        return mapped(tree, variable)

    # ---- calls ----

    def call(self, site: _Site, targets: tuple[Any, ...], args: Values, kwargs: Named) -> Value:
        """The value of a call. targets: the function, and what stands for it if it has no rule."""
        target = targets[0]
        if target is nonoverlay and len(args) == 1 and isinstance(args[0], _Object):
            return _Object(nonoverlay(args[0].value))
        if isinstance(target, nonoverlay):
            return self.call(replace(site, overlaid=False), (target.function,), args, kwargs)
        if target is call_next:
            return self._call_next(site, args, kwargs)
        if isinstance(target, types.MethodType):
            return self.call(site, (target.__func__,), (_Object(target.__self__), *args), kwargs)
        args, kwargs = as_positional(signature_of(target), tuple(args), kwargs)
        args = tuple(map(_value, args))
        if is_record(target):
            return _record(site, target, args, kwargs)
        if target is range and not kwargs:
            return _range(site, args)
        if target is len and len(args) == 1 and isinstance(args[0], _Tuple):
            return Constant(len(args[0].items))
        if target is bool and len(args) == 1 and args[0].kind is bool:
            return args[0]
        if site.overlaid:
            for one in targets:
                found = self.resolver.overlaid(one, _kinds(args, kwargs), tuple(kwargs))
                if isinstance(found, Relation):
                    return self.state(site, found, _numbers(args))
                if found is not None:
                    return self._enter(site, one, (found,), args, kwargs)
        return self._base(site, targets, args, kwargs)

    def _call_next(self, site: _Site, args: Values, kwargs: Named) -> Value:
        if not site.chain:
            raise NotInvertible(
                "call_next() stands outside a method",
                where=site.where,
                help="call it directly in the body of an overlay method",
            )
        below = self.resolver.below(site.chain, site.target, _kinds(args, kwargs), tuple(kwargs))
        if below is None:
            return self._base(site, (site.target,), args, kwargs)
        return self._enter(site, site.target, (*site.chain, below), args, kwargs)

    def _enter(self, site: _Site, target: Any, chain: Chain, args: Values, kwargs: Named) -> Value:
        """Inline the last method of a chain."""
        method: Method = chain[-1]
        body = method.implementation(_kinds(args, kwargs))
        return self._inline(replace(site, target=target, chain=chain), body, args, kwargs)

    def _base(self, site: _Site, targets: tuple[Any, ...], args: Values, kwargs: Named) -> Value:
        """A call that no overlay method takes: its relation, its body, or a refusal."""
        numbers = [arg for arg in args if isinstance(arg, (Variable, Constant))]
        plain = not kwargs and len(numbers) == len(args)
        for target in targets if plain else ():
            for kinds in _promotions(numbers):
                found = self.resolver.relation(target, kinds, base=not site.overlaid)
                if found is not None:
                    converted = [
                        self.converted(site, value, kind)
                        for value, kind in zip(numbers, kinds, strict=True)
                    ]
                    return self.state(site, found, converted)
        target = targets[-1]
        if _body(target) is not None:
            return self._inline(replace(site, target=None, chain=()), target, args, kwargs)
        returns = result_type(target, _kinds(args, kwargs)) if plain else None
        if returns is None:
            raise _no_relation(site, target, args)
        return self.state(site, _forward_only(target, numbers, returns), numbers)

    def converted(self, site: _Site, value: Operand, kind: Any) -> Operand:
        """A number in another type."""
        if isinstance(value, Constant):
            return Constant(kind(value.value))
        if value.kind is kind:
            return value
        found = self.resolver.relation(kind, [value.kind], base=True)
        if found is None:
            raise _no_relation(site, kind, [value])
        return self.state(replace(site, name=f"{kind.__name__}_{value.name}"), found, [value])

    # ---- statements ----

    def state(self, site: _Site, found: Relation, args: Sequence[Operand]) -> Variable:
        """Add the statement that a relation holds between these arguments and a new variable."""
        cast = tuple(
            Constant(kind(value.value))
            if isinstance(value, Constant) and kind in (int, float)
            else value
            for value, kind in zip(args, found.types, strict=True)
        )
        self.functions.update(dict.fromkeys(_python_code(found.target)))
        result = Variable(self.fresh(site.name), found.returns)
        self.statements.append(Statement(found, (result,), cast, site.where))
        return result

    def _inline(self, site: _Site, function: Any, args: Values, kwargs: Named) -> Value:
        """The value of a function's body for these arguments."""
        body = _body(function)
        if body is None:
            raise _no_relation(site, function, args)
        if not isinstance(function, types.FunctionType) and not hasattr(function, "py_func"):
            args = (_Object(function), *args)
        call = body.__code__, site.overlaid, len(site.chain), _kinds(args, kwargs)
        if call in site.active:
            raise NotInvertible(
                f"cannot invert {describe(function)}: it calls itself for ever",
                where=site.where,
                help="a method goes on to what lies below with call_next or nonoverlay",
            )
        self.functions[body] = None
        given = _bound(site, body, args, kwargs)
        frame = _Frame(replace(site, active=(*site.active, call)), code_of(body), given)
        found = self._run(frame, frame.code.first, {}, None)
        if isinstance(found, _Returned):
            return found.value
        raise NotInvertible(
            f"cannot invert {describe(function)}: it raises whatever its arguments are",
            where=site.where,
        )

    # ---- loops ----

    def _looped(
        self, frame: _Frame, label: int, known: dict[str, Value]
    ) -> tuple[int, dict[str, Value]] | None:
        """A loop as one statement: where it leads, and what the names stand for there. None
        where its turns are gone through one by one, for they are few and known."""
        self.turns += 1
        if self.turns > MOST_TURNS:
            raise NotInvertible(
                f"cannot invert {frame.site.name}: its loops have more than {MOST_TURNS} turns "
                "that are known beforehand",
                where=frame.code.blocks[label].ops[0].where,
                help="loop over a range",
            )
        inner = replace(frame, turn=label, loop=frame.code.loops[label])
        nexts = [op for op in frame.code.blocks[label].ops if isinstance(op, Next)]
        iterator = _read(known, nexts[0].source, nexts[0].where) if nexts else None
        if isinstance(iterator, _Iterator):
            if iterator.over is None:
                return None
        else:
            first = self.apart(lambda: self._run(inner, label, dict(known), None)).found
            if not isinstance(first, _Exit) or isinstance(first.condition, Constant):
                return None
        return _Turns(self, inner, label, known).statement()

    def apart(self, go: Callable[[], _Found]) -> _Way:
        """Go a way, with statements of its own."""
        outer = self.statements, self.holds
        self.statements, self.holds = [], []
        self.depth += 1
        try:
            return _Way(go(), self.statements, self.holds)
        finally:
            self.depth -= 1
            self.statements, self.holds = outer

    # ---- ways through a function ----

    def _run(
        self, frame: _Frame, label: int, known: dict[str, Value], stop: int | None
    ) -> _Returned | dict[str, Value] | _Nowhere | _Exit:
        """Go through blocks from one label to another, or to the end: what the names stand for
        there, or what is returned."""
        while label != stop:
            if label in frame.code.loops and label != frame.turn:
                looped = self._looped(frame, label, known)
                if looped is not None:
                    label, known = looped
                    continue
            block = frame.code.blocks[label]
            if isinstance(block.end, Raise):
                return _Nowhere()
            for op in block.ops:
                known[op.name] = self._op(frame, op, known)
                if isinstance(op, Next):
                    known[op.source] = _advanced(known[op.source])
            match block.end:
                case Return(name=name, where=where):
                    return _Returned(_read(known, name, where))
                case Jump(label=label):
                    continue
                case Fork() as fork:
                    found = self._forked(frame, fork, known)
            if isinstance(found, int):
                label = found
            elif isinstance(found, dict):
                known = found
                assert fork.join is not None
                label = fork.join
            else:
                return found
        return known

    def _forked(
        self, frame: _Frame, fork: Fork, known: dict[str, Value]
    ) -> int | _Returned | dict[str, Value] | _Nowhere | _Exit:
        """Where a fork leads: to a label, or to what both ways give."""
        condition = _read(known, fork.condition, fork.where)
        inside = [label in frame.loop for label in (fork.then, fork.orelse)]
        if frame.loop and not all(inside):
            if not any(inside):
                raise _two_exits(fork)
            labels = (fork.orelse, fork.then) if inside[0] else (fork.then, fork.orelse)
            return _Exit(condition, not inside[0], known, *labels)
        if not isinstance(condition, Variable):
            return fork.then if _is_true(condition) else fork.orelse
        self.ways += 1
        if self.ways > MOST_WAYS or self.depth > DEEPEST:
            much = f"there are more than {MOST_WAYS} ways through it"
            raise NotInvertible(
                f"cannot invert {frame.site.name}: "
                + (much if self.ways > MOST_WAYS else f"it branches {DEEPEST} times in a row"),
                where=fork.where,
                help="move a part with branches of its own into a function with a relation",
            )
        ways = [self._way(frame, label, known, fork) for label in (fork.then, fork.orelse)]
        if any(isinstance(way.found, _Exit) for way in ways):
            raise _two_exits(fork)
        for taken, (way, other) in enumerate((ways, ways[::-1])):
            if isinstance(other.found, _Nowhere):  # then the condition is known
                self.holds.append((condition, not taken))
                self.statements += way.statements
                self.holds += way.holds
                return way.found
        return self._joined(frame, fork, condition, ways)

    def _way(self, frame: _Frame, label: int, known: dict[str, Value], fork: Fork) -> _Way:
        """Go one way of a fork, with statements of its own."""
        return self.apart(lambda: self._run(frame, label, dict(known), fork.join))

    def _joined(
        self, frame: _Frame, fork: Fork, condition: Variable, ways: list[_Way]
    ) -> _Returned | dict[str, Value]:
        """One branch statement for two ways, and what the names stand for after it."""
        first, second = (way.found for way in ways)
        if isinstance(first, _Returned) and isinstance(second, _Returned):
            pairs = {frame.site.name: (first.value, second.value)}
        else:
            assert isinstance(first, dict)
            assert isinstance(second, dict)
            assert fork.join is not None
            live = frame.code.blocks[fork.join].live
            pairs = {
                name: (first[name], second[name])
                for name in first
                if name in live and name in second
            }
        joined = _Join(self, frame, fork, ways)
        after = {name: joined.value(name, *pair) for name, pair in pairs.items()}
        if joined.results:
            gives = zip(*joined.gives, strict=True)
            arms = [
                Arm(tuple(way.statements), tuple(given), tuple(way.holds))
                for way, given in zip(ways, gives, strict=True)
            ]
            name = f"if_{fork.where.rpartition(':')[2]}"
            name = self.fresh(name)
            self.statements.append(
                branch(name, condition, (arms[0], arms[1]), tuple(joined.results), fork.where)
            )
        if isinstance(first, _Returned):
            return _Returned(_read(after, frame.site.name, fork.where))
        return after

    def _op(self, frame: _Frame, op: Op, known: Named) -> Value:
        def read(name: str) -> Value:
            return _read(known, name, op.where)

        match op:
            case Argument(index=index):
                return frame.given[index]
            case Literal(value=value):
                return _value(value)
            case Copy(source=source):
                return read(source)
            case Attribute(base=base, attribute=attribute):
                return _attribute(op, read(base), attribute)
            case Build(items=items):
                return _Tuple(tuple, tuple(map(read, items)))
            case Item(source=source, index=index):
                return _item(op, read(source), index)
            case Iterate(source=source):
                return _iterator(op, read(source))
            case Next(source=source):
                return _next(op, read(source))
            case First(source=source):
                return _first(op, read(source))
            case Second(source=source):
                return _second(op, read(source))
            case Unpack(source=source, count=count):
                return _unpacked(op, read(source), count)
            case Apply(function=function, args=args, kwargs=kwargs, fallback=fallback):
                targets = (function,) if fallback is None else (function, fallback)
                if isinstance(function, str):
                    targets = (_function(op, read(function)),)
                return self.call(
                    replace(frame.site, name=op.name, where=op.where),
                    targets,
                    [read(name) for name in args],
                    {key: read(name) for key, name in kwargs.items()},
                )
            case Unknown(what=what, where=where):
                raise refused(what, where)
            case _:
                raise refused(type(op).__name__, op.where)


MORE = object()
"""Stands for the condition that a range goes on."""

MOST_TURNS = 1000
"""More turns than this of loops that are written out are not gone through."""

UNROLLED = 16
"""A range of constants that is no longer than this is written out."""

DEEPEST = 64
"""Branches that stand inside one another more often than this are not gone into."""

MOST_WAYS = 512
"""More ways through a function than this are not gone."""


@dataclass(frozen=True)
class _Frame:
    """A function that is gone through: its code and its arguments."""

    site: _Site
    code: Code
    given: Values
    turn: int | None = None  # the first label of the loop a turn of which is gone through
    loop: frozenset[int] = frozenset()  # its labels


@dataclass(frozen=True)
class _Way:
    """One way from a fork: what it leads to, what it computes, and what must hold for it."""

    found: _Found
    statements: list[Statement]
    holds: list[tuple[Operand, bool]]

    @property
    def part(self) -> Part:
        """What it adds to a turn of a loop."""
        return Part(tuple(self.statements), tuple(self.holds))


_Found = _Returned | dict[str, Value] | _Nowhere | _Exit


class _Join:
    """Finds what two ways give in common; where they differ, a branch has a result."""

    def __init__(self, lifter: _Lifter, frame: _Frame, fork: Fork, ways: list[_Way]) -> None:
        self.lifter = lifter
        self.frame = frame
        self.fork = fork
        self.ways = ways
        self.results: list[Variable] = []
        self.gives: list[tuple[Operand, Operand]] = []

    def value(self, name: str, then: Value, orelse: Value) -> Value:
        """What a name stands for where both ways have met."""
        if then == orelse:
            return then
        if isinstance(then, _Tuple) and isinstance(orelse, _Tuple):
            if then.kind is orelse.kind and len(then.items) == len(orelse.items):
                pairs = zip(then.items, orelse.items, strict=True)
                return _Tuple(then.kind, tuple(self.value(name, *pair) for pair in pairs))
        elif not isinstance(then, (_Object, _Tuple)) and not isinstance(orelse, (_Object, _Tuple)):
            return self.number(name, then, orelse)
        return _Broken(
            NotInvertible(
                f"a value is a {_shown_kind(then)} on one way and a {_shown_kind(orelse)} on the "
                "other",
                where=self.fork.where,
                help="give it the same type on both",
            )
        )

    def number(self, name: str, then: Operand, orelse: Operand) -> Variable:
        kind = then.kind
        if then.kind is not orelse.kind:
            if not {then.kind, orelse.kind} <= {int, float, bool}:
                raise NotInvertible(
                    f"{name} is of type {_shown_kind(then)} on one way and of type "
                    f"{_shown_kind(orelse)} on the other",
                    where=self.fork.where,
                    help="convert one of them",
                )
            kind = float if float in (then.kind, orelse.kind) else int
        site = replace(self.frame.site, name=name, where=self.fork.where)
        given = [
            self.converted(site, value, kind, way)
            for value, way in zip((then, orelse), self.ways, strict=True)
        ]
        result = Variable(self.lifter.fresh(name), kind)
        self.results.append(result)
        self.gives.append((given[0], given[1]))
        return result

    def converted(self, site: _Site, value: Operand, kind: Any, way: _Way) -> Operand:
        """A value in the type that both ways have, converted on its way."""
        outer, self.lifter.statements = self.lifter.statements, way.statements
        try:
            return self.lifter.converted(site, value, kind)
        finally:
            self.lifter.statements = outer


class _Turns:
    """One turn of a loop, gone through with variables in the place of what changes."""

    def __init__(self, lifter: _Lifter, frame: _Frame, label: int, known: dict[str, Value]) -> None:
        self.lifter = lifter
        self.frame = frame
        self.label = label
        self.known = known
        blocks = frame.code.blocks
        self.where = blocks[label].ops[0].where
        assigned = {op.name for inside in frame.loop for op in blocks[inside].ops}
        self.names = [n for n in known if n in assigned and n in blocks[label].live]
        self.names = [n for n in self.names if not isinstance(known[n], (_Object, _Iterator))]
        self.bounds: Bounds | None = None

    def statement(self) -> tuple[int, dict[str, Value]]:
        """Add the statement for the loop."""
        begin = {name: self.known[name] for name in self.names}
        for _ in range(len(self.names) + 2):
            state = {name: self.fresh(name, value) for name, value in begin.items()}
            before, leave, after = self.turn(state)
            following = {name: after.found[name] for name in self.names}  # type: ignore[index]
            wider = {name: self.wider(name, begin[name], following[name]) for name in self.names}
            if all(_same_kinds(wider[name], begin[name]) for name in self.names):
                break
            begin = wider
        return self.stated(state, before, leave, after, following)

    def fresh(self, name: str, value: Value) -> Value:
        """Variables in the place of the numbers of a value."""
        if isinstance(value, _Tuple):
            return _Tuple(value.kind, tuple(self.fresh(name, item) for item in value.items))
        if isinstance(value, (Variable, Constant)):
            return Variable(self.lifter.fresh(name), value.kind)
        raise NotInvertible(
            f"{name} is a {_shown_kind(value)}, and changes in a loop",
            where=self.where,
            help="let numbers and tuples of numbers change",
        )

    def turn(self, state: Mapping[str, Value]) -> tuple[_Way, _Exit, _Way]:
        """Go through a turn: up to where the loop may be left, and from there on."""
        lifter, inside = self.lifter, {**self.known, **state}
        for op in self.frame.code.blocks[self.label].ops:
            found = self.known.get(op.source) if isinstance(op, Next) else None
            if isinstance(found, _Iterator) and isinstance(op, Next):
                names = [lifter.fresh(f"{n}_{self.line}") for n in ("start", "stop", "step", "i")]
                start, stop, step, index = (Variable(name, int) for name in names)
                self.bounds = Bounds(start, stop, step, index)
                inside[op.source] = _Iterator(found.over, (index,))
        before = lifter.apart(lambda: lifter._run(self.frame, self.label, inside, None))
        leave = before.found
        if not isinstance(leave, _Exit):
            raise NotInvertible(
                "cannot invert a loop that is left in the middle of a function, or never",
                where=self.where,
                help="leave it by its condition or by one break",
            )
        go_on = dict(leave.known)
        after = lifter.apart(lambda: lifter._run(self.frame, leave.inside, go_on, self.label))
        if not isinstance(after.found, dict):
            raise _two_exits_at(self.where)
        return before, leave, after

    @property
    def line(self) -> str:
        return self.where.rpartition(":")[2]

    def wider(self, name: str, one: Value, other: Value) -> Value:
        """The first, in the types that both need."""
        if isinstance(one, _Tuple) and isinstance(other, _Tuple):
            if one.kind is other.kind and len(one.items) == len(other.items):
                pairs = zip(one.items, other.items, strict=True)
                return _Tuple(one.kind, tuple(self.wider(name, *pair) for pair in pairs))
        elif isinstance(one, (Variable, Constant)) and isinstance(other, (Variable, Constant)):
            if one.kind is other.kind:
                return one
            if {one.kind, other.kind} <= {int, float, bool}:
                kind = float if float in (one.kind, other.kind) else int
                return Variable(str(one), kind)
        raise NotInvertible(
            f"{name} is a {_shown_kind(one)} before a turn of the loop and a "
            f"{_shown_kind(other)} after it",
            where=self.where,
            help="give it the same type on both",
        )

    # ---- the statement ----

    def stated(
        self,
        state: Mapping[str, Value],
        before: _Way,
        leave: _Exit,
        after: _Way,
        following: Mapping[str, Value],
    ) -> tuple[int, dict[str, Value]]:
        formals = [v for name in self.names for v in _variables(state[name])]
        site = replace(self.frame.site, where=self.where)
        values = [v for name in self.names for v in _leaves(self.known[name])]
        given = [
            self.lifter.converted(replace(site, name=v.name), value, v.kind)
            for v, value in zip(formals, values, strict=True)
        ]
        values = [v for name in self.names for v in _leaves(following[name])]
        after_found = self.within(after, site, formals, values)
        inner = {*formals, *(v for s in before.statements for v in s.results)}
        if self.bounds is not None:
            inner.add(self.bounds.index)
        results: list[Variable] = []
        gives: list[Operand] = []

        def outside(name: str, value: Value) -> Value:
            if isinstance(value, _Tuple):
                return _Tuple(value.kind, tuple(outside(name, item) for item in value.items))
            if not isinstance(value, Variable) or value not in inner:
                return value
            results.append(Variable(self.lifter.fresh(name), value.kind))
            gives.append(value)
            return results[-1]

        live = self.frame.code.blocks[leave.outside].live
        known = {n: outside(n, v) for n, v in leave.known.items() if n in live}
        counted = isinstance(leave.condition, _Object)
        word = "for" if counted else "while"
        rule = Loop(
            self.lifter.fresh(f"{word}_{self.line}"), tuple(formals), before.part,
            None if counted else _condition(leave), leave.leaves, after.part, tuple(after_found),
            tuple(gives), tuple(results), self.bounds if counted else None, self.where,
        )  # fmt: skip
        arguments = (*given, *rule.free, *self.limits())
        if results:
            self.lifter.statements.append(Statement(rule, tuple(results), arguments, self.where))
        return leave.outside, known

    def within(
        self, way: _Way, site: _Site, formals: list[Variable], values: list[Operand]
    ) -> list[Operand]:
        """Values in the types of the state, converted at the end of a turn."""
        outer, self.lifter.statements = self.lifter.statements, way.statements
        try:
            return [
                self.lifter.converted(replace(site, name=v.name), value, v.kind)
                for v, value in zip(formals, values, strict=True)
            ]
        finally:
            self.lifter.statements = outer

    def limits(self) -> tuple[Operand, ...]:
        for op in self.frame.code.blocks[self.label].ops:
            found = self.known.get(op.source) if isinstance(op, Next) else None
            if isinstance(found, _Iterator) and found.over is not None:
                return found.over.start, found.over.stop, found.over.step
        return ()


def _condition(leave: _Exit) -> Operand:
    assert isinstance(leave.condition, (Variable, Constant))
    return leave.condition


def _leaves(value: Value) -> Iterator[Operand]:
    if isinstance(value, _Tuple):
        for item in value.items:
            yield from _leaves(item)
    elif isinstance(value, (Variable, Constant)):
        yield value


def _variables(value: Value) -> list[Variable]:
    return [v for v in _leaves(value) if isinstance(v, Variable)]


def _same_kinds(one: Value, other: Value) -> bool:
    return [v.kind for v in _leaves(one)] == [v.kind for v in _leaves(other)]


def _two_exits(fork: Fork) -> NotInvertible:
    return _two_exits_at(fork.where)


def _two_exits_at(where: str) -> NotInvertible:
    return NotInvertible(
        "cannot invert a loop that may be left at two places",
        where=where,
        help="leave it by its condition alone, or by one break",
    )


# ---- values -------------------------------------------------------------------------------


def _value(value: Any) -> Value:
    if isinstance(value, (Variable, Constant, _Object, _Tuple)):
        return value
    if isinstance(value, tuple):
        return _Tuple(type(value), tuple(map(_value, value)))
    if isinstance(value, np.float64):
        return Constant(float(value))
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return Constant(value)
    return _Object(value)


def _kinds(args: Values, kwargs: Named) -> tuple[Any, ...]:
    return tuple(value.kind for value in (*args, *kwargs.values()))


def _numbers(args: Values) -> list[Operand]:
    return [Constant(_plain(arg)) if isinstance(arg, (_Object, _Tuple)) else arg for arg in args]


def _plain(value: Value) -> Any:
    """The Python object that a value without variables is."""
    if isinstance(value, _Tuple):
        items = map(_plain, value.items)
        return value.kind(*items) if is_record(value.kind) else tuple(items)
    if isinstance(value, Variable):
        raise NotInvertible(f"{value} stands inside a tuple that a relation takes", help="")
    return value.value


def _is_true(value: Value) -> bool:
    """Whether a value without variables counts as true."""
    return bool(value.items) if isinstance(value, _Tuple) else bool(_plain(value))


def _range(site: _Site, args: Values) -> _Range:
    numbers = [arg for arg in args if isinstance(arg, (Variable, Constant))]
    if len(numbers) != len(args) or not 1 <= len(args) <= 3:
        raise refused("range of these arguments", site.where)
    start, stop = (Constant(0), numbers[0]) if len(numbers) == 1 else numbers[:2]
    return _Range(start, stop, numbers[2] if len(numbers) == 3 else Constant(1))


def _iterator(op: Op, value: Value) -> _Iterator:
    """An iterator over a tuple or a range; a short range of constants is written out."""
    if isinstance(value, _Tuple):
        return _Iterator(None, value.items)
    if isinstance(value, _Range):
        ends = [end.value for end in (value.start, value.stop, value.step)
                if isinstance(end, Constant)]  # fmt: skip
        if len(ends) == 3 and len(range(*ends)) <= UNROLLED:
            return _Iterator(None, tuple(map(Constant, range(*ends))))
        return _Iterator(value)
    raise refused(f"loop over a {_shown_kind(value)}", op.where)


def _next(op: Op, iterator: Value) -> _Next:
    if not isinstance(iterator, _Iterator):
        raise refused(f"next item of a {_shown_kind(iterator)}", op.where)
    if iterator.over is not None:
        return _Next(iterator.items[0], _Object(MORE))
    return _Next(next(iter(iterator.items), None), Constant(bool(iterator.items)))


def _advanced(iterator: Value) -> Value:
    if isinstance(iterator, _Iterator) and iterator.over is None:
        return _Iterator(None, iterator.items[1:])
    return iterator


def _first(op: Op, pair: Value) -> Value:
    if not isinstance(pair, _Next):
        raise refused(f"item of a {_shown_kind(pair)}", op.where)
    return _Object(None) if pair.item is None else pair.item


def _second(op: Op, pair: Value) -> Value:
    if not isinstance(pair, _Next):
        raise refused(f"item of a {_shown_kind(pair)}", op.where)
    return pair.more


def _of_tree(tree: Tree) -> Value:
    if isinstance(tree, Node):
        return _Tuple(tree.cls, tuple(map(_of_tree, tree.items)))
    return tree


def _as_tree(value: Value) -> Tree:
    if isinstance(value, _Tuple):
        return Node(value.kind, tuple(map(_as_tree, value.items)))
    return value


def _record(site: _Site, cls: type, args: Values, kwargs: Named) -> Value:
    """A named tuple of these values."""
    given = dict(zip(fields_of(cls), args, strict=False)) | dict(kwargs)
    defaults = getattr(cls, "_field_defaults", {})
    items = [given.get(name, _value(defaults.get(name, _MISSING))) for name in fields_of(cls)]
    if len(given) != len(args) + len(kwargs) or any(_is_missing(item) for item in items):
        raise NotInvertible(
            f"cannot call {describe(cls)} like this: its fields are {', '.join(fields_of(cls))}",
            where=site.where,
        )
    return _Tuple(cls, tuple(items))


_MISSING = object()


def _is_missing(value: Value) -> bool:
    return isinstance(value, _Object) and value.value is _MISSING


def _read(known: Named, name: str, where: str) -> Value:
    """What a name stands for; numba drops one of the two that ``:=`` gives."""
    if name not in known:
        raise refused("assignment within an expression", where)
    value = known[name]
    if isinstance(value, _Broken):
        raise value.error
    return value


def _item(op: Op, source: Value, index: Any) -> Value:
    if isinstance(source, _Object):
        return _value(source.value[index])
    if not isinstance(source, _Tuple):
        raise refused(f"item of a {_shown_kind(source)}", op.where)
    found = source.items[index]
    return _Tuple(tuple, found) if isinstance(found, tuple) else found


def _unpacked(op: Op, source: Value, count: int) -> Value:
    items = source.items if isinstance(source, _Tuple) else None
    if items is None or len(items) != count:
        raise refused(f"a {_shown_kind(source)} taken apart into {count}", op.where)
    return source


def _promotions(args: Sequence[Operand]) -> Iterator[tuple[Any, ...]]:
    """The types that arithmetic gives to these arguments: constants take the type of a word
    beside them; else they stay, or integers become floats."""
    kinds = tuple(arg.kind for arg in args)
    words = {kind for kind in kinds if kind in WORDS}
    if len(words) == 1:
        word = words.pop()
        if all(arg.kind is word or _fits(arg, word) for arg in args):
            yield (word,) * len(args)
            return
    yield kinds
    if kinds and all(issubclass(kind, (int, float)) for kind in kinds):
        yield (float,) * len(args)


def _fits(value: Operand, word: Any) -> bool:
    if not isinstance(value, Constant) or not isinstance(value.value, int):
        return False
    info = np.iinfo(word)
    return int(info.min) <= value.value <= int(info.max)


def _attribute(op: Op, base: Value, attribute: str) -> Value:
    if isinstance(base, _Tuple) and attribute in fields_of(base.kind):
        return base.items[fields_of(base.kind).index(attribute)]
    if not isinstance(base, _Object) or not hasattr(base.value, attribute):
        raise NotInvertible(
            f"cannot invert the attribute {attribute!r} of a {_shown_kind(base)}",
            where=op.where,
            help="attributes of modules and of objects that the function closes over are read",
        )
    return _value(getattr(base.value, attribute))


def _function(op: Op, value: Value) -> Any:
    if not isinstance(value, _Object) or not callable(value.value):
        raise NotInvertible(f"cannot invert a call of a {_shown_kind(value)}", where=op.where)
    return value.value


def _shown_kind(value: Value) -> str:
    return getattr(value.kind, "__name__", str(value.kind))


# ---- functions ----------------------------------------------------------------------------


def _body(function: Any) -> types.FunctionType | None:
    """The Python code behind a function, an @njit dispatcher or a callable object."""
    for found in (
        function,
        getattr(function, "py_func", None),
        getattr(function, "__func__", None),
    ):
        if isinstance(found, types.FunctionType):
            return found
    if isinstance(function, type):
        return None
    method = inspect.getattr_static(type(function), "__call__", None)
    return method if isinstance(method, types.FunctionType) else None


def _python_code(target: Any) -> Iterator[types.FunctionType]:
    """The code of a function that is not entered, and of what it calls in its own module."""
    first = _body(target)
    found = dict.fromkeys([] if first is None else [first])
    waiting = list(found)
    while waiting:
        function = waiting.pop()
        yield function
        for name in function.__code__.co_names:
            called = _body(function.__globals__.get(name))
            if called is None or called in found:
                continue
            if called.__globals__ is function.__globals__:
                found[called] = None
                waiting.append(called)


def _bound(site: _Site, body: types.FunctionType, args: Values, kwargs: Named) -> list[Value]:
    """The arguments of a call in the order in which the code holds them."""
    signature = inspect.signature(body)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise NotInvertible(
            f"cannot call {describe(body)} like this: {error}", where=site.where
        ) from error
    bound.apply_defaults()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in signature.parameters.values()):
        raise NotInvertible(
            f"cannot invert {describe(body)}: it takes any number of arguments",
            where=location_of(body),
            help="name its parameters",
        )
    code = body.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return [_value(bound.arguments[name]) for name in names]


def _forward_only(target: Any, args: Sequence[Operand], returns: type) -> Relation:
    """A function without a relation, which can still be run forward."""
    names = ", ".join("abcdefghijklmnopqrstuvwxyz"[: len(args)])
    short = describe(target).rpartition(".")[2]
    equation = f"return = {short if short.isidentifier() else 'f'}({names})"
    return relation(target, *(arg.kind for arg in args), equation, returns=returns)


def _no_relation(site: _Site, target: Any, args: Values) -> NotInvertible:
    name = describe(target)
    shown = ", ".join(map(_shown_kind, args))
    return NotInvertible(
        f"cannot solve a call of {name}({shown}): it has no relation",
        where=site.where,
        notes=[("modes available", "none")],
        help=f"give it one in a method table: @table.generated(relation_of({name}))",
    )
