"""Automatic parallelism: independent calls of unmodified code run concurrently.

``data_kinds``: abstract values of purity proofs: kinds of plain data, and values that are no
data.
``function_source``: the AST of a function, for loops that are rewritten.
``known_effects``: effects of builtins, ``math``, numpy and the methods of plain data: those that
compute from their arguments and do nothing else.
``loop_candidates``: loops that run while workers make their future calls speculatively.
``loop_data``: plain data: numbers, text, and containers and arrays of these.
``parallel_loops``: functions whose loops make their calls concurrently.
``purity``: a function only computes from its arguments.
``purity_proof``: proofs of purity, and the check whether one still holds.
``purity_rules``: transfer functions: the effects and results of operators and calls on kinds of
data.
``rewriting``: functions rewritten so that their loops use speculative calls.
``shipping``: functions sent to another process by value: their code, and everything the proof
says they read.
``workers``: workers that make calls concurrently with the program: threads, and persistent
processes.
"""

from overlay.core.public_names import completes
from overlay.interpretations.parallel.loop_candidates import LoopReport
from overlay.interpretations.parallel.parallel_loops import Parallel, parallel

__all__ = ["LoopReport", "Parallel", "parallel"]
__dir__ = completes(__all__)
