"""The standalone source of an inverse runs without our packages, and gives the same answers."""

import ast
import importlib.util
import math
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

from inversion import NoSolution, NotWritable, choose, invert
from inversion.tools.standalone.long_lines import wrapped_source
from overlay import Context, MethodTable
from primitives import relation, relation_of
from primitives.integers.bits import xorshift_left

HERE = Path(__file__).parent
RNG = np.random.default_rng(0)
F = float

RUNNER = """
import importlib.util, pickle, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("inversion", "primitives", "overlay", "numba", "plum"):
            raise ImportError(name)

sys.meta_path.insert(0, Blocked())
sys.path.append(SITE)

def plain(value):
    return tuple(map(plain, value)) if isinstance(value, tuple) else value

def answered(f, args):
    try:
        return plain(f(*args))
    except Exception as error:
        return type(error).__name__, str(error)

with open(sys.argv[1], "rb") as file:
    jobs = pickle.load(file)
found = {}
for name, (path, calls) in jobs.items():
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found[name] = [answered(getattr(module, f), args) for f, args in calls]
with open(sys.argv[1], "wb") as file:
    pickle.dump(found, file)
"""


def alone(folder, jobs):
    """The answers of functions in the sources of inverses, in a process without our packages.

    jobs: by name, an inverse and calls of ``inverse``, ``forward`` or ``recover``.
    """
    given = {}
    for name, (inverse, calls) in jobs.items():
        path = folder / f"{name}.py"
        path.write_text(inverse.source, encoding="utf-8")
        given[name] = os.fspath(path), [(f, plain(args)) for f, args in calls]
    site = os.fspath(Path(np.__file__).parent.parent)
    runner = folder / "run_all.py"
    runner.write_text(RUNNER.replace("SITE", repr(site)))
    (folder / "jobs").write_bytes(pickle.dumps(given))
    run = [sys.executable, "-I", "-S", os.fspath(runner), os.fspath(folder / "jobs")]
    done = subprocess.run(run, check=True, capture_output=True, text=True)
    assert not done.stderr
    return pickle.loads((folder / "jobs").read_bytes())


def plain(value):
    """A value with tuples in place of records."""
    return tuple(map(plain, value)) if isinstance(value, tuple) else value


def flat(value):
    """The numbers in tuples."""
    return [n for item in value for n in flat(item)] if isinstance(value, tuple) else [value]


def calls_of(inverse, known, args):
    """Calls for the arguments of a function, and for random θ."""
    space = inverse.parameters
    try:
        found = [inverse.recover(*args)]
    except NoSolution:  # digits are lost
        found = []
    thetas = found + [space.sample(RNG) for _ in range(2 if len(space) else 0)]
    given = [(*known, *([space.filled(t)] if len(space) else [])) for t in thetas]
    recovers = [("recover", args)] if found else []
    has_records = any(isinstance(value, Point) for value in args)  # its own class, there
    forward = [] if has_records else [("forward", args)]
    return [*[("inverse", each) for each in given], *forward, *recovers]


def wanted_of(inverse, f, known, args, calls):
    wanted = []
    for name, given in calls:
        if name == "inverse":
            theta = given[len(known) :]
            try:
                wanted.append(inverse(*known, *theta))
            except NoSolution as error:
                wanted.append(error)
        else:
            wanted.append(f(*args) if name == "forward" else inverse.recover(*args))
    return wanted


def check(found, wanted):
    """Compare answers; return the number of those that are not refusals."""
    answered = 0
    for one, other in zip(found, wanted, strict=True):
        if isinstance(other, NoSolution):
            assert isinstance(one[0], str), (one, other)
            continue
        assert len(flat(one)) == len(flat(other)), (one, other)
        for a, b in zip(flat(one), flat(other), strict=True):
            np.testing.assert_array_equal(a, b)
        answered += 1
    return answered


def worked_programs():
    path = HERE.parent / "test_worked_programs.py"
    spec = importlib.util.spec_from_file_location("worked_programs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def all_answers_agree(folder, programs):
    """Check inverses, each with its function and arguments."""
    jobs, wanted = {}, {}
    for name, (inverse, f, args) in programs.items():
        values = dict(zip(inverse.axes.inputs, args, strict=True), **{"return": f(*args)})
        known = [values[axis] for axis in inverse.known]
        calls = calls_of(inverse, known, args)
        jobs[name] = inverse, calls
        wanted[name] = wanted_of(inverse, f, known, args, calls)
    found = alone(folder, jobs)
    return {name: check(found[name], wanted[name]) for name in jobs}


def test_worked_programs_run_by_themselves(tmp_path):
    worked = worked_programs()
    programs = {
        f.__name__: (worked.inverse_of(f), f, examples[0])
        for f, examples in worked.PROGRAMS.items()
    }
    answered = all_answers_agree(tmp_path, programs)
    assert sum(count >= 3 for count in answered.values()) >= 16
    assert min(answered.values()) >= 1


def test_no_line_of_source_or_text_is_longer_than_a_page():
    worked = worked_programs()
    for f in worked.PROGRAMS:
        inverse = worked.inverse_of(f)
        for text in (inverse.source, str(inverse), str(inverse.program), str(inverse.origin)):
            assert [line for line in text.splitlines() if len(line) > 100] == []


LONG = {
    "a call": f"    x = f({', '.join(f'number_{i}' for i in range(20))})",
    "results": f"    {', '.join(f'number_{i}' for i in range(20))} = f(x)",
    "a return": f"    return {' + '.join(f'number_{i}' for i in range(20))}",
    "a comment": f"    x = f(1)   # {', '.join(f'number_{i}' for i in range(20))}",
    "a comment on a long call": f"    x = f({', '.join(['abcdefgh'] * 20)})  # {'a ' * 60}",
    "a condition": f"    if ({' and '.join(f'number_{i} > 0' for i in range(20))}):\n        pass",
    "text with fields": f"    x = f('{'a' * 60}', f'{{a, b}} {'b' * 20}', '{'c' * 20}')",
    "text of several lines": f'    x = """a\n{"b " * 40}\n"""\n    x = f({"abcd, " * 30})',
    "a docstring": f'    """{"word " * 30}\n    {"more " * 30}"""',
}


@pytest.mark.parametrize("name", LONG)
def test_long_lines_are_wrapped_and_mean_the_same(name):
    text = f"def g():\n{LONG[name]}\n    y = 1\n"
    found = wrapped_source(text)
    assert max(map(len, found.splitlines())) <= 100
    if name != "a docstring":
        assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(text))
    assert wrapped_source(found) == found


def test_text_without_a_place_to_break_is_left():
    text = f"x = '{'a' * 200}'\n"
    assert ast.dump(ast.parse(wrapped_source(text))) == ast.dump(ast.parse(text))


# ---- what has to be written out -----------------------------------------------------------


class Point(NamedTuple):
    x: float
    y: float


FACTOR, SHIFTS = 3.0, (0.5, 0.25)
TABLE = np.array([1.0, 2.0, 4.0])


def scaled_by(k):
    def scaled(x):
        return x * k + SHIFTS[0]

    return scaled


by_four = scaled_by(4.0)


@numba.njit
def compiled(x):
    return x - SHIFTS[1]


def mixed(x: float, y: float, log=math.log) -> float:
    z: float = by_four(x) + compiled(y)
    return log(1 + math.exp(z)) * FACTOR


def moved(p: Point):
    return Point(p.x * 2, p.x + p.y)


def counted(n: int, steps: int):
    while n > 1:
        n = n // 2
        steps = steps + 1
    return n, steps


def walked(x: float, n: int):
    for _ in range(n):
        x = x * x + 0.25 if x > 0 else 1 - x
    return x


def generator(state: np.uint64):
    return xorshift_left(state, np.uint64(13)) * np.uint64(5)


def weighted(v, k: float):
    return (v * TABLE * k).sum()


def lengths(v):
    return np.exp(v) * 2 + 1


def rooted(x: float, y: float):
    return x * math.exp(x) + y, y


def fibonacci(n: int):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def grown(x: float, n: int):
    return x * fibonacci(n)


class Scaled:
    factor = 4.0

    def __call__(self, x):
        return self.factor * x


ZEROS = np.zeros(3)
VALUES = np.array([0.5, 1.5, -1.0])
WRITTEN = {
    "mixed": (invert(mixed, F, F), mixed, (0.4, 0.3)),
    "moved": (invert(moved), moved, (Point(1.0, 2.0),)),
    "counted": (invert(counted), counted, (37, 0)),
    "walked": (choose(walked, known=("return", "n")), walked, (0.4, 5)),
    "words": (invert(generator), generator, (np.uint64(77),)),
    "lengths": (invert(lengths, ZEROS), lengths, (VALUES,)),
    "weighted": (choose(weighted, ZEROS, F, known=("return", "k")), weighted, (VALUES, 2.0)),
    "rooted": (invert(rooted), rooted, (0.3, 2.0)),
    "recursive": (choose(grown, known=("return", "n")), grown, (0.3, 7)),
    "an_object": (invert(Scaled(), F), Scaled(), (0.3,)),
    "a_lambda": (invert(lambda a, b: a / b + a, F, F), lambda a, b: a / b + a, (1.0, 2.0)),
}


def test_helpers_constants_and_kernels_are_in_it(tmp_path):
    answered = all_answers_agree(tmp_path, WRITTEN)
    assert min(answered.values()) >= 2
    source = WRITTEN["mixed"][0].source
    assert "def compiled(x):" in source
    assert "FACTOR = 3.0" in source
    for axis in ("x", "Real", "test_standalone.py:"):
        assert axis in source.partition("theta is a tuple of:")[2].partition('"""')[0]


def test_a_source_refuses_as_the_inverse_does(tmp_path):
    inverse = invert(lambda x: math.exp(x) + 1, F)
    jobs = {"warm": (inverse, [("inverse", (0.5,)), ("inverse", (2.0,))])}
    refused, answer = alone(tmp_path, jobs)["warm"]
    assert refused[0] == "NoSolution"
    assert answer == (0.0,)


def test_what_a_context_means_is_written_out(tmp_path):
    table = MethodTable("first order")

    @table.overlay(math.exp)
    def exp(x: float):
        return 1 + x

    def growth(t):
        return 3 * math.exp(t)

    inverse = invert(growth, F, context=Context(table))
    found = alone(tmp_path, {"growth": (inverse, [("inverse", (6.0,)), ("forward", (1.0,))])})
    assert found["growth"] == [(1.0,), 6.0]


def test_a_function_without_a_source_is_written_as_it_was_read(tmp_path):
    space = {"math": math}
    exec("def hidden(x, y):\n    if y > 0:\n        x = x + y\n    return math.exp(x), y", space)
    inverse = invert(space["hidden"], F, F)
    assert "def forward(x, y):" in inverse.source
    answered = all_answers_agree(tmp_path, {"hidden": (inverse, space["hidden"], (0.5, 0.25))})
    assert answered["hidden"] >= 3


def test_what_is_imported_is_named():
    source = invert(lambda x: math.expm1(x) * 2, F).source
    assert "import math" in source
    assert "Imported, for want of a source" not in source
    table = MethodTable("own")
    table.generated(relation_of(stepped))(
        lambda x: relation(stepped, F, "return = stepped(x)", ret=stepped, x=half)
    )
    inverse = invert(lambda x: stepped(x) + 1, F, context=Context(table))
    with pytest.raises(NotWritable, match="half cannot be written as Python"):
        _ = inverse.source


def stepped(x: float):
    return 2 * x


exec("def half(ret):\n    return ret / 2")
half = globals()["half"]


def test_the_first_lines_say_what_it_takes():
    document = invert(moved).source.partition('"""')[2].partition('"""')[0]
    assert document.startswith("The inverse of moved")
    assert "inverse(ret) gives (p,)" in document


@pytest.mark.parametrize(
    ("f", "types", "known", "values"),
    [
        (lambda x, n: x / (1 - 2.0**n), (float, int), ("return", "n"), (3.0, 0)),
        (lambda x: math.exp(x) + 1, (float,), ("return",), (0.5,)),
        (lambda x, y: x * y, (float, float), ("return", "x"), (3.0, 0.0)),
        (lambda n: n * 2 + 1, (int,), ("return",), (4,)),
        (lambda x, y: math.exp(y) * math.sqrt(x), (float, float), ("return", "y"), (1.0, -800.0)),
        (lambda x, y: math.exp(y) * x, (float, float), ("x", "y"), (1.0, 1e6)),
    ],
)
def test_all_refusals_are_errors_of_the_module(f, types, known, values):
    inverse = choose(f, *types, known=known)
    theta = (inverse.parameters.default(),) if len(inverse.parameters) else ()
    with pytest.raises(NoSolution):
        inverse(*values, *theta)
    module = {}
    exec(inverse.source, module)
    with pytest.raises(module["NoSolution"]):
        module["inverse"](*values, *theta)
