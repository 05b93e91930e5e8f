"""The gallery of contexts is what its page shows."""

import json
import re
import subprocess
import sys

import pytest

from overlay import current_context
from scripts import context_gallery
from scripts.context_gallery import GALLERY, KEPT
from scripts.galleries import anchor, same_output

PRINTED = json.loads(KEPT.read_text())
NAMES = GALLERY.names()


@pytest.mark.parametrize("name", NAMES)
def test_a_program_prints_what_its_page_shows(name):
    assert same_output(GALLERY.ran(name).printed, PRINTED[name])
    assert current_context() is None
    assert name not in sys.modules


@pytest.mark.parametrize("name", [n for n in NAMES if re.search(r"jit|compil", GALLERY.source(n))])
def test_a_program_that_compiles_prints_the_same_as_a_script(name):
    """The compiler imports the module of a function: a program that is run by name runs twice."""
    command = [sys.executable, GALLERY.folder / f"{name}.py"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert same_output(done.stdout, PRINTED[name])


def test_the_page_is_made_of_the_files_and_of_what_they_print():
    assert list(PRINTED) == NAMES
    assert GALLERY.page.read_text() == context_gallery.page(PRINTED)


def test_every_program_is_short_and_says_what_it_shows():
    for name in NAMES:
        said = GALLERY.described(name)
        assert {"title", "Kind", "Shows"} <= set(said) <= {"title", *GALLERY.fields}, name
        code = GALLERY.source(name).split('"""\n', 1)[1].strip()
        assert 10 <= len(code.splitlines()) <= 42, name
        assert PRINTED[name].strip(), name
    assert len(NAMES) >= 35


def test_every_picture_is_there_and_has_an_alternative_text():
    said = GALLERY.alternatives()
    assert {path.stem for path in GALLERY.pictures.glob("*.svg")} == set(said)
    assert all(len(text) > 40 for text in said.values())


def test_links_of_the_overview_and_of_the_tables_lead_to_headings():
    text = GALLERY.page.read_text()
    headings = [anchor(title) for title in re.findall(r"^### (.+)$", text, re.MULTILINE)]
    assert re.findall(r"^\| \[[^!].*?\]\(#([\w-]+)\)", text, re.MULTILINE) == headings
    links = re.findall(r"\[!\[.*?\]\(gallery/pictures/(\w+)\.svg\).*?\]\(#([\w-]+)\)", text)
    assert {name for name, _ in links} == {path.stem for path in GALLERY.pictures.glob("*.svg")}
    assert {link for _, link in links} <= set(headings)
    assert text.index("| [!") < text.index("## ") < text.index("| Program | Tests |")
    assert text.count("<details>") == text.count("| Program | Tests |")
