"""Variables of a program that is being lifted, and names in generated source."""

from __future__ import annotations

import builtins
import keyword
import math
from typing import Any

import numpy as np

from overlay.code.record import FunctionReads
from overlay.interpretations.autodiff.reverse.operands import kind_of_array
from overlay.interpretations.autodiff.reverse.reverse_program import (
    KnownBefore,
    Memory,
    NumberKind,
    ReverseLoop,
    ReverseValue,
    StatementRegion,
)

__all__ = ["Naming"]


class Naming:
    """The part of a program that is lifted so far, and its names.

    users: the user's rules. readings: the reads of its functions. attributes: other reads, each
    with object, name and value. containers: those of functions from outside, with what is in them.
    unrolled: the operands of variables before and after loops that are unrolled. captured: arrays
    from outside, by name. env: the variables and the contents of what the program makes, at the
    current place. starts: those at the beginning of each loop around. appended: how often the
    innermost loop appends to a list in an array. floats: the lists that have other than whole
    numbers later. guarded: the classes of exceptions that the program handles at this place.
    generated: the code of adjoints that are part of the program. is_compiled: whether numba
    compiles the adjoint. is_for_kernel: whether it is compiled for a GPU.
    """

    def __init__(self, users: Any) -> None:
        self.users = users
        self.readings: list[FunctionReads] = []
        self.attributes: list[tuple[Any, str, Any]] = []
        self.unrolled: list[tuple[Any, Any]] = []
        self.containers: list[tuple[Any, dict[Any, Any]]] = []
        self.captured: dict[str, Any] = {}
        self.space: dict[str, Any] = {"math": math, "np": np}
        self.region = StatementRegion(None)
        self.loops: tuple[ReverseLoop, ...] = ()
        self.env: dict[Any, Any] = {}
        self.starts: list[dict[Any, Any]] = []
        self.appended: dict[Any, int] = {}
        self.floats: set[Any] = set()
        self.guarded: tuple[type, ...] = ()
        self.generated: set[Any] = set()
        self._active: list[Any] = []
        self._names: dict[str, int] = {}
        self._held: dict[int, ReverseValue] = {}
        self.memories: list[Memory] = []
        self.is_compiled = False
        self.is_for_kernel = False
        self.reads_attributes = False  # of arrays, or creates arrays from numbers
        self._place = 0
        self.where = ""

    @property
    def is_generated(self) -> bool:
        """Whether the function that is inlined now is an adjoint."""
        return bool(self._active) and self._active[-1] in self.generated

    # ---- names ----

    def fresh(self, stem: str) -> str:
        """A new variable name."""
        stem = "".join(c if c.isalnum() else "_" for c in stem).strip("_") or "t"
        stem = f"t{stem}" if stem[0].isdigit() else stem
        if stem.startswith(_PREFIXES) or stem in ("math", "np"):
            stem = f"v_{stem}"
        count = self._names.get(stem, 0)
        while True:
            name = f"{stem}_{count}" if count or stem in _RESERVED else stem
            name = f"v_{name}" if name.startswith(_PREFIXES) else name
            count += 1
            if name not in self._names:  # the program may have a variable x_1, too
                break
        self._names[stem] = count
        self._names.setdefault(name, 1)
        return name

    def name(self, function: Any) -> str:
        """The expression for a function in generated source."""
        short = getattr(function, "__name__", "function")
        for module, prefix in _MODULES:
            if getattr(module, short, None) is function:
                return f"{prefix}{short}"
        return self.hold(function, short)

    def hold(self, value: Any, stem: str) -> str:
        """The name of an object in the namespace of the generated source."""
        for name, held in self.space.items():
            if held is value:
                return name
        name = self.fresh(stem)
        self.space[name] = value
        return name

    def value(self, stem: str, kind: NumberKind) -> ReverseValue:
        """A new variable of the current region."""
        return ReverseValue(self.fresh(stem), kind, self.region)

    # ---- backtracking ----

    def mark(self) -> Any:
        memories = [(m, m.version, m.last, set(m.written_in)) for m in self.memories]
        uses = [(loop, len(loop.uses)) for loop in self.loops]
        known = dict(self.region.known)
        return len(self.region.ops), dict(self._names), self._place, memories, uses, known

    def back_to(self, mark: Any) -> None:
        """Restore the state of a mark."""
        ops, self._names, self._place, memories, uses, known = mark
        del self.region.ops[ops:]
        self.region.known = known
        del self.memories[len(memories) :]
        for memory, version, last, written in memories:
            memory.version, memory.last, memory.written_in = version, last, written
        for loop, count in uses:
            del loop.uses[count:]

    # ---- constants ----

    def constant(self, value: Any) -> Any:
        """The operand for a constant of the program."""
        if isinstance(value, np.ndarray) and type(value) is np.ndarray:
            return self._array_from_outside(value)
        if isinstance(value, tuple) and type(value) is tuple:
            return tuple(map(self.constant, value))
        return KnownBefore(value)

    def _array_from_outside(self, array: Any) -> Any:
        held = self._held.get(id(array))
        if held is None:
            kind = kind_of_array(array)
            held = self._held[id(array)] = ReverseValue(self.fresh("array"), kind)
            held.memory = Memory((), is_own=False)
            self.captured[held.name] = array
        return held


_MODULES: tuple[tuple[Any, str], ...] = (
    (builtins, ""),
    (math, "math."),
    (np, "np."),
    (np.linalg, "np.linalg."),
)
# prefixes of names that the adjoint itself uses
_PREFIXES = ("d_", "e_", "p_", "by_", "tape_", "kept_", "at_", "then_", "turn_", "onto_")
_RESERVED = {*keyword.kwlist, *dir(builtins), "math", "np"}
