"""The backward pass of an adjoint: lines that accumulate adjoints in reverse order."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

from overlay.interpretations.autodiff.reverse.forwards import Forwards, is_one
from overlay.interpretations.autodiff.reverse.needs import adds_up, every, targets
from overlay.interpretations.autodiff.reverse.pullbacks import kind_of
from overlay.interpretations.autodiff.reverse.reverse_program import (
    FLOAT,
    INT,
    Carried,
    KnownBefore,
    ReverseCall,
    ReverseFork,
    ReverseLoop,
    ReverseValue,
    Span,
    StatementRegion,
    Write,
    leaves,
)
from overlay.interpretations.autodiff.reverse.running import onto_1, onto_2, onto_many
from overlay.interpretations.autodiff.reverse.structure import Unreadable
from overlay.kernels import atomic_add

__all__ = ["Backwards"]

_ONTO = {1: onto_1, 2: onto_2}
WHOLE_SHARED = (
    "it reads a whole array, or a part of one, to whose gradient several threads add at once"
)
BY_ELEMENT = "read the array by its elements, in a loop; or add to an array of each thread's own"


class Backwards(Forwards):
    """Writes the backward pass. begun: the variables whose adjoints are initialised."""

    def contribute(self, value: Any, change: str, begun: set[ReverseValue]) -> None:
        """Add to the adjoint of a variable."""
        if not isinstance(value, ReverseValue) or not value.matters:
            return
        if value.kind.ndim:
            self._begin(value, begun)
        sign = "+=" if value in begun else "="
        begun.add(value)
        if value in self.shared:
            raise Unreadable(WHOLE_SHARED, help=BY_ELEMENT)
        self.line(f"d_{value.name} {sign} {change}")

    def _begin(self, value: ReverseValue, begun: set[ReverseValue]) -> None:
        if value in begun:
            return
        begun.add(value)
        if value in self.views:
            source = self.views[value].args[0]
            self._begin(source, begun)
            line = self.filled(self.views[value].pullback.text, self.views[value], {})
            self.line(f"d_{value.name} = d_{line}")
            if source in self.shared:
                self.shared.add(value)
        elif value in self.locals:
            made = self.locals[value]
            self.line(f"d_{value.name} = {self.filled(made.pullback.text, made, {})}")
            self.line(f"d_{value.name}[:] = 0.0")
        else:
            self.line(f"d_{value.name} = {self._zero(value)}")

    def backward(
        self, region: StatementRegion, loop: ReverseLoop | None, begun: set[ReverseValue]
    ) -> None:
        for op in reversed(region.ops):
            if not isinstance(op, ReverseCall) or op.out.kind.ndim:
                self._add_to_elements()
            match op:
                case ReverseCall() if op.out in begun and op.out.matters:
                    self._call_back(op, begun)
                case Write() if op.array in begun and op.array.matters:
                    self._write_back(op, begun)
                case ReverseFork() if self._reaches(op, begun):
                    self._fork_back(op, loop, begun)
                case ReverseLoop() if self._reaches(op, begun):
                    self._loop_back(op, begun)
                case _:
                    pass
        self._add_to_elements()

    def _add_to_elements(self) -> None:
        """Add to elements of adjoints, in the order in which the program reads the elements: memory
        that one iteration of a loop writes is then cached for the next."""
        for line in reversed(self.elements):
            self.line(line)
        self.elements.clear()

    def _reaches(self, op: Any, begun: set[ReverseValue]) -> bool:
        """Whether a nonzero adjoint flows into a branch or loop."""
        if any(out in begun for out in _outs(op)):
            return True
        regions = (op.yes, op.no) if isinstance(op, ReverseFork) else (op.body,)
        writes = [w for r in regions for w in every(r) if isinstance(w, Write)]
        return any(write.array in begun and write.array.matters for write in writes)

    def _call_back(self, op: ReverseCall, begun: set[ReverseValue]) -> None:
        names = {"d": f"d_{op.out.name}"}
        if op in self.gathered:
            return
        wanted = [
            (source, line)
            for source, line in targets(op)
            if line is not None and isinstance(source, ReverseValue) and source.matters
        ]
        if not wanted:
            return
        if op.pullback.before is not None:
            self.count += 1
            names["f"] = self.hold(op.pullback) if op.pullback.rule is not None else ""
            names["p"] = f"p_{self.count}"
            self.line(f"{names['p']} = {self.filled(op.pullback.before, op, names)}")
        for source, line in wanted:
            if (op, source) in self.sums or op.out in self.views:
                continue
            if "{b0}" in line:
                self._begin(source, begun)
                self.elements.append(self._element_added(line, op, source, names))
                if op.out.kind.ndim:
                    self._add_to_elements()
            else:
                change = self.filled(line, op, names)
                self.contribute(source, self._fitted(op, source, change), begun)

    def _fitted(self, op: ReverseCall, source: ReverseValue, change: str) -> str:
        """An adjoint of the result's shape, summed to the shape of an argument."""
        ndim, own = op.out.kind.ndim, source.kind.ndim
        if not op.pullback.spread or not ndim:
            return change
        if not own:
            return f"np.sum({change})"
        for _ in range(ndim - own):
            change = f"np.sum({change}, axis=0)"
        function = _ONTO.get(own, onto_many)
        self.space[function.__name__] = function
        return f"{function.__name__}({change}, {source.name})"

    def _write_back(self, op: Write, begun: set[ReverseValue]) -> None:
        target = f"d_{op.array.name}[{self.index(op.index)}]"
        if isinstance(op.value, ReverseValue) and op.value.matters:
            change = target
            whole = _dims_of_index(op)
            if whole != op.value.kind.ndim:
                change = f"np.sum({target})" if not op.value.kind.ndim else target
            elif whole:
                function = _ONTO.get(whole, onto_many)
                self.space[function.__name__] = function
                change = f"{function.__name__}({target}, {op.value.name})"
            self.contribute(op.value, change, begun)
        self.line(f"{target} = 0.0")

    def _outside(
        self, regions: Sequence[StatementRegion], own: set[ReverseValue], begun: set[ReverseValue]
    ) -> None:
        """Initialise the adjoints of outer variables to which regions add."""
        defined = set(own)
        for region in regions:
            defined |= self.needs.defined(region)
        for value in dict.fromkeys(v for r in regions for v in self._added_to(r)):
            if value not in defined:
                self._begin(value, begun)

    def _added_to(self, region: StatementRegion) -> Iterator[ReverseValue]:
        for op in every(region):
            match op:
                case ReverseCall() if op.out.matters:
                    sources = [s for s, line in targets(op) if line is not None]
                case Write() if op.array.matters:
                    sources = [op.value, op.array]
                case ReverseFork():
                    sources = [v for o in op.outs if o.out.matters for v in (o.yes, o.no)]
                case ReverseLoop():
                    sources = [v for c in op.carried if c.param.matters for v in (c.first, c.last)]
                case _:
                    sources = []
            yield from (s for s in sources if isinstance(s, ReverseValue) and s.matters)

    def _fork_back(
        self, op: ReverseFork, loop: ReverseLoop | None, begun: set[ReverseValue]
    ) -> None:
        outs = [each for each in op.outs if each.out in begun and each.out.matters]
        mine = {
            v
            for each in outs
            for v in (each.yes, each.no)
            if isinstance(v, ReverseValue) and v.matters
        }
        self._outside((op.yes, op.no), set(), begun)
        defined = self.needs.defined(op.yes) | self.needs.defined(op.no)
        for value in mine - defined:
            self._begin(value, begun)
        with self.block(f"if {op.condition.name}:"):
            self._arm_back(op.yes, [(each.yes, each.out) for each in outs], loop, begun)
        before = len(self.lines)
        with self.block("else:"):
            self._arm_back(op.no, [(each.no, each.out) for each in outs], loop, begun)
        if [line.strip() for line in self.lines[before:]] == ["else:", "pass"]:
            del self.lines[before:]

    def _arm_back(
        self, arm: StatementRegion, outs: Any, loop: ReverseLoop | None, begun: set[ReverseValue]
    ) -> None:
        inner = set(begun)
        for operand, out in outs:
            self.contribute(operand, f"d_{out.name}", inner)
        self.backward(arm, loop, inner)

    def _loop_back(self, op: ReverseLoop, begun: set[ReverseValue]) -> None:
        carried = [each for each in op.carried if each.param.matters]
        params = {each.param for each in carried}
        for each in carried:
            if each.param not in begun:
                self._begin(each.param, begun)
        self._outside((op.body,), params | {op.index}, begun)
        lasts = {v for each in carried for v in leaves(each.last) if v.matters}
        for value in lasts - self.needs.defined(op.body) - params:
            self._begin(value, begun)
        added = {each: adds_up(op, each) for each in carried}
        for each, statement in added.items():
            if statement is not None:
                self.sums.add((statement, each.param))
        sums = [each for each in carried if added[each] is not None]
        others = [each for each in carried if added[each] is None]
        header = self._forward_header(op) if self._is_any_order(op, others) else None
        gathered = self._to_gather(op)
        for call in gathered:
            self.line(f"d_{call.out.name} = 0.0")
        with self.block(header or self._backward_header(op)):
            if header is None:
                self._restore(op)
            for call, kept in self.kept.items():
                if call.loops[: self.needs.home(call)][-1:] == (op,):
                    self._begin_kept(kept)
            self.forward(op.body, op)
            inner = begun | {call.out for call in gathered}
            for each in sums:
                self.contribute(each.last, f"d_{each.param.name}", inner)
            self._turn_back(others, params, inner)
            self.backward(op.body, op, inner)
        for call in gathered:
            self._add_gathered(call)
        for each in carried:
            if (op, each.first) not in self.sums:
                self.contribute(each.first, f"d_{each.param.name}", begun)

    def _to_gather(self, loop: ReverseLoop) -> list[ReverseCall]:
        """The reads of elements that are the same in all iterations of a loop: their adjoints are
        gathered in numbers and added to that of the array after the loop. In memory, each iteration
        would wait for the one before it."""
        params = {each.param for each in (*loop.carried, *filter(None, (loop.code,)))}
        own = self.needs.defined(loop.body) | params | {loop.index}
        found = [
            call
            for call in every(loop.body)
            if isinstance(call, ReverseCall)
            and call not in self.gathered
            and _reads_element(call)
            and own.isdisjoint(leaves(call.args))
        ]
        self.gathered.update(found)
        return found

    def _add_gathered(self, call: ReverseCall) -> None:
        """Add a gathered adjoint, unless there is no such element: the loop has read none then."""
        array, index = call.args
        parts = index if isinstance(index, tuple) else (index,)
        name = f"d_{array.name}"
        sizes = [f"{name}.shape[{k}]" for k in range(len(parts))] if parts[1:] else [f"len({name})"]
        tests = [
            f"{self.text(part)} < {size}"
            if _is_natural(part, call.loops)
            else f"-{size} <= {self.text(part)} < {size}"
            for size, part in zip(sizes, parts, strict=True)
        ]
        (line,) = (line for _, line in targets(call) if line is not None)
        with self.block(f"if {' and '.join(tests)}:"):
            self.line(self._element_added(line, call, array, {"d": f"d_{call.out.name}"}))

    def _element_added(
        self, line: str, call: ReverseCall, array: ReverseValue, names: dict[str, str]
    ) -> str:
        """The line that adds to the adjoint of an element, or of a part, of an array."""
        if array not in self.shared:
            return self.filled(line, call, names)
        if not _reads_element(call):
            raise Unreadable(WHOLE_SHARED, help=BY_ELEMENT)
        self.space[atomic_add.__name__] = atomic_add
        return f"atomic_add(d_{array.name}, {self.text(call.args[1])}, {names['d']})"

    def _is_any_order(self, op: ReverseLoop, carried: Sequence[Carried]) -> bool:
        """Whether the iterations of a loop may be traversed in any order."""
        if carried or op.code is not None or op.steps is None or self.needs.taped[op]:
            return False
        counts = any(op in call.loops[self.needs.home(call) :] for call in self.kept)
        writes = (each for each in every(op.body) if isinstance(each, Write))
        return not counts and not any(each.array.matters for each in writes)

    def _turn_back(
        self, carried: Sequence[Carried], params: set[ReverseValue], inner: set[ReverseValue]
    ) -> None:
        """Compute the adjoints of the variables at the end of an iteration, from those at the start
        of the next."""
        moved = [each for each in carried if each.last is not each.param]
        crossed = any(v in params for each in moved for v in leaves(each.last))
        names: dict[Carried, str] = {}
        for each in moved:
            names[each] = f"d_{each.param.name}"
            if crossed or each.param.kind.ndim:
                names[each] = f"e_{each.param.name}"
                self.line(f"{names[each]} = d_{each.param.name}")
                self.line(f"d_{each.param.name} = {self._zero(each.param)}")
        for each in moved:
            self.contribute(each.last, names[each], inner)
        for each in moved:
            if names[each].startswith("d_"):
                self.line(f"d_{each.param.name} = 0.0")

    def _zero(self, value: ReverseValue) -> str:
        if value.kind.ndim:
            self.makes(f"the adjoint of {value.name}")
        return f"np.zeros_like({value.name})" if value.kind.ndim else "0.0"

    def _backward_header(self, op: ReverseLoop) -> str:
        if op.code is not None:
            return f"for turn_{op.trips} in range({op.trips} - 1, -1, -1):"
        assert op.steps is not None
        start, stop = self.text(op.steps.start), self.text(op.steps.stop)
        if is_one(op):
            last = str(int(start) - 1) if start.lstrip("-").isdigit() else f"{start} - 1"
            begin = str(int(stop) - 1) if stop.isdigit() else f"{stop} - 1"
            return f"for {op.index.name} in range({begin}, {last}, -1):"
        shown = f"range({start}, {stop}, {self.text(op.steps.step)})"
        return f"for turn_{op.index.name} in range(len({shown}) - 1, -1, -1):"

    def _restore(self, op: ReverseLoop) -> None:
        """Restore the state at the start of an iteration."""
        if op.steps is not None and (op.code is not None or not is_one(op)):
            turn = f"turn_{op.trips}" if op.code is not None else f"turn_{op.index.name}"
            start, step = self.text(op.steps.start), self.text(op.steps.step)
            self.line(f"{op.index.name} = {start} + {turn} * {step}")
        for param in self.needs.taped[op]:
            kept = f"[{self._turn(op)}]" if self._is_row(op, param) else ".pop()"
            self.line(f"{param.name} = tape_{param.name}{kept}")
        for call, kept in self.kept.items():
            if op in call.loops[self.needs.home(call) :]:
                self.line(f"at_{kept} = tape_at_{kept}_{op.index.name}.pop()")


def _outs(op: Any) -> list[ReverseValue]:
    """The variables that a branch or a loop sets."""
    if isinstance(op, ReverseFork):
        return [each.out for each in op.outs]
    return [each.param for each in op.carried]


def _reads_element(call: ReverseCall) -> bool:
    """Whether a call reads one float, which matters, of an array that is never written to."""
    if call.pullback.function is not operator.getitem or call.out.kind != FLOAT:
        return False
    index = call.args[1]
    parts = index if isinstance(index, tuple) else (index,)
    is_written = any(memory.version for memory in call.reads)
    return call.out.matters and not is_written and all(kind_of(part) == INT for part in parts)


def _is_natural(index: Any, loops: Sequence[ReverseLoop]) -> bool:
    """Whether an index is known not to be negative: a number, or counted by one of these loops."""
    loop = next((each for each in loops if each.index is index), None)
    if loop is not None and loop.steps is not None and is_one(loop):
        index = loop.steps.start
    return isinstance(index, KnownBefore) and index.value >= 0


def _dims_of_index(op: Write) -> int:
    parts = op.index if isinstance(op.index, tuple) else (op.index,)
    new = sum(part == KnownBefore(None) for part in parts)
    return op.array.kind.ndim + 2 * new - sum(not isinstance(part, Span) for part in parts)
