"""Inversion by overlays and the table of relations: ``inversion.minimal`` with all primitives.

Each relation of floats in ``primitives.base_relations`` makes an overlay of its function, for each
set of unknown arguments that it has a mode for; the mode sends a value backwards. Nothing is lifted
or planned here either.

>>> import math
>>> from inversion.minimal_relations import run_backwards
>>> (x,) = run_backwards(lambda x: math.tanh(x) / 2, 0.25, (0.0,))
>>> round(x, 12)
0.549306144334
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inversion import minimal
from inversion.minimal import Choices, Number, UnknownNumber
from overlay import Context, MethodTable
from primitives import Relation
from primitives.base_table import RELATIONS
from primitives.relation import RETURN, Mode

__all__ = ["CONTEXT", "run_backwards"]

backwards = MethodTable("backwards through relations")
CONTEXT = Context(backwards)


def _overlay(relation: Relation) -> None:
    """Overlay a function for each set of arguments for which its relation has a mode."""
    count = len(relation.axes)
    for size in range(1, count + 1):
        for places in itertools.combinations(range(count), size):
            mode = relation.mode(relation.axes[place] for place in places)
            if mode is not None:
                backwards.overlay(relation.target)(_method(relation, places, mode))


def _method(relation: Relation, places: Sequence[int], mode: Mode) -> Callable[..., UnknownNumber]:
    """The method with unknowns at these positions."""

    def method(*args: UnknownNumber | Number) -> UnknownNumber:
        given: dict[str, Any] = dict(zip(relation.axes, args, strict=True))

        def send(z: float, choices: Choices) -> None:
            known = {**given, RETURN: z}
            known.update(_chosen(mode, known, choices))
            answers = mode.solver(*(_number(known[name]) for name in mode.takes))
            several = answers if len(mode.unknown) > 1 else (answers,)
            for axis, answer in zip(mode.unknown, several, strict=True):
                given[axis].send(answer, choices)

        return UnknownNumber(send)

    parameters = [
        inspect.Parameter(
            axis,
            inspect.Parameter.POSITIONAL_ONLY,
            annotation=UnknownNumber if place in places else Number,
        )
        for place, axis in enumerate(relation.axes)
    ]
    method.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportFunctionMemberAccess]
    return method


def _chosen(mode: Mode, known: Mapping[str, Any], choices: Choices) -> dict[str, Any]:
    """The coordinates of a mode; their defaults if the known values determine the answer."""
    determined = mode.determined_if
    if determined is not None and determined(
        *(_number(known[name]) for name in mode.determined_by)
    ):
        return {name: domain.default for name, domain in mode.coordinates.items()}
    return {name: next(choices) for name in mode.coordinates}


def _number(value: Any) -> Any:
    """The number; an integer is converted to a float."""
    return float(value) if type(value) is int else value


for _relation in RELATIONS:
    if set(_relation.types) == {float} and _relation.returns is float:
        _overlay(_relation)


run_backwards = functools.partial(minimal.run_backwards, context=CONTEXT)
"""``inversion.minimal.run_backwards`` with relations; theta contains their coordinates."""
