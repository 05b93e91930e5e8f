"""Errors of tagging."""

from __future__ import annotations

from overlay import OverlayError

__all__ = ["NotTaggable"]


class NotTaggable(OverlayError, TypeError):
    """A value cannot carry metadata, because all its users share one object.

    Examples
    --------
    >>> from overlay.interpretations.tagging import Tagging
    >>> Tagging().tag(None, "metre")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    overlay.interpretations.tagging.errors.NotTaggable: None cannot carry metadata
    """
