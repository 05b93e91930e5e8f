"""Generation of the source of an adjoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from overlay.interpretations.autodiff.reverse.backwards import Backwards
from overlay.interpretations.autodiff.reverse.compiled_forms import in_compiled_forms
from overlay.interpretations.autodiff.reverse.needs import Needs, mark_active
from overlay.interpretations.autodiff.reverse.operands import LiftedFunction
from overlay.interpretations.autodiff.reverse.reverse_program import ReverseValue, leaves
from overlay.interpretations.autodiff.reverse.source_text import Form

__all__ = ["adjoint_source"]


def adjoint_source(
    name: str, lifted: LiftedFunction, active: Sequence[ReverseValue], form: Form
) -> tuple[str, dict[str, Any], tuple[str, str] | None]:
    """The source of the adjoint of a program, its namespace, and a description of the first array
    that it creates with its line, or None.

    The adjoint takes the program's arguments, and the adjoint of each float of the result in
    ``d_result``; it returns the adjoint of each active argument. If ``form.adds``, it also takes an
    array for each active array, to which it adds the adjoint, and returns only those of the
    numbers.
    """
    mark_active(lifted.region, list(active), lifted.result)
    emitter = _Emitter(lifted, Needs(lifted.region, lifted.result), form)
    source = emitter.written(name, active)
    if form.adds and not form.is_for_kernel:
        source = in_compiled_forms(source, emitter.space)
    return source, emitter.space, emitter.made


class _Emitter(Backwards):
    """Writes a whole adjoint."""

    def written(self, name: str, active: Sequence[ReverseValue]) -> str:
        results = list(leaves(self.lifted.result))
        parameters = [v.name for v in self.lifted.arguments]
        wanted = [f"d_result_{i}" for i in range(len(results))]
        begun = {v for v in active if self.form.adds and v.kind.ndim}
        added = [f"d_{v.name}" for v in active if v in begun]
        self.shared |= begun if self.form.shares else set()
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

    def _result(self, value: ReverseValue, begun: set[ReverseValue]) -> str:
        if value in begun:
            return f"d_{value.name}"
        if value.kind.ndim:
            self.makes(f"the adjoint of {value.name}")
        return f"np.zeros_like({value.name})" if value.kind.ndim else "0.0"
