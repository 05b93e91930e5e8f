"""Programs of strings and lists."""

import math

import numpy as np
import pytest

from inversion import NoSolution, NotInvertible, choose, invert
from inversion.errors import WrongArguments
from overlay import NotCompilable


def path(folder: str, name: str):
    return f"{folder}/{name}.txt"


def greeting(name: str):
    return ", ".join(("Hello", name, "and all"))


def shout(text: str):
    return text.upper() + "!"


def label(number: int, text: str):
    return f"{text}-{number}"


def parsed(text: str):
    return int(text) * 2 + 1


def halved(text: str):
    return float(text) / 2


def shifted(letter: str):
    return chr(ord(letter) + 3)


def mirrored(text: str):
    return text[::-1] + text[0]


def middle(text: str):
    return text[1:4]


def secure(url: str):
    if url.startswith("http://"):
        return "https://" + url[7:]
    return url


def graded(points: float):
    return "passed" if points > 50.0 else "failed"


def tagged(text: str, depth: int):
    for _ in range(depth):
        text = "<" + text + ">"
    return text


def framed(items: list[float], first: float):
    start, end = [2 * first], [1.0, 2.0]
    return start + items + end


def both(one: list[int], other: list[int]):
    zero = [0]
    return one + zero + other


def pair(x: float, y: float):
    return [x + y, x - y, 3.0]


def looked_up(items: list[float], place: int):
    return items[place], len(items)


def repeated(text: str, times: int):
    return (text + ";") * times


PROGRAMS = {
    path: [("a/b", "c"), ("", "")],
    greeting: [("Ada",)],
    shout: [("Straße",), ("",)],
    label: [(7, "x-y"), (-3, "")],
    parsed: [(" 0012",), ("-7",), ("1_0",)],
    halved: [("1.50",), ("1e3",)],
    shifted: [("k",)],
    middle: [("hello",), ("x",)],
    secure: [("http://a.b",), ("https://a",)],
    graded: [(80.0,), (3.0,)],
    framed: [([3.0], 0.25), ([], 1.0)],
    both: [([1], [2, 3]), ([0], [0, 0])],
    pair: [(1.5, 0.25)],
    looked_up: [([1.0, 2.0], 1), ([1.0, 2.0], -1)],
    repeated: [("ab", 3), ("", 4), ("x", 0)],
}
# what is drawn has another length than the known one, is no number, or does not end as it has to
RARE = {looked_up, label, repeated}


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program_of_strings_or_lists_is_inverted(f):
    inverse = invert(f)
    answered = tried = 0
    for args in PROGRAMS[f]:
        value, theta = f(*args), inverse.recover(*args)
        assert inverse(value, *([theta] if theta else [])) == args
        for drawn in inverse.parameters.sample(np.random.default_rng(0), 10) if theta else ():
            tried += 1
            try:
                found = inverse(value, drawn)
            except NoSolution:
                continue
            answered += 1
            assert f(*found) == value
    assert answered == tried or f in RARE


def test_all_ways_to_take_a_string_apart_are_gone_through():
    found = [branch.point for branch in invert(path).solutions("a/b/c.txt")]
    assert found == [("a", "b/c"), ("a/b", "c")]
    found = [branch.point for branch in invert(both).solutions([0, 1, 0])]
    assert found == [([], [1, 0]), ([0, 1], [])]


def test_known_parts_are_cut_off():
    number = choose(label, known=("return", "text"))
    assert len(number.parameters) == 0
    assert number("x-7", "x") == (7,)
    with pytest.raises(NoSolution, match="not at the required positions"):
        number("x-7", "y")
    texts = choose(tagged, known=("return", "depth"))
    assert texts("<<x>>", 2) == ("x",)
    assert texts("<" * 30 + "x" + ">" * 30, 30) == ("x",)  # a loop that is not written out
    with pytest.raises(NoSolution):
        texts("<x>", 2)


def test_what_is_used_twice_is_refused_or_right():
    assert invert(mirrored)(mirrored("ab")) == ("ab",)  # item by item


def test_floats_in_lists_agree_within_the_tolerances():
    def thirds(x: float):
        return [x / 3, 1.0]

    inverse = invert(thirds)
    (x,) = inverse([0.1, 1.0 + 1e-13])
    assert x == pytest.approx(0.3)
    with pytest.raises(NoSolution):
        inverse([0.1, 1.001])


def mixed_list():
    return [1.0, "x"]


def with_text(items):
    text = ["x"]
    return items + text


def test_items_of_several_types_are_those_of_a_list_of_known_length():
    assert invert(with_text, list[float])([1.0, 2.0, "x"]) == ([1.0, 2.0],)
    assert invert(lambda a: [a, 1.0], list[float])([[2.0, 3.0], 1.0]) == ([2.0, 3.0],)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda a: a.append(2.0), r"list\.append"),
    ],
)
def test_lists_that_cannot_be_are_refused(f, message):
    with pytest.raises(NotInvertible, match=message):
        invert(f, list[float])


def test_values_of_other_types_are_refused_by_name():
    with pytest.raises(WrongArguments, match="return = 3 is not a value of type str"):
        invert(shout)(3, (0,))
    with pytest.raises(WrongArguments, match=r"return\[1\] = 'x' is not a value of type float"):
        invert(pair)([1.0, "x", 3.0])
    with pytest.raises(NoSolution, match=r"return\[0\] = nan is not finite"):
        invert(pair)([float("nan"), 1.0, 3.0])
    with pytest.raises(WrongArguments, match=r"list\[float\]"):
        invert(lambda a: a, list[bytes])


def test_strings_are_not_compiled():
    inverse = invert(shout)
    with pytest.raises(NotCompilable, match="text is a str"):
        inverse.compile()
    with pytest.raises(NotCompilable, match="text is a str"):
        inverse.batch(np.array(["A!"]), theta=(0,))
    with pytest.raises(NotInvertible, match="text is a str"):
        inverse.nearest("A!", "a")


@pytest.mark.parametrize("f", [shout, path, middle, framed, repeated], ids=lambda f: f.__name__)
def test_the_source_runs_on_its_own(f):
    module = {}
    exec(invert(f).source, module)
    for args in PROGRAMS[f]:
        theta = module["recover"](*args)
        answer = module["inverse"](f(*args), *([theta] if invert(f).parameters.names else []))
        assert answer == args


def _looped(x):
    total = 0.0
    for item in [x * i for i in range(17)]:
        total += item
    return total


def _looped_over_a_tuple(x):
    total = 0.0
    for item in tuple(x * i for i in range(17)):
        total += item
    return total


LONG = {
    "sum": (lambda x: sum([x * i for i in range(17)]), lambda x: sum(x * i for i in range(17))),
    "max": (lambda x: max([x * i for i in range(17)]), lambda x: max(x * i for i in range(17))),
    "min": (lambda x: min([x - i for i in range(17)]), lambda x: min(x - i for i in range(17))),
    "tuple": (
        lambda x: tuple([x * i for i in range(17)])[3],
        lambda x: tuple(x * i for i in range(17))[3],
    ),
    "prod": (
        lambda x: math.prod([x + i for i in range(17)]),
        lambda x: math.prod(x + i for i in range(17)),
    ),
    "fsum": (
        lambda x: math.fsum([x * i for i in range(17)]),
        lambda x: math.fsum(x * i for i in range(17)),
    ),
    "zip": (
        lambda x: sum(a * b for a, b in zip([x * i for i in range(17)], range(17), strict=True)),
        lambda x: sum(
            a * b
            for a, b in zip(list(x * i for i in range(17)), range(17), strict=True)  # noqa: C400
        ),
    ),
    "enumerate": (
        lambda x: sum(i * a for i, a in enumerate([x * i for i in range(17)])),
        lambda x: sum(i * a for i, a in enumerate(x * i for i in range(17))),
    ),
    "map": (
        lambda x: sum(map(abs, [x * i for i in range(17)])),
        lambda x: sum(map(abs, (x * i for i in range(17)))),
    ),
    "unpacked arguments": (
        lambda x: max(*[x * i for i in range(17)]),
        lambda x: max(*(x * i for i in range(17))),
    ),
    "loop": (_looped, _looped_over_a_tuple),
}
"""Programs that need the items of a list of more than 16, and what the remedy makes of them."""


@pytest.mark.parametrize("name", LONG)
def test_the_error_for_the_items_of_a_long_list_gives_the_limit_and_a_remedy_that_works(name):
    of_list, of_generator = LONG[name]
    with pytest.raises(NotInvertible) as caught:
        invert(of_list, float)
    assert "more than 16 iterations" in dict(caught.value.notes)["limit"]
    assert caught.value.help.startswith("make the items in a generator expression")
    value = of_list(4.5)
    (x,) = invert(of_generator, float)(value)
    assert math.isclose(of_generator(x), value)
