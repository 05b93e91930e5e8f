"""The page of inverse problems shows the current gallery."""

import json
import re

import pytest

from scripts import inverse_problems
from scripts.galleries import anchor, same_output
from scripts.inverse_problems import FOLDER, GALLERY, KEPT

KEPT_ROWS = json.loads(KEPT.read_text())
NAMES = inverse_problems.names()
LONG = {"srgb_gamma", "normalising_flow"}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.long] * (n in LONG)) for n in NAMES]
)
def test_a_problem_has_the_answers_and_the_output_of_the_page(name):
    module, printed, _ = inverse_problems.ran(name)
    assert len(module["answers"]) == KEPT_ROWS[name]["answers"]
    assert all(module["holds"](*answer) for answer in module["answers"])
    assert same_output(printed, KEPT_ROWS[name]["printed"])


def test_the_page_is_made_of_the_files_and_of_what_was_measured():
    assert list(KEPT_ROWS) == NAMES
    assert GALLERY.page.read_text() == inverse_problems.page(KEPT_ROWS, GALLERY.alternatives())
    for name in NAMES:
        assert list(KEPT_ROWS[name]["peers"]) == inverse_problems.peers_of(name), name


def test_every_problem_says_its_field_what_it_shows_its_source_and_its_question():
    for name in NAMES:
        said = inverse_problems.described(name)
        assert set(said) == {"title", *GALLERY.fields}, name
        assert 20 <= len(inverse_problems.source(name).splitlines()) <= 62, name
    assert len(NAMES) >= 20
    assert len({inverse_problems.described(name)["Field"] for name in NAMES}) >= 15


def test_every_picture_is_there_and_has_an_alternative_text():
    said = GALLERY.alternatives()
    assert {path.stem for path in GALLERY.pictures.glob("*.svg")} == set(said)
    assert all(len(text) > 40 for text in said.values())


def test_what_peers_need_stands_beside_a_problem():
    assert {path.stem for path in (FOLDER / "peers").glob("*.py")} <= set(NAMES)


def test_links_of_the_overviews_lead_to_headings():
    text = GALLERY.page.read_text()
    headings = [anchor(t) for t in re.findall(r"^## (.+)$", text, re.MULTILINE)]
    assert re.findall(r"^\| \[[^!].*?\]\(#([\w-]+)\)", text, re.MULTILINE) == headings
    pictured = {path.stem for path in GALLERY.pictures.glob("*.svg")}
    links = re.findall(
        r"\[!\[.*?\]\(inverse_problems/pictures/(\w+)\.svg\).*?\]\(#([\w-]+)\)", text
    )
    assert {name for name, _ in links} == pictured
    assert {link for _, link in links} <= set(headings)


@pytest.mark.parametrize(
    ("printed", "same"),
    [
        ("x = 1.00000001 a", True),
        ("x = 1.1 a", False),
        ("x = 1 b", False),
        ("x = 1 a 2", False),
    ],
)
def test_outputs_are_compared_word_by_word_and_numbers_to_a_tolerance(printed, same):
    assert same_output(printed, "x = 1 a") is same


def test_lines_of_code_are_counted_without_imports_comments_and_docstrings():
    text = '"""Said."""\nimport g\n\n#\ndef f(x):\n    """It."""\n    return g(\n     x\n    )\n'
    assert inverse_problems.code_lines(text) == 4


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([(1,), (2,)], "all 2"),
        ([(2,), (2,)], "1 of 2"),
        ([(1,), (5,)], "1 of 2, 1 wrong"),
        ([(3,)], "another answer"),
        ([(5,)], "none, 1 wrong"),
        ([], "no answer"),
    ],
)
def test_the_answers_of_a_peer_are_checked_by_the_program(found, said):
    module = {"answers": [(1,), (2,)], "holds": lambda x: x < 4}
    assert inverse_problems.verdict(module, found) == said
