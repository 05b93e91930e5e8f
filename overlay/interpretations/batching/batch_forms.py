"""Forms of numpy's functions for whole batches: one registry, by function.

Which parameters hold data, and how arguments bind, are facts of the rules of differentiation.
A call that has no form here is made for each sample.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overlay.interpretations.autodiff.rules.array_rules import array_rule_of
from overlay.interpretations.autodiff.rules.tables.layouts import astype
from overlay.interpretations.batching.batches import Batch, leaves, mapped
from overlay.interpretations.batching.one_by_one import viewed
from overlay.interpretations.batching.sample_runs import BatchRun
from overlay.interpretations.batching.shaping import (
    NoForm,
    aligned,
    depth_of,
    joined,
    result,
    rows_of,
)

__all__ = ["FORMS", "Form", "NoForm", "rule_of"]

Form = Callable[[BatchRun, Any, Sequence[Any], dict[str, Any]], Any]
"""Makes a call with batches among its arguments: of a run, a function, its arguments."""


def rule_of(function: Any) -> Any:
    """The form of a function; None if it has none."""
    return FORMS.get(function)


def _bound(function: Any, args: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
    """The arguments by parameter."""
    return _binding(function, args, named).arguments


def _binding(function: Any, args: Sequence[Any], named: dict[str, Any]) -> inspect.BoundArguments:
    rule = array_rule_of(function)
    try:
        signature = inspect.signature(function) if rule is None else rule.signature
        return signature.bind(*args, **named)
    except (TypeError, ValueError):
        raise NoForm from None


def _data(function: Any) -> tuple[str, ...]:
    rule = array_rule_of(function)
    return ("a",) if rule is None else rule.data


def _only(given: dict[str, Any], *names: str) -> None:
    """Raise NoForm if parameters other than these hold batches."""
    if any(leaves(x) for name, x in given.items() if name not in names):
        raise NoForm


def _batch(run: BatchRun, x: Any) -> Batch:
    """An argument as a batch of arrays."""
    if type(x) is Batch:
        return x
    if leaves(x):
        return joined(run, x)
    return Batch(run, rows_of(run, x))


# ---- elements rearranged ------------------------------------------------------------------


def rearranged(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """Each element of the result is an element of the data, at the same place for all samples: a
    view if the function returns one, else taken by the places.
    """
    bound = _binding(function, args, named)
    data = _data(function)
    _only(bound.arguments, *data)
    batches = leaves([bound.arguments.get(name) for name in data])
    if len(batches) == 1 and batches[0].ndim:
        (only,) = batches
        value = only.value

        def first(x: Batch) -> Any:
            return value[0]

        found = function(*[mapped(x, first) for x in args], **_each(named, first))
        parts = [found] if isinstance(found, np.ndarray) else found
        if isinstance(parts, (list, tuple)) and parts and value[0].size:
            shared = [isinstance(x, np.ndarray) and np.may_share_memory(x, value[0]) for x in parts]
            if all(shared):
                return _again(found, [viewed(run, value, x) for x in parts])
            if any(shared):
                raise NoForm
    return _by_places(run, function, bound, data)


def _each(named: dict[str, Any], each: Callable[[Any], Any]) -> dict[str, Any]:
    return {name: mapped(x, each) for name, x in named.items()}


def _again(found: Any, parts: list[Any]) -> Any:
    if isinstance(found, np.ndarray) or not isinstance(found, (list, tuple)):
        return parts[0]
    return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)


def _by_places(
    run: BatchRun, function: Any, bound: inspect.BoundArguments, data: tuple[str, ...]
) -> Any:
    """The result by the places of its elements among those of all data; place 0 is a zero."""
    pool: list[Any] = []
    kinds: list[Any] = []
    count = itertools.count()
    size = 1

    def places(x: Any) -> Any:
        nonlocal size
        if isinstance(x, (list, tuple)):
            return type(x)(places(each) for each in x)
        next(count)
        if type(x) is not Batch and not isinstance(x, (np.ndarray, np.generic, float, int)):
            raise NoForm
        value = rows_of(run, x)
        kinds.append(0.0 if type(x) is float else 0 if type(x) is int else value.dtype)
        pool.append(value.reshape(run.size, -1))
        shape = value.shape[1:]
        length = int(np.prod(shape))
        made = np.arange(size, size + length).reshape(shape)
        size += length
        return made if shape else int(made)

    for name in data:
        if name in bound.arguments:
            bound.arguments[name] = places(bound.arguments[name])
    found = function(*bound.args, **bound.kwargs)
    kind = np.result_type(*kinds)
    pool.insert(0, np.zeros((run.size, 1)))
    whole = np.concatenate([each.astype(kind) for each in pool], axis=1)
    parts = list(found) if isinstance(found, (list, tuple)) else [found]
    if not all(isinstance(x, np.ndarray) and x.dtype.kind == "i" for x in parts):
        raise NoForm
    return _again(found, [Batch(run, whole[:, x]) for x in parts])


REARRANGING: tuple[Any, ...] = (
    np.ravel, np.reshape, np.transpose, np.flip, np.roll, np.concatenate, np.stack, np.atleast_1d,
    np.atleast_2d, np.atleast_3d, np.fliplr, np.flipud, np.rot90, np.swapaxes, np.moveaxis,
    np.rollaxis, np.squeeze, np.expand_dims, np.broadcast_to, np.broadcast_arrays, np.repeat,
    np.tile, np.resize, np.meshgrid, np.triu, np.tril, np.diag, np.diagflat, np.diagonal,
    np.matrix_transpose, np.vstack, np.hstack, np.dstack, np.column_stack, np.block, np.append,
    np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.take, np.take_along_axis,
    np.choose, np.compress, np.extract, np.select, np.insert, np.delete, np.linalg.matrix_transpose,
    np.linalg.diagonal, np.fft.fftshift, np.fft.ifftshift,
    *filter(None, [getattr(np, "unstack", None)]),
)  # fmt: skip


# ---- along axes ---------------------------------------------------------------------------


def along(default: Any, *others: str, whole: bool = True) -> Form:
    """The form of a function along an axis of its first parameter.

    default: the axis if there is none; None: all elements, as one row. others: parameters that must
    not be given. whole: whether the function takes several axes.
    """

    def form(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
        bound = _binding(function, args, named)
        given = dict(bound.arguments)
        first = next(iter(bound.signature.parameters))
        _only(given, first)
        if any(_is_given(given.get(name)) for name in ("out", "mean", *others)):
            raise NoForm
        x = _batch(run, given.pop(first))
        axis = given.pop("axis", default)
        keep = given.get("keepdims", False)
        value = x.value
        if not x.ndim:
            raise NoForm
        if axis is None and _is_given(given.get("where")):
            axis = range(x.ndim)
        if axis is None:
            value = value.reshape(run.size, -1)
            found = _called(function, value, given, bound, 1, keep=False)
            if keep is True:
                found = found.reshape(*found.shape, *[1] * x.ndim)
            return result(run, _samples_first(found, given))
        if isinstance(axis, (tuple, list, range)):
            if not whole:
                raise NoForm
            shifted: Any = tuple(_shifted(k, x.ndim) for k in axis)
            if not shifted:
                raise NoForm
        else:
            shifted = _shifted(axis, x.ndim)
        return result(run, _samples_first(_called(function, value, given, bound, shifted), given))

    return form


def _called(
    function: Any,
    value: Any,
    given: dict[str, Any],
    bound: inspect.BoundArguments,
    axis: Any,
    *,
    keep: bool = True,
) -> Any:
    named = {name: x for name, x in given.items() if keep or name != "keepdims"}
    extra = named.pop("kwargs", {})
    kinds = bound.signature.parameters
    place = [name for name in kinds if kinds[name].kind is inspect.Parameter.POSITIONAL_ONLY]
    rest = [named.pop(name) for name in list(named) if name in place]
    return function(value, *rest, axis=axis, **named, **extra)


def _samples_first(found: Any, given: dict[str, Any]) -> Any:
    """The result of a quantile, whose first axes are those of ``q``."""
    q = given.get("q")
    if q is None or not np.ndim(q):
        return found
    return np.moveaxis(found, range(np.ndim(q)), range(1, np.ndim(q) + 1))


def _is_given(x: Any) -> bool:
    return x is not None and x is not getattr(np, "_NoValue", None) and x is not True


def _shifted(axis: Any, ndim: int) -> int:
    if not isinstance(axis, (int, np.integer)) or not -ndim <= axis < ndim:
        raise NoForm  # numpy raises its error
    return int(axis) % ndim + 1


def fourier(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of transforms of several axes."""
    given = _bound(function, args, named)
    _only(given, "a")
    x = _batch(run, given.pop("a"))
    s = given.get("s")
    axes = given.pop("axes", (-2, -1) if function.__name__.endswith("2") else None)
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    return Batch(run, function(x.value, axes=[_shifted(k, x.ndim) for k in axes], **given))


# ---- element by element -------------------------------------------------------------------


def elementwise(*names: str) -> Form:
    """The form of a function that broadcasts these parameters."""

    def form(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
        bound = _binding(function, args, named)
        given = bound.arguments
        _only(given, *names)
        if _is_given(given.get("out")):
            raise NoForm
        here = [name for name in names if name in given]
        values = [
            joined(run, given[name]) if type(given[name]) in (list, tuple) else given[name]
            for name in here
        ]
        for name, value in zip(here, aligned(run, values), strict=True):
            given[name] = value
        found = function(*bound.args, **bound.kwargs)
        if not isinstance(found, (np.ndarray, tuple)):
            raise NoForm
        return result(run, found)

    return form


# ---- matrices and products ----------------------------------------------------------------


def stacked(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of a function of matrices that takes stacks of them."""
    bound = _binding(function, args, named)
    first = next(iter(bound.signature.parameters))
    _only(bound.arguments, first)
    x = _batch(run, bound.arguments[first])
    if x.ndim < 2:
        raise NoForm
    bound.arguments[first] = x.value
    return result(run, function(*bound.args, **bound.kwargs))


def solved(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.linalg.solve``."""
    a, b = (_bound(function, args, named)[name] for name in ("a", "b"))
    vector = depth_of(b) == 1
    a, b = _batch(run, a), _batch(run, b)
    if vector:
        return Batch(run, np.linalg.solve(a.value, b.value[..., None])[..., 0])
    if a.ndim != 2 or b.ndim != 2:
        raise NoForm
    return Batch(run, np.linalg.solve(a.value, b.value))


def _pair(function: Any, args: Sequence[Any], named: dict[str, Any], *more: str) -> Any:
    bound = _binding(function, args, named)
    names = list(bound.signature.parameters)
    if set(bound.arguments) - {*names[:2], *more}:
        raise NoForm
    return [bound.arguments[name] for name in names[:2]]


def _contracted(
    run: BatchRun, a: Any, b: Any, first: Sequence[int], second: Sequence[int]
) -> Batch:
    """The products of two arrays, summed over axes of the samples: a product of matrices."""
    a, b = _batch(run, a), _batch(run, b)
    kept = [k for k in range(a.ndim) if k not in first]
    other = [k for k in range(b.ndim) if k not in second]
    shape = [*(a.shape[k] for k in kept), *(b.shape[k] for k in other)]
    size = int(np.prod([a.shape[k] for k in first]))
    if size != int(np.prod([b.shape[k] for k in second])):
        raise NoForm
    rows = int(np.prod([a.shape[k] for k in kept]))
    columns = int(np.prod([b.shape[k] for k in other]))
    x = a.value.transpose(0, *(k + 1 for k in (*kept, *first))).reshape(run.size, rows, size)
    y = b.value.transpose(0, *(k + 1 for k in (*second, *other))).reshape(run.size, size, columns)
    return Batch(run, np.matmul(x, y).reshape(run.size, *shape))


def dotted(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.dot``, ``np.inner`` and ``np.vdot``."""
    a, b = (_batch(run, x) for x in _pair(function, args, named))
    if function is np.vdot:
        a = Batch(run, np.conjugate(a.value).reshape(run.size, -1))
        b = Batch(run, b.value.reshape(run.size, -1))
    if not a.ndim or not b.ndim:
        return Batch(run, np.multiply(*aligned(run, (a, b))))
    last = b.ndim - 2 if function is np.dot and b.ndim > 1 else b.ndim - 1
    return _contracted(run, a, b, [a.ndim - 1], [last])


def outer(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.outer``."""
    a, b = (_batch(run, x).value.reshape(run.size, -1) for x in _pair(function, args, named))
    return Batch(run, a[:, :, None] * b[:, None, :])


def tensordot(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.tensordot``."""
    bound = _binding(function, args, named)
    _only(bound.arguments, *list(bound.signature.parameters)[:2])
    axes = bound.arguments.get("axes", 2)
    a, b = (_batch(run, x) for x in _pair(function, args, named, "axes"))
    if isinstance(axes, (int, np.integer)):
        first, second = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        first, second = ([x] if isinstance(x, int) else list(x) for x in axes)
    first, second = [k % a.ndim for k in first], [k % b.ndim for k in second]
    if [a.shape[k] for k in first] != [b.shape[k] for k in second]:
        raise NoForm
    return _contracted(run, a, b, first, second)


def kron(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.kron``."""
    a, b = (_batch(run, x) for x in _pair(function, args, named))
    depth = max(a.ndim, b.ndim)
    x, y = (v.value.reshape(run.size, *[1] * (depth - v.ndim), *v.shape) for v in (a, b))
    shape = [p * q for p, q in zip(x.shape[1:], y.shape[1:], strict=True)]
    x = np.expand_dims(x, [2 * k + 2 for k in range(depth)])
    y = np.expand_dims(y, [2 * k + 1 for k in range(depth)])
    return Batch(run, (x * y).reshape(run.size, *shape))


def traced(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.trace``."""
    given = _bound(function, args, named)
    first = "a" if "a" in given else "x"
    _only(given, first)
    x = _batch(run, given.pop(first))
    if function is not np.trace:
        given |= {"axis1": -2, "axis2": -1}
    one, two = (_shifted(given.pop(name, k), x.ndim) for k, name in enumerate(("axis1", "axis2")))
    return Batch(run, np.trace(x.value, axis1=one, axis2=two, **given))


def einsum(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.einsum`` with subscripts: one letter more, of the samples."""
    if not args or type(args[0]) is not str or named.keys() - {"optimize"}:
        raise NoForm
    text = args[0].replace(" ", "")
    inputs, arrow, output = text.partition("->")
    if not arrow:
        letters = sorted({x for x in inputs if x.isalpha() and inputs.count(x) == 1})
        output = "..." * ("..." in inputs) + "".join(letters)
    free = next(x for x in "zyxwvutsrqponmlkjihgfedcbaZYXWVUTSRQPONMLKJIHGFEDCBA" if x not in text)
    terms: list[str] = []
    values: list[Any] = []
    for term, x in zip(inputs.split(","), args[1:], strict=True):
        if isinstance(x, (list, tuple)) and leaves(x):
            x = joined(run, x)
        terms.append(free + term if type(x) is Batch else term)
        values.append(x.value if type(x) is Batch else x)
    return Batch(run, np.einsum(f"{','.join(terms)}->{free}{output}", *values, **named))


def convolved(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.convolve`` and ``np.correlate``: products with windows."""
    bound = _binding(function, args, named)
    _only(bound.arguments, "a", "v")
    mode = bound.arguments.get("mode", "full" if function is np.convolve else "valid")
    a, v = (_batch(run, bound.arguments[name]) for name in ("a", "v"))
    if a.ndim != 1 or v.ndim != 1 or mode not in ("full", "valid", "same"):
        raise NoForm
    x, y = a.value, v.value
    if function is np.correlate:
        if y.shape[1] > x.shape[1]:
            raise NoForm
        y = np.conjugate(y)
    else:
        if y.shape[1] > x.shape[1]:
            x, y = y, x
        y = y[:, ::-1]
    size, width = x.shape[1], y.shape[1]
    if not size or not width:
        raise NoForm
    if mode != "valid":
        x = np.pad(x, ((0, 0), (width - 1, width - 1)))
    windows = np.lib.stride_tricks.sliding_window_view(x, width, axis=1)
    found = np.matmul(windows, y[:, :, None])[:, :, 0]
    if mode == "same":
        start = (width - 1) // 2
        found = found[:, start : start + size]
    return Batch(run, found)


def arrayed(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.array`` and similar functions."""
    given = dict(zip(("object", "dtype"), args, strict=False)) | named
    x = given.pop("object", given.pop("a", None))
    dtype, copy = given.pop("dtype", None), given.pop("copy", function in (np.array, np.copy))
    if leaves(given) or any(
        _is_given(each) and each != 0 for k, each in given.items() if k != "order"
    ):
        raise NoForm
    if given.get("order") not in (None, "K", "C", "A"):
        raise NoForm
    if dtype is not None and np.dtype(dtype).kind not in "biufc":
        raise NoForm
    if type(x) is not Batch:
        found = joined(run, x).value
        return Batch(run, found if dtype is None else found.astype(dtype))
    if not x.ndim:
        raise NoForm
    if copy or (dtype is not None and np.dtype(dtype) != x.dtype):
        return Batch(run, np.array(x.value, dtype))
    return x


def shaped_like(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.zeros_like`` and similar functions."""
    bound = _binding(function, args, named)
    names = list(bound.signature.parameters)
    if function is np.full_like and type(bound.arguments["fill_value"]) is Batch:
        filled = bound.arguments["fill_value"]
        bound.arguments["fill_value"] = filled.value.reshape(
            -1, *[1] * depth_of(bound.arguments[names[0]])
        )
        if filled.ndim:
            raise NoForm
    else:
        _only(bound.arguments, names[0])
    if _is_given(bound.arguments.get("shape")):
        raise NoForm
    x = bound.arguments[names[0]]
    bound.arguments[names[0]] = x.value if type(x) is Batch else rows_of(run, x)
    return Batch(run, function(*bound.args, **bound.kwargs))


def asked(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of predicates that have one answer for all samples."""
    (x,) = args
    if type(x) is not Batch:
        raise NoForm
    return function(x.value[0], **named)


def defined(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of a function that others define, in its rule of differentiation."""
    rule = array_rule_of(function)
    every = leaves([*args, *named.values()])
    if rule is None or rule.by is None or any(x.dtype != np.float64 for x in every):
        raise NoForm
    return rule.by(*args, **named)


def padded(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.pad``."""
    bound = _binding(function, args, named)
    given = bound.arguments
    _only(given, "array")
    mode = given.get("mode", "constant")
    if not isinstance(mode, str) or mode == "empty" or isinstance(given["pad_width"], dict):
        raise NoForm
    x = _batch(run, given["array"])
    if not x.ndim or set(given.get("kwargs", {})) - {"reflect_type", "constant_values"}:
        raise NoForm
    if np.ndim(given.get("kwargs", {}).get("constant_values", 0)):
        raise NoForm
    widths = np.broadcast_to(np.asarray(given["pad_width"]), (x.ndim, 2)).tolist()
    given["array"], given["pad_width"] = x.value, [(0, 0), *widths]
    return Batch(run, function(*bound.args, **bound.kwargs))


def normed(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.linalg.norm`` and similar functions: of vectors, or of matrices."""
    given = _bound(function, args, named)
    _only(given, "x")
    x = _batch(run, given.pop("x"))
    order, axis = given.get("ord"), given.pop("axis", None)
    if not x.ndim:
        raise NoForm
    value = x.value
    if function is np.linalg.matrix_norm:
        return Batch(run, function(value, **given))
    keep = given.pop("keepdims", False)
    depth = x.ndim
    if axis is None and (order is None or x.ndim == 1 or function is np.linalg.vector_norm):
        value, shifted = value.reshape(run.size, -1), 1
    elif axis is None:
        shifted = tuple(range(1, x.ndim + 1))
    elif isinstance(axis, tuple):
        shifted = tuple(_shifted(k, x.ndim) for k in axis)
    else:
        shifted = _shifted(axis, x.ndim)
    if axis is None:
        found = function(value, axis=shifted, **given)
        return Batch(run, found.reshape(-1, *[1] * depth) if keep else found)
    return Batch(run, function(value, axis=shifted, keepdims=keep, **given))


def crossed(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.cross`` of the last axes."""
    pair = _pair(function, args, named)
    if not all(depth_of(x) for x in pair):
        raise NoForm
    return Batch(run, function(*aligned(run, [_batch(run, x) for x in pair])))


def sloped(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.gradient``."""
    bound = _binding(function, args, named)
    first = next(iter(bound.signature.parameters))
    _only(bound.arguments, first)
    extra = dict(bound.arguments.get("kwargs", {}))
    axis = bound.arguments.get("axis", extra.pop("axis", None))
    order = bound.arguments.get("edge_order", extra.pop("edge_order", 1))
    x = _batch(run, bound.arguments[first])
    axes = range(x.ndim) if axis is None else axis
    shifted = (
        _shifted(axes, x.ndim)
        if isinstance(axes, (int, np.integer))
        else tuple(_shifted(k, x.ndim) for k in axes)
    )
    spacing = bound.arguments.get("varargs", ())
    return result(run, function(x.value, *spacing, axis=shifted, edge_order=order))


def spaced(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.linspace``, ``np.logspace`` and ``np.geomspace``."""
    bound = _binding(function, args, named)
    given = bound.arguments
    _only(given, "start", "stop")
    given["start"], given["stop"] = aligned(
        run, [_batch(run, given[name]) for name in ("start", "stop")], weak=False
    )
    depth = given["start"].ndim
    axis = given.get("axis", 0)
    if given.get("retstep"):
        raise NoForm
    given["axis"] = axis % depth + 1 if axis >= 0 else axis
    if depth == 1 and axis not in (0, -1):
        raise NoForm
    return Batch(run, function(*bound.args, **bound.kwargs))


def polynomial(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.polyval``, as numpy computes it."""
    given = _bound(function, args, named)
    p, x = _batch(run, given["p"]), given["x"]
    if p.ndim != 1 or isinstance(x, np.poly1d):
        raise NoForm
    (x,) = aligned(run, (_batch(run, x),))
    total: Any = np.zeros_like(x)
    for k in range(p.size):
        total = total * x + p.value[:, k].reshape(-1, *[1] * (x.ndim - 1))
    return Batch(run, total)


def accumulated(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.cumulative_sum`` and ``np.cumulative_prod``."""
    bound = _binding(function, args, named)
    _only(bound.arguments, next(iter(bound.signature.parameters)))
    x, *rest = bound.args
    x = _batch(run, x)
    axis = bound.arguments.get("axis")
    if rest or (axis is None and x.ndim != 1) or _is_given(bound.arguments.get("out")):
        raise NoForm
    named = dict(bound.kwargs)
    named["axis"] = _shifted(0 if axis is None else axis, x.ndim)
    return Batch(run, function(x.value, **named))


def multiplied(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of functions of ``np.linalg`` that are ufuncs elsewhere."""
    if named:
        raise NoForm
    return getattr(np, function.__name__)(*args)


def compared(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.allclose``."""
    found = np.isclose(*args, **named)
    return Batch(run, found.value.reshape(run.size, -1).all(1), python=True)


def differences(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The form of ``np.diff``."""
    return along(-1, "prepend", "append")(run, function, args, named)


_ROWWISE = (
    "argmax", "argmin", "nanargmax", "nanargmin", "cumsum", "cumprod", "nancumsum",
    "nancumprod",
)  # fmt: skip
_OF_MATRICES = (
    "inv", "pinv", "det", "slogdet", "cholesky", "eigh", "eigvalsh", "svd", "svdvals", "qr",
    "matrix_power", "cond", "matrix_rank",
)  # fmt: skip
_REDUCING = (
    "sum", "mean", "prod", "var", "std", "max", "min", "ptp", "any", "all", "nansum",
    "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "count_nonzero", "median",
    "quantile", "percentile", "nanmedian", "nanquantile", "nanpercentile",
)  # fmt: skip
FORMS: dict[Any, Form] = {
    **dict.fromkeys(REARRANGING, rearranged),
    **{getattr(np, name): along(None) for name in _REDUCING},
    **{getattr(np, name): along(None, whole=False) for name in _ROWWISE},
    **{
        getattr(np, name): along(-1, whole=False)
        for name in ("sort", "argsort", "partition", "argpartition", "unwrap")
    },
    np.diff: differences,
    **{
        getattr(np.fft, name): along(-1, whole=False)
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    },
    **{
        getattr(np.fft, name): fourier
        for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
    },
    **{getattr(np.linalg, name): stacked for name in _OF_MATRICES},
    np.linalg.solve: solved,
    **dict.fromkeys((np.dot, np.inner, np.vdot), dotted),
    np.outer: outer,
    np.tensordot: tensordot,
    np.linalg.tensordot: tensordot,
    np.kron: kron,
    np.trace: traced,
    np.linalg.trace: traced,
    np.einsum: einsum,
    np.convolve: convolved,
    np.correlate: convolved,
    **dict.fromkeys((np.array, np.asarray, np.asanyarray, np.copy), arrayed),
    **dict.fromkeys((np.zeros_like, np.ones_like, np.empty_like, np.full_like), shaped_like),
    **dict.fromkeys((np.shape, np.ndim, np.size, np.isrealobj, np.iscomplexobj), asked),
    np.where: elementwise("condition", "x", "y"),
    np.clip: elementwise("a", "a_min", "a_max", "min", "max"),
    np.interp: elementwise("x"),
    np.searchsorted: elementwise("v"),
    np.digitize: elementwise("x"),
    np.isin: elementwise("element"),
    np.isclose: elementwise("a", "b"),
    np.round: elementwise("a"),
    np.nan_to_num: elementwise("x"),
    np.real: elementwise("val"),
    np.imag: elementwise("val"),
    np.angle: elementwise("z"),
    np.fix: elementwise("x"),
    np.sinc: elementwise("x"),
    np.i0: elementwise("x"),
    **dict.fromkeys((np.isneginf, np.isposinf, np.iscomplex, np.isreal), elementwise("x")),
    astype: elementwise("x"),
    np.pad: padded,
    **dict.fromkeys((np.linalg.norm, np.linalg.vector_norm, np.linalg.matrix_norm), normed),
    **dict.fromkeys((np.cross, np.linalg.cross), crossed),
    np.gradient: sloped,
    **dict.fromkeys((np.linspace, np.logspace, np.geomspace), spaced),
    np.polyval: polynomial,
    **dict.fromkeys((np.cumulative_sum, np.cumulative_prod), accumulated),
    **dict.fromkeys((np.linalg.matmul, np.linalg.vecdot), multiplied),
    np.linalg.outer: outer,
    np.allclose: compared,
    **dict.fromkeys((np.average, np.trapezoid), defined),
}
"""The forms, by function."""
