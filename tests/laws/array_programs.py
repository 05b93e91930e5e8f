"""Random programs over arrays of four floats, as source."""

ONE = (
    "np.exp({})", "np.tanh({})", "np.sqrt({})", "np.sin({})", "np.abs({})", "-{}", "{} * {}",
    "{}[::-1]", "np.roll({}, 1)", "np.sort({})", "np.cumsum({})", "MATRIX @ {}", "{} - {}.sum()",
)  # fmt: skip
TWO = (
    "{} + {}", "{} - {}", "{} * {}", "{} / {}", "np.where({} > 0, {} * 2, {} - 1)",
    "np.concatenate(({}[:2], {}[2:]))", "{} + {}[0]",
)  # fmt: skip
ENDS = (
    "{}",
    "{}",
    "{}",
    "{}.sum()",
    "{}.max()",
    "{}[1:3]",
    "{}.reshape(2, 2).T",
    "({}, {}.mean())",
)
MATRIX = (
    "MATRIX = np.array([[2.0, 1.0, 0.0, 0.5], [0.0, 3.0, 1.0, 0.0], "
    "[1.0, 0.0, 4.0, 0.0], [0.0, 0.5, 0.0, 2.0]])"
)


def array_program(rng):
    """The source, and the number of its arguments."""
    inputs = rng.randint(1, 2)
    names, lines = [f"x{i}" for i in range(inputs)], []
    pending = list(names)
    count = rng.randint(1, 6)
    while len(pending) > 1 or len(lines) < count:
        first = pending.pop(rng.randrange(len(pending)))
        text = rng.choice(ONE)
        second = first
        if pending or rng.random() < 0.3:
            text = rng.choice(TWO)
            second = _second(rng, pending, names)
        lines.append(f"t{len(lines)} = {_filled(text, first, second)}")
        pending.append(f"t{len(lines) - 1}")
        names.append(pending[-1])
    body = "\n    ".join([*lines, f"return {_filled(rng.choice(ENDS), pending[0], pending[0])}"])
    return f"{MATRIX}\n\ndef f({', '.join(names[:inputs])}):\n    {body}\n", inputs


def _second(rng, pending, names):
    if pending and rng.random() < 0.8:
        return pending.pop(rng.randrange(len(pending)))
    return rng.choice(names)


def _filled(text, first, second):
    """The first placeholder filled with the first operand, the others with the second."""
    return text.replace("{}", first, 1).replace("{}", second)
