"""The outcomes of a run of one module, and the differences between two runs."""

import ast
import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ENDED, SKIPPED = "ended", "skipped"
WHOLE = "(the whole run)"
# what differs from run to run in a subtest's name
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+|id='\d+'|@test_\d+_tmp\S*|/tmp/\S+")


@dataclass
class Run:
    """One run: how it ended, the outcomes of each test in order, and the counts."""

    ending: str
    outcomes: dict[str, list[str]] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)
    counts: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    last: str = ""
    log: str = ""

    @property
    def crashed(self) -> bool:
        """Whether a signal ended it."""
        return self.ending.startswith("signal")


@dataclass(frozen=True)
class Difference:
    """A test with another outcome in a context than natively."""

    test: str
    native: str
    found: str
    detail: str = ""


def read(path: Path, module: str, ending: str, log: str) -> Run:
    """The run that wrote these results. ending: how the process ended."""
    run = Run(ending, log=log)
    outcomes = defaultdict[str, list[str]](list)
    done = False
    for record in records(path):
        match record:
            case ("start", name):
                run.last = name
            case ("test", name, outcome, detail):
                key = _ADDRESS.sub("...", name.removeprefix(f"{module}."))
                outcomes[key].append(outcome)
                if outcome not in ("ok", "skip"):
                    run.details[key] = detail
            case ("skipped", reason):
                return Run(f"{SKIPPED}: {reason}")
            case ("done", seconds, counts):
                run.seconds, run.counts, done = seconds, counts, True
    run.outcomes = dict(outcomes)
    if ending == ENDED and not done:
        run.ending = "ended early"
    return run


def records(path: Path) -> list[Any]:
    """The records in the lines of a results file; the last one may be incomplete."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [ast.literal_eval(line.decode("utf-8", "surrogateescape")) for line in lines]


def differences(native: Run, other: Run) -> list[Difference]:
    """Each test and subtest with another outcome, and the end of the run if that differs; then
    tests that were not reached are omitted.
    """
    cut = other.ending != native.ending
    found = [
        Difference(test, shown(native, test), shown(other, test), other.details.get(test, ""))
        for test in native.outcomes | other.outcomes
        if native.outcomes.get(test) != other.outcomes.get(test)
        and not (cut and test not in other.outcomes)
    ]
    if cut:
        where = f"last test: {other.last}"
        found.append(Difference(WHOLE, native.ending, other.ending, f"{where}\n{other.log}"))
    return found


def shown(run: Run, test: str) -> str:
    """The outcome of a test in a word or two; subtests of one name are listed."""
    return ", ".join(dict.fromkeys(run.outcomes.get(test, ["not run"])))
