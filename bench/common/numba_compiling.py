"""Results of numba's compilation: the compiled functions, and their instructions."""

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import llvmlite.binding
import numba
import numba.core.event as numba_events
import numpy
from common.timing import machine

__all__ = ["compiled_functions", "instructions", "machine_and_numba"]

LOWERING = ("native_lowering", "overlay_lowering")  # the pass of numba, and of contexts
WRAPPER = re.compile(r'"?(_ZN7cpython|cfunc\.)')  # numba's names for them
# of functions; the names of blocks, constants and tables begin with .L, as do hidden functions'
LABEL = re.compile(r'(?:"?\.L(?!BB|CPI|JTI|func_|tmp|switch)|"?\w)[^\s:]*:')


def machine_and_numba() -> str:
    """One line on the machine and versions of the figures."""
    versions = f"numba {numba.__version__}, numpy {numpy.__version__}"
    return f"{machine()}, {llvmlite.binding.get_host_cpu_name()}, {versions}"


def instructions(function: Any) -> tuple[list[str], list[str]]:
    """The names of the instructions of a compiled function of one signature, in order: those of the
    function and its callees, and those of the wrappers for Python and C."""
    [text] = function.inspect_asm().values()
    own: list[str] = []
    wrappers: list[str] = []
    into = own
    for line in text.splitlines():
        if label := LABEL.match(line):
            into = wrappers if WRAPPER.match(label[0]) else own
        elif re.match(r"\t[a-z]", line):
            into.append(line.split()[0])
    return own, wrappers


class _Lowered(numba_events.Listener):
    """Records the names of the functions that reach lowering."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, event: Any) -> None:
        if str(event.data["name"]).startswith(LOWERING):
            self.names.append(str(event.data.get("qualname", event.data)))

    def on_end(self, event: Any) -> None:
        pass


@contextlib.contextmanager
def compiled_functions() -> Iterator[list[str]]:
    """The names of the functions that numba compiles in the block."""
    listener = _Lowered()
    numba_events.register("numba:run_pass", listener)
    try:
        yield listener.names
    finally:
        numba_events.unregister("numba:run_pass", listener)
