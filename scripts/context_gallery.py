"""Runs the gallery of contexts, and writes the page that shows it.

A program is a file in ``docs/gallery``, for a common use of contextual dispatch. Its output is
equal in every run, and a test compares it with the page.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from scripts.galleries import Gallery, anchor

FOLDER = Path(__file__).parents[1] / "docs" / "gallery"
KEPT = FOLDER / "printed.json"
GALLERY = Gallery(
    FOLDER, ("Kind", "Shows", "Tests"), Path(__file__).with_name("context_gallery_pictures.py")
)
RUN_BY = (
    "[test_a_program_prints_what_its_page_shows](../tests/overlay/interpretations/test_gallery.py)"
)


def page(kept: dict[str, str]) -> str:
    """The page: an overview of the pictures, and each program with its output and picture."""
    return "\n".join(_written(kept)) + "\n"


def _written(kept: dict[str, str]) -> Iterator[str]:
    alternatives = GALLERY.alternatives()
    kinds = {name: GALLERY.described(name)["Kind"] for name in GALLERY.names()}
    yield _BEGINNING.format(count=len(kinds))
    yield GALLERY.overview().rstrip()
    of_kind = {kind: [n for n in kinds if kinds[n] == kind] for kind in kinds.values()}
    for kind, names in of_kind.items():
        yield f"\n## {kind[0].upper()}{kind[1:]}"
        for name in names:
            said = GALLERY.described(name)
            yield f"\n### {said['title']}\n"
            shows = f"{said['Shows'][0].upper()}{said['Shows'][1:]}."
            yield f"*{shows}* [{name}.py](gallery/{name}.py)\n"
            yield GALLERY.shown(name, kept[name], alternatives.get(name)).rstrip()
        yield "\n<details><summary>Tests of these programs</summary>\n"
        yield "| Program | Tests |\n| --- | --- |"
        for name in names:
            said = GALLERY.described(name)
            tests = ", ".join(links(said.get("Tests", "")) or [RUN_BY])
            yield f"| [{said['title']}](#{anchor(said['title'])}) | {tests} |"
        yield "\n</details>"


def links(tests: str) -> list[str]:
    """A link for each test that a program names as further ones."""
    found = re.findall(r"(tests/[\w/]+\.py): (\w+)", tests)
    return [f"[{name}](../{path})" for path, name in found]


_BEGINNING = """# Gallery

For readers who look for a program to start from: {count} programs for common uses of contextual
dispatch, in this and in other languages. Each is a standalone file in [docs/gallery](gallery). A
[test](../tests/overlay/interpretations/test_gallery.py) compares its output with this page, and a
table below each kind names further tests. The [glossary](glossary.md) defines the terms.
`make gallery` runs the programs, draws the pictures and writes the page.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all programs, or those named; draw the pictures, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", help="all, where none is named")
    parser.add_argument("--page", action="store_true", help="of what is kept, with nothing run")
    given = parser.parse_args(arguments)
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    if not given.page:
        from scripts import context_gallery_pictures as pictures

        for name in given.programs or GALLERY.names():
            ran = GALLERY.ran(name)
            kept[name] = ran.printed
            GALLERY.draw(name, ran.names, pictures)
            print(name, flush=True)
        kept = {name: kept[name] for name in GALLERY.names() if name in kept}
        KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    missing = [name for name in GALLERY.names() if name not in kept]
    if missing:
        sys.exit(f"no page: never run were {', '.join(missing)}")
    GALLERY.page.write_text(page(kept))


if __name__ == "__main__":
    main()
