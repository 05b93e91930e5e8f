"""Random programs of floats made of helper functions and tuples, as source."""

from tests.laws.control_flow import Program


class HelperProgram(Program):
    """A random function that branches, loops, calls helpers, and takes and returns tuples."""

    def __init__(self, rng):
        self.rng = rng
        self.made = 0
        self.helpers = []  # name, number of arguments, number of results
        helpers = [self.helper(f"h{i}") for i in range(rng.randint(1, 3))]
        self.count = rng.randint(1, 3)
        self.pair = self.count > 1 and rng.random() < 0.5  # the first two arguments are one tuple
        names = [f"x{i}" for i in range(self.count)]
        head = ["p: tuple[float, float]", *names[2:]] if self.pair else names
        rows = ["    x0, x1 = p"] if self.pair else []
        self.results = rng.randint(1, 2)
        body, after = self.block(names, 1, 1, rng.randint(1, 4))
        result = ", ".join([after[-1], rng.choice(after)][: self.results])
        program = [f"def f({', '.join(head)}):", *rows, *body, f"    return {result}", ""]
        self.source = "\n\n".join([*helpers, "\n".join(program)])

    def helper(self, name):
        """A function of one or two numbers, which returns one or two."""
        rng = self.rng
        names = ["a", "b"][: rng.randint(1, 2)]
        self.results = rng.randint(1, 2)
        rows, after = self.block(names, 1, 1, rng.randint(1, 3))
        results = [after[-1], rng.choice(after)][: self.results]
        self.helpers.append((name, len(names), len(results)))
        return "\n".join([f"def {name}({', '.join(names)}):", *rows,
                          f"    return {', '.join(results)}"])  # fmt: skip

    def expression(self, names):
        if self.helpers and self.rng.random() < 0.3:
            name, takes, gives = self.rng.choice(self.helpers)
            given = ", ".join(self.rng.choice(names) for _ in range(takes))
            return f"{name}({given})" + (f"[{self.rng.randrange(2)}]" if gives > 1 else "")
        return super().expression(names)
