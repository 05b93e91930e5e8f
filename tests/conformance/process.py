"""Run of a test module in its own process, with a time limit."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from explained import NOT_COUNTED
from outcomes import ENDED, Run, read

WORKER = Path(__file__).parent / "worker.py"
LOG = 4000  # characters kept of what a run printed


@dataclass
class Options:
    """How each module is run.

    context: ``module:name`` of the class of contexts. limit: in seconds.
    """

    context: str = "overlay:Context"
    limit: float = 300.0


def run_once(options: Options, module: str, where: str, count: tuple[str, ...] = ()) -> Run:
    """Run one module. where: ``native`` or ``context``; count: functions to count."""
    flags = [] if where == "native" else ["--context", options.context]
    flags += ["--count", *count, "--without", *NOT_COUNTED] if count else []
    place = Path(tempfile.mkdtemp(prefix="conformance-"))
    try:
        results, log, work = place / "results", place / "log", place / "work"
        work.mkdir()
        command = [sys.executable, "-X", "faulthandler", str(WORKER), module, str(results)]
        with log.open("wb") as output:
            ending = finished([*command, *flags], work, output, options.limit)
        text = log.read_bytes()[-LOG:].decode("utf-8", "replace")
        return read(results, module, ending, text)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def heed_interrupts() -> None:
    """Restore the handling of SIGINT, which modules test and which a shell makes background jobs
    ignore.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def finished(command: list[str], work: Path, output: IO[bytes], limit: float) -> str:
    """Run a command to its end or to the time limit; return how it ended."""
    process = subprocess.Popen(
        command,
        cwd=work,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        env=os.environ | {"PYTHONHASHSEED": "0"},
        start_new_session=True,
        preexec_fn=heed_interrupts,
    )
    try:
        code = process.wait(limit)
    except subprocess.TimeoutExpired:
        return f"time limit of {limit:g} s"
    finally:
        end_group(process)
    if code < 0:
        return f"signal {signal.Signals(-code).name}"
    return ENDED if code == 0 else f"exit code {code}"


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End the process, if it still runs, and all processes that it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
