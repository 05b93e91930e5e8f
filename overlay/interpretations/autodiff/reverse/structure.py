"""Code for adjoints: a function as a structured tree."""

from __future__ import annotations

from typing import Any

from overlay import OverlayError
from overlay.code.structured_tree import NotStructured, Tree, structured

__all__ = ["Unreadable", "signature_of", "tree_of"]


class Unreadable(OverlayError):
    """A program for which no adjoint can be generated."""


def tree_of(function: Any) -> Tree:
    """The structured tree of a Python function. Raises Unreadable."""
    plain = getattr(function, "py_func", function)
    from overlay.code.read_bodies import body_of  # rules work where no code can be read

    body = body_of(plain)
    if body.kind == "coroutine":
        raise Unreadable("it awaits a value", help="compute the number in a plain function")
    try:
        return structured(body)
    except NotStructured as error:
        raise Unreadable(error.reason) from None


def signature_of(function: Any) -> Any:
    """The signature of a Python function, from its code."""
    from overlay.code.read_bodies import signature_of_code

    return signature_of_code(function)
