"""The compilations of a context, which ``ctx.compilations`` returns: what was compiled, for which
types, and what had changed since it was compiled before."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, overload

from overlay.core import late_binding
from overlay.core.own_builtins import __builtins__

if TYPE_CHECKING:
    from overlay.code.record import Change
    from overlay.contexts.context import Context

__all__ = ["CalledFunction", "Cause", "Compilation", "Compilations"]


class CalledFunction(NamedTuple):
    """A function, and the ``file:line`` of its definition."""

    name: str
    where: str


@dataclass(frozen=True)
class Cause:
    """A change for which a function was compiled again.

    Attributes
    ----------
    change : Change
        The changed thing, with its values before and after.
    paths : tuple of tuple of CalledFunction
        The calls that lead to it, the shortest first, one path for each function that had read
        the changed thing: first the function that Python called, last the reader.
    """

    change: Change
    paths: tuple[tuple[CalledFunction, ...], ...]

    def __str__(self) -> str:
        change = self.change
        values = f": {change.before} -> {change.after}" if change.before or change.after else ""
        return f"{change}{values}"

    @property
    def path(self) -> tuple[CalledFunction, ...]:
        """The shortest of the paths."""
        return self.paths[0]

    @property
    def reader(self) -> CalledFunction:
        """The function that had read what has changed, at the end of the shortest path."""
        return self.path[-1]

    @property
    def readings(self) -> Iterator[tuple[tuple[str, ...], str]]:
        """For each path, its functions' names, and the place of the reader."""
        for path in self.paths:
            yield tuple(each.name for each in path), path[-1].where


@dataclass(frozen=True)
class Compilation:
    """One compilation of a function.

    Attributes
    ----------
    types : tuple of str
        The types of the arguments, as numba names them.
    way : str
        ``"compiled"``, ``"loaded from disk"`` or ``"compiled for a GPU"``.
    seconds : float
        Its duration, with the functions below.
    why : str
        The reason in one line.
    causes : tuple of Cause
        The changes since the last compilation for these types; empty for the first.
    failure : str
        The name of the exception that ended it, or "".
    """

    function: CalledFunction
    types: tuple[str, ...]
    way: str
    seconds: float
    why: str
    causes: tuple[Cause, ...] = ()
    failure: str = ""

    @property
    def call(self) -> str:
        """The function's name and the types of its arguments."""
        return f"{self.function.name}({', '.join(self.types)})"

    def __str__(self) -> str:
        failed = f", failed with {self.failure}" if self.failure else ""
        return f"{self.call}  {self.way} in {self.seconds:.3f} s{failed}: {self.why}"


@dataclass(frozen=True)
class Compilations(Sequence[Compilation]):
    """The compilations of one function in a context, or of all, in their order.

    Attributes
    ----------
    name : str
        The name of the function; "" for all.
    """

    context: Context
    name: str
    found: tuple[Compilation, ...]

    @overload
    def __getitem__(self, index: int) -> Compilation: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Compilation, ...]: ...

    def __getitem__(self, index: int | slice) -> Compilation | tuple[Compilation, ...]:
        return self.found[index]

    def __len__(self) -> int:
        return len(self.found)

    @property
    def summary(self) -> str:
        """The number of compilations, and of those that followed a change, in words."""
        again = sum(bool(each.causes) for each in self.found)
        count = f"{len(self)} compilation{'' if len(self) == 1 else 's'}"
        return f"{count}, {again} after a change"

    def __repr__(self) -> str:
        return f"<Compilations{f' of {self.name}' if self.name else ''}: {self.summary}>"

    def __str__(self) -> str:
        lines = [repr(self.context), self.summary]
        for each in self.found:
            lines += [str(each), *(f"    {line}" for cause in each.causes for line in _told(cause))]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return late_binding.drawing.load()(self)


def _told(cause: Cause) -> Iterator[str]:
    yield str(cause)
    for calls, where in cause.readings:
        yield f"  read by {' -> '.join(calls)}   {where}"
