"""Blocks of a function in which errors of some classes are caught."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from overlay.code.body import Apply, Block, Return, WithBlock
from overlay.core.errors import OverlayError

__all__ = ["HANDLED", "caught"]

# By class of error: the errors that may be raised, and the classes of which subclasses may be.
# TypeError stands for all errors about the arguments of a call, of which plum's is a LookupError.
HANDLED: Mapping[type[Exception], tuple[tuple[type[Exception], ...], ...]] = {
    TypeError: ((TypeError, LookupError, OverlayError), (TypeError, OverlayError)),
    AttributeError: ((AttributeError,), (AttributeError,)),
    NameError: ((UnboundLocalError,), (NameError,)),
    ValueError: ((ValueError,), (ValueError,)),
    LookupError: ((KeyError, IndexError), (LookupError,)),
}


def caught(blocks: Mapping[int, Block], matches: Mapping[str, tuple[Any, ...]]) -> dict[int, Block]:
    """Return the blocks, with ``catches`` set to those of ``HANDLED`` that may be caught.

    matches: for a condition that tests an exception's class, the classes that it tests for.
    """
    found: dict[int, Block] = {}
    leaves = _leaves(blocks)
    for label, block in blocks.items():
        handlers = _handlers(blocks, block)
        by_error = {
            error: [h for h in handlers if _goes_on(blocks, matches, h, label, error)]
            for error in HANDLED
        }
        found[label] = replace(
            block,
            catches=frozenset(error for error, by in by_error.items() if by),
            handled=frozenset(error for error, by in by_error.items() if {*by} - leaves.keys()),
            managers=tuple(leaves[handler] for handler in handlers if handler in leaves),
        )
    return found


def _leaves(blocks: Mapping[int, Block]) -> dict[int, str]:
    """The handlers of ``with`` statements, each with the variable that holds its ``__exit__``."""
    found: dict[int, str] = {}
    for block in blocks.values():
        for step in block.statements:
            if isinstance(step, Apply) and isinstance(step.native, WithBlock):
                for label in block.next:
                    handler = blocks[label].handler
                    if handler is not None and handler != block.handler:
                        found[handler.block] = step.native.leaves
    return found


def _handlers(blocks: Mapping[int, Block], block: Block) -> list[int]:
    """The exception handlers of a block, innermost first."""
    found: list[int] = []
    while block.handler is not None and block.handler.block not in found:
        found.append(block.handler.block)
        block = blocks[block.handler.block]
    return found


def _goes_on(
    blocks: Mapping[int, Block],
    matches: Mapping[str, tuple[Any, ...]],
    handler: int,
    tried: int,
    error: type[Exception],
) -> bool:
    """Whether a handler can return after an error of this class, raise another, or reach the block
    ``tried`` that it handles."""
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
            if end.value is not None or end.raised:
                return True
        else:
            asked = matches.get(end.condition or "")
            is_meant = asked is None or any(_is_meant(cls, error) for cls in asked)
            todo += [end.yes, end.no] if is_meant else [end.no]
    return False


def _is_meant(cls: Any, error: type[Exception]) -> bool:
    """Whether ``except cls`` may catch an error of this class."""
    if type(cls) is tuple:
        return any(_is_meant(each, error) for each in cls)
    if type(cls) is not type or not issubclass(cls, BaseException):
        return True
    raised, below = HANDLED[error]
    return any(issubclass(each, cls) for each in raised) or issubclass(cls, below)
