"""Record a run and replay it.

Kind: whole runs
Shows: recorded values of clock, chance and files, on any machine
Tests: tests/overlay/interpretations/test_record_replay.py:
 test_a_run_is_replayed_without_its_calls
"""

import os
import tempfile
import time
import uuid

from overlay.interpretations.record_replay import ReplayMismatch, record, replay


def report():
    return time.time(), uuid.uuid4(), os.getpid() > 0


def another():
    return uuid.uuid4(), time.time()


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "run.json")
    first = record(path, [time.time, uuid.uuid4], report)
    print("replayed:", replay(path, report) == first)
    print("run again:", report() == first)
    try:
        replay(path, another)
    except ReplayMismatch:
        print("another program: refused")
