"""Containers of functions that the program holds, as compiled code reads them.

numba has no type for these. *Bind* builds a tuple where the code mentions one. A list, a dict or an
instance of a dataclass may be changed by others who hold it: here, before *Bind*, what reads it at
a place that the code names is replaced by what is there, and any other mention by a stand-in, of
which ``container_values`` tells what may be done with it. Code is compiled anew once the contents
have changed, which ``overlay.code.record`` tells.
"""

from __future__ import annotations

import copy
import inspect
import operator
import types as python_types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from numba.core import ir, types
from numba.core.ir_utils import build_definitions, get_definition, guard

from overlay.code.held_functions import fields_read, holds_functions
from overlay.compiled.numba.container_values import METHODS
from overlay.compiled.numba.context_values import KnownStandIn
from overlay.compiled.numba.ir_edits import defined_before, redefine

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["HeldContainers"]

# functions that only read a sequence that they are given
READING: Final = (len, enumerate, zip, reversed)
ITEMS: Final = ("getitem", "static_getitem")
_UNKNOWN: Final = object()


class _LocalDict(dict[Any, Any]):
    """A dict that the code makes, with constant keys and the variables of its values."""


class HeldContainers:
    """The containers of functions in one function, and the statements that read them.

    args: the types of its arguments: defaults may be containers.
    """

    def __init__(self, world: World, func_ir: Any, args: tuple[Any, ...]) -> None:
        self.world = world
        self.func_ir = func_ir
        self.args = args
        self._known: dict[str, Any] = {}  # by variable
        self._methods: dict[str, tuple[Any, str]] = {}  # of dicts, by variable

    def replace_reads(self) -> None:
        """Replace the statements that read containers, in place."""
        for assign in self._assignments():
            self._take_default(assign)
            self._note(assign)
        plan = self._plan() if self._known else {}
        for block in self.func_ir.blocks.values() if plan else ():
            block.body = [new for old in block.body for new in plan.get(id(old), [old])]
        if plan:
            self.func_ir._definitions = build_definitions(self.func_ir.blocks)

    def _assignments(self) -> Iterator[Any]:
        for _, block in sorted(self.func_ir.blocks.items()):
            yield from (each for each in block.body if isinstance(each, ir.Assign))

    def _take_default(self, assign: Any) -> None:
        """Make a default that is, or holds, a function a constant, as if the code named it."""
        if not isinstance(assign.value, ir.Arg):
            return
        given = self.args[assign.value.index]
        if not isinstance(given, types.Omitted):
            return
        value = given.value
        if callable(value) or holds_functions(value):
            redefine(self.func_ir, assign, ir.Global(assign.value.name, value, assign.loc))

    # ---- which variables hold a container ----

    def _note(self, assign: Any) -> None:
        """Record the variable's value that follows from an assignment."""
        name, value = assign.target.name, assign.value
        if len(self.func_ir._definitions[name]) != 1:
            return
        found = self._value(value)
        if isinstance(found, _LocalDict) or holds_functions(found):
            self._known[name] = found
        elif isinstance(value, ir.Var) and value.name in self._methods:
            self._methods[name] = self._methods[value.name]
        elif isinstance(value, ir.Expr) and value.op == "getattr" and value.attr in METHODS:
            owner = self._known.get(value.value.name)
            if isinstance(owner, _LocalDict):
                self._methods[name] = owner, value.attr

    def _value(self, value: Any) -> Any:
        """The value of an expression: an object of the program, the variable that holds it, or
        the dict that it makes.
        """
        if isinstance(value, (ir.Global, ir.FreeVar)):
            return value.value
        if isinstance(value, ir.Var):
            return self._known.get(value.name, _UNKNOWN)
        if not isinstance(value, ir.Expr):
            return _UNKNOWN
        if value.op == "build_map":
            return self._local_dict(value)
        if value.op == "getattr":
            return self._attribute(value)
        return self._item(value) if value.op in ITEMS else _UNKNOWN

    def _local_dict(self, value: Any) -> Any:
        keys = [self._definition(key) for key, _ in value.items]
        values = [each for _, each in value.items]
        known = all(isinstance(key, ir.Const) for key in keys)
        once = all(len(self.func_ir._definitions[each.name]) == 1 for each in values)
        if not (known and once and any(map(self._is_function, values))):
            return _UNKNOWN
        return _LocalDict({key.value: each for key, each in zip(keys, values, strict=True)})

    def _is_function(self, var: Any) -> bool:
        found = self._value(self._definition(var))
        return found is not _UNKNOWN and callable(found)

    def _attribute(self, expr: Any) -> Any:
        owner = self._known.get(expr.value.name, _UNKNOWN)
        if owner is not _UNKNOWN:
            return fields_read(owner).get(expr.attr, _UNKNOWN)
        holder = self._definition(expr.value)
        holder = holder.value if isinstance(holder, (ir.Global, ir.FreeVar)) else None
        holder = holder.value if isinstance(holder, KnownStandIn) else holder
        if type(holder) is type:
            found = inspect.getattr_static(holder, expr.attr, _UNKNOWN)
            return found if holds_functions(found) else _UNKNOWN
        is_module = isinstance(holder, python_types.ModuleType)
        return getattr(holder, expr.attr, _UNKNOWN) if is_module else _UNKNOWN

    def _item(self, expr: Any) -> Any:
        """The item of a container at a constant index."""
        owner = self._known.get(expr.value.name, _UNKNOWN)
        index = expr.index
        if expr.op == "getitem":
            index = self._definition(expr.index)
            index = index.value if isinstance(index, ir.Const) else _UNKNOWN
        if owner is _UNKNOWN or index is _UNKNOWN or isinstance(index, slice):
            return _UNKNOWN
        try:
            return _UNKNOWN if self.world.overlays(operator.getitem) else owner[index]
        except (LookupError, TypeError):  # which the running program raises
            return _UNKNOWN

    def _definition(self, var: Any) -> Any:
        return guard(get_definition, self.func_ir, var)

    # ---- what is done with them ----

    def _plan(self) -> dict[int, list[Any]]:
        """The replacements of statements, by identity.

        A dict that the code makes, and does more with than reads it, is left to numba; a container
        that the program holds is a value of a type of its own.
        """
        while True:
            left, plan = None, dict[int, list[Any]]()
            for statement in self._statements():
                replaced = self._replaced(statement)
                if replaced is not None:
                    plan[id(statement)] = replaced
                    continue
                for name in _operands(statement):
                    found = self._known.get(name, self._methods.get(name, ((),))[0])
                    if isinstance(found, _LocalDict):
                        left = found
            if left is None:
                return plan
            self._known = {n: v for n, v in self._known.items() if v is not left}
            self._methods = {n: m for n, m in self._methods.items() if m[0] is not left}

    def _statements(self) -> Iterator[Any]:
        for _, block in sorted(self.func_ir.blocks.items()):
            yield from block.body

    def _replaced(self, statement: Any) -> list[Any] | None:
        """The replacement of a statement that makes or reads a container; None for others."""
        if isinstance(statement, ir.Del):
            return [statement]
        if not isinstance(statement, ir.Assign):
            return None
        name, value = statement.target.name, statement.value
        own = self._known.get(name, ())
        if name in self._methods or isinstance(own, _LocalDict):
            return [ir.Assign(ir.Const(None, statement.loc), statement.target, statement.loc)]
        if not isinstance(own, tuple):
            return self._object(statement, own)
        if not isinstance(value, ir.Expr):
            return None
        if value.op == "getattr" and name in self._known:  # of a module or a class
            return self._object(statement, own)
        if not self._knows(_operands(statement)):
            return None
        found = self._value(value)
        if found is not _UNKNOWN:
            return self._object(statement, found)
        if value.op == "call":
            return self._called(statement, value)
        if value.op == "binop" and value.fn is operator.contains:
            return self._contains(statement, value)
        if value.op in (*ITEMS, "getiter", "exhaust_iter"):
            return self._read(statement, value)
        return None

    def _knows(self, names: set[str]) -> bool:
        return not names.isdisjoint(self._known) or not names.isdisjoint(self._methods)

    def _object(self, assign: Any, found: Any) -> list[Any]:
        """The assignment of an object of the program, or of the variable that has it."""
        if not isinstance(found, (ir.Var, tuple)) and holds_functions(found):
            found = self.world.stand_ins.container(found)
        value = found if isinstance(found, ir.Var) else ir.Global("held", found, assign.loc)
        return [ir.Assign(value, assign.target, assign.loc)]

    def _read(self, assign: Any, expr: Any) -> list[Any] | None:
        owner = self._known[expr.value.name]
        is_item = expr.op in ITEMS
        if is_item and self.world.overlays(operator.getitem):
            return None
        if is_item and isinstance(owner, _LocalDict):
            before: list[Any] = []
            key = expr.index if expr.op == "getitem" else self._new(assign, expr.index, before)
            return before + self._looked_up(assign, owner, key)
        is_part = expr.op == "exhaust_iter" or isinstance(self._index(expr), slice)
        if isinstance(owner, _LocalDict) or (is_part and isinstance(owner, list)):
            return self._on_sequence(assign, expr, "value", owner)
        return None

    def _index(self, expr: Any) -> Any:
        """The index of a subscript, where it is constant."""
        index = expr._kws.get("index")
        found = self._definition(index) if isinstance(index, ir.Var) else index
        if isinstance(found, ir.Expr) and found.op == "call":  # a slice
            function, *given = map(self._definition, (found.func, *found.args))
            if self._value(function) is slice and all(isinstance(g, ir.Const) for g in given):
                return slice(*(each.value for each in given))
        return found.value if isinstance(found, ir.Const) else found

    def _on_sequence(self, assign: Any, expr: Any, part: str, owner: Any) -> list[Any] | None:
        """The statement with a tuple in place of a list, or of the keys of a dict."""
        before: list[Any] = []
        changed = copy.copy(expr)
        changed._kws = {**expr._kws, part: self._sequence(assign, tuple(owner), before)}
        return [*before, ir.Assign(changed, assign.target, assign.loc)]

    def _contains(self, assign: Any, expr: Any) -> list[Any] | None:
        owner = self._known.get(expr.lhs.name)
        if not isinstance(owner, _LocalDict) or self.world.overlays(operator.contains):
            return None
        before: list[Any] = []
        keys = dict.fromkeys(owner, True)
        default = self._new(assign, False, before)
        return before + self._looked_up(assign, keys, expr.rhs, default)

    def _called(self, assign: Any, expr: Any) -> list[Any] | None:
        if expr.vararg is not None or expr.kws:
            return None
        if expr.func.name in self._methods and self._knows({v.name for v in expr.args}) is False:
            return self._method(assign, *self._methods[expr.func.name], expr.args)
        function = self._value(self._definition(expr.func))
        owners = [self._known.get(var.name, ()) for var in expr.args]
        is_read = any(function is each for each in READING) and not self.world.overlays(function)
        if not is_read or not any(isinstance(each, _LocalDict) for each in owners):
            return None
        before: list[Any] = []
        args = [
            self._sequence(assign, tuple(owner), before) if isinstance(owner, _LocalDict) else var
            for var, owner in zip(expr.args, owners, strict=True)
        ]
        call = ir.Expr.call(expr.func, args, (), expr.loc)
        return [*before, ir.Assign(call, assign.target, assign.loc)]

    def _method(self, assign: Any, owner: Any, name: str, args: list[Any]) -> list[Any] | None:
        """The replacement of a call of a method of a dict."""
        if name == "get" and len(args) in (1, 2):
            before = (
                []
                if len(args) == 2
                else [defined_before(self.func_ir, assign, ir.Const(None, assign.loc))]
            )
            return before + self._looked_up(assign, owner, *args, *(each.target for each in before))
        if name == "get" or args:
            return None
        before = []
        parts = {"keys": tuple(owner), "values": tuple(owner.values())}
        parts["items"] = tuple(owner.items())
        made = self._sequence(assign, parts[name], before)
        return [*before, ir.Assign(made, assign.target, assign.loc)]

    def _looked_up(self, assign: Any, owner: Any, *given: Any) -> list[Any]:
        """A call of a generated function that finds the value of a key. given: the key, and the
        value for others."""
        before: list[Any] = []
        values = [self._new(assign, value, before) for value in owner.values()]
        function = self.world.looking_up(tuple(owner), has_default=len(given) == 2)
        called = self._new(assign, function, before)
        call = ir.Expr.call(called, [*given, *values], (), assign.loc)
        return [*before, ir.Assign(call, assign.target, assign.loc)]

    def _sequence(self, assign: Any, items: tuple[Any, ...], before: list[Any]) -> Any:
        """The variable of a tuple of objects of the program, or of variables."""
        parts = [
            self._sequence(assign, item, before)
            if isinstance(item, tuple) and any(isinstance(each, ir.Var) for each in item)
            else self._new(assign, item, before)
            for item in items
        ]
        made = defined_before(self.func_ir, assign, ir.Expr.build_tuple(parts, assign.loc))
        before.append(made)
        return made.target

    def _new(self, assign: Any, value: Any, before: list[Any]) -> Any:
        """The variable of an object of the program, which *Bind* binds."""
        if isinstance(value, ir.Var):
            return value
        made = defined_before(self.func_ir, assign, ir.Global("held", value, assign.loc))
        before.append(made)
        return made.target


def _operands(statement: Any) -> set[str]:
    """The names of the variables that a statement reads."""
    read = statement.value if isinstance(statement, ir.Assign) else statement
    if isinstance(read, ir.Var):
        return {read.name}
    return {var.name for var in read.list_vars()} if isinstance(read, ir.Inst) else set()
