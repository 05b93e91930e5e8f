"""Descriptions of instructions, for errors."""

from __future__ import annotations

from typing import Final

__all__ = ["IN_WORDS"]

IN_WORDS: Final = {
    "IMPORT_NAME": "an import",
    **dict.fromkeys(("STORE_GLOBAL", "DELETE_GLOBAL"), "assignment to a global"),
    "STORE_DEREF": "assignment to a variable of an outer function",
    **dict.fromkeys(("DELETE_FAST", "DELETE_DEREF"), "del of a variable"),
    "DELETE_ATTR": "del of an attribute",
}
"""Descriptions of instructions that few readers can follow."""
