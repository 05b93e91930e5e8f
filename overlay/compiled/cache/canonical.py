"""LLVM IR in canonical order and numbering, which do not depend on the process that made it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

__all__ = ["Names", "in_order"]

SYMBOL: Final = re.compile(r'@"?([\w.$]+)"?')
DEFINED: Final = re.compile(r'^define [^@]*@"?([\w.$]+)"?', re.MULTILINE)
# Names numbered across all compilations of a process: functions (in their symbols, after the length
# of the number), memory, variables and modules.
NUMBERED: Final = re.compile(
    r'B\d+v(\d+)(?=B)|(\b_cudapy_[a-z]mem_|\$overlay\.|^; ModuleID = "[^"]*\$)(\d+)', re.MULTILINE
)


class Names:
    """Numbers the names of a kernel in order of occurrence."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def numbered(self, text: str) -> str:
        """Return a text with its names numbered."""
        return NUMBERED.sub(self._renamed, text)

    def _renamed(self, found: re.Match[str]) -> str:
        number = self._numbers.setdefault(found[0], len(self._numbers))
        if found[1] is None:
            return f"{found[2]}{number}"
        tag = f"v{number}"
        return f"B{len(tag)}{tag}"


def in_order(modules: Sequence[str], symbol: str) -> list[str]:
    """The modules that a function needs, each before those that it is the first to name."""
    of_symbol = {name: text for text in modules for name in DEFINED.findall(text)}
    found: dict[str, None] = {}
    pending: list[Iterator[str]] = [iter([symbol])]
    while pending:
        name = next(pending[-1], None)
        if name is None:
            pending.pop()
        elif (text := of_symbol.get(name)) is not None and text not in found:
            found[text] = None
            pending.append(iter(SYMBOL.findall(text)))
    return list(found)
