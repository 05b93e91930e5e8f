"""Reverse-mode derivatives by a tape: for programs for which no adjoint is generated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overlay import MethodTable, nonoverlay
from overlay.contexts.rules_alone import runs_alone, tables_of_program
from overlay.interpretations.autodiff.escapes import looked
from overlay.interpretations.autodiff.forward import linearised
from overlay.interpretations.autodiff.level_results import (
    check_result,
    is_structure,
    parts_of_result,
    through,
    value_of,
)
from overlay.interpretations.autodiff.linear_tape import LinearTape, TapeTangent
from overlay.interpretations.autodiff.reverse.gradients import inside_levels

__all__ = ["TapedRun", "taped"]


class TapedRun:
    """A run of a function that was recorded on a tape. value: its result; places: of the active
    arguments."""

    def __init__(
        self,
        tape: LinearTape,
        inputs: dict[int, TapeTangent],
        args: Sequence[Any],
        value: Any,
        tangents: Any,
    ) -> None:
        self.value = value
        self._tape, self._inputs, self._args, self._tangents = tape, inputs, args, tangents

    @property
    def variables(self) -> int:
        """The number of variables on the tape, each a float in the backward pass."""
        return self._tape.count

    def pull_back(self, cotangents: Sequence[Any]) -> list[Any]:
        """The cotangents of the active arguments, from those of the numbers and arrays in the
        result."""
        return inside_levels(tables_of_program(), self._pull_back, cotangents)

    def _pull_back(self, cotangents: Sequence[Any]) -> list[Any]:
        pairs = zip(parts_of_result(self._tangents), cotangents, strict=True)
        given = [(each, d) for each, d in pairs if isinstance(each, TapeTangent)]
        total = self._tape.pull_back(given)
        found = {i: np.real(total[each.places]) for i, each in self._inputs.items()}
        return [d if np.ndim(self._args[i]) else float(d) for i, d in found.items()]

    def gradient(self) -> list[Any]:
        """The derivatives of the result, one number, by the active arguments."""
        return inside_levels(tables_of_program(), self._row, [1.0], self.value)

    def _row(self, cotangents: Sequence[Any], value: Any) -> list[Any]:
        """The derivatives of a number of a value, which the cotangents pick out."""
        row = self._pull_back(cotangents)
        if not np.iscomplexobj(value):
            return row
        imaginary = self._pull_back([1j * d for d in cotangents])
        return [a + 1j * b for a, b in zip(row, imaginary, strict=True)]

    def jacobian(self) -> list[Any]:
        """The Jacobian by each active argument."""
        return inside_levels(tables_of_program(), self._jacobian)

    def _jacobian(self) -> list[Any]:
        values = list(parts_of_result(self.value))

        def rows(part: int) -> list[list[Any]]:
            found = []
            for k in range(int(np.size(values[part]))):
                ds = [_unit(np.shape(v), k if i == part else -1) for i, v in enumerate(values)]
                found.append(self._row(ds, values[part]))
            return found

        every = iter([rows(part) for part in range(len(values))])

        def of(part: Any, argument: int) -> Any:
            x = self._args[list(self._inputs)[argument]]
            shape = (*np.shape(part), *np.shape(x))
            found = np.reshape(np.array([row[argument] for row in next(at)]), shape)
            return found if shape else found.item()

        jacobians = []
        listed = list(every)
        for argument in range(len(self._inputs)):
            at = iter(listed)
            jacobians.append(_each_part(self.value, lambda part, a=argument: of(part, a)))
        return jacobians


@runs_alone
def taped(
    f: Callable[..., Any],
    args: Sequence[Any],
    places: Sequence[int],
    rules: tuple[MethodTable, ...],
) -> TapedRun:
    """Run a function, and record it on a tape."""
    tape = LinearTape()
    variables = nonoverlay(tape.variables)  # in an enclosing level, arrays may become active
    inputs = {i: variables(args[i]) for i in places}
    seeds = [(+inputs[i],) if i in inputs else None for i in range(len(args))]
    # f may write to its arguments
    given = [+x if i in inputs and np.ndim(x) else x for i, x in enumerate(args)]
    found, level, watch = linearised(f, given, seeds, rules)
    value, tangents = value_of(found, level), _recorded(found, level)
    del found
    looked(watch, f)
    check_result(f, value)
    return TapedRun(tape, inputs, args, value, tangents)


def _recorded(found: Any, level: Any) -> Any:
    """The tangents in a result; None for what has none."""
    if isinstance(found, (level.number, level.array)):
        return found.tangents[0]
    if is_structure(found):
        return through(found, lambda part: _recorded(part, level))
    return None


def _unit(shape: tuple[int, ...], place: int) -> Any:
    """Zeros with a 1 in one place."""
    return np.reshape(np.arange(math.prod(shape)) == place, shape) * 1.0


def _each_part(found: Any, each: Callable[[Any], Any]) -> Any:
    if isinstance(found, dict):
        return {name: _each_part(part, each) for name, part in found.items()}
    if is_structure(found):
        return tuple(_each_part(part, each) for part in found)
    return each(found)
