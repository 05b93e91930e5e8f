"""From a Python function to a program of which an adjoint is made: calls are resolved, helpers
become part of it, each variable is set once."""

from __future__ import annotations

import builtins
import inspect
import keyword
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from overlay.analysis import body as code
from overlay.analysis import marks
from overlay.interpretations.autodiff.reverse.program import (
    BOOL,
    FLOAT,
    UNSET,
    Bound,
    Call,
    Fork,
    Joined,
    Kind,
    Known,
    Local,
    Loop,
    Memory,
    Region,
    Span,
    Value,
    Write,
    leaves,
)
from overlay.interpretations.autodiff.reverse.pullbacks import (
    BY_OTHERS,
    INPLACE,
    Pullback,
    kind_of,
    pullback_of,
)
from overlay.interpretations.autodiff.reverse.structural import STRUCTURAL
from overlay.interpretations.autodiff.reverse.structure import (
    Choice,
    Exits,
    Leave,
    Repeat,
    Result,
    Unreadable,
    tree_of,
)
from overlay.target import describe

__all__ = ["UNROLLED", "Lifted", "Lifter", "common_kind", "copied", "kind_of_array", "shared"]

DEEPEST = 40
"""How deep helpers may be in one another."""
MOST_CALLS = 3000
UNROLLED = 64
"""How often a loop over something that is known is repeated at most."""


@dataclass
class State:
    """What a way through the program ends with. code: where it goes on, as a number; result: what
    the function gives, where it gives something."""

    env: dict[str, Any]
    code: Any = None
    result: Any = None


@dataclass(frozen=True)
class Lifted:
    """A function as a program. arguments: its variables; result: what it gives."""

    arguments: tuple[Value, ...]
    region: Region
    result: Any


class Lifter:
    """Lifts one function.

    users: finds rules of the user's own. called: the functions of which calls were resolved.
    assumed: what the program read: where, under which name, and what that was.
    captured: arrays from outside, by name.
    """

    def __init__(self, users: Callable[..., Any]) -> None:
        self.users = users
        self.called: list[Any] = []
        self.assumed: list[tuple[Any, str, Any]] = []
        self.captured: dict[str, Any] = {}
        self.space: dict[str, Any] = {"math": math, "np": np}
        self.region = Region(None)
        self.loops: tuple[Loop, ...] = ()
        self._active: list[Any] = []
        self._names: dict[str, int] = {}
        self._held: dict[int, Value] = {}
        self.memories: list[Memory] = []
        self.reads_attributes = False  # of arrays, or makes them of numbers
        self._place = 0
        self.where = ""

    # ---- names ----

    def fresh(self, stem: str) -> str:
        """A name that no other variable has."""
        stem = "".join(c if c.isalnum() else "_" for c in stem).strip("_") or "t"
        stem = f"t{stem}" if stem[0].isdigit() else stem
        if stem.startswith(_PREFIXES) or stem in ("math", "np"):
            stem = f"v_{stem}"
        count = self._names.get(stem, 0)
        self._names[stem] = count + 1
        return f"{stem}_{count}" if count or stem in _RESERVED else stem

    def name(self, function: Any) -> str:
        """What generated lines call a function by."""
        short = getattr(function, "__name__", "function")
        for module, prefix in _MODULES:
            if getattr(module, short, None) is function:
                return f"{prefix}{short}"
        return self.hold(function, short)

    def hold(self, value: Any, stem: str) -> str:
        """A name for something in the generated module."""
        for name, held in self.space.items():
            if held is value:
                return name
        name = self.fresh(stem)
        self.space[name] = value
        return name

    def value(self, stem: str, kind: Kind) -> Value:
        """A new variable of the region at hand."""
        return Value(self.fresh(stem), kind, self.region)

    # ---- functions ----

    def lift(self, function: Any, kinds: Sequence[Any]) -> Lifted:
        """The program of a function; kinds: of its arguments, or ``Known`` for one that is held
        constant and is no number."""
        names = _parameters(function, len(kinds))
        given: list[Any] = []
        values: list[Value] = []
        for name, kind in zip(names, kinds, strict=True):
            if isinstance(kind, Known):
                given.append(kind)
                continue
            value = Value(self.fresh(name), kind)
            if kind.ndim:
                value.memory = Memory((), is_own=False)
            values.append(value)
            given.append(value)
        result = self.enter(function, given, {})
        return Lifted(tuple(values), self.region, result)

    def enter(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What a Python function gives, its statements made part of the program."""
        if isinstance(function, MethodType):
            return self.enter(function.__func__, [Known(function.__self__), *args], kwargs)
        plain = getattr(function, "py_func", function)
        if type(plain) is not FunctionType:
            raise Unreadable(f"{describe(function)} is not written in Python")
        if any(active is plain.__code__ for active in self._active):
            raise Unreadable(f"{describe(function)} calls itself")
        if len(self._active) > DEEPEST:
            raise Unreadable("its helpers are nested too deep")
        self._assume(plain)
        tree = tree_of(plain)
        env = _bound(plain, args, kwargs)
        self._active.append(plain.__code__)
        state = self.run(tree, env, None, plain)
        self._active.pop()
        if state.result is None:
            raise Unreadable(f"{describe(function)} may give nothing")
        return state.result

    def _assume(self, function: FunctionType) -> None:
        code, space = function.__code__, function.__globals__
        for name in code.co_names:
            if name in space:
                self.assumed.append((space, name, space[name]))
        for cell in function.__closure__ or ():
            try:
                self.assumed.append((cell, "cell_contents", cell.cell_contents))
            except ValueError:
                raise Unreadable("a variable around it is not set") from None

    # ---- statements ----

    def run(
        self,
        tree: Sequence[Any],
        env: dict[str, Any],
        ways: Mapping[int, int] | None,
        function: Any,
    ) -> State:
        """Go through a tree. ways: the number of each block at which a turn of a loop ends."""
        for item in tree:
            match item:
                case None:
                    raise Unreadable("it may raise an exception")
                case Leave():
                    code = None if ways is None or item.label not in ways else ways[item.label]
                    return State(env, None if code is None else Known(code))
                case Result():
                    return State(env, None, self.read(env, item.value))
                case Choice():
                    done = self._choose(item, env, ways, function)
                    if done is not None:
                        return done
                case Repeat():
                    self._repeat(item, env, function)
                case Exits():
                    done = self._exits(item, env, ways, function)
                    if done is not None:
                        return done
                case _:
                    self.state(item, env, function)
        return State(env)

    def read(self, env: Mapping[str, Any], name: str) -> Any:
        found = env.get(name, UNSET)
        if found is UNSET:
            shown = "a step of it" if name.startswith("$") else f"the variable {name!r}"
            raise Unreadable(f"{shown} is not known, or may not be set")
        for value in leaves(found):
            self._check_shares(value)
        return found

    def _check_shares(self, value: Value) -> None:
        for memory, version in value.shares:
            if memory.version != version:
                raise Unreadable(f"{value.name} is part of an array that is written to")
        if value.shares or value.memory is not None:
            for loop in self.loops:
                loop.uses.append(value)

    def state(self, statement: Any, env: dict[str, Any], function: Any) -> None:
        match statement:
            case code.Constant():
                env[statement.target] = self.constant(statement.value)
            case code.Copy():
                found = env.get(statement.source, UNSET)
                env[statement.target] = found
                if isinstance(found, Value) and not statement.target.startswith("$"):
                    self._rename(found, statement.target)
            case code.Make():
                captured = tuple(
                    UNSET if n is None else env.get(n, UNSET) for n in statement.captured
                )
                defaults = tuple(
                    UNSET if n is None else env.get(n, UNSET) for n in statement.defaults
                )
                if statement.by_name:
                    raise Unreadable("it defines a function with parameters by name")
                env[statement.target] = Local(
                    statement.code, captured, defaults, function.__globals__
                )
            case code.Apply():
                self.where = statement.where
                env[statement.target] = self._apply(statement, env)
            case _:
                raise Unreadable("it does what is not known")

    def _rename(self, value: Value, name: str) -> None:
        """A step of an expression is called like the variable that it is put into."""
        if value.name.startswith("t") and value.name[1:].replace("_", "").isdigit():
            value.name = self.fresh(name)

    def constant(self, value: Any) -> Any:
        """What a value of the program stands for."""
        if isinstance(value, np.ndarray) and type(value) is np.ndarray:
            return self._array_from_outside(value)
        if isinstance(value, tuple) and type(value) is tuple:
            return tuple(map(self.constant, value))
        return Known(value)

    def _array_from_outside(self, array: Any) -> Any:
        held = self._held.get(id(array))
        if held is None:
            kind = kind_of_array(array)
            held = self._held[id(array)] = Value(self.fresh("array"), kind)
            held.memory = Memory((), is_own=False)
            self.captured[held.name] = array
        return held

    # ---- calls ----

    def _apply(self, statement: Any, env: dict[str, Any]) -> Any:
        function = statement.function
        if function is None:
            raise Unreadable("it does what is not known")
        if function is marks.new:
            if statement.native is None:
                raise Unreadable("it makes a set, a dict or a text")
            return tuple(self.read(env, name) for name in statement.native)
        if isinstance(function, str):
            function = self.read(env, function)
        args = [self.read(env, name) for name in statement.args]
        kwargs = {key: self.read(env, name) for key, name in statement.kwargs}
        return self.call(function, args, kwargs)

    def call(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """What a call gives."""
        if isinstance(function, Known):
            function = function.value
        if isinstance(function, Bound):
            return self.call(function.function, [function.receiver, *args], kwargs)
        if isinstance(function, Local):
            return self._call_local(function, args, kwargs)
        if not callable(function):
            raise Unreadable("it calls what is not known")
        if isinstance(function, type) and issubclass(function, BaseException):
            raise Unreadable("it may raise an exception")
        handler = STRUCTURAL.get(function) if _hashable(function) else None
        if handler is not None:
            try:
                inspect.signature(handler).bind(self, *args, **kwargs)
            except TypeError:
                raise Unreadable(f"{describe(function)} is called with other arguments") from None
            return handler(self, *args, **kwargs)
        return self.call_known(function, args, kwargs)

    def _call_local(self, local: Local, args: list[Any], kwargs: dict[str, Any]) -> Any:
        cells: list[Any] = []
        env: dict[str, Any] = {}
        for name, held in zip(local.code.co_freevars, local.captured, strict=True):
            if held is UNSET:
                raise Unreadable(f"{name!r} may change while a function that reads it is there")
            env[name] = held
            cells.append(CellType(None))
        made = FunctionType(local.code, local.space, None, None, tuple(cells))
        if any(active is local.code for active in self._active):
            raise Unreadable("a function calls itself")
        tree = tree_of(made)
        names = local.code.co_varnames[: local.code.co_argcount]
        filled = dict(zip(names[len(names) - len(local.defaults) :], local.defaults, strict=True))
        filled |= dict(zip(names, args, strict=False)) | kwargs
        if len(args) > len(names) or any(name not in filled for name in names):
            raise Unreadable("a function is called with other arguments than it takes")
        self._active.append(local.code)
        state = self.run(tree, _WithCells(env, filled), None, made)
        self._active.pop()
        if state.result is None:
            raise Unreadable("a function gives nothing")
        return state.result

    def call_known(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        self.called.append(function)
        if kwargs:
            args, kwargs = _positional(function, args, kwargs)
        if not kwargs:
            folded = self._folded(function, args)
            if folded is not None:
                return folded
            inplace = INPLACE.get(function) if _hashable(function) else None
            if inplace is not None:
                if isinstance(args[0], Value) and args[0].kind.ndim:
                    return self._add_in_place(inplace, *args)
                function = inplace
                self.called.append(function)
            pullback = pullback_of(function, args, self.name, self.users)
            if pullback is not None:
                self.reads_attributes |= pullback.of_items
                return self.emit(pullback, args)
            if function in (max, min) and len(args) > 2:
                return self.call(function, [self.call(function, args[:-1], {}), args[-1]], {})
            other = BY_OTHERS.get((id(function), len(args)))
            if other is not None and all(kind_of(a) is not None for a in args):
                return self.enter(other, args, {})
        if (getattr(function, "__module__", None) or "").partition(".")[0] in ("numpy", "math"):
            raise Unreadable(f"no adjoint is known of {describe(function)} with these arguments")
        return self.enter(function, args, kwargs)

    def _folded(self, function: Any, args: list[Any]) -> Any:
        """The result of an operator on numbers that are known."""
        known = all(isinstance(a, Known) and isinstance(a.value, (int, float, bool)) for a in args)
        if not known or getattr(function, "__module__", "") not in ("_operator", "math"):
            return None
        try:
            return Known(function(*(a.value for a in args)))
        except (ArithmeticError, ValueError):
            return None

    def emit(self, pullback: Pullback, args: Sequence[Any]) -> Value:
        """A call as part of the program."""
        key = (pullback.function, pullback.text, tuple(map(_identity, args)))
        if not pullback.kind.ndim and key in self.region.known:
            return self.region.known[key]
        self._place += 1
        if self._place > MOST_CALLS:
            raise Unreadable("it is too long")
        out = self.value(f"t{self._place}", pullback.kind)
        call = Call(out, pullback, tuple(args), self._place, self.loops, self.where)
        if out.kind.ndim:
            self._set_memory(out, pullback, args)
        self.region.ops.append(call)
        self.region.known[key] = out
        return out

    def _set_memory(self, out: Value, pullback: Pullback, args: Sequence[Any]) -> None:
        if not pullback.is_view:
            out.memory = Memory(self.loops, is_own=True)
            self.memories.append(out.memory)
            return
        (source,) = list(leaves(args[0]))[:1]
        shares = source.shares
        if source.memory is not None:
            shares = (*shares, (source.memory, source.memory.version))
        out.shares = shares or ((Memory((), is_own=False), 0),)

    def _add_in_place(self, function: Any, array: Value, other: Any) -> Value:
        changed = self.call(function, [array, other], {})
        self.write(array, Span((Known(None),) * 3), changed)
        return array

    def write(self, array: Any, index: Any, value: Any) -> None:
        """``array[index] = value``."""
        if not isinstance(array, Value) or array.memory is None or not array.memory.is_own:
            raise Unreadable("it writes to an array that it did not make, or to part of one")
        if array.kind.dtype != "f" or kind_of(value) is None:
            raise Unreadable("it writes something else than a number into an array")
        kinds = [kind_of(part) for part in _parts(index)]
        if any(kind is not None and kind.ndim for kind in kinds):
            raise Unreadable("it writes to elements that an array names")
        self._place += 1
        memory = array.memory
        memory.version += 1
        memory.last = self._place
        memory.written_in.update(self.loops)
        self.region.ops.append(Write(array, index, value, self._place, self.loops, self.where))

    # ---- branches ----

    def _inside(
        self, region: Region, tree: Sequence[Any], env: dict[str, Any], ways: Any, f: Any
    ) -> State:
        before, self.region = self.region, region
        try:
            return self.run(tree, env, ways, f)
        finally:
            self.region = before

    def _choose(self, item: Choice, env: dict[str, Any], ways: Any, function: Any) -> State | None:
        condition = self.read(env, item.condition)
        if isinstance(condition, Known):
            tree = item.yes if condition.value else item.no
            return self._after_choice(self.run(tree, env, ways, function), env)
        condition = self._truth(condition)
        fork = Fork(condition, Region(self._loop()), Region(self._loop()))
        yes = self._inside(fork.yes, item.yes, copied(env), ways, function)
        no = self._inside(fork.no, item.no, copied(env), ways, function)
        self.region.ops.append(fork)
        return self._after_choice(self._merged(fork, yes, no), env)

    def _loop(self) -> Loop | None:
        return self.loops[-1] if self.loops else None

    @staticmethod
    def _after_choice(state: State, env: dict[str, Any]) -> State | None:
        if state.code is None and state.result is None:
            found = dict(state.env)
            env.clear()
            env.update(found)
            return None
        return state

    def _truth(self, condition: Any) -> Value:
        kind = kind_of(condition)
        if not isinstance(condition, Value) or kind is None or kind.ndim:
            raise Unreadable("it branches by what is no number")
        if kind == BOOL:
            return condition
        return self.call(operator.ne, [condition, Known(0)], {})

    def _merged(self, fork: Fork, yes: State, no: State) -> State:
        if (yes.result is None) != (no.result is None):
            raise Unreadable("it gives a result in one branch and nothing in another")
        merged = copied(yes.env)
        for name in {**yes.env, **no.env}:
            a, b = yes.env.get(name, UNSET), no.env.get(name, UNSET)
            merged[name] = a if a is b else self._join(fork, a, b, name)
        code = None if yes.code is None else self._join(fork, yes.code, no.code, "left")
        if (yes.code is None) != (no.code is None):
            raise Unreadable("its branches do not meet")
        result = None
        if yes.result is not None:
            result = self._join(fork, yes.result, no.result, "result")
            if result is UNSET:
                raise Unreadable("what it gives is of one kind or another")
        return State(merged, code, result)

    def _join(self, fork: Fork, a: Any, b: Any, name: str) -> Any:
        if a is b:
            return a
        if isinstance(a, Known) and isinstance(b, Known) and a.value is b.value:
            return a
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return tuple(self._join(fork, x, y, name) for x, y in zip(a, b, strict=True))
        kind = common_kind(kind_of(a), kind_of(b))
        if kind is None:
            return UNSET
        out = self.value(name, kind)
        out.shares = shared(a) + shared(b)
        fork.outs.append(Joined(out, a, b))
        return out

    # ---- loops ----

    def _exits(self, item: Exits, env: dict[str, Any], ways: Any, function: Any) -> State | None:
        code, at_end = self._repeat(item.repeat, env, function)
        numbers = {label: i + 1 for i, label in enumerate(item.repeat.exits)}
        trees = [(numbers[label], tree) for label, tree in item.trees.items()]
        # a loop that comes to its end leaves no number
        trees.sort(key=lambda each: each[0] == at_end)
        return self._leave(trees, code, env, ways, function)

    def _leave(
        self, trees: Any, code: Any, env: dict[str, Any], ways: Any, function: Any
    ) -> State | None:
        (number, tree), *rest = trees
        if isinstance(code, Known):
            tree = next(each for n, each in trees if n == code.value)
        if not rest or isinstance(code, Known):
            return self._after_choice(self.run(tree, env, ways, function), env)
        condition = self.call(operator.eq, [code, Known(number)], {})
        fork = Fork(condition, Region(self._loop()), Region(self._loop()))
        yes = self._inside(fork.yes, tree, copied(env), ways, function)
        other = copied(env)
        before, self.region = self.region, fork.no
        no = self._leave(rest, code, other, ways, function) or State(other)
        self.region = before
        self.region.ops.append(fork)
        return self._after_choice(self._merged(fork, yes, no), env)

    def _repeat(self, item: Repeat, env: dict[str, Any], function: Any) -> Any:
        """A loop; the number of the exit by which it is left, and of that at its end."""
        from overlay.interpretations.autodiff.reverse.looping import repeat

        return repeat(self, item, env, function)

    # ---- trying ----

    def mark(self) -> Any:
        memories = [(m, m.version, m.last, set(m.written_in)) for m in self.memories]
        uses = [(loop, len(loop.uses)) for loop in self.loops]
        known = dict(self.region.known)
        return len(self.region.ops), dict(self._names), self._place, memories, uses, known

    def back_to(self, mark: Any) -> None:
        """Forget what was lifted since."""
        ops, self._names, self._place, memories, uses, known = mark
        del self.region.ops[ops:]
        self.region.known = known
        del self.memories[len(memories) :]
        for memory, version, last, written in memories:
            memory.version, memory.last, memory.written_in = version, last, written
        for loop, count in uses:
            del loop.uses[count:]


class _WithCells(dict[str, Any]):
    """The variables of a function with those that it captures, which its code sets to what its
    cells hold."""

    def __init__(self, held: dict[str, Any], others: dict[str, Any]) -> None:
        super().__init__(held | others)
        self.held = held

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, self.held.get(name, value))


def copied(env: dict[str, Any]) -> dict[str, Any]:
    if isinstance(env, _WithCells):
        return _WithCells(env.held, dict(env))
    return dict(env)


def kind_of_array(array: Any) -> Kind:
    """The kind of an array of the program. Raises Unreadable for others than of 64 bits."""
    known = {np.dtype(np.float64): "f", np.dtype(np.int64): "i", np.dtype(np.bool_): "b"}
    dtype = known.get(array.dtype)
    if dtype is None or array.ndim == 0:
        raise Unreadable(f"it takes an array of {array.dtype}, with {array.ndim} dimensions")
    return Kind(dtype, array.ndim)


def common_kind(a: Kind | None, b: Kind | None) -> Kind | None:
    if a is None or b is None or a.ndim != b.ndim:
        return None
    if a.dtype == b.dtype:
        return a
    if a.ndim or "b" in (a.dtype, b.dtype):
        return None
    return FLOAT


def shared(operand: Any) -> tuple[tuple[Memory, int], ...]:
    if not isinstance(operand, Value):
        return ()
    memory = operand.memory
    return operand.shares if memory is None else (*operand.shares, (memory, memory.version))


def _identity(operand: Any) -> Any:
    """Equal for operands that stand for the same number or array, as that is now."""
    match operand:
        case Value():
            return operand, None if operand.memory is None else operand.memory.version
        case tuple():
            return tuple(map(_identity, operand))
        case Span():
            return Span, tuple(map(_identity, operand.parts))
        case Known(value=int() | float() | bool() | None as value):
            return type(value), repr(value)
        case _:
            return object()


def _parts(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _hashable(function: Any) -> bool:
    return type(function).__hash__ is not None


def _parameters(function: Any, count: int) -> list[str]:
    try:
        names = list(inspect.signature(function).parameters)[:count]
    except (TypeError, ValueError):
        names = []
    return [*names, *(f"x{i}" for i in range(len(names), count))]


def _positional(function: Any, args: list[Any], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    if function in (np.sum, np.mean) and set(kwargs) == {"axis"}:
        return [*args, kwargs["axis"]], {}
    return args, kwargs


def _bound(
    function: FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The variables that a call begins with."""
    try:
        found = inspect.signature(function, follow_wrapped=False).bind(*args, **kwargs)
    except TypeError as error:
        raise Unreadable(str(error)) from None
    env: dict[str, Any] = {}
    for name, parameter in inspect.signature(function, follow_wrapped=False).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            if found.arguments.get(name):
                raise Unreadable("it is called with other names than its parameters")
            env[name] = UNSET
        elif parameter.kind is parameter.VAR_POSITIONAL:
            env[name] = tuple(found.arguments.get(name, ()))
        elif name in found.arguments:
            env[name] = found.arguments[name]
        else:
            env[name] = Known(parameter.default)
    return env


_MODULES: tuple[tuple[Any, str], ...] = (
    (builtins, ""),
    (math, "math."),
    (np, "np."),
    (np.linalg, "np.linalg."),
)
# of names that an adjoint has besides those of the program
_PREFIXES = ("d_", "e_", "p_", "by_", "tape_", "kept_", "at_", "then_", "turn_", "onto_")
_RESERVED = {*keyword.kwlist, *dir(builtins), "math", "np"}
