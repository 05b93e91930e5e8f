"""What an analysis of a function found: its result, and each call in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from overlay.code.body import Apply
from overlay.core.errors import OverlayError

__all__ = ["Run", "Step"]


@dataclass(frozen=True)
class Step:
    """A call as the analysis saw it: the callee, abstract arguments and result, ``file:line``.

    function: None where it is not known. caller: the function in which it stands. statement:
    the call in the caller's body. errors: why some of its arguments have no callee. followed:
    whether all code of the program that runs in it was analysed, or there is none. native:
    whether other code runs in it, of which the domain knows nothing. catches: whether the caller
    handles errors about arguments there.
    """

    function: Any
    args: tuple[Any, ...]
    result: Any
    where: str
    caller: Callable[..., Any]
    statement: Apply
    errors: tuple[OverlayError, ...] = ()
    followed: bool = True
    native: bool = False
    catches: bool = False


@dataclass
class Run:
    """A function analysed with given arguments: its result, the calls in it, and the runs of the
    functions that it calls; of these ``guarded`` are called only where errors are handled."""

    function: Callable[..., Any]
    result: Any
    steps: list[Step] = field(default_factory=list[Step])
    inner: dict[int, Run] = field(default_factory=dict[int, Any])
    guarded: set[int] = field(default_factory=set[int])
    finished: bool = False
    recursive: bool = False

    def walk(self, *, guarded: bool = True) -> tuple[Run, ...]:
        """This run and all below it, each once; ``guarded=False``: but for those below calls
        whose errors are handled."""
        seen: dict[int, Run] = {}
        todo: list[Run] = [self]
        while todo:
            run = todo.pop()
            if id(run) not in seen:
                seen[id(run)] = run
                below = [r for k, r in run.inner.items() if guarded or k not in run.guarded]
                todo.extend(reversed(below))
        return tuple(seen.values())

    def note(self, step: Step, inner: list[Run]) -> None:
        """Add a call, and the runs of what it calls."""
        self.steps.append(step)
        for run in inner:
            if not step.catches:
                self.guarded.discard(id(run))
            elif id(run) not in self.inner:
                self.guarded.add(id(run))
            self.inner[id(run)] = run
