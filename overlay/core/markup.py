"""HTML and SVG of objects for notebooks: elements that escape their text, and the styles, for
light and dark themes.

No scripts are used, and the text is readable without the styles. Tables and trees are bounded, and
tell how much they leave out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from itertools import islice

from overlay.core.location import brief
from overlay.core.own_builtins import __builtins__
from overlay.core.short_repr import OneLine, cut

__all__ = [
    "STYLES",
    "Html",
    "badge",
    "bounded",
    "code",
    "element",
    "facts",
    "folded",
    "grid",
    "joined",
    "left_out",
    "listed",
    "place",
    "plain",
    "row",
    "sheet",
    "shown_value",
    "title",
    "tree",
    "view",
]

_ROWS = 200  # of a table
_LINES = 500  # of a tree
_DEPTH = 20  # of a tree
_LONGEST = 200  # characters of a value


class Html(str):
    """Text that is HTML already; any other text is escaped where it is put into an element."""

    __slots__ = ()


# Jupyter's themes take precedence over the browser's preference.
_LIGHT = (
    "--o-text:#1f2328;--o-soft:#59636e;--o-line:#d1d9e0;--o-fill:#f6f8fa;"
    "--o-blue:#0550ae;--o-blue-fill:#ddf4ff;--o-orange:#953800;--o-orange-fill:#fff1e5;"
    "--o-green:#116329;--o-green-fill:#dafbe1;--o-red:#a40e26;--o-red-fill:#ffebe9;"
)
_DARK = (
    "--o-text:#e6edf3;--o-soft:#9198a1;--o-line:#3d444d;--o-fill:#1c2128;"
    "--o-blue:#79c0ff;--o-blue-fill:#10294a;--o-orange:#ffa657;--o-orange-fill:#3d2310;"
    "--o-green:#7ee787;--o-green-fill:#12361e;--o-red:#ff9790;--o-red-fill:#4a1a1d;"
)
# has the specificity of an id: overrides a notebook's styles of tables and code
_VIEW = ":is(.overlay-view,#overlay-view)"
STYLES = (
    f".overlay-view{{{_LIGHT}}}"
    f"@media (prefers-color-scheme:dark){{.overlay-view{{{_DARK}}}}}"
    f'[data-jp-theme-light="true"] .overlay-view,.vscode-light .overlay-view{{{_LIGHT}}}'
    f'[data-jp-theme-light="false"] .overlay-view,.vscode-dark .overlay-view{{{_DARK}}}'
    """
VIEW{color:var(--jp-content-font-color1,var(--o-text));font-size:13px;
font-family:var(--jp-content-font-family,system-ui,sans-serif);line-height:1.5;
max-width:100%;overflow-x:auto}
VIEW tr{background:none}
VIEW table{border-collapse:collapse;margin:.3em 0;border:0;color:inherit;
font-size:inherit}
VIEW th,VIEW td{text-align:left;vertical-align:top;padding:.15em .8em .15em 0;
border:0;background:none;white-space:normal}
VIEW th{color:var(--o-soft);font-weight:normal;border-bottom:1px solid var(--o-line)}
VIEW tr.o-apart td{border-top:1px solid var(--o-line)}
VIEW code,VIEW pre,VIEW text{font-family:ui-monospace,Menlo,Consolas,
"DejaVu Sans Mono",monospace;font-size:12px;background:none;color:inherit;padding:0}
VIEW pre{margin:0;white-space:pre;line-height:1.45}
VIEW .o-soft{color:var(--o-soft)}
VIEW .o-struck code{text-decoration:line-through;color:var(--o-soft)}
VIEW .o-badge{border-radius:.8em;padding:0 .6em;font-size:11px;white-space:nowrap;
border:1px solid currentColor;color:var(--o-soft)}
VIEW .o-blue{color:var(--o-blue);background:var(--o-blue-fill)}
VIEW .o-orange{color:var(--o-orange);background:var(--o-orange-fill)}
VIEW .o-green{color:var(--o-green);background:var(--o-green-fill)}
VIEW .o-red{color:var(--o-red);background:var(--o-red-fill)}
VIEW details{margin:.1em 0 .1em .2em;padding-left:.9em;border-left:1px solid var(--o-line)}
VIEW details>summary{margin-left:-.9em;cursor:pointer}
VIEW .o-site{padding-left:.9em}
VIEW .o-bar{display:inline-block;height:.7em;background:var(--o-blue)}
VIEW .o-sides{display:flex;flex-wrap:wrap;gap:.6em 2em;align-items:flex-start}
VIEW .o-sides>div{min-width:0;max-width:100%;overflow-x:auto}
VIEW .o-code td{padding-top:0;padding-bottom:0;white-space:pre;line-height:1.6}
VIEW .o-title{font-weight:600;margin:.3em 0}
VIEW svg{max-width:100%;height:auto}
VIEW .o-node rect{fill:var(--o-fill);stroke:var(--o-line)}
VIEW .o-node.o-given rect{fill:var(--o-green-fill);stroke:var(--o-green)}
VIEW .o-node.o-chosen rect{fill:var(--o-orange-fill);stroke:var(--o-orange)}
VIEW .o-node.o-answer rect{fill:var(--o-blue-fill);stroke:var(--o-blue)}
VIEW .o-node text{fill:var(--o-text);stroke:none}
VIEW .o-edge{fill:none;stroke:var(--o-soft);stroke-width:1.2}
VIEW .o-tip{fill:var(--o-soft);stroke:none}
""".replace("\n", "").replace("VIEW", _VIEW)
)


def element(name: str, /, *children: object, **attributes: object) -> Html:
    """One element. children: any but ``Html`` are escaped; None is left out. attributes: ``_``
    is written as ``-``, and a trailing ``_`` (for Python's keywords) dropped; None and False are
    left out.
    """
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}"
        + ("" if value is True else f'="{escape(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Html(f"<{name}{given}>{joined(children)}</{name}>")


def joined(children: Iterable[object]) -> Html:
    """Children one after the other, as in ``element``."""
    return Html(
        "".join(
            child if isinstance(child, Html) else escape(str(child))
            for child in children
            if child is not None
        )
    )


def view(*children: object) -> str:
    """All of an object's HTML, with the styles."""
    return str(element("div", element("style", Html(STYLES)), *children, class_="overlay-view"))


def code(text: object) -> Html:
    """A piece of a program."""
    return element("code", text)


def plain(text: object) -> Html:
    """Text in a subdued colour."""
    return element("span", text, class_="o-soft")


def place(where: str) -> Html:
    """A location, ``file:line``, in a subdued colour."""
    return plain(brief(where))


def badge(text: object, colour: str | None = None) -> Html:
    """A word in a frame. colour: ``"blue"``, ``"orange"``, ``"green"``, ``"red"``."""
    return element("span", text, class_=f"o-badge o-{colour}" if colour else "o-badge")


def folded(summary: Html, *children: object, is_open: bool) -> Html:
    """Children that a click on the summary shows or hides."""
    return element("details", element("summary", summary), *children, open=is_open)


def grid(head: Sequence[object], rows: Iterable[Html], rest: int = 0) -> Html:
    """A table with these column titles; rows: ``tr`` elements, of which the first are shown. rest:
    the number of rows that were not made."""
    titles = element("tr", *(element("th", each) for each in head))
    return element("table", element("thead", titles), element("tbody", *bounded(rows, rest)))


def row(*cells: object, class_: str | None = None) -> Html:
    """One row of a grid."""
    return element("tr", *(element("td", cell) for cell in cells), class_=class_)


def bounded(rows: Iterable[Html], rest: int = 0) -> Iterator[Html]:
    """The first rows of a table, and one that tells how many there are besides. rest: the number
    of rows that were not made."""
    left = iter(rows)
    yield from islice(left, _ROWS)
    rest += sum(1 for _ in left)
    if rest:
        yield element("tr", element("td", left_out(rest), colspan=99))


def left_out(count: int) -> Html:
    """Tells how many things are not shown."""
    return plain(f"... and {count} more")


def listed[T](
    head: Sequence[object], items: Sequence[T], cells: Callable[[T], Iterable[object]]
) -> Html | None:
    """A table with a row for each item; None if there are none. cells: those of an item's row."""
    if not items:
        return None
    rows = (row(*cells(item)) for item in items[:_ROWS])
    return grid(head, rows, max(0, len(items) - _ROWS))


def facts(*pairs: tuple[str, object]) -> Html | None:
    """A table of names and values, without those that are None or empty text."""
    rows = [row(plain(name), held) for name, held in pairs if held is not None and held != ""]
    return element("table", element("tbody", *bounded(rows))) if rows else None


def tree[T](
    items: Sequence[T], head: Callable[[T], Html], below: Callable[[T], Sequence[T]]
) -> Html:
    """Lines that fold, each with those below it; the outermost are open. head, below: an item's
    line, and the items below it."""
    budget = iter(range(_LINES))

    def grown(items: Sequence[T], depth: int) -> Iterator[Html]:
        for at, item in enumerate(items):
            if next(budget, None) is None:
                yield element("div", left_out(_size(items[at:], below)), class_="o-site")
                return
            inner = below(item)
            if not inner:
                yield element("div", head(item), class_="o-site")
            elif depth == _DEPTH:
                more = left_out(_size(inner, below))
                yield element("div", head(item), " ", more, class_="o-site")
            else:
                yield folded(head(item), *grown(inner, depth + 1), is_open=depth == 0)

    return joined(grown(items, 0))


def _size[T](items: Iterable[T], below: Callable[[T], Sequence[T]]) -> int:
    """The number of items, and of all below them."""
    count, left = 0, list(items)
    while left:
        count += 1
        left.extend(below(left.pop()))
    return count


_values = OneLine(maxother=_LONGEST, maxstring=_LONGEST, maxlong=_LONGEST, maxlevel=4)


def shown_value(held: object) -> Html:
    """An object of a program, as its representation, which is cut where it is long."""
    return code(cut(_values.repr(held), _LONGEST))


def title(kind: str, name: object = "", more: object = None) -> Html:
    """The first line of a view: what it shows, and its name."""
    named = joined([element("b", name), " "]) if name else None
    return element("div", plain(f"{kind} "), named, more, class_="o-title")


def sheet(kind: str, name: object, more: object, *parts: object) -> str:
    """All of an object's HTML: a title, and the parts below it; None is left out."""
    return view(title(kind, name, None if more is None else plain(more)), *parts)
