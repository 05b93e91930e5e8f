"""HTML representations of the objects of ``overlay``, for notebooks."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any

from overlay.contexts.compilations import Cause, Compilation, Compilations
from overlay.contexts.context import Context
from overlay.contexts.report import Report
from overlay.core.markup import (
    Html,
    badge,
    code,
    element,
    facts,
    folded,
    grid,
    joined,
    left_out,
    place,
    plain,
    row,
    shown_value,
    title,
    view,
)
from overlay.core.short_repr import a_or_an, counted
from overlay.core.table import MethodTable
from overlay.core.target import describe, lookup
from overlay.inspect.explanation import ExplainedFunction, ExplainedSite, Explanation
from overlay.inspect.shadowing import Layer, layers

if TYPE_CHECKING:
    from overlay.core.table import Method

__all__ = ["drawing"]

_SITES = 1000
_COLOURS = {"resolved": "blue", "possible": "orange", "undetermined": "orange"}


@functools.singledispatch
def drawing(thing: object) -> str:
    """An object of ``overlay`` as HTML; each class has an implementation below."""
    raise TypeError(f"nothing is known of what {a_or_an(type(thing).__name__)} looks like")


# ---- tables and contexts ------------------------------------------------------------------


@drawing.register(MethodTable)
def _of_table(table: MethodTable) -> str:
    """A method table: for each target its methods, and the method below each."""
    return view(title("method table", table.name, _size(table)), _methods((table,)))


@drawing.register(Context)
def _of_context(context: Context) -> str:
    """A context: its tables, innermost first, and the methods that are hidden."""
    names = [table.name for table in reversed(context.tables)]
    stack = joined(x for i, n in enumerate(names) for x in (" over " if i else "", badge(n)))
    held = [("metadata", context.metadata), ("state", context.state)]
    given = [(name, shown_value(each)) for name, each in held if each is not None]
    given += [("plugin", code(repr(plugin))) for plugin in context.plugins]
    flags = [flag for flag in ("strict", "count_calls") if getattr(context, flag)]
    return view(
        title("context", "", joined([stack, *(joined([" ", badge(f)]) for f in flags)])),
        facts(*given),
        _methods(context.tables) if context.tables else None,
    )


def _size(table: MethodTable) -> Html:
    return plain(f"{counted(len(table), 'method')}" + (", checked" if table.check else ""))


def _methods(tables: tuple[MethodTable, ...]) -> Html:
    rows: list[Html] = []
    for target, held in layers(tables):
        for i, layer in enumerate(held):
            first = joined([code(describe(target)), _doubt(target)]) if i == 0 else ""
            rows.append(_method_row(first, layer, is_first=i == 0))
    return grid(("target", "table", "method", "where", "", "call_next goes on to"), rows)


def _doubt(target: Any) -> Html | None:
    """A warning badge for a target that calls may not reach."""
    if isinstance(target, str):
        return joined([" ", badge("not imported yet")])
    if isinstance(target, FunctionType) and "<" not in target.__qualname__:
        now = lookup(f"{target.__module__}:{target.__qualname__}")
        if isinstance(now, FunctionType) and now.__code__ is not target.__code__:
            return joined([" ", badge("the name means another function by now", "red")])
    return None


def _method_row(first: object, layer: Layer, *, is_first: bool) -> Html:
    method = layer.method
    marks: list[object] = [badge("generated")] if method.generated else []
    if layer.taken_by is not None:
        marks.append(badge(f"hidden by {_short(layer.taken_by)}", "orange"))
    cells = element("span", code(str(method.declared)), class_=_struck(layer))
    name = badge(method.table.name)
    apart = "o-apart" if is_first else None
    return row(first, name, cells, place(method.where), joined(marks), _below(layer), class_=apart)


def _below(layer: Layer) -> Html:
    if layer.is_ambiguous:
        return badge("ambiguous", "red")
    return plain("base") if layer.below is None else code(_short(layer.below))


def _struck(layer: Layer) -> str | None:
    return None if layer.taken_by is None else "o-struck"


def _short(method: Method) -> str:
    return f"{method.table.name}: {method.declared}"


# ---- explanations -------------------------------------------------------------------------


@drawing.register(Explanation)
def _of_explanation(explanation: Explanation) -> str:
    """The call graph as a foldable tree, open where a call resolves to a method."""
    counts = Counter(site.status for site in explanation)
    total = [joined([badge(f"{n} {s}", _COLOURS.get(s)), " "]) for s, n in counts.items()]
    budget = iter(range(_SITES))
    tree = [_function(f, budget, is_open=True) for f in explanation.root.functions]
    return view(
        title("explanation of", explanation.root.text, code(repr(explanation.context))),
        element("div", *total),
        _site(explanation.root),
        *tree,
    )


def _function(function: ExplainedFunction, budget: Iterator[int], *, is_open: bool) -> Html:
    note = plain(f" ({function.note})") if function.note else None
    summary = joined([code(function.call), " ", place(str(function.place)), note])
    children: list[Html] = []
    for i, site in enumerate(function.sites):
        if next(budget, None) is None:
            more = joined([left_out(len(function.sites) - i), plain(": print(...) shows them")])
            children.append(element("div", more, class_="o-site"))
            break
        children.append(_site(site))
        children += [_function(f, budget, is_open=f.tells) for f in site.functions]
    if not children:
        return element("div", summary, class_="o-site")
    return folded(summary, *children, is_open=is_open)


def _site(site: ExplainedSite) -> Html:
    line = "?" if site.place.line is None else site.place.line
    chosen = site.methods if site.status in ("resolved", "possible") else ()
    resolution = joined(x for m in chosen for x in (" ", _method(m)))
    untaken = joined(x for m in site.untaken[:3] for x in (plain(" not taken: "), _method(m)))
    note = plain(f" ({site.note})") if site.note else None
    mark = badge(site.status, _COLOURS.get(site.status))
    callee = plain(f" [{site.target}]") if site.is_renamed else None
    parts = (plain(f"{line}: "), code(site.text), callee, " ", mark, " ", resolution, untaken, note)
    return element("div", *parts, class_="o-site")


# ---- reports ------------------------------------------------------------------------------


@drawing.register(Report)
def _of_report(report: Report) -> str:
    """The methods that were called, how often and from where; those never called; calls that left
    the context."""
    most = max((hit.calls or 0 for hit in report.hits), default=0)
    rows = [
        row(_method(h.method), _calls(h.calls, most), joined(_callers(h.callers)))
        for h in report.hits
    ]
    rows += [row(_method(m), badge("never", "orange"), "") for m in report.never]
    leavings = [
        row(code(left.handed), code(left.to), place(left.where), left.times) for left in report.left
    ]
    return view(
        title("report of", "", joined([code(repr(report.context)), " ", plain(report.summary)])),
        grid(("method", "calls", "from"), rows) if rows else None,
        grid(("left the context", "handed to", "where", "times"), leavings) if leavings else None,
        None if report.watched else plain("Context(..., count_calls=True) counts calls"),
    )


# ---- compilations -------------------------------------------------------------------------


@drawing.register(Compilations)
def _of_compilations(compilations: Compilations) -> str:
    """The compilations in their order, each with what had changed and who had read it."""
    return view(
        title(
            "compilations of",
            compilations.name or "all functions",
            joined([code(repr(compilations.context)), " ", plain(compilations.summary)]),
        ),
        grid(("function", "how", "seconds", "why"), map(_compilation_row, compilations)),
    )


def _compilation_row(each: Compilation) -> Html:
    failed = badge(each.failure, "red") if each.failure else None
    causes = [_cause(cause) for cause in each.causes] or [plain(each.why)]
    what = joined([code(each.call), " ", place(each.function.where)])
    return row(what, joined([each.way, " ", failed]), f"{each.seconds:.3f}", joined(causes))


def _cause(cause: Cause) -> Html:
    change = cause.change
    values = joined([" ", code(change.before), " → ", code(change.after)])
    paths = [
        element("div", joined([plain("read by "), code(" → ".join(calls)), " ", place(where)]))
        for calls, where in cause.readings
    ]
    return element(
        "div",
        badge(change.kind, "orange"),
        f" {change.text}",
        values if change.before else None,
        *paths,
    )


# ---- methods and calls --------------------------------------------------------------------


def _method(method: Method) -> Html:
    what = f"{describe(method.target)}{method.declared}"
    return joined([badge(method.table.name), " ", code(what), " ", place(method.where)])


def _calls(calls: int | None, most: int) -> object:
    if calls is None:
        return badge("hit", "blue")
    width = 0.0 if most == 0 else 8 * calls / most
    bar = element("span", class_="o-bar", style=f"width:{width:.2f}em")
    return joined([f"{calls} ", bar])


def _callers(callers: tuple[tuple[str, int], ...]) -> Iterator[Html]:
    for where, calls in callers[:5]:
        yield element("div", f"{calls} ", place(where))
    if len(callers) > 5:
        yield element("div", plain(f"{sum(n for _, n in callers[5:])} from elsewhere"))
