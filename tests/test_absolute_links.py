"""The links of a page that a package index shows."""

import pytest

from scripts.absolute_links import absolute_links

BLOB, RAW = "https://example.org/overlay/blob/v1.2.0", "https://example.org/overlay/raw/v1.2.0"


def absolute(text: str) -> str:
    return absolute_links(text, "https://example.org/overlay", "v1.2.0")


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ("[a](docs/a.md)", f"[a]({BLOB}/docs/a.md)"),
        ("[a](docs/a.md#part-2)", f"[a]({BLOB}/docs/a.md#part-2)"),
        ("[a](#part)", f"[a]({BLOB}/README.md#part)"),
        ("[a]( <docs/a b.md> 'title' )", f"[a]( <{BLOB}/docs/a b.md> 'title' )"),
        ('[`a`](docs/a.md "title")', f'[`a`]({BLOB}/docs/a.md "title")'),
        (
            "[of two\nlines](docs/a.md) [b](b.md)",
            f"[of two\nlines]({BLOB}/docs/a.md) [b]({BLOB}/b.md)",
        ),
        ("![a picture](docs/a.svg)", f"![a picture]({RAW}/docs/a.svg)"),
        ("[![a](docs/a.png)](docs/a.md)", f"[![a]({RAW}/docs/a.png)]({BLOB}/docs/a.md)"),
        ("![a [b](c.md)](d.png)", f"![a [b](c.md)]({RAW}/d.png)"),
        ("> - [a](a.md)\n>   [b](b.md)", f"> - [a]({BLOB}/a.md)\n>   [b]({BLOB}/b.md)"),
        (
            "| a |\n| - |\n| `[b](b.md)` [b](b.md) |",
            f"| a |\n| - |\n| `[b](b.md)` [b]({BLOB}/b.md) |",
        ),
        ("[a][one], [one]\n\n[one]: docs/a.md#x", f"[a][one], [one]\n\n[one]: {BLOB}/docs/a.md#x"),
        (
            "![a][one]\n\n[one]:\n  <docs/a.png> 'x'",
            f"![a][one]\n\n[one]:\n  <{RAW}/docs/a.png> 'x'",
        ),
        (
            "# [a](a.md)\n\n`[a](a.md)` [a](a.md)",
            f"# [a]({BLOB}/a.md)\n\n`[a](a.md)` [a]({BLOB}/a.md)",
        ),
    ],
)
def test_a_relative_link_leads_to_the_version_in_the_repository(written, made):
    assert absolute(written) == made
    assert absolute(made) == made


@pytest.mark.parametrize(
    "text",
    [
        "```\n[a](docs/a.md)\n```\n",
        "    [a](docs/a.md)\n",
        "`[a](docs/a.md)` and ``[b]: docs/b.md``\n",
        "\\[a](docs/a.md) [a] (docs/a.md) [a]\n",
        "[a](https://example.com/a.md), <https://example.com>, [b](mailto:a@example.com)\n",
        "[a](//example.com/a.md)\n\n[b]: https://example.com/b.md\n\n[b]\n",
        "<!-- [a](docs/a.md) -->\n",
    ],
)
def test_code_absolute_addresses_and_what_is_no_link_stay(text):
    assert absolute(text) == text


@pytest.mark.parametrize("html", ['<img src="docs/a.png">', 'A <a href="docs/a.md">page</a>.'])
def test_a_link_in_html_is_refused_with_its_line(html):
    with pytest.raises(ValueError, match=r"line 3: a link in HTML, .*: write it in Markdown"):
        absolute(f"# A page\n\n{html}\n")


def test_a_link_whose_place_is_not_known_is_refused_with_its_line():
    with pytest.raises(ValueError, match=r"line 3: the links in .* cannot be placed"):
        absolute("| a |\n| - |\n| a \\| [b](b.md) |\n")
