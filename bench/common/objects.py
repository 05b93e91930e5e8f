"""Kernels that each stress one way of using classes, and JSON in pure Python."""

import contextlib
import importlib
import sys
from collections.abc import Callable
from dataclasses import asdict, astuple, dataclass, field, replace

from common.kernel import Kernel

__all__ = ["OBJECTS"]

OBJECTS: dict[str, Callable[[], Kernel]] = {}


def kernel(size, probe, arity):
    """Register a function of one size as a kernel."""

    def register(function):
        name = function.__name__
        OBJECTS[name] = lambda: Kernel(name, lambda: function(size), probe, arity)
        return function

    return register


# ---- methods ----------------------------------------------------------------------------


class Task:
    """A queue of numbers that are processed one at a time."""

    def __init__(self, number):
        self.number = number
        self.queue = []
        self.done = 0

    def push(self, value):
        self.queue.append(value)
        return self

    def step(self):
        if not self.queue:
            return 0
        value = self.queue.pop()
        self.done += value
        return self.work(value)

    def work(self, value):
        return value - 1


class Careful(Task):
    """A task that calls its parent's method."""

    def work(self, value):
        return super().work(value) + 0


@kernel(10_000, Task.step, 1)
def methods(rounds):
    """Methods, inheritance, super()."""
    everyone = [Task(0), Careful(1), Task(2)]
    total = 0
    for value in range(rounds):
        for task in everyone:
            left = task.push(value).step()
            if left > 0:
                everyone[task.number - 1].push(left)
            total += left
    return total


class Layer:
    """The last in a chain of parent classes."""

    def cost(self, x):
        return x + 1


class Second(Layer):
    def cost(self, x):
        return super().cost(x) + 1


class Third(Second):
    def cost(self, x):
        return super().cost(x) + 1


class Fourth(Third):
    def cost(self, x):
        return super().cost(x) + 1


class Mixed(Fourth, Layer):
    def cost(self, x):
        return super().cost(x) + 1


@kernel(20_000, Layer.cost, 2)
def super_chains(n):
    """``super()`` through five classes."""
    mixed, total = Mixed(), 0
    for _ in range(n):
        total = mixed.cost(total)
    return total


def squared(x):
    return x * x


def doubled(x):
    return x * 2


class Square:
    """A side, and properties derived from it."""

    def __init__(self, side):
        self._side = side

    @property
    def side(self):
        return self._side

    @side.setter
    def side(self, value):
        self._side = value

    @property
    def area(self):
        return doubled(self.side) * self.side / 2

    @classmethod
    def of_area(cls, area):
        return cls(cls.root(area))

    @staticmethod
    def root(area):
        return area**0.5


@kernel(40_000, squared, 1)
def properties(n):
    """Properties that are read and set, beside an explicit call in each iteration."""
    square, total = Square(1), 0
    for i in range(n):
        square.side = i
        total += square.area + squared(square.side)
    return total


@kernel(25_000, Square.root, 1)
def class_methods(n):
    """Class methods and static methods."""
    total = 0.0
    for i in range(n):
        total += Square.of_area(i).side
    return total


class Point:
    """An ordinary class."""

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def moved(self, dx):
        return Point(self.x + dx, self.y)


class Named(Point):
    """A class that calls its parent's ``__init__``."""

    def __init__(self, name, x, y=0):
        super().__init__(x, y)
        self.name = name


class Bare:
    """An empty class."""


@kernel(12_000, Point.moved, 2)
def construction(n):
    """Calls of classes: with ``__init__``, with ``super().__init__``, with neither."""
    total = 0
    for i in range(n):
        point = Point(i, 1).moved(2)
        named = Named("one", i, y=2)
        named.bare = Bare()
        total += point.x + named.y
    return total


class Multiple:
    """An instance that can be called."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return squared(x) * self.factor


@kernel(40_000, squared, 1)
def callable_objects(n):
    """Instances with ``__call__``."""
    twice, thrice, total = Multiple(2), Multiple(3), 0
    for i in range(n):
        total += twice(i) - thrice(1)
    return total


@kernel(25_000, squared, 1)
def builtin_methods(n):
    """Methods of list, str, dict and set."""
    seen, words, counts = set(), [], {}
    for i in range(n):
        word = "-".join(("a", str(i % 100), "b")).upper()
        words.append(word)
        counts[word] = counts.get(word, 0) + squared(1)
        if word.startswith("A-1"):
            seen.add(word)
    return len(words), sorted(counts.items()), sorted(seen)


@kernel(8_000, divmod, 2)
def builtin_types(n):
    """Builtin functions and types, some called through one name."""
    total = 0
    for i in range(n):
        for make in (int, float, str, abs):
            total += len(repr(make(i)))
        total += isinstance(i, int) + len(str(i)) + max(i, 3) + divmod(i, 7)[1]
    return total


# ---- dataclasses ------------------------------------------------------------------------


@dataclass(frozen=True, order=True)
class Version:
    """A dataclass that is compared and hashed."""

    major: int
    minor: int = 0

    def next(self):
        return replace(self, minor=self.minor + 1)


@dataclass
class Package:
    """A dataclass that holds others."""

    name: str
    version: Version
    needs: list[Version] = field(default_factory=list)

    def __post_init__(self):
        self.needs.append(self.version)


@kernel(800, Version.next, 1)
def dataclasses(n):
    """Dataclasses that are made, compared, copied and converted."""
    packages = [Package(f"p{i}", Version(i % 5, i)) for i in range(n)]
    newest = max(package.version.next() for package in packages)
    total = sum(len(asdict(package)) + astuple(package.version)[1] for package in packages)
    return newest, total, len({package.version for package in packages})


# ---- JSON in pure Python ------------------------------------------------------------------


@contextlib.contextmanager
def imported_afresh(package, without):
    """Import a package again for the block, with one C module blocked."""
    stem = f"{package}."
    kept = {k: v for k, v in sys.modules.items() if k in (package, without) or k.startswith(stem)}
    for name in kept:
        del sys.modules[name]
    sys.modules[without] = None
    try:
        yield importlib.import_module(package)
    finally:
        for name in [k for k in sys.modules if k in (package, without) or k.startswith(stem)]:
            del sys.modules[name]
        sys.modules.update(kept)


def json():
    """The encoder and decoder of the standard library without their C code."""
    with imported_afresh("json", without="_json") as pure:
        scanstring, encode, decode = pure.decoder.scanstring, pure.dumps, pure.loads
    document = {
        "names": ["Ada", 'quo"ted', "caf\u00e9\n", ""] * 60,
        "numbers": [0, -1, 2.5, 1e300, 12345678901234567890] * 60,
        "nested": [{"a": [[], {}, None, True], "b": {"c": "d" * 30}}] * 120,
    }

    def run():
        text = encode(document, sort_keys=True)
        return text, decode(text) == document, encode(decode(text), indent=2)

    return Kernel("json", run, scanstring, 2)


OBJECTS["json"] = json
