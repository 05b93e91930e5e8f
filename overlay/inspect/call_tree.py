"""The tree of call sites and functions that ``ctx.explain`` shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import CodeType, MethodType
from typing import Any

from overlay.code.events import CallEvent, Event
from overlay.code.known_values import UNKNOWN, Known, Made, OfType, Value, declared_types
from overlay.code.listing import COMPREHENSIONS
from overlay.contexts.context import Context
from overlay.core.dispatch import MethodChain
from overlay.core.location import unwrapped
from overlay.core.signature import shown_hint
from overlay.core.target import describe, signature_of
from overlay.inspect.call_graph import CallGraph, builds_class
from overlay.inspect.entries import EnteredCode, Key
from overlay.inspect.explanation import ExplainedFunction, ExplainedSite, SourcePlace
from overlay.inspect.outcome import Outcome

__all__ = ["CallTree"]


@dataclass(frozen=True)
class Draft:
    """A site whose functions are not read yet."""

    outcome: Outcome
    text: str
    place: SourcePlace


class CallTree:
    """Lays out the call graph of functions in one context."""

    def __init__(self, context: Context) -> None:
        self.graph = CallGraph(context)

    def site(self, function: Any, types: Sequence[Any], depth: int | None) -> ExplainedSite:
        """The root call, with the whole call tree below it."""
        args = [OfType(kind) for kind in types] or self._annotated(function)
        outcome = self.graph.outcome(Known(function), args, (), None)
        kinds = [each.type if isinstance(each, OfType) else None for each in args]
        shown_types = ", ".join("?" if kind is None else shown_hint(kind) for kind in kinds)
        text = f"{describe(function)}({shown_types})"
        return _site(Draft(outcome, text, _place_of(function)), self._grown(outcome, depth))

    def _annotated(self, function: Any) -> list[Value]:
        """The annotated types of the required positional parameters, used where no types are
        given."""
        signature = signature_of(function)
        if signature is None:
            return []
        inner = function.__func__ if type(function) is MethodType else function
        hints = declared_types(inner)
        required = (
            p
            for p in signature.parameters.values()
            if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        )
        return [OfType(hints[p.name]) if p.name in hints else UNKNOWN for p in required]

    def _grown(self, root: Outcome, depth: int | None) -> tuple[ExplainedFunction, ...]:
        """The functions that a call enters, each with its call sites shown once: at the call with
        the fewest calls between it and the root."""
        order: dict[Key, EnteredCode] = {}
        drafts: dict[Key, list[Draft]] = {}
        children: dict[Key, list[EnteredCode]] = {}
        level = _new(root.entries, order)
        top = level
        while level and depth != 0:
            following: list[EnteredCode] = []
            for entry in level:
                drafts[entry.key] = self._drafts(entry)
                inner = [e for draft in drafts[entry.key] for e in draft.outcome.entries]
                children[entry.key] = _new(inner, order)
                following += children[entry.key]
            level, depth = following, None if depth is None else depth - 1
        built: dict[Key, ExplainedFunction] = {}
        for key, entry in reversed(order.items()):
            owned = {child.key: built[child.key] for child in children.get(key, ())}
            built[key] = _function(entry, drafts.get(key), owned)
        owned = {entry.key: built[entry.key] for entry in top}
        return _functions(root.entries, owned)

    def _drafts(self, entry: EnteredCode) -> list[Draft]:
        """The call sites of the code that is entered, in source order."""
        reading = self.graph.reading(entry)
        if reading is None:
            return []
        seen: set[Any] = set()
        drafts: list[Draft] = []
        for event in sorted(reading.events.values(), key=_position):
            inner = self._in_place(event, entry.chain)
            if inner is not None:
                drafts += self._drafts(inner)
                continue
            outcome = self.graph.of_event(event, entry.chain)
            key = event.at, outcome.target, outcome.status
            if outcome.status and key not in seen:
                seen.add(key)
                drafts.append(_draft(event, outcome, entry))
        return drafts

    def _in_place(self, event: Event, chain: MethodChain | None) -> EnteredCode | None:
        """Nested code that only the current code runs: class bodies and comprehensions."""
        if not isinstance(event, CallEvent):
            return None
        if builds_class(event) and event.args:
            made = event.args[0]
            return (
                self.graph.entries.of_made(made, [], (), chain) if isinstance(made, Made) else None
            )
        made = event.callee
        if isinstance(made, Made) and made.code.co_name in COMPREHENSIONS:
            return self.graph.entries.of_made(made, event.args, (), chain)
        return None


# ---- the tree -----------------------------------------------------------------------------


def _new(entries: Sequence[EnteredCode], order: dict[Key, EnteredCode]) -> list[EnteredCode]:
    """The entries not seen before, which are added to ``order``."""
    found = {entry.key: entry for entry in entries if entry.key not in order}
    order |= found
    return list(found.values())


def _function(
    entry: EnteredCode, drafts: Sequence[Draft] | None, owned: dict[Key, ExplainedFunction]
) -> ExplainedFunction:
    head = _head(entry)
    if drafts is None:
        return replace(head, note="deeper than asked")
    return replace(
        head, sites=tuple(_site(d, _functions(d.outcome.entries, owned)) for d in drafts)
    )


def _head(entry: EnteredCode) -> ExplainedFunction:
    name = entry.code.co_qualname if entry.function is None else describe(entry.function)
    return ExplainedFunction(
        name, SourcePlace(entry.code.co_filename, entry.code.co_firstlineno), entry.types
    )


def _functions(
    entries: Sequence[EnteredCode], owned: dict[Key, ExplainedFunction]
) -> tuple[ExplainedFunction, ...]:
    """The functions entered: in full the first time, and as a reference elsewhere."""
    return tuple(
        owned.pop(entry.key, None) or replace(_head(entry), note="shown elsewhere")
        for entry in entries
    )


def _site(draft: Draft, functions: tuple[ExplainedFunction, ...]) -> ExplainedSite:
    found = draft.outcome
    return ExplainedSite(
        draft.text, draft.place, found.target, found.status, found.methods, found.note, functions,
        found.untaken,
    )  # fmt: skip


def _draft(event: Event, outcome: Outcome, entry: EnteredCode) -> Draft:
    at, code = event.at, entry.code
    place = SourcePlace(
        code.co_filename, at.lineno, at.end_lineno, at.col_offset, at.end_col_offset
    )
    return Draft(outcome, place.text or f"{outcome.target}(...)", place)


# ---- helpers ------------------------------------------------------------------------------


def _position(event: Event) -> tuple[int, ...]:
    at = event.at
    if at.lineno is None:
        return (0, 0, 0)
    # of two calls that start at the same column, the inner one runs first
    return at.lineno, at.end_col_offset or 0, -(at.col_offset or 0)


def _place_of(function: Any) -> SourcePlace:
    inner = unwrapped(function.__func__ if type(function) is MethodType else function)[-1]
    code = getattr(inner, "__code__", None)
    if type(code) is CodeType:
        return SourcePlace(code.co_filename, code.co_firstlineno)
    return SourcePlace(str(getattr(inner, "__module__", None) or "?"), None)
