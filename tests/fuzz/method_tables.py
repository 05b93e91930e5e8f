"""Random tables: the most specific method, and ambiguities, agree with plum."""

import random
from collections import Counter

from tests.overlay.generics.tables_beside_plum import HINTS, VALUES, compare


def draw(seed):
    """Methods, by the positions of their annotations in HINTS, and calls, by those of values in
    VALUES.
    """
    rng = random.Random(seed)
    hints, values = range(len(HINTS)), range(len(VALUES))
    methods = [
        {
            "hints": rng.choices(hints, k=rng.randint(0, 3)),
            "defaults": rng.randint(0, 2),
            "varargs": rng.choice([None, *hints]),
            "precedence": rng.randint(0, 1),
        }
        for _ in range(rng.randint(1, 8))
    ]
    calls = [rng.choices(values, k=rng.randint(0, 4)) for _ in range(5)]
    return {"methods": methods, "calls": calls}


def check(case):
    """Raises AssertionError where plum chooses another method."""
    drawn = [
        (
            [HINTS[i] for i in method["hints"]],
            method["defaults"],
            None if method["varargs"] is None else HINTS[method["varargs"]],
            method["precedence"],
        )
        for method in case["methods"]
    ]
    outcomes = compare(drawn, [[VALUES[i] for i in call] for call in case["calls"]])
    return Counter("a method" if type(found) is int else found for found in outcomes)
