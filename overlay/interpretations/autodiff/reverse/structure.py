"""Code for adjoints: a function as a structured tree, without effects that the tree does not
show."""

from __future__ import annotations

from types import CodeType
from typing import Any

from overlay import OverlayError
from overlay.code.decoding import decoded
from overlay.code.structured_tree import NotStructured, Tree, structured

__all__ = ["Unreadable", "tree_of"]


class Unreadable(OverlayError):
    """A program for which no adjoint can be generated."""


_REFUSED = (
    *("LIST_APPEND", "LIST_EXTEND", "SET_ADD", "SET_UPDATE", "MAP_ADD", "DICT_UPDATE"),
    *("DICT_MERGE", "STORE_GLOBAL", "STORE_NAME", "STORE_ATTR", "DELETE_ATTR", "DELETE_GLOBAL"),
    *("DELETE_NAME", "DELETE_SUBSCR", "DELETE_DEREF", "YIELD_VALUE", "SEND", "IMPORT_NAME"),
    *("BEFORE_WITH", "SETUP_ANNOTATIONS", "UNPACK_EX", "LOAD_CLASSDEREF", "DELETE_FAST"),
)
"""Instructions with effects that the statements of a body do not show."""


def tree_of(function: Any) -> Tree:
    """The structured tree of a Python function. Raises Unreadable."""
    plain = getattr(function, "py_func", function)
    _refuse_effects(plain.__code__)
    from overlay.code.read_bodies import body_of  # rules work where no code can be read

    body = body_of(plain)
    if body.kind != "function":
        raise Unreadable(f"it is a {body.kind}")
    try:
        return structured(body)
    except NotStructured as error:
        raise Unreadable(error.reason) from None


def _refuse_effects(code: CodeType) -> None:
    free = set(code.co_freevars)
    for ins in decoded(code):
        if ins.name in _REFUSED or (ins.name == "STORE_DEREF" and ins.value in free):
            raise Unreadable(f"{ins.name} in line {ins.at.lineno or code.co_firstlineno}")
