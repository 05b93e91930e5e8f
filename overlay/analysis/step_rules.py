"""Results of the steps of the checker's analysis that follow from their statements."""

from __future__ import annotations

import builtins
import types
from typing import TYPE_CHECKING, Any

from overlay.analysis.abstract_state import AbstractState
from overlay.analysis.abstract_values import BOTTOM, TOP, KnownValue
from overlay.analysis.attribute_names import is_of_program
from overlay.analysis.kind_functions import NONE, Exactly, Kinds, one
from overlay.analysis.protocol_checks import check_format, checked_awaitable
from overlay.code import marks
from overlay.code.body import Apply, Body
from overlay.core.errors import OverlayError, closest, near_names

if TYPE_CHECKING:
    from overlay.analysis.checked_types import CheckedTypes

__all__ = ["UndefinedName", "result_of_step"]


# classes of which a pattern with one part, as str(text), takes the object itself
_OF_THEMSELVES = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)
# instructions that format a value by a specification
_FORMATS = ("FORMAT_WITH_SPEC", "FORMAT_VALUE")


class UndefinedName(OverlayError):
    """A name that is read is not bound."""


def result_of_step(
    domain: CheckedTypes, step: Apply, body: Body, state: AbstractState
) -> tuple[Any] | None:
    """The result of a step that follows from its statement, in a tuple of one; else None."""
    function = step.function
    if function is marks.outer:
        _check_name(domain, step.native, body)
    elif function is marks.new and step.native is not None:
        return _displayed(domain, step, state)
    elif function is marks.matched:
        return _matched(domain, step, state)
    elif function is marks.put:
        return _put(domain, step, state)
    elif function is marks.of_super:
        return _of_super(domain, step, state)
    elif function is marks.part:
        return (domain.item_of(state.values.get(step.args[0], TOP)),)
    elif function is marks.rest:
        return (domain.made_here(list, domain.item_of(state.values.get(step.args[0], TOP))),)
    elif function is marks.other and step.native == "DELETE_FAST":
        state.forget(step.instruction)
    elif function is marks.other and step.native == "GET_AWAITABLE":
        return (checked_awaitable(state.values.get(step.args[0], TOP)),)
    elif function is marks.other and step.native == "GET_AITER":
        checked_awaitable(state.values.get(step.args[0], TOP), "__aiter__")
    elif function is marks.other and step.native == "END_SEND":
        return (domain.result_of(state.values.get(step.args[0], TOP)),)
    elif function is marks.other and step.native == "INTRINSIC_LIST_TO_TUPLE":
        item = domain.item_of(state.values.get(step.args[0], TOP))
        return (domain.made_here(tuple, item),)
    return None


def _check_name(domain: CheckedTypes, name: str, body: Body) -> None:
    function: Any = body.function
    code, namespace = function.__code__, function.__globals__
    if name in code.co_freevars or name in namespace or hasattr(builtins, name):
        return
    if type(namespace.get("__builtins__", builtins)) not in (dict, types.ModuleType):
        return
    if domain.stored.binds(namespace, name):
        return
    near = near_names(name, (*namespace, *vars(builtins), *code.co_varnames, *code.co_freevars))
    raise UndefinedName(
        f"the name {name!r} is not defined",
        notes=closest(near),
        help="correct the spelling, or define or import it",
    )


def _displayed(domain: CheckedTypes, step: Apply, state: AbstractState) -> tuple[Any] | None:
    cls = domain.known(state.values[step.args[0]])
    items = [state.values.get(name, TOP) for name in step.native]
    kind = None if cls is None else cls[0]
    if kind is str and step.instruction in _FORMATS and len(items) == 2:
        check_format(*items)
    if kind is str:
        domain.handed(each for each in items if domain.contents.holds(each, is_of_program))
        return (one(str),)
    if kind is dict:
        key, item = domain.joined(items[::2]), domain.joined(items[1::2])
        made = domain.made_here(dict, item, key)
        names = [each.only if isinstance(each, Exactly) else None for each in items[::2]]
        domain.names.add(made, [name for name in names if type(name) is str])
        return (made,)
    if kind in (list, set):
        return (domain.made_here(kind, domain.joined(items)),)
    domain.handed(items)
    return None


def _matched(domain: CheckedTypes, step: Apply, state: AbstractState) -> tuple[Any] | None:
    """The parts of a class pattern of a builtin class that takes the object itself as its part."""
    value, cls = (state.values.get(name, TOP) for name in step.args[:2])
    plain = isinstance(cls, KnownValue) and cls.value in _OF_THEMSELVES
    if not plain or step.native != (1, ()) or not isinstance(value, Kinds):
        return None
    kept = [each for each in value.types if issubclass(each, cls.value)]
    part = Kinds(frozenset(kept), value.sites) if kept else BOTTOM
    made = domain.made_here(tuple, part)
    return (Kinds(made.types | NONE.types, made.sites),)


def _put(domain: CheckedTypes, step: Apply, state: AbstractState) -> tuple[Any]:
    container, *items = (state.values.get(name, TOP) for name in step.args)
    sites = container.sites if isinstance(container, Kinds) else None
    if step.instruction in ("LIST_APPEND", "SET_ADD"):
        domain.contents.write(sites, "item", items[0])
    elif step.instruction in ("LIST_EXTEND", "SET_UPDATE"):
        domain.contents.write(sites, "item", domain.item_of(items[0]))
    elif step.instruction == "MAP_ADD":
        domain.contents.write(sites, "key", items[0])
        domain.contents.write(sites, "item", items[1])
    else:
        domain.rules.update(container, items[0])
        if step.instruction in ("DICT_MERGE", "DICT_UPDATE"):
            domain.names.gather(container, items[0])
    return (container,)


def _of_super(domain: CheckedTypes, step: Apply, state: AbstractState) -> tuple[Any] | None:
    given = [state.values.get(name, TOP) for name in step.args]
    if len(given) != 3 or given[0] != KnownValue(super):
        return None
    return (domain.attributes.of_super(given[1], given[2], step.native),)
