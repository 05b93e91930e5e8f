"""How much the engine keeps."""

from __future__ import annotations

from typing import Any

__all__ = ["limited"]

_MOST = 10_000


def limited(kept: dict[Any, Any]) -> dict[Any, Any]:
    """``kept`` itself, without its older half where it has grown large: code that a program
    makes for ever, and uses once, is not kept for ever."""
    if len(kept) > _MOST:
        for key in list(kept)[: _MOST // 2]:
            kept.pop(key, None)
    return kept
