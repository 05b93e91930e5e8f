"""The instruction sequences that ask for callees.

A call site is rewritten by replacing the callee, not the call: ``[callee] -> [callee']`` where
the callee is pushed. Arguments, keywords, frames and traceback positions stay native. What the
site knows is compared first; the other paths are ordered by how often they are taken.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, ClassVar

from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.python.assembly import Item, Label
from overlay.python.emit.patterns import Arguments, Patterns
from overlay.python.emit.writer import OP

__all__ = ["Kinds", "Place", "Sequences", "kinds_of"]

# Slots of the stack that are needed to map a callee, where that are more than usual.
_SLOTS_FOR_OTHERS, _SLOTS_FOR_TARGETS = 6, 7

# What is around a guard where a callee is pushed; it is given what makes the guard, by how that
# is to bind methods.
Guard = Callable[[Sequence[Item] | None], list[Item]]
Place = Callable[[Arguments, Guard], list[Item]]


class Kinds(enum.Enum):
    """What a call site has to be fast with: callees of any kind, functions and methods, or
    one callee that may be replaced by another now and then."""

    ANY = enum.auto()
    FUNCTIONS = enum.auto()
    ONE = enum.auto()


def kinds_of(value: Any) -> Kinds:
    """Where a global has that value now."""
    held = type(value) in (FunctionType, type) or type(value) is BuiltinFunctionType
    bound = type(getattr(value, "__self__", None)) is not ModuleType
    return Kinds.ONE if held and not (type(value) is BuiltinFunctionType and bound) else Kinds.ANY


class Sequences(Patterns, ABC):
    """Sequences that do not differ between Python versions, and those that they are made of."""

    JUMP_IF_TRUE: ClassVar[int] = OP.get("POP_JUMP_IF_TRUE", 0)
    JUMP_IF_FALSE: ClassVar[int] = OP.get("POP_JUMP_IF_FALSE", 0)
    JUMP_IF_NONE: ClassVar[int] = OP.get("POP_JUMP_IF_NONE", 0)

    def guard(
        self,
        w: Arguments,
        site: Any,
        again: Sequence[Item] = (),
        bind: Sequence[Item] | None = None,
        kinds: Kinds = Kinds.ANY,
    ) -> list[Item]:
        """``[callee] -> [callee']``: what the site keeps if it is the callee that it knows,
        else ask it. again: pushes the callee, which then is not pushed before; where there is
        no such way it is copied. bind, kinds: as ``ask`` has them."""
        end = Label()
        known = self.known(w, site)
        if again:
            compare = [*known, *again, (OP["IS_OP"], 0), (self.JUMP_IF_TRUE, end)]
            return [*compare, (OP["POP_TOP"], 0), *again, *self.ask(w, site, bind, kinds), end]
        hit = Label()
        return [
            *known,  # [callee, callee', known callee]
            (OP["COPY"], 3),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_TRUE, hit),
            (OP["POP_TOP"], 0),
            *self.ask(w, site, bind, kinds),
            (OP["JUMP_FORWARD"], end),
            hit,
            (OP["SWAP"], 2),
            (OP["POP_TOP"], 0),
            end,
        ]

    def guarded(
        self, w: Arguments, site: Any, again: Sequence[Item], place: Place, kinds: Kinds
    ) -> list[Item]:
        """The same with what is around it."""
        return place(w, lambda bind: self.guard(w, site, again, bind, kinds))

    def guarded_class(
        self, w: Arguments, site: Any, again: Sequence[Item], place: Place
    ) -> list[Item]:
        """The same for a class."""
        return place(w, lambda bind: self.guard_class(w, site, again))

    def guard_class(self, w: Arguments, site: Any, again: Sequence[Item]) -> list[Item]:
        """The same for a class that can be called as it is while its ``__init__`` and
        ``__new__`` are what they were."""
        missed, end = Label(), Label()
        return [
            *self.known(w, site),
            *again,
            (OP["IS_OP"], 0),
            (self.JUMP_IF_FALSE, missed),
            *again,
            *self.class_attribute("__init__", w),
            w.const(site),
            self.load_attr("init", w),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_FALSE, missed),
            *again,
            *self.class_attribute("__new__", w),
            w.const(object.__new__),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_TRUE, end),
            missed,
            (OP["POP_TOP"], 0),
            *again,
            *self.ask(w, site, kinds=Kinds.ONE),
            end,
        ]

    def known(self, w: Arguments, site: Any, pair: str = "pair") -> list[Item]:
        """Pushes what the site takes for the callee that it knows, and that callee. pair: the
        attribute of the site, "method" for functions of bound methods."""
        return [w.const(site), self.load_attr(pair, w), (OP["UNPACK_SEQUENCE"], 2)]

    def ask(
        self,
        w: Arguments,
        site: Any,
        bind: Sequence[Item] | None = None,
        kinds: Kinds = Kinds.ANY,
    ) -> list[Item]:
        """``[callee] -> [callee']`` where the site knows another callee.

        bind: turns ``[self, function']`` into the two slots of a method call, and leaves; None
        where the callee has to stay one slot.
        """
        if kinds is Kinds.ONE:
            return self.ask_other(w, site)
        function, keyed, end = Label(), Label(), Label()
        pop: Item = (OP["POP_TOP"], 0)
        jump: Item = (OP["JUMP_FORWARD"], end)
        if kinds is Kinds.ANY:
            rest = self._other_kinds(w, site, bind, keyed, end)
        else:
            rest = [pop, *self.ask_other(w, site)]
        return [
            *self.type_of(w),
            *self._if_kind(FunctionType, function, w),
            *([] if bind is None else self._method_value(w, site, bind, end)),
            *rest,
            jump,
            function,
            w.const(site),
            self.load_attr("clean", w),
            (self.JUMP_IF_NONE, keyed),
            (OP["COPY"], 2),
            self.load_attr("__code__", w),
            w.const(site),
            self.load_attr("clean", w),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_FALSE, keyed),
            pop,
            jump,
            keyed,
            pop,
            *self.look_up(w, site),
            end,
        ]

    def _other_kinds(
        self, w: Arguments, site: Any, bind: Sequence[Item] | None, keyed: Label, end: Label
    ) -> list[Item]:
        """``[callee, kind] -> [callee']`` for what is neither a function nor a method."""
        w.slots = _SLOTS_FOR_OTHERS
        builtin, others = Label(), Label()
        return [
            *self._if_kind(type, keyed, w),
            *self._if_kind(BuiltinFunctionType, builtin, w),
            *([] if bind is None else self._instance(w, site, bind)),
            *([] if bind is None else [(OP["JUMP_FORWARD"], others)]),
            builtin,
            (OP["POP_TOP"], 0),
            others,
            *self._same(w, site, end),
            *self.ask_other(w, site),
        ]

    def _if_kind(self, kind: Any, where: Label, w: Arguments) -> list[Item]:
        """``[kind]``: jump if it is that."""
        return [(OP["COPY"], 1), w.const(kind), (OP["IS_OP"], 0), (self.JUMP_IF_TRUE, where)]

    def _method_value(
        self, w: Arguments, site: Any, bind: Sequence[Item], end: Label
    ) -> list[Item]:
        """``[bound method, MethodType]`` to two slots where the site knows its function."""
        other, missed = Label(), Label()
        return [
            (OP["COPY"], 1),
            w.const(MethodType),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_FALSE, other),
            (OP["POP_TOP"], 0),
            *self.known(w, site, "method"),  # [bound method, function', known function]
            (OP["COPY"], 3),
            self.load_attr("__func__", w),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_FALSE, missed),
            (OP["SWAP"], 2),
            self.load_attr("__self__", w),
            (OP["SWAP"], 2),
            *bind,
            missed,
            (OP["POP_TOP"], 0),
            *self.ask_other(w, site),
            (OP["JUMP_FORWARD"], end),
            other,
        ]

    def _instance(self, w: Arguments, site: Any, bind: Sequence[Item]) -> list[Item]:
        """``[object, its class]`` to two slots where the site knows that class's ``__call__``."""
        other, changed = Label(), Label()
        return [
            w.const(site),
            self.load_attr("instance", w),
            (OP["UNPACK_SEQUENCE"], 3),  # [object, class, __call__, function', known class]
            (OP["COPY"], 4),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_FALSE, other),
            (OP["SWAP"], 3),
            *self.class_attribute("__call__", w),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_FALSE, changed),
            *bind,
            other,
            (OP["POP_TOP"], 0),
            (OP["POP_TOP"], 0),
            changed,
            (OP["POP_TOP"], 0),
        ]

    def _same(self, w: Arguments, site: Any, end: Label) -> list[Item]:
        """``[callee]``: done if it is the one that the site takes as it is."""
        return [
            w.const(site),
            self.load_attr("same", w),
            *self.call_pushed(),
            (OP["COPY"], 2),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_TRUE, end),
        ]

    def unbind(self, w: Arguments, site: Any, loads: Sequence[Item] = ()) -> list[Item]:
        """``[callee] -> [function', receiver]``, the two slots of a method call, for a callee
        that comes bound each time; ``[callee']`` and NULL where it is not what the site knows."""
        method, hit, end = Label(), Label(), Label()
        other: list[Item] = [*self.ask_other(w, site), *self.beside_null()]
        return [
            *self.type_of(w),
            w.const(MethodType),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_TRUE, method),
            *other,
            (OP["JUMP_FORWARD"], end),
            method,
            *self.known(w, site),  # [bound method, function', known function]
            (OP["COPY"], 3),
            self.load_attr("__func__", w),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_TRUE, hit),
            (OP["POP_TOP"], 0),
            *other,
            (OP["JUMP_FORWARD"], end),
            hit,
            (OP["SWAP"], 2),
            self.load_attr("__self__", w),
            end,
        ]

    def look_up(self, w: Arguments, site: Any) -> list[Item]:
        """``[function] -> [callee']``."""
        return [w.const(site), (OP["SWAP"], 2), (OP["BINARY_SUBSCR"], 0)]

    def ask_other(self, w: Arguments, site: Any) -> list[Item]:
        """``[callee] -> [callee']`` by the slowest path."""
        return self.look_up(w, site.other)

    def guard_deep(self, w: Arguments, site: Any, loads: Sequence[Item], depth: int) -> list[Item]:
        """Map the callee that stands ``depth`` slots from the top."""
        swap: list[Item] = [(OP["SWAP"], depth)] if depth > 1 else []
        return [*swap, *self.guard(w, site), *swap]

    def dispatch_inline(
        self, w: Arguments, site: Any, loads: Sequence[Item], callee: int
    ) -> list[Item]:
        """Before a call with one positional argument, whose callee stands ``callee`` slots from
        the top: put in the method that the site knows for the target and the argument's type,
        else ask."""
        w.slots = _SLOTS_FOR_TARGETS
        other, missed, end = Label(), Label(), Label()
        load = w.const(site)
        return [
            load,
            self.load_attr("inline", w),
            (OP["UNPACK_SEQUENCE"], 3),  # [callee, .., argument, method, target, type]
            *self.type_of(w, 4),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_FALSE, other),
            (OP["COPY"], callee + 2),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_TRUE, end),
            (OP["JUMP_FORWARD"], missed),
            other,
            (OP["POP_TOP"], 0),
            missed,
            (OP["POP_TOP"], 0),
            *self.pick(callee, site, w),
            end,
            (OP["SWAP"], callee + 1),
            (OP["POP_TOP"], 0),
        ]

    # ---- what the versions have each in their own way ----

    @abstractmethod
    def two_slots(self, w: Arguments, guard: Guard) -> list[Item]:
        """The place of a callee that was pushed, and is to be in the two slots of a call."""
        ...

    @abstractmethod
    def two_slots_anew(self, w: Arguments, guard: Guard) -> list[Item]:
        """The same of one that was not pushed before."""
        ...

    def as_value(self, w: Arguments, guard: Guard) -> list[Item]:
        """The place of a callee that stays one slot."""
        return guard(None)

    def load_attr(self, name: str, w: Arguments) -> Item:
        """Plain attribute load."""
        return OP["LOAD_ATTR"], w.name(name, 1)

    def class_attribute(self, name: str, w: Arguments) -> list[Item]:
        """``[class] -> [class.name]``, where that is no method of its metaclass."""
        return [self.load_attr(name, w)]

    @abstractmethod
    def beside_null(self) -> list[Item]:
        """``[callable]`` to that and NULL, as a call expects them."""
        ...

    @abstractmethod
    def type_of(self, w: Arguments, depth: int = 1) -> list[Item]:
        """``[x, ..] -> [x, .., type(x)]`` of what stands ``depth`` slots from the top."""
        ...

    @abstractmethod
    def pick(self, callee: int, site: Any, w: Arguments) -> list[Item]:
        """``[callee, .., x] -> [callee, .., x, site.pick(callee, x)]``."""
        ...

    @abstractmethod
    def call(self, count: int, function: Any, w: Arguments) -> list[Item]:
        """``[a1..an] -> [function(a1, .., an)]`` for n of 0 to 3."""
        ...

    @abstractmethod
    def call_pushed(self) -> list[Item]:
        """``[callable] -> [callable()]``."""
        ...

    def as_bool(self) -> list[Item]:
        """``[x] -> [bool(x)]``."""
        return [(OP["UNARY_NOT"], 0), (OP["UNARY_NOT"], 0)]

    def negated(self) -> list[Item]:
        """``[x] -> [not x]``."""
        return [(OP["UNARY_NOT"], 0)]
