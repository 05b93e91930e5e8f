"""Records the results of chosen calls of a run, and replays the run without making these calls.

``recorded_data``: lossless JSON serialisation of values, without pickle: reading a file from
others runs no code.
``recording``: records runs.
``replaying``: replays recorded runs.

>>> import os, random, tempfile
>>> from overlay.interpretations.record_replay import record, replay
>>> def throws():
...     return [random.randint(1, 6) for _ in range(5)]
>>> path = os.path.join(tempfile.mkdtemp(), "throws.json")
>>> first = record(path, ["random:Random.randint"], throws)
>>> replay(path, throws) == first
True
"""

from overlay.core.public_names import completes
from overlay.interpretations.record_replay.recorded_data import NotRecordable, from_data, to_data
from overlay.interpretations.record_replay.recording import Adapter, record
from overlay.interpretations.record_replay.replaying import ReplayMismatch, replay

__all__ = [
    "Adapter",
    "NotRecordable",
    "ReplayMismatch",
    "from_data",
    "record",
    "replay",
    "to_data",
]
__dir__ = completes(__all__)
