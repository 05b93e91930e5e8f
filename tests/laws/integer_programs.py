"""Random straight-line programs of integers, as source."""

BINARY = ("+", "-", "*", "//", "%", "&", "|", "^", ">>", "<<")
CALLS = ("abs({})", "-{}", "~{}", "min({}, {})", "max({}, {})")
AT_LEAST_ONE = {"//": 9, "%": 9, ">>": 4, "<<": 4}  # and at most so much


def integer_program(rng):
    """The source, and the number of its arguments."""
    inputs = rng.randint(1, 3)
    names, lines = [f"x{i}" for i in range(inputs)], []
    pending = list(names)
    count = rng.randint(2, 8)
    while len(pending) > 1 or len(lines) < count:
        first = pending.pop(rng.randrange(len(pending)))
        if rng.random() < 0.25:
            other = pending.pop() if pending else str(rng.randint(-9, 9))
            text = rng.choice(CALLS).format(first, other)
            lines.append(f"t{len(lines)} = {text}")
            if other not in text and other.isidentifier():
                pending.append(other)
        else:
            lines.append(f"t{len(lines)} = {_operation(rng, first, pending, names)}")
        pending.append(f"t{len(lines) - 1}")
        names.append(pending[-1])
    body = "\n    ".join([*lines, f"return {pending[0]}"])
    return f"def f({', '.join(names[:inputs])}):\n    {body}\n", inputs


def _operation(rng, first, pending, names):
    operator = rng.choice(BINARY)
    if operator in AT_LEAST_ONE:
        return f"{first} {operator} {rng.randint(1, AT_LEAST_ONE[operator])}"
    if rng.random() < 0.2:
        return f"{first} {operator} {rng.choice(names)}"
    second = pending.pop(rng.randrange(len(pending))) if pending else rng.randint(1, 255)
    return f"{first} {operator} {second}"
