"""Operators of which a context has overlays: a call of the dispatcher in their place."""

from __future__ import annotations

import dis
import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from overlay.code.operators import BINARY, COMPARE, UNARY
from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.python.assembly import Item
from overlay.python.emit.sequences import Sequences
from overlay.python.emit.writer import OP, Writer

__all__ = ["Operators"]


class Operators(Sequences):
    """Edits operator instructions."""

    # slots that a call in place of an operator needs beyond those of the code
    DEEPER_FOR_OPERATORS: ClassVar[int] = 2

    def __init__(self) -> None:
        super().__init__()
        operators = {
            "BINARY_OP": self._binary,
            "COMPARE_OP": self._compare,
            "UNARY_NOT": self._not,
            "IS_OP": self._is,
            "CONTAINS_OP": self._contains,
            "BINARY_SUBSCR": lambda k, arg, w: self._operator(k, operator.getitem, 2, w),
            "DELETE_SUBSCR": self._delete,
            "STORE_SUBSCR": self._store,
            "BINARY_SLICE": self._get_slice,
            "STORE_SLICE": self._store_slice,
            **{name: self._unary(function) for name, function in UNARY.items()},
            **self.more_operators(),
        }
        self.operators = {OP[name]: edit for name, edit in operators.items() if name in OP}

    def more_operators(self) -> dict[str, Callable[[int, int, Writer], None]]:
        """Operator instructions of this version alone."""
        return {}

    def rewrite_operators(self, w: Writer) -> None:
        """Edit the operator instructions whose operator function has a dispatcher."""
        for k, op in enumerate(w.listing.ops):
            edit = self.operators.get(op)
            if edit is not None:
                edit(k, w.listing.args[k], w)

    def _operator(
        self,
        k: int,
        function: Any,
        count: int,
        w: Writer,
        after: Sequence[Item] = (),
        before: Sequence[Item] = (),
    ) -> None:
        dispatcher = w.dispatcher(function)
        if dispatcher is not None:
            w.edits.replaced[k] = [*before, *self.call(count, dispatcher, w), *after]

    def _unary(self, function: Any) -> Callable[[int, int, Writer], None]:
        return lambda k, arg, w: self._operator(k, function, 1, w)

    def _binary(self, k: int, arg: int, w: Writer) -> None:
        self._operator(k, BINARY[arg], 2, w)

    def _compare(self, k: int, arg: int, w: Writer) -> None:
        name, to_bool = self.comparison(arg)
        self._operator(k, COMPARE[name], 2, w, self.as_bool() if to_bool else ())

    def comparison(self, arg: int) -> tuple[str, bool]:
        """The operator of a comparison, and whether it gives a bool."""
        return dis.cmp_op[arg], False

    def _not(self, k: int, arg: int, w: Writer) -> None:
        self._operator(k, operator.not_, 1, w, self.as_bool())

    def _is(self, k: int, arg: int, w: Writer) -> None:
        function = operator.is_not if arg else operator.is_
        self._operator(k, function, 2, w, self.as_bool())

    def _contains(self, k: int, arg: int, w: Writer) -> None:
        after = self.negated() if arg else self.as_bool()
        self._operator(k, operator.contains, 2, w, after, [(OP["SWAP"], 2)])

    def _delete(self, k: int, arg: int, w: Writer) -> None:
        self._operator(k, operator.delitem, 2, w, [(OP["POP_TOP"], 0)])

    def _store(self, k: int, arg: int, w: Writer, before: Sequence[Item] = ()) -> None:
        # [value, container, key] -> setitem(container, key, value)
        order: list[Item] = [*before, (OP["SWAP"], 2), (OP["SWAP"], 3)]
        self._operator(k, operator.setitem, 3, w, [(OP["POP_TOP"], 0)], order)

    def _get_slice(self, k: int, arg: int, w: Writer) -> None:
        self._operator(k, operator.getitem, 2, w, before=[(OP["BUILD_SLICE"], 2)])

    def _store_slice(self, k: int, arg: int, w: Writer) -> None:
        self._store(k, arg, w, [(OP["BUILD_SLICE"], 2)])
