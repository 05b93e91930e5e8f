"""Analysis of an adjoint: the statements to recompute, and the values to store.

An adjoint runs the program forwards, and then backwards. The body of a loop is traversed backwards
iteration by iteration; each is first recomputed from the variables carried into it. Each of these
recomputations is a *pass* over a region: the pass over the whole program is None, and that over one
iteration of a loop is the loop.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from overlay.interpretations.autodiff.reverse.pullbacks import Pullback
from overlay.interpretations.autodiff.reverse.reverse_program import (
    Carried,
    Effect,
    Memory,
    ReverseCall,
    ReverseFork,
    ReverseLoop,
    ReverseValue,
    StatementRegion,
    Write,
    leaves,
)

__all__ = [
    "Needs",
    "adds_up",
    "every",
    "inner_regions",
    "mark_active",
    "mixes",
    "operands_of",
    "targets",
]


def targets(call: ReverseCall) -> Iterator[tuple[Any, str | None]]:
    """The arguments of a call, with the lines of their adjoints."""
    of = call.args[0] if call.pullback.of_items else call.args
    yield from zip(of, call.pullback.back, strict=False)


def inner_regions(op: Any) -> tuple[StatementRegion, ...]:
    """The regions of a branch or a loop."""
    if isinstance(op, ReverseFork):
        return op.yes, op.no
    return (op.body,) if isinstance(op, ReverseLoop) else ()


def every(region: StatementRegion) -> Iterator[Any]:
    """All statements of a region, nested ones included."""
    for op in region.ops:
        yield op
        for inner in inner_regions(op):
            yield from every(inner)


# ---- activity analysis --------------------------------------------------------------------


def mark_active(region: StatementRegion, active: list[ReverseValue], result: Any) -> None:
    """Mark the variables that depend on the active arguments, and those on which the result
    depends."""
    for value in active:
        value.is_active = True
    for value in leaves(result):
        value.is_useful = True
    ops = list(every(region))
    while _forwards(ops) | _backwards(ops):
        pass


def _flows(op: Any) -> Iterator[tuple[Any, Any]]:
    """The pairs of variables between which derivatives flow."""
    match op:
        case ReverseCall():
            for source, line in targets(op):
                if line is not None:
                    yield source, op.out
        case Write():
            yield op.value, op.array
        case ReverseFork():
            for out in op.outs:
                yield out.yes, out.out
                yield out.no, out.out
        case ReverseLoop():
            for each in op.carried:
                yield each.first, each.param
                yield each.last, each.param
        case _:
            return


def _forwards(ops: list[Any]) -> bool:
    changed = False
    for op in ops:
        for source, out in _flows(op):
            if isinstance(source, ReverseValue) and source.is_active and source.is_float:
                changed |= not out.is_active
                out.is_active = True
    return changed


def _backwards(ops: list[Any]) -> bool:
    changed = False
    for op in reversed(ops):
        for source, out in _flows(op):
            if isinstance(source, ReverseValue) and out.is_useful:
                changed |= not source.is_useful
                source.is_useful = True
    return changed


# ---- passes -------------------------------------------------------------------------------


class Needs:
    """The statements of each pass.

    runs: for each pass the statements that run in it. carried: for each pass and loop the variables
    that the loop carries there. taped: for each loop the variables whose value at the start of each
    iteration is stored.
    """

    def __init__(self, region: StatementRegion, result: Any) -> None:
        self.region = region
        self.shapes = {v for v in leaves(result) if v.kind.ndim and v.matters}
        self.runs: dict[ReverseLoop | None, set[Any]] = {}
        self.carried: dict[tuple[ReverseLoop | None, ReverseLoop], list[Carried]] = {}
        self.taped: dict[ReverseLoop, list[ReverseValue]] = {}
        self._copied = 0
        self._copy_what_changes(region)
        self.needed: set[ReverseValue] = set()
        self._pass(None, region)

    # ---- arrays that are written to ----

    def _copy_what_changes(self, region: StatementRegion) -> None:
        """Insert a copy of an array that is written to after its use, if the adjoint of that use
        needs it."""
        for op in list(region.ops):
            for inner in inner_regions(op):
                self._copy_what_changes(inner)
            if not isinstance(op, ReverseCall) or not op.out.matters:
                continue
            for place, arg in enumerate(op.args):
                if (
                    isinstance(arg, ReverseValue)
                    and _changes(arg.memory, op)
                    and _is_read(op, place)
                ):
                    self._copied += 1
                    copied = ReverseValue(f"then_{self._copied}", arg.kind, region)
                    pullback = Pullback(np.copy, arg.kind, "np.copy({0})", (None,))
                    call = ReverseCall(copied, pullback, (arg,), op.place, op.loops, op.where)
                    region.ops.insert(region.ops.index(op), call)
                    op.copies[place] = copied

    @staticmethod
    def rereads(call: ReverseCall, loop: ReverseLoop | None) -> bool:
        """Whether a call, in a pass, reads an array that was written to since the call was first
        made."""
        return any(
            _changes(m, call) and loop is not None and loop not in m.loops for m in call.reads
        )

    @staticmethod
    def home(call: ReverseCall) -> int:
        """The number of loops that enclose all arrays that a call reads and that are written to
        later."""
        return min(len(m.loops) for m in call.reads if _changes(m, call))

    def visits(self, call: ReverseCall, loop: ReverseLoop | None) -> bool:
        """Whether a pass visits a call whose results are stored, to count them."""
        home = self.home(call)
        passes = (*([None] if home == 0 else [call.loops[home - 1]]), *call.loops[home:-1])
        return call.is_kept and loop in passes

    # ---- one pass ----

    def _pass(self, loop: ReverseLoop | None, region: StatementRegion) -> set[ReverseValue]:
        """Determine the statements of a pass, and return the outer variables that it needs."""
        roots = self._backward_needs(region) | (self.shapes if loop is None else set())
        while True:
            need, runs = set(roots), set[Any]()
            while True:
                before = len(need), len(runs)
                self._run(region, need, runs, loop)
                if (len(need), len(runs)) == before:
                    break
            kept = [
                c
                for c in runs
                if isinstance(c, ReverseCall) and self.rereads(c, loop) and c.out in need
            ]
            new = [call for call in kept if not call.is_kept]
            for call in new:
                call.is_kept = True
            if not new:
                break
        self.runs[loop] = runs
        self.needed |= need
        return need - self.defined(region)

    def defined(self, region: StatementRegion) -> set[ReverseValue]:
        found: set[ReverseValue] = set()
        for op in every(region):
            match op:
                case ReverseCall():
                    found.add(op.out)
                case ReverseFork():
                    found |= {each.out for each in op.outs}
                case ReverseLoop():
                    found |= {each.param for each in op.carried} | {op.index}
                    if op.code is not None:
                        found.add(op.code.param)
                case _:
                    pass
        return found

    def _backward_needs(self, region: StatementRegion) -> set[ReverseValue]:
        """The variables, own and outer, that the backward pass over a region needs."""
        found: set[ReverseValue] = set()
        for op in region.ops:
            match op:
                case ReverseCall() if op.out.matters:
                    found |= set(self._needs_of(op))
                case Write() if op.array.matters:
                    found |= set(leaves(op.index)) | {op.array}
                    if isinstance(op.value, ReverseValue) and op.value.kind.ndim:
                        found.add(op.value)
                case ReverseFork():
                    inner = self._backward_needs(op.yes) | self._backward_needs(op.no)
                    if inner or any(each.out.matters for each in op.outs):
                        found |= inner | {op.condition}
                    for each in op.outs:
                        if each.out.matters:
                            found |= {v for v in leaves((each.yes, each.no)) if v.kind.ndim}
                case ReverseLoop():
                    found |= self._needs_of_loop(op)
                case _:
                    pass
        return found

    def _needs_of(self, call: ReverseCall) -> Iterator[ReverseValue]:
        for place, (source, line) in enumerate(targets(call)):
            if line is None or not isinstance(source, ReverseValue) or not source.matters:
                continue
            if source.kind.ndim:
                yield source
            for name in call.pullback.reads[place]:
                yield from self._named(call, name)

    @staticmethod
    def _named(call: ReverseCall, name: str) -> Iterator[ReverseValue]:
        if name == "r":
            yield call.out
        elif name[0].isdigit():
            first, _, item = name.partition("_")
            arg: Any = call.copies.get(int(first), call.args[int(first)])
            yield from leaves(arg[int(item)] if item else arg)

    def _needs_of_loop(self, loop: ReverseLoop) -> set[ReverseValue]:
        outside = self._pass(loop, loop.body)
        params = [each.param for each in loop.carried]
        self.taped[loop] = [param for param in params if param in outside]
        for each in loop.carried:
            if each.param.matters and each.param.kind.ndim:
                outside |= set(leaves((each.first,)))
                if each.param not in self.taped[loop]:
                    self.taped[loop].append(each.param)
        outside -= {*params, loop.index}
        if loop.steps is not None:
            outside |= set(leaves(loop.steps))
        return outside

    # ---- forward runs ----

    def _run(
        self,
        region: StatementRegion,
        need: set[ReverseValue],
        runs: set[Any],
        loop: ReverseLoop | None,
    ) -> None:
        """Determine the statements that have to run to compute the needed variables."""
        for op in reversed(region.ops):
            match op:
                case ReverseCall():
                    counts = bool(op.is_kept and self.visits(op, loop))
                    guards = op.is_guarded and loop is None
                    if op.out in need or counts or guards:
                        runs.add(op)
                        if not self.rereads(op, loop):
                            need |= set(leaves(op.args))
                case Write():
                    own = op.array.memory
                    if op.array in need and own is not None and (loop is None or loop in own.loops):
                        runs.add(op)
                        need |= set(leaves((op.index, op.value)))
                case Effect() if loop is None:
                    runs.add(op)
                case ReverseFork():
                    self._run_fork(op, need, runs, loop)
                case ReverseLoop():
                    self._run_loop(op, need, runs, loop)
                case _:
                    pass

    def _run_fork(
        self, op: ReverseFork, need: set[ReverseValue], runs: set[Any], loop: ReverseLoop | None
    ) -> None:
        wanted = [each for each in op.outs if each.out in need]
        for each in wanted:
            need |= set(leaves((each.yes, each.no)))
        self._run(op.yes, need, runs, loop)
        self._run(op.no, need, runs, loop)
        if wanted or any(each in runs for arm in (op.yes, op.no) for each in arm.ops):
            runs.add(op)
            need.add(op.condition)

    def _run_loop(
        self, op: ReverseLoop, need: set[ReverseValue], runs: set[Any], loop: ReverseLoop | None
    ) -> None:
        tapes = (op.around[-1] if op.around else None) is loop
        wanted = set(self.taped.get(op, ())) if tapes else set[ReverseValue]()
        counts = tapes and op.code is not None and op in self.taped and self._goes_back(op)
        live = self.carried.setdefault((loop, op), [])
        while True:
            for each in op.carried:
                if each not in live and (each.param in need or each.param in wanted):
                    live.append(each)
            need |= {v for each in live for v in leaves((each.last, each.first))}
            before = len(need), len(runs)
            code = op.code is not None and (op.code.param in need or counts or bool(live))
            if code or (op.code is not None and any(each in runs for each in op.body.ops)):
                assert op.code is not None
                need |= set(leaves(op.code.last))
            self._run(op.body, need, runs, loop)
            if (len(need), len(runs)) == before:
                break
        if live or code or any(each in runs for each in op.body.ops):
            runs.add(op)
            need |= set(leaves(op.steps))

    def _goes_back(self, loop: ReverseLoop) -> bool:
        """Whether the backward pass traverses a loop."""
        if any(each.param.matters for each in loop.carried):
            return True
        return any(
            (isinstance(op, ReverseCall) and op.out.matters)
            or (isinstance(op, Write) and op.array.matters)
            for op in every(loop.body)
        )


def mixes(region: StatementRegion, unrolled: Sequence[tuple[Any, Any]], *, numbers: bool) -> bool:
    """Whether an array is constant on one path and active on another: compiled code, where it has
    one type, does not convert it. unrolled: the operands of variables before and after loops that
    compiled code has in one piece. numbers: whether numbers count too, as in kernels."""
    paired: list[tuple[Any, tuple[Any, ...]]] = [(after, (before,)) for before, after in unrolled]
    for op in every(region):
        if isinstance(op, ReverseFork):
            paired += [(each.out, (each.yes, each.no)) for each in op.outs]
        elif isinstance(op, ReverseLoop):
            paired += [(each.param, (each.first, each.last)) for each in op.carried]
    return any(
        _is_active(out)
        and (numbers or out.kind.ndim > 0)
        and any(o is not None and not _is_active(o) for o in operands)
        for out, operands in paired
    )


def _is_active(operand: Any) -> bool:
    return isinstance(operand, ReverseValue) and operand.is_active


# ---- sums ---------------------------------------------------------------------------------


def adds_up(loop: ReverseLoop, each: Carried) -> Any:
    """The statement of an iteration that adds to a carried variable, if that is the variable's only
    use: then its adjoint is equal in all iterations. Else None."""
    used = [(op, v) for op in every(loop.body) for v in operands_of(op)]
    uses = [op for op, v in used if v is each.param]
    again = sum(v is each.last for _, v in used)
    if len(uses) != 1 or each.last is each.param:
        return None
    for op in loop.body.ops:
        if isinstance(op, ReverseCall) and op.out is each.last and op is uses[0] and not again:
            adds = op.pullback.function in (operator.add, operator.sub)
            return op if adds and op.args[0] is each.param and not each.param.kind.ndim else None
        if isinstance(op, ReverseLoop) and op is uses[0] and again == 1:
            inner = [c for c in op.carried if c.param is each.last and c.first is each.param]
            return op if inner and adds_up(op, inner[0]) is not None else None
    return None


def operands_of(op: Any) -> Iterator[ReverseValue]:
    """The variables that a statement reads, without those of the statements in it."""
    match op:
        case ReverseCall():
            yield from leaves(op.args)
        case Write():
            yield from leaves((op.array, op.index, op.value))
        case ReverseFork():
            yield op.condition
            for each in op.outs:
                yield from leaves((each.yes, each.no))
        case ReverseLoop():
            yield from leaves(op.steps)
            for each in op.carried:
                yield from leaves(each.first)
                if each.last is not each.param:
                    yield from leaves(each.last)
            if op.code is not None:
                yield from leaves(op.code.last)
        case _:
            return


def _changes(memory: Memory | None, call: ReverseCall) -> bool:
    """Whether an array is written to after a call, or in another iteration."""
    if memory is None or not memory.is_own:
        return False
    turns = call.loops[len(memory.loops) :]
    return memory.last > call.place or any(loop in memory.written_in for loop in turns)


def _is_read(call: ReverseCall, place: int) -> bool:
    """Whether the adjoint of an argument is computed from the value of the argument at
    ``place``."""
    for (source, line), names in zip(targets(call), call.pullback.reads, strict=False):
        matters = isinstance(source, ReverseValue) and source.matters and line is not None
        if matters and str(place) in names:
            return True
    return False
