"""Random straight-line programs of floats, as source."""

import math

import numpy as np

UNARY = ("math.exp", "math.log", "math.sqrt", "math.sin", "math.cos", "-")
REFUSED = (ValueError, ArithmeticError)


def random_program(rng, reuse):
    inputs = rng.randint(1, 4)
    pending = [f"x{i}" for i in range(inputs)]
    names, lines = list(pending), []
    count = rng.randint(3, 12)
    while len(pending) > 1 or len(lines) < count:
        first = pending.pop(rng.randrange(len(pending)))
        if not pending and rng.random() < 0.5:
            lines.append(f"t{len(lines)} = {rng.choice(UNARY)}({first})")
        else:
            second = repr(round(rng.uniform(0.5, 3), 2))
            if rng.random() < reuse:
                second = rng.choice(names)
                if second in pending:
                    pending.remove(second)
            elif pending:
                second = pending.pop(rng.randrange(len(pending)))
            pair = rng.sample([first, second], 2)
            lines.append(f"t{len(lines)} = {pair[0]} {rng.choice('+-*/')} {pair[1]}")
        pending.append(f"t{len(lines) - 1}")
        names.append(pending[-1])
    body = "\n    ".join([*lines, f"return {pending[0]}"])
    return f"def f({', '.join(names[:inputs])}):\n    {body}\n", inputs


def function(source):
    """The function f defined in a source."""
    namespace = {"math": math, "np": np}
    exec(source, namespace)
    return namespace["f"]


def value_of(f, args):
    """The result of a function, run by Python; None if it refuses, or if the result is
    not finite.
    """
    try:
        with np.errstate(all="ignore"):
            value = f(*args)
    except REFUSED:
        return None
    finite = (type(number) is int or np.all(np.isfinite(number)) for number in numbers_of(value))
    return value if all(finite) else None


def numbers_of(value):
    """The numbers and arrays in a value."""
    if isinstance(value, tuple):
        return [number for part in value for number in numbers_of(part)]
    return [value]
