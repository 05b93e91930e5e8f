"""Links of a Markdown page, made absolute: a package index shows the README without the files."""

import mimetypes
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, image, link

InlineRule = Callable[[StateInline, bool], bool]


def absolute_links(text: str, repository: str, tag: str, name: str = "README.md") -> str:
    """Return a page with the relative addresses of its links and pictures made absolute.

    ``repository`` is the address of the repository, ``tag`` that of the version in it, and
    ``name`` the page's own path there. Pictures lead to the raw file, all else to its page. Code
    and absolute addresses stay. Raises ValueError, with the line, for a link that cannot be made
    absolute: one in HTML, for example.
    """
    edits = [
        (place, _prefix(address, repository, tag, name))
        for place, address in _addresses(text)
        if not urlsplit(address).scheme and not address.startswith("//")
    ]
    for place, prefix in sorted(edits, reverse=True):
        place += text[place] == "<"
        text = text[:place] + prefix + text[place:]
    return text


def _prefix(address: str, repository: str, tag: str, name: str) -> str:
    path = urlsplit(address).path
    picture = (mimetypes.guess_type(path)[0] or "").startswith("image/")
    return f"{repository}/{'raw' if picture else 'blob'}/{tag}/{'' if path else name}"


def _addresses(text: str) -> list[tuple[int, str]]:
    """The place and the address of each link, picture and definition of a reference."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    markdown, noted = _noting()
    env: dict[str, Any] = {}
    found, at = [], 0
    for token in markdown.parse(text, env):
        if token.type == "html_block":
            _refuse_html(token.content, token.map[0] if token.map else 0)
        if token.type != "inline" or not token.map:
            continue
        first, last = token.map
        at, end = max(at, starts[first]), starts[last]
        noted.clear()
        children: list[Any] = []
        markdown.inline.parse(token.content, markdown, env, children)
        for child in children:
            if child.type == "html_inline":
                _refuse_html(child.content, first)
        within = {place: address for whole, place, address in noted if whole == token.content}
        passed = 0
        for line in token.content.split("\n"):  # each stands in the text as it is
            here = {p - passed: a for p, a in within.items() if 0 <= p - passed < len(line)}
            place = text.find(line, at, end)
            if place >= 0:
                found += [(place + p, address) for p, address in here.items()]
                at = place + len(line)
            elif here:
                raise ValueError(f"line {first + 1}: the links in {line!r} cannot be placed")
            passed += len(line) + 1
    for definition in env.get("references", {}).values():
        first, last = definition["map"]
        place = text.index("]:", starts[first], starts[last]) + 2
        place += len(text[place:]) - len(text[place:].lstrip())
        there = markdown.helpers.parseLinkDestination(text, place, len(text))
        if markdown.normalizeLink(there.str) != definition["href"]:
            raise ValueError(f"line {first + 1}: the address of a definition cannot be placed")
        found.append((place, there.str))
    return found


def _noting() -> tuple[MarkdownIt, list[tuple[str, int, str]]]:
    """A parser that leaves inline text to its caller; and a list to which it adds, for each link
    that has an address, the text, the place of the address, and the address."""
    noted: list[tuple[str, int, str]] = []

    def noting(rule: InlineRule, opening: int) -> InlineRule:
        def noting_rule(state: StateInline, silent: bool) -> bool:
            start = state.pos
            if not rule(state, silent):
                return False
            if not silent:
                bracket = start + opening - 1
                end = state.md.helpers.parseLinkLabel(state, bracket, opening == 1) + 1
                if end < state.pos and state.src[end] == "(":
                    end += 1
                    end += len(state.src[end:]) - len(state.src[end:].lstrip())
                    there = state.md.helpers.parseLinkDestination(state.src, end, state.posMax)
                    noted.append((state.src, end, there.str))
            return True

        return noting_rule

    markdown = MarkdownIt("commonmark").enable("table").disable("inline")
    markdown.inline.ruler.at("link", noting(link, 1))
    markdown.inline.ruler.at("image", noting(image, 2))
    return markdown, noted


def _refuse_html(html: str, line: int) -> None:
    if "src=" in html or "href=" in html:
        raise ValueError(f"line {line + 1}: a link in HTML, {html.strip()!r}: write it in Markdown")
