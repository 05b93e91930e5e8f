"""Results of a run in a level: their values and tangents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from overlay.interpretations.autodiff.duals import Active, ActiveArray

__all__ = ["parts_of_result", "tangent_of", "through", "value_of"]


def value_of(found: Any, level: Any) -> Any:
    if isinstance(found, (level.number, level.array)):
        return found.value
    return through(found, lambda part: value_of(part, level))


def tangent_of(found: Any, level: Any, k: int) -> Any:
    if isinstance(found, (level.number, level.array)):
        return found.tangents[k]
    if isinstance(found, (np.ndarray, ActiveArray)):
        return np.zeros(found.shape)
    if isinstance(found, (tuple, list, dict)) and not isinstance(found, Active):
        return through(found, lambda part: tangent_of(part, level, k))
    return 0.0


def through(found: Any, each: Callable[[Any], Any]) -> Any:
    """A result with each of its parts replaced."""
    if isinstance(found, Active) or not isinstance(found, (tuple, list, dict)):
        return found
    if isinstance(found, dict):
        return {name: each(part) for name, part in found.items()}
    parts = [each(part) for part in found]
    if hasattr(found, "_fields"):
        return type(found)(*parts)
    return type(found)(parts)


def parts_of_result(found: Any) -> Iterator[Any]:
    """The numbers and arrays in a result."""
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, (tuple, list)) and not isinstance(found, Active):
        for part in found:
            yield from parts_of_result(part)
    else:
        yield found
