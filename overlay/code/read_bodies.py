"""Reader of a Python function into its ``Body``: basic blocks with branches and handlers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from types import FunctionType
from typing import Any

from overlay.code.basic_blocks import Reader
from overlay.code.body import Block, Body, Make
from overlay.code.handling import caught
from overlay.code.scopes import Scope, scope_of
from overlay.code.versions import require_readable
from overlay.core.errors import NotCompilable
from overlay.core.location import location_of, name_of

__all__ = ["Default", "body_of", "signature_of_code"]

_AWAITED = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_EMPTY = inspect.Parameter.empty
# the parameter of a comprehension that is a function: its outermost iterator
_OUTERMOST = ".0"
_EITHER = inspect.Parameter.POSITIONAL_OR_KEYWORD


class Default:
    """Wrapper of a parameter's default, which may itself be ``inspect.Parameter.empty``."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def body_of(function: Callable[..., Any], scope: Scope | None = None) -> Body:
    """The body of a Python or @njit function. Raises NotCompilable if it has no Python code.
    scope: by default with the values that do not change while the program runs."""
    plain: Any = getattr(function, "py_func", function)
    if type(plain) is not FunctionType:
        raise NotCompilable(
            f"cannot read the code of {name_of(plain)}",
            where=location_of(plain),
            help="analyse a function that is written in Python",
        )
    require_readable()
    code = plain.__code__
    kind = "generator" if code.co_flags & inspect.CO_GENERATOR else "function"
    kind = "coroutine" if code.co_flags & _AWAITED else kind
    signature = signature_of_code(plain)
    names = tuple(_OUTERMOST if name == "implicit0" else name for name in signature.parameters)
    reader = Reader(code, scope_of(plain) if scope is None else scope)
    blocks = reader.read()
    _forget_what_changes(blocks)
    return Body(plain, names, caught(blocks, reader.steps.matches), 0, kind, signature)


def _forget_what_changes(blocks: dict[int, Block]) -> None:
    """Drop, of functions defined in the blocks, the captured variables that are set later."""
    for label, block in blocks.items():
        for i, statement in enumerate(block.statements):
            if isinstance(statement, Make) and any(statement.captured):
                later = _set_after(blocks, label, i)
                kept = tuple(None if n in later else n for n in statement.captured)
                changed = list(blocks[label].statements)
                changed[i] = replace(statement, captured=kept)
                blocks[label] = replace(blocks[label], statements=tuple(changed))


def _set_after(blocks: dict[int, Block], label: int, place: int) -> set[str]:
    found = {s.target for s in blocks[label].statements[place + 1 :]}
    seen: set[int] = set()
    todo = list(blocks[label].next)
    while todo:
        each = todo.pop()
        if each not in seen:
            seen.add(each)
            found |= {s.target for s in blocks[each].statements}
            todo += blocks[each].next
    return found


def signature_of_code(function: FunctionType) -> inspect.Signature:
    """The signature by which calls are bound, from the code alone, not from ``__signature__``.
    Each default is a ``Default``."""
    code, defaults = function.__code__, function.__defaults__ or ()
    named = function.__kwdefaults__ or {}
    count, only, names = code.co_argcount, code.co_kwonlyargcount, code.co_varnames
    made: list[inspect.Parameter] = []
    for i, name in enumerate(names[:count]):
        kind = inspect.Parameter.POSITIONAL_ONLY if i < code.co_posonlyargcount else _EITHER
        place = i - count + len(defaults)
        default = Default(defaults[place]) if place >= 0 else _EMPTY
        made.append(inspect.Parameter(name, kind, default=default))
    rest = names[count + only :]
    if code.co_flags & inspect.CO_VARARGS:
        made.append(inspect.Parameter(rest[0], inspect.Parameter.VAR_POSITIONAL))
        rest = rest[1:]
    for name in names[count : count + only]:
        default = Default(named[name]) if name in named else _EMPTY
        made.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default))
    if code.co_flags & inspect.CO_VARKEYWORDS:
        made.append(inspect.Parameter(rest[0], inspect.Parameter.VAR_KEYWORD))
    return inspect.Signature(made)
