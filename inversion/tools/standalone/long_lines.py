"""Long lines of a module's source, wrapped: for readers; the module means the same."""

from __future__ import annotations

import ast
import io
import textwrap
import tokenize
from collections.abc import Sequence

__all__ = ["wrapped_source"]

_OPENING, _CLOSING = "([{", ")]}"
_BEFORE = {"for", "if", "else", "and", "or", "in", "+", "-", "*", "/", "|", "&", "%", "//"}
"""Tokens before which a line is broken where it has no comma."""


def wrapped_source(text: str, width: int = 100) -> str:
    """The source with lines of at most ``width`` characters where Python allows for it.

    Lines are broken at commas in brackets, or else before operators; comments behind a long line
    come to stand above it. Text without a place to break, such as a long string, stays as it is.
    """
    made, within = list[str](), _docstrings(text)
    of_line: dict[int, list[tokenize.TokenInfo]] = {}
    for token in _tokens(text):
        of_line.setdefault(token.start[0], []).append(token)
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) <= width or (number not in of_line and number not in within):
            made.append(line)  # the latter: of a text of several lines
        elif number in within:
            made += _paragraph(line.strip(), _indent(line), width)
        else:
            made += _wrapped(line, of_line[number], width)
    found = "\n".join(made) + "\n" * text.endswith("\n")
    return found if _meaning(found) == _meaning(text) else text


def _docstrings(text: str) -> set[int]:
    """The numbers of the lines of docstrings."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _tokens(text: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def _meaning(text: str) -> str:
    """The tree of a source, without docstrings, whose lines may be broken anywhere."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value = ast.Constant("")
    return ast.dump(tree)


def _wrapped(line: str, tokens: Sequence[tokenize.TokenInfo], width: int) -> list[str]:
    """The lines for one line of the source and its tokens."""
    indent = _indent(line)
    comments = [t for t in tokens if t.type == tokenize.COMMENT]
    code = line[: comments[0].start[1]].rstrip() if comments else line
    above = _paragraph(comments[0].string, indent, width, "# ") if comments else []
    if len(code) <= width:
        return [*above, code] if code.strip() else above
    code = _in_brackets(code)
    try:
        places = _places(code.strip())
    except (tokenize.TokenError, IndentationError):
        return [*above, code]
    return [*above, *_broken(code.strip(), places, indent, width)]


def _paragraph(text: str, indent: str, width: int, mark: str = "") -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent + mark,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _in_brackets(line: str) -> str:
    """The line with its results, and what it gives or returns, in brackets that may be broken."""
    try:
        (node,) = ast.parse(line.strip()).body
    except (SyntaxError, ValueError):
        return line
    indent, text = _indent(line), line.strip()
    if isinstance(node, ast.Return) and node.value is not None:
        return f"{indent}return ({ast.get_source_segment(text, node.value)})"
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = ast.get_source_segment(text, node.targets[0]) or ""
        value = ast.get_source_segment(text, node.value) or ""
        many = isinstance(node.targets[0], ast.Tuple) and not target.startswith("(")
        is_call = isinstance(node.value, ast.Call)
        left = f"({target})" if many else target
        return f"{indent}{left} = {value if is_call else f'({value})'}"
    return line


def _places(code: str) -> list[tuple[int, bool]]:
    """The columns where a line may be broken, and whether a comma stands before each."""
    depth, places, in_text = 0, list[tuple[int, bool]](), 0
    for token in _tokens(code):
        kind = tokenize.tok_name[token.type]
        in_text += kind == "FSTRING_START"
        in_text -= kind == "FSTRING_END"
        if in_text or token.start[0] != 1:
            continue
        if depth > 0 and token.string in _BEFORE and token.type in (tokenize.OP, tokenize.NAME):
            places.append((token.start[1], False))
        depth += token.string in _OPENING if token.type == tokenize.OP else 0
        depth -= token.string in _CLOSING if token.type == tokenize.OP else 0
        if depth > 0 and token.type == tokenize.OP and token.string in (*_OPENING, ","):
            places.append((token.end[1], token.string == ","))
    return places


def _broken(code: str, places: Sequence[tuple[int, bool]], indent: str, width: int) -> list[str]:
    lines: list[str] = []
    begin, margin = 0, indent
    while len(margin) + len(code) - begin > width:
        fits = [(at, comma) for at, comma in places if begin < at <= begin + width - len(margin)]
        if not fits:
            fits = [(at, comma) for at, comma in places if at > begin][:1]
        if not fits:
            break
        commas = [at for at, comma in fits if comma]
        end = commas[-1] if commas else fits[-1][0]
        lines.append(f"{margin}{code[begin:end].strip()}")
        begin, margin = end, indent + "    "
    return [*lines, f"{margin}{code[begin:].strip()}"]
