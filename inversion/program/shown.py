"""Programs, plans and inverses as text and drawings: `inversion.tools` registers how each looks."""

from __future__ import annotations

from functools import singledispatch

__all__ = ["html_of", "svg_of", "text_of"]


@singledispatch
def text_of(value: object) -> str:
    """A value as text of one or more lines."""
    raise _not_registered(value)


@singledispatch
def html_of(value: object) -> str:
    """A value as HTML, as a notebook shows it."""
    raise _not_registered(value)


@singledispatch
def svg_of(value: object, *, is_alone: bool = True) -> str:
    """A drawing of a value. is_alone: with the styles that it needs outside of a page."""
    raise _not_registered(value)


def _not_registered(value: object) -> TypeError:
    return TypeError(f"nothing is registered that shows a {type(value).__name__}")
