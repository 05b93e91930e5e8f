"""Which blocks of a function handle errors about the arguments of calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from overlay.code.body import Block, Return
from overlay.core.errors import OverlayError

__all__ = ["caught"]


def caught(blocks: Mapping[int, Block], matches: Mapping[str, tuple[Any, ...]]) -> dict[int, Block]:
    """The blocks, those marked in which an error about arguments does not leave the function.

    matches: for a condition, the classes of which it says whether an exception is one.
    """
    found: dict[int, Block] = {}
    for label, block in blocks.items():
        handlers = _handlers(blocks, block)
        ends = any(_goes_on(blocks, matches, handler, label) for handler in handlers)
        found[label] = replace(block, catches=True) if ends else block
    return found


def _handlers(blocks: Mapping[int, Block], block: Block) -> list[int]:
    """Where an exception in a block goes, from the inside out."""
    found: list[int] = []
    while block.handler is not None and block.handler.block not in found:
        found.append(block.handler.block)
        block = blocks[block.handler.block]
    return found


def _goes_on(
    blocks: Mapping[int, Block], matches: Mapping[str, tuple[Any, ...]], handler: int, tried: int
) -> bool:
    """Whether a handler of errors about arguments can return, or come back to what it handles."""
    seen: set[int] = set()
    todo = [handler]
    while todo:
        label = todo.pop()
        if label == tried:
            return True
        if label in seen:
            continue
        seen.add(label)
        end = blocks[label].end
        if isinstance(end, Return):
            if end.value is not None:
                return True
        else:
            asked = matches.get(end.condition or "")
            is_meant = asked is None or any(map(_is_meant, asked))
            todo += [end.yes, end.no] if is_meant else [end.no]
    return False


def _is_meant(cls: Any) -> bool:
    """Whether ``except cls`` may catch what a call raises that does not take its arguments."""
    if type(cls) is tuple:
        return any(map(_is_meant, cls))
    if type(cls) is not type or not issubclass(cls, BaseException):
        return True
    known = (TypeError, LookupError, OverlayError)
    return any(issubclass(each, cls) for each in known) or issubclass(
        cls, (TypeError, OverlayError)
    )
