"""The HTML of inverses, plans and parameter spaces in a notebook, and their drawings."""

import math
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inversion import invert
from inversion.tools.layers import drawn
from tests.examples import examples

SVG = "{http://www.w3.org/2000/svg}"


def height(a: float, b: float):
    return math.sin(a) + 0.5 * math.sin(a + b)


def tax(income: float):
    if income > 10_000:
        return 1_000 + 0.3 * (income - 10_000)
    return 0.1 * income


def halved(x: float):
    for _ in range(30):
        x = x / 2 + 1.0
    return x


def rooted(x: float):
    return x * math.exp(x)


@pytest.mark.parametrize("f", [height, tax, halved, rooted])
def test_every_view_is_well_formed_and_needs_no_script(f):
    inverse = invert(f)
    for thing in (inverse, inverse.program, inverse.origin, inverse.parameters):
        read = ET.fromstring(thing._repr_html_().replace("<details open>", "<details>"))
        assert {"script", SVG + "script"}.isdisjoint(node.tag for node in read.iter())


def test_an_inverse_shows_both_directions_and_marks_the_choices():
    html = invert(height)._repr_html_()
    text = " ".join(ET.fromstring(html).itertext())
    assert text.index("forward") < text.index("backwards")
    for name in invert(height).parameters.names:
        assert f'o-orange">θ.{name}<' in html


def test_the_arms_of_a_branch_and_lines_inside_are_shown():
    text = "".join(ET.fromstring(invert(tax)._repr_html_()).itertext())
    assert "then:" in text
    assert "else:" in text
    assert text.count("test_html.py:23") >= 2


def texts(svg):
    return [node.text for node in ET.fromstring(svg).iter(SVG + "text")]


def test_a_dataflow_has_each_input_statement_and_result():
    program = invert(height).origin
    statements = list(map(str, program.statements))
    assert texts(program.svg) == ["a", "b", *statements, f"return = {program.result}"]


def test_a_drawn_plan_has_the_known_the_chosen_each_step_and_the_answers():
    plan = invert(height).program
    found = texts(plan.svg)
    assert found[0].startswith("return = ")
    assert found[-2:] == ["a", "b"]
    assert {f"θ.{name}" for name in plan.parameters.names} <= set(found)
    classes = [node.get("class") for node in ET.fromstring(plan.svg).iter(SVG + "g")]
    assert classes.count("o-node o-chosen") == len(plan.parameters)
    assert classes.count("o-node o-step") == len(plan.steps)


def test_constants_as_results_and_arguments_of_no_use_are_drawn():
    inverse = invert(lambda x: 3.0, float)
    assert "return = 3.0" in texts(inverse.origin.svg)
    assert texts(inverse.program.svg)[-1] == "x"


edges = st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)), max_size=40).map(
    lambda pairs: sorted({(min(p), max(p)) for p in pairs if p[0] != p[1]})
)


@settings(max_examples=examples(50))
@given(st.lists(st.floats(10, 200), min_size=15, max_size=15), edges)
def test_nodes_do_not_overlap_and_edges_go_down(widths, edges):
    sizes = {i: (width, 20.0) for i, width in enumerate(widths)}
    picture = drawn(sizes, edges)
    rows = {}
    for node, (x, y) in picture.places.items():
        left, right = x - widths[node] / 2, x + widths[node] / 2
        assert left >= -1e-6
        assert right <= picture.width + 1e-6
        assert 10 <= y <= picture.height - 10
        rows.setdefault(y, []).append((left, right))
    for row in rows.values():
        assert all(a[1] < b[0] for a, b in pairwise(sorted(row)))
    for (first, last), way in zip(edges, picture.ways, strict=True):
        assert all(a[1] < b[1] for a, b in pairwise(way))
        assert (way[0][0], way[-1][0]) == (picture.places[first][0], picture.places[last][0])


def test_a_chain_is_drawn_straight():
    picture = drawn({i: (10.0 * i + 5, 20.0) for i in range(6)}, [(i, i + 1) for i in range(5)])
    assert len({round(x, 6) for x, _ in picture.places.values()}) == 1
    assert drawn({}, []).height == 0.0
