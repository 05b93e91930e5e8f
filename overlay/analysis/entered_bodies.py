"""Analysis of a function on entry, from the types of its arguments alone."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from types import FunctionType
from typing import Any

from overlay.analysis.interpreter import Interpreter
from overlay.analysis.resolution import Setting
from overlay.analysis.runs import Run

__all__ = ["analysis_of"]

_SPREAD = (
    inspect.Parameter.VAR_POSITIONAL,
    inspect.Parameter.VAR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


def analysis_of(
    interpreter: Interpreter,
    function: FunctionType,
    types: Sequence[Any],
    setting: Setting,
) -> Run | None:
    """Analyse a function with arguments of these types, in a setting; None if its code cannot be
    read. If it has ``*args``, ``**kwargs`` or keyword-only parameters, any values are assumed."""
    body = interpreter.body(function)
    if body is None or body.signature is None:
        return None
    domain, parameters = interpreter.domain, list(body.signature.parameters.values())
    values = [domain.top] * len(parameters)
    if not any(parameter.kind in _SPREAD for parameter in parameters):
        for place, parameter in enumerate(parameters):
            if place < len(types):
                values[place] = domain.parameter(place, types[place])
            elif parameter.default is not inspect.Parameter.empty:
                values[place] = domain.constant(parameter.default.value)
    return interpreter.run_body(body, values, setting)
