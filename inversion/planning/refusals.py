"""Why ways that were tried did not lead anywhere: kept for the error, if none does."""

from __future__ import annotations

import sys
import threading

from primitives.solver_kernels import compiled_form

__all__ = ["refused", "taken_refusals"]


class _Reasons(threading.local):
    def __init__(self) -> None:
        self.found: list[tuple[str, Exception]] = []


_reasons = _Reasons()


def refused(way: str) -> None:
    """Keep the exception that is being handled, as the reason against a way."""
    error = sys.exc_info()[1]
    if isinstance(error, Exception):
        _reasons.found.append((way, error))


@compiled_form(refused)
def _not_kept(way: str) -> None:
    pass


def taken_refusals() -> list[tuple[str, Exception]]:
    """The reasons that have been kept, which are forgotten."""
    found, _reasons.found = _reasons.found, []
    return found
