"""Representations of objects of public classes: one line that names the class and the key facts."""

from __future__ import annotations

from overlay.core.own_builtins import __builtins__

__all__ = ["counted", "cut", "short_repr"]

LONGEST = 80


def short_repr(name: str, facts: str, where: str | None = None) -> str:
    """``<Name facts   where>`` on one line; facts that are long are cut at their end."""
    place = f"   {where}" if where else ""
    return f"<{name} {cut(facts)}{place}>" if facts else f"<{name}{place}>"


def cut(text: str, longest: int = LONGEST) -> str:
    """A text on one line, cut where it is longer."""
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[: longest - 4].rstrip(', ')} ..."


def counted(count: int, noun: str) -> str:
    """A number with its noun, which gets an s unless there is one."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
