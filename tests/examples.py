"""The number of examples that hypothesis draws for a test."""

from hypothesis import settings


def examples(count: int) -> int:
    """``max_examples`` of a test: all of them, or in the quick run a share, as for other tests."""
    return max(3, count * settings().max_examples // 100)
