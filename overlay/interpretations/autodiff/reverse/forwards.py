"""The forward pass of an adjoint: lines that run the program, and store values for the backward
pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from overlay.interpretations.autodiff.reverse.reverse_program import (
    Carried,
    Effect,
    KnownBefore,
    ReverseCall,
    ReverseFork,
    ReverseLoop,
    ReverseValue,
    StatementRegion,
    Steps,
    Write,
    leaves,
)
from overlay.interpretations.autodiff.reverse.source_text import AdjointWriter
from overlay.kernels import local_array

__all__ = ["Forwards", "is_one"]


class Forwards(AdjointWriter):
    """Writes the statements of a pass."""

    def forward(self, region: StatementRegion, loop: ReverseLoop | None) -> None:
        runs = self.needs.runs[loop]
        for op in region.ops:
            if op not in runs:
                continue
            match op:
                case ReverseCall():
                    self._call(op, loop)
                case Write():
                    self.line(f"{op.array.name}[{self.index(op.index)}] = {self.text(op.value)}")
                case Effect():
                    self.line(op.source)
                case ReverseFork():
                    self._fork(op, loop)
                case ReverseLoop():
                    self._loop(op, loop)
                case _:
                    pass

    def _call(self, op: ReverseCall, loop: ReverseLoop | None) -> None:
        kept = self.kept.get(op)
        if kept is not None and self.needs.rereads(op, loop):
            self.line(f"{op.out.name} = {self._as_it_is(op, f'{kept}[at_{kept}]')}")
            self.line(f"at_{kept} += 1")
            return
        text = self.filled(op.pullback.text, op, {}, copies=False)
        if text.startswith("(") and text.endswith(")") and _is_closed(text[1:-1]):
            text = text[1:-1]
        if op.pullback.is_view and any(self._is_written(m) for m in op.reads):
            text = f"np.copy({text})"
            self.makes(f"a copy of {self.text(op.args[0])}", op.where)
        if op.out.kind.ndim and not op.pullback.is_view and op.out not in self.locals:
            self.makes(op.out.name, op.where)
        shown = op.where.rpartition("/")[2]
        comment = f"  # {shown}" if shown and shown != self.where else ""
        self.where = shown or self.where
        self.line(f"{op.out.name} = {text}{comment}")
        if kept is not None and self.needs.visits(op, loop):
            self.line(f"{kept}.append({self._as_it_is(op, op.out.name)})")
            self.line(f"at_{kept} += 1")

    def _as_it_is(self, op: ReverseCall, text: str) -> str:
        """The result of a call, copied if it is written to later."""
        memory = op.out.memory
        return f"np.copy({text})" if memory is not None and self._is_written(memory) else text

    @staticmethod
    def _is_written(memory: Any) -> bool:
        return memory.is_own and memory.version > 0

    def _fork(self, op: ReverseFork, loop: ReverseLoop | None) -> None:
        wanted = [each for each in op.outs if each.out in self.needs.needed]
        runs = self.needs.runs[loop]
        with self.block(f"if {op.condition.name}:"):
            self.forward(op.yes, loop)
            for each in wanted:
                self._set(each.out, each.yes)
        if wanted or any(each in runs for each in op.no.ops):
            with self.block("else:"):
                self.forward(op.no, loop)
                for each in wanted:
                    self._set(each.out, each.no)

    def _set(self, value: ReverseValue, operand: Any) -> None:
        if operand is not value:
            self.line(f"{value.name} = {self.text(operand)}")

    def _loop(self, op: ReverseLoop, loop: ReverseLoop | None) -> None:
        live = self.needs.carried[loop, op]
        tapes = (op.around[-1] if op.around else None) is loop and op in self.needs.taped
        for each in live:
            if each.first is not None:
                self._set(each.param, each.first)
        if op.code is not None and op.code.first is not None:
            self._set(op.code.param, op.code.first)
        if tapes:
            self._begin_tapes(op)
        with self.block("while True:" if op.steps is None else self._forward_header(op)):
            if tapes:
                self._keep_turn(op)
            for call, kept in self.kept.items():
                if call.loops[: self.needs.home(call)][-1:] == (op,) and loop is op:
                    self._begin_kept(kept)
            self.forward(op.body, loop)
            self._carry(live)
            if op.code is not None:
                self.line(f"{op.code.param.name} = {self.text(op.code.last)}")
                with self.block(f"if {op.code.param.name}:"):
                    self.line("break")

    def _forward_header(self, op: ReverseLoop) -> str:
        assert op.steps is not None
        shown = [self.text(each) for each in (op.steps.start, op.steps.stop, op.steps.step)]
        if shown[2] == "1":
            shown = shown[shown[0] == "0" : 2]
        return f"for {op.index.name} in range({', '.join(shown)}):"

    def _begin_tapes(self, op: ReverseLoop) -> None:
        if op.code is not None:
            self.line(f"{op.trips} = 0")
        for param in self.needs.taped[op]:
            if self._is_row(op, param):
                start, stop = self.text(_steps_of(op).start), self.text(_steps_of(op).stop)
                count = stop if start == "0" else f"{stop} - {start}"
                self.line(f"tape_{param.name} = {self._row(count)}")
            else:
                self.makes(f"a list of what {param.name} is in each turn of a loop")
                self.line(f"tape_{param.name} = []")
        for call, kept in self.kept.items():
            if op in call.loops[self.needs.home(call) :]:
                self.line(f"tape_at_{kept}_{op.index.name} = []")

    def _row(self, count: str) -> str:
        """A new array for the values of a variable in each iteration of a loop."""
        if self.form.is_for_kernel and count.isdigit():
            self.space["tape_of"] = local_array
            return f"tape_of({count})"
        self.makes("an array with what a variable is in each turn, of a loop of unknown length")
        return f"np.empty({count if count.isdigit() else f'max({count}, 0)'})"

    def _is_row(self, op: ReverseLoop, param: ReverseValue) -> bool:
        """Whether the values of a carried variable are stored in an array, with a known number of
        iterations."""
        return (
            op.code is None
            and op.steps is not None
            and is_one(op)
            and param.kind.dtype == "f"
            and not param.kind.ndim
        )

    def _turn(self, op: ReverseLoop) -> str:
        start = self.text(_steps_of(op).start)
        return op.index.name if start == "0" else f"{op.index.name} - {start}"

    def _keep_turn(self, op: ReverseLoop) -> None:
        if op.code is not None:
            self.line(f"{op.trips} += 1")
        for param in self.needs.taped[op]:
            if self._is_row(op, param):
                self.line(f"tape_{param.name}[{self._turn(op)}] = {param.name}")
            else:
                self.line(f"tape_{param.name}.append({param.name})")
        for call, kept in self.kept.items():
            if op in call.loops[self.needs.home(call) :]:
                self.line(f"tape_at_{kept}_{op.index.name}.append(at_{kept})")

    def _carry(self, live: Sequence[Carried]) -> None:
        moved = [each for each in live if each.last is not each.param]
        params = {each.param for each in live}
        if any(v in params for each in moved for v in leaves(each.last)) and len(moved) > 1:
            left = ", ".join(each.param.name for each in moved)
            self.line(f"{left} = {', '.join(self.text(each.last) for each in moved)}")
            return
        for each in moved:
            self._set(each.param, each.last)

    def _begin_kept(self, kept: str) -> None:
        self.makes("a list of what is read of an array that is written to")
        self.line(f"{kept} = []")
        self.line(f"at_{kept} = 0")


def _steps_of(op: ReverseLoop) -> Steps:
    """The range of a loop that is no ``while`` loop."""
    assert op.steps is not None
    return op.steps


def is_one(op: ReverseLoop) -> bool:
    return op.steps is not None and op.steps.step == KnownBefore(1)


def _is_closed(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char in "([") - (char in ")]")
        if depth < 0:
            return False
    return depth == 0
