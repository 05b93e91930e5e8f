import contextlib
import functools
import glob
import math
import operator
import os
import pathlib
import socket
import sqlite3
import subprocess
import tempfile
import threading

import numpy as np
import pytest

from overlay import MethodNotFound
from overlay.interpretations.sandbox import FILES, Refused, Sandbox

COMMAND = "echo this must not run"


class Hidden:
    @property
    def now(self):
        return os.system(COMMAND)

    def __add__(self, other):
        return os.system(COMMAND)


@pytest.mark.parametrize(
    "program",
    [
        lambda: os.system(COMMAND),
        lambda: os.system(*[COMMAND]),
        lambda: os.system(**{"command": COMMAND}),
        lambda: getattr(os, "sys" + "tem")(COMMAND),
        lambda: vars(os)["system"](COMMAND),
        lambda: list(map(os.system, [COMMAND])),
        lambda: sorted([COMMAND], key=os.system),
        lambda: functools.partial(os.system, COMMAND)(),
        lambda: functools.reduce(lambda f, x: f(x), [os.system, COMMAND]),
        lambda: operator.methodcaller("system", COMMAND)(os),
        lambda: list(map(operator.methodcaller("system", command=COMMAND), [os])),
        lambda: (lambda f: f(COMMAND))(os.system),
        lambda: Hidden().now,
        lambda: Hidden() + 1,
    ],
)
def test_a_call_is_refused_however_it_is_made(program):
    box = Sandbox(["os:system"])
    with pytest.raises(Refused, match=r"os\.system\(.*this must not run"):
        box(program)
    assert [call.name for call in box.calls] == ["os.system"]


@pytest.mark.parametrize(
    ("program", "name"),
    [
        (lambda: subprocess.run(["true"]), "subprocess.Popen"),
        (lambda: os.popen("true"), "os.popen"),
        (lambda: pathlib.Path("notes.txt").write_text("x"), "open"),
        (lambda: tempfile.mkstemp(), "os.open"),
        (lambda: socket.create_connection(("localhost", 9)), "socket.getaddrinfo"),
        (lambda: np.save("notes.npy", np.zeros(1)), "numpy.save"),
        (lambda: np.zeros(1).tofile("notes.npy"), "numpy.ndarray.tofile"),
        (lambda: sqlite3.connect("notes.db"), "sqlite3.connect"),
        (lambda: eval("1 + 1"), "eval"),
        (lambda: exec("import os; os.system('true')"), "exec"),
    ],
)
def test_the_standard_library_is_refused_inside(program, name):
    box = Sandbox()
    with pytest.raises(Refused) as info:
        box(program)
    assert info.value.call.name == name


def test_code_made_at_run_time_is_looked_into_where_that_is_allowed():
    box = Sandbox(allow=["builtins:exec"])
    with pytest.raises(Refused, match=r"os\.system"):
        box(lambda: exec("import os; os.system('true')"))


def test_a_program_that_catches_the_error_does_nothing_and_is_known():
    def program(path):
        with contextlib.suppress(Exception):
            os.remove(path)
        return os.path.exists(path)

    box = Sandbox()
    assert box(program, __file__) is True
    (call,) = box.calls
    assert call.name == "os.remove"
    assert "test_sandbox.py" in call.where


def test_what_is_allowed_goes_on():
    allowed = "builtins:open", "io:FileIO"  # open() makes a FileIO
    assert Sandbox(allow=allowed)(lambda: bool(pathlib.Path(__file__).read_text()))
    assert Sandbox()(glob.escape, "*") == "[*]"
    assert Sandbox([math.sin])(math.cos, 0.0) == 1.0
    with pytest.raises(MethodNotFound):
        Sandbox(FILES, allow=[math.sin])


def test_threads_that_the_program_starts_are_in_the_sandbox(monkeypatch):
    def program():
        thread = threading.Thread(target=os.system, args=(COMMAND,))
        thread.start()
        thread.join()

    raised = []
    monkeypatch.setattr(threading, "excepthook", lambda error: raised.append(error.exc_type))
    box = Sandbox(["os:system"])
    box(program)
    assert raised == [Refused]
    assert [call.name for call in box.calls] == ["os.system"]


def test_nothing_is_refused_outside():
    box = Sandbox()
    with pytest.raises(Refused):
        box(open, __file__)
    with open(__file__) as file:
        assert file.readable()
    assert box.wrap(os.path.basename)(__file__) == "test_sandbox.py"
