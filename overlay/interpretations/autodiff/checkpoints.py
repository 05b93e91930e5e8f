"""Checkpoints: parts of a program of which reverse mode stores only the arguments, and which it
runs again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from overlay import Context, call_next, nonoverlay, plugins_in_force, tables_in_force
from overlay.contexts.rules_alone import runs_alone
from overlay.core.late_binding import LateBound
from overlay.core.target import refuse_values
from overlay.interpretations.autodiff.errors import refuse_captured
from overlay.interpretations.autodiff.level_results import parts_of_result
from overlay.interpretations.autodiff.levels import Level, LevelTable, declare
from overlay.interpretations.autodiff.recorded_rules import copied, record

__all__ = ["checkpoint", "declare_checkpoints", "run_part", "taped"]

# bound late: a run on a tape enters levels
taped: LateBound[Callable[..., Any]] = LateBound()


@runs_alone
def checkpoint(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of whose run reverse mode stores only the arguments: the backward pass runs it
    again.

    A program that is a chain of n parts, each with a checkpoint, needs the memory of n arguments
    and of one part, and one more run of each part. All numbers and arrays on which the result
    depends have to be arguments, and the function must not write to them.

    Parameters
    ----------
    f : callable
        A function whose result is a number, an array, or a tuple of these.

    Returns
    -------
    callable
        The function with a checkpoint. In forward mode, and outside of derivatives, it is ``f``.

    Examples
    --------
    >>> import numpy as np
    >>> from overlay.interpretations.autodiff import checkpoint, gradient
    >>> def hundred_steps(y, rate):
    ...     for _ in range(100):
    ...         y = y - rate * 0.01 * np.sin(y)
    ...     return y
    >>> def end(x):
    ...     y = x
    ...     for _ in range(10):
    ...         y = checkpoint(hundred_steps)(y, 1.0)
    ...     return np.sum(y)
    >>> x = np.linspace(0.1, 1.0, 10)
    >>> bool(np.allclose(gradient(end)(x), gradient(end, mode="forward")(x)))
    True

    References
    ----------
    A. Griewank and A. Walther, "Algorithm 799: revolve: an implementation of checkpointing for the
    reverse or adjoint mode of computational differentiation", ACM Trans. Math. Softw. 26, 2000.
    """
    refuse_values(f, "store arguments of", "give a function, as in checkpoint(f)(x)")

    def part(*args: Any) -> Any:
        return run_part(f, *args)

    return part


def run_part(f: Callable[..., Any], *args: Any) -> Any:
    """Run a part of a program that has a checkpoint; a target of levels on a tape."""
    return f(*args)


def declare_checkpoints(level: Level) -> None:
    """Declare the method of a level on a tape."""
    own = (level.number, level.array)

    def is_active(args: Sequence[Any]) -> bool:
        return any(isinstance(x, own) for x in args)

    def is_around(table: Any) -> bool:
        at = table.level if isinstance(table, LevelTable) else (-1,)
        return at is not None and at[0] < level.depth

    def plain(args: Sequence[Any]) -> list[Any]:
        values = [x.value if isinstance(x, own) else x for x in args]
        return [copied(x) for x in values]

    def recorded(f: Any, args: Sequence[Any], values: list[Any], tables: Any, plugins: Any) -> Any:
        around = filter(is_around, reversed(tables))
        outer: Any = nonoverlay(Context(*around, plugins=plugins))
        ret = outer(f, *values)
        if any(isinstance(part, own) for part in parts_of_result(ret)):
            refuse_captured(f)
        places = [i for i, x in enumerate(args) if isinstance(x, own)]
        count = len(args)  # the tape holds no active values

        def back(*ds: Any) -> list[Any]:
            run = outer(taped.load(), f, values, places, level.rules)
            found = dict(zip(places, run.pull_back(ds), strict=True))
            return [found.get(i) for i in range(count)]

        return record(level, args, ret, back)

    seen, strip, made = nonoverlay(is_active), nonoverlay(plain), nonoverlay(recorded)

    def method(f: Any, *args: Any) -> Any:
        if not seen(args):
            return call_next(f, *args)
        values = strip(args)
        return made(f, args, values, tables_in_force(), plugins_in_force())

    # it runs the program in all tables, whichever operators these have methods of
    declare(level.table, run_part, method, (Any,), constant=True)
