"""Contexts put together: ``|``, ``replace``, nesting, flags, ``recurse``, bail-out."""

import dataclasses
import math

import pytest
import typeguard
from hypothesis import given
from hypothesis import strategies as st

from overlay import (
    Context,
    MethodTable,
    OverlayError,
    Plugin,
    call_next,
    current_context,
    nonoverlay,
    recurse,
)


def target(x):
    return ["base", x]


def named(*names):
    """A context whose tables each add their name and go on."""
    return Context(*map(table, names))


def table(name):
    made = MethodTable(name)
    scope = {"call_next": call_next, "name": name}
    exec("def method(x):\n    return [name, *call_next(x)]", scope)
    made.overlay(target)(scope["method"])
    return made


A, B, C = named("a"), named("b"), named("c")


def test_joining_is_nesting():
    expected = ["c", "b", "a", "base", 1]
    assert (A | B | C)(target, 1) == expected
    assert (A | (B | C))(target, 1) == expected
    assert A(lambda: B(lambda: C(target, 1))) == expected
    assert Context(*A.tables, *B.tables, *C.tables)(target, 1) == expected


@given(st.lists(st.sampled_from([A, B, C]), min_size=1, max_size=5))
def test_joining_any_contexts_is_nesting_them(contexts):
    joined, run = contexts[0], target
    for inner in contexts[1:]:
        joined = joined | inner
    for ctx in reversed(contexts):
        run = ctx.wrap(run)
    assert joined(target, 0) == run(0)


def test_the_right_sides_flags_win_and_its_metadata_and_state_where_it_has_any():
    state = []
    left = Context(metadata="left", state=state, strict=True, count_calls=True)
    right = Context(metadata="right", strict=True)
    joined = left | right
    assert (joined.metadata, joined.state) == ("right", state)
    assert (joined.count_calls, joined.strict) == (False, True)
    assert (right | left).count_calls
    assert repr(left) == "<Context metadata='left', strict=True, count_calls=True>"
    with typeguard.suppress_type_checks(), pytest.raises(TypeError):
        left | 3


def test_replace_changes_what_is_named_and_nothing_else():
    full = Context(*A.tables, metadata=1, state=[], strict=True)
    fields = ("tables", "plugins", "metadata", "state", "strict")
    before = {name: getattr(full, name) for name in fields}
    for name, value in {"tables": B.tables, "metadata": 2, "state": 3, "strict": False}.items():
        changed = full.replace(**{name: value})
        assert {n: getattr(changed, n) for n in fields} == before | {name: value}
    with pytest.raises(TypeError, match="no 'meta' to replace; it has tables, plugins, metadata"):
        full.replace(meta=1)


def test_a_method_may_bail_out():
    bail = MethodTable("bail")

    @bail.overlay(target)
    def method(x: int):
        return nonoverlay(target)(x) if x > 1 else call_next(x)

    ctx = A | Context(bail)
    assert ctx(lambda: [target(1), target(2), target(1)]) == [
        ["a", "base", 1],
        ["base", 2],
        ["a", "base", 1],
    ]


def test_recurse_runs_the_body_of_an_overlaid_function():
    def factorial(n):
        return 1 if n == 0 else n * factorial(n - 1)

    steps = MethodTable("steps")
    seen = []

    @steps.overlay(factorial)
    def counted(n: int):
        seen.append(n)
        return call_next(n)

    ctx = Context(steps)
    assert ctx(factorial, 3) == 6
    assert seen == [3, 2, 1, 0]
    seen.clear()
    assert recurse(ctx, factorial, n=3) == 6
    assert seen == [2, 1, 0]
    seen.clear()
    assert A(lambda: recurse(ctx, factorial, 2)) == 2
    assert seen == [1, 0]
    assert current_context() is None


def test_recurse_of_methods_and_inside_generators_that_outlive_their_context():
    class Walker:
        def walk(self, n):
            return ["walk", n, *(self.walk(n - 1) if n else [])]

    walks = MethodTable("walks")

    @walks.overlay(Walker.walk)
    def walk(self, n):
        return ["overlaid"]

    ctx = Context(walks)
    assert recurse(ctx, Walker().walk, 1) == ["walk", 1, "overlaid"]

    def steps():
        while True:
            yield recurse(C, lambda: target(1))

    made = A(steps)
    assert next(made) == next(made) == ["c", "a", "base", 1]


# ---- metadata -----------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Settings:
    value: object
    name: str = ""


SAME = [
    (1, 1),
    ((1, "a"), (1, "a")),
    (frozenset({1, 2}), frozenset({2, 1})),
    (Settings(1), Settings(1)),
    (float("nan"), float("nan")),
    (None, None),
]
DIFFERENT = [
    (1, True),
    (1, 1.0),
    (0.0, -0.0),
    ((1,), (True,)),
    (((1,),), ((1.0,),)),
    (frozenset({1}), frozenset({True})),
    (Settings(1), Settings(True)),
    ((1, 2), Settings(1)),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_equal_metadata_of_equal_types_is_the_same(one, other):
    assert Context(metadata=one).metadata_key == Context(metadata=other).metadata_key


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_metadata_is_compared_by_type_all_the_way_down(one, other):
    assert Context(metadata=one).metadata_key != Context(metadata=other).metadata_key


@pytest.mark.parametrize("metadata", [[1], (1, ([],)), Settings([])])
def test_metadata_that_cannot_be_hashed_names_the_part(metadata):
    with pytest.raises(OverlayError, match="must be hashable") as caught:
        Context(metadata=metadata)
    assert "what changes goes into state=" in str(caught.value)
    assert "test_composition.py:" in str(caught.value)


def test_the_part_that_cannot_be_hashed_is_shown():
    with pytest.raises(OverlayError, match=r"metadata\[1\]\.value is \[\]"):
        Context(metadata=(1, Settings([])))


def test_wrapped_functions_bind_and_describe_themselves():
    class Shape:
        @A.wrap
        def size(self, x: int) -> list:
            """Its words."""
            return target(x)

    import inspect

    assert Shape().size(1) == ["a", "base", 1]
    assert Shape.size.__doc__ == "Its words."
    assert str(inspect.signature(Shape.size)) == "(self, x: int) -> list"
    assert B(lambda: Shape().size(1)) == ["a", "b", "base", 1]
    assert B(lambda: list(map(A.wrap(target), [1]))) == [["a", "b", "base", 1]]
    assert B(A.wrap(math.sqrt), 4.0) == 2.0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: recurse(3, abs, 1), "takes a context and then a function, not 3"),
        (lambda: recurse(Context(), 3), "cannot run 3: it is not callable"),
        (lambda: Context(plugins=Plugin()), "plugins are given in a tuple"),
    ],
)
def test_arguments_of_another_kind_are_refused_with_a_remedy(call, said):
    with pytest.raises(OverlayError, match=said) as error:
        call()
    assert "help: " in str(error.value)
