"""What is gathered while one code object is rewritten."""

from __future__ import annotations

import builtins
import dis
from collections.abc import Callable
from types import ModuleType
from typing import Any

from overlay.code.listing import Listing
from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.python.assembly import Edits, Item

__all__ = [
    "OP",
    "OPTIMIZED",
    "Stack",
    "Tag",
    "Writer",
    "getattr_static",
    "lookup",
]

OP = dis.opmap
OPTIMIZED = 0x1

# What is known of a stack slot: the kind of instruction that pushed it, its index, and more.
Tag = tuple[str, int, Any]
Stack = list[Tag | None]


class Writer:
    """What is gathered while one code object is rewritten.

    new_site: makes the site for a call with that many positional arguments (None: unknown),
    and the attribute that the callee is, if it is one.
    dispatcher: what an operator function is replaced by, or None.
    overlaid: whether a callable is a target.
    """

    def __init__(
        self,
        listing: Listing,
        namespace: dict[str, Any],
        new_site: Callable[..., Any],
        dispatcher: Callable[[Any], Any | None],
        overlaid: Callable[[Any], bool],
    ) -> None:
        self.listing = listing
        self.namespace = namespace
        self.new_site = new_site
        self.dispatcher = dispatcher
        self.overlaid = overlaid
        self.edits = Edits()
        self.consts: list[Any] = []
        self.names: list[str] = []
        self.local: str | None = None
        self.depth = 0  # of the stack, as far as edits need it
        self.slots = 0  # that the call needs which is being edited, from its callee on
        self.mapped: set[int] = set()  # instructions that push a callee, and that are mapped
        self._const_at: dict[int, int] = {}
        self._name_at = {name: at for at, name in enumerate(listing.code.co_names)}
        self.optimized = bool(listing.code.co_flags & OPTIMIZED)

    def const(self, value: Any) -> Item:
        """The instruction that loads ``value``."""
        return OP["LOAD_CONST"], self.const_at(value)

    def const_at(self, value: Any) -> int:
        """Index of a constant."""
        at = self._const_at.get(id(value))
        if at is None:
            at = self._const_at[id(value)] = len(self.listing.code.co_consts) + len(self.consts)
            self.consts.append(value)
        return at

    def name(self, text: str, flags: int = 0) -> int:
        """Index of a name, above so many bits for flags."""
        at = self._name_at.get(text)
        if at is None:
            at = self._name_at[text] = len(self._name_at)
            self.names.append(text)
        return at << flags

    def temporary(self) -> int:
        """The local variable that holds a method for a few instructions; no program can have
        one of that name."""
        self.local = ".method"
        return self.listing.code.co_nlocals


def lookup(namespace: dict[str, Any], name: str) -> Any:
    """A global or builtin, or None."""
    if dict.__contains__(namespace, name):
        return dict.get(namespace, name)
    scope = dict.get(namespace, "__builtins__", builtins)
    return vars(scope).get(name) if isinstance(scope, ModuleType) else dict.get(scope, name)


def getattr_static(owner: Any, name: str) -> Any:
    """A submodule or class in a module, without running code of the user's."""
    return vars(owner).get(name) if isinstance(owner, ModuleType) else None
