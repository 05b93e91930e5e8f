"""Proofs that functions only compute, and what they say of results."""

import math

import numpy as np
import pytest

from overlay.interpretations.parallel.data_kinds import DataKind
from overlay.interpretations.parallel.purity import prove
from overlay.interpretations.parallel.purity_proof import NotProved

IMMUTABLE, NEW, ARRAY, SHARED = DataKind
TABLE = [1, 2]


def listed(x):
    return [v for v in x]  # noqa: C416 (the comprehension is what is read)


def nested(x):
    return {i: [v for v in x] for i in range(2)}  # noqa: C416


def spread(x):
    return [*x], 1


def starred(x):
    _, *rest = x
    return rest


def mapped(x):
    return {1: x}


def replaced(x):
    x = [0]
    x[0] = 1
    return x


def grown(x):
    out = []
    for v in x:
        out.append(float(v))
    return out


def halved(x):
    return x if (y := x) is None else y / 2


def summed(x):
    return sum(v * 2 for v in x)


def late(x):
    factor = 1
    pairs = enumerate(v * factor for v in [1, 2])
    factor = x
    return list(pairs)


def largest(x):
    return max(0.0, *x) + 1.0


@pytest.mark.parametrize(
    ("function", "given", "kind"),
    [
        (listed, SHARED, SHARED),
        (listed, IMMUTABLE, NEW),
        (nested, SHARED, SHARED),
        (spread, ARRAY, SHARED),
        (starred, ARRAY, SHARED),
        (starred, IMMUTABLE, NEW),
        (mapped, ARRAY, SHARED),
        (replaced, SHARED, NEW),
        (grown, SHARED, NEW),
        (halved, ARRAY, ARRAY),
        (summed, ARRAY, NEW),
        (late, SHARED, SHARED),
        (largest, ARRAY, NEW),
        (eval("lambda x: x * 2"), SHARED, SHARED),
    ],
)
def test_a_proof_says_whose_the_result_may_be(function, given, kind):
    assert prove(function, (given,), {}).kind is kind


def appends_by_class(x):
    list.append(x, 1)


def keeps(x):
    held = [0]
    held[0] = x


def imports(x):
    import math as m

    return m.sin(x)


def reads_in_a_generator(x):
    return sum(v * TABLE[0] for v in x)


def shows(x):
    return f"{x} {TABLE}"


def defines(x):
    return (lambda: x)()


def handles_and_keeps(x):
    try:
        return 1 / x
    except ZeroDivisionError as error:
        return error


def raises_again(x):
    try:
        return 1 / x
    except ZeroDivisionError:
        raise


def raises_what_it_has(x):
    raise x


def enters(x):
    with x:
        return 1


def chooses(x):
    f = (math.sin, math.cos)[x]
    return f(1.0)


def not_there(x):
    return nosuchname + x  # noqa: F821


def by_keyword(x):
    return np.sin(x, **{"out": x})


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (appends_by_class, "changes what it may not have made"),
        (keeps, "keeps what it did not make"),
        (imports, "has a statement import"),
        (reads_in_a_generator, "reads TABLE, which can change"),
        (shows, "reads TABLE, which can change"),
        (defines, "defines a function"),
        (handles_and_keeps, "keeps an exception"),
        (raises_again, "raises an error in a way that is not followed"),
        (raises_what_it_has, "raises x, which it is given"),
        (enters, "has a statement with"),
        (chooses, "reads sin of a module, which can change"),
        (not_there, "reads nosuchname, which is not there"),
        (by_keyword, "gives an array to write into"),
    ],
)
def test_what_is_not_proved_is_said_with_its_place(function, reason):
    with pytest.raises(NotProved, match=reason) as raised:
        prove(function, (SHARED,), {})
    line = int(raised.value.reason.rstrip("]").rpartition(":")[2])
    first = function.__code__.co_firstlineno
    assert first <= line <= first + 5


def test_sets_are_told_of_where_their_order_may_count():
    def looped(x):
        return [key for key, _ in x.items()], [key for key in x.keys()]  # noqa: C416, SIM118

    def joined(x):
        return x.keys() | {1}

    def known(x):
        return x in {1, 2}

    assert [prove(each, (SHARED,), {}).sets for each in (looped, joined, known)] == [
        *(False, True, True)
    ]
