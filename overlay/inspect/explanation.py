"""Explanations, which ``ctx.explain`` returns: call sites, each with the method it resolves to."""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from overlay.core import late_binding
from overlay.core.location import shown
from overlay.core.outline import Outline
from overlay.core.signature import shown_hint
from overlay.core.table import Method

if TYPE_CHECKING:
    from overlay.contexts.context import Context

__all__ = ["ExplainedFunction", "ExplainedSite", "Explanation", "SourcePlace"]

STATUSES = ("resolved", "base", "possible", "undetermined")
_LONGEST = 60
_TOLD = ("resolved", "possible")
_SHOWN = 3
"""The most methods that are shown where none is taken."""


@dataclass(frozen=True)
class SourcePlace:
    """A range of source. Lines count from 1, columns from 0 in UTF-8 bytes; None: unknown."""

    file: str
    line: int | None
    end_line: int | None = None
    column: int | None = None
    end_column: int | None = None

    def __str__(self) -> str:
        return shown(self.file, self.line)

    @property
    def text(self) -> str | None:
        """The source text there, joined to one line; None where there is none."""
        if self.line is None or self.column is None or self.end_column is None:
            return None
        end = self.line if self.end_line is None else self.end_line
        lines = [linecache.getline(self.file, n).encode() for n in range(self.line, end + 1)]
        if not all(lines):
            return None
        lines[-1] = lines[-1][: self.end_column]
        lines[0] = lines[0][self.column :]
        text = " ".join(b" ".join(lines).decode(errors="replace").split())
        return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


@dataclass(frozen=True)
class ExplainedSite:
    """A call site and the method that the call resolves to.

    Attributes
    ----------
    text : str
        The call as written; without source, the callee's name.
    target : str
        The callee's name.
    place : SourcePlace
        The location of the call.
    status : str
        ``"resolved"`` to ``methods[0]``; ``"base"``: no method applies; ``"possible"``: one of
        ``methods`` or the base, depending on types that are known only at run time;
        ``"undetermined"``: the callee is chosen at run time.
    methods : tuple of Method
        The methods.
    note : str
        A remark, or "".
    functions : tuple of ExplainedFunction
        The functions that the call enters.
    untaken : tuple of Method
        Where no method applies, the methods that the callee has for arguments of other types.
    """

    text: str
    place: SourcePlace
    target: str
    status: str
    methods: tuple[Method, ...] = ()
    note: str = ""
    functions: tuple[ExplainedFunction, ...] = ()
    untaken: tuple[Method, ...] = ()

    @property
    def tells(self) -> bool:
        """Whether methods apply, may apply, or exist for other arguments."""
        return self.status in _TOLD or bool(self.untaken)

    def __str__(self) -> str:
        parts = [self.text, self._resolution()]
        if self.is_renamed:
            parts.insert(1, f"[{self.target}]")
        return "  ".join([*parts, f"({self.note})"] if self.note else parts)

    @property
    def is_renamed(self) -> bool:
        """Whether the source calls the callee by another name."""
        return self.target not in self.text.partition("(")[0]

    def _resolution(self) -> str:
        if self.status == "resolved":
            return f"-> {self.methods[0]}"
        if self.status == "possible":
            return "possible: " + "; ".join(map(str, self.methods))
        if self.untaken:
            shown = "; ".join(map(str, self.untaken[:_SHOWN]))
            rest = len(self.untaken) - _SHOWN
            return f"base, not taken: {shown}" + (f"; and {rest} more" if rest > 0 else "")
        return self.status


@dataclass(frozen=True)
class ExplainedFunction:
    """A function of the call graph, with the known types of its arguments.

    Attributes
    ----------
    types : tuple
        The types of its parameters in order; None where unknown.
    sites : tuple of ExplainedSite
        Its call sites.
    note : str
        The reason why its call sites are missing: they are shown elsewhere, or the depth limit
        was reached.
    """

    name: str
    place: SourcePlace
    types: tuple[Any, ...]
    sites: tuple[ExplainedSite, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        head = f"{self.call}   {self.place}"
        return f"{head}   ({self.note})" if self.note else head

    @property
    def call(self) -> str:
        """The function's name and the types of its arguments."""
        types = ", ".join("?" if kind is None else shown_hint(kind) for kind in self.types)
        return f"{self.name}({types})"

    @property
    def tells(self) -> bool:
        """Whether a call site below it resolves, or may resolve, to a method, or has methods that
        its arguments do not fit."""
        return any(site.tells for site in self)

    def __iter__(self) -> Iterator[ExplainedSite]:
        """Iterate over its call sites, each followed by those of the functions that it enters."""
        for site in self.sites:
            yield site
            for function in site.functions:
                yield from function


@dataclass(frozen=True)
class Explanation:
    """The result of ``ctx.explain``; iteration yields every call site of the call graph once.

    Attributes
    ----------
    context : Context
        The context.
    root : ExplainedSite
        The explained call.

    Examples
    --------
    >>> import math
    >>> from overlay import Context, MethodTable
    >>> table = MethodTable("zeros")
    >>> @table.overlay(math.sin)
    ... def sin(x: float) -> float:
    ...     return 0.0
    >>> found = Context(table).explain(lambda x: math.sin(x) + 1.0, float)
    >>> [site.target for site in found.sites("resolved")]
    ['math.sin']
    """

    context: Context
    root: ExplainedSite

    def __iter__(self) -> Iterator[ExplainedSite]:
        yield self.root
        for function in self.root.functions:
            yield from function

    def __repr__(self) -> str:
        return f"<Explanation of {self.root.text}: {_counts(self)}>"

    def sites(self, status: str) -> tuple[ExplainedSite, ...]:
        """The call sites with a status.

        Parameters
        ----------
        status : {"resolved", "base", "possible", "undetermined"}
            The status, as in ``ExplainedSite``.

        Returns
        -------
        tuple of ExplainedSite
            The call sites.

        Raises
        ------
        ValueError
            There is no such status.
        """
        if status not in STATUSES:
            raise ValueError(f"status is one of {', '.join(STATUSES)}, not {status!r}")
        return tuple(site for site in self if site.status == status)

    def __str__(self) -> str:
        return self.tree()

    def _repr_html_(self) -> str:
        return late_binding.drawing.load()(self)

    def tree(self, *, everything: bool = False) -> str:
        """The call graph as text.

        Parameters
        ----------
        everything : bool
            Whether all call sites are shown; by default those of the first function, and of the
            others only those that lead to a method.

        Returns
        -------
        str
            One line for each call site, indented below the function that contains it.
        """
        return str(self.outline(everything=everything))

    def outline(self, *, everything: bool = False) -> Outline:
        """The lines of ``tree``, each with those below it."""
        functions = self.root.functions
        below = [_outline(f, everything=everything, all_sites=True) for f in functions]
        return Outline(f"{self.context!r}\n{self.root}", tuple(below))

    def __rich__(self) -> Outline:
        return self.outline()


def _outline(function: ExplainedFunction, *, everything: bool, all_sites: bool = False) -> Outline:
    below: list[Outline] = []
    left_out: list[ExplainedSite] = []
    for site in function.sites:
        inner = [f for f in site.functions if everything or f.tells]
        if not (everything or all_sites or inner or site.tells):
            left_out += [site, *(below for f in site.functions for below in f)]
            continue
        line = "?" if site.place.line is None else site.place.line
        entered = tuple(_outline(each, everything=everything) for each in inner)
        below.append(Outline(f"{line}: {site}", entered))
        left_out += [below for f in site.functions if f not in inner for below in f]
    if left_out:
        below.append(Outline(f"... and {_counts(left_out)}"))
    return Outline(str(function), tuple(below))


def _counts(sites: Iterable[ExplainedSite]) -> str:
    """The number of call sites of each status, as text."""
    counts = Counter(site.status for site in sites)
    return ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
