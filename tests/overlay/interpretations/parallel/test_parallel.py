"""Loops that make their calls at the same time, and those that are left alone."""

import os
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay import Context, MethodTable, OverlayError
from overlay.interpretations.parallel import parallel
from tests.examples import examples
from tests.overlay.interpretations.parallel import parallel_programs as programs


def prepared(f, **options):
    return parallel(f, **{"workers": 2, "least": 0.0, **options}).prepare()


VALUES = np.linspace(0.0, 2.0, 40)
ROWS = [[0.5 * i, 1.0, float(i)] for i in range(12)]
INDEPENDENT = {
    "a comprehension": (programs.comprehension, (12,)),
    "a comprehension with a condition": (programs.filtered, (12,)),
    "comprehensions of sets and dicts": (programs.sets_and_dicts, (12,)),
    "a loop with two calls": (programs.accumulated, (12,)),
    "map": (programs.mapped, (12,)),
    "lists as arguments": (programs.rows_summed, (ROWS,)),
    "arrays as arguments": (programs.arrays, (VALUES, 12)),
    "the functions below": (programs.below, (12,)),
}


@pytest.mark.parametrize("case", INDEPENDENT)
def test_independent_calls_are_made_in_other_processes(case):
    function, args = INDEPENDENT[case]
    ours = prepared(function)
    assert repr(ours(*args)) == repr(function(*args))
    reports = [each for each in ours.report() if each.ahead]
    assert reports, str(ours)
    assert os.getpid() not in reports[0].workers
    assert reports[0].ahead >= 4


def test_calls_are_made_by_all_workers():
    ours = prepared(programs.comprehension)
    workers = set()
    for _ in range(6):
        ours(60)
        workers = ours.report()[0].workers
        if len(workers) == 2:
            break
    assert len(workers) == 2


def test_compiled_code_without_the_gil_is_called_in_threads():
    ours = prepared(programs.kernels)
    assert ours(VALUES, 12) == programs.kernels(VALUES, 12)
    (report,) = ours.report()
    assert report.ahead == 10
    assert threading.get_ident() not in report.workers


def test_an_exception_comes_when_it_would_come():
    alone, together = [], []
    with pytest.raises(ValueError, match="five"):
        programs.failing(12, alone)
    ours = prepared(programs.failing)
    with pytest.raises(ValueError, match="five") as raised:
        ours(12, together)
    assert alone == together
    assert any(each.name == "fails_at" for each in raised.traceback)
    assert sum(each.ahead for each in ours.report()) == 3


LEFT = {
    "a variable that is carried on": (programs.carried, (8,), "given x, which it sets"),
    "an early end": (programs.early, (8,), "may end early"),
    "a counter in a list": (programs.counted, (8,), "reads COUNT, which can change"),
    "a global variable": (programs.set_globally, (8,), "a statement global"),
    "output": (programs.printed, (4,), "calls print, of which nothing is known"),
    "a table that can change": (programs.from_table, (8,), "reads TABLE, which can change"),
    "a write into an argument": (programs.written, (ROWS,), "changes what it may not have made"),
    "a write by way of a list": (programs.kept, (ROWS,), "keeps what it did not make"),
    "an argument that is given back": (programs.themselves, (ROWS,), "may give what it was given"),
    "random numbers": (programs.drawn, (8,), "default_rng, of which nothing is known"),
    "the order of a set": (programs.words, (8,), "makes sets"),
    "Python code behind a ufunc": (programs.called_by_c, (8,), "(vectorized), of which nothing"),
    "a call in a handler": (programs.handled, (8,), "calls what is not known"),
    "an output array that is spread": (
        programs.spread,
        (VALUES, np.zeros(40), 4),
        "an array to write into",
    ),
    "a compiled write into an argument": (
        programs.doubled,
        (VALUES, 6),
        "changes what it may not have made",
    ),
    "compiled with the GIL": (programs.held, (8,), "compiled without nogil=True"),
    "an argument that recursion gives back": (
        programs.by_recursion,
        (ROWS,),
        "may give what it was given",
    ),
    "an output array": (
        programs.all_written_out,
        (VALUES, np.zeros(40), 4),
        "an array to write into",
    ),
}


@pytest.mark.parametrize("case", LEFT)
def test_what_may_do_more_than_compute_is_left_alone_and_said(case, capsys):
    function, args, reason = LEFT[case]
    expected = restored(function, args)
    ours = prepared(function)
    assert repr(restored(ours, args)) == repr(expected)
    reports = [each for each in ours.report() if line_of(each) - first_line(function) in range(9)]
    assert not any(each.ahead for each in reports)
    assert any(reason in each.reason for each in reports)
    assert "parallel_programs.py:" in reports[0].where


def line_of(report):
    return int(report.where.rpartition(":")[2])


def first_line(function):
    return function.__code__.co_firstlineno


def restored(function, args):
    """What a program gives that begins as any other run."""
    programs.COUNT[0], programs.CALLS = 0, 0
    return function(*[[list(row) for row in each] if each is ROWS else each for each in args])


def test_arrays_that_would_come_in_another_form_are_made_here():
    ours = prepared(programs.strided)
    found, expected = ours(8), programs.strided(8)
    assert [each.strides for each in found[3:]] == [each.strides for each in expected[3:]]


def test_a_list_that_is_read_and_written_is_no_guess_that_counts():
    ours = prepared(programs.through_a_list)
    assert ours(8) == programs.through_a_list(8)
    assert not any("row_sum" in each.calls and each.ahead for each in ours.report())


def test_a_loop_over_what_grows_sees_it_grow():
    ours = prepared(programs.grown)
    assert ours([0.5]) == programs.grown([0.5])
    assert ours([0.5, 0.25, 0.125]) == programs.grown([0.5, 0.25, 0.125])


def test_an_array_that_changes_under_way_is_seen_to_change():
    ours = prepared(programs.changed_under_way)
    found = ours(VALUES.copy(), 8)
    expected = programs.changed_under_way(VALUES.copy(), 8)
    assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))
    (report,) = (each for each in ours.report() if each.calls == ("centred",))
    assert report.reason == "the arguments were others than could be told before"


def test_a_global_that_is_bound_anew_is_seen(monkeypatch):
    monkeypatch.setattr(programs, "SCALE", 0.5)
    expected = programs.rebinds(12)
    programs.SCALE = 0.5
    ours = prepared(programs.rebinds)
    assert ours(12) == expected
    assert "bound anew" in str(ours)


def test_functions_of_functions_and_their_constants_are_sent():
    factor = 3.0

    def scaled(x):
        return programs.work(x) * factor

    def program(n):
        return [scaled(x) for x in range(n)]

    ours = prepared(program)
    assert ours(10) == program(10)
    assert ours.report()[0].ahead >= 4


def test_objects_of_a_program_are_left_alone():
    class Number(float):
        def __mul__(self, other):
            raise AssertionError("not called ahead")

    def program(values):
        return [programs.work(x, 0) for x in values]

    ours = prepared(program)
    assert ours([Number(1.0)] * 4) == [0.0] * 4
    assert "object of the class Number" in str(ours)
    assert not ours.report()[0].ahead


def test_short_calls_are_made_one_by_one():
    ours = parallel(programs.comprehension, least=10.0)
    ours(8)
    assert ours.report()[0].reason == "its calls take too little time"


def test_a_context_around_is_kept_and_calls_are_made_in_it():
    doubled = MethodTable("doubled")

    @doubled.overlay(programs.helper)
    def helper(x):
        return 2.0

    ours = prepared(programs.comprehension)
    assert Context(doubled)(ours, 4) == [100.0] * 4
    assert not ours.report()[0].ahead


def test_nothing_of_the_program_is_changed():
    code = programs.comprehension.__code__
    prepared(programs.below)(12)
    assert programs.comprehension.__code__ is code
    assert set(vars(programs)) == set(vars(programs)) - {"parallel__", "ask__"}


def test_bad_input_is_refused():
    for bad, options in ((len, {}), (programs.comprehension, {"workers": 0})):
        with pytest.raises(OverlayError) as raised:
            parallel(bad, **options)
        assert raised.value.help
        assert "test_parallel.py" in raised.value.where


@given(st.lists(st.floats(allow_nan=True, allow_infinity=False, width=16), max_size=12))
@settings(max_examples=examples(8))
def test_results_are_the_same_bit_for_bit(values):
    def program(xs):
        return [programs.work(x, 5) for x in xs], sorted(map(programs.helper, xs))

    assert repr(prepared(program)(values)) == repr(program(values))
