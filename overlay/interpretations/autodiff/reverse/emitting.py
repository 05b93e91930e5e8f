"""The source of an adjoint."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from overlay.interpretations.autodiff.reverse.lifting import Lifted
from overlay.interpretations.autodiff.reverse.needs import (
    Needs,
    adds_up,
    every,
    mark_active,
    targets,
)
from overlay.interpretations.autodiff.reverse.program import (
    Call,
    Carried,
    Fork,
    Known,
    Loop,
    Region,
    Span,
    Steps,
    Value,
    Write,
    leaves,
)
from overlay.interpretations.autodiff.reverse.running import onto_1, onto_2, onto_many
from overlay.kernels import local_array

__all__ = ["RETURNS", "Form", "adjoint_source"]

_FIELD = re.compile(r"\{(\w+)\}")


_ONTO = {1: onto_1, 2: onto_2}


@dataclass(frozen=True)
class Form:
    """adds: whether an adjoint adds to arrays that it is given. is_for_kernel: whether it is to
    make no array, other than local ones."""

    adds: bool = False
    is_for_kernel: bool = False


RETURNS = Form()


# ---- writing ------------------------------------------------------------------------------


def adjoint_source(
    name: str, lifted: Lifted, active: Sequence[Value], form: Form
) -> tuple[str, dict[str, Any], tuple[str, str] | None]:
    """The source of the adjoint of a program, what its lines call functions by, and the first
    array that it makes, with its line, if it makes any.

    It takes the program's arguments, and the adjoint of each float of the result in ``d_result``;
    it gives the adjoint of each active argument. Where it adds, it takes an array for each active
    array, to which it adds the adjoint, and gives those of the numbers.
    """
    mark_active(lifted.region, list(active), lifted.result)
    emitter = _Emitter(lifted, Needs(lifted.region, lifted.result), form)
    return emitter.written(name, active), emitter.space, emitter.made


class _Emitter:
    def __init__(self, lifted: Lifted, needs: Needs, form: Form) -> None:
        self.lifted = lifted
        self.needs = needs
        self.form = form
        self.made: tuple[str, str] | None = None  # the first array that it makes
        calls = [op for op in every(lifted.region) if isinstance(op, Call)]
        self.views = {op.out: op for op in calls if _is_window(op)}
        self.locals = {op.out: op for op in calls if op.pullback.function is local_array}
        self.lines: list[str] = []
        self.space: dict[str, Any] = {}
        self.depth = 1
        self.where = ""
        self.count = 0
        self.elements: list[str] = []  # lines that add to elements
        self.sums: set[tuple[Any, Value]] = set()  # statements that add to what loops carry
        self.kept = {
            op: f"kept_{i}"
            for i, op in enumerate(
                op for op in every(lifted.region) if isinstance(op, Call) and op.is_kept
            )
        }

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, header: str) -> Generator[None]:
        """Lines one step further in."""
        self.line(header)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self.depth -= 1

    def written(self, name: str, active: Sequence[Value]) -> str:
        results = list(leaves(self.lifted.result))
        parameters = [v.name for v in self.lifted.arguments]
        wanted = [f"d_result_{i}" for i in range(len(results))]
        begun = {v for v in active if self.form.adds and v.kind.ndim}
        added = [f"d_{v.name}" for v in active if v in begun]
        given = [v for v in active if v not in begun]
        header = f"def {name}({', '.join([*parameters, *wanted, *added])}):"
        for call, kept in self.kept.items():
            if self.needs.home(call) == 0:
                self._begin_kept(kept)
        self.forward(self.lifted.region, None)
        for value, change in zip(results, wanted, strict=True):
            self.contribute(value, change, begun)
        self.backward(self.lifted.region, None, begun)
        self.line(f"return ({''.join(self._result(v, begun) + ', ' for v in given)[:-1]})")
        return "\n".join([header, *self.lines]) + "\n"

    def makes(self, what: str, where: str = "") -> None:
        """Note that the adjoint makes an array, or a list."""
        self.made = self.made or (what, where)

    def _begin_kept(self, kept: str) -> None:
        self.makes("a list of what is read of an array that is written to")
        self.line(f"{kept} = []")
        self.line(f"at_{kept} = 0")

    def _result(self, value: Value, begun: set[Value]) -> str:
        if value in begun:
            return f"d_{value.name}"
        if value.kind.ndim:
            self.makes(f"the adjoint of {value.name}")
        return f"np.zeros_like({value.name})" if value.kind.ndim else "0.0"

    # ---- operands ----

    def text(self, operand: Any) -> str:
        """An operand as it is written."""
        match operand:
            case Value():
                return operand.name
            case tuple():
                return "(" + "".join(f"{self.text(part)}, " for part in operand) + ")"
            case Span():
                start, stop, step = (_bound(part, self) for part in operand.parts)
                return f"{start}:{stop}" + (f":{step}" if step else "")
            case Known(value=float() as value):
                return _float(value)
            case Known(value=value):
                return _literal(value)
            case _:
                raise AssertionError(operand)

    def hold(self, pullback: Any) -> str:
        """A name for what a pullback calls."""
        stem = f"by_{getattr(pullback.function, '__name__', 'function')}"
        name, count = stem, 1
        while self.space.setdefault(name, pullback.rule) is not pullback.rule:
            count += 1
            name = f"{stem}_{count}"
        return name

    def index(self, operand: Any) -> str:
        if isinstance(operand, tuple):
            return ", ".join(map(self.text, operand))
        return self.text(operand)

    def filled(
        self, template: str, call: Call, names: dict[str, str], *, copies: bool = True
    ) -> str:
        """A line of a pullback for a call."""

        def replaced(match: re.Match[str]) -> str:
            name = match[1]
            if name in names:
                return names[name]
            if name == "r":
                return call.out.name
            first, _, item = name.partition("_")
            if first.startswith("b"):
                return f"d_{call.args[int(first[1:])].name}"
            arg: Any = call.args[int(first)]
            if copies:
                arg = call.copies.get(int(first), arg)
            arg = arg[int(item)] if item else arg
            before, after = template[: match.start()], template[match.end() :]
            is_index = before.endswith("[") and after.startswith("]")
            return self.index(arg) if is_index else self.text(arg)

        return _FIELD.sub(replaced, template)

    # ---- forwards ----

    def forward(self, region: Region, loop: Loop | None) -> None:
        runs = self.needs.runs[loop]
        for op in region.ops:
            if op not in runs:
                continue
            match op:
                case Call():
                    self._call(op, loop)
                case Write():
                    self.line(f"{op.array.name}[{self.index(op.index)}] = {self.text(op.value)}")
                case Fork():
                    self._fork(op, loop)
                case Loop():
                    self._loop(op, loop)
                case _:
                    pass

    def _call(self, op: Call, loop: Loop | None) -> None:
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

    def _as_it_is(self, op: Call, text: str) -> str:
        """What a call has given, before it is written to."""
        memory = op.out.memory
        return f"np.copy({text})" if memory is not None and self._is_written(memory) else text

    @staticmethod
    def _is_written(memory: Any) -> bool:
        return memory.is_own and memory.version > 0

    def _fork(self, op: Fork, loop: Loop | None) -> None:
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

    def _set(self, value: Value, operand: Any) -> None:
        if operand is not value:
            self.line(f"{value.name} = {self.text(operand)}")

    def _loop(self, op: Loop, loop: Loop | None) -> None:
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

    def _forward_header(self, op: Loop) -> str:
        assert op.steps is not None
        shown = [self.text(each) for each in (op.steps.start, op.steps.stop, op.steps.step)]
        if shown[2] == "1":
            shown = shown[shown[0] == "0" : 2]
        return f"for {op.index.name} in range({', '.join(shown)}):"

    def _begin_tapes(self, op: Loop) -> None:
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
        """A new array for what a variable is in each turn of a loop."""
        if self.form.is_for_kernel and count.isdigit():
            self.space["tape_of"] = local_array
            return f"tape_of({count})"
        self.makes("an array with what a variable is in each turn, of a loop of unknown length")
        return f"np.empty({count if count.isdigit() else f'max({count}, 0)'})"

    def _is_row(self, op: Loop, param: Value) -> bool:
        """Whether what a loop carries is kept in an array, by turns that are known before."""
        return (
            op.code is None
            and op.steps is not None
            and _is_one(op)
            and param.kind.dtype == "f"
            and not param.kind.ndim
        )

    def _turn(self, op: Loop) -> str:
        start = self.text(_steps_of(op).start)
        return op.index.name if start == "0" else f"{op.index.name} - {start}"

    def _keep_turn(self, op: Loop) -> None:
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

    # ---- backwards ----

    def contribute(self, value: Any, change: str, begun: set[Value]) -> None:
        """Add to the adjoint of a variable."""
        if not isinstance(value, Value) or not value.matters:
            return
        if value.kind.ndim:
            self._begin(value, begun)
        sign = "+=" if value in begun else "="
        begun.add(value)
        self.line(f"d_{value.name} {sign} {change}")

    def _begin(self, value: Value, begun: set[Value]) -> None:
        if value in begun:
            return
        begun.add(value)
        if value in self.views:
            source = self.views[value].args[0]
            self._begin(source, begun)
            line = self.filled(self.views[value].pullback.text, self.views[value], {})
            self.line(f"d_{value.name} = d_{line}")
        elif value in self.locals:
            made = self.locals[value]
            self.line(f"d_{value.name} = {self.filled(made.pullback.text, made, {})}")
            self.line(f"d_{value.name}[:] = 0.0")
        else:
            self.line(f"d_{value.name} = {self._zero(value)}")

    def backward(self, region: Region, loop: Loop | None, begun: set[Value]) -> None:
        for op in reversed(region.ops):
            if not isinstance(op, Call) or op.out.kind.ndim:
                self._add_to_elements()
            match op:
                case Call() if op.out in begun and op.out.matters:
                    self._call_back(op, begun)
                case Write() if op.array in begun and op.array.matters:
                    self._write_back(op, begun)
                case Fork() if self._reaches(op, begun):
                    self._fork_back(op, loop, begun)
                case Loop() if self._reaches(op, begun):
                    self._loop_back(op, begun)
                case _:
                    pass
        self._add_to_elements()

    def _add_to_elements(self) -> None:
        """Add to elements of adjoints, in the order in which the program reads the elements: so
        processors have what one turn of a loop adds to at hand for the next."""
        for line in reversed(self.elements):
            self.line(line)
        self.elements.clear()

    def _reaches(self, op: Any, begun: set[Value]) -> bool:
        """Whether something inside has an adjoint that is not zero."""
        if any(out in begun for out in _outs(op)):
            return True
        regions = (op.yes, op.no) if isinstance(op, Fork) else (op.body,)
        writes = [w for r in regions for w in every(r) if isinstance(w, Write)]
        return any(write.array in begun and write.array.matters for write in writes)

    def _call_back(self, op: Call, begun: set[Value]) -> None:
        names = {"d": f"d_{op.out.name}"}
        wanted = [
            (source, line)
            for source, line in targets(op)
            if line is not None and isinstance(source, Value) and source.matters
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
                self.elements.append(self.filled(line, op, names))
                if op.out.kind.ndim:
                    self._add_to_elements()
            else:
                change = self.filled(line, op, names)
                self.contribute(source, self._fitted(op, source, change), begun)

    def _fitted(self, op: Call, source: Value, change: str) -> str:
        """A change in the shape of the result, in that of an argument."""
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

    def _write_back(self, op: Write, begun: set[Value]) -> None:
        target = f"d_{op.array.name}[{self.index(op.index)}]"
        if isinstance(op.value, Value) and op.value.matters:
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

    def _outside(self, regions: Sequence[Region], own: set[Value], begun: set[Value]) -> None:
        """Begin the adjoints of variables from outside that regions add to."""
        defined = set(own)
        for region in regions:
            defined |= self.needs.defined(region)
        for value in dict.fromkeys(v for r in regions for v in self._added_to(r)):
            if value not in defined:
                self._begin(value, begun)

    def _added_to(self, region: Region) -> Iterator[Value]:
        for op in every(region):
            match op:
                case Call() if op.out.matters:
                    sources = [s for s, line in targets(op) if line is not None]
                case Write() if op.array.matters:
                    sources = [op.value, op.array]
                case Fork():
                    sources = [v for o in op.outs if o.out.matters for v in (o.yes, o.no)]
                case Loop():
                    sources = [v for c in op.carried if c.param.matters for v in (c.first, c.last)]
                case _:
                    sources = []
            yield from (s for s in sources if isinstance(s, Value) and s.matters)

    def _fork_back(self, op: Fork, loop: Loop | None, begun: set[Value]) -> None:
        outs = [each for each in op.outs if each.out in begun and each.out.matters]
        mine = {
            v for each in outs for v in (each.yes, each.no) if isinstance(v, Value) and v.matters
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

    def _arm_back(self, arm: Region, outs: Any, loop: Loop | None, begun: set[Value]) -> None:
        inner = set(begun)
        for operand, out in outs:
            self.contribute(operand, f"d_{out.name}", inner)
        self.backward(arm, loop, inner)

    def _loop_back(self, op: Loop, begun: set[Value]) -> None:
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
        with self.block(header or self._backward_header(op)):
            if header is None:
                self._restore(op)
            for call, kept in self.kept.items():
                if call.loops[: self.needs.home(call)][-1:] == (op,):
                    self._begin_kept(kept)
            self.forward(op.body, op)
            inner = set(begun)
            for each in sums:
                self.contribute(each.last, f"d_{each.param.name}", inner)
            self._turn_back(others, params, inner)
            self.backward(op.body, op, inner)
        for each in carried:
            if (op, each.first) not in self.sums:
                self.contribute(each.first, f"d_{each.param.name}", begun)

    def _is_any_order(self, op: Loop, carried: Sequence[Carried]) -> bool:
        """Whether the turns of a loop may be gone through in any order."""
        if carried or op.code is not None or op.steps is None or self.needs.taped[op]:
            return False
        counts = any(op in call.loops[self.needs.home(call) :] for call in self.kept)
        writes = (each for each in every(op.body) if isinstance(each, Write))
        return not counts and not any(each.array.matters for each in writes)

    def _turn_back(self, carried: Sequence[Carried], params: set[Value], inner: set[Value]) -> None:
        """The adjoints of what a turn ends with, from those of what the next one begins with."""
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

    def _zero(self, value: Value) -> str:
        if value.kind.ndim:
            self.makes(f"the adjoint of {value.name}")
        return f"np.zeros_like({value.name})" if value.kind.ndim else "0.0"

    def _backward_header(self, op: Loop) -> str:
        if op.code is not None:
            return f"for turn_{op.trips} in range({op.trips} - 1, -1, -1):"
        assert op.steps is not None
        start, stop = self.text(op.steps.start), self.text(op.steps.stop)
        if _is_one(op):
            last = str(int(start) - 1) if start.lstrip("-").isdigit() else f"{start} - 1"
            begin = str(int(stop) - 1) if stop.isdigit() else f"{stop} - 1"
            return f"for {op.index.name} in range({begin}, {last}, -1):"
        shown = f"range({start}, {stop}, {self.text(op.steps.step)})"
        return f"for turn_{op.index.name} in range(len({shown}) - 1, -1, -1):"

    def _restore(self, op: Loop) -> None:
        """Begin a turn as it began forwards."""
        if op.steps is not None and (op.code is not None or not _is_one(op)):
            turn = f"turn_{op.trips}" if op.code is not None else f"turn_{op.index.name}"
            start, step = self.text(op.steps.start), self.text(op.steps.step)
            self.line(f"{op.index.name} = {start} + {turn} * {step}")
        for param in self.needs.taped[op]:
            kept = f"[{self._turn(op)}]" if self._is_row(op, param) else ".pop()"
            self.line(f"{param.name} = tape_{param.name}{kept}")
        for call, kept in self.kept.items():
            if op in call.loops[self.needs.home(call) :]:
                self.line(f"at_{kept} = tape_at_{kept}_{op.index.name}.pop()")


def _is_window(op: Call) -> bool:
    """Whether a call gives a part of an array that nothing writes to: then the adjoint of it is
    that part of the array's adjoint."""
    if op.pullback.function is not operator.getitem or not op.pullback.is_view:
        return False
    return op.out.matters and not any(memory.is_own for memory in op.reads)


def _outs(op: Any) -> list[Value]:
    """What a branch or a loop sets."""
    if isinstance(op, Fork):
        return [each.out for each in op.outs]
    return [each.param for each in op.carried]


def _dims_of_index(op: Write) -> int:
    parts = op.index if isinstance(op.index, tuple) else (op.index,)
    return op.array.kind.ndim - sum(not isinstance(part, Span) for part in parts)


def _steps_of(op: Loop) -> Steps:
    """What a loop that is no ``while`` goes over."""
    assert op.steps is not None
    return op.steps


def _is_one(op: Loop) -> bool:
    return op.steps is not None and op.steps.step == Known(1)


def _is_closed(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char in "([") - (char in ")]")
        if depth < 0:
            return False
    return depth == 0


def _bound(part: Any, emitter: _Emitter) -> str:
    return "" if part == Known(None) else emitter.text(part)


def _float(value: float) -> str:
    if math.isnan(value):
        return "math.nan"
    if math.isinf(value):
        return "math.inf" if value > 0 else "(-math.inf)"
    return repr(float(value)) if value >= 0 else f"({float(value)!r})"


def _literal(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value)) if value >= 0 else f"({int(value)})"
    if isinstance(value, tuple):
        return "(" + "".join(f"{_literal(part)}, " for part in value) + ")"
    return repr(value)
