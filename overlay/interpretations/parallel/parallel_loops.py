"""Functions whose loops make their calls concurrently."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

from overlay import Context, MethodTable, OverlayError, current_context, nonoverlay
from overlay.core.location import caller, is_ours, name_of
from overlay.core.markup import code, listed, place, sheet
from overlay.core.short_repr import named_value
from overlay.interpretations.parallel.loop_candidates import (
    Helper,
    LoopReport,
    Options,
    default_workers,
)
from overlay.interpretations.parallel.purity_proof import NotProved
from overlay.interpretations.parallel.rewriting import callees_in, rewritten
from overlay.interpretations.parallel.workers import begin

__all__ = ["Parallel", "parallel"]

P = ParamSpec("P")
R = TypeVar("R")


def parallel[**P, R](
    f: Callable[P, R], *, workers: int | None = None, least: float = 0.02
) -> Parallel[P, R]:
    """Parallelise a function: independent calls in its loops, and in those of functions it calls,
    run concurrently.

    Parameters
    ----------
    f : function
        A Python function.
    workers : int or None
        The maximal number of concurrent calls; None for the number of processors.
    least : float
        The minimal total duration of the calls of a loop, in seconds, to parallelise it.

    Returns
    -------
    Parallel
        The function with concurrent calls; it gives the results of ``f``.

    Raises
    ------
    OverlayError
        ``f`` is not a Python function, or ``workers`` is less than one.

    Examples
    --------
    >>> from overlay.interpretations.parallel import parallel
    >>> def square(x):
    ...     return x * x
    >>> def squares(n):
    ...     return [square(x) for x in range(n)]
    >>> parallel(squares)(4)
    [0, 1, 4, 9]
    """
    if type(f) is not FunctionType:
        raise OverlayError(
            f"parallel takes a Python function, not {named_value(f)}",
            where=caller(),
            help="write a function around it",
        )
    if workers is not None and workers < 1:
        raise OverlayError(
            f"parallel needs at least one worker, not {workers}",
            where=caller(),
            help="leave workers out for as many as there are processors",
        )
    return Parallel(f, Options(workers or default_workers(), least))


class Parallel[**P, R]:
    """A function whose loops make calls ahead; made by ``parallel``.

    Attributes
    ----------
    function : function
        The function as it was given.

    Examples
    --------
    >>> from overlay.interpretations.parallel import parallel
    >>> def squares(n):
    ...     return [x * x for x in range(n)]
    >>> parallel(squares)
    <parallel squares>
    """

    def __init__(self, f: Callable[P, R], options: Options) -> None:
        self.function: Any = f
        self._table = MethodTable(f"parallel {name_of(f)}")
        self._helper = Helper([], options)
        self._unread: list[str] = []
        self._rewrite()
        self._context = Context(self._table)

    def _rewrite(self) -> None:
        """Add a method with rewritten loops for each reachable function that has loops."""
        loop = nonoverlay(self._helper.loop)
        todo, seen = [self.function], set[int]()
        helper = _Reached(self._helper, loop)
        while todo:
            function = todo.pop(0)
            if id(function) in seen or is_ours(function.__code__.co_filename):
                continue
            seen.add(id(function))
            try:
                made = rewritten(function, helper, self._helper.sites)
            except NotProved as error:
                self._unread.append(error.reason)
                continue
            if made is not None:
                self._table.overlay(function)(made)
            todo += callees_in(function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the function; inside a context sequentially.

        Parameters
        ----------
        *args, **kwargs
            The arguments of the function.

        Returns
        -------
        object
            Its result.
        """
        if current_context() is not None:  # its methods may change the meaning of calls
            return self.function(*args, **kwargs)
        return self._context(self.function, *args, **kwargs)

    def prepare(self) -> Parallel[P, R]:
        """Start the worker processes and wait for them.

        By default they start when first needed, and calls are made sequentially until they are
        ready.

        Returns
        -------
        Parallel
            This object.
        """
        begin(self._helper.options.workers, wait=True)
        return self

    def report(self) -> list[LoopReport]:
        """The statistics of each loop, over all calls so far.

        Returns
        -------
        list of LoopReport
            One report for each loop.
        """
        return [self._helper.report(number) for number in range(len(self._helper.sites))]

    def __repr__(self) -> str:
        return f"<parallel {name_of(self.function)}>"

    def _repr_html_(self) -> str:
        loops = listed(
            ("loop", "calls", "ahead", "one by one", "workers", "why one by one"),
            self.report(),
            lambda loop: (
                place(loop.where),
                code(", ".join(loop.calls)),
                loop.ahead,
                loop.one_by_one,
                len(loop.workers),
                loop.reason or "",
            ),
        )
        unread = listed(("not proved",), self._unread, lambda reason: (reason,))
        return sheet("parallel", name_of(self.function), None, loops, unread)

    def __str__(self) -> str:
        return "\n".join([repr(self), *map(str, self.report()), *self._unread])


class _Reached:
    """The object that rewritten code reaches under one name; calling it runs a loop."""

    def __init__(self, helper: Helper, loop: Any) -> None:
        self._loop = loop
        self.__dict__.update(
            {name: value for name, value in vars(helper).items() if callable(value)}
        )

    def __call__(self, *args: Any) -> Any:
        return self._loop(*args)
