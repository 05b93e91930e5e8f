"""Programs, plans and inverses as text and drawings; ``inversion.tools`` registers the
renderers.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from inversion.program.late_parts import renderers
from overlay.core.short_repr import a_or_an

__all__ = ["html_of", "svg_of", "text_of"]


@singledispatch
def text_of(value: object) -> str:
    """The text of a value, one or more lines."""
    return _registered(text_of, value)(value)


@singledispatch
def html_of(value: object) -> str:
    """The HTML of a value, for notebooks."""
    return _registered(html_of, value)(value)


@singledispatch
def svg_of(value: object, *, is_alone: bool = True) -> str:
    """The drawing of a value.

    is_alone: whether it includes the styles that it needs outside a page.
    """
    return _registered(svg_of, value)(value, is_alone=is_alone)


def _registered(shown: Any, value: object) -> Any:
    """The renderer of a value, once all are registered. Raises TypeError where there is none."""
    renderers.load()
    found = shown.dispatch(type(value))
    if found is shown.dispatch(object):
        raise TypeError(f"nothing is registered that shows {a_or_an(type(value).__name__)}")
    return found
