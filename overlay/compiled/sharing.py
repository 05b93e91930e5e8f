"""Sharing of compiled code between contexts, and between states of one context.

The queries that a function's compilation makes to its world are recorded in the function's *frame*:
the methods of each target it looks up, whether it reads the metadata or the state, and the code
that it calls. Together they are the *basis* of the code. Code is valid in another world where its
basis, and that of all the code below it, is the same there.

Functions that call one another in a cycle share one basis.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import weakref
from collections.abc import Generator, Hashable
from contextlib import contextmanager, nullcontext
from types import FunctionType
from typing import TYPE_CHECKING, Any

from overlay.compiled.basis import (
    Basis,
    CompiledCode,
    Generated,
    Holder,
    MethodsOfTarget,
    place_of,
    world_at,
)
from overlay.compiled.causes import called, causes_of
from overlay.compiled.compilation_reports import (
    FIRST_CALL,
    IS_INTERACTIVE,
    LOG,
    PROGRESS,
    Why,
    reported,
)
from overlay.contexts.compilations import Compilation
from overlay.core.background import goes_on
from overlay.core.table import LOCK
from overlay.plugins.plugin import identity

if TYPE_CHECKING:
    from overlay.code.record import FunctionReads
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.world import World

__all__ = [
    "CompilingFrame",
    "compiling",
    "forget",
    "found",
    "frame",
    "frames",
    "functions_made",
    "include",
    "report_of",
]


# ---- recording during compilation ---------------------------------------------------------


class CompilingFrame:
    """Record of one function while it is compiled: its queries to the world.

    number: its depth in the stack of functions being compiled. lowest: the lowest number on that
    stack that it, or a function below it, calls again.
    """

    def __init__(self, holder: Holder, args: tuple[Any, ...], number: int) -> None:
        self.holder = holder
        self.world = holder.world
        self.args = args
        self.number = self.lowest = number
        self.basis = Basis(self)
        self.basis.is_private = not shares_code(self.world)
        self.basis.plugins = tuple(map(identity, self.world.plugins))
        if self.basis.plugins:  # the hooks of these plugins are given it
            self.reads_metadata(self.world.engine)
        self._handed: dict[int, Holder] = {}

    def views(self, world: World, view: MethodsOfTarget) -> None:
        """Record that the code depends on the methods of a target in a world."""
        if not self.basis.is_private:
            self.basis.views[place_of(world, self.world), view.key] = view
            self._enters(world)

    def calls(self, world: World, code: CompiledCode) -> None:
        """Record a call of code of a world."""
        below = code.basis
        if below.frame is not None:
            self.lowest = min(self.lowest, below.frame.number)
        else:
            self.basis.below[place_of(world, self.world), below] = None
            self._enters(world)
        self.basis.is_private |= code.is_private or below.is_private

    def calls_again(self, function: Any, args: tuple[Any, ...]) -> None:
        """Record a call of a function that is still being compiled further out."""
        waiting = [f for f in _frames.stack if f.holder.compiles(function)]
        same = [f for f in waiting if f.args == args]
        self.lowest = min(self.lowest, *(f.number for f in same or waiting))

    def hands_on(self, holder: Holder) -> None:
        """Record that the code passes a function to one of numba's own functions, which may call
        it.
        """
        self._handed[id(holder)] = holder

    def asks(self, generated: Generated) -> None:
        """Record a call of the function that a generated method returned."""
        if not any(each is generated for each in self.basis.generated):
            self.basis.generated.append(generated)

    def has_read(self, reading: FunctionReads) -> None:
        """Record names of the program that were looked up."""
        self.basis.readings[id(reading)] = reading

    def knows(self, reading: FunctionReads) -> bool:
        """Whether this is recorded already."""
        return id(reading) in self.basis.readings

    def reads_metadata(self, engine: CompiledContext) -> None:
        """Record that the code contains the metadata of a context."""
        if engine is self.world.engine:
            self.basis.metadata = engine.context.metadata_key, self.world.is_bare
        else:
            self.needs_context()

    def reads_state(self, engine: CompiledContext, box: Any) -> None:
        """Record that the code contains the address of the box that holds the state of a
        context."""
        self.basis.kept.append(box)
        if engine is self.world.engine:
            self.basis.state = (engine.context.state,)
        else:
            self.needs_context()

    def needs_context(self, *kept: Any) -> None:
        """Record that the code depends on all of its context, and contains the addresses of these
        objects."""
        self.basis.context = self.world.engine
        self.basis.kept += kept

    def crosses_barrier(self) -> None:
        """Record that the code enters contexts known only at run time, through objects of this
        process."""
        self.basis.is_private = self.basis.crosses_barrier = True

    def is_private(self) -> None:
        """Bar the code from use in other worlds."""
        self.basis.is_private = True

    def _enters(self, world: World) -> None:
        if world is not self.world and not world.is_bare:
            self.needs_context()

    def ended(self, code: CompiledCode) -> None:
        """Record the finished code."""
        for holder in self._handed.values():
            for each in list(holder.codes.values()):
                self.calls(holder.world, each)
        self.basis.codes.append(code)
        _frames.made += 1


class _Frames(threading.local):
    """Compilation stack of a thread. verdicts: whether a basis is the same in a world; cached while
    anything is compiled. made: the number of functions compiled so far. why: the reason for the
    innermost compilation."""

    def __init__(self) -> None:
        self.stack: list[CompilingFrame] = []
        self.made = 0
        self.why: Why | None = None
        self.verdicts: dict[tuple[World, Basis], bool] = {}


_frames = _Frames()


def frames() -> list[CompilingFrame]:
    """The functions being compiled in this thread, each on behalf of the one before it."""
    return _frames.stack


def functions_made() -> int:
    """The number of functions that this thread has compiled, code found for reuse not counted."""
    return _frames.made


def frame() -> CompilingFrame | None:
    """The innermost function being compiled in this thread, or None."""
    stack = _frames.stack
    return stack[-1] if stack else None


@contextmanager
def report_of(holder: Holder, args: tuple[Any, ...], verb: str = "compiled") -> Generator[None]:
    """Record the compilation in the block in the history of its context, and report it in the log
    and on the progress line. verb: the participle for what the block does to the function.
    """
    outer, key, begun = _frames.why, holder.key_of(args), time.perf_counter()
    _frames.why = why = _why(holder, key, outer)
    is_watched = IS_INTERACTIVE or PROGRESS in os.environ or LOG.isEnabledFor(logging.INFO)
    shown = reported(holder.original, args, why.text, verb) if is_watched else nullcontext()
    failure = ""
    try:
        with shown:
            yield
    except BaseException as error:
        failure = type(error).__name__
        raise
    finally:
        _frames.why = outer
        made = Compilation(
            called(holder.original),
            tuple(map(str, args)),
            verb,
            time.perf_counter() - begun,
            *why,
            failure,
        )
        code = None if failure else holder.codes.get(args)
        holder.world.engine.history.add(holder.original, key, made, code)


def _why(holder: Holder, key: Hashable, outer: Why | None) -> Why:
    """The reason for a compilation. outer: that of the function on whose behalf it is compiled."""
    engine = holder.world.engine
    last = engine.history.last(holder.original, key)
    code = None if last is None else last.code()
    callers = (frame.holder.original for frame in _frames.stack)
    causes = () if code is None else causes_of(code, holder.world, callers)
    if causes:
        return Why(str(causes[0].change), causes)
    if outer is not None and outer.causes:
        return outer
    return Why(FIRST_CALL if last is None else engine.change or FIRST_CALL)


@contextmanager
def compiling(holder: Holder, args: tuple[Any, ...]) -> Generator[CompilingFrame]:
    """Record the compilation of a function for the block, which passes the code to the frame's
    ``ended`` before its end."""
    report = report_of(holder, args) if holder.world.makes_code else nullcontext()
    with report, _recorded(holder, args) as made:
        yield made


@contextmanager
def _recorded(holder: Holder, args: tuple[Any, ...]) -> Generator[CompilingFrame]:
    goes_on()
    stack = _frames.stack
    made = CompilingFrame(holder, args, len(stack))
    stack.append(made)
    try:
        yield made
    except BaseException:
        stack.pop()
        for code in made.basis.codes:
            code.is_private = True  # it calls a function that has no code
        _join_outer(made)
        _at_end()
        raise
    stack.pop()
    if made.lowest < made.number:
        _join_outer(made)
    else:
        _close(made)
    _at_end()


def _at_end() -> None:
    if not _frames.stack:
        _frames.verdicts.clear()


def _join_outer(frame: CompilingFrame) -> None:
    """Merge a basis into that of the function further out, which depends on it, too."""
    if not _frames.stack:
        frame.basis.frame = None
        return
    outer = _frames.stack[-1]
    outer.basis.join(frame.basis, same_world=outer.world is frame.world)
    outer.lowest = min(outer.lowest, frame.lowest)


def _close(frame: CompilingFrame) -> None:
    """Release the code of a finished cycle of functions for use in other worlds."""
    basis = frame.basis
    basis.frame = None
    with LOCK:
        if not frame.world.is_present:
            basis.is_private = True
        if basis.is_private:
            return
        for code in basis.codes:
            _codes.setdefault(code.function, weakref.WeakSet()).add(code)


# ---- reuse of code ------------------------------------------------------------------------

# Reusable code by function. It lives as long as a world that uses it.
_codes: weakref.WeakKeyDictionary[FunctionType, weakref.WeakSet[CompiledCode]] = (
    weakref.WeakKeyDictionary()
)


def shares_code(world: World) -> bool:
    """Whether code of a world may be reused in others. Hooks of a plugin without a
    ``cache_token`` may read anything, and plugins that analyse receive the analysis of each
    function.
    """
    known = all(plugin.cache_token is not None for plugin in world.plugins)
    return known and world.makes_code and world.engine.interpretation is None


def found(world: World, function: FunctionType, key: Hashable) -> CompiledCode | None:
    """Find code of a function that was made in another world and is valid in this one."""
    if not shares_code(world):
        return None
    try:
        for code in list(_codes.get(function, ())):
            if code.key == key and not code.is_private and _serves(world, code.basis):
                return code
        return None
    finally:
        _at_end()


def _serves(world: World, basis: Basis) -> bool:
    """Whether a basis and all below it are the same in a world."""
    verdicts, pending = _frames.verdicts, [(world, basis)]
    while pending:
        at, now = pending[-1]
        if (at, now) in verdicts:
            pending.pop()
            continue
        below = [(world_at(place, at), each) for place, each in now.below]
        known = [verdicts.get(each) for each in below]
        if False in known or (None not in known and not now.is_same_in(at)):
            verdicts[at, now] = False
        elif None not in known:
            verdicts[at, now] = True
        pending += [each for each in below if each not in verdicts and (at, now) not in verdicts]
    return verdicts[world, basis]


def include(world: World, basis: Basis) -> None:
    """Watch in a world what the reused code of another one has read."""
    for each in basis.all_below():
        if each not in world.included:
            world.included.add(each)
            for reading in each.readings.values():
                world.watch.include(reading)


def forget(code: CompiledCode) -> None:
    """Bar code, and the code that it calls, from use in other worlds from now on."""
    for basis in code.basis.all_below():
        basis.is_private = True
