"""What tagging refuses."""

from __future__ import annotations

from overlay import OverlayError

__all__ = ["NotTaggable"]


class NotTaggable(OverlayError, TypeError):
    """A value that cannot carry metadata, as there is one of it for all who use it."""
