"""Source of compiled programs: a graph as Python that numba compiles, on the words of a tape.

A record is a run of entries of one array, ``index``, from the place ``at`` on. It has the data
that differ between slices of one graph: addresses, and for a group of several steps their number
and the places of lists of addresses. ``recorded`` writes the data that the program reads, in the
same order.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from overlay.interpretations.probabilistic import compiled_functions as compiled
from overlay.interpretations.probabilistic.dependent import ArrayMethod
from overlay.interpretations.probabilistic.pruning import INFIX
from overlay.interpretations.probabilistic.random_values import OwnDensity, log_density
from overlay.interpretations.probabilistic.slices import CHOICE, CLEAN, Graph, Group, Slice
from overlay.interpretations.probabilistic.tape import LEAF, Packed, StepKind
from overlay.interpretations.probabilistic.words import LARGEST, Kind, Words, size_of

__all__ = [
    "COMMIT",
    "COUNT",
    "HAS_OUT",
    "PARAMETERS",
    "SCRATCH",
    "Expressions",
    "GraphWriter",
    "Index",
    "Unsupported",
    "change_of",
    "entries_of",
    "recorded",
]

COMMIT, COUNT, SCRATCH, PARAMETERS, _FIRST = range(5)
"""The first entries of a record: the place of the list of addresses to which the words of a change
go, and their number; the address of the first of these words; the place of the list of addresses of
the parameters of the choice."""

HAS_OUT: Final = (StepKind.VALUE, StepKind.SCORE)
_FORMS: Final[dict[Any, Any]] = {
    math.fsum: compiled.exact_sum,
    operator.truth: bool,
    operator.abs: abs,
}
_UNARY: Final[dict[Any, str]] = {operator.neg: "-", operator.pos: "+"}
_SIGNS: Final = {**INFIX, operator.matmul: "@", np.matmul: "@"}
_REFUSED: Final = (round, operator.lshift, operator.rshift, operator.invert)


class Unsupported(Exception):
    """A step that has no compiled form. The text says why."""


class Expressions:
    """Expressions of steps. functions: the names that they read."""

    def __init__(self) -> None:
        self.functions: dict[str, Any] = {
            "isfinite": math.isfinite,
            "nan": math.nan,
            "inf": math.inf,
            **compiled.HELPERS,
        }
        self._names: dict[Any, str] = {}

    def name(self, function: Any) -> str:
        """The name of an object in the source."""
        if function not in self._names:
            base = getattr(function, "__name__", type(function).__name__)
            base = base if base.isidentifier() else "function"
            self._names[function] = f"{base}_{len(self._names)}"
            self.functions[self._names[function]] = function
        return self._names[function]

    def read(self, kind: Kind, at: str) -> str:
        """The value of a kind at an address."""
        match kind:
            case Kind("fixed", value):
                return self.name(value) if isinstance(value, type) else repr(value)
            case Kind("tuple", parts):
                texts, offset = [], 0
                for part in parts:
                    texts.append(self.read(part, f"{at} + {offset}") + ", ")
                    offset += size_of(part)
                return f"({''.join(texts)})"
            case Kind("array" | "row", of, shape):
                words = "floats" if of == "float" else "ints"
                text = f"{words}[{at} : {at} + {size_of(kind)}]"
                text += "" if len(shape) == 1 else f".reshape({shape})"
                return f"({text} != 0)" if of == "bool" else text
            case Kind("float"):
                return f"floats[{at}]"
            case Kind("int"):
                return f"ints[{at}]"
            case _:
                return f"(ints[{at}] != 0)"

    def applied(self, function: Any, args: list[str], kinds: list[Any]) -> str:
        """A function of arguments. kinds: theirs; lists for nested tuples and lists."""
        names: tuple[str, ...] = ()
        if isinstance(function, Packed):
            leaves, of_leaves = iter(args), iter(kinds)
            args = [_nested(part, leaves) for part in function.shape[1]]
            kinds = [_kinds_of(part, of_leaves) for part in function.shape[1]]
            names, function = function.names, function.function
        if isinstance(function, OwnDensity):
            return (
                f"{self.name(log_density)}({self.name(function.cls)}({_row(args[1:])}), {args[0]})"
            )
        _check(function, kinds)
        if function is operator.getitem:
            return _item(args, kinds)
        if function is sum and len(args) == 1 and _are_floats(kinds[0]):
            function = compiled.rounded_sum
        sign = _SIGNS.get(function) if len(args) == 2 else None
        if sign is not None:
            return f"({args[0]} {sign} {args[1]})"
        if function in _UNARY:
            return f"({_UNARY[function]}{args[0]})"
        plain = len(args) - len(names)
        texts = [*args[:plain], *map("{}={}".format, names, args[plain:])]
        if isinstance(function, ArrayMethod):
            return f"{texts[0]}.{function.name}({_row(texts[1:])})"
        return f"{self.name(_FORMS.get(function, function))}({_row(texts)})"


def _row(texts: list[str]) -> str:
    return ", ".join(texts)


def _nested(shape: Any, leaves: Any) -> str:
    if shape == LEAF:
        return next(leaves)
    return f"({''.join(_nested(part, leaves) + ', ' for part in shape[1])})"


def _kinds_of(shape: Any, leaves: Any) -> Any:
    return next(leaves) if shape == LEAF else [_kinds_of(part, leaves) for part in shape[1]]


def _are_floats(kind: Any) -> bool:
    parts = kind if isinstance(kind, list) else kind.of if kind.form == "tuple" else ()
    if isinstance(kind, Kind) and kind.form == "row":
        return kind.of == "float"
    return bool(parts) and all(part == Kind("float") for part in parts)


def _check(function: Any, kinds: list[Any]) -> None:
    """Raise Unsupported where numba would compute another result."""
    scalars = [kind.form if isinstance(kind, Kind) else "" for kind in kinds]
    name = getattr(function, "__name__", repr(function))
    if function in _REFUSED and (function is not round or len(kinds) > 1):
        raise Unsupported(f"{name} has no compiled form that gives the same")
    if function is operator.pow and scalars[0] in ("int", "bool") and scalars[1] != "float":
        raise Unsupported("a power of whole numbers may be a fraction, or too large")
    if function in (min, max):
        parts = kinds[0] if len(kinds) == 1 and isinstance(kinds[0], list) else kinds
        if len(parts) > 1 and len({str(part) for part in parts}) > 1:
            raise Unsupported(f"{name} of numbers of several classes")


def _item(args: list[str], kinds: list[Any]) -> str:
    """An item, with its index checked where compiled code checks none."""
    index = kinds[1]
    if not isinstance(index, Kind) or index.form not in ("int", "bool"):
        raise Unsupported("an index that is no whole number")
    place = args[1] if index.form == "int" else f"int({args[1]})"
    return f"item({args[0]}, {place})"


class GraphWriter(Expressions):
    """Writes a program group by group. entries: the number of entries of a record so far."""

    def __init__(self, graph: Graph, *lines: str) -> None:
        super().__init__()
        self.graph = graph
        self.entries = _FIRST
        self.lines: list[str] = list(lines)

    def write_groups(self) -> None:
        """Write all groups."""
        for number, group in enumerate(self.graph, start=1):
            if None in group.kinds:
                raise Unsupported(f"{_described(group)} has a value that is no number or array")
            (self._many if group.many else self._one)(f"g{number}", group)

    def write(self, name: str, group: Group, args: list[str], base: str, j: str) -> None:
        """Write a step. base: the address of its value. j: the variable of the loop, if any."""
        raise NotImplementedError

    def local(self, source: int, group: Group, kind: Kind) -> str:
        """The value of a step of another group of several: it stands in the change."""
        where = self.entry()
        return self.read(kind, f"index[{where} + j]" if group.many else where)

    def is_several(self, source: int) -> bool:
        """Whether a source has several values."""
        return source != CHOICE and self.graph[source - 1].many

    def entry(self) -> str:
        """The next entry of the record."""
        self.entries += 1
        return f"index[at + {self.entries - 1}]"

    def _one(self, name: str, group: Group) -> None:
        base = self.entry() if group.kind in HAS_OUT else ""
        self.write(name, group, self._arguments(group), base, "")

    def _many(self, name: str, group: Group) -> None:
        count = self.entry()
        base = self.entry() if group.kind in HAS_OUT else ""
        before = self.entries
        self.begin(name, group, count)
        args = self._arguments(group)
        if self.entries == before:
            self.entry()
        size = size_of(group.kinds[-1])
        self.write(name, group, args, f"{base} + j * {size}" if base else "", "j")

    def begin(self, name: str, group: Group, count: str) -> None:
        """Write the head of the loop over the steps of a group."""
        self.lines.append(f"    for j in range({count}):")

    def _arguments(self, group: Group) -> list[str]:
        args: list[str] = []
        for source, kind in zip(group.sources, group.kinds, strict=False):
            if source == CLEAN:
                where = self.entry()
                args.append(self.read(kind, f"index[{where} + j]" if group.many else where))
            elif self.is_several(source):
                args.append(self.local(source, group, kind))
            else:
                args.append(f"g{source}")
        return args


class _ChangeWriter(GraphWriter):
    """Writes the program of one graph: see ``change_of``."""

    def __init__(self, graph: Graph, choice: Kind) -> None:
        super().__init__(graph, "    total, rest, dead = 0.0, 0.0, False")
        begin = [f"    g0 = {self.read(choice, f'index[at + {SCRATCH}]')}"]
        if choice.form == "int":
            begin += [f"    if not -{LARGEST} < g0 < {LARGEST}:", "        return nan"]
        self.lines[:0] = begin
        self.write_groups()

    @property
    def source(self) -> str:
        """The source of the program."""
        end = ["    if dead:", "        return -inf", "    return total + rest", ""]
        return "\n".join(["def change(floats, ints, index, at):", *self.lines, *end])

    def write(self, name: str, group: Group, args: list[str], base: str, j: str) -> None:
        """Write a step, whose value goes to the change."""
        start = "        " if j else "    "
        value = self._value(group, args)
        if group.kind not in HAS_OUT:
            self.lines += [f"{start}if not ({value}):", f"{start}    return nan"]
            return
        self.lines.append(f"{start}{name} = {value}")
        if group.kind is StepKind.VALUE:
            self.lines += [start + line for line in _stored(group.kinds[-1], name, base)]
            return
        old = f"floats[index[{self.entry()} + j]]" if j else f"floats[{self.entry()}]"
        self.lines += [
            f"{start}old = {old}",
            f"{start}if {name} != {name} or {name} == inf or not isfinite(old):",
            f"{start}    return nan",
            f"{start}floats[{base}] = {name}",
            f"{start}if {name} == -inf:",
            f"{start}    return -inf" if self._is_own(group) else f"{start}    dead = True",
            f"{start}else:",
            f"{start}    total, rest = plus(total, rest, {name})",
            f"{start}    total, rest = plus(total, rest, -old)",
        ]

    def _is_own(self, group: Group) -> bool:
        """Whether the log densities of a group are that of the choice alone, which is the first
        step that reads it: where the choice is impossible, the rest is not computed.
        """
        return group is self.graph[0] and not group.many and group.sources[0] == CHOICE

    def _value(self, group: Group, args: list[str]) -> str:
        if group.kind is StepKind.TRUE:
            return args[0]
        if group.kind is StepKind.FALSE:
            return f"not {args[0]}"
        if group.kind is StepKind.SAME:
            forms = {kind.form for kind in group.kinds}
            if len(forms) > 1 or not forms <= {"float", "int", "bool"}:
                raise Unsupported("a guard on a value that is no number")
            return f"same({args[0]}, {args[1]})"
        return self.applied(group.function, args, list(group.kinds[:-1]))


def _described(group: Group) -> str:
    return getattr(group.function, "__name__", None) or repr(group.function)


def _stored(kind: Kind, name: str, at: str) -> list[str]:
    """Statements that store a result, and end the program where it is beyond the words' bounds."""
    beyond = "    return nan"
    match kind.form:
        case "float":
            return [f"if not isfinite({name}):", beyond, f"floats[{at}] = {name}"]
        case "int":
            bound = f"if not -{LARGEST} < {name} < {LARGEST}:"
            return [bound, beyond, f"ints[{at}] = {name} | 0"]  # no float is stored
        case "bool":
            return [f"ints[{at}] = 1 if {name} else 0"]
        case "array":
            test = f"if {name}.shape != {kind.shape} or not bounded({name}):"
            words = "floats" if kind.of == "float" else "ints"
            value = f"{name}.ravel()" + (" | 0" if kind.of == "int" else "")
            return [test, beyond, f"{words}[{at} : {at} + {size_of(kind)}] = {value}"]
        case _:
            raise Unsupported("a result that is no number or array")


Program = Callable[..., Any]


def change_of(graph: Graph, choice: Kind) -> Program:
    """The program of a graph: it takes the words, the index, and the place of a record; it reads
    the new value of the choice from the first words of the change, and writes the values that
    follow from it there. It returns the sum of the changes of log densities; -inf where one is
    impossible; nan where a guard fails, or compiled code cannot continue with a value.
    """
    writer = _ChangeWriter(graph, choice)
    namespace = dict(writer.functions)
    exec(compile(writer.source, "<pruned program>", "exec"), namespace)
    return namespace["change"]


class Index:
    """The array of records and lists of addresses, which grows."""

    def __init__(self) -> None:
        self.array = np.zeros(1024, dtype=np.int64)
        self.count = 0

    def add(self, entries: Sequence[int]) -> int:
        """Add entries, and return the place of the first."""
        start, end = self.count, self.count + len(entries)
        if end > len(self.array):
            self.array = np.concatenate([self.array, np.zeros(2 * end, dtype=np.int64)])
        self.array[start:end] = entries
        self.count = end
        return start


def recorded(
    found: Slice, slot: int, parameters: Sequence[int], words: Words, index: Index
) -> tuple[int, int]:
    """Add the record of a slice of one choice to the index, and return its place, and the number of
    words of the change.

    slot: that of the choice. parameters: those of the parameters of its distribution.
    """
    places = words.places
    values = [[words.size]]  # of each group, the addresses in the change
    end = words.size + size_of(words.kind(slot))
    for group, count in zip(found.graph, found.counts, strict=True):
        size = size_of(group.kinds[-1]) if group.kind in HAS_OUT else 0
        values.append([end + k * size for k in range(count)] if size else [0] * count)
        end += size * count
    entries = entries_of(found, values, words, index)
    slots = [slot, *found.outs]
    to = [places[k] + offset for k in slots for offset in range(size_of(words.kind(k)))]
    head = [index.add(to), len(to), words.size, index.add([places[k] for k in parameters])]
    return index.add([*head, *entries]), end - words.size


def entries_of(
    found: Slice, values: Sequence[Sequence[int]], words: Words, index: Index
) -> list[int]:
    """The entries of a record after the first, in the order in which a program reads them. values:
    of the choices and each group, where their values are."""
    entries: list[int] = []
    indices = iter(found.indices)
    for group, here, count in zip(found.graph, values[1:], found.counts, strict=True):
        entries += [count] * group.many
        entries += here[:1] if group.kind in HAS_OUT else []
        sources = [k for k in group.sources if k == CLEAN or len(values[k]) > 1]
        if group.many and not sources:
            sources = [CLEAN]
        for source in sources:
            table = words.places if source == CLEAN else values[source]
            entries.append(_placed(next(indices), table, index))
        if group.kind is StepKind.SCORE:
            entries.append(_placed(next(indices), words.places, index))
    return entries


def _placed(which: Any, table: Sequence[int], index: Index) -> int:
    """The entry for one address, or for several, which are added to the index."""
    if isinstance(which, tuple):
        return index.add([table[k] for k in which])
    return table[which]
