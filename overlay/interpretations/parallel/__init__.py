"""Automatic parallelism: independent calls of unmodified code run concurrently."""

from overlay.interpretations.parallel.loop_candidates import LoopReport
from overlay.interpretations.parallel.parallel_loops import Parallel, parallel

__all__ = ["LoopReport", "Parallel", "parallel"]
