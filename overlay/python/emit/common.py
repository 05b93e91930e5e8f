"""What the emitters share: reading call sites off the stack, and the sequences that do not
differ between Python versions.

A call site is rewritten by replacing the callee, not the call: ``[callee] -> [callee']`` where
the callee is pushed. Arguments, keywords, frames and traceback positions stay native.
"""

from __future__ import annotations

import builtins
import dis
import enum
import heapq
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, ClassVar

from overlay.python.assembly import Edits, Item, Label, Listing, Region
from overlay.python.construction import is_simple
from overlay.python.emit.effects import FINAL, follow, jumped
from overlay.python.own_builtins import __builtins__  # noqa: F401
from overlay.target import type_attribute

__all__ = ["COMPREHENSIONS", "OP", "OPTIMIZED", "Emitter", "Stack", "Tag", "Writer", "shuffled"]

OP = dis.opmap
OPTIMIZED = 0x1
# attributes of a function that its twin has from it
CHANGES = frozenset({"__code__", "__defaults__", "__kwdefaults__", "__name__", "__qualname__"})
COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})

# What is known of a stack slot: the kind of instruction that pushed it, its index, and more.
Tag = tuple[str, int, Any]
Stack = list[Tag | None]

BINARY: list[Callable[..., Any]] = [
    *(operator.add, operator.and_, operator.floordiv, operator.lshift, operator.matmul),
    *(operator.mul, operator.mod, operator.or_, operator.pow, operator.rshift),
    *(operator.sub, operator.truediv, operator.xor),
    *(operator.iadd, operator.iand, operator.ifloordiv, operator.ilshift, operator.imatmul),
    *(operator.imul, operator.imod, operator.ior, operator.ipow, operator.irshift),
    *(operator.isub, operator.itruediv, operator.ixor),
]
COMPARE: dict[str, Callable[..., Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
UNARY: dict[str, Callable[..., Any]] = {
    "UNARY_NEGATIVE": operator.neg,
    "UNARY_POSITIVE": operator.pos,
    "UNARY_INVERT": operator.invert,
}

# Instructions that push one value that they read, and that may be run twice.
_READS = {"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_DEREF"}
# Others that push one value.
_PUSHES = {"LOAD_NAME", "LOAD_CLASSDEREF"}
READS = frozenset(OP[name] for name in (*_READS, "LOAD_GLOBAL") if name in OP)
VALUES = frozenset(OP[name] for name in (*_READS, *_PUSHES) if name in OP)


# Slots of the stack that are needed to map a callee, from its own on.
_SLOTS, _SLOTS_FOR_OTHERS, _SLOTS_FOR_TARGETS = 4, 6, 7


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


class Writer:
    """What is gathered while one code object is rewritten.

    new_site: makes the site for a call with that many positional arguments (None: unknown),
    and the attribute that the callee is, if it is one.
    dispatcher: what an operator function is replaced by, or None.
    overlaid: whether a callable is a target.
    """

    def __init__(
        self,
        listing: Listing,
        namespace: dict[str, Any],
        new_site: Callable[..., Any],
        dispatcher: Callable[[Any], Any | None],
        overlaid: Callable[[Any], bool],
    ) -> None:
        self.listing = listing
        self.namespace = namespace
        self.new_site = new_site
        self.dispatcher = dispatcher
        self.overlaid = overlaid
        self.edits = Edits()
        self.consts: list[Any] = []
        self.names: list[str] = []
        self.local: str | None = None
        self.depth = 0  # of the stack, as far as edits need it
        self.slots = 0  # that the call needs which is being edited, from its callee on
        self.mapped: set[int] = set()  # instructions that push a callee, and that are mapped
        self._const_at: dict[int, int] = {}
        self.optimized = bool(listing.code.co_flags & OPTIMIZED)

    def const(self, value: Any) -> Item:
        """The instruction that loads ``value``."""
        at = self._const_at.get(id(value))
        if at is None:
            at = self._const_at[id(value)] = len(self.listing.code.co_consts) + len(self.consts)
            self.consts.append(value)
        return OP["LOAD_CONST"], at

    def name(self, text: str) -> int:
        """Index of a name."""
        for held, first in (
            (self.listing.code.co_names, 0),
            (self.names, len(self.listing.code.co_names)),
        ):
            if text in held:
                return held.index(text) + first
        self.names.append(text)
        return len(self.listing.code.co_names) + len(self.names) - 1

    def temporary(self) -> int:
        """The local variable that holds a method for a few instructions; no program can have
        one of that name."""
        self.local = ".method"
        return self.listing.code.co_nlocals


class Emitter(ABC):
    """The instruction sequences of one Python minor version."""

    CALLS: ClassVar[frozenset[int]]
    JUMP_IF_TRUE: ClassVar[int] = OP.get("POP_JUMP_IF_TRUE", 0)
    JUMP_IF_FALSE: ClassVar[int] = OP.get("POP_JUMP_IF_FALSE", 0)
    JUMP_IF_NONE: ClassVar[int] = OP.get("POP_JUMP_IF_NONE", 0)
    JUMP_IF_NOT_NONE: ClassVar[int] = OP.get("POP_JUMP_IF_NOT_NONE", 0)
    DEEPER_FOR_OPERATORS: ClassVar[int] = 2

    def __init__(self) -> None:
        steps: dict[str, Callable[[int, int, int, Stack, Writer], None]] = {
            "SWAP": _swap,
            "COPY": _copy,
            "PUSH_NULL": lambda k, op, arg, stack, w: stack.append(("null", k, None)),
            "LOAD_GLOBAL": self._load_global,
            "LOAD_CONST": _load_const,
            "MAKE_FUNCTION": _make_function,
            "SET_FUNCTION_ATTRIBUTE": _set_attribute,
            "BEFORE_WITH": _before_with,
            "BEFORE_ASYNC_WITH": _before_with,
            "LOAD_BUILD_CLASS": lambda k, op, arg, stack, w: stack.append(("build", k, None)),
            "LOAD_ATTR": self._load_attr,
            "LOAD_METHOD": self._load_attr,
            "LOAD_SUPER_ATTR": self._load_super,
            "LOAD_FROM_DICT_OR_GLOBALS": _load_from_dict,
            "LOAD_FROM_DICT_OR_DEREF": _load_from_dict,
        }
        self.steps = {OP[name]: step for name, step in steps.items() if name in OP}
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

    # ---- walking ----

    def rewrite_calls(self, w: Writer) -> None:
        """Edit every call: walk the instructions with what is known of each stack slot."""
        listing = w.listing
        ops, args = listing.ops, listing.args
        handlers: dict[int, list[Region]] = {}
        for region in listing.regions:
            handlers.setdefault(region.start, []).append(region)
        entries: dict[int, Stack] = {}
        visited = bytearray(len(ops))
        pending: list[tuple[int, int, Stack]] = [(0, 0, [])]
        while pending:
            k, _, stack = heapq.heappop(pending)
            while not visited[k]:
                stack = _common(entries[k], stack) if k in entries else list(stack)
                visited[k] = 1
                for region in handlers.get(k, ()):
                    pushed = region.depth - len(stack[: region.depth]) + region.lasti + 1
                    _push(pending, entries, region.target, stack[: region.depth] + [None] * pushed)
                op = ops[k]
                if op in self.CALLS:
                    edits = len(w.edits)
                    w.slots = _SLOTS
                    self.rewrite_call(k, stack, w)
                    if len(w.edits) > edits:
                        w.depth = max(w.depth, self.depth_needed(k, stack, w))
                if k in listing.targets:
                    _push(pending, entries, listing.targets[k], jumped(op, args[k], stack))
                if op in FINAL:
                    break
                self._step(k, op, args[k], stack, w)
                k += 1

    def depth_needed(self, k: int, stack: Stack, w: Writer) -> int:
        """How deep the stack gets where the callee of a call is mapped."""
        at_call = k in w.edits.before or k - 1 in w.edits.before
        arguments = 0 if at_call else w.listing.args[k]
        return len(stack) - arguments - 1 + w.slots

    def _step(self, k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
        step = self.steps.get(op)
        if step is not None:
            step(k, op, arg, stack, w)
        elif op in VALUES:
            stack.append(("value", k, None))
        else:
            follow(op, arg, stack)

    def _load_global(self, k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
        value = lookup(w.namespace, w.listing.code.co_names[arg >> 1])
        if arg & 1:
            stack += self.global_call_slots(k, value)
        elif isinstance(value, (ModuleType, type)):
            stack.append(("static", k, value))
        else:
            stack.append(("value", k, None))

    def global_call_slots(self, k: int, value: Any) -> Stack:
        """The two slots of ``LOAD_GLOBAL`` with NULL, in this version's order."""
        return [("null", k, None), ("global", k, value)]

    def _load_attr(self, k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
        receiver = stack.pop()
        if self.is_method_load(op, arg):
            kind = "static method" if receiver and receiver[0] == "static" else "method"
            known = (receiver, len(stack) + 1)
            stack += [(kind, k, known), (kind, k, known)]
            return
        value = None
        if receiver is not None and receiver[0] in ("static", "global"):
            value = getattr_static(receiver[2], self.attribute(k, w))
        known = isinstance(value, (ModuleType, type))
        stack.append(("static" if known else "value", k, value))

    def _load_super(self, k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
        del stack[-3:]
        if arg & 1:
            stack += [("method", k, (None, len(stack) + 1))] * 2
        else:
            stack.append(None)

    def is_method_load(self, op: int, arg: int) -> bool:
        """Whether it pushes a function and its receiver, or NULL and a callable."""
        return bool(arg & 1)

    def attribute(self, k: int, w: Writer) -> str:
        """The name that an attribute load looks up."""
        shift = 2 if w.listing.ops[k] == OP["LOAD_SUPER_ATTR"] else 1
        return w.listing.code.co_names[w.listing.args[k] >> shift]

    def load_attr(self, name: int) -> Item:
        """Plain attribute load."""
        return OP["LOAD_ATTR"], name << 1

    # ---- sequences ----

    def guard(
        self,
        w: Writer,
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

    def guard_class(self, w: Writer, again: Sequence[Item], arity: int | None) -> list[Item]:
        """The same for a class that can be called as it is while its ``__init__`` and
        ``__new__`` are what they were."""
        missed, end = Label(), Label()
        site = w.new_site(arity, None, True)
        return [
            *self.known(w, site),
            *again,
            (OP["IS_OP"], 0),
            (self.JUMP_IF_FALSE, missed),
            *again,
            *self.class_attribute("__init__", w),
            w.const(site),
            self.load_attr(w.name("init")),
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

    def class_attribute(self, name: str, w: Writer) -> list[Item]:
        """``[class] -> [class.name]``, where that is no method of its metaclass."""
        return [self.load_attr(w.name(name))]

    def known(self, w: Writer, site: Any) -> list[Item]:
        """Pushes what the site takes for the callee that it knows, and that callee."""
        return [w.const(site), self.load_attr(w.name("pair")), (OP["UNPACK_SEQUENCE"], 2)]

    def ask(
        self,
        w: Writer,
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
            self.load_attr(w.name("clean")),
            (self.JUMP_IF_NONE, keyed),
            (OP["COPY"], 2),
            self.load_attr(w.name("__code__")),
            w.const(site),
            self.load_attr(w.name("clean")),
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
        self, w: Writer, site: Any, bind: Sequence[Item] | None, keyed: Label, end: Label
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

    def _if_kind(self, kind: Any, where: Label, w: Writer) -> list[Item]:
        """``[kind]``: jump if it is that."""
        return [(OP["COPY"], 1), w.const(kind), (OP["IS_OP"], 0), (self.JUMP_IF_TRUE, where)]

    def _method_value(self, w: Writer, site: Any, bind: Sequence[Item], end: Label) -> list[Item]:
        """``[bound method, MethodType]`` to two slots where the site knows its function."""
        other, missed = Label(), Label()
        return [
            (OP["COPY"], 1),
            w.const(MethodType),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_FALSE, other),
            (OP["POP_TOP"], 0),
            *self.known(w, site),  # [bound method, function', known function]
            (OP["COPY"], 3),
            self.load_attr(w.name("__func__")),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_FALSE, missed),
            (OP["SWAP"], 2),
            self.load_attr(w.name("__self__")),
            (OP["SWAP"], 2),
            *bind,
            missed,
            (OP["POP_TOP"], 0),
            *self.ask_other(w, site),
            (OP["JUMP_FORWARD"], end),
            other,
        ]

    def _instance(self, w: Writer, site: Any, bind: Sequence[Item]) -> list[Item]:
        """``[object, its class]`` to two slots where the site knows that class's ``__call__``."""
        other, changed = Label(), Label()
        return [
            w.const(site),
            self.load_attr(w.name("instance")),
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

    def _same(self, w: Writer, site: Any, end: Label) -> list[Item]:
        """``[callee]``: done if it is the one that the site takes as it is."""
        return [
            w.const(site),
            self.load_attr(w.name("same")),
            *self.call_pushed(0),
            (OP["COPY"], 2),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_TRUE, end),
        ]

    def unbind(self, w: Writer, site: Any) -> list[Item]:
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
            self.load_attr(w.name("__func__")),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_TRUE, hit),
            (OP["POP_TOP"], 0),
            *other,
            (OP["JUMP_FORWARD"], end),
            hit,
            (OP["SWAP"], 2),
            self.load_attr(w.name("__self__")),
            end,
        ]

    @abstractmethod
    def beside_null(self) -> list[Item]:
        """``[callable]`` to that and NULL, as a call expects them."""
        ...

    def look_up(self, w: Writer, site: Any) -> list[Item]:
        """``[function] -> [callee']``."""
        return [w.const(site), (OP["SWAP"], 2), (OP["BINARY_SUBSCR"], 0)]

    def ask_other(self, w: Writer, site: Any) -> list[Item]:
        """``[callee] -> [callee']`` by the slowest path."""
        return self.look_up(w, site.other)

    @abstractmethod
    def type_of(self, w: Writer, depth: int = 1) -> list[Item]:
        """``[x, ..] -> [x, .., type(x)]`` of what stands ``depth`` slots from the top."""
        ...

    def guard_deep(self, w: Writer, depth: int, site: Any) -> list[Item]:
        """Map the callee that stands ``depth`` slots from the top."""
        swap: list[Item] = [(OP["SWAP"], depth)] if depth > 1 else []
        return [*swap, *self.guard(w, site), *swap]

    def map_value(
        self,
        tag: Tag,
        arity: int | None,
        w: Writer,
        after: Sequence[Item] = (),
        bind: Sequence[Item] | None = None,
    ) -> None:
        """Map the callee that one instruction pushes, where it is pushed; ``after`` that."""
        k = tag[1]
        op, arg = w.listing.ops[k], w.listing.args[k]
        w.mapped.add(k)
        if op == OP["LOAD_GLOBAL"]:
            arg &= ~1
            if is_simple(tag[2]):
                w.edits.replaced[k] = [*self.guard_class(w, [(op, arg)], arity), *after]
                return
        site = w.new_site(arity)
        kinds = kinds_of(tag[2])
        if op in READS:
            w.edits.replaced[k] = [*self.guard(w, site, [(op, arg)], bind, kinds), *after]
        elif op == OP["LOAD_ATTR"] and self._of_module(k - 1, w):
            loaded: Item = (OP["LOAD_GLOBAL"], w.listing.args[k - 1] & ~1)
            null = OP["PUSH_NULL"] if w.listing.args[k - 1] & 1 else OP["NOP"]
            w.edits.replaced[k - 1] = [(null, 0)]
            w.edits.replaced[k] = [*self.guard(w, site, [loaded, (op, arg)], bind, kinds), *after]
        else:
            w.edits.after[k] = [*self.guard(w, site, (), bind), *after]

    def _of_module(self, k: int, w: Writer) -> bool:
        """Whether an instruction loads a module, which may be done twice, and is not edited."""
        if k < 0 or w.listing.ops[k] != OP["LOAD_GLOBAL"] or not w.edits.once(k):
            return False
        name = w.listing.code.co_names[w.listing.args[k] >> 1]
        return isinstance(lookup(w.namespace, name), ModuleType)

    def map_static(self, tag: Tag, site: Any, w: Writer) -> None:
        """Map a method load whose receiver is a module or class: it gives a plain callable."""
        k = tag[1]
        name = self.attribute(k, w)
        plain = self.load_attr(w.name(name))
        receiver = tag[2][0][2]
        if isinstance(receiver, type) and type(type_attribute(receiver, name)) is classmethod:
            w.edits.replaced[k] = [plain, *self.unbind(w, w.new_site(None, name))]
        elif self._of_module(k - 1, w):
            load: Item = (OP["LOAD_GLOBAL"], w.listing.args[k - 1] & ~1)
            w.edits.replaced[k - 1] = [(OP["NOP"], 0)]
            kinds = kinds_of(getattr_static(receiver, name))
            w.edits.replaced[k] = self.two_slots(w, site, [load, plain], kinds)
        else:
            w.edits.replaced[k] = [plain, *self.two_slots(w, site)]

    @abstractmethod
    def two_slots(
        self, w: Writer, site: Any, again: Sequence[Item] = (), kinds: Kinds = Kinds.FUNCTIONS
    ) -> list[Item]:
        """``[callee]`` to the two slots of a call of ``callee'``; again, kinds as in ``guard``."""
        ...

    def tell_of_changes(self, w: Writer, changed: Callable[[], None]) -> None:
        """Call ``changed`` after each instruction that sets an attribute of such a name."""
        if CHANGES.isdisjoint(w.listing.code.co_names):
            return
        for k, op in enumerate(w.listing.ops):
            if op == OP["STORE_ATTR"] and w.listing.code.co_names[w.listing.args[k]] in CHANGES:
                call = self.call(0, changed, w)
                w.edits.after[k] = [*w.edits.after.get(k, ()), *call, (OP["POP_TOP"], 0)]

    def is_target(self, tag: Tag | None, w: Writer) -> bool:
        """Whether what an instruction loads, as a global or from a module, is a target now."""
        if tag is None or not w.edits.once(tag[1]):
            return False
        if tag[0] in ("global", "value", "static"):
            return tag[2] is not None and w.overlaid(tag[2])
        if tag[0] != "static method":
            return False
        return w.overlaid(getattr_static(tag[2][0][2], self.attribute(tag[1], w)))

    def dispatch_inline(self, callee: int, w: Writer) -> list[Item]:
        """Before a call with one positional argument, whose callee stands ``callee`` slots from
        the top: put in the method that the site knows for the target and the argument's type,
        else ask."""
        site = w.new_site(1)
        w.slots = _SLOTS_FOR_TARGETS
        other, missed, end = Label(), Label(), Label()
        load = w.const(site)
        return [
            load,
            self.load_attr(w.name("inline")),
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

    @abstractmethod
    def pick(self, callee: int, site: Any, w: Writer) -> list[Item]:
        """``[callee, .., x] -> [callee, .., x, site.pick(callee, x)]``."""
        ...

    @abstractmethod
    def rewrite_call(self, k: int, stack: Stack, w: Writer) -> None:
        """Edit one call so that its callee is mapped."""
        ...

    @abstractmethod
    def call(self, count: int, function: Any, w: Writer) -> list[Item]:
        """``[a1..an] -> [function(a1, .., an)]`` for n of 0 to 3."""
        ...

    @abstractmethod
    def call_pushed(self, count: int) -> list[Item]:
        """``[a1..an, callable] -> [callable(a1, .., an)]`` for n of 0 to 3."""
        ...

    @abstractmethod
    def call_on_copies(self, count: int, function: Any, w: Writer) -> list[Item]:
        """``[a1..an] -> [a1..an, function(a1, .., an)]``."""
        ...

    @abstractmethod
    def as_callable(self) -> list[Item]:
        """``[callable]`` -> the two slots of a method load."""
        ...

    def as_bool(self) -> list[Item]:
        """``[x] -> [bool(x)]``."""
        return [(OP["UNARY_NOT"], 0), (OP["UNARY_NOT"], 0)]

    def negated(self) -> list[Item]:
        """``[x] -> [not x]``."""
        return [(OP["UNARY_NOT"], 0)]

    # ---- operators ----

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


def shuffled(order: Sequence[int]) -> list[Item]:
    """Swaps of these depths; 0 pushes NULL."""
    return [(OP["SWAP"], depth) if depth else (OP["PUSH_NULL"], 0) for depth in order]


# ---- the abstract stack -------------------------------------------------------------------


def _push(
    pending: list[tuple[int, int, Stack]], entries: dict[int, Stack], k: int, stack: Stack
) -> None:
    """Note a way to an instruction: what all ways to it have in common is known there."""
    if k in entries:
        entries[k] = _common(entries[k], stack)
        return
    entries[k] = stack
    heapq.heappush(pending, (k, len(entries), stack))


def _common(stack: Stack, other: Stack) -> Stack:
    """What two ways to an instruction have pushed by the same instructions: a conditional
    expression pushes by one of two."""
    if len(stack) != len(other):
        return list(stack)
    return [one if one is two else None for one, two in zip(stack, other, strict=True)]


def _swap(k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
    stack[-1], stack[-arg] = stack[-arg], stack[-1]


def _copy(k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
    copied = stack[-arg]
    if copied is not None and copied[0] in ("value", "static"):  # it is not for a call alone
        stack[-arg] = copied = None
    stack.append(copied)


def _load_const(k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
    value = w.listing.code.co_consts[arg]
    stack.append(("code", k, value) if isinstance(value, CodeType) else None)


def _load_from_dict(k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
    stack[-1] = ("value", k, None)


def _make_function(k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
    code = stack[-1]
    follow(op, arg, stack)
    comprehension = code is not None and code[0] == "code" and code[2].co_name in COMPREHENSIONS
    stack[-1] = ("function", k, None) if comprehension else None


def _set_attribute(k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
    del stack[-2]


def _before_with(k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
    stack[-1:] = [("exit", k, None), None]


def lookup(namespace: dict[str, Any], name: str) -> Any:
    """A global or builtin, or None."""
    if dict.__contains__(namespace, name):
        return dict.get(namespace, name)
    scope = dict.get(namespace, "__builtins__", builtins)
    return vars(scope).get(name) if isinstance(scope, ModuleType) else dict.get(scope, name)


def getattr_static(owner: Any, name: str) -> Any:
    """A submodule or class in a module, without running code of the user's."""
    return vars(owner).get(name) if isinstance(owner, ModuleType) else None
