"""Detection of active numbers that outlive a function: in lists, attributes and variables of
others.

Each dual holds a reference to its class. So if the class has as many references after a derivative
as before, none is left; otherwise the existing duals are searched.
"""

from __future__ import annotations

import functools
import gc
import sys
import threading
from collections.abc import Callable
from types import CellType, FrameType
from typing import TYPE_CHECKING, Any

from overlay import nonoverlay
from overlay.contexts.rules_alone import in_program, runs_alone
from overlay.interpretations.autodiff.errors import refuse_escape
from overlay.interpretations.autodiff.unfit_calls import refuse_unfit

if TYPE_CHECKING:
    from overlay.interpretations.autodiff.levels import Level

__all__ = ["EscapeDetector", "begun", "given_up", "looked", "watched"]

# Recursive functions are reference cycles, and contexts refer to their engines, which the
# collection that finds a context releases for the next one.
COLLECTIONS = 3
_lock = threading.Lock()


class EscapeDetector:
    """Detects duals of a level that a run in it leaves behind.

    It does not search if another thread has run in the level meanwhile, whose duals cannot be
    distinguished from those of the run.
    """

    def __init__(self, level: Level) -> None:
        self.level = level
        with _lock:
            level.running += 1
            level.begun += 1
            self.serial = level.begun if level.running == 1 else 0
            if level.may_have_left and self.serial:
                level.left = _alive(level)
            else:
                level.left = _held_elsewhere(level.left)
            level.may_have_left = not self.serial
            # referenced so that their ids and reference counts are not reused
            self.before = level.left
        self.references = _references(level)

    def give_up(self, error: BaseException) -> None:
        """End without a search after the run has raised: its traceback may hold duals. An error of
        a function in C that was given an active value is refused by its name."""
        with _lock:
            self.level.running -= 1
        self.level.may_have_left = True
        refuse_unfit(error)

    def look(self, f: Any) -> None:
        """Raise NotDifferentiable if the run of f has left duals behind."""
        with _lock:
            self.level.running -= 1
            alone = self.serial == self.level.begun
        if not alone:
            self.level.may_have_left = True
        elif _references(self.level) != self.references:
            left = self._left()
            for _ in range(COLLECTIONS):
                if left:
                    del left
                    gc.collect()
                    left = self._left()
            if left:
                self.level.may_have_left = True
                refuse_escape(f, _holder(left))

    def _left(self) -> list[Any]:
        known = {id(dual) for dual in self.before}
        left = [dual for dual in _alive(self.level) if id(dual) not in known]
        return [dual for dual in left if not _is_kept(dual, {id(left)})]


@runs_alone
def watched(level: Level, f: Callable[..., Any], inner: Any, *args: Any) -> Any:
    """The result of f, called in the context of a level with a function ``inner`` and its
    arguments. The result must contain no duals of the level."""
    watch = begun(level)
    try:
        run = functools.update_wrapper(functools.partial(in_program, inner), inner)
        found = level.context(f, run, *args)
    except BaseException as error:
        given_up(watch, error)
        raise
    looked(watch, inner)
    return found


# created once: an inline cache at a call site needs the same callee each time
begun, given_up, looked = (
    nonoverlay(EscapeDetector),
    nonoverlay(EscapeDetector.give_up),
    nonoverlay(EscapeDetector.look),
)


def _references(level: Level) -> int:
    return sys.getrefcount(level.number) + sys.getrefcount(level.array)


def _counts(held: list[Any]) -> list[int]:
    """The reference count of each object."""
    return [sys.getrefcount(each) for each in held]


def _held_elsewhere(left: list[Any]) -> list[Any]:
    """The duals that are referenced from elsewhere, too. The others have to be freed before this
    returns, as the references to the class are counted then."""
    counts = _counts(left)
    return [each for each, count in zip(left, counts, strict=True) if count > _HELD_BY_LIST]


_HELD_BY_LIST = _counts([object()])[0]


def _alive(level: Level) -> list[Any]:
    """The existing duals of a level."""
    own = (level.number, level.array)
    return [each for each in gc.get_referrers(*own) if type(each) in own]


def _is_kept(held: Any, seen: set[int]) -> bool:
    """Whether only overlay's own objects hold an object, such as a cache of memoised results."""
    owners = _owners(held, seen)
    for owner in owners:
        own = getattr(type(owner), "__overlay_keeps_interpreted__", False)
        if not own and not type(owner).__module__.startswith("overlay."):
            if not isinstance(owner, tuple) or not _is_kept(owner, seen):
                return False
        elif isinstance(owner, tuple) and not _is_kept(owner, seen):
            return False
    return bool(owners)


def _holder(left: list[Any]) -> str:
    """A description of the object that holds the first of some duals."""
    held: Any = left[0]
    seen = {id(left)}
    owners = _owners(held, seen)
    while owners and isinstance(owners[0], tuple):
        held = owners[0]
        owners = _owners(held, seen)
    if not owners:
        return "something that cannot be seen into"
    owner = owners[0]
    name = _name_in(owner, held)
    if name is not None:
        return f"the variable {name!r}"
    if isinstance(owner, CellType):
        return "a variable of the function around"
    return _described(owner, seen)


def _owners(held: Any, seen: set[int]) -> list[Any]:
    """The objects that refer to an object, except frames and these lists. There must be no closure
    here: its cell would be among them."""
    found = gc.get_referrers(held)
    seen.add(id(found))
    owners: list[Any] = []
    seen.add(id(owners))
    for each in found:
        if id(each) not in seen and not isinstance(each, FrameType):
            owners.append(each)
    return owners


def _described(owner: Any, seen: set[int]) -> str:
    """A description of an object, with its name if it is a variable of a module."""
    above = _owners(owner, seen)
    for each in above:
        if isinstance(owner, dict) and getattr(each, "__dict__", None) is owner:
            return _described(each, seen)
    what = type(owner).__qualname__
    kind = f"a {what}" if type(owner) in (list, dict, set) else f"an object of the class {what}"
    for each in above:
        name = _name_in(each, owner)
        if name is not None:
            return f"{kind}, the variable {name!r}"
    return kind


def _name_in(space: Any, value: Any) -> str | None:
    """The name of a value among the variables of a module."""
    if not isinstance(space, dict) or "__name__" not in space:
        return None
    for name, each in list(space.items()):
        if each is value:
            return name
    return None
