"""The functions that autograd and JAX differentiate: what has a derivative keeps it.

``function_outcomes.json`` has what becomes of each, and ``compiled_outcomes.json`` what becomes in
compiled code of each form that numba compiles; ``try_coverage.py --write`` and
``try_compiled_forms.py --write`` renew them.
"""

import numpy as np
import pytest

from tests.strangers.derivative_trials import ways
from tests.strangers.differentiable_functions import ALIASES, AUTOGRAD, FORMS, JAX
from tests.strangers.function_trials import (
    LISTS,
    compiled_outcomes,
    compiled_share,
    counted,
    exists,
    names_of,
    outcomes,
    shares,
    tried,
    without,
)

COUNTED = {"autograd": 196, "jax": 294}
LEAST = {
    "autograd": {"forward": 99.0, "reverse": 99.0, "compiled": 47.0},
    "jax": {"forward": 99.0, "reverse": 99.0, "compiled": 48.0},
}
"""At least these percentages are right, in each way."""
ORDER = ("refused", "partly", "right")
ALWAYS_COMPLEX = {("numpy.linalg.eig", "compiled"), ("numpy.linalg.eigvals", "compiled")}
"""From numpy 2.5 on their results are complex, of which compiled code has no derivative."""


@pytest.mark.parametrize("path", FORMS)
def test_a_derivative_is_right_or_refused_and_no_worse_than_the_table_says(path):
    if not exists(path):
        pytest.skip(f"{path} is not in the installed version")
    for way in ways:
        before, found = outcomes()[path][way], tried(path, way)
        kinds = [said.partition(":")[0] for said in (before, found)]
        if (path, way) in ALWAYS_COMPLEX and np.lib.NumpyVersion(np.__version__) >= "2.5.0":
            assert kinds[1] in ("refused", "right"), (way, found)
        elif kinds[0] in ("raised", "too slow"):
            assert kinds[1] != "wrong", (way, found)
        else:
            assert ORDER.index(kinds[1]) >= ORDER.index(kinds[0]), (way, found)


def test_every_name_of_the_lists_is_tried_once_or_has_a_reason_not_to_be():
    listed = {*names_of(AUTOGRAD), *names_of(JAX)}
    kinds = [set(FORMS), set(ALIASES), set(without())]
    assert listed <= set.union(*kinds)
    assert sum(map(len, kinds)) == len(set.union(*kinds))
    assert set(without()) <= listed
    assert set(ALIASES) <= listed
    assert set(FORMS) <= listed | set(ALIASES.values())
    assert set(ALIASES.values()) <= set(FORMS) | set(without())


def test_no_outcome_is_missing_and_none_is_wrong():
    assert list(outcomes()) == list(FORMS)
    for path, row in outcomes().items():
        assert [*row] == [*ways], path
        assert not any(said.startswith("wrong") for said in row.values()), path


def test_as_many_are_right_as_ever():
    assert {name: len(counted(listed)) for name, listed in LISTS.items()} == COUNTED
    for name, row in shares(outcomes()).items():
        for way, (right, _) in row.items():
            assert right >= LEAST[name][way], (name, way)


def test_compiled_code_differentiates_most_of_the_forms_that_numba_compiles():
    found = compiled_outcomes()
    assert {path: len(row) for path, row in found.items()} == {
        path: len(forms) for path, forms in FORMS.items()
    }
    assert not any(str(said).startswith("wrong") for row in found.values() for said in row)
    right, every = compiled_share(found)
    assert every >= 191
    assert right / every >= 0.96
