"""Blocks of a function in which errors about the arguments of calls are caught."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from overlay.code.body import Block, Return
from overlay.core.errors import OverlayError

__all__ = ["caught"]


def caught(blocks: Mapping[int, Block], matches: Mapping[str, tuple[Any, ...]]) -> dict[int, Block]:
    """Return the blocks, with ``catches`` set where an error about arguments may be caught.

    matches: for a condition that tests an exception's class, the classes that it tests for.
    """
    found: dict[int, Block] = {}
    for label, block in blocks.items():
        handlers = _handlers(blocks, block)
        ends = any(_goes_on(blocks, matches, handler, label) for handler in handlers)
        found[label] = replace(block, catches=True) if ends else block
    return found


def _handlers(blocks: Mapping[int, Block], block: Block) -> list[int]:
    """The exception handlers of a block, innermost first."""
    found: list[int] = []
    while block.handler is not None and block.handler.block not in found:
        found.append(block.handler.block)
        block = blocks[block.handler.block]
    return found


def _goes_on(
    blocks: Mapping[int, Block], matches: Mapping[str, tuple[Any, ...]], handler: int, tried: int
) -> bool:
    """Whether a handler of errors about arguments can return, or reach the block ``tried`` that it
    handles."""
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
    """Whether ``except cls`` may catch the error of a call with arguments that do not fit."""
    if type(cls) is tuple:
        return any(map(_is_meant, cls))
    if type(cls) is not type or not issubclass(cls, BaseException):
        return True
    known = (TypeError, LookupError, OverlayError)
    return any(issubclass(each, cls) for each in known) or issubclass(
        cls, (TypeError, OverlayError)
    )
