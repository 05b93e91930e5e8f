"""Whole arrays at once: the compiled inverse in one compiled loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inversion.errors import OutsideDomain, WrongArguments
from inversion.parameters import ParameterSpace
from overlay.location import caller
from primitives.domains import domain_of

__all__ = ["columns", "loop_source", "theta_columns"]


def loop_source(known: int, parameters: int, unknown: int) -> str:
    """The source of the loop over rows, for so many known axes, parameters and unknown axes."""
    columns = [f"known_{i}" for i in range(known)] + [f"theta_{i}" for i in range(parameters)]
    outs = [f"out_{i}" for i in range(unknown)]
    given = [f"known_{i}[row]" for i in range(known)]
    if parameters:
        given.append("(" + "".join(f"theta_{i}[row], " for i in range(parameters)) + ")")
    return "\n".join(
        [
            f"def rows({', '.join(['failed', *columns, *outs])}):",
            "    for row in range(failed.shape[0]):",
            "        try:",
            f"            answer = inverse({', '.join(given)})",
            *(f"            {out}[row] = answer[{i}]" for i, out in enumerate(outs)),
            "        except Exception:",
            "            failed[row] = True",
        ]
    )


def columns(arrays: Mapping[str, Any], kinds: Sequence[Any]) -> list[NDArray[Any]]:
    """Arrays of known values in the types that the program has.

    Raises WrongArguments for values of other types.
    """
    found: list[NDArray[Any]] = []
    for (axis, values), kind in zip(arrays.items(), kinds, strict=True):
        domain = domain_of(kind)
        array = np.asarray(values)
        if domain is None or not np.can_cast(array.dtype, domain.dtype, "same_kind"):
            raise WrongArguments(
                f"{axis} is an array of {array.dtype}, and the function has {kind!r} there",
                where=caller(),
                help="convert it with .astype(...)",
            )
        found.append(array.astype(domain.dtype))
    return found


def theta_columns(space: ParameterSpace, theta: Any) -> list[NDArray[Any]]:
    """One array for each coordinate, from a structured array or from one θ for all rows.

    Raises WrongArguments where fields are missing, OutsideDomain for values outside a domain.
    """
    if not isinstance(theta, np.ndarray):
        return [
            np.asarray(value, p.domain.dtype)
            for p, value in zip(space, space.normal(theta), strict=True)
        ]
    if theta.dtype.names is None or len(theta.dtype.names) != len(space):
        raise space.wrong(len(theta.dtype.names or ()))
    found: list[NDArray[Any]] = []
    for parameter, name in zip(space, theta.dtype.names, strict=True):
        column = theta[name]
        if not np.can_cast(column.dtype, parameter.domain.dtype, "same_kind"):
            raise OutsideDomain(
                f"θ.{name} is an array of {column.dtype}, outside {parameter.domain!r}",
                where=caller(),
                help="use an array of inv.parameters.dtype",
            )
        found.append(column.astype(parameter.domain.dtype))
    return found
