"""Batching: functions of one sample, run for many samples at once.

``batched_calls``: application of operators and functions of numpy to batches. ``batches``: the
values that a program has at one place for several samples. ``indexing``: parts of batches of
arrays, and writing into them. ``stacking``: one value of the values of several samples.
``one_by_one``: calls that are made for one sample after the other. ``batch_methods``: the table
of methods for batches: functions that the protocols of Python and numpy do not pass to them.
``batch_forms``: forms of numpy's functions for whole batches. ``sample_runs``: runs of a function
for a group of samples, and how a group is split. ``sample_loops``: loops over samples as
functions that can be compiled. ``shaping``: batches as arrays whose first axis is that of the
samples. ``transformation``: ``batched``: a function of one sample as a function of many.
"""

from overlay.core.public_names import completes
from overlay.interpretations.batching.sample_loops import sample_loop
from overlay.interpretations.batching.transformation import batched

__all__ = ["batched", "sample_loop"]
__dir__ = completes(__all__)
