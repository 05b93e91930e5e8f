"""Each function of arrays in the registry of derivatives is inverted, or refused by name."""

import numpy as np
import pytest

from inversion import NotInvertible, invert
from overlay.interpretations.autodiff.rules.array_rules import ARRAY_RULES

MOVES_AND_MAPS = ("rearranging", "linear", "multilinear")
NOT_INVERTED = ("extract", "matrix_rank")
"""Functions whose results' shapes, or whose results, are no elements of their data."""
LISTS = ("split", "hsplit", "vsplit", "dsplit", "array_split")
"""Functions that give lists, which are unpacked."""
LOST_DIGITS = ("ptp",)
COMPLEX_UNKNOWN = ("vander",)
"""Functions with the power 0, of which numbered roots of complex numbers do not tell the base."""


def calls(rule):
    """Each sample of a rule as a function of one of its arrays, with the array."""
    for number, sample in enumerate(rule.samples):
        args = list(sample(np.random.default_rng(number)))
        named = args.pop() if args and isinstance(args[-1], dict) else {}
        for place, value in enumerate(args):
            is_array = isinstance(value, np.ndarray) and value.size > 0
            kinds = "f" if name_of(rule) in COMPLEX_UNKNOWN else "fc"
            if is_array and value.dtype.kind in kinds and np.isfinite(value).all():
                yield of_one(rule.function, args, named, place), value


def of_one(function, args, named, place):
    space = {"function": function}
    space |= {f"given_{i}": value for i, value in enumerate(args)}
    space |= {f"named_{name}": value for name, value in named.items()}
    given = ["x" if i == place else f"given_{i}" for i in range(len(args))]
    given += [f"{name}=named_{name}" for name in named]
    call = f"function({', '.join(given)})"
    exec(f"def called(x):\n    return {call}\n", space)
    return space["called"]


def flat(value):
    if isinstance(value, (tuple, list)):
        return np.concatenate([flat(part) for part in value])
    return np.ravel(value)


def given_back(f, value):
    """Return whether the inverse of a function returns its argument; None if it is refused."""
    with np.errstate(all="ignore"):
        try:
            inverse = invert(f, value)
        except NotInvertible:
            return None
        theta = inverse.recover(value)
        spare = (theta,) if len(inverse.parameters) else ()
        (found,) = inverse(f(value), *spare)
        return bool(np.allclose(flat(found), flat(value), rtol=1e-6, atol=1e-8))


def name_of(rule):
    return rule.function.__name__


ROWS = [rule for rule in ARRAY_RULES if rule.kind in MOVES_AND_MAPS]
OTHERS = [
    rule
    for rule in ARRAY_RULES
    if rule.kind in ("smooth", "defined") and name_of(rule) not in LOST_DIGITS
]


@pytest.mark.long
@pytest.mark.parametrize("rule", ROWS, ids=name_of)
def test_what_moves_elements_or_is_linear_is_inverted(rule):
    if name_of(rule) in NOT_INVERTED or name_of(rule) in LISTS:
        return
    assert all(given_back(f, value) for f, value in calls(rule))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated")  # from numpy 2.5 on
@pytest.mark.parametrize("rule", OTHERS, ids=name_of)
def test_other_functions_are_inverted_or_refused(rule):
    assert not any(given_back(f, value) is False for f, value in calls(rule))
