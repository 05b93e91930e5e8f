"""Reasons why a search may have missed solutions."""

from __future__ import annotations

__all__ = ["Unproved"]

MOST_REASONS = 8


class Unproved:
    """Reasons why a finished search may have missed solutions, without duplicates."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self.reasons)

    def add(self, kind: str, reason: str) -> None:
        """Add a reason of a kind; only the first of each kind is stored."""
        if len(self.reasons) < MOST_REASONS:
            self.reasons.setdefault(kind, reason)

    def __str__(self) -> str:
        return "; ".join(self.reasons.values())
