"""Plugins: which are active, in which order, and what cannot be composed."""

import itertools
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay import (
    Context,
    NotCompilable,
    OverlayError,
    Plugin,
    current_context,
    plugins_in_force,
)
from overlay.core.in_force import current_stack
from overlay.plugins.plugin import (
    ALL,
    STAGES,
    check_composition,
    composed,
    entered_plugins,
    run_stage,
    stages_of,
    stored_key,
)


class Named(Plugin):
    def __init__(self, token):
        self.cache_token = token


class Adds(Named):
    def before_inference(self, ir):
        return [*ir, self.cache_token]


def test_a_plugin_has_the_stages_that_its_class_defines():
    assert stages_of(Plugin()) == ()
    assert stages_of(Adds(1)) == ("before_inference",)
    every = type("Every", (Plugin,), {name: lambda self, value: value for name in STAGES})
    assert stages_of(every()) == STAGES


@given(st.lists(st.integers(0, 5)))
def test_a_stage_is_a_fold_in_declared_order_and_each_plugin_is_entered_once(tokens):
    plugins = composed([Adds(token) for token in tokens])
    assert run_stage(plugins, "before_inference", [], len) == list(dict.fromkeys(tokens))
    assert run_stage(plugins, "after_inference", "same", len) == "same"


def test_plugins_without_a_token_are_told_apart_by_identity():
    first, second = Plugin(), Plugin()
    assert composed([first, second], [first]) == (first, second)
    assert len(composed([Named("a")], [Named("a"), Adds("a")])) == 2


def test_each_plugin_decides_whether_it_goes_on_below_a_call():
    class Bails(Plugin):
        def enter(self, callee, types):
            return None if callee is len else self

    class Changes(Plugin):
        def enter(self, callee, types):
            return Named((callee, types))

    bails, changes = Bails(), Changes()
    assert entered_plugins((bails,), abs, (int,)) == (bails,)
    assert entered_plugins((bails,), len, None) == ()
    (other,) = entered_plugins((bails, changes), len, None)
    assert other.cache_token == (len, None)
    plugins = (bails,)
    assert entered_plugins(plugins, abs, None) is plugins


class NeedsCalls(Plugin):
    requires = ("calls",)


class Inlines(Plugin):
    preserves = frozenset({"values", "effects"})


class Alone(Plugin):
    refuses = (NeedsCalls, "foe")


@pytest.mark.parametrize(
    ("plugins", "words"),
    [
        ((Inlines(), NeedsCalls()), ("NeedsCalls", "Inlines", "'calls'", "put <plugin NeedsCalls")),
        ((Alone(), NeedsCalls()), ("Alone", "NeedsCalls", "refuses", "leave one")),
        ((NeedsCalls(), Alone()), ("Alone", "NeedsCalls", "refuses", "leave one")),
        ((Named("foe"), Alone()), ("Alone", "'foe'", "refuses")),
    ],
)
def test_a_composition_that_breaks_a_contract_names_both_parties(plugins, words):
    with pytest.raises(OverlayError) as info:
        composed(plugins)
    for word in words:
        assert word in str(info.value)
    assert "test_plugin.py" in str(info.value.where)


def test_where_neither_order_holds_the_remedy_says_so():
    class A(Plugin):
        requires, preserves = ("calls",), ALL

    class B(Plugin):
        requires, preserves = ("types",), frozenset({"types"})

    class C(Plugin):
        requires, preserves = ("calls",), frozenset({"calls"})

    check_composition((A(), B()))
    with pytest.raises(OverlayError, match="put <plugin"):
        check_composition((B(), A()))
    for order in itertools.permutations((B(), C())):
        with pytest.raises(OverlayError, match="leave one of the two out"):
            check_composition(order)


def test_what_is_no_plugin_is_refused():
    with pytest.raises(OverlayError, match="below Plugin"):
        composed([Plugin])

    class Wrong(Plugin):
        def enter(self, callee, types):
            return "yes"

    with pytest.raises(OverlayError, match="returned 'yes' for len"):
        entered_plugins((Wrong(),), len, None)


def test_an_error_in_a_hook_names_the_plugin_the_stage_and_the_function():
    class Broken(Plugin):
        def after_inference(self, ir):
            raise KeyError("x")

    with pytest.raises(OverlayError) as info:
        run_stage((Broken(),), "after_inference", None, abs)
    for word in ("Broken", "after_inference", "abs", "KeyError"):
        assert word in str(info.value)
    assert isinstance(info.value.__cause__, KeyError)


# ---- contexts ----------------------------------------------------------------------------------


def in_force():
    return current_stack().plugins


def test_a_context_has_its_plugins_in_order_each_once():
    a, b, c = Named("a"), Named("b"), Named("c")
    outer, inner = Context(plugins=[a, b, a]), Context(plugins=(Named("b"), c))
    assert outer.plugins == (a, b)
    assert (outer | inner).plugins == (a, b, c)
    assert outer.replace(plugins=()).plugins == ()
    assert outer.replace(metadata=1).plugins == (a, b)
    assert outer(lambda: current_context().plugins) == (a, b)
    assert "Named 'a'" in repr(outer)


@pytest.mark.parametrize("given", [3, None, (3,), Named, (Named,)])
@pytest.mark.parametrize("make", [Context, Context().replace])
def test_what_is_no_plugin_is_refused(make, given):
    with pytest.raises(OverlayError, match="objects of classes below Plugin, not") as info:
        make(plugins=given)
    assert "test_plugin.py" in str(info.value.where)
    with pytest.raises(OverlayError, match="given in a tuple, not as"):
        make(plugins=Named("a"))


def test_nested_contexts_have_the_outer_ones_plugins_first():
    a, b, c = Named("a"), Named("b"), Named("c")
    outer, inner = Context(plugins=(a, b)), Context(plugins=(c, b))
    assert outer(lambda: inner(in_force)) == (a, b, c)
    assert inner(lambda: outer(in_force)) == (c, b, a)
    assert outer(lambda: current_stack().joined.plugins) == (a, b)
    assert outer(lambda: inner(lambda: current_stack().joined.plugins)) == (a, b, c)


def test_contracts_are_checked_where_contexts_are_made_joined_and_nested():
    needs, inlines = Context(plugins=(NeedsCalls(),)), Context(plugins=(Inlines(),))
    with pytest.raises(OverlayError, match="does not preserve"):
        Context(plugins=(Inlines(), NeedsCalls()))
    with pytest.raises(OverlayError, match="does not preserve") as info:
        inlines | needs
    assert "test_plugin.py" in str(info.value.where)
    with pytest.raises(OverlayError, match="does not preserve"):
        inlines(lambda: needs(in_force))
    assert (needs | inlines).plugins == needs.plugins + inlines.plugins
    assert needs(lambda: inlines(in_force)) == needs.plugins + inlines.plugins


def test_a_block_has_the_plugins_of_its_context():
    plugin = Named("a")
    with Context(plugins=(plugin,)):
        assert plugins_in_force() == (plugin,)
    assert plugins_in_force() == ()


def test_tokens_are_compared_by_type_and_value():
    assert len(composed([Named(1), Named(True), Named(1.0), Named(1)])) == 3
    with pytest.raises(OverlayError, match="cannot be hashed"):
        Context(plugins=(Named([]),))


def test_plugins_go_with_their_context_into_a_pickle():
    again = pickle.loads(pickle.dumps(Context(plugins=(NeedsCalls(),), metadata=1)))
    assert [type(plugin) for plugin in again.plugins] == [NeedsCalls]


def test_code_on_disk_is_kept_under_classes_and_tokens():
    class Shares(Plugin):
        shares_native_cache = True

    assert stored_key((Adds("a"), Shares())) == stored_key((Adds("a"),))
    assert len({stored_key((p,)) for p in (Adds(1), Adds(True), Named(1))}) == 3
    with pytest.raises(NotCompilable, match="on disk that depends on <plugin Plugin>"):
        stored_key((Adds("a"), Plugin()))
