"""The user's rules in reverse mode: methods of ``adjoint_of(f)``, ``residuals_of(f)`` and
``partials_of(f)``."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from overlay import Context, Method, MethodTable
from overlay.core.signature import array_type
from overlay.interpretations.autodiff.partial_derivatives import (
    AdjointOf,
    PartialsOf,
    ResidualsOf,
    adjoint_of,
    counted,
    fitting,
    partials_of,
    residuals_of,
)
from overlay.interpretations.autodiff.recorded_rules import type_of_value
from overlay.interpretations.autodiff.reverse.pullbacks import (
    Pullback,
    call_text,
    kind_of,
    of_partials,
    type_of,
)
from overlay.interpretations.autodiff.reverse.reverse_program import FLOAT, NumberKind
from overlay.interpretations.autodiff.reverse.sampled_kinds import RESULTS, kind_of_result, sampled
from overlay.interpretations.autodiff.reverse.structure import Unreadable

if TYPE_CHECKING:
    from overlay.interpretations.autodiff.reverse.calling import Calling

__all__ = ["UsersRules"]


class UsersRules:
    """The rules of some tables."""

    def __init__(self, tables: Sequence[MethodTable]) -> None:
        targets = [target for table in tables for target in table.targets()]
        kinds = (AdjointOf, PartialsOf, ResidualsOf)
        self._own = [target.function for target in targets if isinstance(target, kinds)]
        self._reversed = [t.function for t in targets if isinstance(t, (AdjointOf, ResidualsOf))]
        self._context = Context(*tables)

    def emitted(
        self, lifter: Calling, function: Any, args: Sequence[Any], named: dict[str, Any]
    ) -> Any:
        """The result of a call of a function that has a rule; None if it has none. Raises
        Unreadable if there are rules, but only the values of the arguments can choose one."""
        if not any(each is function for each in self._own):
            return None
        if named:
            bound = inspect.signature(function).bind(*args, **named)
            if bound.kwargs:
                return self._refuse(function)
            args = bound.args
        types = [type_of(a) for a in args]
        if None in types:
            return self._refuse(function)
        run = self._context.method(residuals_of(function), *types)
        if run is not None:
            return self._with_residuals(lifter, function, run, args, types)
        kind = self._kind(function, args)
        found = self._context.method(adjoint_of(function), _type_of_kind(kind), *types)
        given = call_text(lifter.name(function), len(args))
        if found is not None:
            back = _fitted(lifter, adjoint_of(function), len(args))
            before = call_text("{f}", len(args)).replace("(", "({d}, ", 1)
            rule = counted(found.function, adjoint_of(function), len(args), 1)
            pullback = Pullback(function, kind, given, back, rule, before=before)
            return lifter.emit(pullback, args)
        if any(each is function for each in self._reversed):
            return self._refuse(function)
        found = self._context.method(partials_of(function), *types)
        if found is None or any(t is not float for t in types):
            return None
        rule = counted(found.function, partials_of(function), len(args), 0)
        pullback = of_partials(function, rule, FLOAT, given, len(args), spread=False)
        fitted = _fitted(lifter, partials_of(function), len(args))
        back = tuple(f"{{d}} * {each}" for each in fitted)
        return lifter.emit(replace(pullback, back=back), args)

    def _kind(self, function: Any, args: Sequence[Any]) -> NumberKind:
        """The kind of the result."""
        kinds = [kind_of(a) for a in args]
        if all(kind is not None and not kind.ndim for kind in kinds):
            return FLOAT
        found = {kind_of_result(result) for result in sampled(function, args, {})}
        (kind,) = found if len(found) == 1 else (None,)
        return kind if isinstance(kind, NumberKind) else self._refuse(function)

    def _with_residuals(
        self,
        lifter: Calling,
        function: Any,
        run: Method,
        args: Sequence[Any],
        types: Sequence[Any],
    ) -> Any:
        results = sampled(run.function, args, {})
        kinds = {kind_of_result(value) for value, _ in results}
        residuals = {type_of_value(each) for _, each in results}
        if len(kinds) != 1 or len(residuals) != 1:
            self._refuse(function)
        (kind,), (of_residuals,) = kinds, residuals
        back = self._context.method(adjoint_of(function), _type_of_kind(kind), of_residuals, *types)
        if back is None:
            return self._refuse(function)
        count = len(args)
        text = call_text(lifter.name(run.function), count)
        whole = lifter.emit(Pullback(run.function, RESULTS, text, (None,) * count), args)
        before = call_text("{f}", count).replace("(", f"({{d}}, {{{count}}}[1], ", 1)
        lines = (*_fitted(lifter, adjoint_of(function), count), None)
        taken = f"np.copy({{{count}}}[0])" if kind.ndim else f"{{{count}}}[0]"
        rule = counted(back.function, adjoint_of(function), count, 2)
        pullback = Pullback((function, 0), kind, taken, lines, rule, before=before)
        return lifter.emit(pullback, (*args, whole))

    def _refuse(self, function: Any) -> Any:
        raise Unreadable(f"the values of the arguments choose the rule of {function.__name__}")


def _fitted(lifter: Calling, target: Any, count: int) -> tuple[str, ...]:
    """The derivatives that a rule gave, in lines that raise where one does not fit its argument. A
    kernel raises nothing."""
    if lifter.is_for_kernel:
        return tuple(f"{{p}}[{i}]" for i in range(count))
    name = lifter.name(fitting(target))
    return tuple(f"{name}({{p}}[{i}], {{{i}}})" for i in range(count))


def _type_of_kind(kind: NumberKind) -> Any:
    return array_type(np.float64, kind.ndim) if kind.ndim else float
