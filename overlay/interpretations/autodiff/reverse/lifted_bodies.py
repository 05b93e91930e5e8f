"""Lifting of a Python function to a program for its adjoint: calls are resolved, helpers inlined,
and each variable is set once."""

from __future__ import annotations

import contextlib
import inspect
import operator
import warnings
from collections.abc import Callable, Mapping, Sequence
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from overlay.code import body as code
from overlay.code import marks
from overlay.code.fingerprint import MISSING
from overlay.code.operators import GIVES_BOOL
from overlay.code.record import FunctionReads
from overlay.code.structured_tree import (
    Alternative,
    Exits,
    Guarded,
    Leave,
    Raise,
    Repeat,
    Result,
)
from overlay.code.wording import IN_WORDS
from overlay.core.jitted import converts, is_dispatcher, is_of_numba
from overlay.core.short_repr import a_or_an
from overlay.core.target import describe
from overlay.interpretations.autodiff.errors import ASKED_OF_RESULT
from overlay.interpretations.autodiff.level_results import described, is_number, is_structure
from overlay.interpretations.autodiff.reverse.branching import Branching, PathEnd
from overlay.interpretations.autodiff.reverse.instances import attribute_of_super
from overlay.interpretations.autodiff.reverse.made_objects import (
    as_dict,
    as_sequence,
    is_items,
    key_of,
    made,
    set_item,
)
from overlay.interpretations.autodiff.reverse.operands import (
    LiftedFunction,
    WithCells,
)
from overlay.interpretations.autodiff.reverse.reverse_program import (
    UNSET,
    CapturedCell,
    Effect,
    ExceptionOf,
    Generator,
    KnownBefore,
    Local,
    MadeObject,
    Manager,
    Memory,
    MethodOf,
    ReverseValue,
    Text,
    leaves,
)
from overlay.interpretations.autodiff.reverse.structure import Unreadable, signature_of, tree_of

__all__ = ["ReverseLifter"]

DEEPEST = 40
"""The maximal nesting depth of inlined helpers."""
# variables of each function: its call, the accumulator of the items that a generator yields, the
# function that adds one, the exception that is handled
FRAME, GIVEN, ADD, RAISED = "$frame", "$given", "$add", "$raised"
MOST_RETRIES = 200
_OWN_ADJOINT = "add a method of adjoint_of(function) to a table that is passed as rules="
PLAIN_MANAGERS = (np.errstate, contextlib.nullcontext, warnings.catch_warnings)


class ReverseLifter(Branching):
    """Lifts one function. retries: the number of statements that were lifted in a second way."""

    retries = 0

    # ---- functions ----

    def lift(self, function: Any, kinds: Sequence[Any]) -> LiftedFunction:
        """The program of a function. kinds: of its arguments, or ``KnownBefore`` for a constant
        that is no number."""
        names = _parameters(function, len(kinds))
        given: list[Any] = []
        values: list[ReverseValue] = []
        for name, kind in zip(names, kinds, strict=True):
            if isinstance(kind, KnownBefore):
                given.append(kind)
                continue
            value = ReverseValue(self.fresh(name), kind)
            if kind.ndim:
                value.memory = Memory((), is_own=False)
            values.append(value)
            given.append(value)
        result = self.call_in_force(function, given, {})
        return LiftedFunction(tuple(values), self.region, self._given(result))

    def _given(self, result: Any) -> Any:
        """The result of the program, with the items of each list in it."""
        held: Any = result.value if isinstance(result, KnownBefore) else None
        if is_structure(held) and not isinstance(held, dict):
            result = tuple(map(KnownBefore, held))
        if isinstance(result, tuple):
            return tuple(map(self._given, result))
        if isinstance(result, ReverseValue) or is_number(held):
            return result
        if not isinstance(result, MadeObject):
            what = (
                described(held) if isinstance(result, KnownBefore) else "a value that is no number"
            )
            raise Unreadable(f"it returns {what}", help=ASKED_OF_RESULT)
        items = as_sequence(self, result) if is_items(result) else None
        if items is None:
            raise Unreadable(
                f"it gives {a_or_an(result.cls.__name__)}"
                + " whose length is not known" * (result.cls is list),
                help="give a number, an array, or a tuple of these",
            )
        return self._given(items)

    def enter(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Inline a Python function, and return its result."""
        if isinstance(function, KnownBefore):
            function = function.value
        if isinstance(function, MethodType):
            return self.enter(function.__func__, [KnownBefore(function.__self__), *args], kwargs)
        plain = getattr(function, "py_func", function)
        if is_dispatcher(function) and converts(function, args):
            raise Unreadable(
                f"{describe(function)} declares types, to which compiled code converts",
                help=f"declare no types of {describe(function)}, or doubles for floats",
            )
        if type(plain) is not FunctionType:
            called = inspect.getattr_static(type(plain), "__call__", None)
            if type(called) is not FunctionType or is_of_numba(plain):
                raise Unreadable(
                    f"it calls {describe(function)}, which is not written in Python",
                    help=_OWN_ADJOINT,
                )
            return self.enter(called, [KnownBefore(function), *args], kwargs)
        reading = FunctionReads(plain)
        if any(content is MISSING for _, content in reading.cells):
            raise Unreadable("a variable around it is not set")
        if plain.__code__ not in self.generated:
            self.readings.append(reading)
        return self._run_body(plain, dict, _bound(self, plain, args, kwargs, self.constant))

    def enter_local(self, local: Local, args: list[Any], kwargs: dict[str, Any]) -> Any:
        def cells() -> dict[str, Any]:
            held = zip(local.code.co_freevars, local.captured, strict=True)
            found = {
                n: self.env.get(h, UNSET) if isinstance(h, CapturedCell) else h for n, h in held
            }
            return {name: each for name, each in found.items() if each is not UNSET}

        empty = tuple(CellType(None) for _ in local.code.co_freevars)
        function = FunctionType(local.code, local.space, None, None, empty)
        function.__defaults__ = local.defaults or None
        given = _bound(self, function, args, kwargs, lambda operand: operand)
        return self._run_body(function, cells, given)

    def _run_body(
        self, function: Any, cells: Callable[[], dict[str, Any]], given: dict[str, Any]
    ) -> Any:
        """The result of a function with these variables. cells: gives those that it captures."""
        code = function.__code__
        if not code.co_flags & inspect.CO_GENERATOR:
            return self._inlined(function, cells(), given, {})

        def run(first: Any, add: Callable[[Any, Any], Any]) -> Any:
            start = {GIVEN: first, ADD: KnownBefore(add)}
            return self._inlined(function, cells(), dict(given), start)

        return Generator(run)

    def _inlined(
        self, function: Any, cells: dict[str, Any], given: dict[str, Any], start: dict[str, Any]
    ) -> Any:
        code = function.__code__
        if len(self._active) > DEEPEST:
            if code in self._active:
                raise Unreadable(
                    f"{describe(function)} calls itself, and how often is not known before it runs",
                    help="write it as a loop, or let it end by a whole number that is a constant",
                )
            raise Unreadable("its helpers are nested too deep", help=_OWN_ADJOINT)
        tree = tree_of(function)
        outer, frame = self.env, object()
        env: Any = WithCells(cells, given) if cells else given
        env.update((key, value) for key, value in outer.items() if not isinstance(key, str))
        env.update({FRAME: KnownBefore(frame), **start})
        for name in code.co_cellvars:
            if name in env:
                env[CapturedCell(frame, name)] = env[name]
        self.env = env
        self._active.append(code)
        state = self.run(tree, env, None, function)
        self._active.pop()
        self.env = outer
        outer.update((key, value) for key, value in state.env.items() if not isinstance(key, str))
        if state.raises:
            raise Unreadable("it always raises an exception here")
        if state.result is None:
            raise Unreadable(f"{describe(function)} gives nothing")
        return state.env[GIVEN] if start else state.result

    # ---- statements ----

    def run(
        self,
        tree: Sequence[Any],
        env: dict[str, Any],
        ways: Mapping[int, int] | None,
        function: Any,
    ) -> PathEnd:
        """Lift a tree. ways: the number of each block at which an iteration of a loop ends."""
        for item in tree:
            match item:
                case Raise():
                    end = self._raise(item, env)
                    if end is not None:
                        return end
                case Leave():
                    code = None if ways is None or item.label not in ways else ways[item.label]
                    return PathEnd(env, None if code is None else KnownBefore(code))
                case Result():
                    return PathEnd(env, None, self.read(env, item.value))
                case Alternative():
                    done = self._choose(item, env, ways, function)
                    if done is not None:
                        return done
                case Repeat():
                    code, _ = self._repeat(item, env, function)
                    if isinstance(code, PathEnd):
                        return code
                case Exits():
                    done = self._exits(item, env, ways, function)
                    if done is not None:
                        return done
                case Guarded():
                    before = self.guarded
                    caught = (BaseException,) if item.catches is None else item.catches
                    self.guarded = (*before, *caught)
                    self.state(item.statement, env, function)
                    self.guarded = before
                case _:
                    self.state(item, env, function)
        return PathEnd(env)

    def _raise(self, item: Raise, env: dict[str, Any]) -> PathEnd | None:
        """Lift ``raise``. None if its handler follows."""
        self.where = item.where or self.where
        found = env.get(RAISED if item.source is None else item.source, UNSET)
        if isinstance(found, KnownBefore) and isinstance(found.value, type):
            found = ExceptionOf(found.value)
        if not isinstance(found, ExceptionOf):
            raise Unreadable("it raises an exception that is not known before it runs")
        if item.handled:
            env[RAISED] = found
            return None
        if self.guarded:
            raise Unreadable("it may raise an exception in a function whose caller handles it")
        plain = all(isinstance(each, (str, int, float)) for each in found.args)
        args = ", ".join(map(repr, found.args)) if plain else ""
        self.region.ops.append(Effect(f"raise {self.name(found.cls)}({args})"))
        return PathEnd(env, raises=True)

    def read(self, env: Mapping[str, Any], name: str) -> Any:
        found = env.get(name, UNSET)
        if found is UNSET:
            if name.startswith("$"):
                raise Unreadable("it uses a value that is not known before it runs")
            raise Unreadable(
                f"the variable {name!r} may not be set, or is of one kind on one path and of "
                "another on another",
                help="set it before the branch or loop, to a value of the kind that it has later",
            )
        if isinstance(found, ReverseValue):
            found = self.refreshed(found)
        for value in leaves(found):
            self.check_shares(value)
        return found

    def check_shares(self, value: ReverseValue) -> None:
        for memory, version in value.shares:
            if memory.version != version:
                raise Unreadable(f"{value.name} is part of an array that is written to")
        if value.shares or value.memory is not None:
            for loop in self.loops:
                loop.uses.append(value)

    def state(self, statement: Any, env: dict[Any, Any], function: Any) -> None:
        self.env = env
        self.where = statement.where or self.where
        match statement:
            case code.ConstantValue():
                env[statement.target] = self.constant(statement.value)
            case code.Copy():
                found = env.get(statement.source, UNSET)
                env[statement.target] = found
                if isinstance(found, ReverseValue) and not statement.target.startswith("$"):
                    self._rename(found, statement.target)
                if statement.target in function.__code__.co_cellvars:
                    env[CapturedCell(env[FRAME].value, statement.target)] = found
            case code.Make():
                env[statement.target] = self._made_function(statement, env, function)
            case code.Apply():
                found = self._apply(statement, env)
                self.env = env
                env[statement.target] = found
            case _:
                raise Unreadable("it has an operation that is not supported")

    def _made_function(self, statement: Any, env: dict[Any, Any], function: Any) -> Local:
        """A function that is defined here."""
        if statement.named is not None:
            raise Unreadable(
                "it defines a function with defaults of parameters that are passed by name",
                help="define the function outside, or give it parameters without defaults",
            )
        own, frame = function.__code__.co_cellvars, env[FRAME].value
        captured: list[Any] = []
        for name, held in zip(statement.code.co_freevars, statement.captured, strict=True):
            late = CapturedCell(frame, name) if name in own else UNSET
            captured.append(late if held is None else env.get(held, late))
        defaults = tuple(UNSET if n is None else env.get(n, UNSET) for n in statement.defaults)
        return Local(statement.code, tuple(captured), defaults, function.__globals__)

    def _rename(self, value: ReverseValue, name: str) -> None:
        """Name the result of an expression after the variable that it is assigned to."""
        if value.name.startswith("t") and value.name[1:].replace("_", "").isdigit():
            value.name = self.fresh(name)

    def _apply(self, statement: Any, env: dict[str, Any]) -> Any:
        function = statement.function
        if function is None:
            return self._unknown_step(statement, env)
        mark = MARKS.get(function) if not isinstance(function, str) else None
        if mark is not None:
            return mark(self, statement, env)
        if any(function is each for each in marks.UNKNOWN):
            return UNSET
        args = [self.read(env, name) for name in statement.args]
        kwargs = {key: self.read(env, name) for key, name in statement.kwargs}
        if isinstance(function, str):
            return self.call_in_force(self.read(env, function), args, kwargs)
        if statement.native is not None:  # part of an instruction that applies something else
            return self.call(function, args, kwargs)
        result = self.call_in_force(function, args, kwargs)
        # without tables it is one already
        return self.truth(result) if self.tables and function in GIVES_BOOL else result

    def _unknown_step(self, statement: Any, env: dict[str, Any]) -> Any:
        """A call with unpacked arguments, or the beginning of a ``with`` statement."""
        first, *rest = [self.read(env, name) for name in statement.args]
        if isinstance(statement.native, code.WithBlock):
            entered, env[statement.native.leaves] = entered_by(self, first)
            return entered
        args = [each for spread in rest for each in self._spread(spread)]
        kwargs: dict[str, Any] = {}
        for _, name in statement.kwargs:
            kwargs |= as_dict(self, self.read(env, name))
        return self.call_in_force(first, args, kwargs)

    def _spread(self, items: Any) -> tuple[Any, ...]:
        found = as_sequence(self, items)
        if found is None:
            raise Unreadable(
                "it unpacks arguments whose number is not known before it runs",
                help="pass the array itself, or index its elements",
            )
        return found

    # ---- loops ----

    def _exits(self, item: Exits, env: dict[str, Any], ways: Any, function: Any) -> PathEnd | None:
        code, at_end = self._repeat(item.repeat, env, function)
        if isinstance(code, PathEnd):
            return code
        numbers = {label: i + 1 for i, label in enumerate(item.repeat.exits)}
        trees = [(numbers[label], tree) for label, tree in item.trees.items()]
        # the normal end of a loop, which has no exit number, is tested last
        trees.sort(key=lambda each: each[0] == at_end)
        return self._after_choice(self._leave(trees, code, env, ways, function), env)

    def _leave(self, trees: Any, code: Any, env: dict[str, Any], ways: Any, f: Any) -> PathEnd:
        (number, tree), *rest = trees
        if isinstance(code, KnownBefore):
            tree = next(each for n, each in trees if n == code.value)
        if not rest or isinstance(code, KnownBefore):
            return self.run(tree, env, ways, f)
        condition = self.call(operator.eq, [code, KnownBefore(number)], {})
        return self.forked(
            condition,
            lambda inner: self.run(tree, inner, ways, f),
            lambda inner: self._leave(rest, code, inner, ways, f),
            env,
        )

    def _repeat(self, item: Repeat, env: dict[str, Any], function: Any) -> Any:
        """Lift a loop, and return the number of the exit by which it is left, and the number of its
        normal end."""
        from overlay.interpretations.autodiff.reverse.looping import repeat

        return repeat(self, item, env, function)

    def either_way(
        self,
        env: dict[Any, Any],
        first: Callable[[], Any],
        second: Callable[[], Any],
        *,
        is_second_better: bool = True,
    ) -> Any:
        """Lift in a first way, or if that is refused in a second. is_second_better: whether the
        second refusal is raised where both are refused.
        """
        mark, before, fixed = self.mark(), dict(env), {}
        fixed = {key: key.fixed for key in env if isinstance(key, MadeObject)}
        region, guarded, depth, where = self.region, self.guarded, len(self._active), self.where
        try:
            return first()
        except Unreadable as error:
            self.retries += 1
            if self.retries > MOST_RETRIES:
                raise
            error.where = error.where or self.where
            refused = error
        self.region, self.guarded = region, guarded
        del self._active[depth:]
        self.back_to(mark)
        env.clear()
        env.update(before)
        for key, value in fixed.items():
            key.fixed = value
        self.env, self.where = env, where
        try:
            return second()
        except Unreadable:
            if not is_second_better:
                raise refused from None
            raise


def _parameters(function: Any, count: int) -> list[str]:
    try:
        names = list(inspect.signature(function).parameters)[:count]
    except (TypeError, ValueError):
        names = []
    return [*names, *(f"x{i}" for i in range(len(names), count))]


def _bound(
    lifter: ReverseLifter,
    function: FunctionType,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    operand_of: Callable[[Any], Any],
) -> dict[Any, Any]:
    """The initial variables of a call. operand_of: gives the operand of a default."""
    signature = signature_of(function)
    try:
        found = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise Unreadable(f"it calls {describe(function)} wrongly: {error}") from None
    env: dict[Any, Any] = {}
    for name, parameter in signature.parameters.items():
        own = ".0" if name == "implicit0" else name
        if parameter.kind is parameter.VAR_KEYWORD:
            held = found.arguments.get(name, {})
            env[own] = made(lifter, dict, held.values(), tuple(held))
        elif parameter.kind is parameter.VAR_POSITIONAL:
            env[own] = tuple(found.arguments.get(name, ()))
        elif name in found.arguments:
            env[own] = found.arguments[name]
        else:
            env[own] = operand_of(parameter.default.value)
    return env


# ---- marks --------------------------------------------------------------------------------


def entered_by(lifter: ReverseLifter, manager: Any) -> tuple[Any, Any]:
    """The value of a context manager in its block, and the function that ends the block."""
    if isinstance(manager, KnownBefore) and isinstance(manager.value, PLAIN_MANAGERS):
        manager = Manager(KnownBefore(None))
    if isinstance(manager, Manager):
        return manager.entered, manager
    if isinstance(manager, MadeObject) and _passes_exceptions(manager.cls):
        entered = lifter.call_method(manager, "__enter__", [])
        return entered, MethodOf(getattr(manager.cls, "__exit__", None), manager)
    raise Unreadable(
        "it has a with statement whose manager may change more than a setting",
        help="use a with statement of np.errstate or contextlib.nullcontext, or of an object that "
        "the function makes of a class of Python",
    )


def _passes_exceptions(cls: Any) -> bool:
    """Whether a class's ``__exit__`` is written in Python and returns None or False, so that an
    exception in the block leaves it."""
    leave = getattr(cls, "__exit__", None)
    if type(leave) is not FunctionType:
        return False
    from overlay.code.read_bodies import body_of  # rules work where no code can be read

    blocks = body_of(leave).blocks.values()
    given = [(b, b.end.value) for b in blocks if isinstance(b.end, code.Return)]
    return all(
        value is None
        or any(
            isinstance(each, code.ConstantValue) and each.target == value and not each.value
            for each in block.statements
        )
        for block, value in given
    )


def _pack(lifter: ReverseLifter, step: Any, env: dict[Any, Any]) -> Any:
    """A tuple. That of the variables which a function captures may have some that are set later."""
    return tuple(UNSET if env.get(n, UNSET) is UNSET else lifter.read(env, n) for n in step.args)


def _new(lifter: ReverseLifter, step: Any, env: dict[Any, Any]) -> Any:
    cls = env[step.args[0]].value
    if cls not in (list, dict):
        if cls is set:
            raise Unreadable("it makes a set", help="keep the numbers in a list or an array")
        return Text()
    items = tuple(lifter.read(env, name) for name in step.native)
    if cls is list:
        return made(lifter, list, items)
    held = dict(zip(map(key_of, items[::2]), items[1::2], strict=True))
    return made(lifter, dict, held.values(), tuple(held))


def _put(lifter: ReverseLifter, step: Any, env: dict[Any, Any]) -> Any:
    container, *added = [lifter.read(env, name) for name in step.args]
    if step.instruction.startswith("SET"):
        raise Unreadable("it makes a set", help="keep the numbers in a list or an array")
    if step.instruction == "MAP_ADD":
        set_item(lifter, container, *added)
        return KnownBefore(None)
    methods = {"LIST_APPEND": list.append, "LIST_EXTEND": list.extend}
    return lifter.call(methods.get(step.instruction, dict.update), [container, *added], {})


def _give(lifter: ReverseLifter, step: Any, env: dict[Any, Any]) -> Any:
    value = lifter.read(env, step.args[0])
    env[GIVEN] = lifter.read(env, ADD).value(lifter.read(env, GIVEN), value)
    return KnownBefore(None)


def _part(lifter: ReverseLifter, step: Any, env: dict[Any, Any]) -> Any:
    """The items beside a starred target, or the list that is assigned to that."""
    items = as_sequence(lifter, lifter.read(env, step.args[0]))
    if items is None:
        raise Unreadable("it unpacks with a star a value whose length is not known")
    if isinstance(step.native, int):
        return items[step.native]
    return made(lifter, list, items[step.native])


def _other(lifter: ReverseLifter, step: Any, env: dict[Any, Any]) -> Any:
    if step.native == "INTRINSIC_LIST_TO_TUPLE":
        return lifter.call(tuple, [lifter.read(env, step.args[0])], {})
    if step.native in ("LOAD_ASSERTION_ERROR", "LOAD_COMMON_CONSTANT"):
        return ExceptionOf(AssertionError)
    if step.native in IN_WORDS and step.native not in _HARMLESS:
        raise Unreadable(f"it has {IN_WORDS[step.native]}")
    return UNSET


def _outer(lifter: ReverseLifter, step: Any, env: dict[Any, Any]) -> Any:
    raise Unreadable(
        f"it reads the variable {step.native!r}, which may be rebound while it runs",
        help="pass the value as an argument, and return the new one",
    )


def _caught(lifter: ReverseLifter, step: Any, env: dict[Any, Any]) -> Any:
    raised, wanted = env.get(RAISED, UNSET), lifter.read(env, step.args[0])
    classes = wanted if isinstance(wanted, tuple) else (wanted,)
    if not isinstance(raised, ExceptionOf) or not all(isinstance(c, KnownBefore) for c in classes):
        raise Unreadable("it handles an exception of a class that is not known before it runs")
    return KnownBefore(issubclass(raised.cls, tuple(each.value for each in classes)))


def _of_super(lifter: ReverseLifter, step: Any, env: dict[Any, Any]) -> Any:
    _, cls, receiver = [lifter.read(env, name) for name in step.args]
    return attribute_of_super(lifter, cls, receiver, step.native)


_HARMLESS = ("IMPORT_NAME", "DELETE_FAST", "DELETE_DEREF")
MARKS: dict[Any, Callable[[ReverseLifter, Any, dict[Any, Any]], Any]] = {
    marks.pack: _pack,
    marks.new: _new,
    marks.put: _put,
    marks.give: _give,
    marks.part: _part,
    marks.rest: _part,
    marks.other: _other,
    marks.outer: _outer,
    marks.caught: _caught,
    marks.of_super: _of_super,
}
"""The marks that are lifted from their steps, and not as calls."""
