"""Results of the analysis of a function: its result, and each call in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from overlay.code.body import Branch, Return, Statement
from overlay.core.errors import OverlayError
from overlay.core.markup import code, listed, place, sheet
from overlay.core.public_names import hides
from overlay.core.short_repr import counted, short_repr
from overlay.core.target import describe

__all__ = ["Run", "Step"]


@dataclass(frozen=True)
class Step:
    """Analysed call: the callee, abstract arguments and result.

    Attributes
    ----------
    function
        The callee; None if it is not known.
    args
        Its abstract arguments, positional, then by keyword.
    result
        Its abstract result.
    where
        ``file:line`` of the call.
    caller
        The function that contains the call.
    statement
        The call in the caller's body; also another statement, if ``errors`` are known of it.
    errors
        The errors that the call would raise because some arguments have no callee.
    followed
        Whether all code of the program that runs in the call was analysed, or there is none.
    native
        Whether other code runs in the call, for which the domain has no transfer function.
    catches
        The classes of errors that the caller may handle at this call, of TypeError (which stands
        for all errors about arguments), AttributeError and NameError.
    runs
        The analyses of the functions of the program that run in the call, for each alternative of
        its arguments.
    certain
        Whether each alternative of the arguments has one of the errors.

    Examples
    --------
    >>> from overlay.analysis import Interpreter, Intervals, integers
    >>> (step,) = Interpreter(Intervals()).run(lambda n: n + 1, integers(0, 9)).steps
    >>> step.function, step.args, step.result
    (<built-in function add>, (int [0, 9], int [1, 1]), int [1, 10])
    """

    function: Any
    args: tuple[Any, ...]
    result: Any
    where: str
    caller: Callable[..., Any]
    statement: Statement | Branch | Return
    errors: tuple[OverlayError, ...] = ()
    followed: bool = True
    native: bool = False
    catches: frozenset[type[Exception]] = frozenset()
    runs: tuple[Run, ...] = ()
    certain: bool = True

    def __repr__(self) -> str:
        return short_repr("Step", f"{describe(self.function)} -> {self.result!r}", self.where)


@hides("note")
@dataclass
class Run:
    """Analysis of a function with given arguments.

    Attributes
    ----------
    function
        The function.
    result
        The abstract value of its result.
    steps
        The calls in it.
    inner
        The runs of its callees, by identity.
    guarded
        The keys of those in ``inner`` that are called only where errors are handled.
    finished
        Whether the analysis is complete.
    recursive
        Whether the function calls itself with these arguments.
    edges
        The abstract values of variables on each edge between two blocks, by the labels of these;
        an edge that is never taken is not among them.

    Examples
    --------
    >>> from overlay.analysis import Interpreter, Intervals, integers
    >>> run = Interpreter(Intervals()).run(lambda n: n + 1, integers(0, 9))
    >>> [(step.function.__name__, step.result) for step in run.steps]
    [('add', int [1, 10])]
    """

    function: Callable[..., Any]
    result: Any
    steps: list[Step] = field(default_factory=list[Step])
    inner: dict[int, Run] = field(default_factory=dict[int, Any])
    guarded: set[int] = field(default_factory=set[int])
    finished: bool = False
    recursive: bool = False
    edges: dict[tuple[int, int], dict[str, Any]] = field(
        default_factory=dict[tuple[int, int], dict[str, Any]], repr=False
    )

    def __repr__(self) -> str:
        steps = counted(len(self.steps), "step")
        return short_repr("Run", f"{describe(self.function)}: {steps} -> {self.result!r}")

    def _repr_html_(self) -> str:
        steps = listed(
            ("where", "call", "arguments", "result"),
            self.steps,
            lambda step: (
                place(step.where),
                code(describe(step.function)),
                code(", ".join(map(repr, step.args))),
                code(repr(step.result)),
            ),
        )
        return sheet("run of", describe(self.function), f"-> {self.result!r}", steps)

    def walk(self, *, guarded: bool = True) -> tuple[Run, ...]:
        """This run and all runs below it.

        Parameters
        ----------
        guarded : bool
            Whether to include the runs that are reached only through calls whose errors are
            handled.

        Returns
        -------
        tuple of Run
            The runs, each once.
        """
        seen: dict[int, Run] = {}
        todo: list[Run] = [self]
        while todo:
            run = todo.pop()
            if id(run) not in seen:
                seen[id(run)] = run
                below = [r for k, r in run.inner.items() if guarded or k not in run.guarded]
                todo.extend(reversed(below))
        return tuple(seen.values())

    def note(self, step: Step) -> None:
        """Add a call, and the runs of its callees.

        Parameters
        ----------
        step : Step
            The call.
        """
        self.steps.append(step)
        for run in step.runs:
            if TypeError not in step.catches:
                self.guarded.discard(id(run))
            elif id(run) not in self.inner:
                self.guarded.add(id(run))
            self.inner[id(run)] = run
