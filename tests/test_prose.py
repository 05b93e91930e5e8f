"""The pages read easily: short sentences, plain words, one name for one thing."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MOST_WORDS = 35

# Ways to write that have to be read twice, or that belong to no field.
ODD = {
    "a sentence begins with its object or with a vague subject": (
        r"^(What|Whatever|Which|Whose|The same|Such as|Looked|Told|Asked|Said|Nor|So do|So does"
        r"|So is|So are|Of (a|an|the|two|these|those|what|which|all)|Not (seen|so))\b(?!.*\?$)"
    ),
    "idiom": (
        r"\b(whose|wish|wishes|anew|goes on|go on|let be|is told|are told|tells of|told of|told"
        r"|looked at|looked for|looks no|such as come|of its own|of their own|of one's own"
        r"|what holds|knows nothing|know nothing|comes to end|as it was|as they were|all the same"
        r"|nothing of|in force of|stands in|stand in|stands on|stand on|stands for|stand for"
        r"|stands beside|by hand of|is meant|are meant|by its name alone|(?<!here )is no(?! longer)|(?<!here )are no(?! longer)|knows of)\b"
    ),
}


def markdown(path: Path) -> str:
    """The text of a page, or of the prose cells of a notebook."""
    if path.suffix != ".ipynb":
        return path.read_text()
    cells = json.loads(path.read_text())["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def plain(text: str) -> str:
    """A paragraph as it is read: links without addresses, code and formulas as one word each."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"``[^`]+``|`[^`]+`|\$[^$]+\$", "CODE", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}", "", " ".join(text.split()))


def paragraphs(text: str) -> Iterator[str]:
    """The paragraphs, items of lists and cells of tables of a page; its headings and code are left out."""
    text = re.sub(r"^( *)(`{3,}|~{3,})[\s\S]*?^\1\2 *$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"<!--[\s\S]*?-->", "\n", text)
    text = re.sub(r"^ *([-*]|\d+\.) +", "\n", text, flags=re.MULTILINE)
    for block in re.split(r"\n\s*\n|\n(?=[|#])", text):
        if block.startswith("|"):
            yield from map(plain, re.split(r"(?<!\\)\|", block))
        elif block.strip() and not block.startswith("#"):
            yield plain(block)


def sentences(text: str) -> Iterator[str]:
    for paragraph in paragraphs(text):
        yield from re.split(r"(?<=[.?!])[\"')]? (?=[^a-z\s]|num|plum|dask|pytest|lib)", paragraph)


@pytest.mark.parametrize("path", [*PAGES, *NOTEBOOKS], ids=lambda p: p.name)
def test_sentences_are_short_and_plain(path):
    found = []
    for sentence in sentences(markdown(path)):
        if (words := len(re.findall(r"[\w’'.-]*\w[\w’'.-]*", sentence))) > MOST_WORDS:
            found.append(f"{words} words: {sentence}")
        for kind, pattern in ODD.items():
            found += [f"{kind} ({m[0]}): {sentence}" for m in re.finditer(pattern, sentence)]
    assert not found, "\n" + "\n".join(found)
