"""Trial of one random program: it is inverted, answered for several θ, and its own arguments are
recovered.
"""

import math
import random
import time
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from inversion import NoSolution, NotInvertible, invert
from inversion.intrinsics.checks import margin
from overlay import NotCompilable
from tests.laws.array_programs import array_program
from tests.laws.control_flow import Program
from tests.laws.helper_programs import HelperProgram
from tests.laws.integer_programs import integer_program
from tests.laws.straight_line import function, numbers_of, random_program, value_of

RTOL, ATOL = 1e-9, 1e-12  # what invert promises by default
ROUNDING = 1 + 1e-6  # of the comparison itself
DRAWS = 5  # of arguments, until they have a value
THETAS = 2


@dataclass(frozen=True)
class Trial:
    """A program, the types for which it is inverted, and arguments with their value.

    value: None if none of the drawn arguments has one.
    """

    source: str
    types: tuple
    args: tuple
    value: object


def with_value(source, types, draw):
    """A trial with the first arguments drawn that have a value."""
    f = function(source)
    for _ in range(DRAWS):
        args = draw()
        value = value_of(f, args)
        if value is not None:
            break
    return Trial(source, types, args, value)


def straight_line(reuse):
    def make(rng):
        source, count = random_program(rng, reuse)
        return with_value(source, (float,) * count, lambda: floats(rng, count))

    return make


def floats(rng, count):
    return tuple(round(rng.uniform(-3, 3), 3) for _ in range(count))


def control_flow(rng):
    program = Program(rng)
    types = (float,) * program.count
    return with_value(program.source, types, lambda: floats(rng, program.count))


def helpers(rng):
    program = HelperProgram(rng)
    if not program.pair:
        types = (float,) * program.count
        return with_value(program.source, types, lambda: floats(rng, program.count))
    types = (tuple[float, float], *[float] * (program.count - 2))
    return with_value(
        program.source, types, lambda: (floats(rng, 2), *floats(rng, program.count - 2))
    )


def integers(rng):
    source, count = integer_program(rng)
    types = (int,) * count
    return with_value(source, types, lambda: tuple(rng.randint(-500, 500) for _ in types))


def arrays(rng):
    source, count = array_program(rng)
    types = (np.zeros(4),) * count
    return with_value(source, types, lambda: tuple(np.array(floats(rng, 4)) for _ in types))


KINDS = {
    "straight line": straight_line(0.0),
    "straight line, variables used again": straight_line(0.3),
    "branches and loops": control_flow,
    "helpers and tuples": helpers,
    "integers": integers,
    "arrays": arrays,
}


@dataclass
class Outcome:
    """The outcome for a program. thetas: for those tried, the number answered, and so on."""

    kind: str
    seed: int
    end: str = "no value"
    reason: str = ""
    seconds: float = 0.0
    thetas: Counter = field(default_factory=Counter)
    recovered: str = ""
    defects: list = field(default_factory=list)


def made(kind, seed):
    """The trial of a kind and seed, which is the same each time."""
    return KINDS[kind](random.Random(f"{kind} {seed}"))


def tried(kind, seed, trial, *, compiled=False):
    """Try one program; ``defects`` lists the faults of the inverse.

    compiled: whether to try the compiled form as well.
    """
    outcome = Outcome(kind, seed)
    if trial.value is None:
        return outcome
    f, value = function(trial.source), trial.value
    begin = time.perf_counter()
    try:
        inverse = invert(f, *trial.types)
    except NotInvertible as error:
        outcome.end, outcome.reason = "refused", error.asked
        return outcome
    except Exception as error:
        return crashed(outcome, "invert", error)
    finally:
        outcome.seconds = time.perf_counter() - begin
    outcome.end = "inverted"
    found = recover(outcome, f, inverse, trial.args, value)
    fast = compiled_form(outcome, inverse) if compiled else None
    for theta in thetas_of(inverse, seed, found):
        outcome.thetas["tried"] += 1
        answer = answered(outcome, inverse, value, theta)
        if answer is not None:
            outcome.thetas["answered"] += 1
            check(outcome, f, answer, value, theta)
        if fast is not None:
            check_compiled(outcome, f, fast, answer, value, theta)
    return outcome


def thetas_of(inverse, seed, recovered):
    """Some points of the parameter space, and neighbours of the recovered point; None if it has no
    dimension.
    """
    space = inverse.parameters
    if not len(space):
        return [None]
    drawn = space.sample(np.random.default_rng(seed), THETAS)
    if recovered is None:
        return [space.default(), *drawn]
    rng = random.Random(seed)
    beside = zip(space, recovered, drawn[0], strict=True)
    return [space.default(), *drawn, tuple(moved(rng, *coordinate) for coordinate in beside)]


def moved(rng, parameter, value, drawn):
    """A coordinate that differs half of the time; a float differs only a little."""
    if rng.random() < 0.5:
        return value
    near = value * rng.uniform(0.9, 1.1) if isinstance(value, float) else drawn
    return near if parameter.domain.contains(near) else value


def answered(outcome, inverse, value, theta):
    """The answer; None if there is none."""
    try:
        return inverse(value, *([] if theta is None else [theta]))
    except NoSolution:
        return None
    except Exception as error:
        crashed(outcome, "call", error)
        return None


def compiled_form(outcome, inverse):
    """The compiled inverse; None if numba cannot compile it."""
    try:
        return inverse.compile()
    except NotCompilable:
        outcome.thetas["not compiled"] += 1
    except Exception as error:
        crashed(outcome, "compile", error)
    return None


def check_compiled(outcome, f, fast, interpreted, value, theta):
    """Check that the answers of compiled code are right, and those of the interpreter; calls that
    it refuses are left to the interpreter.
    """
    try:
        answer = fast(value, *([] if theta is None else [theta]))
    except Exception:
        return
    outcome.thetas["answered compiled"] += 1
    check(outcome, f, answer, value, theta)
    if interpreted is not None and not close(answer, interpreted):
        outcome.defects.append(
            f"θ = {theta} gives {answer} compiled, and {interpreted} interpreted"
        )


def crashed(outcome, where, error):
    """Record an error that is not one of ours."""
    text = str(error).partition("\n")[0]
    outcome.defects.append(f"{where} raised {type(error).__name__}: {text}")
    outcome.end = "crashed" if where == "invert" else outcome.end
    return outcome


def recover(outcome, f, inverse, args, value):
    """The θ for the program's own arguments, if it leads to them; else None."""
    try:
        theta = inverse.recover(*args)
    except NoSolution as error:
        outcome.recovered = "lost digits" if "lost digits" in str(error) else "no θ"
        outcome.reason = error.asked
        return None
    except Exception as error:
        crashed(outcome, "recover", error)
        return None
    answer = answered(outcome, inverse, value, theta if len(inverse.parameters) else None)
    if answer is None or not close(answer, args):
        outcome.defects.append(f"θ = {theta} is recovered, and gives {answer}, not {args}")
        return None
    outcome.recovered = "back"
    check(outcome, f, answer, value, theta)
    return theta


def check(outcome, f, answer, value, theta):
    """Run the program on an answer, in plain Python."""
    again = value_of(f, answer)
    if again is None or not close(again, value):
        outcome.defects.append(
            f"WRONG: θ = {theta} gives {answer}, which gives {again}, not {value}"
        )


def close(found, wanted):
    """Return whether values agree as ``invert`` promises: integers exactly, unless they are floats
    on other paths through the program.
    """
    pairs = list(zip(numbers_of(found), numbers_of(wanted), strict=True))
    return all(
        np.array_equal(a, b)
        if isinstance(a, int) and isinstance(b, int)
        else np.all(np.abs(np.subtract(a, b)) <= ROUNDING * margin(np.asarray(b), RTOL, ATOL))
        for a, b in pairs
    ) and all(math.isfinite(a) for a, _ in pairs if isinstance(a, float))
