"""Representations of objects of public classes: one line that names the class and the key facts;
words with their article or number."""

from __future__ import annotations

import re
import reprlib
from typing import Any

from overlay.core.own_builtins import __builtins__

__all__ = [
    "OneLine",
    "a_or_an",
    "counted",
    "cut",
    "error_text",
    "named_value",
    "one_line",
    "short_repr",
]

LONGEST = 80


def short_repr(name: str, facts: str, where: str | None = None) -> str:
    """``<Name facts   where>`` on one line; facts that are long are cut at their end."""
    place = f"   {where}" if where else ""
    return f"<{name} {cut(facts)}{place}>" if facts else f"<{name}{place}>"


def cut(text: str, longest: int = LONGEST) -> str:
    """A text on one line, cut where it is longer."""
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[: longest - 4].rstrip(', ')} ..."


def named_value(value: object) -> str:
    """An object that is given where another kind is expected: a container by its class alone, since
    its contents may be long or secret."""
    if hasattr(type(value), "__len__") and not isinstance(value, (str, bytes)):
        return a_or_an(type(value).__qualname__)
    return cut(repr(value))


class OneLine(reprlib.Repr):
    """Cut representations of values, on one line also where their own are on several, as those of
    arrays. A value that raises an error is shown by its class."""

    def repr1(self, x: Any, level: int) -> str:
        try:
            return super().repr1(x, level)
        except Exception:
            return f"<{type(x).__name__} instance at {id(x):#x}>"

    def repr_instance(self, x: Any, level: int) -> str:
        text = _BREAK.sub(" ", repr(x))
        room = self.maxother - 3
        if len(text) <= self.maxother:
            return text
        return f"{text[: room // 2]}...{text[room // 2 - room :]}"


def one_line(value: object) -> str:
    """The representation of a value, cut to a part of a line."""
    return _one_line.repr(value)


def error_text(error: BaseException) -> str:
    """The class and the message of an error; the class alone where it has no readable message."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


_BREAK = re.compile(r"\s*\n\s*")
_one_line = OneLine()


def counted(count: int, noun: str, nouns: str = "") -> str:
    """A number with its noun. nouns: the plural, if that is not the noun with an s."""
    return f"{count} {noun if count == 1 else nouns or f'{noun}s'}"


def a_or_an(thing: object) -> str:
    """The text of a thing, such as the name of a class, with its indefinite article."""
    return f"{'an' if _SOUNDS_VOWEL.match(str(thing)) else 'a'} {thing}"


_SOUNDS_VOWEL = re.compile("(?!eu|one|u[a-z][aeiou])[aeiou]|nd", re.IGNORECASE)
"""The beginnings of words that take *an*: not those of *unit*, *ufunc* and *uname*, as spoken."""
