"""Programs that write to arrays: to items and slices, in place, through views, in loops."""

import numpy as np
import pytest

from inversion import NotInvertible, invert


def items(x):
    y = np.zeros(4)
    y[0] = x[0]
    y[1:3] = x[1:] * 2
    y[-1] = 5.0
    return y


def slices_in_place(x):
    y = x.copy()
    y[1:] += y[:-1]
    y[::2] *= 3
    return y


def two_names(x):
    y = x * 1
    z = y
    y += x[::-1]
    return z


def another_array_afterwards(x):
    y = x * 1
    z = y
    y = y + x[::-1]
    return z, y


def views_see_writes(x):
    y = x.copy()
    tail, turned = y[1:], y[::-1]
    y[0] = 5 * x[1]
    tail *= 2
    return turned * 1, y


def a_transposed_view(x):
    y = np.zeros((2, 2))
    y.T[0] = x[:2]
    y[1, 1] = x[2]
    return y


def a_copy_in_another_order(x):
    y = np.outer(x, [1.0, 2.0]).T
    flat = y.T.ravel()
    flat[1] *= 3
    return y, flat


def a_fancy_index_copies(x):
    y = x * 1
    part = y[[0, 2]]
    part[0] = 9.0
    y[[0, 2]] = y[[2, 0]]
    return y, part


def lists_that_the_program_makes(x):
    at = [0]
    at.append(2)
    y = x * 1
    y[at] *= 2.0
    y[:] = [y[1], y[0], y[2] + 1.0]
    y[[0, 1]] += [1.0, x[2]]
    return y


def an_array_in_a_list(x):
    pair = [x * 1, x * 2]
    pair[0][1] = 7 * x[0]
    return pair[0] + pair[1]


def rows_of_a_matrix(x):
    table = np.zeros((3, 3))
    for i, row in enumerate(table):
        row[i] = x[i]
    return table + 1


def one_way_of_a_branch(x):
    y = x * 1
    z = y
    if x[0] > 0:
        y[1] += 2 * y[0]
    z[2] *= 2
    return y


def a_long_loop(x):
    y = x * 1
    for _ in range(30):
        y[1:] += 0.1 * y[:-1]
    return y


def items_by_turn(x):
    y = np.empty(20)
    y[0] = x[0]
    for i in range(1, 20):
        y[i] = 0.5 * y[i - 1] + x[i % 3]
    return y


def integers(x):
    y = np.zeros(3, dtype=int)
    y[:] = x
    return y


def where_a_mask_holds(x):
    y = x * 1
    y[x > 5] = 0
    return y + x


WRITES = [
    items, slices_in_place, two_names, another_array_afterwards, views_see_writes,
    a_transposed_view, a_copy_in_another_order, a_fancy_index_copies, an_array_in_a_list,
    rows_of_a_matrix, one_way_of_a_branch, a_long_loop, items_by_turn, integers,
    where_a_mask_holds, lists_that_the_program_makes,
]  # fmt: skip


@pytest.mark.parametrize("f", WRITES)
def test_the_arguments_of_a_program_that_writes_are_found(f):
    inverse = invert(f, np.zeros(3))
    for x in (np.array([0.5, -1.25, 2.0]), np.array([-0.5, 1.5, 0.25])):
        theta = inverse.recover(x)
        spare = (theta,) if len(inverse.parameters) else ()
        assert np.allclose(inverse(f(x), *spare)[0], x)


def to_the_argument(x):
    x[0] = 1.0
    return x


def filled(a):
    a[0] = 2.0
    return a


def by_a_function(x):
    y = x * 1
    filled(y)
    return y


def in_a_loop_under_two_names(x, turns):
    y = x * 1
    z = y
    for _ in range(turns):
        z[1:] += 0.01 * y[:-1]
    return y


def in_known_turns_under_two_names(x):
    return in_a_loop_under_two_names(x, 30)


GLOBAL = np.zeros(3)


def to_a_global(x):
    GLOBAL[0] = x[0]
    return GLOBAL + x


@pytest.mark.parametrize("f", [to_the_argument, by_a_function, to_a_global])
def test_writes_to_what_others_see_are_refused(f):
    with pytest.raises(NotInvertible, match=r"a write to .*, which the function did not make"):
        invert(f, np.zeros(3))


def test_a_write_in_a_loop_to_an_array_of_two_names_is_refused():
    with pytest.raises(NotInvertible, match="a write in a loop"):
        invert(in_a_loop_under_two_names, np.zeros(3), int)


def test_a_write_to_an_array_of_two_names_is_inverted_where_the_turns_are_known():
    x = np.array([1.0, 2.0, 4.0])
    result = in_known_turns_under_two_names(x)
    assert invert(in_known_turns_under_two_names, x)(result) == (pytest.approx(x),)
