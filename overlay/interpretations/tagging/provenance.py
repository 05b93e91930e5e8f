"""Provenance: the inputs, lines and operations that a result comes from."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from overlay.contexts.rules_alone import in_program, runs_alone
from overlay.core.location import caller, name_of
from overlay.core.markup import Html, code, facts, listed, place, sheet, shown_value
from overlay.core.short_repr import short_repr
from overlay.core.target import describe
from overlay.interpretations.tagging.tagged_values import base_of, found_in
from overlay.interpretations.tagging.tags import Tagging

__all__ = ["Condition", "Origin", "Provenance", "provenance"]


@dataclass(frozen=True, eq=False)
class Origin:
    """An input, or an operation with the origins of its arguments.

    Attributes
    ----------
    name : str
        The name of the input, or of the function.
    where : str or None
        ``file:line`` of the operation; None for an input.
    parts : tuple of Origin
        The origins of its arguments.
    number : int
        Its place in the order of execution.

    Examples
    --------
    >>> from overlay.interpretations.tagging import provenance
    >>> (origin,) = provenance(lambda x: x + 1, 2.0).origins
    >>> origin.name, [part.name for part in origin.parts]
    ('add', ['x'])
    """

    name: str
    where: str | None
    parts: tuple[Origin, ...]
    number: int

    def __repr__(self) -> str:
        return short_repr(
            "Origin", self.name if self.is_input else f"{self} {self.name}", self.where
        )

    @property
    def is_input(self) -> bool:
        """Whether this is an input."""
        return self.where is None

    def __str__(self) -> str:
        return self.name if self.is_input else f"#{self.number}"


@dataclass(frozen=True)
class Condition:
    """A comparison that the program made of values that come from its inputs.

    Attributes
    ----------
    name : str
        The name of the comparison.
    where : str
        ``file:line``.
    parts : tuple of Origin
        The origins of its arguments.
    result : bool
        Its result.

    Examples
    --------
    >>> from overlay.interpretations.tagging import provenance
    >>> (condition,) = provenance(lambda x: 1.0 if x > 0 else x, 2.0).conditions
    >>> condition.name, condition.result
    ('gt', True)
    """

    name: str
    where: str
    parts: tuple[Origin, ...]
    result: bool

    def __repr__(self) -> str:
        parts = ", ".join(map(str, self.parts))
        return short_repr("Condition", f"{self.name}({parts}) is {self.result}", self.where)


class _ProvenanceRecorder(Tagging):
    """Tags values with their origins."""

    @runs_alone
    def __init__(self) -> None:
        super().__init__(self._record)
        self.conditions: dict[Condition, None] = {}
        self.count = itertools.count(1)

    def _record(self, operation: Any, metadata: Sequence[Any]) -> Origin:
        where = caller() or "?"
        return Origin(_name(operation), where, tuple(dict.fromkeys(metadata)), next(self.count))

    def decided(self, operation: Any, metadata: Sequence[Any], result: Any) -> None:
        where, parts = caller() or "?", tuple(dict.fromkeys(metadata))
        self.conditions[Condition(_name(operation), where, parts, bool(result))] = None

    def input(self, value: Any, name: str) -> Any:
        """A value, tagged by name with all taggable values in it."""
        if base_of(value) is not None:
            return self.tag(value, Origin(name, None, (), 0))
        if type(value) in (list, tuple):
            return type(value)(self.input(item, f"{name}[{i}]") for i, item in enumerate(value))
        if type(value) is dict:
            return {key: self.input(item, f"{name}[{key!r}]") for key, item in value.items()}
        return value

    def bare(self, value: Any) -> Any:
        """A result without tags."""
        if type(value) in (list, tuple):
            return type(value)(map(self.bare, value))
        if type(value) is dict:
            return {key: self.bare(item) for key, item in value.items()}
        return self.untag(value) if base_of(value) is not None else value


def _name(operation: Any) -> str:
    if isinstance(operation, str):
        return operation
    return describe(operation).removeprefix("operator.").removeprefix("builtins.")


class Provenance:
    """The provenance of a result.

    ``str()`` shows all operations in order; ``dot()`` is the graph for Graphviz.

    Attributes
    ----------
    result : object
        The result of the program.
    origins : tuple of Origin
        The origins of the numbers, text and arrays in it.
    conditions : tuple of Condition
        The comparisons that the program made of values that come from its inputs.

    Examples
    --------
    >>> from overlay.interpretations.tagging import provenance
    >>> found = provenance(lambda x, y: (x + 1, y), 1.0, 2.0)
    >>> found[0].inputs, found[1].inputs
    (('x',), ('y',))
    """

    def __init__(self, recorder: _ProvenanceRecorder, found: Any) -> None:
        self._recorder, self._found = recorder, found
        self.result = recorder.bare(found)
        known = (recorder.metadata(value) for value in _values_in(found))
        self.origins: tuple[Origin, ...] = tuple(
            dict.fromkeys(one for one in known if one is not None)
        )
        self.conditions = tuple(recorder.conditions)

    def __getitem__(self, place: Any) -> Provenance:
        """The provenance of one item of a tuple, list or dict, or of a named attribute of another
        object."""
        held = self._found
        named = isinstance(place, str) and not hasattr(type(held), "__getitem__")
        return Provenance(self._recorder, getattr(held, place) if named else held[place])

    @property
    def operations(self) -> tuple[Origin, ...]:
        """The operations that the result comes from, in the order of execution."""
        found = [one for one in _all_of(self.origins) if not one.is_input]
        return tuple(sorted(found, key=lambda one: one.number))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs that the result comes from."""
        return tuple(sorted(one.name for one in _all_of(self.origins) if one.is_input))

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines, ``file:line``, that the result comes from, in the order of execution."""
        return tuple(dict.fromkeys(one.where for one in self.operations if one.where is not None))

    @property
    def edges(self) -> tuple[tuple[Origin, Origin], ...]:
        """The edges of the graph: pairs of an operand and the operation that used it."""
        return tuple((part, one) for one in self.operations for part in one.parts)

    def dot(self) -> str:
        """The graph in Graphviz's DOT language.

        Returns
        -------
        str
            A node for each origin, and an edge from each operand to its operation.
        """
        rows = [f'  n{_id(one)} [label="{_label(one)}"];' for one in _all_of(self.origins)]
        rows += [f"  n{_id(part)} -> n{_id(one)};" for part, one in self.edges]
        return "\n".join(["digraph provenance {", *sorted(rows), "}"])

    def __str__(self) -> str:
        shown = [
            (f"#{one.number} = {one.name}({', '.join(map(str, one.parts))})", one.where)
            for one in self.operations
        ]
        width = max((len(text) for text, _ in shown), default=0)
        rows = [f"{text:<{width}}   {where}" for text, where in shown]
        comes = ", ".join(map(str, self.origins)) or "no input"
        conditions = [
            f"because {one.name}({', '.join(map(str, one.parts))}) is {one.result}   {one.where}"
            for one in self.conditions
        ]
        return "\n".join([*rows, *conditions, f"result: {comes}"])

    def __repr__(self) -> str:
        return f"<Provenance of {self.result!r}: {', '.join(self.inputs) or 'no input'}>"

    def _repr_html_(self) -> str:
        operations = listed(
            ("", "operation", "where"),
            self.operations,
            lambda one: (str(one), _applied(one), place(one.where or "")),
        )
        conditions = listed(
            ("because", "is", "where"),
            self.conditions,
            lambda one: (_applied(one), code(one.result), place(one.where)),
        )
        comes = ", ".join(map(str, self.origins)) or "no input"
        given = facts(
            ("result", shown_value(self.result)), ("is", comes), ("inputs", ", ".join(self.inputs))
        )
        return sheet("provenance", "", None, given, operations, conditions)


def _applied(one: Origin | Condition) -> Html:
    return code(f"{one.name}({', '.join(map(str, one.parts))})")


def _values_in(value: Any) -> Iterator[Any]:
    """The values with metadata in a result: items of containers, attributes of objects."""
    seen: set[int] = set()
    left = [value]
    while left:
        one = left.pop()
        if base_of(one) is not None or isinstance(one, (Fraction, *_NO_DATA)):
            yield from found_in(one)
        elif id(one) not in seen:
            seen.add(id(one))
            left.extend(reversed([*_parts_of(one)]))


_NO_DATA = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)


def _parts_of(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, (list, tuple, set, frozenset)):
        return value
    try:
        state = object.__getstate__(value)
    except TypeError:  # an object of a C type without state
        return ()
    parts = state if isinstance(state, tuple) else (state,)
    return [each for part in parts if isinstance(part, dict) for each in part.values()]


def _all_of(origins: Sequence[Origin]) -> Iterator[Origin]:
    """These origins and all that they come from, each once."""
    seen: dict[Origin, None] = {}
    left = list(origins)
    while left:
        one = left.pop()
        if one not in seen:
            seen[one] = None
            left.extend(one.parts)
            yield one


def _id(origin: Origin) -> str:
    return str(id(origin)) if origin.is_input else str(origin.number)


def _label(origin: Origin) -> str:
    text = origin.name if origin.is_input else f"{origin.name}\\n{origin.where}"
    return text.replace('"', '\\"')


@runs_alone
def provenance(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Provenance:
    """Run a function and return the provenance of its result.

    Numbers, text and arrays among the arguments are tracked, each one separately if it is in a
    list, tuple or dict.

    Parameters
    ----------
    f : callable
        The function to run.
    *args, **kwargs
        Its arguments.

    Returns
    -------
    Provenance
        The result, and the inputs, lines and operations that it comes from.

    Examples
    --------
    >>> from overlay.interpretations.tagging import provenance
    >>> found = provenance(lambda x, y, z: (x + y) * 2 if z > 0 else x, 1.0, 2.0, 3.0)
    >>> found.result, found.inputs
    (6.0, ('x', 'y'))
    >>> [condition.parts[0].name for condition in found.conditions]
    ['z']
    """
    recorder = _ProvenanceRecorder()
    names = _names(f, len(args))
    given = [recorder.input(arg, name) for arg, name in zip(args, names, strict=True)]
    named = {name: recorder.input(arg, name) for name, arg in kwargs.items()}
    return Provenance(recorder, in_program(recorder, f, *given, **named))


def _names(f: Callable[..., Any], count: int) -> list[str]:
    """The names of a function's positional arguments."""
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return [f"argument {i + 1}" for i in range(count)]
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), name_of(f))
    return (names + [f"{rest}[{i}]" for i in range(count)])[:count]
