"""Whole arrays at once: the compiled inverse in one compiled loop."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inversion.errors import OutsideDomain, WrongArguments
from inversion.parameters import ParameterSpace
from inversion.trees import Tree, mapped, written
from overlay.location import caller
from primitives import Domain
from primitives.arrays.domain import shape_of
from primitives.domains import domain_of

__all__ = ["columns", "fitted", "flattened", "loop_source", "theta_columns"]


def loop_source(
    known: Sequence[Tree], parameters: int, unknown: Sequence[Tree], *, raises: bool = True
) -> str:
    """The source of the loop over rows, for known and unknown axes made of these, and so many
    parameters. raises: whether the inverse does, where it has no answer; else it answers NaN."""
    columns: list[str] = []

    def column(path: str, leaf: str) -> str:
        columns.append(f"known_{len(columns)}")
        return f"{columns[-1]}[row]"

    given = [written(mapped(tree, column)) for tree in known]
    columns += [f"theta_{i}" for i in range(parameters)]
    outs: list[str] = []
    answers: list[str] = []
    for i, tree in enumerate(unknown):
        mapped(tree, lambda path, _, i=i: answers.append(f"answer[{i}]{path}"))
    outs = [f"out_{i}" for i in range(len(answers))]
    if parameters:
        given.append("(" + "".join(f"theta_{i}[row], " for i in range(parameters)) + ")")
    solved = [
        f"answer = inverse({', '.join(given)})",
        *(f"{out}[row] = {a}" for out, a in zip(outs, answers, strict=True)),
    ]
    if raises:
        turn = ["try:", *(f"    {row}" for row in solved), "except Exception:"]
        turn += ["    failed[row] = True"]
    else:
        turn = [*solved, f"failed[row] = not {answers[0]} == {answers[0]}"]
    return "\n".join(
        [
            f"def rows({', '.join(['failed', *columns, *outs])}):",
            "    for row in range(failed.shape[0]):",
            *(f"        {row}" for row in turn),
        ]
    )


def columns(axis: str, arrays: Iterable[Any], kinds: Iterable[Any]) -> list[NDArray[Any]]:
    """Arrays of the numbers of a known axis, in the types that the program has.

    Raises WrongArguments for values of other types, or that its words do not hold.
    """
    found: list[NDArray[Any]] = []
    for values, kind in zip(arrays, kinds, strict=True):
        domain = domain_of(kind)
        array = np.asarray(values)
        _check_rows(axis, array, shape_of(kind))
        numbers = None if domain is None else fitted(array, domain)
        if numbers is None:
            raise WrongArguments(
                f"{axis} is an array of {array.dtype}{_range(array)}, "
                f"and the function has {kind!r} there",
                where=caller(),
                help="convert it with .astype(...); arrays hold integers of 64 bits",
            )
        found.append(numbers)
    return found


def theta_columns(space: ParameterSpace, theta: Any) -> list[NDArray[Any]]:
    """One array for each coordinate, from a structured array or from one θ for all rows.

    Raises WrongArguments where fields are missing, OutsideDomain for values outside a domain.
    """
    if not isinstance(theta, np.ndarray):
        arrays = [np.asarray(value) for value in space.filled(space.normal(theta))]
    elif theta.dtype.names is None:
        raise space.wrong(0)
    else:
        space.check_names(theta.dtype.names)
        arrays = [theta[name] for name in space.names]
    found: list[NDArray[Any]] = []
    for parameter, array in zip(space, arrays, strict=True):
        _check_rows(f"θ.{parameter.name}", array, parameter.domain.dtype.shape)
        numbers = fitted(array, parameter.domain)
        if numbers is None:
            raise OutsideDomain(
                f"θ.{parameter.name} is an array of {array.dtype}{_range(array)}, "
                f"outside {parameter.domain!r}",
                where=caller(),
                help="use an array of inv.parameters.dtype",
            )
        found.append(numbers)
    return found


def _check_rows(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
    """Raise WrongArguments unless an array holds arrays of this shape."""
    if array.shape[max(array.ndim - len(shape), 0) :] != shape:
        raise WrongArguments(
            f"{name} is an array of shape {array.shape}, which does not end with {shape}",
            where=caller(),
            help="rows come first: give an array for each row",
        )


def flattened(
    arrays: Sequence[NDArray[Any]], inner: Sequence[tuple[int, ...]]
) -> tuple[tuple[int, ...], list[NDArray[Any]]]:
    """The shape that arrays of rows are broadcast to, and each with these rows one after the
    other. inner: for each the shape of what it has in a row, () where that is a number.

    Raises WrongArguments where they do not fit.
    """
    leads = [a.shape[: a.ndim - len(tail)] for a, tail in zip(arrays, inner, strict=True)]
    try:
        shape = np.broadcast_shapes(*leads)
    except ValueError as error:
        raise WrongArguments(
            f"arrays of the shapes {', '.join(map(str, leads))} do not broadcast",
            where=caller(),
            help="known values and θ have one row for each answer, or one for all",
        ) from error
    return shape, [
        _rows_of(a, (*shape, *tail)).reshape((-1, *tail))
        for a, tail in zip(arrays, inner, strict=True)
    ]


def _rows_of(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """An array broadcast to this shape, as compiled code takes it; itself where it is so."""
    whole = array if array.shape == shape else np.broadcast_to(array, shape)
    return np.require(whole, requirements=["C", "A", "W"])


def fitted(array: NDArray[Any], domain: Domain) -> NDArray[Any] | None:
    """An array in the dtype of a domain, of its elements where it is one of arrays; None where
    that would change the values."""
    wanted = domain.dtype.base
    if wanted.kind in "fc":
        if not np.can_cast(array.dtype, wanted, "same_kind"):
            return None
        return array.astype(wanted, copy=False)
    if array.dtype.kind not in "biu":
        return None
    low, high = (0, 1) if wanted.kind == "b" else (np.iinfo(wanted).min, np.iinfo(wanted).max)
    if array.size and not (int(low) <= int(array.min()) and int(array.max()) <= int(high)):
        return None
    return array.astype(wanted, copy=False)


def _range(array: NDArray[Any]) -> str:
    if array.dtype.kind not in "iu" or not array.size:
        return ""
    return f" from {array.min()} to {array.max()}"
