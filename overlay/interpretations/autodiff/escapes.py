"""Active numbers that a function leaves behind: in lists, attributes and variables of others.

Each dual holds a reference to its class. So where the class has as many references after a
derivative as before, none is left; else the duals that are there are looked for.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from types import CellType, FrameType
from typing import TYPE_CHECKING, Any

from overlay import nonoverlay
from overlay.interpretations.autodiff.errors import refuse_escape

if TYPE_CHECKING:
    from overlay.interpretations.autodiff.levels import Level

__all__ = ["EscapeDetector", "begun", "given_up", "looked", "watched"]

# Functions that call themselves hold what they capture, and contexts hold their engines, which
# the collection that finds a context lets go for the next one.
COLLECTIONS = 3
_lock = threading.Lock()


class EscapeDetector:
    """Looks whether a run in a level leaves duals of the level behind.

    It does not look where another thread has been in the level meanwhile, whose duals are like
    those of the run.
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
            # held so that no other dual has their place, nor their count
            self.before = level.left
        self.references = _references(level)

    def give_up(self) -> None:
        """The run has raised: its traceback holds what it will."""
        with _lock:
            self.level.running -= 1
        self.level.may_have_left = True

    def look(self, f: Any) -> None:
        """Refuse what the run of f has left behind."""
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


def watched(level: Level, f: Callable[..., Any], inner: Any, *args: Any) -> Any:
    """What f gives in the context of a level, for a function ``inner`` and its arguments: no
    duals of the level."""
    watch = begun(level)
    try:
        found = level.context(f, inner, *args)
    except BaseException:
        given_up(watch)
        raise
    looked(watch, inner)
    return found


# made once: the call site of what comes anew each time learns nothing
begun, given_up, looked = (
    nonoverlay(EscapeDetector),
    nonoverlay(EscapeDetector.give_up),
    nonoverlay(EscapeDetector.look),
)


def _references(level: Level) -> int:
    return sys.getrefcount(level.number) + sys.getrefcount(level.array)


def _counts(held: list[Any]) -> list[int]:
    """How many references there are to each."""
    return [sys.getrefcount(each) for each in held]


def _held_elsewhere(left: list[Any]) -> list[Any]:
    """Those that something else holds too. The rest has to be gone when this returns: references
    to the class are counted then."""
    counts = _counts(left)
    return [each for each, count in zip(left, counts, strict=True) if count > _HELD_BY_LIST]


_HELD_BY_LIST = _counts([object()])[0]


def _alive(level: Level) -> list[Any]:
    """The duals of a level that are there."""
    own = (level.number, level.array)
    return [each for each in gc.get_referrers(*own) if type(each) in own]


def _is_kept(held: Any, seen: set[int]) -> bool:
    """Whether what holds an object are overlay's own objects alone, as memoised results are."""
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
    """What holds the first of some duals, in words."""
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
    """What refers to an object, other than frames and these lists, of which no closure is made
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
    """An object, with its name where a module has one for it."""
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
