"""``batched``: a function of one sample as a function of many."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from overlay import nonoverlay
from overlay.contexts.rules_alone import in_program, runs_alone
from overlay.core.short_repr import counted
from overlay.core.target import refuse_values
from overlay.interpretations.autodiff.duals import Active
from overlay.interpretations.batching.batch_methods import CONTEXT
from overlay.interpretations.batching.batches import Batch, mapped
from overlay.interpretations.batching.sample_runs import BatchRun, Split, current

__all__ = ["batched"]


@runs_alone
def batched(
    f: Callable[..., Any], *, axes: Any = 0, trace: Callable[[str], None] | None = None
) -> Callable[..., Any]:
    """A function of one sample, as a function of arrays of samples.

    ``batched(f)(xs)`` equals ``np.stack([f(x) for x in xs])``, and runs ``f`` for all samples at
    once, with whole arrays. Where samples differ in a condition, a length or an error, they are
    split into groups, and ``f`` is run again for each group, side effects included. Results are
    numbers, arrays, and containers of these.

    Parameters
    ----------
    f : callable
        Any Python function of numbers and arrays.
    axes : int, None, or tuple or list of these
        The axis of the samples: one integer for all positional arguments, or one for each, in a
        tuple or list. None is for an argument that all samples share, as keyword arguments are.
        For an argument that is a tuple, list or dict, one axis applies to each array in it, or a
        container of axes is given.
    trace : callable or None
        Called with the name of each call that has no form for whole arrays, and is made for each
        sample. The logger ``overlay.batching`` records these, too.

    Returns
    -------
    callable
        The function of samples; its results have the axis of the samples first.

    Examples
    --------
    >>> import numpy as np
    >>> from overlay.interpretations.batching import batched
    >>> def f(x):
    ...     if x[0] > 0.0:
    ...         return x @ x
    ...     return x[1]
    >>> batched(f)(np.array([[1.0, 2.0], [-1.0, 7.0]]))
    array([5., 7.])
    """
    refuse_values(f, "batch", "give a function, as in batched(f)")

    @functools.wraps(f)
    @runs_alone
    def of_samples(*args: Any, **kwargs: Any) -> Any:
        if any(is_taped(x) for x in args):
            return one_by_one(f, args, axes, kwargs)
        call = begin(args, axes, trace)
        while call.pending:
            run, given = entered(call)
            if run is None:  # of one sample
                left(call, in_program(f, *given, **kwargs))
                continue
            token = current.set(run)
            try:
                found = in_program(CONTEXT, f, *given, **kwargs)
            except Split as split:
                if split.run is not run:
                    raise
            except Exception as error:
                failed(call, error)
            else:
                left(call, found)
            finally:
                current.reset(token)
            divided(call)
        return joined(call)

    return of_samples


def _is_taped(x: Any) -> bool:
    """Whether an argument holds values that reverse mode records."""
    if type(x) is dict:
        return any(map(_is_taped, x.values()))
    if isinstance(x, Active):
        return x.level.is_taped or _is_taped(x.value)
    return isinstance(x, (list, tuple)) and any(map(_is_taped, x))


def _one_by_one(f: Any, args: tuple[Any, ...], axes: Any, kwargs: dict[str, Any]) -> Any:
    """The results of a loop over samples, in the program's context."""
    spread = axes if isinstance(axes, (tuple, list)) else [axes] * len(args)
    count = max(
        np.shape(x)[axis] for x, axis in zip(args, spread, strict=True) if isinstance(axis, int)
    )

    def sample(x: Any, axis: Any, i: int) -> Any:
        if axis is None:
            return x
        return x[i] if axis == 0 else np.moveaxis(x, axis, 0)[i]

    found = [
        in_program(f, *(sample(x, axis, i) for x, axis in zip(args, spread, strict=True)), **kwargs)
        for i in range(count)
    ]
    return _stacked(found)


def _stacked(found: list[Any]) -> Any:
    first = found[0]
    if isinstance(first, (list, tuple)) and not isinstance(first, Active):
        return tuple(_stacked([x[k] for x in found]) for k in range(len(first)))
    if isinstance(first, dict):
        return {key: _stacked([x[key] for x in found]) for key in first}
    return np.stack([np.asarray(x) for x in found]) if np.ndim(first) else np.array(found)


class _Driver:
    """A call of a batched function.

    count: the number of its samples; size: that in all samples of an enclosing run. pending: the
    groups of samples that are to be run, the last one first. rows, run: the group that runs.
    results: the samples of each group that has run, and their results.
    """

    def __init__(
        self, args: tuple[Any, ...], axes: Any, trace: Callable[[str], None] | None
    ) -> None:
        self.trace = trace
        self.parent = current.get()
        spread = axes if isinstance(axes, (tuple, list)) else [axes] * len(args)
        if len(spread) != len(args):
            raise ValueError(
                f"batched: {counted(len(spread), 'axis', 'axes')} for "
                f"{counted(len(args), 'argument')}"
            )
        self.sizes: dict[int, None] = {}
        self.args = [self._moved(x, axis) for x, axis in zip(args, spread, strict=True)]
        if len(self.sizes) > 1:
            sizes = ", ".join(map(str, self.sizes))
            raise ValueError(f"batched: the arguments have different numbers of samples: {sizes}")
        if not self.sizes:
            raise ValueError("batched: no argument has an axis of samples; name one in axes")
        (self.count,) = self.sizes
        if not self.count:
            raise ValueError("batched: there are no samples, so that the results are unknown")
        self.size = self.count * (1 if self.parent is None else self.parent.size)
        self.pending = [np.arange(self.size)]
        self.results: list[tuple[Any, Any]] = []
        self.rows, self.run = self.pending[0], BatchRun(self.pending[0])

    def _moved(self, x: Any, axis: Any) -> Any:
        """An argument with the samples first, in place of its arrays, as ``_Rows``."""
        if axis is None:
            return x
        if isinstance(x, Active):
            return self._active(x, axis)
        if isinstance(x, (tuple, list)):
            each = axis if isinstance(axis, (tuple, list)) else [axis] * len(x)
            parts = [self._moved(part, k) for part, k in zip(x, each, strict=True)]
            return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
        if type(x) is dict:
            return {
                key: self._moved(part, axis[key] if type(axis) is dict else axis)
                for key, part in x.items()
            }
        if type(x) is Batch and self.parent is not None:
            places = self.parent.rows_in(x.run)
            if places is None:
                raise RuntimeError("a value of one run of a batched function is used in another")
            value = np.moveaxis(x.value[places], axis % x.ndim + 1, 1)
            self.sizes[value.shape[1]] = None
            return _Rows(value.reshape(-1, *value.shape[2:]))
        value = np.moveaxis(np.asarray(x), axis, 0)
        self.sizes[value.shape[0]] = None
        if self.parent is not None:
            value = np.tile(value, (self.parent.size, *[1] * (value.ndim - 1)))
        return _Rows(value)

    def _active(self, x: Any, axis: int) -> Any:
        """An argument of a derivative: a number or an array of its level, whose value and tangents
        are batches."""
        parts = self._moved(x.value, axis), tuple(self._moved(t, axis) for t in x.tangents)
        level = x.level
        return (level.array if np.ndim(x.value) > 1 else level.number)(*parts)

    def enter(self) -> tuple[BatchRun | None, list[Any]]:
        """The run of the next group, and its arguments; of one sample there is no run."""
        rows = self.rows = self.pending.pop()
        if len(rows) == 1 and self.parent is None:
            row = int(rows[0])
            return None, [_replaced(x, lambda given: _one(given, row)) for x in self.args]
        run = self.run = BatchRun(rows, self.parent, self.count, self.trace)
        return run, [_replaced(x, lambda given: Batch(run, given.value[rows])) for x in self.args]

    def fail(self, error: Exception) -> None:
        """Run each sample of a group that raised an error alone: the first that raises it does so
        separately.
        """
        if self.run.pending is None:
            if self.run.size == 1:
                raise error
            self.run.pending = Split(self.run, range(self.run.size), type(error).__name__)

    def leave(self, found: Any) -> None:
        """Store the result of a run, unless the program continued after the run was split."""
        if self.run.pending is None or (len(self.rows) == 1 and self.parent is None):
            self.results.append((self.rows, mapped(found, self._values)))

    def _values(self, x: Batch) -> Any:
        """The values of a result, which may be one of an enclosing run."""
        places = self.run.rows_in(x.run)
        if places is None:
            raise RuntimeError("a value of one run of a batched function is used in another")
        return _Rows(x.value[places])

    def divide(self) -> None:
        """Note the groups into which a run was split."""
        pending = self.run.pending
        if pending is not None:
            groups = pending.groups()
            if len(groups) == self.run.size > 2:
                self.run.note(f"the program, after {pending.why},")
            self.pending.extend(self.rows[group] for group in reversed(groups))

    def join(self) -> Any:
        """The results of all groups, in the order of the samples."""
        order = np.argsort(np.concatenate([rows for rows, _ in self.results]), kind="stable")
        return _joined(self, self.results, order)


class _Rows:
    """An array of an argument, whose first axis is that of the samples."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _replaced(x: Any, each: Callable[[_Rows], Any]) -> Any:
    return mapped(x, each, _Rows)


def _one(rows: _Rows, row: int) -> Any:
    found = rows.value[row]
    return found.copy() if isinstance(found, np.ndarray) else found


def _joined(call: _Driver, groups: list[tuple[Any, Any]], order: Any) -> Any:
    first = next((x for _, x in groups if isinstance(x, Active)), groups[0][1])
    if isinstance(first, Active):
        return _joined_active(call, groups, order, first)
    if isinstance(first, (list, tuple)):
        if any(type(x) is not type(first) or len(x) != len(first) for _, x in groups):
            raise ValueError("batched: the samples' results have different forms")
        parts = [
            _joined(call, [(rows, x[k]) for rows, x in groups], order) for k in range(len(first))
        ]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    if type(first) is dict:
        if any(type(x) is not dict or x.keys() != first.keys() for _, x in groups):
            raise ValueError("batched: the samples' results have different forms")
        return {key: _joined(call, [(rows, x[key]) for rows, x in groups], order) for key in first}
    values = [_spread(x, len(rows)) for rows, x in groups]
    shapes = list(dict.fromkeys(value.shape[1:] for value in values))
    if len(shapes) > 1:
        raise ValueError(f"batched: the samples' results have different shapes: {shapes}")
    found = np.concatenate(values)[order]
    if call.parent is None:
        return found
    return Batch(call.parent, found.reshape(call.parent.size, call.count, *found.shape[1:]))


def _joined_active(call: _Driver, groups: list[tuple[Any, Any]], order: Any, first: Any) -> Any:
    """The results of a derivative's level; those of some groups may be constant."""
    kind = (first.level.number, first.level.array)

    def value(x: Any) -> Any:
        return x.value if isinstance(x, kind) else x

    def tangent(x: Any, k: int) -> Any:
        return x.tangents[k] if isinstance(x, kind) else np.zeros(np.shape(x))

    return first.level.array(
        _joined(call, [(rows, value(x)) for rows, x in groups], order),
        tuple(
            _joined(call, [(rows, tangent(x, k)) for rows, x in groups], order)
            for k in range(len(first.tangents))
        ),
    )


def _spread(x: Any, count: int) -> Any:
    """The values of a group's samples."""
    if type(x) is _Rows:
        return x.value
    plain = np.asarray(x)
    return np.broadcast_to(plain, (count, *plain.shape))


is_taped = nonoverlay(_is_taped)
one_by_one = _one_by_one
# the driver is not a part of the program, which an enclosing run may follow
begin, entered, failed = (
    nonoverlay(_Driver),
    nonoverlay(_Driver.enter),
    nonoverlay(_Driver.fail),
)
left, divided, joined = (
    nonoverlay(_Driver.leave),
    nonoverlay(_Driver.divide),
    nonoverlay(_Driver.join),
)
