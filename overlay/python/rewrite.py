"""Rewriting a code object so that every call in it asks for its callee."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any

from bytecode import Bytecode, Instr, Label, TryBegin

from overlay.python.emit import Emitter
from overlay.python.emit.common import COMPREHENSIONS, Edits, Stack, apply_effect

__all__ = ["Rewriter", "runs_in_place"]

OPTIMIZED = 0x1


def runs_in_place(code: CodeType) -> bool:
    """Whether nested code is run by the code around it and by nothing else: comprehensions,
    generator expressions and class bodies. They are rewritten with it; functions are not,
    since the function object that is made from them belongs to the program."""
    return code.co_name in COMPREHENSIONS or not code.co_flags & OPTIMIZED


def unshared(code: CodeType) -> CodeType:
    """The same code with no name both local and free: a comprehension that was inlined into a
    class body can leave one, which the library that reads the instructions cannot tell apart."""
    shared = {*code.co_varnames, *code.co_cellvars} & set(code.co_freevars)

    def renamed(names: tuple[str, ...]) -> tuple[str, ...]:
        # no program can have a name with a point in it
        return tuple(f"{name}." if name in shared else name for name in names)

    if not shared:
        return code
    varnames, cellvars = renamed(code.co_varnames), renamed(code.co_cellvars)
    return code.replace(co_varnames=varnames, co_cellvars=cellvars)


class _Constant:
    """Stands for a constant while the instructions are assembled, which compares constants
    by value; the real one is put in afterwards."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Rewriter:
    """Rewrites code objects for one stack of contexts.

    new_site: makes the site for a call with that many positional arguments (None: unknown).
    operator: the dispatcher for an operator function, or None where it is not overlaid.
    nested: what stands for the code of a function that is defined inside.
    """

    def __init__(
        self,
        emitter: Emitter,
        new_site: Callable[[int | None], Any],
        operator: Callable[[Any], Any | None],
        nested: Callable[[CodeType], CodeType],
    ) -> None:
        self.emitter = emitter
        self.new_site = new_site
        self.operator = operator
        self.nested = nested

    def rewrite(self, code: CodeType, namespace: dict[str, Any]) -> CodeType:
        """The rewritten code: same names, lines, variables and behaviour, mapped callees."""
        source = Bytecode.from_code(unshared(code), conserve_exception_block_stackdepth=True)
        edits = Edits()
        stacks = stacks_at_calls(source, self.emitter, namespace)
        for index, ins in enumerate(source):
            if not isinstance(ins, Instr):
                continue
            if index in stacks:
                self.emitter.rewrite_call(index, source, stacks[index], self.new_site, edits)
            elif ins.name == "LOAD_CONST" and isinstance(ins.arg, CodeType):
                new = self._nested(ins.arg, namespace)
                if new is not ins.arg:
                    const = Instr("LOAD_CONST", _Constant(new), location=ins.location)
                    edits.replace(index, [const])
            else:
                self.emitter.rewrite_operator(index, source, self._operator, edits)
        result = Bytecode(edits.apply(list(source)))
        result._copy_attr_from(source)
        # The depths of exception regions are kept: rewriting does not change them, and where
        # they are computed anew, nested handlers that only raise come out wrong.
        return self._finished(result.to_code(compute_exception_stack_depths=False), code)

    def _nested(self, code: CodeType, namespace: dict[str, Any]) -> CodeType:
        return self.rewrite(code, namespace) if runs_in_place(code) else self.nested(code)

    def _operator(self, function: Any) -> _Constant | None:
        dispatcher = self.operator(function)
        return None if dispatcher is None else _Constant(dispatcher)

    @staticmethod
    def _finished(new: CodeType, old: CodeType) -> CodeType:
        constants = tuple(c.value if type(c) is _Constant else c for c in new.co_consts)
        return new.replace(co_consts=constants, co_qualname=old.co_qualname)


def stacks_at_calls(
    code: Bytecode, emitter: Emitter, namespace: dict[str, Any]
) -> dict[int, Stack]:
    """For each call instruction, what is known of the stack before it."""
    found: dict[int, Stack] = {}
    entries: dict[int, Stack] = {}  # id(label) -> stack there
    where = {id(item): i for i, item in enumerate(code) if isinstance(item, Label)}
    pending: list[tuple[int, Stack]] = [(0, [])]
    while pending:
        index, stack = pending.pop()
        while index < len(code):
            item = code[index]
            if isinstance(item, Label):
                if id(item) in entries:
                    break
                entries[id(item)] = list(stack)
            elif isinstance(item, TryBegin):
                pending.append((where[id(item.target)], _at_handler(item, stack)))
            elif isinstance(item, Instr):
                if item.name in emitter.CALLS or item.name == "CALL_FUNCTION_EX":
                    found[index] = list(stack)
                if item.has_jump():
                    taken = list(stack)
                    apply_effect(item, taken, jump=True)
                    pending.append((where[id(item.arg)], taken))
                if item.is_final():
                    break
                emitter.step(index, item, stack, namespace)
            index += 1
    return found


def _at_handler(region: TryBegin, stack: Stack) -> Stack:
    depth = region.stack_depth
    kept = stack[: int(depth)] + [None] * max(0, int(depth) - len(stack))
    return [*kept, *([None] if region.push_lasti else []), None]
