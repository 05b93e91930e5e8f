"""Rewriting a code object so that every call in it asks for its callee."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any

from overlay.code.listing import COMPREHENSIONS, Listing
from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.python.assembly import assemble
from overlay.python.emit import Emitter
from overlay.python.emit.writer import OPTIMIZED, Writer
from overlay.python.local_functions import local_functions

__all__ = ["Rewriter", "runs_in_place"]


def runs_in_place(code: CodeType) -> bool:
    """Whether nested code is run by the code around it and by nothing else: comprehensions,
    generator expressions and class bodies. They are rewritten with it; functions are not,
    since the function object that is made from them belongs to the program."""
    return code.co_name in COMPREHENSIONS or not code.co_flags & OPTIMIZED


class Rewriter:
    """Rewrites code objects for one stack of contexts.

    new_site: makes the site for a call with that many positional arguments (None: unknown)
    of an attribute of that name (None: not an attribute).
    operator: the dispatcher for an operator function, or None where it is not overlaid.
    nested: what stands for the code of a function that is defined inside.
    overlaid: whether a callable is a target.
    changed: to be called after an attribute that may be a function's code was set.
    local: whether functions that do not get outside are called as they are.
    """

    def __init__(
        self,
        emitter: Emitter,
        new_site: Callable[..., Any],
        operator: Callable[[Any], Any | None],
        nested: Callable[[CodeType], CodeType],
        *,
        overlaid: Callable[[Any], bool] = lambda function: False,
        changed: Callable[[], None] | None = None,
        operators: bool = True,
        local: bool = True,
    ) -> None:
        self.emitter = emitter
        self.new_site = new_site
        self.operator = operator
        self.nested = nested
        self.overlaid = overlaid
        self.changed = changed
        self.operators = operators
        self.local = local

    def rewrite(self, code: CodeType, namespace: dict[str, Any]) -> CodeType:
        """The rewritten code: same names, lines, variables and behaviour, mapped callees.

        The code itself where there is nothing to rewrite. operators: whether any is overlaid.
        """
        writer = Writer(Listing(code), namespace, self.new_site, self.operator, self.overlaid)
        self.emitter.rewrite_calls(writer)
        for function in local_functions(writer) if self.local else ():
            new = self.rewrite(function.code, namespace)
            function.write(writer, new)
        if self.operators:
            self.emitter.rewrite_operators(writer)
        if self.changed is not None:
            self.emitter.tell_of_changes(writer, self.changed)
        constants = [self._nested(value, namespace) for value in code.co_consts]
        changed = any(new is not old for new, old in zip(constants, code.co_consts, strict=True))
        if not writer.edits and not changed:
            return code
        deeper = self.emitter.DEEPER_FOR_OPERATORS if self.operators else 0
        new = assemble(
            writer.listing,
            writer.edits,
            consts=writer.consts,
            names=writer.names,
            local=writer.local,
            depth=max(code.co_stacksize + deeper, writer.depth),
        )
        return new.replace(co_consts=(*constants, *writer.consts)) if changed else new

    def _nested(self, value: Any, namespace: dict[str, Any]) -> Any:
        if type(value) is not CodeType:
            return value
        return self.rewrite(value, namespace) if runs_in_place(value) else self.nested(value)
