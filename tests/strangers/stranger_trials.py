"""Trial of one program of strangers: it is inverted, and asked for arguments that give its
example's result.
"""

import argparse
import json
import signal
import threading
import warnings
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest

from inversion import NotInvertible, choose
from overlay import OverlayError
from tests.strangers import (
    encoding_programs,
    engineering_programs,
    modelling_programs,
    moving_programs,
    science_programs,
)

MODULES = (
    *(moving_programs, modelling_programs),
    *(engineering_programs, encoding_programs, science_programs),
)
TABLE = Path(__file__).with_name("outcomes.json")
FIRST = Path(__file__).with_name("first_outcomes.json")
"""The outcomes at the first try of each program, before anything was done for it."""
LIMIT = 20
"""Seconds of processor time for each thing that is asked; what needs more is "too slow"."""
RTOL = 1e-9
DEFAULT_ATOL = 1e-12
ROUNDING = 1 + 1e-6


class TooSlow(BaseException):
    """No Exception, so that nothing on the way takes it for one of a program's."""


@dataclass
class Outcome:
    """The outcome for a program, over all its examples, the worst first.

    refused: the error, with the request; "" if it is accepted. without_theta: "answered", or the
    error. recovered: "exact", or the error. wrong: an answer that is not a solution.
    """

    name: str
    refused: str = ""
    without_theta: str = ""
    recovered: str = ""
    wrong: str = ""


def programs():
    """All of them, by name."""
    return {p["name"]: p for module in MODULES for p in module.P}


def parameters():
    """All of them as parameters of a test: one of ten in the quick tests, all in the long ones."""
    accepted = [name for name, outcome in table().items() if not outcome.refused]
    quick = set(accepted[::10])
    return [
        pytest.param(name, marks=() if name in quick else pytest.mark.long) for name in programs()
    ]


def table(path=TABLE):
    """The outcomes that a table holds, by name."""
    return {row["name"]: Outcome(**row) for row in json.loads(path.read_text())}


def write(outcomes, path=TABLE):
    """Write a table."""
    rows = [json.dumps(asdict(outcome), ensure_ascii=False) for outcome in outcomes]
    path.write_text("[\n " + ",\n ".join(rows) + "\n]\n")


def counts(outcomes):
    """How many programs are accepted, and what becomes of these."""
    accepted = [outcome for outcome in outcomes if not outcome.refused]
    return {
        "programs": len(outcomes),
        "accepted": len(accepted),
        "answered without θ": sum(o.without_theta == "answered" for o in accepted),
        "recovered exactly": sum(o.recovered == "exact" for o in accepted),
        "wrong": sum(bool(o.wrong) for o in accepted),
    }


def command_options(description):
    """The options of a command that tries programs: --write, --keep, and --only with names."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--write", action="store_true", help="renew the table")
    parser.add_argument("--only", nargs="+", default=(), help="names of programs")
    parser.add_argument("--keep", type=Path, help="the file for the figures of the report")
    return parser.parse_args()


@contextmanager
def within(seconds):
    """Raise TooSlow in the block after this time."""

    def late(*_):
        raise TooSlow

    assert threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGPROF, late)
    # again and again: an exception is lost where the collector of garbage calls Python
    signal.setitimer(signal.ITIMER_PROF, seconds, 5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def tried(program, limit=LIMIT):
    """Try a program at each of its examples."""
    outcome = Outcome(program["name"])
    function, known = program["f"], program.get("known", ("return",))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inverse, outcome.refused = asked(
            lambda: choose(function, *program["types"], known=known), limit
        )
        if inverse is None:
            return outcome
        for args in program["args"]:
            example(outcome, program, inverse, args, limit)
    outcome.without_theta = outcome.without_theta or "answered"
    outcome.recovered = outcome.recovered or "exact"
    return outcome


def example(outcome, program, inverse, args, limit):
    """Ask for arguments that give the result of one example, without θ and with the θ of the
    example.
    """
    values = known_values(program, inverse, args)
    answer, error = asked(lambda: inverse(*values), limit)
    outcome.without_theta = outcome.without_theta or error
    if answer is not None:
        outcome.wrong = outcome.wrong or wrong(program, inverse, args, answer)
    theta, error = asked(lambda: inverse.recover(*args), limit)
    if theta is None:
        outcome.recovered = outcome.recovered or error
        return
    spare = (theta,) if len(inverse.parameters) else ()
    answer, error = asked(lambda: inverse(*values, *spare), limit)
    if answer is None:
        outcome.recovered = outcome.recovered or error
        return
    outcome.wrong = outcome.wrong or wrong(program, inverse, args, answer)
    unknown = [value for axis, value in axes_of(inverse, args).items() if axis in inverse.unknown]
    if not all(close(a, b, 1e-6) for a, b in zip(answer, unknown, strict=True)):
        outcome.recovered = outcome.recovered or "another answer"


def asked(call, limit):
    """The result of a call, and ""; or None and the error."""
    try:
        with within(limit):
            return call(), ""
    except TooSlow:
        return None, "too slow"
    except NotInvertible as error:
        return None, f"NotInvertible: {error.asked.partition(' Raised from')[0]}"
    except (OverlayError, ArithmeticError, ValueError, TypeError) as error:
        return None, type(error).__name__
    except Exception as error:
        return None, f"not ours: {type(error).__name__}"


def axes_of(inverse, args):
    """The arguments by name."""
    return dict(zip(inverse.axes.inputs, args, strict=True))


def known_values(program, inverse, args):
    """The values of what is known, at the arguments."""
    axes = {**axes_of(inverse, args), "return": program["f"](*args)}
    return [part(axes, name) for name in inverse.known]


def part(axes, name):
    """The value of an axis, or of a part of one: ``o.strike``."""
    axis, _, field = name.partition(".")
    return getattr(axes[axis], field) if field else axes[axis]


def wrong(program, inverse, args, answer):
    """What is wrong with an answer, where running the program in plain Python shows it."""
    axes = axes_of(inverse, args)
    axes.update((axis, a) for axis, a in zip(inverse.unknown, answer, strict=True) if axis in axes)
    result, wanted = program["f"](*axes.values()), program["f"](*args)
    return "" if close(result, wanted, RTOL * ROUNDING) else f"{answer} gives {result}"


def close(found, wanted, rtol):
    """Whether all numbers agree."""
    return all(
        a == b
        if isinstance(b, (int, str, bytes, type(None)))
        else bool(np.abs(a - b) <= max(rtol * np.abs(b), DEFAULT_ATOL))
        for a, b in zip(numbers(found), numbers(wanted), strict=True)
    )


def numbers(value):
    """The numbers and strings that a value is made of."""
    if isinstance(value, np.ndarray):
        value = value.ravel().tolist()
    if is_dataclass(value):
        value = [getattr(value, f.name) for f in fields(value)]
    if isinstance(value, dict):
        value = [part for item in value.items() for part in item]
    if isinstance(value, (tuple, list)):
        return [number for item in value for number in numbers(item)]
    return [value]
