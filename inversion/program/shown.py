"""Programs, plans and inverses as text and drawings; ``inversion.tools`` registers the
renderers.
"""

from __future__ import annotations

from functools import singledispatch

__all__ = ["html_of", "svg_of", "text_of"]


@singledispatch
def text_of(value: object) -> str:
    """The text of a value, one or more lines."""
    raise _not_registered(value)


@singledispatch
def html_of(value: object) -> str:
    """The HTML of a value, for notebooks."""
    raise _not_registered(value)


@singledispatch
def svg_of(value: object, *, is_alone: bool = True) -> str:
    """The drawing of a value.

    is_alone: whether it includes the styles that it needs outside a page.
    """
    raise _not_registered(value)


def _not_registered(value: object) -> TypeError:
    return TypeError(f"nothing is registered that shows a {type(value).__name__}")
