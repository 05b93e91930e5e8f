"""Loops over samples as functions that can be compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overlay.contexts.rules_alone import runs_alone
from overlay.core.location import name_of
from overlay.core.target import refuse_values

__all__ = ["sample_loop"]


@runs_alone
def sample_loop(f: Callable[..., Any], *, axes: int | Sequence[int | None] | None = 0) -> Any:
    """A function of one sample as a loop over samples, which ``ctx.jit`` compiles.

    Its results are those of ``batched(f)``. ``f`` is run once more for the first sample, whose
    result gives the shape of the results.

    Parameters
    ----------
    f : callable
        A function of one sample, of positional arguments alone, whose result is a number or an
        array.
    axes : int, or sequence of (int or None)
        For each positional argument the axis of the samples, from 0, or None where all samples
        share the argument; one integer is for a function of one argument.

    Returns
    -------
    function
        The loop.

    Raises
    ------
    ValueError
        No argument has an axis of samples, or an axis is negative.

    Examples
    --------
    >>> import numpy as np
    >>> from overlay import Context
    >>> from overlay.interpretations.batching import sample_loop
    >>> def f(x, scale):
    ...     return scale * x[0] if x[0] > 0.0 else x[1]
    >>> loop = Context().jit(sample_loop(f, axes=(0, None)))
    >>> loop(np.array([[1.0, 2.0], [-1.0, 7.0]]), 10.0)
    array([10.,  7.])
    """
    refuse_values(f, "batch", "give a function, as in sample_loop(f)")
    spread = (axes,) if axes is None or isinstance(axes, int) else tuple(axes)
    if all(axis is None for axis in spread):
        raise ValueError("sample_loop: no argument has an axis of samples; name one in axes")
    names = [f"x{k}" for k in range(len(spread))]
    rows = [(name, axis) for name, axis in zip(names, spread, strict=True) if axis is not None]
    if any(axis < 0 for _, axis in rows):
        raise ValueError(
            "sample_loop: axes are counted from the first, from 0; give no negative axis"
        )
    count = f"{rows[0][0]}.shape[{rows[0][1]}]"
    checks = [
        f"    if {name}.shape[{axis}] != {count}:\n"
        "        raise ValueError('the arguments have different numbers of samples')"
        for name, axis in rows[1:]
    ]
    given = ", ".join(
        name if axis is None else f"{name}[{':, ' * axis}i]"
        for name, axis in zip(names, spread, strict=True)
    )
    lines = [
        f"def loop({', '.join(names)}):",
        *checks,
        "    i = 0",
        f"    first = np.asarray(f({given}))",
        f"    found = np.empty(({count}, *first.shape), first.dtype)",
        f"    for i in range({count}):",
        f"        found[i] = f({given})",
        "    return found",
    ]
    space: dict[str, Any] = {"np": np, "f": f}
    exec("\n".join(lines), space)
    loop = space["loop"]
    loop.__name__ = loop.__qualname__ = f"samples_of_{name_of(f)}".replace("<lambda>", "lambda")
    return loop
