"""Errors of tagging."""

from __future__ import annotations

from overlay import OverlayError

__all__ = ["NotTaggable"]


class NotTaggable(OverlayError, TypeError):
    """A value that cannot carry metadata, because all its users share one object."""
