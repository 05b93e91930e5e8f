"""Batched functions of numpy equal loops over samples: every rule, with its samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from overlay.core.target import describe
from overlay.interpretations.autodiff.rules.array_rule import ArrayRule
from overlay.interpretations.autodiff.rules.array_rules import ARRAY_RULES
from overlay.interpretations.batching import batched
from overlay.interpretations.batching.batch_forms import FORMS

COUNT = 4
ROWS = [row for row in ARRAY_RULES if row.samples]


def axes_of(draws: list[Any]) -> Any:
    """Axis 0 for each number or array that is drawn anew, None for what is the same."""
    first = draws[0]
    if isinstance(first, (list, tuple)):
        return type(first)(axes_of([x[k] for x in draws]) for k in range(len(first)))
    if isinstance(first, dict):
        return {key: axes_of([x[key] for x in draws]) for key in first}
    drawn = isinstance(first, (np.ndarray, float, complex))
    return 0 if drawn and not all(np.array_equal(x, first) for x in draws) else None


def only_first(axes: Any, seen: list[int]) -> Any:
    """Axes of which the first alone is of samples."""
    if isinstance(axes, (list, tuple)):
        return type(axes)(only_first(x, seen) for x in axes)
    if isinstance(axes, dict):
        return {key: only_first(x, seen) for key, x in axes.items()}
    if axes == 0:
        seen.append(0)
    return 0 if axes == 0 and len(seen) == 1 else None


def stacked(draws: list[Any], axes: Any) -> Any:
    first = draws[0]
    if isinstance(axes, (list, tuple)):
        return type(axes)(stacked([x[k] for x in draws], axis) for k, axis in enumerate(axes))
    if isinstance(axes, dict):
        return {key: stacked([x[key] for x in draws], axis) for key, axis in axes.items()}
    return first if axes is None else np.stack(draws)


def sample(x: Any, axes: Any, i: int) -> Any:
    if isinstance(axes, (list, tuple)):
        return type(axes)(sample(part, axis, i) for part, axis in zip(x, axes, strict=True))
    if isinstance(axes, dict):
        return {key: sample(x[key], axis, i) for key, axis in axes.items()}
    return x if axes is None else np.copy(x[i])[()]


def leaves(x: Any) -> Iterator[Any]:
    if isinstance(x, (list, tuple)):
        for part in x:
            yield from leaves(part)
    else:
        yield x


def calls(row: ArrayRule) -> Iterator[tuple[Any, Any, list[Any]]]:
    """Arguments of batches, their axes, and the results of the loop, where these have one form."""
    for number, draw in enumerate(row.samples):
        drawn = [draw(np.random.default_rng(100 * number + i)) for i in range(COUNT)]
        draws = [[list(x[:-1]), x[-1]] if isinstance(x[-1], dict) else [list(x), {}] for x in drawn]
        every = axes_of(draws)
        for axes in (every, only_first(every, [])):
            if 0 not in list(leaves([axes[0], list(axes[1].values())])):
                continue
            given = stacked(draws, axes)
            try:
                each = [sample(given, axes, i) for i in range(COUNT)]
                found = [list(leaves(row.function(*args, **named))) for args, named in each]
                yield given, axes, [np.stack(parts) for parts in zip(*found, strict=True)]
            except (ValueError, TypeError, np.linalg.LinAlgError):
                continue  # the samples' results have different forms


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: describe(row.function))
def test_a_function_equals_the_loop(row: ArrayRule) -> None:
    def f(args: Any, named: Any) -> Any:
        return row.function(*args, **named)

    for given, axes, wanted in calls(row):
        if any(each.dtype == object for each in wanted):
            continue
        found = list(leaves(batched(f, axes=tuple(axes))(*given)))
        for a, b in zip(found, wanted, strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            if b.dtype.kind not in "fc":
                assert np.array_equal(a, b)
                continue
            # products of matrices and sums may be taken in another order
            size = np.max(np.abs(b[np.isfinite(b)]), initial=1e-30)
            np.testing.assert_allclose(a, b, rtol=0.0, atol=float(4 * np.finfo(float).eps * size))


def test_most_functions_have_a_form() -> None:
    functions = {row.function for row in ROWS}
    assert sum(function in FORMS for function in functions) > len(functions) / 2
