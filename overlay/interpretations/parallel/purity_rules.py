"""Transfer functions: the effects and results of operators and calls on kinds of data."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

from overlay.code import marks
from overlay.code.body import Apply, ConstantValue
from overlay.code.operators import BINARY, COMPARE, UNARY
from overlay.interpretations.parallel.data_kinds import (
    UNREAD,
    DataKind,
    DataMethod,
    DefinedHere,
    FromOutside,
    KeysView,
    Produced,
    is_class_of_data,
)
from overlay.interpretations.parallel.known_effects import (
    FRESH,
    IMMUTABLE_RESULT,
    MUTATORS,
    READERS,
    SETS,
    computes,
    place_of_out,
)
from overlay.interpretations.parallel.loop_data import is_immutable
from overlay.interpretations.parallel.purity_proof import plain_function

if TYPE_CHECKING:
    from overlay.interpretations.parallel.purity import PureCode

__all__ = ["applied", "holding"]

_NOT_FOLLOWED = ("out", "where", "key", "overwrite_input")
_TO_TUPLE = "INTRINSIC_LIST_TO_TUPLE"


def applied(code: PureCode, step: Apply) -> Any:
    """The abstract result of a call, an operator or another step. Raises NotProved."""
    if step.function is None or isinstance(step.function, str):
        return _call(code, step)
    raw = _STEPS.get(step.function)
    if raw is not None:
        return raw(code, step)
    rule = _RULES.get(step.function)
    if rule is None:
        return code.refuse_unknown("applies", step.function)
    return rule(code, [code.kind(name) for name in step.args])


def holding(kinds: Sequence[DataKind]) -> DataKind:
    """The kind of a container of these kinds that is created in the call."""
    return max(DataKind.NEW, _inside(kinds))


def _inside(kinds: Sequence[DataKind]) -> DataKind:
    kind = max(kinds, default=DataKind.IMMUTABLE)
    return DataKind.SHARED if kind is DataKind.ARRAY else kind


# ---- operators, by the kinds of their operands --------------------------------------------------


def _computed(code: PureCode, kinds: list[DataKind]) -> DataKind:
    return min(max(kinds), DataKind.NEW)


def _repeated(code: PureCode, kinds: list[DataKind]) -> DataKind:
    """The result of ``+`` and ``*``: lists share items with the operands."""
    kind = max(kinds)
    return kind if kind is DataKind.SHARED else min(kind, DataKind.NEW)


def _in_place(code: PureCode, kinds: list[DataKind]) -> DataKind:
    code.changed(*kinds)
    return max(kinds)


def _first(code: PureCode, kinds: list[DataKind]) -> DataKind:
    return kinds[0]


def _largest(code: PureCode, kinds: list[DataKind]) -> DataKind:
    return max(kinds)


def _immutable(code: PureCode, kinds: list[DataKind]) -> DataKind:
    return DataKind.IMMUTABLE


def _stored(code: PureCode, kinds: list[DataKind]) -> DataKind:
    code.changed(kinds[0], kinds[-1])
    return DataKind.IMMUTABLE


def _deleted(code: PureCode, kinds: list[DataKind]) -> DataKind:
    code.changed(kinds[0], DataKind.IMMUTABLE)
    return DataKind.IMMUTABLE


def _rest(code: PureCode, kinds: list[DataKind]) -> DataKind:
    return holding(kinds)


def _yielded(code: PureCode, kinds: list[DataKind]) -> DataKind:
    code.given = max(code.given, kinds[0])
    return DataKind.IMMUTABLE


def _attribute_set(code: PureCode, kinds: list[DataKind]) -> DataKind:
    return code.refuse("sets an attribute")


def _matched(code: PureCode, kinds: list[DataKind]) -> DataKind:
    return code.refuse("has a statement match")


_IN_PLACE = BINARY[len(BINARY) // 2 :]
_COMPUTED = (
    *(f for f in BINARY if f not in _IN_PLACE),
    *(*COMPARE.values(), *UNARY.values()),
    *(operator.not_, operator.contains, operator.is_, operator.is_not),
)
_RULES: dict[Any, Callable[[PureCode, list[DataKind]], DataKind]] = {
    **dict.fromkeys(_COMPUTED, _computed),
    **dict.fromkeys((operator.add, operator.mul), _repeated),
    **dict.fromkeys(_IN_PLACE, _in_place),
    **dict.fromkeys((operator.getitem, marks.unpack, marks.pick, marks.part), _first),
    **dict.fromkeys((marks.advance, marks.first), _first),
    **dict.fromkeys((marks.succeeds, marks.holds_items, len), _immutable),
    operator.setitem: _stored,
    operator.delitem: _deleted,
    slice: _largest,
    setattr: _attribute_set,
    marks.rest: _rest,
    marks.give: _yielded,
    marks.matched: _matched,
}


# ---- steps on values that are no data -----------------------------------------------------------


def _attribute(code: PureCode, step: Apply) -> Any:
    owner, named = code.value(step.args[0]), code.definitions.get(step.args[1])
    assert isinstance(named, ConstantValue)
    name = str(named.value)
    if isinstance(owner, FromOutside) and isinstance(owner.value, ModuleType):
        if not owner.is_alone or not hasattr(owner.value, name):
            return code.refuse("calls what is not known")
        value = getattr(owner.value, name)
        code.prover.proof.attributes[id(owner.value), name] = owner.value, name, value
        if is_immutable(value):
            return DataKind.IMMUTABLE
        return FromOutside(value, f"{name} of a module", step.where)
    kind = code.data(owner)
    if name in ("shape", "size", "ndim"):
        return DataKind.IMMUTABLE
    if name in ("T", "real", "imag"):
        return kind
    return DataMethod(kind, name, cls=isinstance(owner, FromOutside))


def _iterated(code: PureCode, step: Apply) -> Any:
    value = code.value(step.args[0])
    return value.kind if isinstance(value, KeysView) else code.data(value)


def _made(code: PureCode, step: Apply) -> Any:
    named = code.definitions.get(step.args[0])
    cls = named.value if isinstance(named, ConstantValue) else None
    kinds = [code.kind(name) for name in step.native or ()]
    if cls is str:
        return DataKind.IMMUTABLE
    if cls not in (list, set, dict):
        return code.refuse_unknown("makes an object of", cls)
    if cls is set:
        code.prover.proof.sets = True
    return holding(kinds)


def _packed(code: PureCode, step: Apply) -> Any:
    if step.target in code.handled:
        return DataKind.IMMUTABLE
    return _inside([code.kind(name) for name in step.args])


def _put(code: PureCode, step: Apply) -> Any:
    code.grow(step.args[0], _inside([code.kind(name) for name in step.args[1:]]))
    return DataKind.IMMUTABLE


def _caught(code: PureCode, step: Apply) -> Any:
    for name in code.classes(step.args[0]):
        value = code.value(name)
        if not isinstance(value, FromOutside) or not is_class_of_data(value.value):
            code.refuse("handles exceptions of another class than Python's")
    return DataKind.IMMUTABLE


def _outer(code: PureCode, step: Apply) -> Any:
    return code.outer(step.native, code.from_outside(step.native), step.where)


def _of_super(code: PureCode, step: Apply) -> Any:
    return UNREAD


_STATEMENTS = {
    "STORE_GLOBAL": "global",
    "STORE_DEREF": "nonlocal",
    "IMPORT_NAME": "import",
    "DELETE_FAST": "delete",
    "DELETE_DEREF": "delete",
    "DELETE_GLOBAL": "global",
    "DELETE_ATTR": "delete",
}


def _other(code: PureCode, step: Apply) -> Any:
    if step.native == "INTRINSIC_STOPITERATION_ERROR":
        return DataKind.IMMUTABLE
    if step.native == _TO_TUPLE:
        return _inside(_spread(code, step.args[0]))
    if step.native in _STATEMENTS:
        return code.refuse(f"has a statement {_STATEMENTS[step.native]}")
    return code.refuse(f"has an instruction {step.native}, which is not followed")


_STEPS: dict[Any, Callable[[PureCode, Apply], Any]] = {
    getattr: _attribute,
    iter: _iterated,
    marks.new: _made,
    marks.pack: _packed,
    marks.put: _put,
    marks.caught: _caught,
    marks.outer: _outer,
    marks.of_super: _of_super,
    marks.other: _other,
}


# ---- calls --------------------------------------------------------------------------------------


def _call(code: PureCode, step: Apply) -> Any:
    if step.function is None and step.native != "CALL_FUNCTION_EX":
        return code.refuse("has a statement with")
    name, *names = (step.function, *step.args) if isinstance(step.function, str) else step.args
    callee, spreads = code.value(name), step.function is None
    if isinstance(callee, DefinedHere):
        return code.nested(callee.code, code.value(names[0]))
    if (spreads and not names) or any(key in _NOT_FOLLOWED for key, _ in step.kwargs):
        return code.refuse("gives arguments that are not followed")
    args = _spread(code, names[0]) if spreads else [_argument(code, each) for each in names]
    named = {key: code.kind(each) for key, each in step.kwargs}
    if isinstance(callee, DataMethod):
        return _method(code, callee, args, list(named.values()))
    if not isinstance(callee, FromOutside) or not callee.is_alone:
        given = f"{name}, which it is given" if not name.startswith("$") else "what is not known"
        return code.refuse(f"calls {given}")
    function = plain_function(callee.value)
    if function is not None:
        if spreads:
            return code.refuse("spreads arguments")
        return code.prover.call(function, args, named)
    if not computes(callee.value):
        return code.refuse_unknown("calls", callee.value)
    return _known(
        code, callee.value, args, max((*args, *named.values()), default=DataKind(0)), spreads
    )


def _argument(code: PureCode, name: str) -> DataKind:
    value = code.value(name)
    return value.kind if isinstance(value, Produced) else code.data(value)


def _spread(code: PureCode, name: str) -> list[DataKind]:
    """The kinds of unpacked arguments: of the items, if the container is built in the code, else of
    the container."""
    made = code.definitions.get(name)
    if isinstance(made, Apply) and made.native == _TO_TUPLE:
        made = code.definitions.get(made.args[0])
    if not isinstance(made, Apply) or made.function is not marks.new:
        return [code.kind(name)]
    puts = [s for s in code.statements() if isinstance(s, Apply) and s.function is marks.put]
    added = [each for put in puts if put.args[0] == made.target for each in put.args[1:]]
    return [code.kind(each) for each in (*made.native, *added)]


def _known(
    code: PureCode, callee: Any, args: list[DataKind], kind: DataKind, spreads: bool
) -> DataKind:
    """The kind of the result of a function that only computes."""
    if id(callee) in IMMUTABLE_RESULT and kind is DataKind.IMMUTABLE:
        return DataKind.IMMUTABLE
    out = None if isinstance(callee, type) else place_of_out(callee)
    if out is not None and (len(args) > out or spreads):
        code.refuse("gives an array to write into")
    if id(callee) in SETS:
        code.prover.proof.sets = True
    if id(callee) in FRESH or hasattr(callee, "nout"):
        return DataKind.NEW
    if kind is DataKind.ARRAY and callee is sum:
        return DataKind.NEW
    if kind is DataKind.ARRAY and isinstance(callee, type):
        return DataKind.SHARED  # a container of the array's rows
    return max(kind, DataKind.NEW)


def _method(code: PureCode, method: DataMethod, args: list[DataKind], named: list[DataKind]) -> Any:
    """The result of a method of plain data."""
    owner, name = method.owner, method.name
    if method.cls and args:
        owner, *args = args
    given = max((*args, *named), default=DataKind.IMMUTABLE)
    if name in MUTATORS:
        code.changed(owner, given)
        return max(owner, given)
    if name not in READERS:
        return code.refuse(f"calls a method {name}, of which nothing is known")
    if any(kind is not DataKind.IMMUTABLE for kind in (*args, *named)[1:]):
        return code.refuse(f"gives {name} what it may write into")
    kind = max(owner, given, DataKind.NEW)
    return KeysView(kind) if name in ("keys", "items") else kind
