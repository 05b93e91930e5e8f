"""Python as people write it: objects that a function makes and changes are lifted like other
values.
"""

import functools
import itertools
import math
import operator
from collections import Counter, OrderedDict, defaultdict, namedtuple
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pytest

from inversion import NoSolution, NotInvertible, choose, invert

F = float
READ = {}


def reads(f):
    """A program of two floats. The result determines both, and is defined and positive for x = 2
    and y = 3.
    """
    READ[f.__name__] = f
    return f


# ---- lists --------------------------------------------------------------------------------


@reads
def appends(x, y):
    items = []
    items.append(x + y)
    items.append(y)
    return items[0], items[-1]


@reads
def extends_and_inserts(x, y):
    items = [x]
    items.extend((y, 1.0))
    items.insert(1, x + y)
    return items[1], items[2]


@reads
def pops(x, y):
    items = [x, y, x + y]
    total = items.pop()
    return total, items.pop(0)


@reads
def removes_and_reverses(x, y):
    names = ["a", "b", "c"]
    names.remove("b")
    items = [x, y]
    items.reverse()
    return items[0] + len(names), items[1]


@reads
def sorts_what_is_known(x, y):
    order = [3, 1, 2]
    order.sort()
    factors = sorted((2.0, 1.0), key=lambda v: -v)
    return order[0] * x, factors[0] * y


@reads
def sets_items_and_slices(x, y):
    items = [0.0] * 4
    items[0] = x
    items[1:3] = [y, x + y]
    items[-1] += 2.0 * y
    return items[2], items[3]


@reads
def deletes(x, y):
    items = [1.0, x, y]
    del items[0]
    return items[0] + items[1], items[1]


@reads
def aliases(x, y):
    items = [x, y]
    same = items
    same[0] = x + y
    return items[0], same[1]


@reads
def copies(x, y):
    items = [x, y]
    other = items.copy()
    other[0] = 100.0
    third = items[:]
    third[1] = 100.0
    return items[0] + items[1], items[1]


@reads
def adds_lists(x, y):
    items = [x] + [y] * 2
    items += [x]
    return sum(items), items[1]


@reads
def nests(x, y):
    rows = [[0.0] * 2 for _ in range(2)]
    rows[0][1] = x
    rows[1][0] = y
    return rows[0][1] + rows[1][0], rows[1][0]


@reads
def changes_an_argument(x, y):
    def scale(items, k):
        for i in range(len(items)):
            items[i] *= k

    items = [x, y]
    scale(items, 2.0)
    return items[0] + items[1], items[1]


@reads
def grows_in_a_long_loop(x, y):
    path = [x]
    for _ in range(20):
        path.append(path[-1] * 1.01 + y)
    return path[-1], path[1]


@reads
def changes_in_a_loop_of_varying_turns(x, y):
    state = [x, y]
    while state[0] < 10.0:
        state[0] += 4.0
    return state[0], state[1]


@reads
def is_carried_through_a_loop(x, y):
    state = [x, y]
    for _ in range(30):
        state = [state[0] + 0.1 * state[1], state[1]]
    return state[0], state[1]


@reads
def grows_as_often_as_it_likes(x, y):
    path = [x]
    while path[-1] < 100.0:
        path.append(path[-1] * 2.0)
    return path[-1] + y, y


@reads
def gives_a_list_of_varying_length(x, y):
    digits = []
    n = int(x) + 5
    while n > 0:
        digits.insert(0, n % 2)
        n //= 2
    return digits, x, y


# ---- branches -----------------------------------------------------------------------------


@reads
def joins_items(x, y):
    items = [x, y]
    if x > 1.0:
        items[0] = 2.0 * x
    else:
        items[0] = x + 1.0
    return items[0], items[1]


@reads
def joins_new_lists(x, y):
    items = [x, y] if x > 1.0 else [x - 1.0, y]
    items[1] *= 2.0
    return items[0], items[1]


@reads
def joins_attributes(x, y):
    p = Point(x, y)
    if y > 0.0:
        p.x *= 3.0
    return p.x, p.y


@reads
def returns_early(x, y):
    items = [x]
    if x > 100.0:
        return items[0], -y
    items.append(y)
    return items[0], items[1]


@reads
def has_a_way_that_raises(x, y):
    table = {"a": x}
    if y < 0.0:
        return table["b"], y
    return table["a"], y


# ---- dicts and sets -----------------------------------------------------------------------


@reads
def has_a_dict(x, y):
    d = {"a": x, "b": y}
    d["c"] = d["a"] + d["b"]
    d.update(a=d.pop("b"))
    return d["c"], d.get("a", 0.0) + d.get("z", 0.0)


@reads
def goes_through_a_dict(x, y):
    d = {"a": x, "b": y}
    total = 0.0
    for key, value in d.items():
        total += value * len(key)
    return total, d.setdefault("b", 1.0) + sum(v for k, v in d.items() if k == "z")


@reads
def comprehends_dicts_and_sets(x, y):
    d = {k: 1.0 * v for k, v in zip("ab", (x, y), strict=True)}
    seen = {k for k in d if k != "a"}
    return sum(d.values()), d[max(seen)]


@reads
def unpacks_dicts(x, y):
    d = {**{"x": x}, "y": y}

    def total(x, *, y):
        return x + y

    return total(**d), {**d, "y": 2.0 * y}["y"]


@reads
def has_default_dicts(x, y):
    d = defaultdict(list)
    d["a"].append(x)
    d["a"].append(y)
    counts = Counter("aab")
    order = OrderedDict(p=x)
    return d["a"][0] * counts["a"] + counts["z"] + order["p"], d["a"][1]


@reads
def asks_what_is_in(x, y):
    d, known = {"a": x}, {1, 2}
    known.add(3)
    if "a" in d and "b" not in d and 3 in known:
        return d["a"] + y, y
    return x, x


# ---- functions of iterables ---------------------------------------------------------------


@reads
def consumes_generators(x, y):
    values = [x, y, x + y]
    total = sum(v * v for v in values[:1]) + math.prod(v for v in values[1:2])
    return total, max(min(v, 100.0) for v in (y,))


@reads
def sums_what_it_selects(x, y):
    return sum(v for v in (x, y, -x) if v > 0), y


@reads
def asks_any_and_all(x, y):
    big = any(v > 50.0 for v in (x, y))
    fine = all(v > -50.0 for v in (x, y))
    return (x + y if fine and not big else x), y


@reads
def enumerates_and_zips(x, y):
    total = 0.0
    for i, (a, b) in enumerate(zip([x, y], reversed([1.0, 2.0]), strict=True), start=1):
        total += i * a * b
    return total, y


@reads
def maps_and_filters(x, y):
    doubled = list(map(operator.mul, (2.0, 2.0), (x, y)))
    kept = tuple(filter(lambda i: i % 2, range(4)))
    return doubled[0] + kept[1], functools.reduce(operator.add, doubled) - doubled[0]


@reads
def uses_itertools(x, y):
    pairs = list(itertools.product((x, y), repeat=2))
    running = list(itertools.accumulate([x, y]))
    chained = [*itertools.chain((x,), [y])]
    return running[-1] + pairs[0][0], chained[1] + len(list(itertools.combinations("abc", 2)))


@reads
def unpacks_with_a_star(x, y):
    first, *rest = x, y, x + y
    *_, last = [*rest, first]
    return rest[-1], last


@reads
def takes_any_number(x, y):
    def total(*args, scale=1.0, **named):
        return scale * sum(args) + sum(named.values())

    return total(x, y, scale=2.0, z=1.0), total(*[y])


@reads
def has_a_generator_function(x, y):
    def powers(v):
        for k in range(1, 4):
            yield v**k

    return sum(powers(x)), [*powers(y)][1]


@reads
def takes_the_next(x, y):
    it = iter((x, y))
    return next(it), next(it) + next((v for v in (1.0, 2.0) if v > 1.5), 0.0)


# ---- functions ----------------------------------------------------------------------------


@reads
def has_closures(x, y):
    total = 0.0

    def add(v):
        nonlocal total
        total += v
        return total

    add(x)
    return add(y), y


@reads
def has_functions_that_call_each_other(x, y):
    def twice(v):
        return 2.0 * plain(v)

    def plain(v, shift=y):
        return v + shift

    return twice(x), plain(y)


@reads
def has_partials(x, y):
    scale = functools.partial(operator.mul, 2.0)
    power = functools.partial(lambda base, *, n: base**n, n=3)
    return scale(x), power(y)


# ---- instances ----------------------------------------------------------------------------


@dataclass
class Point:
    x: float
    y: float = 0.0

    @property
    def total(self):
        return self.x + self.y

    def scaled(self, k):
        return Point(k * self.x, k * self.y)

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __rmul__(self, k):
        return self.scaled(k)


@dataclass
class Account:
    balance: float
    history: list = field(default_factory=list)
    rate: float = field(init=False, default=0.0)

    def __post_init__(self):
        self.rate = 0.1 * self.balance

    def pay(self, amount):
        self.balance += amount
        self.history.append(amount)


class Shape:
    factor = 2.0

    def __init__(self, size):
        self.size = size

    def area(self):
        return self.factor * self.size

    def __call__(self, v):
        return self.area() + v

    @staticmethod
    def half(v):
        return v / 2.0

    @classmethod
    def twice(cls, size):
        return cls(2.0 * size)


class Square(Shape):
    factor = 1.0

    def __init__(self, size):
        super().__init__(size + 1.0)

    def area(self):
        return 3.0 * super().area()

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return None


Pair = namedtuple("Pair", ["a", "b"], defaults=[5.0])


class Named(NamedTuple):
    a: float
    b: float = 1.0

    @property
    def both(self):
        return self.a + self.b


@reads
def has_dataclasses(x, y):
    p = Point(x, y)
    p.x += 1.0
    q = replace(p, y=2.0 * y)
    return p.total, q.y + asdict(q)["y"]


@reads
def has_operators(x, y):
    p = 2.0 * (Point(x, y) + Point(1.0))
    return p.x, p.y


@reads
def has_an_account(x, y):
    account = Account(x)
    account.pay(y)
    account.pay(1.0)
    return account.balance + account.rate, account.history[0]


@reads
def has_small_classes(x, y):
    shape, square = Shape.twice(x), Square(y)
    return shape(Shape.half(y)), square.area()


@reads
def has_named_tuples(x, y):
    p, q = Named(x), Pair(b=y, a=x)
    return p.both + q.b, p._replace(b=y).b + Pair(x).b


@reads
def asks_for_classes(x, y):
    p = Square(x)
    if isinstance(p, Shape) and isinstance(x, float) and not isinstance(p, list) and p is not None:
        return p.size, y
    return y, y


# ---- statements ---------------------------------------------------------------------------


@reads
def has_managers(x, y):
    with np.errstate(all="ignore"), nullcontext() as nothing, Square(x) as square:
        total = square.size + y
    return total, y if nothing is None else x


@reads
def matches(x, y):
    match [x, y]:
        case [a, b]:
            total = a + b
        case _:
            total = a
    match {"kind": "k", "v": y}:
        case {"kind": "other"}:
            return total, x
        case {"kind": "k", "v": v}:
            pass
    match Point(x, y):
        case Point(x=first, y=second):
            return total + first - second, v


@reads
def walrus_and_chains(x, y):
    if 0.0 < (z := x + y) < 1000.0:
        return z, y
    return x, y


@reads
def compares_tuples(x, y):
    return (x + y if (x, y) >= (1.0, 5.0) else x), y


@reads
def loops_with_else(x, y):
    for name in ("a", "b"):
        if name == "z":
            break
    else:
        x = x + y
    while True:
        if y is not None:
            break
    return x, y


@reads
def loops_over_text(x, y):
    total = 0.0
    for sign in "+-+":
        total = total + x if sign == "+" else total - y
    return total, y


@pytest.mark.parametrize("name", READ)
def test_what_a_function_makes_is_read(name):
    f = READ[name]
    inverse = invert(f, F, F)
    for x, y in ((2.0, 3.0), (1.5, 0.5)):
        result = f(x, y)
        found = inverse(result, inverse.recover(x, y)) if inverse.parameters else inverse(result)
        assert found == pytest.approx((x, y), rel=1e-6)
        again = inverse(result)
        assert parts_of(f(*again)) == pytest.approx(parts_of(result), rel=1e-9)


# ---- results ------------------------------------------------------------------------------


RESULTS = {
    "list of kinds": lambda x, y: [x, [y, 1]],
    "dict": lambda x, y: {"sum": x + y, "y": y},
    "dict of numbers": lambda x, y: {1: x, 2: (y, x)},
    "dataclass": lambda x, y: Point(x + y, y),
    "instance of a list": lambda x, y: [Point(x), Point(y)],
    "nested": lambda x, y: {"p": Point(x, y), "l": [x, {"deep": y}]},
    "account": lambda x, y: (Account(x).balance, y),
}


def parts_of(value):
    if isinstance(value, dict):
        return [p for v in value.values() for p in parts_of(v)]
    if isinstance(value, (list, tuple)):
        return [p for v in value for p in parts_of(v)]
    return [value.x, value.y] if isinstance(value, Point) else [value]


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_containers(name):
    f = RESULTS[name]
    inverse = invert(f, F, F)
    assert inverse(f(2.0, 3.0)) == pytest.approx((2.0, 3.0))
    assert parts_of(f(*inverse(f(4.0, 5.0)))) == pytest.approx(parts_of(f(4.0, 5.0)))


def test_parts_of_containers_are_axes():
    inverse = choose(lambda x, y: {"sum": x + y, "y": x}, F, F, known=("return['sum']", "y"))
    assert inverse.unknown == ("x", "return")
    assert inverse(5.0, 3.0) == (2.0, {"sum": 5.0, "y": 2.0})


@pytest.mark.parametrize(
    ("f", "value"),
    [
        (lambda x: [x * x, [1.0]], [-1.0, [1.0]]),
        (lambda x: {"a": x * x}, {"a": -1.0}),
        (lambda x: [x, [x]], [1.0, [2.0]]),
        (lambda x: Point(math.exp(x)), Point(-1.0)),
        (lambda x: max(abs(v) for v in (x, 2.0 * x)), -1.0),
    ],
)
def test_impossible_results_have_no_solution(f, value):
    inverse = invert(f, F)
    theta = (inverse.parameters.default(),) if len(inverse.parameters) else ()
    with pytest.raises(NoSolution):
        inverse(value, *theta)


# ---- refusals -----------------------------------------------------------------------------


def of_two_shapes(x):
    items = [x]
    if x > 0:
        items.append(1.0)
    return sum(items)


def one_or_another(x):
    a, b = [x], [1.0]
    c = a if x > 0 else b
    c[0] = 2.0
    return a[0] + b[0]


def grows_with_rows(x):
    items = [(x, x)]
    while items[-1][0] < 100.0:
        items.append((2.0 * items[-1][0], x))
    return items[-1]


def grows_a_dict(x):
    items = {}
    while x < 100.0:
        items[len(items)] = x
        x *= 2.0
    return x


def used_up(x):
    values = (v for v in (x, x))
    return sum(values) + sum(values)


def of_itself(x):
    items = [x]
    items.append(items)
    return items


def sets_what_is_outside(x):
    OUTSIDE["a"] = x
    return x


OUTSIDE = {}
REFUSED = {
    of_two_shapes: "a list has 1 item on one path|a list has 2 items on one path",
    one_or_another: "a list is changed that may be one of several",
    grows_with_rows: "a list with items of the types tuple",
    grows_a_dict: "a dict has another number of items after an iteration",
    used_up: "a generator that is used again",
    of_itself: "a list that contains itself",
    sets_what_is_outside: "an item of what the function did not make",
    (lambda x: {x}): "a set of items that depend on the arguments",
    (lambda x: sorted([x, 1.0 - x, 2.0])[1]): "sorting of items that depend on the arguments",
}


@pytest.mark.parametrize("f", REFUSED)
def test_what_cannot_be_followed_is_named_with_its_line_and_a_remedy(f):
    with pytest.raises(NotInvertible, match=REFUSED[f]) as caught:
        invert(f, F)
    assert "test_made_objects.py:" in caught.value.where
    assert caught.value.help


@pytest.mark.parametrize("number", [1, 2])
def test_an_item_of_a_dict_or_a_default_is_found_by_its_key(number):
    def chosen(n):
        return {1: 2.0, 2: 5.0}.get(n, 0.5)

    inverse = invert(chosen, int)
    assert inverse(chosen(number)) == (number,)
    assert chosen(*inverse(0.5)) == 0.5


def test_a_dict_of_known_keys_is_made_with_one_value():
    def f(x: float, y: float) -> tuple[float, ...]:
        total = dict.fromkeys(("a", "b", "c"), 0.5)
        total["a"] += x
        total["b"] *= x + y
        return tuple(total.values())

    x, y = invert(f)(f(2.0, 3.0))
    assert (round(x, 9), round(y, 9)) == (2.0, 3.0)
