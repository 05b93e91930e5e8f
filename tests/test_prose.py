"""The pages read easily: short sentences, plain words, and one name for one thing.

The names are those of ``docs/glossary.md``. Code, headings and addresses of links do not count.
"""

import ast
import functools
import inspect
import json
import pkgutil
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GLOSSARY = DOCS / "glossary.md"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MOST_WORDS = 35  # of a sentence
MOST_TERMS = 15  # of the glossary in a page that does not link to it

ODD = {
    "begins with its object, or with a vague subject": (
        r"^(What|Whatever|Which|Whose|The same|Such as|Looked|Told|Asked|Said|Nor"
        r"|So (do|does|is|are)|Of (a|an|the|two|these|those|what|which|all)"
        r"|Not (seen|so))\b(?!.*\?$)"
    ),
    "has an idiom": (
        r"\b(whose|wish|wishes|anew|goes on|go on|let be|told|tells of|knows of"
        r"|looked at|looked for|such as come|of its own|of their own|of one's own|what holds"
        r"|knows nothing|know nothing|comes to end|as it was|as they were|all the same|nothing of"
        r"|in force of|stands in|stand in|stands on|stand on|stands for|stand for|stands beside"
        r"|by itself|by themselves|handed|tells?|nobody|mended|foretell|gets there"
        r"|is meant|are meant|by its name alone|(?<!here )(is|are) no(?! longer))\b"
    ),
}
ENDS = r"(?<=[.?!])[\"')]? (?=[^a-z\s]|num|plum|dask|pytest|lib)"


# ---- reading a page ---------------------------------------------------------------------------


def markdown(path: Path) -> str:
    """The text of a page, or of the prose cells of a notebook."""
    if path.suffix != ".ipynb":
        return path.read_text()
    cells = json.loads(path.read_text())["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def without_code(text: str) -> str:
    text = re.sub(r"^( *)(`{3,}|~{3,})[\s\S]*?^\1\2 *$", "\n", text, flags=re.MULTILINE)
    return re.sub(r"<!--[\s\S]*?-->", "\n", text)


def plain(text: str) -> str:
    """A paragraph as it is read: links without addresses, code as one word."""
    text = re.sub(r"<[^>]+>|!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"``[^`]+``|`[^`]+`|\$[^$]+\$", "CODE", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}", "", " ".join(text.split()))


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs, items of lists and cells of tables of a page."""
    text = re.sub(r"^ *([-*]|\d+\.) +", "\n", without_code(text), flags=re.MULTILINE)
    for block in re.split(r"\n\s*\n|\n(?=[|#])", text):
        if block.startswith("|"):
            yield from map(plain, re.split(r"(?<!\\)\|", block))
        elif block.strip() and not block.startswith("#"):
            yield plain(block)


def prose(path: Path) -> str:
    """The text of a page without the table of relations, which is made of equations."""
    text = markdown(path)
    return text.partition("\n| Function |")[0] if path.name == "relations.md" else text


def sentences(path: Path) -> Iterator[str]:
    for paragraph in paragraphs(prose(path)):
        yield from re.split(ENDS, paragraph)


@functools.cache
def words_of(path: Path) -> str:
    headings = re.findall(r"^#+ (.+)$", without_code(markdown(path)), flags=re.MULTILINE)
    return "\n".join([*paragraphs(markdown(path)), *map(plain, headings)])


# ---- sentences --------------------------------------------------------------------------------


def complaints(sentence: str) -> Iterator[str]:
    words = len(re.findall(r"[\w'.-]*\w[\w'.-]*", sentence))
    if words > MOST_WORDS:
        yield f"{words} words: {sentence}"
    for kind, pattern in ODD.items():
        yield from (f"{kind} ({m[0]}): {sentence}" for m in re.finditer(pattern, sentence))


@pytest.mark.parametrize("path", [*PAGES, *NOTEBOOKS], ids=lambda path: path.name)
def test_sentences_are_short_and_plain(path):
    found = [each for sentence in sentences(path) for each in complaints(sentence)]
    assert found == [], "\n".join(found)


@pytest.mark.parametrize(
    ("sentence", "found"),
    [
        ("A table holds methods.", 0),
        ("Which table is asked first?", 0),
        ("There is no such table, and there are no others.", 0),
        ("Which table is asked first, the context says.", 1),
        ("Of the tables, the last one is told of it.", 2),
        ("What a class whose methods are made anew does is no matter.", 4),
        (f"{'word ' * 36}.", 1),
    ],
)
def test_odd_sentences_are_noticed(sentence, found):
    assert len(list(complaints(sentence))) == found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_begins_with_a_paragraph_that_says_what_it_is_for(path):
    title, first = re.split(r"\n\s*\n", path.read_text())[:2]
    assert title.startswith("# ")
    assert first[0].isalpha() or first.startswith("`")
    assert len(first.split()) >= 8


# ---- links ------------------------------------------------------------------------------------


@functools.cache
def anchors(path: Path) -> frozenset[str]:
    """The anchors of the headings of a page, and those that are written out."""
    text = without_code(markdown(path))
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    shown = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", each).lower() for each in headings)
    made = (re.sub(r"[^\w\- ]", "", each).strip().replace(" ", "-") for each in shown)
    return frozenset({*made, *re.findall(r'<a id="([\w-]+)">', text)})


@pytest.mark.parametrize("path", [*PAGES, *NOTEBOOKS], ids=lambda path: path.name)
def test_links_lead_to_pages_and_headings_that_exist(path):
    broken = []
    text = re.sub(r"`[^`]+`(?!\])", "", without_code(markdown(path)))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if ":" in link:
            continue
        name, _, anchor = link.partition("#")
        to = (path.parent / name).resolve() if name else path
        if not to.exists() or (anchor and to.suffix == ".md" and anchor not in anchors(to)):
            broken.append(link)
    assert broken == []


# ---- terms ------------------------------------------------------------------------------------


class Term(NamedTuple):
    names: list[str]
    meaning: str
    not_called: list[str]


def glossary() -> list[Term]:
    rows = re.findall(r"^\| (.+?) \| (.+?) \|(.*)\|$", GLOSSARY.read_text(), flags=re.MULTILINE)
    cells = [[cell.strip() for cell in row] for row in rows if row[0] not in ("Term", "---")]
    return [
        Term(names.split(", "), meaning, [each for each in others.split(", ") if each])
        for names, meaning, others in cells
    ]


TERMS = glossary()
SYNONYMS = sorted({name for term in TERMS for name in term.not_called})
OTHER_PAGES = [path for path in [*PAGES, *NOTEBOOKS] if path != GLOSSARY]


def mentioned(names: Iterable[str], text: str) -> set[str]:
    """The names that occur in a text, in the singular or plural."""
    either = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    found = re.findall(rf"(?<!\w)({either})(?:s|es)?(?!\w)", text, re.IGNORECASE)
    return {name.lower() for name in found}


def test_the_glossary_has_each_term_once_in_one_short_sentence():
    names = [name for term in TERMS for name in term.names]
    assert len(TERMS) > 70
    assert sorted(set(names)) == sorted(names)
    assert set(names).isdisjoint(SYNONYMS)
    assert len(SYNONYMS) > 40
    assert [term for term in TERMS if len(term.meaning.split()) > 25] == []


def test_each_term_is_used_on_another_page():
    pages = "\n".join(map(words_of, OTHER_PAGES))
    names = [name for term in TERMS for name in term.names]
    assert [name for name in names if not mentioned([name], pages)] == []


@pytest.mark.parametrize("path", OTHER_PAGES, ids=lambda path: path.name)
def test_a_page_uses_the_names_of_the_glossary_and_links_to_it(path):
    text = words_of(path)
    assert mentioned(SYNONYMS, text) == set()
    used = mentioned([name for term in TERMS for name in term.names], text)
    if path.suffix == ".md" and len(used) > MOST_TERMS:
        assert "glossary.md" in path.read_text()


def public_docstrings() -> Iterator[tuple[str, str]]:
    for name in (ROOT / "tests" / "public_names.txt").read_text().split():
        yield name, inspect.getdoc(pkgutil.resolve_name(name)) or ""


def error_messages() -> Iterator[tuple[str, str]]:
    for package in ("overlay", "primitives", "inversion"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Raise):
                    texts = (
                        each.value for each in ast.walk(node) if isinstance(each, ast.Constant)
                    )
                    yield from ((str(path), text) for text in texts if isinstance(text, str))


@pytest.mark.parametrize("texts", [public_docstrings, error_messages])
def test_code_uses_the_names_of_the_glossary(texts):
    found = {where: names for where, text in texts() if (names := mentioned(SYNONYMS, text))}
    assert found == {}
