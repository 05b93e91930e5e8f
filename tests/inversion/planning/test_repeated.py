"""Coordinates with a value for every iteration: members, records, unit numbers, batches."""

import numpy as np
import pytest

from inversion import OutsideDomain, WrongArguments, choose, invert
from inversion.planning.repeated import Repeated
from primitives import Bool, Integers, Real, Reals

F = float
SIGNS = Repeated(Bool, 3)
TABLE = Repeated(Repeated(Reals(0, 1), 2), 3)


def test_shorter_tuples_are_filled_with_defaults():
    assert SIGNS.filled((True,)) == (True, False, False)
    assert TABLE.filled(((0.5,), ())) == ((0.5, 1.0), (1.0, 1.0), (1.0, 1.0))
    assert SIGNS.filled(SIGNS.default) == (False, False, False)


def test_membership():
    for member in ((), (True, False), [1, 0, 1], np.array([True, False])):
        assert SIGNS.contains(member)
    for other in ((True,) * 4, True, np.array(1), (2,), "no"):
        assert not SIGNS.contains(other)
    assert TABLE.contains(((0.5, 1.0), (0.0,)))
    assert not TABLE.contains((0.5,))
    assert SIGNS.meet(SIGNS) == SIGNS


def test_units_and_samples_are_members():
    assert (SIGNS.size, TABLE.size, TABLE.dtype.shape) == (3, 6, (3, 2))
    assert TABLE.from_unit([0, 0.5, 1, 0.25, 0, 1]) == ((0.0, 0.5), (1.0, 0.25), (0.0, 1.0))
    with pytest.raises(OutsideDomain):
        TABLE.from_unit([0.5])
    rng = np.random.default_rng(0)
    for domain in (SIGNS, TABLE, Repeated(Integers(2, 5), 4)):
        assert domain.contains(domain.sample(rng))
        assert domain.sample(rng, 7).shape == (7, *domain.dtype.shape)
        assert all(map(domain.contains, domain.sample(rng, 7)))
        assert all(map(domain.contains, domain.edges))


def folded(x):
    for _ in range(20):
        x = abs(x) - 1.0
    return x


INVERSE = invert(folded, F)
SPACE = INVERSE.parameters


def test_a_space_counts_every_value_of_a_coordinate_as_a_dimension():
    (parameter,) = SPACE
    assert parameter.domain == Repeated(Bool, 20)
    assert (len(SPACE), SPACE.dimensions) == (1, 20)
    assert SPACE.from_unit([0.0] * 19 + [1.0]) == ((False,) * 19 + (True,),)
    with pytest.raises(WrongArguments):
        SPACE.from_unit([0.5])


def test_theta_may_be_short_long_or_a_record():
    theta = ((True, False),)
    (x,) = INVERSE(3.0, theta)
    (record,) = SPACE.records([theta])
    assert record[0].shape == (20,)
    assert INVERSE(3.0, record) == INVERSE(3.0, (record[0],)) == (x,)
    assert INVERSE(3.0, SPACE.normal(record)) == (x,)
    assert INVERSE(3.0, (True,)) == INVERSE(3.0, ((True,),))  # θ alone, of one parameter
    for wrong in (((False,) * 21,), ((0.5,),), (0.5,), True):
        with pytest.raises(OutsideDomain):
            INVERSE(3.0, wrong)


def test_compiled_code_takes_tuples_and_arrays():
    fast, theta = INVERSE.compile(), INVERSE.recover(-7.3)
    value = folded(-7.3)
    assert fast(value, theta) == fast(value, SPACE.compiled(theta)) == INVERSE(value, theta)
    for wrong in (3.0, (), (1.0, 2.0)):
        with pytest.raises(WrongArguments):
            fast(value, wrong)


def test_batches_take_a_theta_for_each_row_or_one_for_all():
    arguments = np.array([0.5, -30.0, 25.25])
    values = np.array([folded(x) for x in arguments])
    thetas = SPACE.records([INVERSE.recover(x) for x in arguments])
    assert np.allclose(INVERSE.batch(values, theta=thetas)[0], arguments)
    (found,) = INVERSE.batch(values[1:2], theta=INVERSE.recover(-30.0))
    assert np.allclose(found, -30.0)
    with pytest.raises(WrongArguments, match="broadcast"):
        INVERSE.batch(values, theta=thetas[:2])


def test_values_outside_the_domain_of_a_turn_are_refused():
    def wrapped(x):
        for _ in range(20):
            x = x % 7 + 1
        return x

    inverse = choose(wrapped, int, known=("return",))
    assert inverse(wrapped(1000), inverse.recover(1000)) == (1000,)
    assert Real not in [p.domain for p in inverse.parameters]
    records = inverse.parameters.sample(np.random.default_rng(1), 5)
    assert records.dtype == inverse.parameters.dtype
