"""Checks a built site: each link that stays in it leads to a file and an anchor that exist, and
each picture has an alternative text. Links to other sites are not followed.
"""

import argparse
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """The anchors of a page, what its links lead to, and its pictures without a description."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors = {"", "top"}  # the top of a page
        self.links: list[str] = []
        self.undescribed: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors.update(value for key in ("id", "name") if (value := given.get(key)))
        self.links += [value for key in ("href", "src") if (value := given.get(key))]
        source = given.get("src") or ""
        said = (given.get("alt") or "").strip()
        if tag == "img" and (not said or Path(source).name.endswith(Path(said).name)):
            self.undescribed.append(source)


def faults(site: Path) -> Iterator[str]:
    """Each broken link of a site and each picture whose alternative text is missing or is the name
    of its file, with the page where it is."""
    pages = {path.resolve(): _Page(path.read_text()) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not there.is_file():
                yield f"{where}: no file for the link {link}"
            elif there in pages and unquote(parts.fragment) not in pages[there].anchors:
                yield f"{where}: no anchor for the link {link}"
        yield from (f"{where}: no alternative text of {source}" for source in page.undescribed)


def main() -> None:
    """Print the faults of a site; the exit status says whether there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path, help="the folder of the built pages")
    given = parser.parse_args()
    if not any(given.site.rglob("*.html")):
        parser.error(f"no pages in {given.site}: build them with 'make docs'")
    found = list(faults(given.site))
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
