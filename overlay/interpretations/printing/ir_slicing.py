"""Slices of functions being compiled: without some calls, and without the computations that only
these need.

A statement is needed if it has an effect, or if a needed statement reads the variable that it
assigns, is controlled by its branch, or reads an object that it changes. All others are removed.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Final

from overlay.code.callbacks import CALLBACKS
from overlay.interpretations.parallel.known_effects import (
    CONTAINERS,
    ITERATING,
    ITERATORS,
    NO_ERROR_COMPILED,
)
from overlay.ir import IR, Call, Edge, IRStatement, Variable

__all__ = ["slice_ir"]

# Operations that compute a result and do nothing else.
PLAIN: Final = ("attribute", "build", "constant", "conversion", "copy", "item", "operator")
ENDS: Final = ("branch", "jump", "raise", "return")
# Functions that call their first argument when their result is iterated over.
LAZY: Final = frozenset(map(id, (filter, map)))
# Values that nothing can change in place.
FIXED: Final = (bool, bytes, complex, float, int, str, tuple, type(None))


def slice_ir(ir: IR, targets: Iterable[Any], pure: Iterable[Any]) -> None:
    """Remove the calls of some functions, and the computations that only these need.

    pure: functions without effects, besides those that are known. In a function that handles
    exceptions only the calls are removed.
    """
    for call in ir.calls(*targets):
        if ir.is_used(call.result):
            ir.set_result(call, None)
        else:
            ir.delete(call)
    if not ir.handles_exceptions:
        _Slice(ir, NO_ERROR_COMPILED | {id(f): f for f in pure}).apply()


class _Slice:
    """The needed statements of one function."""

    def __init__(self, ir: IR, pure: dict[int, Any]) -> None:
        self.ir = ir
        self.pure = pure
        self.statements = ir.statements()
        self.definitions: dict[Variable, list[IRStatement]] = {}
        for each in self.statements:
            if each.result is not None:
                self.definitions.setdefault(each.result, []).append(each)
        self.branches = {s.block: s for s in self.statements if s.branch is not None}
        self.needed: set[IRStatement] = set()

    def apply(self) -> None:
        """Remove the statements that are not needed."""
        after = {label: self._after(label) for label in self.branches}
        self._mark([s for s in self.statements if self._has_effect(s)])
        self._mark([s for label, s in self.branches.items() if after[label] is None])
        for label, statement in self.branches.items():
            left = any(block.label == label for block in self.ir.blocks())
            if left and statement not in self.needed and statement.branch is not None:
                self.ir.jump(statement.branch, after[label] or 0)
        kept = self.ir.statements()
        self.ir.remove(*(s for s in kept if s not in self.needed and s.operation not in ENDS))

    def _after(self, label: int) -> int | None:
        """The block at which the ways out of a branch meet."""
        labels = [block.label for block in self.ir.blocks() if block.label != label]
        found = [each for each in labels if self.ir.post_dominates(each, label)]
        return next(
            (one for one in found if all(self.ir.post_dominates(o, one) for o in found)), None
        )

    # ---- needed statements ----

    def _mark(self, statements: list[IRStatement]) -> None:
        """Mark statements, and all that they need."""
        todo = statements
        while todo:
            each = todo.pop()
            if each in self.needed:
                continue
            self.needed.add(each)
            todo += [d for var in each.reads for d in self.definitions.get(var, ())]
            todo += [self.branches[edge.source] for edge in self._controls[each.block]]
            objects = {root for var in each.reads for root in self._roots(var)}
            objects |= self._iterators(each.reads)
            todo += [s for s, roots in self._changes.items() if roots & objects]

    @cached_property
    def _controls(self) -> dict[int, tuple[Edge, ...]]:
        return {block.label: self.ir.controls(block) for block in self.ir.blocks()}

    @cached_property
    def _changes(self) -> dict[IRStatement, set[IRStatement]]:
        """The statements that change an object in place, each with those that made the object."""
        changes = {s: self._used_up(s) for s in self.statements}
        for each in self.statements:
            var = self._changed(each)
            if var is not None:
                changes[each] |= self._roots(var)
        return {s: roots for s, roots in changes.items() if roots}

    def _used_up(self, statement: IRStatement) -> set[IRStatement]:
        """The statements that made the iterators that a statement advances."""
        if statement.operation == "advance":
            return self._iterators(statement.reads[:1])
        call = statement.call
        if call is None:
            return set()
        contains = statement.operation == "operator" and call.target is operator.contains
        if contains or any(id(each) in ITERATING - ITERATORS for each in self.ir.callees(call)):
            return self._iterators(statement.reads)
        return set()

    def _iterators(self, variables: Iterable[Variable]) -> set[IRStatement]:
        """The statements that made the values of variables that may be iterators, and the iterators
        that these advance."""
        found: set[IRStatement] = set()
        todo = list(variables)
        while todo:
            var = todo.pop()
            if callable(self.ir.constant(var)):
                continue
            for root in self._roots(var):
                if root not in found and self._may_iterate(root):
                    found.add(root)
                    todo += root.reads if self._makes_iterator(root) else ()
        return found

    def _makes_iterator(self, root: IRStatement) -> bool:
        """Whether a statement makes an iterator over what it reads."""
        if root.operation == "call" and root.call is not None:
            return any(id(each) in ITERATORS for each in self.ir.callees(root.call))
        return root.operation == "iterator"

    def _may_iterate(self, root: IRStatement) -> bool:
        """Whether the value that a statement makes may be an iterator."""
        if root.operation == "call" and root.call is not None:
            callees = self.ir.callees(root.call)
            return not callees or not all(id(each) in CONTAINERS for each in callees)
        if root.operation == "operator" and root.call is not None:
            return root.call.target is operator.getitem
        return root.operation not in ("build", "constant", "conversion", "update")

    def _roots(self, var: Variable) -> set[IRStatement]:
        """The statements that have made the values of a variable, through copies."""
        found: set[IRStatement] = set()
        seen, todo = {var}, [var]
        while todo:
            for each in self.definitions.get(todo.pop(), ()):
                sources = each.reads if each.operation == "copy" else ()
                if each.operation == "update":
                    found.add(each)
                    sources = each.reads[:1]
                if not sources:
                    found.add(each)
                todo += [source for source in sources if source not in seen]
                seen.update(sources)
        return found

    def _changed(self, statement: IRStatement) -> Variable | None:
        """The variable of the object that a statement may change in place."""
        if statement.operation == "store" and statement.store is not None:
            return statement.store.target
        if statement.operation in ("advance", "update"):
            return statement.reads[0]
        return self._receiver(statement)

    def _receiver(self, statement: IRStatement) -> Variable | None:
        """The object whose method a statement calls."""
        if statement.operation != "call" or not statement.reads:
            return None
        found = self.definitions.get(statement.reads[0], [])
        if len(found) != 1 or found[0].operation != "attribute" or self._is_pure(statement):
            return None
        return found[0].reads[0]

    # ---- effects ----

    def _has_effect(self, statement: IRStatement) -> bool:
        """Whether a statement does more than compute a result or change an object that the function
        has made itself."""
        if not all(map(self._is_own, self._changes.get(statement, ()))):
            return True
        if self._changed(statement) is not None:
            return False
        if statement.operation == "call":
            return not self._is_pure(statement)
        if statement.operation == "iterator":
            return self._iterating_runs_code(statement, set())
        return statement.operation not in (*PLAIN, "branch", "jump")

    def _is_own(self, root: IRStatement) -> bool:
        """Whether nothing outside of the function has the object that a statement makes."""
        if root.operation == "constant":
            return isinstance(root.constant, FIXED)
        if root.operation == "operator" and root.call is not None:
            return root.call.target is not operator.getitem
        if root.operation == "iterator":
            return not self._iterating_runs_code(root, set())
        if root.operation == "call" and root.call is not None:
            known = ITERATORS | CONTAINERS
            callees = self.ir.callees(root.call)
            return all(id(each) in known for each in callees) and self._is_pure(root)
        return root.operation in ("build", "conversion", "update")

    def _is_pure(self, statement: IRStatement) -> bool:
        """Whether a call, of one function or of one of several, has no effect."""
        return self._computes(statement, set())

    def _computes(self, statement: IRStatement, seen: set[IRStatement]) -> bool:
        """Whether a call has no effect, and calls no function and advances no generator that has
        one. seen: the statements that are already asked."""
        call = statement.call
        found = () if call is None else self.ir.callees(call)
        if call is None or not found:
            return False
        for each in found:
            if id(each) not in self.pure and id(each) not in LAZY:
                return False
            if not all(id(self.ir.constant(var)) in self.pure for var in called_back(each, call)):
                return False
        iterates = any(id(each) in ITERATING for each in found)
        return not (iterates and self._iterating_runs_code(statement, seen))

    def _iterating_runs_code(self, statement: IRStatement, seen: set[IRStatement]) -> bool:
        """Whether iterating over what a statement reads runs code that may have an effect, as that
        of a generator does."""
        if statement in seen:
            return False
        seen.add(statement)
        sources = {root for var in statement.reads for root in self._roots(var)}
        calls = [root for root in sources if root.operation == "call"]
        return not all(self._computes(root, seen) for root in calls)


def called_back(function: Any, call: Call) -> list[Variable]:
    """The arguments of a call that the called function calls."""
    _, positions, names = CALLBACKS.get(id(function), (None, (), ()))
    given = [call.args[place] for place in positions if place < len(call.args)]
    given += [call.kwargs[name] for name in names if name in call.kwargs]
    return [var for var in given if var is not None]
