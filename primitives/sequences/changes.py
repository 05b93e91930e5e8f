"""Methods of strings with constant arguments, which change a string or test a property of it.

Several strings may have the same image. ``near`` is the answer if it fits; otherwise it is a string
that the method leaves unchanged, or the result of undoing the change letter by letter.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from primitives.domains import Strings, Text
from primitives.errors import NoSolution
from primitives.relation import Relation, parametric, relation
from primitives.sequences.formats import itself

__all__ = ["CHANGES", "CONDITIONS", "changed", "condition"]

CHANGES = frozenset(
    (
        "strip", "lstrip", "rstrip", "title", "capitalize", "casefold", "replace", "translate",
        "removeprefix", "removesuffix", "expandtabs",
    )
)  # fmt: skip
"""The methods that change a string."""
CONDITIONS = frozenset(
    (
        "isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower", "isdecimal", "isnumeric",
        "isascii", "isidentifier", "isprintable", "istitle",
    )
)  # fmt: skip
"""The methods that test a property of a string."""


def candidates(method: str, args: tuple[Any, ...], ret: str, near: str) -> Iterator[str]:
    """Strings that a method may change to ``ret``, in the order of the trials."""
    yield near
    yield ret
    if method == "replace" and args[1]:
        yield ret.replace(args[1], args[0])
    if method == "removeprefix":
        yield args[0] + ret
    if method == "removesuffix":
        yield ret + args[0]
    if method == "translate":
        yield translated_back(args[0], ret)


def translated_back(table: Mapping[int, Any], ret: str) -> str:
    """A string that a table of characters translates to ``ret``, if there is one."""
    back: dict[str, str] = {}
    for key, found in table.items():
        if found is not None:
            back.setdefault(chr(found) if isinstance(found, int) else found, chr(key))
    return "".join(c if ord(c) not in table else back.get(c, c) for c in ret)


def unchanged(method: str, args: tuple[Any, ...], ret: str, near: str) -> str:
    """The first candidate that a method changes to ``ret``."""
    for text in candidates(method, args, ret, near):
        if getattr(str, method)(text, *args) == ret:
            return text
    raise NoSolution("no string was found for which the method returns this")


def changed(method: str, args: tuple[Any, ...]) -> Relation:
    """The relation of a method that changes a string."""
    key = tuple(tuple(arg.items()) if isinstance(arg, dict) else arg for arg in args)
    return _changed(method, key)


@functools.lru_cache(maxsize=4096)
def _changed(method: str, key: tuple[Any, ...]) -> Relation:
    args = tuple(dict(arg) if isinstance(arg, tuple) else arg for arg in key)

    def forward(a: str) -> str:
        return getattr(str, method)(a, *args)

    forward.__name__ = forward.__qualname__ = method

    def before(ret: str, near: str) -> str:
        return unchanged(method, args, ret, near)

    return relation(
        forward, str, f"return = {method}(a)",
        ret=forward, a=parametric(before, near=Text, recover=itself),
        edges="near, if that is a solution",
        incomplete=FEW if method in ("translate", "replace") else None,
    )  # fmt: skip


FEW = "a string with several other preimages is found only by near"
NAMES = {"in": "isin"}
WITNESSES = ("a", "A", "0", " ", "\u00e9", "\n", "!", "_", "\u00b2", "\u00bd", "Aa", "")


def witness(test: Callable[[str], bool], wanted: bool, others: Iterable[str]) -> str:
    """The first string for which a condition has a value."""
    for text in others:
        if test(text) == wanted:
            return text
    raise NoSolution("no string gives this result")


@functools.lru_cache(maxsize=4096)
def condition(method: str, others: str = "", *, single: bool = False) -> Relation:
    """The relation of a condition on a string: a method, or ``in`` for whether a character is one
    of several.

    single: whether it is for strings of one character.
    """

    def forward(a: str) -> bool:
        return a in others if method == "in" else getattr(str, method)(a)

    forward.__name__ = forward.__qualname__ = NAMES.get(method, method)
    domain = Strings("", 1, 1) if single else Text
    tries = tuple(text for text in (*WITNESSES, *others) if domain.contains(text))

    def one(ret: bool, near: str) -> str:
        return witness(forward, ret, (near, *tries))

    return relation(
        forward, str, f"return = {NAMES.get(method, method)}(a)", returns=bool, domain=domain,
        low_information=method != "in",
        ret=forward, a=parametric(one, near=domain, recover=itself),
        edges="near, if that is a solution",
    )  # fmt: skip
