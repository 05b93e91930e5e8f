"""Application of operators and functions of numpy to batches."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overlay import nonoverlay
from overlay.catalogue.operator_ufuncs import UFUNCS
from overlay.core.target import INPLACE
from overlay.interpretations.batching import batches
from overlay.interpretations.batching.batch_forms import rule_of
from overlay.interpretations.batching.batches import Batch, leaves, mapped
from overlay.interpretations.batching.indexing import part, write
from overlay.interpretations.batching.one_by_one import looped, name_of
from overlay.interpretations.batching.sample_runs import BatchRun, Split
from overlay.interpretations.batching.shaping import NoForm, aligned, depth_of, result
from overlay.interpretations.batching.stacking import label

__all__ = ["applied", "applied_ufunc", "checked", "operate"]


PLAIN = (int, float, complex, bool, np.ndarray, np.float64)


def _of_one_run(args: Any, named: dict[str, Any]) -> tuple[BatchRun, Any, dict[str, Any]]:
    """The innermost run of some arguments, and the arguments as its batches."""
    direct = [x for x in args if type(x) is Batch]
    if len(direct) == len(args) - len([x for x in args if type(x) in PLAIN]) and not named:
        runs = [direct[0].run]
        if any(x.run is not runs[0] for x in direct):
            runs = list(dict.fromkeys(x.run for x in direct))
    else:
        runs = list(dict.fromkeys(x.run for x in leaves([*args, *named.values()])))
    run: BatchRun = runs[0]
    for other in runs[1:]:
        if other.rows_in(run) is not None:
            run = other
    if len(runs) == 1:
        return run, args, named

    def lifted(x: Batch) -> Batch:
        if x.run is run:
            return x
        places = run.rows_in(x.run)
        if places is None:
            raise RuntimeError("a value of one run of a batched function is used in another")
        return Batch(run, x.value[places], python=x.python)

    return run, mapped(tuple(args), lifted), mapped(dict(named), lifted)


def _looped(run: BatchRun, function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    return looped(run, function, args, named, name_of(function))


def _applied(function: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    run, args, named = _of_one_run(args, named)
    rule = rule_of(function)
    if rule is not None:
        try:
            return rule(run, function, args, named)
        except Split as split:  # of a form's own reads of batches, not the program's
            if split.run is not run:
                raise
            run.pending = None
        except Exception:  # there is no form, or an error of some samples: the others go on
            pass
    return _looped(run, function, args, named)


def _whole(run: BatchRun, ufunc: Any, args: Sequence[Any], named: dict[str, Any]) -> Any:
    """The result of an elementwise ufunc."""
    rest = set(named) - {"out", "where", "dtype", "casting", "order", "subok"}
    out: Any = named.get("out")
    if rest or (isinstance(out, tuple) and len(out) > 1):
        raise NoForm
    into: Any = next(iter(out), None) if isinstance(out, tuple) else out
    options = {key: x for key, x in named.items() if key not in ("out", "where")}
    if into is not None:
        if type(into) is not Batch or not into.ndim:
            run.one_by_one("an array that all samples share and that is written")
        if any(depth_of(x) > into.ndim for x in args):
            raise NoForm
        *given, where = aligned(run, (*args, named.get("where", True)), least=into.ndim)
        ufunc(*given, out=into.value, where=where, **options)
        return into
    if "where" in named:
        raise NoForm
    return result(run, ufunc(*aligned(run, args), **options))


def _matmul(run: BatchRun, a: Any, b: Any) -> Any:
    """The product of matrices and vectors."""
    first, second = depth_of(a) == 1, depth_of(b) == 1
    if not depth_of(a) or not depth_of(b):
        raise NoForm
    if first and second:
        x, y = aligned(run, (a, b))
        return Batch(
            run, np.matmul(x[:, None, :] if x.ndim > 1 else x[None, :], y[..., None])[:, 0, 0]
        )
    if first:
        a = _expanded(a, 0)
    if second:
        b = _expanded(b, 1)
    x, y = aligned(run, (a, b))
    found = np.matmul(x, y)
    if first:
        found = found[..., 0, :]
    if second:
        found = found[..., 0]
    return Batch(run, found)


def _expanded(x: Any, place: int) -> Any:
    if type(x) is Batch:
        return Batch(x.run, np.expand_dims(x.value, place + 1))
    return np.expand_dims(x, place)


def _core(run: BatchRun, ufunc: Any, args: Sequence[Any]) -> Any:
    """The result of a ufunc of vectors or matrices: only the axes before these are broadcast."""
    inputs = ufunc.signature.split("->")[0].split("),(")
    cores = [each.strip("()").count(",") + bool(each.strip("()")) for each in inputs]
    loops = max(depth_of(x) - core for x, core in zip(args, cores, strict=True))
    given: list[Any] = []
    for x, core in zip(args, cores, strict=True):
        if type(x) is Batch:
            least = loops + core
            (x,) = aligned(run, (x,), least=least)
        given.append(x)
    return result(run, ufunc(*given))


def _along(
    run: BatchRun, ufunc: Any, method: str, args: Sequence[Any], named: dict[str, Any]
) -> Any:
    """A ufunc's ``reduce`` and similar methods: along an axis of the samples."""
    if method == "outer" and len(args) == 2 and not named:
        a, b = args
        depth = depth_of(b)
        a = (
            Batch(run, a.value.reshape(*a.value.shape, *[1] * depth))
            if type(a) is Batch
            else np.reshape(a, (*np.shape(a), *[1] * depth))
        )
        return _whole(run, ufunc, (a, b), {})
    if method not in ("reduce", "accumulate") or len(args) > 2 or type(args[0]) is not Batch:
        raise NoForm
    named = dict(zip(("array", "axis"), args, strict=False)) | named
    a = named.pop("array")
    axis = named.pop("axis", 0)
    if leaves(named) or named.get("out") or named.keys() - {"keepdims", "dtype"}:
        raise NoForm
    if type(axis) is not int or not -a.ndim <= axis < a.ndim:
        raise NoForm
    return Batch(run, getattr(ufunc, method)(a.value, axis=axis % a.ndim + 1, **named))


def _applied_ufunc(ufunc: Any, method: str, args: Sequence[Any], named: dict[str, Any]) -> Any:
    run, args, named = _of_one_run(args, named)
    if any(isinstance(x, (list, tuple)) for x in args):
        args = [_array(run, x) if isinstance(x, (list, tuple)) else x for x in args]
    call = ufunc if method == "__call__" else getattr(ufunc, method)
    into = named.get("out")
    try:
        if method != "__call__":
            return _along(run, ufunc, method, args, named)
        if ufunc.signature is None:
            return _whole(run, ufunc, args, named)
        if named:
            raise NoForm
        return _matmul(run, *args) if ufunc is np.matmul else _core(run, ufunc, args)
    except NoForm:
        pass
    except Exception:
        if into is not None:
            run.one_by_one(name_of(ufunc))  # part of it may be written
    if into is not None and not leaves(into):
        run.one_by_one("an array that all samples share and that is written")
    if method == "at" and type(args[0]) is not Batch:
        run.one_by_one("an array that all samples share and that is written")
    name = name_of(ufunc) if method == "__call__" else f"{name_of(ufunc)}.{method}"
    if into is not None:
        target = into[0] if type(into) is tuple else into
        named = {**named, "out": target}
        looped(run, call, args, named, name)
        return target
    return looped(run, call, args, named, name)


def _array(run: BatchRun, x: Any) -> Any:
    return _applied(np.array, (x,), {}) if leaves(x) else x


# ---- operators ----------------------------------------------------------------------------

COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


def _operate(function: Any, args: Sequence[Any]) -> Any:
    if function is operator.getitem:
        run, (a, index), _ = _of_one_run(args, {})
        return part(run, a, index)
    if function is operator.setitem:
        run, (a, index, value), _ = _of_one_run(args, {})
        if type(a) is not Batch:
            run.one_by_one("an array that all samples share and that is written")
        return write(run, a, index, value)
    if id(function) in INPLACE:
        plain, _ = INPLACE[id(function)]
        if args[0].ndim:
            return _applied_ufunc(UFUNCS[plain], "__call__", args, {"out": (args[0],)})
        return _operate(plain, args)
    if any(not isinstance(x, (Batch, *NUMBERS, np.ndarray, np.generic, list, tuple)) for x in args):
        return NotImplemented
    run, args, _ = _of_one_run(args, {})
    ufunc = UFUNCS[function]
    if all(x.python if type(x) is Batch else type(x) in NUMBERS for x in args):
        if any(type(x) is Batch and x.value.dtype == bool for x in args) and (
            function not in COMPARISONS
        ):
            return _looped(run, function, args, {})
        return checked(run, function, ufunc, args)
    return _applied_ufunc(ufunc, "__call__", args, {})


NUMBERS = (int, float, complex, bool)


def checked(run: BatchRun, function: Any, ufunc: Any, args: Sequence[Any]) -> Any:
    """The results of a function of Python's numbers: by a ufunc, and by the function itself where
    that has no finite result, as the function may raise an error there."""
    with np.errstate(all="ignore"):
        try:
            found = ufunc(*aligned(run, args, weak=False))
        except (TypeError, OverflowError):
            return _looped(run, function, args, {})
    several = isinstance(found, tuple)
    parts = found if several else (found,)
    strange = ~np.logical_and.reduce([np.isfinite(each) for each in parts])
    if strange.any():
        rows = np.nonzero(strange)[0].tolist()
        labels: list[Any] = [None] * run.size

        def call(i: int) -> Any:
            return function(*(x.sample(i) if type(x) is Batch else x for x in args))

        for i in range(run.size):
            labels[i] = _same(parts, several)
        values: dict[int, Any] = {}
        first: Exception | None = None
        for i in rows:
            try:
                values[i] = call(i)
                labels[i] = label(values[i])
            except Exception as error:
                first = first or error
                labels[i] = ("raises", type(error))
        if any(each != labels[0] for each in labels):
            run.split(labels)
        if first is not None:
            raise first
        if labels[0] != _same(parts, several):
            return _looped(run, function, args, {})
        for i, value in values.items():
            for k, each in enumerate(parts):
                each[i] = value[k] if several else value
    made = tuple(Batch(run, each, python=True) for each in parts)
    return made if several else made[0]


def _same(parts: Sequence[Any], several: bool) -> Any:
    kinds = [{"f": float, "b": bool, "c": complex}.get(each.dtype.kind, int) for each in parts]
    return (tuple, *kinds) if several else kinds[0]


def _method(x: Batch, name: str, args: Any, named: dict[str, Any]) -> Any:
    """An attribute of a batch, or the result of one of its methods, which numpy has as a function,
    too."""
    if args is None:
        run, (x,), _ = _of_one_run((x,), {})
        if name in PROPERTIES and not x.python:
            return _applied(PROPERTIES[name], (x,), {})
        return looped(run, operator.attrgetter(name), (x,), {}, f"the attribute {name}")
    if x.ndim and name in METHODS:
        return METHODS[name](x, *args, **named)
    run, (x, args), named = _of_one_run((x, args), named)

    def call(x: Any, *args: Any, **named: Any) -> Any:
        return getattr(x, name)(*args, **named)

    return looped(run, call, (x, *args), named, f"the method {name}")


def _reshape(a: Any, *shape: Any, order: Any = "C", **named: Any) -> Any:
    return _applied(
        np.reshape, (a, shape[0] if len(shape) == 1 else shape), {"order": order, **named}
    )


def _transpose(a: Any, *axes: Any) -> Any:
    return _applied(np.transpose, (a, axes[0] if len(axes) == 1 else axes or None), {})


def _copy(a: Any, order: Any = "C") -> Any:
    return Batch(a.run, a.value.copy())


def _flatten(a: Any, order: Any = "C") -> Any:
    found = _applied(np.ravel, (a, order), {})
    return Batch(found.run, found.value.copy())


def _sort(a: Any, axis: Any = -1, **named: Any) -> None:
    a[...] = _applied(np.sort, (a, axis), named)


def _fill(a: Any, value: Any) -> None:
    a[...] = value


def _item(a: Any, *index: Any) -> Any:
    if a.dtype.kind not in _OF_PYTHON or (index and len(index) != a.ndim):
        return _looped(a.run, operator.methodcaller("item", *index), (a,), {})
    if not index and a.size != 1:
        return a.value[0].item()  # numpy raises its error
    found = part(a.run, a, index) if index else Batch(a.run, a.value.reshape(-1))
    return Batch(found.run, found.value.astype(_OF_PYTHON[a.dtype.kind]), python=True)


_OF_PYTHON = {"f": float, "c": complex, "b": bool}


def _astype(a: Any, dtype: Any, *args: Any, **named: Any) -> Any:
    return Batch(a.run, a.value.astype(dtype, *args, **named))


def _by(function: Any) -> Callable[..., Any]:
    def method(*args: Any, **named: Any) -> Any:
        return _applied(function, args, named)

    return method


def _conjugate(a: Any) -> Any:
    return _applied_ufunc(np.conjugate, "__call__", (a,), {})


_SAME = (
    *(np.sum, np.mean, np.prod, np.dot, np.ravel, np.cumsum, np.max, np.min, np.swapaxes),
    *(np.squeeze, np.repeat, np.take, np.argmax, np.argmin, np.trace, np.diagonal, np.std),
    *(np.var, np.cumprod, np.argsort, np.any, np.all, np.searchsorted, np.round, np.nonzero),
    np.clip,
)
METHODS: dict[str, Any] = {
    **{function.__name__: _by(function) for function in _SAME},
    "max": _by(np.max), "min": _by(np.min), "reshape": _reshape, "transpose": _transpose,
    "copy": _copy, "flatten": _flatten, "sort": _sort, "fill": _fill, "item": _item,
    "astype": _astype, "conj": _conjugate, "conjugate": _conjugate,
}  # fmt: skip
PROPERTIES: dict[str, Any] = {
    "T": np.transpose, "real": np.real, "imag": np.imag, "mT": np.matrix_transpose,
}  # fmt: skip

applied, applied_ufunc = nonoverlay(_applied), nonoverlay(_applied_ufunc)
operate, method_of = nonoverlay(_operate), nonoverlay(_method)
batches.applied.bind(lambda: applied)
batches.applied_ufunc.bind(lambda: applied_ufunc)
batches.applied_operator.bind(lambda: operate)
batches.applied_method.bind(lambda: method_of)
