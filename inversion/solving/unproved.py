"""What a search could not settle: why it may have missed solutions."""

from __future__ import annotations

__all__ = ["Unproved"]

MOST_REASONS = 8


class Unproved:
    """Reasons for which a search that has ended may have missed solutions, each once."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self.reasons)

    def add(self, kind: str, reason: str) -> None:
        """A reason of a kind; of each kind the first is kept."""
        if len(self.reasons) < MOST_REASONS:
            self.reasons.setdefault(kind, reason)

    def __str__(self) -> str:
        return "; ".join(self.reasons.values())
