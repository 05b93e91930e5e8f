"""Instructions that call functions of the program by themselves, with calls of ours around them.

An instruction is asked for first: a *resolver* gets copies of its operands, and answers what to
call on them in place of the instruction, or None where no function of the program takes part.
Then the native instruction runs. Where an instruction only needs another operand, such as an
iterator, a helper puts that in its place, and the instruction stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from overlay.code.operators import BINARY, COMPARE, UNARY
from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.python.assembly import Item, Label
from overlay.python.emit.common import Emitter
from overlay.python.emit.writer import OP, Writer

__all__ = ["DEEPER", "rewrite_implicit"]

# slots that the sequences here need beyond those of the code
DEEPER = 8
# instructions that push True or False
_GIVE_BOOL = frozenset(OP[n] for n in ("IS_OP", "CONTAINS_OP", "UNARY_NOT") if n in OP)
_HAS_TO_BOOL = "TO_BOOL" in OP
_HAS_SPEC = 4  # flag of FORMAT_VALUE; the conversion stands in the two bits below
_POSITIVE = 5  # intrinsic function
_POP: Item = (OP["POP_TOP"], 0)
_SWAP: Item = (OP["SWAP"], 2)
_BUILD: Item = (OP["BUILD_SLICE"], 2)
Edit = Callable[[int, int], None]


def rewrite_implicit(emitter: Emitter, w: Writer, implicit: Any) -> None:
    """Edit every instruction that may call a function of the program by itself, and that is
    not an operator with a dispatcher."""
    edits = _Implicit(emitter, w, implicit).by_op()
    for k, op in enumerate(w.listing.ops):
        edit = edits.get(op)
        if edit is not None:
            edit(k, w.listing.args[k])


class _Implicit:
    def __init__(self, emitter: Emitter, w: Writer, implicit: Any) -> None:
        self.emitter = emitter
        self.w = w
        self.implicit = implicit
        self.joins = set(w.listing.targets.values())

    def by_op(self) -> dict[int, Edit]:
        """What edits an instruction. Not kept here: a cycle would keep the code alive."""
        tested = self.implicit.numbers.tested
        edits = {
            **self._operands(),
            **self._operators(),
            **self._statements(),
            **{n: self._jump for n in OP if n.startswith("POP_JUMP_") and "NONE" not in n},
            "TO_BOOL": self._operand(tested),
        }
        return {OP[name]: edit for name, edit in edits.items() if name in OP}

    def _operands(self) -> dict[str, Edit]:
        iteration, blocks = self.implicit.iteration, self.implicit.blocks
        helpers: dict[str, Callable[..., Any]] = {
            "GET_ITER": iteration.entered,
            "UNPACK_SEQUENCE": iteration.entered,
            "UNPACK_EX": iteration.listed,
            "SET_UPDATE": iteration.entered,
            "LIST_EXTEND": iteration.sized,
            "DICT_UPDATE": iteration.merged,
            "DICT_MERGE": iteration.merged,
            "GET_YIELD_FROM_ITER": iteration.delegated,
            "GET_AWAITABLE": blocks.awaited,
            "GET_AITER": blocks.asynchronous,
        }
        return {name: self._operand(helper) for name, helper in helpers.items()}

    def _operators(self) -> dict[str, Edit]:
        items, resolvers = self.implicit.items, self.implicit.resolvers
        in_order: list[Item] = [_SWAP, (OP["SWAP"], 3)]  # value, container, key: value is last
        back: list[Item] = [(OP["SWAP"], 3), _SWAP]
        return {
            **{name: self._unary(resolvers[function]) for name, function in UNARY.items()},
            "BINARY_OP": lambda k, arg: self._asked(k, 2, resolvers[BINARY[arg]]),
            "COMPARE_OP": self._compare,
            "CONTAINS_OP": self._contains,
            "IS_OP": self._is,
            "UNARY_NOT": self._not,
            "CALL_INTRINSIC_1": self._positive,
            "BINARY_SUBSCR": lambda k, arg: self._asked(k, 2, items.resolve_get),
            "BINARY_SLICE": lambda k, arg: self._asked(
                k, 2, items.resolve_get, before=[_BUILD], native=[(OP["BINARY_SUBSCR"], 0)]
            ),
            "STORE_SUBSCR": lambda k, arg: self._asked(
                k, 3, items.resolve_set, before=in_order, back=back, pops=True
            ),
            "STORE_SLICE": lambda k, arg: self._asked(
                k,
                3,
                items.resolve_set,
                before=[_BUILD, *in_order],
                back=back,
                native=[(OP["STORE_SUBSCR"], 0)],
                pops=True,
            ),
            "DELETE_SUBSCR": lambda k, arg: self._asked(k, 2, items.resolve_delete, pops=True),
        }

    def _statements(self) -> dict[str, Edit]:
        blocks, text = self.implicit.blocks, self.implicit.text
        return {
            "CALL_FUNCTION_EX": self._splat,
            "RAISE_VARARGS": self._raise,
            "LOAD_BUILD_CLASS": self._class,
            "LOAD_ATTR": self._load,
            "LOAD_SUPER_ATTR": self._load_super,
            "STORE_ATTR": self._store,
            "DELETE_ATTR": self._delete,
            "BEFORE_WITH": lambda k, arg: self._enter(k, blocks.resolve),
            "BEFORE_ASYNC_WITH": lambda k, arg: self._enter(k, blocks.resolve_async),
            "FORMAT_VALUE": self._format,
            "CONVERT_VALUE": lambda k, arg: self._asked(k, 1, text.conversions[arg]),
            "FORMAT_SIMPLE": lambda k, arg: self._asked(k, 1, text.resolve),
            "FORMAT_WITH_SPEC": lambda k, arg: self._asked(k, 2, text.resolve),
            "GET_LEN": self._length,
            "MATCH_CLASS": lambda k, arg: self._asked(
                k, 3, self.implicit.patterns.resolve_class(arg)
            ),
            "MATCH_KEYS": self._match_keys,
        }

    # ---- sequences ----

    def _call(self, count: int, function: Any) -> list[Item]:
        return self.emitter.call(count, function, self.w)

    def _operand(self, helper: Any) -> Edit:
        """``helper`` gives what the instruction takes in place of its topmost operand."""
        return lambda k, arg: self._before(k, self._call(1, helper))

    def _before(self, k: int, items: list[Item]) -> None:
        if k not in self.w.edits.replaced:
            self.w.edits.before[k] = [*items, *self.w.edits.before.get(k, ())]

    def _asked(
        self,
        k: int,
        count: int,
        resolver: Any,
        *,
        before: Sequence[Item] = (),
        back: Sequence[Item] = (),
        native: Sequence[Item] | None = None,
        after: Sequence[Item] = (),
        pops: bool = False,
    ) -> None:
        """Ask before an instruction with ``count`` operands.

        before: brings them into the order of the function; back: into the native one. native:
        the instruction, after. after: what follows a call. pops: the call's result is dropped.
        """
        if k in self.w.edits.replaced:
            return
        if native is None:
            native = [(self.w.listing.ops[k], self.w.listing.args[k])]
        ours, end = Label(), Label()
        self.w.edits.replaced[k] = [
            *before,
            *self.emitter.call_on_copies(count, resolver, self.w),
            (OP["COPY"], 1),
            (self.emitter.JUMP_IF_NOT_NONE, ours),
            _POP,
            *back,
            *native,
            (OP["JUMP_FORWARD"], end),
            ours,
            *self.emitter.call_pushed(count),
            *after,
            *([_POP] if pops else ()),
            end,
        ]

    # ---- operators and truth ----

    def _unary(self, resolver: Any) -> Edit:
        return lambda k, arg: self._asked(k, 1, resolver)

    def _positive(self, k: int, arg: int) -> None:
        if arg == _POSITIVE:
            self._asked(k, 1, self.implicit.resolvers[UNARY["UNARY_POSITIVE"]])

    def _compare(self, k: int, arg: int) -> None:
        name, to_bool = self.emitter.comparison(arg)
        if to_bool:
            self._result(k, self.emitter.as_bool())
        truth = self._call(1, self.implicit.numbers.truth) if to_bool else []
        self._asked(k, 2, self.implicit.resolvers[COMPARE[name]], after=truth)

    def _contains(self, k: int, arg: int) -> None:
        self._result(k, self.emitter.negated() if arg else self.emitter.as_bool())
        negated: list[Item] = [(OP["UNARY_NOT"], 0)] if arg else []
        resolve = self.implicit.items.resolve_contains
        self._asked(k, 2, resolve, before=[_SWAP], back=[_SWAP], after=negated)

    def _is(self, k: int, arg: int) -> None:
        self._result(k, self.emitter.as_bool())

    def _result(self, k: int, end: list[Item]) -> None:
        """What an overlay of the operator gave is asked for its truth: ``end`` does so natively."""
        replaced = self.w.edits.replaced.get(k)
        if replaced is not None:
            at = len(replaced) - len(end)
            replaced[at:at] = self._call(1, self.implicit.numbers.tested)

    def _not(self, k: int, arg: int) -> None:
        self._result(k, self.emitter.as_bool())
        if not _HAS_TO_BOOL:
            self._before(k, self._call(1, self.implicit.numbers.tested))

    def _jump(self, k: int, arg: int) -> None:
        known = k not in self.joins and self.w.listing.ops[k - 1] in _GIVE_BOOL
        if not _HAS_TO_BOOL and not known:
            self._before(k, self._call(1, self.implicit.numbers.tested))

    # ---- calls and blocks ----

    def _splat(self, k: int, arg: int) -> None:
        swap = [_SWAP] if arg & 1 else []
        self._before(k, [*swap, *self._call(1, self.implicit.iteration.sized), *swap])

    def _raise(self, k: int, arg: int) -> None:
        raised = self._call(1, self.implicit.blocks.raised)
        if arg:
            self._before(k, raised if arg == 1 else [_SWAP, *raised, _SWAP, *raised])

    def _enter(self, k: int, resolver: Any) -> None:
        enter: list[Item] = [(OP["UNPACK_SEQUENCE"], 2), *self.emitter.call_pushed(0)]
        self._asked(k, 1, resolver, after=enter)

    def _class(self, k: int, arg: int) -> None:
        self.w.edits.after[k] = self._call(1, self.implicit.classes.statement)

    # ---- attributes ----

    def _load(self, k: int, arg: int) -> None:
        name = self.emitter.attribute(k, self.w)
        attributes = self.implicit.attributes
        if not self.emitter.is_method_load(self.w.listing.ops[k], arg):
            self._asked(k, 1, attributes.resolver(name))
            return
        edits = self.w.edits
        if k > 0 and edits.replaced.get(k - 1) == [(OP["NOP"], 0)]:
            return  # the attribute of a module that is loaded together with it
        native = [*edits.replaced.pop(k, [(self.w.listing.ops[k], arg)]), *edits.after.pop(k, ())]
        site = self.w.new_site(None)
        value = [self.emitter.filled(self.w, site, self.emitter.guard), *self.emitter.as_callable()]
        self._asked(k, 1, attributes.resolver_method(name), native=native, after=value)

    def _load_super(self, k: int, arg: int) -> None:
        if not arg & 1:
            resolver = self.implicit.attributes.resolver_super(self.emitter.attribute(k, self.w))
            self._asked(k, 3, resolver)

    def _store(self, k: int, arg: int) -> None:
        resolver = self.implicit.attributes.resolver_store(self.w.listing.code.co_names[arg])
        self._asked(k, 2, resolver, before=[_SWAP], back=[_SWAP], pops=True)

    def _delete(self, k: int, arg: int) -> None:
        resolver = self.implicit.attributes.resolver_delete(self.w.listing.code.co_names[arg])
        self._asked(k, 1, resolver, pops=True)

    # ---- text and patterns ----

    def _format(self, k: int, arg: int) -> None:
        text = self.implicit.text
        count = 2 if arg & _HAS_SPEC else 1
        self._asked(k, count, text.converting(arg & 3) if arg & 3 else text.resolve)

    def _length(self, k: int, arg: int) -> None:
        resolver = self.implicit.numbers.resolve_length
        copy: list[Item] = [(OP["COPY"], 1)]
        native: list[Item] = [(OP["GET_LEN"], 0), _SWAP, _POP]
        self._asked(k, 1, resolver, before=copy, native=native)

    def _match_keys(self, k: int, arg: int) -> None:
        copies: list[Item] = [(OP["COPY"], 2), (OP["COPY"], 2)]
        native: list[Item] = [(OP["MATCH_KEYS"], 0), (OP["SWAP"], 3), _POP, _POP]
        resolver = self.implicit.patterns.resolve_keys
        self._asked(k, 2, resolver, before=copies, native=native)
