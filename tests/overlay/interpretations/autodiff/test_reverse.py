"""Reverse derivatives: adjoints that are made of programs, interpreted and compiled."""

import colorsys
import linecache
import math
import random
import re
from numbers import Number

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay import Context, MethodTable
from overlay.compiled.watching import ReadsWatch
from overlay.interpretations.autodiff import (
    NotDifferentiable,
    adjoint,
    adjoint_of,
    autodiff,
    gradient,
    hessian,
    inactive,
    jacobian,
    partials_of,
    vjp,
)
from overlay.interpretations.autodiff.reverse import gradients
from overlay.interpretations.autodiff.reverse.adjoints import adjoint_for, kind_of_argument
from tests.examples import examples
from tests.laws.array_loops import ArrayProgram
from tests.laws.control_flow import Program

X = np.array([0.5, 1.2, 0.8])
TWICE = np.array([0, 0, 1])
A = np.array([[2.0, 1.0, 0.3], [0.4, 3.0, 1.0], [0.1, 0.2, 1.5]])


def source_of(f, *args):
    kinds = [kind_of_argument(a) for a in args]
    return adjoint_for(f, kinds, range(len(args)), ()).source


def helper(x):
    return x * math.sin(x)


def branching(x):
    y = math.sin(x[0]) * x[1] * math.exp(x[2] * 0.1) + 2.0 * helper(x[0])
    if y > 3.0 and x[1] > 0:
        y = y * y
    return y / (1.0 + x[0] * x[0])


def breaking(x):
    total = x[0]
    for i in range(1, 50):
        total += total * x[1] / i
        if total > 10:
            break
        if total < -3:
            continue
        total *= 1.1
    while total > 1:
        total /= 2
        if total < 0.7:
            return total * x[2]
    return total if total > 0.5 else -total * x[0]


def recurrence(x):
    u = np.zeros(6)
    u[0] = x[0]
    for i in range(5):
        u[i + 1] = u[i] * u[i] * 0.5 + x[1] * math.sin(u[i])
        u[i] *= x[2]
    return u[5] * u[5] + np.sum(u * u)


def sweeps(x):
    u = np.copy(x)
    for _ in range(3):
        for i in range(1, len(u)):
            u[i] = u[i - 1] * u[i] * 0.5 + u[i] * u[i]
        s = 0.0
        for each in u:
            s += s * each + each * each
        u[0] = s * 0.01
    return np.sum(u)


def steps(x):
    u, v = x, 0.0 * x
    for _ in range(5):
        u, v = u + 0.1 * v, v - 0.1 * np.sin(A @ u)
    return u @ v


def rows(x):
    grid = np.outer(x, x)
    total = 0.0
    for i, row in enumerate(grid):
        for a, b in zip(row, x, strict=False):
            total += a * b * i
    for k in reversed(range(2)):
        total += np.mean(grid[k, 1:]) * grid.T[k].sum() / grid.shape[0]
    return total


def closures(x):
    def scaled(v, by=2.0):
        return v * by * x[1]

    first, *_ = (scaled(x[0]), 1.0)
    return first + scaled(v=x[2], by=0.5)


def solved(x):
    y = A @ x
    return np.sum(np.linalg.solve(A, y * x)) + np.linalg.norm(y) + np.linalg.det(A * x[0])


def stacked(x):
    both = np.concatenate((x, np.array([x[0] * x[1], 2.0])))
    two = np.stack((both, np.cumsum(both)))
    return np.sum(two[1] * two[0]) + np.max(x) * np.var(x) + np.prod(x) + np.std(both)


def chosen(x):
    y = np.where(x > 0.7, x * x, 0.3 * x)
    y += np.clip(x, 0.6, 1.0) ** 3 + np.maximum(x, 0.9) * x[TWICE]
    return np.sum(y) + np.sum(np.reshape(np.ravel(np.outer(x, y)), 9))


LISTED = [math.sin, helper, math.cos]
HELD = (math.sin, helper)
BY_NAME = {"first": math.sin, "second": helper}


def out_of_a_list(x):
    total = 0.0
    for i in range(len(x)):
        total += LISTED[i % 3](x[i]) + LISTED[-i - 1](x[i])
    return total


def out_of_a_tuple(x):
    total = x[0]
    for i in range(len(x)):
        total = total * HELD[i % 2](x[i])
    return total


def over_functions(x):
    total = 0.0
    for f in LISTED:
        total += f(x[0])
    return total + BY_NAME["second"](x[1])


READ = [
    out_of_a_list,
    out_of_a_tuple,
    over_functions,
    branching,
    breaking,
    recurrence,
    sweeps,
    steps,
    rows,
    solved,
    stacked,
    chosen,
]


@pytest.mark.parametrize("f", READ)
def test_reverse_and_forward_derivatives_agree(f):
    for x in (X, X - 0.6, 3 * X):
        back = gradient(f, mode="reverse")(x)
        assert np.allclose(back, gradient(f, mode="forward")(x), rtol=1e-10, atol=1e-12)


def test_a_change_of_a_list_of_functions_is_seen_by_adjoints():
    hot = Context().jit(lambda x: autodiff(out_of_a_list, x))
    before = hot(X)
    LISTED[0] = math.exp
    try:
        wanted = gradient(out_of_a_list, mode="forward")(X)
        assert np.allclose(gradient(out_of_a_list, mode="reverse")(X), wanted)
        assert np.allclose(hot(X), wanted)
        assert not np.allclose(wanted, before)
    finally:
        LISTED[0] = math.sin


def test_an_index_outside_of_a_list_of_functions_is_an_error_in_adjoints():
    def outside(x):
        total = 0.0
        for i in range(len(x)):
            total += LISTED[i + 2](x[i])
        return total

    with pytest.raises(IndexError):
        gradient(outside, mode="reverse")(X)
    with pytest.raises(IndexError):
        Context().jit(lambda x: autodiff(outside, x))(X)


@pytest.mark.parametrize("f", [breaking, sweeps, out_of_a_list, out_of_a_tuple, over_functions])
def test_an_adjoint_is_compiled_where_it_is_called(f):
    hot = Context().jit(lambda x: autodiff(f, x))
    for x in (X, 2 * X):
        assert np.allclose(hot(x), gradient(f, mode="forward")(x), rtol=1e-10, atol=1e-12)


def plain_at_first(x):
    total = 0.0
    for i in range(5):
        total += x * i
    return total if isinstance(x, float) else -total


def set_in_one_branch(x):
    y = 0.0
    if x > 0:
        u = np.zeros(3)
        u[0] = x * x
        y = u.sum() * u.shape[0] + np.sum(np.array([x, 2.0]))
    return y


@pytest.mark.parametrize("f", [plain_at_first, set_in_one_branch])
def test_compiled_code_goes_back_where_dual_numbers_have_no_one_type(f):
    hot = Context().jit(lambda x: autodiff(f, x))
    assert math.isclose(hot(1.5), autodiff(f, 1.5))


CLASSES = [float, int, object, str, np.ndarray, Number, (int, float), (str, np.ndarray)]


@pytest.mark.parametrize("classes", CLASSES, ids=str)
def test_compiled_code_asks_for_the_class_of_the_value(classes):
    def squared_if(x):
        return x * x if isinstance(x, classes) else -x

    hot = Context().jit(lambda x: autodiff(squared_if, x))
    assert hot(1.5) == autodiff(squared_if, 1.5) == (3.0 if isinstance(1.5, classes) else -1.0)


@pytest.mark.parametrize("f", [branching, recurrence, steps])
def test_second_derivatives_go_forward_over_reverse(f):
    assert np.allclose(hessian(f, mode="reverse")(X), hessian(f, mode="forward")(X), rtol=1e-9)


@settings(max_examples=examples(8))
@given(st.integers(0, 10**6))
def test_random_programs_that_branch_and_loop(seed):
    rng = random.Random(seed)
    program = Program(rng)
    args = [rng.uniform(-2, 2) for _ in range(program.count)]
    agree(jacobian, program.function, args)


@settings(max_examples=examples(8))
@given(st.integers(0, 10**6))
def test_random_programs_that_write_to_arrays(seed):
    rng = random.Random(seed)
    f = ArrayProgram(rng).function
    agree(gradient, f, [np.array([rng.uniform(-1, 1) for _ in range(4)]), rng.uniform(-1, 1)])


def agree(derivative, f, args):
    try:
        value = flat(f(*args))
    except (ArithmeticError, ValueError):
        return
    if not np.all(np.abs(value) < 1e8):
        return
    with np.errstate(all="ignore"):
        forward = flat(derivative(f, mode="forward")(*args))
        back = flat(derivative(f, mode="reverse")(*args))
    size = max(1.0, np.max(np.abs(forward), initial=0.0))
    assert np.allclose(back, forward, rtol=1e-6, atol=1e-8 * size, equal_nan=True)


def flat(found):
    if isinstance(found, tuple):
        return np.concatenate([flat(part) for part in found])
    return np.ravel(found)


# ---- what is run --------------------------------------------------------------------------


def energy(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            apart = x[i] - x[j]
            total -= 1.0 / math.sqrt(apart * apart + 0.1)
    return total


def test_an_adjoint_is_python_source_that_computes_what_it_needs_alone():
    source = source_of(energy, X)
    assert source.count("math.sqrt") == 1  # once, backwards: nothing is kept
    assert "tape" not in source
    assert "# test_reverse.py:" in source
    function = adjoint_for(energy, [kind_of_argument(X)], [0], ()).function
    assert linecache.getline(function.__code__.co_filename, 1) == source.splitlines(True)[0]
    assert np.allclose(function(X, 2.0)[0], 2 * gradient(energy)(X))


def test_a_gradient_calls_the_program_once_however_many_numbers_there_are():
    calls = []

    def count():
        calls.append(1)
        return 2.0

    table = MethodTable("counted")
    table.overlay(adjoint_of(square))(lambda d, x: calls.append(1) or (2 * x * d,))
    x = np.linspace(1, 2, 100)
    assert np.allclose(gradient(of_squares, rules=table)(x), 2 * x)
    assert len(calls) == 100
    assert count() == 2.0


def square(x):
    return x * x


def of_squares(x):
    total = 0.0
    for each in x:
        total += square(each)
    return total


def test_by_many_numbers_it_is_reverse_and_by_few_forward(monkeypatch):
    reversed_at = []

    def made(*args, **kwargs):
        reversed_at.append(len(reversed_at))
        return adjoint_for(*args, **kwargs)

    monkeypatch.setattr(gradients, "adjoint_for", made)
    for count in (8, 9):
        assert np.allclose(gradient(of_squares)(np.ones(count)), 2.0)
        assert len(reversed_at) == count - 8


def test_rules_of_adjoints_are_used_by_all_modes_but_forward():
    table = MethodTable("marked")
    table.overlay(adjoint_of(square))(lambda d, x: (d * 100.0,))
    assert np.allclose(gradient(of_squares, rules=table)(np.ones(8)), 100.0)
    assert np.allclose(gradient(of_squares, rules=table)(np.ones(9)), 100.0)
    assert np.allclose(gradient(of_squares, rules=table, mode="reverse")(np.ones(2)), 100.0)
    assert np.allclose(gradient(of_squares, rules=table, mode="forward")(np.ones(9)), 2.0)
    _, back = vjp(of_squares, np.ones(9), rules=table)
    assert np.allclose(back(2.0)[0], 200.0)


def test_rules_of_ones_own_are_what_adjoints_use():
    table = MethodTable("own")
    table.overlay(partials_of(math.sin))(lambda x: (7.0,))
    assert gradient(lambda x: math.sin(x) * 2, rules=table, mode="reverse")(0.3) == 14.0
    with pytest.raises(NotDifferentiable, match="nextafter"):
        gradient(lambda x: math.nextafter(x, 1.0) * 2, mode="reverse")(0.3)
    table.overlay(adjoint_of(math.nextafter))(lambda d, x, y: (d, 0.0))
    slope = gradient(lambda x: math.nextafter(x, 1.0) * 2, rules=table, mode="reverse")
    assert slope(0.3) == 2.0


def test_jacobians_and_products():
    x = (0.2, 0.4, 0.3)
    back = jacobian(colorsys.rgb_to_hls, mode="reverse")(*x)
    assert np.allclose(back, jacobian(colorsys.rgb_to_hls, mode="forward")(*x))
    found = jacobian(lambda x: x * np.sin(x[0]), mode="reverse")(X)
    assert np.allclose(found, jacobian(lambda x: x * np.sin(x[0]), mode="forward")(X))
    value, back = vjp(steps, X, mode="reverse")
    assert value == steps(X)
    assert np.allclose(back(3.0)[0], 3 * gradient(steps)(X))


def test_arguments_that_are_constant_may_be_anything():
    def power(x, n, f):
        return f(np.sum(x**n))

    found = gradient(power, active=("x",), mode="reverse")(X, 3, math.sqrt)
    assert np.allclose(found, gradient(lambda x: power(x, 3, math.sqrt), mode="forward")(X))


# ---- what changes -------------------------------------------------------------------------

scale = 2.0


def scaled(x):
    return np.sum(x * scale)


def test_what_a_program_reads_is_read_anew(monkeypatch):
    assert np.allclose(gradient(scaled, mode="reverse")(X), 2.0)
    monkeypatch.setitem(globals(), "scale", 3.0)
    assert np.allclose(gradient(scaled, mode="reverse")(X), 3.0)
    for by in (4.0, 5.0):
        assert np.allclose(
            gradient(lambda x, by=by: np.sum(x * by), active=("x",), mode="reverse")(X), by
        )


def test_a_table_of_the_context_is_not_passed_by():
    table = MethodTable("halved")
    table.overlay(helper)(lambda x: 0.5 * x)

    def f(x):
        return helper(x[0]) * x[1]

    wanted = np.array([0.5 * X[1], 0.5 * X[0], 0.0])
    assert np.allclose(Context(table)(gradient(f), X), wanted)
    assert np.allclose(Context(table)(gradient(f, mode="reverse"), X), wanted)
    assert np.allclose(Context(table).jit(lambda x: autodiff(f, x))(X), wanted)


# ---- what is refused ----------------------------------------------------------------------

kept = np.zeros(3)


def writes_outside(x):
    kept[0] = x[0]
    return x[0]


def writes_to_part(x):
    u = np.copy(x)
    row = u[1:]
    row[0] = 2.0
    return np.sum(u)


def reads_old_part(x):
    u = np.copy(x)
    row = u[1:]
    u[1] = 5.0
    return np.sum(row * row)


def lists(x):
    return sum([each * each for each in x])


def swaps(x):
    a, b = np.copy(x), np.zeros(3)
    for i in range(3):
        b[i] = a[i] * a[i]
        a, b = b, a
    return np.sum(a) + np.sum(b)


def raises(x):
    if x[0] > 100:
        raise ValueError("large")
    return x[0]


def again(x):
    return x[0] if x[0] < 1 else again(x * 0.5)


def constant(x):
    return x[0] * inactive(math.sin)(x[1])


# fmt: off
REFUSED = [
    (writes_outside, "writes to an array that it did not create"),
    (again,          "calls itself"),
]
# fmt: on


@pytest.mark.parametrize(("f", "why"), REFUSED, ids=[f.__name__ for f, _ in REFUSED])
def test_what_has_no_adjoint_is_recorded_on_a_tape(f, why):
    with pytest.raises(NotDifferentiable, match=why) as caught:
        adjoint(f, X)
    assert "help:" in str(caught.value)
    assert "test_reverse.py:" in str(caught.value)
    if f is not writes_outside:
        wanted = gradient(f, mode="forward")(X)
        assert np.allclose(gradient(f, mode="reverse")(X), wanted)
        many = gradient(lambda x: f(x[:3]))(np.concatenate((X, np.zeros(9))))
        assert np.allclose(many[:3], wanted)


@pytest.mark.parametrize("f", [writes_to_part, reads_old_part, lists, swaps, raises, constant])
def test_what_was_once_refused_is_right(f):
    assert np.allclose(gradient(f, mode="reverse")(X), gradient(f, mode="forward")(X))


def test_an_exception_of_the_program_is_raised():
    with pytest.raises(ValueError, match="large"):
        gradient(raises, mode="reverse")(X * 1000.0)


def test_modes_are_named():
    with pytest.raises(NotDifferentiable, match="no mode 'backward'"):
        gradient(energy, mode="backward")(X)


def test_elements_are_added_to_in_the_order_in_which_the_program_reads_them():
    x = np.array([1.0, 2.0, 4.0])
    made = adjoint(products, x)
    added = [line.split()[0] for line in made.source.splitlines() if "] +=" in line]
    assert [name.partition("[")[0] for name in added] == ["d_x", "d_x"]
    assert added[1] == "d_x[i]"
    assert made.function(x, 1.0)[0].tolist() == [2.0, 5.0, 2.0]


def elements_added_in_loops(source):
    """For each line that adds to an element of an array, the loops around it, outermost first."""
    found, around = [], []
    for line in source.splitlines():
        indent = len(line) - len(line.lstrip())
        around = [(at, name) for at, name in around if at < indent]
        if line.lstrip().startswith("for "):
            around.append((indent, line.split()[1]))
        if "] +=" in line:
            found.append((line.split(" +=")[0].strip(), [name for _, name in around]))
    return found


def weighed(x, m):
    """Elements at fixed places, at that of an outer loop, and at that of the innermost one."""
    total = 0.0
    for i in range(len(m)):
        for k in range(len(x)):
            if k != 1:
                total += x[0] * m[i, -1] * x[k] * x[k]
    return total


def test_the_adjoint_of_an_element_that_is_one_in_all_turns_is_gathered_in_a_number():
    assert elements_added_in_loops(source_of(energy, X)) == [
        ("d_x[i_1]", ["i", "i_1"]),
        ("d_x[i]", ["i"]),
    ]
    x, m = np.array([0.0, 2.0, -3.0]), np.array([[1.0, 2.0], [0.5, 0.0]])
    assert elements_added_in_loops(source_of(weighed, x, m)) == [
        ("d_x[i_1]", ["i", "i_1"]),
        ("d_m[i, (-1)]", ["i"]),
        ("d_x[0]", []),
    ]
    by_x = [2.0 * x[0] * x[0] + x @ x - x[1] ** 2, 0.0, 2 * x[0] * x[2]]
    expected = np.array(by_x) * m[:, -1].sum()
    compiled = Context().jit(lambda x, m: autodiff(weighed, x, m))
    for found in (gradient(weighed, mode="reverse")(x, m), compiled(x, m)):
        assert np.allclose(found[0], expected)
        assert np.allclose(found[1][:, -1], x[0] * (x[0] ** 2 + x[2] ** 2))
        assert not found[1][:, 0].any()


def read_nowhere(x):
    """Each element that a loop without turns would read is none of the array's."""
    total = x[0] * x[-1]
    for i in range(3, 9):
        for k in range(int(x[1])):
            total += x[i] * x[-i - 1] * x[k]
    return total


def test_a_loop_without_turns_adds_to_no_element():
    x = np.array([2.0, 0.0, 5.0])
    around = np.full(1001, 7.0)
    around[500:503] = x
    compiled = Context().jit(lambda x: autodiff(read_nowhere, x))
    assert gradient(read_nowhere, mode="reverse")(x).tolist() == [5.0, 0.0, 2.0]
    assert compiled(around[500:503]).tolist() == [5.0, 0.0, 2.0]
    assert around.sum() == 7.0 * 998 + 7.0


def written_to(x):
    """The element of an array that the loop writes to is another in each turn."""
    kept = np.zeros(2)
    kept[0] = x[0]
    for i in range(len(x)):
        kept[0] = kept[0] * x[i] + kept[1]
        kept[1] = kept[0] * x[1]
    return kept[0] + kept[1]


def test_elements_that_a_loop_writes_to_are_not_gathered():
    x = np.array([0.7, 1.5, -0.4])
    expected = gradient(written_to, mode="forward")(x)
    assert np.allclose(gradient(written_to, mode="reverse")(x), expected)
    assert np.allclose(Context().jit(lambda x: autodiff(written_to, x))(x), expected)


@pytest.mark.parametrize("x", [np.zeros(3), np.array([0.3, -1.0, 2.0])], ids=["zero", "other"])
def test_gathered_adjoints_have_derivatives(x):
    m = np.array([[1.0, 2.0], [0.5, 1.0]])
    second = hessian(lambda x: weighed(x, m))(x)
    forward = jacobian(gradient(lambda x: weighed(x, m), mode="forward"), mode="forward")(x)
    assert np.allclose(second, forward)

    def slopes(x, m):
        return np.sum(autodiff(weighed, x, m)[0] ** 2)

    twice = Context().jit(lambda x, m: autodiff(slopes, x, m)[0])
    by_x = gradient(lambda x: weighed(x, m))(x)
    assert np.allclose(twice(x, m), 2 * second @ by_x)


def test_the_adjoint_of_a_square_is_one_product():
    made = adjoint(lambda x: x * x, 3.0)
    assert sum(line.strip().startswith("d_x") for line in made.source.splitlines()) == 1
    assert made.function(3.0, 0.5) == (3.0,)
    assert np.allclose(gradient(lambda x: np.sum(x * x), mode="reverse")(X), 2 * X)


def products(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += x[i + 1] * x[i]
    return total


def test_a_compiled_gradient_compares_what_the_program_has_read_alone():
    entry = Context().jit(lambda x: autodiff(products, x))
    assert entry(X).tolist() == [X[1], X[0] + X[2], X[1]]
    (code,) = entry.codes.values()
    read = ReadsWatch()
    read.add(entry.py_func)
    read.add(products)
    assert set(entry.engine.words(code)) == set(read.words())


def test_a_compiled_gradient_counts_no_more_references_than_one_by_hand():
    def by_hand(x):
        found = np.zeros_like(x)
        for i in range(len(x) - 1):
            found[i + 1] += x[i]
            found[i] += x[i + 1]
        return found

    compiled = Context().jit(lambda x: autodiff(products, x)), Context().jit(by_hand)
    counts = []
    for entry in compiled:
        assert entry(X).tolist() == [X[1], X[0] + X[2], X[1]]
        (code,) = entry.inspect_llvm().values()
        counts.append(len(re.findall(r"call .*@NRT_incref", code)))
    assert counts[0] <= counts[1]


def test_the_adjoint_of_a_quotient_divides_once():
    source = adjoint(lambda x, y: x / y, 3.0, 2.0).source
    assert source.count(" / ") == 2  # in the program, and in its adjoint
    found = adjoint(lambda x, y: x / y, 3.0, 2.0).function(3.0, 2.0, 1.0)
    assert found == (0.5, -0.75)


def has_numbered_names(x, y):
    x_1 = x * x
    x = x + y
    x = x * x_1
    d = y * 2
    d = d * y
    v_d = d * 3
    v_d_1 = v_d * d
    return x * x_1 + v_d_1 * d


def test_variables_are_kept_apart_where_one_is_named_as_another_is_numbered():
    at = (0.3, 0.7)
    found = gradient(has_numbered_names, mode="reverse")(*at)
    assert np.allclose(found, gradient(has_numbered_names, mode="forward")(*at))


def test_a_square_that_overflows_and_is_not_used_has_the_derivative_0():
    def f(x):
        v = x[0]
        s = v * v
        return s if s < 1e300 else x[1]

    point = np.array([1e308, 1.0])
    with np.errstate(over="ignore"):
        interpreted = gradient(f, mode="reverse")(point)
        compiled = Context().jit(lambda x: autodiff(f, x))(point)
    assert np.array_equal(interpreted, [0.0, 1.0])
    assert np.array_equal(compiled, [0.0, 1.0])
