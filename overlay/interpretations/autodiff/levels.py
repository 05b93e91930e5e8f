"""Nesting levels: the duals of one derivative, and the context with the methods for them."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overlay import Context, Method, MethodTable, nonoverlay
from overlay.contexts.rules_alone import alone, meets_others, used_by
from overlay.core.in_force import outside
from overlay.core.jitted import seal
from overlay.core.short_repr import counted
from overlay.interpretations.autodiff.duals import (
    Active,
    ActiveArray,
    ActiveNumber,
    array_class,
    number_class,
)
from overlay.interpretations.autodiff.errors import refuse_inside
from overlay.interpretations.autodiff.rules import imported

__all__ = ["Level", "LevelTable", "declare", "generate", "outside_level", "refuse", "written"]


# the file name of generated code; messages about a user's program name the user's own lines
_FILE = os.path.join(os.path.dirname(__file__), "<derivative>")


Key = tuple[int, tuple[MethodTable, ...]]


class LevelTable(MethodTable):
    """The table of a level, or of the code outside all levels.

    level: the depth and rules of its level. enters: those of the level that it enters from outside.
    constant: its methods whose results have no derivative. uses: the functions that the rule of a
    method computes with. expressed: its methods that call other functions themselves. guarded: the
    replacement of a method in interpreted code, where a division by zero in a rule must not raise
    an error in the program. declares: declares the methods for the functions of some optional
    modules; modules: those for which it was called.
    """

    def __init__(self, name: str, *, level: Key | None = None, enters: Key | None = None) -> None:
        super().__init__(name, interprets=True)
        self.level, self.enters = level, enters
        self._chosen_in = threading.local()
        self.constant: set[Callable[..., Any]] = set()
        self.uses: dict[Callable[..., Any], tuple[Any, ...]] = {}
        self.expressed: set[Callable[..., Any]] = set()
        self.guarded: dict[Callable[..., Any], Callable[..., Any]] = {}
        self.declares: Callable[[tuple[str, ...]], None] | None = None
        self.modules: tuple[str, ...] = ()

    @property
    def pending(self) -> bool:
        """Whether targets may have come with an import, which a program may make in the level."""
        return super().pending or bool(self._new_modules())

    def _new_modules(self) -> tuple[str, ...]:
        if self.declares is None:
            return ()
        return tuple(module for module in imported() if module not in self.modules)

    def settle(self) -> None:
        """Look up targets that were named, and declare the methods for modules that have been
        imported since."""
        super().settle()
        if new := self._new_modules():
            self.modules += new
            assert self.declares is not None
            outside(self.declares, new)

    def chosen(
        self, method: Method, after: tuple[Method, ...], tables: Sequence[MethodTable]
    ) -> Callable[..., Any] | None:
        """The rule, guarded; and computed without other tables where one of them has methods for a
        function that it uses."""
        return self._chosen(method, tables, self.guarded.get(method.function))

    def chosen_compiled(
        self, method: Method, after: tuple[Method, ...], tables: Sequence[MethodTable]
    ) -> Callable[..., Any] | None:
        """The rule, unguarded: compiled code divides by zero without an error."""
        return self._chosen(method, tables, None)

    def _chosen(
        self, method: Method, tables: Sequence[MethodTable], instead: Callable[..., Any] | None
    ) -> Callable[..., Any] | None:
        self._chosen_in.tables = tuple(tables)
        levels = [table for table in tables if isinstance(table, LevelTable)]
        if self.enters is not None and any(table.level == self.enters for table in levels):
            refuse_inside()
        if method.generated or method.function in self.constant:
            return None
        if all(table.faithful for table in tables):
            return instead
        used = self.uses.get(method.function, ())
        if method.function in self.expressed:
            used = used_by(instead or method.function)
        if not meets_others(used, tables):
            return instead
        return alone(method, tuple(tables), instead)

    @property
    def rules(self) -> tuple[MethodTable, ...]:
        """The user's tables of rules, in force in its level or in the level that it enters."""
        key = self.level or self.enters
        return () if key is None else key[1]

    @property
    def tables_around(self) -> tuple[MethodTable, ...]:
        """The tables in force when one of its generated methods was selected."""
        return getattr(self._chosen_in, "tables", ())


class Level:
    """The nesting level of one derivative.

    depth: the number of enclosing levels. count: the number of tangents of each of its duals.
    rules: the user's tables of rules. is_taped: whether its tangents are those of a tape, for
    reverse mode. number, array: its classes of duals. ``pack(value,
    tangents)`` creates a dual of the class for the value; ``strip(x)`` returns the value of a dual,
    and anything else unchanged. running, begun: the numbers of current and of all runs in it;
    may_have_left: whether duals of later runs than those in ``left`` may still be referenced.
    """

    def __init__(
        self,
        depth: int,
        count: int,
        rules: tuple[MethodTable, ...],
        *,
        is_taped: bool = False,
    ) -> None:
        self.depth, self.count, self.rules, self.is_taped = depth, count, rules, is_taped
        self.running = self.begun = 0
        self.may_have_left = False
        self.left: list[Any] = []
        self.number, self.array = number_class(depth, count), array_class(depth, count)
        self.table = LevelTable(
            f"derivative {depth} with {counted(count, 'tangent')}", level=(depth, rules)
        )
        self.context = Context(self.table)
        self.number.context = self.array.context = self.context
        self.number.level = self.array.level = self
        self.pack = written("def method(value, tangents): return number(value, tangents)", self)
        self.strip = written("def method(x): return x", self)
        self.seeded: Callable[..., Any] = self.pack  # for autodiff; replaced when the table is made
        self._declare_own()

    def later(self, target: Any, declares: Callable[..., None], *args: Any) -> None:
        """Call ``declares(level, *args)``, which adds methods of a target, when the target is first
        called."""
        self.table.add_later(target, functools.partial(declares, self, *args))

    def _declare_own(self) -> None:
        source = "def method(value, tangents): return {0}(value, tangents)"
        outward = (
            "def method(value, tangents): return {0}(outside(value), <<outside(tangents[#])>>)"
        )
        bare_of = nonoverlay(functools.partial(outside_level, self.depth))
        kinds = ((np.ndarray, "array"), (ActiveArray, "array"), (ActiveNumber, "number"))
        for kind, made in kinds:
            packed = written(source.format(made), self)
            declare(self.table, self.pack, packed, (kind, Any))
            if kind is not np.ndarray:  # so may an inner level, in interpreted code
                bare = written(outward.format(made), self, outside=bare_of)
                self.table.guarded[packed] = bare
        # library code may have computed the value from arrays that may become active
        source = "def method(value, tangents): return pack(value.value, <<strip(tangents[#])>>)"
        for kind in (self.number, self.array):
            bare = written(source, self, pack=self.pack, strip=self.strip)
            declare(self.table, self.pack, bare, (kind, Any))
        for kind in (self.number, self.array):
            bare = written("def method(x): return x.value", self)
            declare(self.table, self.strip, bare, (kind,))


def outside_level(depth: int, x: Any) -> Any:
    """A value without the tangents of the level at a depth and of those inside it."""
    while isinstance(x, Active) and x.level.depth >= depth:
        x = x.value
    return x


def declare(
    table: LevelTable,
    target: Any,
    method: Callable[..., Any],
    types: Sequence[Any],
    *,
    constant: bool = False,
    expressed: bool = False,
    precedence: int = 0,
) -> None:
    """Add a method for arguments of these types. constant: whether its result has no derivative.
    expressed: whether it calls other functions than ``call_next``, none of which is the program's.
    """
    _annotate(method, types)
    table.overlay(target, precedence=precedence)(method)
    if constant:
        table.constant.add(method)
    if expressed:
        table.expressed.add(method)


def refuse(
    table: MethodTable,
    target: Any,
    why: Callable[[], Any],
    types: Sequence[Any],
    *,
    precedence: int = 0,
) -> None:
    """Add a method that calls ``why``, which raises, for arguments of these types: when it is
    called, or, in compiled code, when it is compiled."""
    names = ", ".join(f"a{i}" for i in range(len(types)))
    method = written(f"def method({names}): why()", None, why=why)
    generate(table, target, method, types, precedence=precedence)


def generate(
    table: MethodTable,
    target: Any,
    method: Callable[..., Any],
    types: Sequence[Any],
    *,
    precedence: int = 0,
) -> None:
    """Add a generated method for arguments of these types."""
    _annotate(method, types)
    table.generated(target)(method)


def _annotate(method: Callable[..., Any], types: Sequence[Any]) -> None:
    code = method.__code__
    names = code.co_varnames[: code.co_argcount]
    method.__annotations__ = dict(zip(names, types, strict=False))


@functools.cache
def _compiled(source: str) -> Any:
    return compile(source, _FILE, "exec")


def written(source: str, level: Level | None, **names: Any) -> Callable[..., Any]:
    """The function ``method`` defined by Python source.

    ``<<expression of #>>`` in it is expanded to the tuple of the expression for each tangent, whose
    index replaces ``#``: compiled code cannot iterate over a tuple of tangents otherwise. names:
    the namespace of the source; ``number`` and ``array`` are the level's classes. level: None if
    the source needs none.
    """
    parts, count = source.split("<<"), 0 if level is None else level.count
    for i, part in enumerate(parts[1:], 1):
        each, rest = part.split(">>")
        parts[i] = f"({''.join(each.replace('#', str(k)) + ', ' for k in range(count))}){rest}"
    space = dict(names)
    if level is not None:
        space.update(number=level.number, array=level.array)
    exec(_compiled("".join(parts)), space)
    return seal(space["method"])
