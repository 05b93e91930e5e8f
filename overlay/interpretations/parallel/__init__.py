"""Parallelism: independent calls of unmodified code, made at the same time."""

from overlay.interpretations.parallel.api import Parallel, parallel
from overlay.interpretations.parallel.loops import LoopReport

__all__ = ["LoopReport", "Parallel", "parallel"]
