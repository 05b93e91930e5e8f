"""Random programs run in a context as they do natively, and every call in them is seen."""

import operator
import os

import pytest
from hypothesis import HealthCheck, given, note, reject, settings

from overlay import Context, MethodTable
from tests.examples import examples
from tests.overlay.python import program_runs as runs
from tests.overlay.python.program_runs import NEVER, UNSEEN
from tests.overlay.python.random_programs import programs

# RANDOM_PROGRAMS says how many programs each property is tried on
EXAMPLES = examples(int(os.environ.get("RANDOM_PROGRAMS", "30")))
SLOW = settings(suppress_health_check=list(HealthCheck), max_examples=EXAMPLES)

# a generator or coroutine that a program abandons may raise when it is freed
pytestmark = pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning", "ignore:coroutine:RuntimeWarning"
)


@pytest.fixture(autouse=True)
def deep_stack():
    with runs.deep_stack():
        yield


def shown(text):
    """The program, which is shown where it fails."""
    note(text)
    try:
        runs.compiled(text)
    except SyntaxError:
        reject()
    return text


@SLOW
@given(programs())
def test_a_table_that_is_never_reached_changes_nothing(text):
    runs.same_under(
        lambda: Context(NEVER), shown(text), ((False, False), (False, True), (True, False))
    )


@SLOW
@given(programs(without=UNSEEN))
def test_every_call_of_the_programs_functions_is_seen(text):
    runs.counted_as_natively(shown(text))


@pytest.mark.parametrize("plugin", [runs.Around, runs.Enters])
@SLOW
@given(text=programs())
def test_plugins_that_go_on_change_nothing(plugin, text):
    runs.same_under(
        lambda: Context(plugins=(plugin(),)),
        shown(text),
        ((False, False), (False, True), (True, False)),
    )


@pytest.mark.parametrize("plugin", [runs.Around, runs.Enters])
def test_plugins_are_reached(plugin):
    asked = plugin()
    assert Context(plugins=(asked,))(lambda xs: [*map(abs, xs)], [-1, 2]) == [1, 2]
    assert asked.calls >= 2


@SLOW
@given(programs())
def test_operators_that_go_on_to_the_base_change_nothing(text):
    runs.same_with_operators(shown(text))


def test_operators_are_reached():
    runs.operated.clear()
    assert Context(runs.OPERATORS)(lambda x: [x + 2][0] - 1, 3) == 4
    assert runs.operated == {operator.add: 1, operator.getitem: 1, operator.sub: 1}


def test_both_branches_of_a_conditional_callee_are_seen():
    def f(x):
        return "f"

    def g(x):
        return "g"

    table = MethodTable("both")
    table.overlay(f)(lambda x: "F")
    table.overlay(g)(lambda x: "G")

    def program(x):
        return [
            *((f if c else g)(x) for c in (1, 0)),
            len([(f if x else g)(x)]),
            (f if x else g)(x),
        ]

    for ctx in (Context(table), Context(table)):
        assert ctx(program, 1) == ["F", "G", 1, "F"]
        assert ctx(program, 0) == ["F", "G", 1, "G"]
    assert program(0) == ["f", "g", 1, "g"]
