"""What tables, contexts, explanations and reports look like in a notebook."""

import math
import operator
import re
from html.parser import HTMLParser

import pytest

from overlay import Context, MethodTable, OverlayWarning, call_next, ir
from overlay.analysis import CheckerPlugin
from overlay.core import markup
from overlay.core.location import brief
from overlay.core.markup import element
from overlay.inspect.shadowing import layers
from overlay.interpretations.first_nan import FirstNaN, NaNFinder
from overlay.interpretations.mocks import Mocks
from overlay.interpretations.printing import Printed, PrintedCall
from overlay.interpretations.profiling import Profiler, profile
from overlay.interpretations.tagging import Tagging
from overlay.interpretations.tracing import Call, Tracer, trace

outer, inner = MethodTable("outer"), MethodTable("<inner>")


@outer.overlay(math.sin)
def sin_of_float(x: float):
    return x


@outer.overlay(math.sin)
def sin_of_all(x: object):
    return x


@inner.overlay(math.sin)
def sin_inside(x: float):
    return call_next(x)


@inner.overlay("not_there_at_all:f")
def later(x):
    return x


def wave(x):
    return math.sin(x) + outside(x)


def outside(x):
    return abs(x)


class Checked(HTMLParser):
    """Reads HTML: its elements are closed in order, and no text of another is taken for one."""

    def __init__(self, html):
        super().__init__()
        self.open, self.names, self.texts = [], set(), []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.names.add(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)


def shown(thing):
    return Checked(thing._repr_html_())


def test_text_is_escaped_and_html_is_not():
    made = element("p", "<b>&", element("b", '"'), None, class_="a", title='"<', hidden=True)
    assert made == '<p class="a" title="&quot;&lt;" hidden>&lt;b&gt;&amp;<b>&quot;</b></p>'


def test_layers_tell_what_is_taken_first_and_what_lies_below():
    found = dict(layers((outer, inner)))
    first, second, third = found[math.sin]
    assert (first.method.function, first.taken_by) == (sin_inside, None)
    assert (second.method.function, second.taken_by) == (sin_of_float, first.method)
    assert (third.method.function, third.taken_by) == (sin_of_all, None)
    assert [x.below for x in (first, second, third)] == [second.method, third.method, None]
    assert [x.method.function for x in found["not_there_at_all:f"]] == [later]


def test_a_method_with_defaults_is_hidden_where_all_its_calls_are_taken():
    below, above = MethodTable("below"), MethodTable("above")
    below.overlay(round)(lambda x, n=0: x)
    above.overlay(round)(lambda x: x)
    assert [x.taken_by for x in dict(layers((below, above)))[round]] == [None, None]
    above.overlay(round)(lambda x, n: x)
    assert [x.taken_by is None for x in dict(layers((below, above)))[round]] == [True, True, False]


def test_a_method_whose_next_one_is_ambiguous_is_told():
    table = MethodTable("even")

    @table.overlay(operator.add)
    def left(x: float, y: object):
        return x

    @table.overlay(operator.add)
    def right(x: object, y: float):
        return y

    @table.overlay(operator.add)
    def both(x: float, y: float):
        return x

    found = dict(layers((table,)))[operator.add]
    assert [layer.is_ambiguous for layer in found] == [False, False, True]
    assert "ambiguous" in shown(table).text


@pytest.mark.parametrize(
    "thing",
    [inner, Context(outer, inner, metadata="<m>", state={"<s>"}, strict=True), Context()],
    ids=["table", "context", "empty"],
)
def test_tables_and_contexts_are_html_without_scripts(thing):
    html = shown(thing)
    assert "script" not in html.names
    assert "style" in html.names
    assert "inner" not in html.names


def test_a_context_shows_its_tables_from_the_inside_and_what_is_hidden():
    html = shown(Context(outer, inner, metadata="<m>"))
    assert html.text.startswith("context <inner> over outer")
    assert "'<m>'" in html.text
    assert "hidden by <inner>: (float)" in html.text
    assert "not imported yet" in html.text


def test_an_explanation_folds_and_is_open_where_an_overlay_is_reached():
    explanation = Context(outer, inner).explain(wave, float)
    html = explanation._repr_html_()
    assert "1 undetermined" not in html
    assert "details" in Checked(html).names
    assert re.search(r"<details open><summary><code>wave\(float\)</code>", html)
    assert re.search(r"<details><summary><code>outside\(float\)</code>", html)
    assert repr(explanation).startswith("<Explanation of wave(float): 2 resolved, ")


def test_a_report_shows_how_often_from_where_and_what_never():
    ctx = Context(outer, inner, count_calls=True)
    assert ctx(wave, 0.5) == ctx(wave, 0.5) == 1.0
    report = ctx.report()
    html = shown(report)
    assert "2 of 4 methods hit" in html.text
    assert html.text.count("never") == 2
    assert f"2 {brief(outer.methods(math.sin)[0].where).split(':')[0]}" in html.text
    assert repr(report) == f"<Report: {report.summary}>"
    assert "count_calls=True" in shown(Context(outer).report()).text


def test_compilations_are_rows_with_what_changed_and_who_had_read_it():
    def helper(x):
        return x * factor

    factor = 2.0
    context = Context(inner)
    hot = context.jit(lambda x: helper(x) + 1.0)
    hot(1.0)
    factor = "<b>"
    with pytest.raises(Exception, match="mul"):
        hot(1.0)
    html = shown(context.compilations())
    assert "script" not in html.names
    assert "first call with these types" in html.text
    assert "2.0 → '<b>'" in html.text
    assert "<lambda> → " in html.text
    assert html.text.count("helper(float64)") >= 2


# ---- what is left out ----------------------------------------------------------------------------


def doubled(x):
    return x + x


def many(n):
    return [doubled(i) for i in range(n)]


def deep(n):
    """A tracer with calls inside one another."""
    tracer = Tracer()
    inner = tracer.roots
    for _ in range(n):
        inner.append(Call("deep", "file.py:1", "", 0, 1, 1, "1"))
        inner = inner[0].calls
    return tracer


def wide_table(n):
    table = MethodTable("wide")
    for i in range(n):
        table.overlay(f"nowhere_at_all:f{i}")(later)
    return table


def long_ir(n):
    scope = {}
    exec("def f(x):\n" + "    x = x + 1\n" * n + "    return x\n", scope)
    return ir.read(scope["f"])


def noted(n):
    printed = Printed()
    printed.calls += [PrintedCall(f"{i}\n", "file.py:1") for i in range(n)]
    return printed


LARGE = {
    "tracer": lambda n: trace(many, n),
    "deep": deep,
    "table": wide_table,
    "context": lambda n: Context(wide_table(n)),
    "printed": noted,
    "ir": long_ir,
}


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_large_objects_are_cut_and_say_how_much_is_left_out(make):
    small, large, larger = (make(n)._repr_html_() for n in (3, 700, 800))
    assert "more" not in shown_text(small)
    left = [sum(map(int, re.findall(r"and (\d+) more", shown_text(x)))) for x in (large, larger)]
    per_item = {100, 200, 300}
    assert left[1] - left[0] in per_item
    assert len(larger) < len(large) + 500
    assert len(larger) < 250_000


def shown_text(html):
    return Checked(html).text


def test_values_of_a_program_are_cut():
    html = markup.shown_value(["<b>" * 100] * 100)
    assert len(html) < 2000
    assert "<b>" not in html


def test_a_tracer_shows_the_tree_of_calls_with_what_they_gave():
    html = Checked(trace(many, 2)._repr_html_())
    assert "many(2) -> [0, 2]" in html.text
    assert html.text.count("doubled(") == 2
    assert "details" in html.names


# ---- what interpretations have recorded ----------------------------------------------------------


def failing(x):
    return x.uper()


def checked():
    checker = CheckerPlugin()
    with pytest.warns(OverlayWarning):
        Context(plugins=(checker,))(lambda ask, x: failing(x) if ask else x, False, "a")
    return checker


def mocked():
    mocks = Mocks()
    mocks.spy(math.sin)
    mocks(lambda: math.sin(1.0) + math.sin(2.0))
    mocks.replace(math.cos, return_value=1.0)
    return mocks


def found_nan():
    finder = NaNFinder()
    with pytest.raises(FirstNaN):
        finder(lambda x: x - x, math.inf)
    return finder


def tagged():
    tagging = Tagging()
    tagging.tag([1.0], "m")
    return tagging


RECORDED = [
    (lambda: Tracer(), "<plugin Tracer: 0 calls>"),
    (lambda: trace(many, 3), "<plugin Tracer: 5 calls>"),
    (lambda: Profiler(), "<plugin Profiler: 0 calls in 0 rows>"),
    (lambda: profile(many, 3), "<plugin Profiler: 5 calls in 3 rows>"),
    (checked, "<plugin CheckerPlugin: 1 finding>"),
    (lambda: Tagging(), "<plugin Tagging>"),
    (tagged, "<plugin Tagging: 1 object with metadata>"),
    (mocked, "<Mocks 2 calls of math.sin, math.cos>"),
    (lambda: NaNFinder(infinities=False), "<NaNFinder of NaN: found nothing>"),
    (found_nan, "<NaNFinder of NaN and infinities: found operator.sub(inf, inf) made nan>"),
]


@pytest.mark.parametrize(("make", "text"), RECORDED, ids=[text for _, text in RECORDED])
def test_interpretations_tell_what_they_have_recorded(make, text):
    thing = make()
    assert repr(thing) == text
    facts = text.strip("<>").partition(": ")[2] or "2 calls" * ("Mocks" in text)
    for word in facts.replace("found op", "op").split(": "):
        assert word in Checked(thing._repr_html_()).text


class Own:
    shown = 0

    def __repr__(self):
        Own.shown += 1
        return "<i>own"


@pytest.mark.parametrize("tool", [trace, profile])
def test_views_of_runs_do_not_ask_the_values_of_the_program_again(tool):
    found = tool(doubled_first, [Own()])
    before = Own.shown
    html = Checked(found._repr_html_())
    repr(found)
    assert Own.shown == before
    assert "i" not in html.names


def doubled_first(values):
    return values[0], len(values)
