"""Builder of a block's statements from instructions, on a symbolic stack.

The slots of the stack hold names: those of the program's variables, and names that begin with
``$`` for steps of expressions, each set once in its block.
"""

from __future__ import annotations

from collections.abc import Sequence
from dis import Positions
from itertools import takewhile
from types import CodeType
from typing import Any

from overlay.code.body import Apply, ConstantValue, Copy, Statement
from overlay.code.decoding import Instruction, call_slots
from overlay.code.effects import follow
from overlay.code.scopes import Scope
from overlay.core.location import shown

__all__ = ["NULL", "SLOT", "Statements"]

# the stack slots at a block's entry: $s0, $s1, ...
SLOT = "$s"
NULL = "$null"
_UNKNOWN = "$?"


class Statements:
    """Builder of the statements of one code object, block by block.

    constants: the values of constant steps. packs: for steps that are tuples, the variables of
    their items. matches: for steps that test an exception's class, the classes. where:
    ``file:line`` of the statements that are added.
    """

    def __init__(self, code: CodeType, scope: Scope) -> None:
        self.code = code
        self.scope = scope
        self.statements: list[Statement] = []
        self.stack: list[str] = []
        self.constants: dict[str, Any] = {}
        self.packs: dict[str, tuple[str, ...]] = {}
        self.matches: dict[str, tuple[Any, ...]] = {}
        self._count = 0
        self._file = shown(code.co_filename, None)
        self._line: int | None = -1
        self.where = ""
        self._at = Positions()

    def begin(self, stack: list[str], *, is_first: bool = False) -> None:
        """Begin a new block, with these variables on the stack."""
        free = self.scope.free.items() if is_first else ()
        self.statements, self.stack = [ConstantValue(name, value) for name, value in free], stack

    def at(self, ins: Instruction) -> None:
        """Set the source position of the next statements to this instruction's, if it has a
        line."""
        self._at, line = ins.at, ins.at.lineno
        if line != self._line and (line is not None or not self.where):
            self.where = self._file if line is None else f"{self._file}:{line}"
            self._line = line

    # ---- statements ----

    def fresh(self) -> str:
        """Return a new name for a step."""
        self._count += 1
        return f"${self._count}"

    def constant(self, value: Any, read: str | None = None) -> str:
        """Add a step that holds a constant. read: the global name that it is read from."""
        name = self.fresh()
        where = "" if read is None else self.where
        self.statements.append(ConstantValue(name, value, read, where))
        self.constants[name] = value
        return name

    def constant_at_first(self, value: Any) -> str:
        """Add a step that holds a constant, at the beginning of the block."""
        name = self.constant(value)
        self.statements.insert(0, self.statements.pop())
        return name

    def apply(
        self,
        function: Any,
        *args: str,
        kwargs: Sequence[tuple[str, str]] = (),
        native: Any = None,
        instruction: str = "",
    ) -> str:
        """Add a step that holds a call's result. native, instruction: see ``Apply``."""
        name = self.fresh()
        where, at = self.where, self._at
        step = Apply(name, function, args, tuple(kwargs), where, native, instruction, at)
        self.statements.append(step)
        return name

    def store(self, name: str) -> None:
        """Pop a value from the stack into a variable."""
        value = self.stack.pop()
        if value == name:
            return
        if name in self.stack:  # slots loaded from the variable keep its old value
            kept = self.fresh()
            self.statements.append(Copy(kept, name, self.where))
            self.stack = [kept if each == name else each for each in self.stack]
        self.statements.append(Copy(name, value, self.where))

    def items(self, value: str) -> tuple[str | None, ...]:
        """The variables of a tuple's items; a single None if they are not known."""
        if value in self.packs:
            return self.packs[value]
        held = self.constants.get(value)
        if type(held) is tuple:
            return tuple(map(self.constant_at_first, held))
        return (None,)

    # ---- the stack ----

    def push(self, value: str, ins: Instruction) -> None:
        """Push a value, with a NULL slot beside it if it is pushed to be called."""
        self.stack += call_slots(value, NULL) if ins.for_call else [value]

    def follow(self, ins: Instruction) -> None:
        """Apply an instruction's stack effect; the values that it pushes are new steps."""
        follow(ins.op, ins.arg, self.stack, _UNKNOWN)
        self.stack = [self.fresh() if each == _UNKNOWN else each for each in self.stack]

    def taken(self, ins: Instruction) -> tuple[str, ...]:
        """Apply an instruction's stack effect; return the values that it pops."""
        before = list(self.stack)
        self.follow(ins)
        kept = takewhile(lambda pair: pair[0] == pair[1], zip(before, self.stack, strict=False))
        return tuple(name for name in before[len(list(kept)) :] if name != NULL)

    def take(self, count: int) -> tuple[str, ...]:
        """Pop ``count`` values, and return them lowest first."""
        first = len(self.stack) - count
        taken = tuple(self.stack[first:])
        del self.stack[first:]
        return taken
