"""The dependency graph of one run: a tape of the computations that depend on choices.

A tape has slots, which store values, and steps, each of which computes one slot from others. A
guard is a step that computes nothing: the tape is valid for other choices while all guards hold.
"""

from __future__ import annotations

import enum
import math
import operator
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from overlay.interpretations.probabilistic.errors import NotTraceable, place, refuse_duplicate
from overlay.interpretations.probabilistic.language import Site

__all__ = [
    "TAPE",
    "Fixed",
    "Packed",
    "StepKind",
    "Tape",
    "TapeSite",
    "TapeStep",
    "identical",
    "rebuilt",
]

TAPE: ContextVar[Tape] = ContextVar("tape")
"""The tape of the run that is being recorded."""


class StepKind(enum.Enum):
    """The kind of a step: a value, the log density of a site, or a guard that a value is true, is
    false, or is identical to another."""

    VALUE = enum.auto()
    SCORE = enum.auto()
    TRUE = enum.auto()
    FALSE = enum.auto()
    SAME = enum.auto()


class TapeStep(NamedTuple):
    """The step ``slots[out] = function(*slots[args])``; a guard has no slot, and a function only if
    it compares."""

    kind: StepKind
    function: Callable[..., Any] | None
    args: tuple[int, ...]
    out: int


class TapeSite(NamedTuple):
    """A site: its class of distributions, the structure of the parameters and their slots, and the
    slots of its value and its log density."""

    cls: type
    shape: Any
    parameters: tuple[int, ...]
    value: int
    score: int
    observed: bool


class Fixed(NamedTuple):
    """A place where a value that depends on choices determined the control flow."""

    what: str
    where: str | None


LEAF: Final = 0
NO_SLOT: Final = -1


def rebuilt(shape: Any, leaves: Any) -> Any:
    """Nested tuples and lists, from their structure and an iterator of their leaves."""
    if shape == LEAF:
        return next(leaves)
    cls, parts = shape
    items = [rebuilt(part, leaves) for part in parts]
    if cls is list:
        return items
    return cls(*items) if hasattr(cls, "_fields") else tuple(items)


@dataclass(frozen=True)
class Packed:
    """A function of nested tuples and lists, as a function of their leaves."""

    function: Callable[..., Any]
    shape: Any
    names: tuple[str, ...] = ()

    def __call__(self, *leaves: Any) -> Any:
        args: list[Any] = list(rebuilt(self.shape, iter(leaves)))
        count = len(args) - len(self.names)
        return self.function(*args[:count], **dict(zip(self.names, args[count:], strict=True)))


class Tape:
    """The computations of one run that depend on its choices.

    given: the values of the choices. slots: all values. steps: in execution order. sites: by name.
    fixed: the places where values determined the control flow. of_one_class: the slots whose class
    has a guard. copies_rows: whether a row of a table is a copy that depends on the index.
    """

    def __init__(self, given: dict[str, Any], *, copies_rows: bool = True) -> None:
        self.given = given
        self.copies_rows = copies_rows
        self._rows: list[tuple[Any, tuple[Any, ...]]] = []
        self.slots: list[Any] = []
        self.steps: list[TapeStep] = []
        self.sites: dict[str, TapeSite] = {}
        self.fixed: list[Fixed] = []
        self.guarded: set[tuple[StepKind, int]] = set()
        self.of_one_class: set[int] = set()
        self.is_open = True
        self._chosen_by: tuple[Any, str] = (None, "")

    # ---- recording ----

    def slot(self, value: Any) -> int:
        """Add a slot with a value, and return it."""
        self.slots.append(value)
        return len(self.slots) - 1

    def step(
        self, function: Callable[..., Any], args: tuple[int, ...], value: Any, kind: StepKind
    ) -> int:
        """Add a step whose function returned a value, and return its slot."""
        if not self.is_open:
            raise NotTraceable(
                "the program keeps a value that depends on choices beyond the run",
                where=place(),
                help="keep such values in local variables, or sample with incremental=False",
            )
        out = self.slot(value)
        self.steps.append(TapeStep(kind, function, args, out))
        return out

    def guard(self, slot: int, value: Any, what: str) -> None:
        """Add a guard that this slot has this value. what: the use that needs it."""
        kind = StepKind.SAME
        if type(value) is bool and type(self.slots[slot]) is bool:
            kind = StepKind.TRUE if value else StepKind.FALSE
        if (kind, slot) in self.guarded:
            return
        self.guarded.add((kind, slot))
        args = (slot, self.slot(value)) if kind is StepKind.SAME else (slot,)
        self.steps.append(TapeStep(kind, None, args, NO_SLOT))
        self.fixed.append(Fixed(what, place()))

    def note(self, name: str, site: TapeSite) -> None:
        """Add a site."""
        if name in self.sites:
            refuse_duplicate(name)
        self.sites[name] = site

    def note_row(self, row: Any) -> None:
        """Note a row of a table, or a copy, as it is now."""
        self._rows.append((row, tuple(row)))

    def has_changed_row(self) -> bool:
        """Whether the program has written to a row of a table: the copy is not the row then."""
        return any(
            len(row) != len(parts) or any(map(operator.is_not, row, parts))
            for row, parts in self._rows
        )

    def chosen_by(self, stack: Any) -> str:
        """The part of values by which methods of the tables in force are chosen: "type" or "value";
        "" where there is only the table that records.
        """
        known, found = self._chosen_by
        if known is not stack or stack is None:
            tables = () if stack is None else stack.tables
            parts = {method.depends_on for table in tables for method in table.methods()}
            found = "type" if parts <= {"type", "array"} else "value"
            found = found if len(tables) > 1 else ""
            self._chosen_by = (stack, found)
        return found

    # ---- queries ----

    def distribution(self, site: TapeSite) -> Any:
        """The distribution of a site for the current choices."""
        slots = self.slots
        return rebuilt(site.shape, iter([slots[k] for k in site.parameters]))

    def site(self, name: str) -> Site:
        """A site for the current choices."""
        it, slots = self.sites[name], self.slots
        return Site(self.distribution(it), slots[it.value], slots[it.score], it.observed)

    def recomputed(self, values: dict[str, Any]) -> list[Any] | None:
        """The slots for other values of the choices; None if a guard fails."""
        slots = list(self.slots)
        for name, site in self.sites.items():
            if not site.observed:
                slots[site.value] = values[name]
        for kind, function, args, out in self.steps:
            if function is not None:
                slots[out] = function(*[slots[k] for k in args])
            elif not holds(kind, [slots[k] for k in args]):
                return None
        return slots


def holds(kind: StepKind, values: list[Any]) -> bool:
    """Whether a guard holds."""
    if kind is StepKind.SAME:
        return identical(*values)
    return values[0] is (kind is StepKind.TRUE)


def identical(one: Any, other: Any) -> bool:
    """Whether two values have one class and no program can distinguish them: ``1`` and ``1.0`` are
    not identical, nor ``0.0`` and ``-0.0``; nan is not identical to itself."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(identical, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and _same_array(one, other)
    if isinstance(one, (float, np.floating)):
        return bool(one == other) and math.copysign(1.0, one) == math.copysign(1.0, other)
    return bool(one == other)


def _same_array(one: Any, other: Any) -> bool:
    equal = bool(np.all(one == other))
    return equal and (one.dtype.kind != "f" or bool(np.all(np.signbit(one) == np.signbit(other))))
