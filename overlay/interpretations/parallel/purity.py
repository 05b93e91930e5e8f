"""Purity proofs: a function only computes from its arguments.

The instructions of the function, and of the functions it calls, are read as blocks of statements.
Each variable holds plain data of some kind: immutable, newly created in the call, or possibly
shared. Only data created in the call may be mutated. Anything unknown is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

from overlay.analysis.abstract_state import AbstractState
from overlay.analysis.fixed_point import FixedPoint
from overlay.code import marks
from overlay.code.body import Apply, Body, ConstantValue, Copy, Make, Return, Statement, is_step
from overlay.code.constants import Captured
from overlay.code.listing import COMPREHENSIONS
from overlay.code.read_bodies import body_of
from overlay.code.statements import SLOT
from overlay.core.location import name_of, shown
from overlay.interpretations.parallel.data_kinds import (
    UNREAD,
    DataKind,
    DataMethod,
    DefinedHere,
    FromOutside,
    KeysView,
    KindLattice,
    Produced,
    is_class_of_data,
)
from overlay.interpretations.parallel.loop_data import is_immutable
from overlay.interpretations.parallel.purity_proof import (
    MISSING,
    NotProved,
    Proof,
    Read,
    plain_function,
    value_of,
)
from overlay.interpretations.parallel.purity_rules import applied, holding

__all__ = ["prove"]

_LATTICE = KindLattice()


def prove(callee: Any, kinds: tuple[DataKind, ...], named: dict[str, DataKind]) -> Proof:
    """The proof for a function called with arguments of these kinds, by position and by name.
    Raises NotProved."""
    prover = Prover()
    function = plain_function(callee)
    if function is None:
        raise NotProved(f"{name_of(callee)} is no Python function")
    prover.proof.kind = prover.call(function, list(kinds), named)
    return prover.proof


class Prover:
    """Proves one function, with all functions that it calls."""

    def __init__(self) -> None:
        self.proof = Proof()
        self._known: dict[Any, DataKind] = {}
        self._open: set[Any] = set()
        self._bodies: dict[FunctionType, Body] = {}

    def call(
        self, function: FunctionType, kinds: list[DataKind], named: dict[str, DataKind]
    ) -> DataKind:
        """The kind of a function's result for arguments of these kinds."""
        key = function, tuple(kinds), tuple(named.items())
        if key in self._open:
            return self._known[key]  # recursion: the result so far
        if key in self._known:
            return self._known[key]
        self._known[key] = DataKind.IMMUTABLE
        before = set(self._known)
        while True:
            self._open.add(key)
            found = self._kind_of(function, kinds, named)
            self._open.discard(key)
            if found <= self._known[key]:
                return self._known[key]
            for other in self._known.keys() - before:  # they may depend on the old result
                del self._known[other]
            self._known[key] = found

    def _kind_of(
        self, function: FunctionType, kinds: list[DataKind], named: dict[str, DataKind]
    ) -> DataKind:
        if function not in self._bodies:
            self._bodies[function] = body_of(function)
        code = PureCode(self, function, self._bodies[function])
        if code.body.kind != "function":
            code.refuse("is a generator")
        found = code.find(_parameters(code, kinds, named))
        self._note(function, code.reads)
        return found

    def _note(self, function: FunctionType, reads: dict[str, Read]) -> None:
        """Add a function that runs, and the names that it reads, to the proof."""
        known = self.proof.functions.get(id(function))
        before = {} if known is None else {read.name: read for read in known[3]}
        self.proof.functions[id(function)] = (
            function,
            function.__code__,
            function.__defaults__,
            list((before | reads).values()),
        )


def _parameters(
    code: PureCode, kinds: list[DataKind], named: dict[str, DataKind]
) -> dict[str, Any]:
    """The initial variables of a call."""
    signature = code.body.signature
    assert signature is not None
    parameters = signature.parameters.values()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        code.refuse("takes any number of arguments")
    names = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
    if len(kinds) > len(names):
        code.refuse("is given more arguments than it takes")
    found: dict[str, Any] = {**dict(zip(names, kinds, strict=False)), **named}
    for parameter in parameters:
        if parameter.name not in found and parameter.default is not parameter.empty:
            if not is_immutable(parameter.default.value):
                code.refuse(f"has a default of {parameter.name} that can change")
            found[parameter.name] = DataKind.IMMUTABLE
    return found


class PureCode:
    """One function's code, for arguments of given kinds.

    reads: the outer names that it reads. given: the kind of the values that it yields.
    definitions: for each intermediate value of an expression, the statement that defines it.
    where: the source position of the current statement.
    """

    def __init__(self, prover: Prover, function: FunctionType, body: Body) -> None:
        self.prover = prover
        self.function = function
        self.body = body
        self.reads: dict[str, Read] = {}
        self.given = DataKind.IMMUTABLE
        self.where = shown(function.__code__.co_filename, body.function.__code__.co_firstlineno)
        self.definitions: dict[str, Statement] = {
            each.target: each
            for each in self.statements()
            if is_step(each.target) and not each.target.startswith(SLOT)
        }
        self.handled = set(self._handled())
        self._state = AbstractState({})
        self._cells: dict[str, Any] = {}

    def statements(self) -> Iterator[Statement]:
        """All statements, in order."""
        for label in self.body.order:
            yield from self.body.blocks[label].statements

    def _handled(self) -> Iterator[str]:
        """The intermediate values that are tuples of exception classes in handlers. No call may
        return one."""
        for statement in self.statements():
            if isinstance(statement, Apply) and statement.function is marks.caught:
                for name in self.classes(statement.args[0]):
                    made = self.definitions.get(name)
                    if isinstance(made, Apply) and made.function is not getattr:
                        self.where = made.where
                        self.refuse("calls what is not known")
                yield statement.args[0]

    def classes(self, name: str) -> tuple[str, ...]:
        """The variables that hold the classes a handler names."""
        made = self.definitions.get(name)
        is_tuple = isinstance(made, Apply) and made.function is marks.pack
        return made.args if is_tuple and isinstance(made, Apply) else (name,)

    # ---- the analysis ----

    def find(self, entry: dict[str, Any]) -> DataKind:
        """The kind of the result, for these initial variables."""
        own = set(self.body.function.__code__.co_cellvars)
        self._cells = {name: value for name, value in entry.items() if name in own}
        while True:  # terminates: the values of shared variables only grow
            before = dict(self._cells)
            found = self._once(AbstractState(dict(entry)))
            if before == self._cells:
                return found

    def _once(self, entry: AbstractState) -> DataKind:
        into = FixedPoint(_LATTICE, self.body, entry, self.execute).find()
        found = DataKind.IMMUTABLE
        for label in (label for label in self.body.order if label in into):
            block, state = self.body.blocks[label], into[label].copy()
            for statement in block.statements:
                self.execute(statement, state)
            self._state = state
            if not isinstance(block.end, Return):
                if block.end.condition is not None:
                    self.kind(block.end.condition)
            elif block.end.value is not None:
                found = max(found, self.kind(block.end.value))
            elif block.end.raised is not None:
                self.where = block.end.where
                self._raised(block.end.raised)
        return found

    def execute(self, statement: Statement, state: AbstractState) -> bool:
        """Apply a statement to an abstract state; the next one is reached. Raises NotProved."""
        self._state = state
        if isinstance(statement, ConstantValue):
            state.set(statement.target, self._constant(statement))
        elif isinstance(statement, Copy):
            self._copy(statement)
        elif isinstance(statement, Make):
            if statement.code.co_name not in COMPREHENSIONS:
                self.refuse("defines a function")
            state.set(statement.target, DefinedHere(statement.code))
        else:
            self.where = statement.where
            state.set(statement.target, applied(self, statement))
        return True

    def _constant(self, statement: ConstantValue) -> Any:
        value, name = statement.value, statement.name
        if type(value) is Captured:
            return value.value
        if name is None and not is_step(statement.target):
            name = statement.target  # a closure variable
        if name is not None:
            return self.outer(name, value, statement.where or self.where)
        if type(value) is frozenset:
            self.prover.proof.sets = True
        if callable(value) or isinstance(value, ModuleType):
            return FromOutside(value, name_of(value), self.where)
        return DataKind.IMMUTABLE

    def outer(self, name: str, value: Any, where: str) -> Any:
        """The value of an outer name, which is recorded as read."""
        if value is MISSING:
            self.refuse(f"reads {name}, which is not there")
        self.reads[name] = Read(name, value)
        return DataKind.IMMUTABLE if is_immutable(value) else FromOutside(value, name, where)

    def from_outside(self, name: str) -> Any:
        """The current value of an outer name."""
        return value_of(self.function, name)

    def _copy(self, statement: Copy) -> None:
        value, name = self.value(statement.source), statement.target
        if not is_step(name):
            if value is UNREAD:
                self.refuse("keeps an exception")
            value = self.data(value)
            if name in self.body.function.__code__.co_cellvars:
                self._cells[name] = max(value, self._cells.get(name, value))
        self._state.set(name, value)

    def _raised(self, raised: tuple[str, ...]) -> None:
        if len(raised) != 1:
            self.refuse("raises an error in a way that is not followed")
        value, made = self.value(raised[0]), self.definitions.get(raised[0])
        if isinstance(value, FromOutside):
            if not is_class_of_data(value.value):
                self.refuse("raises an error of another class than Python's")
        elif not is_step(raised[0]):
            self.refuse(f"raises {raised[0]}, which it is given")
        elif not isinstance(made, Apply) or not isinstance(made.function, str):
            self.refuse("raises an error in a way that is not followed")

    def nested(self, code: CodeType, argument: Any) -> Any:
        """The result of a comprehension that is compiled as a function: its return value, or an
        iterator."""
        cells = [CellType(Captured(self._shared(name))) for name in code.co_freevars]
        made = FunctionType(code, self.function.__globals__, None, None, tuple(cells))
        inner = PureCode(self.prover, self.function, body_of(made))
        inner.reads = self.reads
        if inner.body.kind == "coroutine":
            self.refuse("is asynchronous")
        found = inner.find({inner.body.parameters[0]: argument})
        return found if inner.body.kind == "function" else Produced(holding([inner.given]))

    def _shared(self, name: str) -> Any:
        """The value of a variable at any time that a nested function reads it."""
        return self._cells[name] if name in self._cells else self.value(name)

    # ---- values ----

    def value(self, name: str) -> Any:
        """The abstract value of a variable."""
        found = self._state.values.get(name)
        if found is None and not is_step(name):
            if name in self.body.function.__code__.co_freevars:
                self.refuse(f"reads {name}, which is not there")
            return DataKind.IMMUTABLE  # not set yet
        return UNREAD if found is None else found

    def grow(self, name: str, kind: DataKind) -> None:
        """Add an item of a kind to a variable's container."""
        self._state.set(name, max(kind, self.kind(name)))

    def kind(self, name: str) -> DataKind:
        """The kind of a variable's data."""
        return self.data(self.value(name))

    def data(self, value: Any) -> DataKind:
        """The kind of a value that is used as data. Raises NotProved for other values."""
        if isinstance(value, DataKind):
            return value
        if isinstance(value, KeysView):
            self.prover.proof.sets = True
            return value.kind
        if isinstance(value, FromOutside):
            if is_class_of_data(value.value):
                return DataKind.IMMUTABLE
            self.where = value.where
            return self.refuse(f"reads {value.what}, which can change")
        if isinstance(value, DataMethod):
            return self.refuse(f"reads the attribute {value.name}")
        if isinstance(value, Produced | DefinedHere):
            return self.refuse("keeps a generator")
        return self.refuse("uses what is not known")

    def changed(self, owner: DataKind, kind: DataKind) -> None:
        """Check that an item may be stored in a possible container. Raises NotProved."""
        if owner > DataKind.NEW:
            self.refuse("changes what it may not have made")
        if owner is DataKind.NEW and kind > DataKind.NEW:
            self.refuse("keeps what it did not make in what it has made")

    def refuse(self, what: str) -> Any:
        """Raise NotProved."""
        raise NotProved(f"{name_of(self.function)} {what}   [{self.where}]")

    def refuse_unknown(self, does: str, what: Any) -> Any:
        """Raise NotProved for a function or class whose effects are unknown."""
        return self.refuse(f"{does} {name_of(what)}, of which nothing is known")
