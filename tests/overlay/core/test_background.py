"""What is made in the background: once, in one thread, and given up where the process does."""

import logging
import os
import subprocess
import sys
import threading

import pytest

from overlay.core import background
from overlay.core.background import GivenUp, Later, goes_on, rest


def always():
    return True


def test_it_is_made_once_in_another_thread():
    made = []
    later = Later(lambda: made.append(threading.current_thread()), "a list")
    assert not later.is_made
    for _ in range(3):
        later.begin(always)
    later.wait()
    rest()
    assert later.is_made
    assert later.now() is None
    assert len(made) == 1
    assert made[0] is not threading.current_thread()
    assert made[0].daemon


def test_who_needs_it_at_once_makes_it_or_waits_for_it():
    assert Later(threading.current_thread, "a thread").now() is threading.current_thread()
    begun, goes = threading.Event(), threading.Event()

    def make():
        begun.set()
        goes.wait()
        return threading.current_thread()

    later = Later(make, "a thread")
    later.begin(always)
    begun.wait()
    threading.Timer(0.01, goes.set).start()
    assert later.now() is not threading.current_thread()
    rest()


def test_things_are_made_one_after_the_other():
    at_work, most = [], []

    def make():
        at_work.append(1)
        most.append(len(at_work))
        at_work.pop()

    laters = [Later(make, str(i)) for i in range(20)]
    for later in laters:
        later.begin(always)
    rest()
    assert all(later.is_made for later in laters)
    assert max(most) == 1


def test_a_failure_is_logged_and_raised_for_who_asks(caplog):
    def make():
        raise ValueError("no such thing")

    later = Later(make, "a thing")
    with caplog.at_level(logging.WARNING, "overlay.compiled"):
        later.begin(always)
        later.wait()
        rest()
    assert [record.getMessage() for record in caplog.records] == [
        "not compiled in the background: a thing: no such thing"
    ]
    assert not later.is_made
    with pytest.raises(ValueError, match="no such thing"):
        later.now()


def test_what_is_no_longer_wanted_is_dropped_and_may_be_begun_anew():
    wanted, passed = [False], []

    def make():
        passed.append("begun")
        wanted[0] = False
        goes_on()
        passed.append("not given up")

    later = Later(make, "a thing")
    for before, after in ((False, []), (True, ["begun"])):
        wanted[0] = before
        later.begin(lambda: wanted[0])
        later.wait()
        rest()
        assert passed == after
        assert not later.is_made
    goes_on()  # elsewhere nothing is given up


def test_what_nobody_holds_is_not_made():
    goes, made = threading.Event(), []
    first = Later(goes.wait, "a wait")
    first.begin(always)
    Later(lambda: made.append(1), "a thing").begin(always)
    goes.set()
    rest()
    assert first.is_made
    assert not made


def test_no_error_handler_stops_what_is_given_up():
    assert not issubclass(GivenUp, Exception)


def test_where_no_thread_can_be_started_it_is_put_off(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    later = Later(lambda: 1, "a number")
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        later.begin(always)
        later.wait()
        assert not later.is_made
    later.begin(always)
    later.wait()
    assert later.now() == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_a_fork_gives_up_and_the_parent_begins_anew():
    begun, turns = threading.Event(), []
    stopped = threading.Event()

    def make():
        turns.append(1)
        if len(turns) > 1:
            return len(turns)
        begun.set()
        try:
            while True:
                stopped.wait(0.001)
                goes_on()
        finally:
            stopped.set()

    later = Later(make, "a number")
    later.begin(always)
    begun.wait()
    child = os.fork()
    if child == 0:
        alone = threading.active_count() == 1 and not later.is_made
        later.begin(always)
        later.wait()
        os._exit(0 if alone and later.is_made else 1)
    _, status = os.waitpid(child, 0)
    rest()
    assert os.waitstatus_to_exitcode(status) == 0
    assert stopped.is_set()
    assert later.now() == 2


ENDS = """
import threading
from overlay.core.background import Later, goes_on

begun, stop = threading.Event(), threading.Event()

def make():
    begun.set()
    while True:
        stop.wait(0.001)
        goes_on()

later = Later(make, "a thing")
later.begin(lambda: True)
begun.wait()
print("ended")
"""


def test_a_process_that_ends_first_gives_up():
    done = subprocess.run(
        [sys.executable, "-c", ENDS], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")


def test_at_the_end_nothing_is_begun(monkeypatch):
    monkeypatch.setattr(background._worker, "_stops", True)
    later = Later(lambda: 1, "a number")
    later.begin(always)
    later.wait()
    assert not later.is_made
