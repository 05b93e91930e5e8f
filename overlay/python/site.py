"""Call sites of rewritten code."""

from __future__ import annotations

import contextlib
import enum
import weakref
from types import (
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
)
from typing import TYPE_CHECKING, Any

from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.python.construction import is_simple, may_make_itself
from overlay.python.twins import Family
from overlay.python.unseen import unobserved, unseen
from overlay.table import LOCK
from overlay.target import BUILTINS, attributes_of, key_of_target, mro_of, type_attribute

if TYPE_CHECKING:
    from overlay.python.callees import Callees, Found

__all__ = ["NOWHERE", "Keep", "Site"]

_NOTHING: tuple[Any, Any] = (object(), None)
NOWHERE: tuple[Any, Any, Any] = (object(), None, None)
_GONE: Any = weakref.ref(type("Gone", (), {})())
_NO_FAMILY = Family(None, None, lambda: None)
_CHANCES = 20
_MOST = 32  # callees that one site keeps
_PATIENCE = 1000
_KEPT: Any = (FunctionType, MethodDescriptorType, type)
_NATIVE = (*BUILTINS, MethodWrapperType)


class Keep(enum.Enum):
    """Whether a site may keep what stands for a callee."""

    YES = enum.auto()
    # while the run lasts: the callee would outlive it otherwise
    RUN = enum.auto()
    NO = enum.auto()


class Site(dict[Any, Any]):
    """What one call site of rewritten code has learnt: a constant of that code.

    pair: a callee, and what to call in place of it. The code compares its own callee with the
    former by identity and takes the latter if it is the same. A thread reads both at once, so
    none ever sees half of a change.
    method: the same for the function of a bound method that comes as a value. It is called with
    one argument more than ``arity`` says, so that another form may stand for it.
    The site itself maps functions, C methods and classes of no other metaclass, which no program
    can give a hash of its own, to what to call; ``site.other[callee]`` does so for callables of
    any other kind.
    clean: code of functions that come anew each time and in which there is nothing to rewrite.
    bound: whether the code is to load a method as a value, which comes bound to its object.
    init: where the code calls a class, what its ``__init__`` must be for the pair to hold.
    instance: a class, what to call with an object of it that is called, and the ``__call__``
    that the class must have for that.
    same: a weak reference to a C function or method that stays as it is.
    inline: the type of an argument, a target, and what to call with such an argument in place
    of the target.
    """

    __slots__ = (
        "__weakref__",
        "arity",
        "attribute",
        "bound",
        "callees",
        "chances",
        "clean",
        "family",
        "init",
        "inline",
        "instance",
        "known",
        "lasting",
        "method",
        "missed",
        "of_class",
        "other",
        "pair",
        "passing",
        "patience",
        "plain",
        "recent",
        "same",
        "value",
    )

    def __init__(
        self,
        callees: Callees,
        arity: int | None,
        attribute: str | None = None,
        of_class: bool = False,
    ) -> None:
        self.callees = callees
        self.of_class = of_class
        self.known = callees.known
        self.arity = arity
        self.attribute = attribute
        self.value = attribute is None
        self.other = Other(self)
        self.reset()

    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType, reportIncompatibleVariableOverride]

    def __eq__(self, other: object) -> bool:
        return self is other

    def reset(self) -> None:
        """Know nothing."""
        self.family = _NO_FAMILY  # that functions which come anew belong to; first, see __missing__
        self.pair = _NOTHING
        self.method = _NOTHING
        self.lasting = False
        self.missed = 0  # id of the last that was not kept
        self.inline = NOWHERE
        self.init: Any = None
        self.clean: Any = None
        self.bound = True
        # by id, callees that were met once: one that is met again is kept
        self.recent: dict[int, weakref.ref[Any]] = {}
        self.patience = 0  # how many to let go, after many of which none was met again
        self.plain: tuple[Any, Any] = _NOTHING  # class and name of builtin methods that stay
        self.instance = NOWHERE
        self.same = _GONE
        self.chances = _CHANCES  # how often another may come to be the same
        self.passing = False  # whether it is known that the end of the run is to reset it
        self.clear()

    @property
    @unseen
    def as_value(self) -> AsValue:
        """Stands for this site where its method load gave a value."""
        return AsValue(self)

    def forget(self, callee: Any) -> None:
        """Look ``callee`` up again at the next call."""
        if self.pair[0] is callee or self.method[0] is callee:
            self.reset()

    @unobserved
    def pick(self, callee: Any, argument: Any) -> Any:
        """What to call in place of ``callee`` with one argument."""
        engine = self.callees.engine
        if key_of_target(callee) in engine.overlaid:
            dispatcher = engine.dispatcher(callee)
            if self.callees.find(callee).to is dispatcher.generic:
                return dispatcher.inline(self, argument)
        return self.other[callee]

    @unseen
    def __missing__(self, callee: Any) -> Any:
        family = self.family
        if type(callee) is not FunctionType or callee.__code__ is not family.code:
            return self._meet(callee)
        known, to = family.last
        if known is not callee:
            if family.new is family.code:
                self.clean = family.code
                return callee
            # as copied() does, without a call
            to = FunctionType(
                family.new,
                callee.__globals__,
                callee.__name__,
                callee.__defaults__,
                callee.__closure__,
            )
            if family.keywords:
                to.__kwdefaults__ = callee.__kwdefaults__
            if callee.__qualname__ != family.qualname:
                to.__qualname__ = callee.__qualname__
            family.last = callee, to
        if not self.lasting:
            self.pair = callee, to
            if self.family is not family:  # a change came in between
                self.reset()
                return to
        if self.patience:
            self.patience -= 1
        else:
            self._come_anew(callee, to)
        return to

    @unobserved
    def _meet(self, callee: Any) -> Any:
        if type(callee) is type:
            return self.other[callee]
        found = self.callees.find(callee)
        if found.code is not None:
            with LOCK:
                if self.is_current(found) and self.passes():
                    self.family = self.callees.family(*found.code)
                    if found.code[0] is found.code[1]:
                        self.clean = found.code[0]
        return self.keep(callee, found)

    def is_current(self, found: Found) -> bool:
        """Whether nothing has changed since; asked with the lock held, until it is kept."""
        return found.changes == self.callees.engine.changes

    @unobserved
    def _come_anew(self, function: FunctionType, to: Any) -> None:
        with LOCK:
            if self.family.code is not function.__code__:
                return
            if self._again(function) and self.passes():
                self.callees.keep_for_this_run(function, to)
                self.learn(function, to)

    def passes(self) -> bool:
        """Whether a callee may be kept until the run ends."""
        self.passing = self.passing or self.callees.engine.for_this_run(self)
        return self.passing

    def _again(self, callee: Any) -> bool:
        """Whether a callee that may be dropped soon was here before."""
        key = id(callee)
        met = self.recent.get(key)
        if met is not None:
            if met() is callee:
                return True
            self.patience = _PATIENCE
        if len(self.recent) >= _MOST:
            self.patience = _PATIENCE
            self.recent.clear()
        with contextlib.suppress(TypeError):  # its class has no weak references
            self.recent[key] = weakref.ref(callee)
        return False

    def learn(self, callee: Any, to: Any, lasting: bool = False) -> None:
        """Keep a callee; ``lasting`` if its module holds it. One that the module holds no more
        is let go. Where others than functions come in turn, the first stays."""
        kept = type(callee) in _KEPT
        known = self.pair[0]
        if not (kept or known is callee or known is _NOTHING[0] or self.missed == id(callee)):
            self.missed = id(callee)
            return
        if self.lasting and self.pair[0] is not callee and not self.callees.lasts(self.pair[0]):
            self.reset()
        self.pair, self.lasting = (callee, to), lasting
        if kept:
            if len(self) >= _MOST:
                self.clear()
            self[callee] = to

    def key_of_method(self, function: Any) -> Any:
        """What the site maps for a bound method. With no arity one form stands for the function
        however it is called."""
        return function if self.arity is None else (function,)

    def learn_method(self, function: Any, to: Any, lasting: bool) -> None:
        """Keep the function of a bound method."""
        if self.arity is None:
            self.learn(function, to, lasting)
        elif len(self) >= _MOST:
            self.clear()
        self[self.key_of_method(function)] = to
        self.method = function, to

    def keep(self, callee: Any, found: Found) -> Any:
        """Learn a callee, unless it may be gone soon; what to call in place of it."""
        to = found.form(self.arity)
        if self.of_class:
            if not is_simple(callee):
                return to
            engine = self.callees.engine
            changed = engine.surrounds or key_of_target(callee) in engine.overlaid
            if not changed and may_make_itself(self.callees, callee):
                to = callee
        if found.keep is not Keep.NO or self.of_class:
            with LOCK:
                if self.is_current(found):
                    self._learn_found(callee, found, to)
        return to

    def _learn_found(self, callee: Any, found: Found, to: Any) -> None:
        if found.keep is Keep.YES:
            self.learn(callee, to, lasting=True)
        elif found.keep is Keep.RUN:
            again = found.of is not None or self._again(callee)
            if again and self.passes():
                self.learn(callee, to)
        if self.of_class and self.pair[0] is callee:
            self.init = type_attribute(callee, "__init__")


class Other:
    """The same for callables of any kind: none is hashed or compared."""

    __slots__ = ("site",)

    def __init__(self, site: Site) -> None:
        self.site = site

    @unseen
    def __getitem__(self, callee: Any) -> Any:
        site, kind = self.site, type(callee)
        if kind is MethodType:
            known, to = site.method
            if callee.__func__ is known:
                return MethodType(to, callee.__self__)
            return self._method(callee)
        if kind in _NATIVE:
            owner, name = site.plain
            if type(callee.__self__) is owner and callee.__name__ == name:
                if site.chances:
                    self._refer(callee, kind)
                return callee
        elif kind is FunctionType:
            return site[callee]
        else:
            known, to, call = site.instance
            if kind is known and kind.__call__ is call:
                return MethodType(to, callee)
        return self._find(callee, kind)

    @unobserved
    def _find(self, callee: Any, kind: Any) -> Any:
        site = self.site
        entry = site.known.get(id(callee))
        if entry is None or entry.of() is not callee:
            entry = site.callees.find(callee)
        to = site.keep(callee, entry)
        if entry.keep is Keep.NO:
            with LOCK:
                if not site.is_current(entry):
                    return to
                if kind in _NATIVE:
                    self._builtin(callee, to)
                else:
                    self._instance(callee, kind, to)
        return to

    @unseen
    def _refer(self, callee: Any, kind: Any) -> None:
        """Take a C function as it is where it comes again and again."""
        site = self.site
        if site.missed != id(callee):
            site.missed = id(callee)
        elif kind in BUILTINS:
            with LOCK:
                if site.plain[0] is type(callee.__self__):  # there was no change in between
                    site.chances -= 1
                    site.same = weakref.ref(callee)

    @unobserved
    def _method(self, method: MethodType) -> Any:
        site, function = self.site, method.__func__
        if type(function) is not FunctionType:
            return site.callees[method]
        to = dict.get(site, site.key_of_method(function))
        if to is None:
            found = site.callees.find(function)
            to = found.form(None)
            with LOCK:
                if site.is_current(found):
                    self._learn_method(method, found, to)
        return MethodType(to, method.__self__)

    def _learn_method(self, method: MethodType, found: Found, to: Any) -> None:
        site, lasting = self.site, found.keep is Keep.YES
        if lasting or (found.keep is Keep.RUN and site.passes()):
            site.learn_method(method.__func__, to, lasting)
            if not site.value:
                self._load_as_method(method.__self__, method.__func__)

    def _builtin(self, callee: Any, to: Any) -> None:
        site, owner, name = self.site, callee.__self__, callee.__name__
        kind: Any = type(owner)
        descriptor: Any = type_attribute(kind, name)
        if type(descriptor) is MethodDescriptorType and site.attribute == name and not site.value:
            site.pair = descriptor, site.callees.find(descriptor).form(None)
            self._load_as_method(owner, descriptor)
        elif to is callee and not issubclass(kind, type):
            site.plain = kind, name

    def _load_as_method(self, owner: Any, method: Any) -> None:
        """From now on load the native way, if that gives the method and its receiver: where
        some class of the receiver has it, since ``super()`` goes on from any of them."""
        name = self.site.attribute
        if any(held.get(name) is method for held in map(attributes_of, mro_of(type(owner)))):
            self.site.bound = False

    def _instance(self, instance: Any, kind: Any, to: Any) -> None:
        call = type_attribute(kind, "__call__")
        if type(kind) is not type or type(call) is not FunctionType:
            return  # the attribute of a class whose metaclass is another may be anything
        if id(kind) in self.site.callees.engine.overlaid_kinds:
            return  # each of its objects may stand for something else
        if type(to) is MethodType and to.__self__ is instance:
            call = to.__func__
        elif to is not instance:
            return
        if self.site.passes():
            self.site.instance = kind, call, kind.__call__


class AsValue:
    """A site whose method load pushed NULL and a value. Once it has done so too often to have
    been an instruction that was still warming up, the code loads the attribute as a value."""

    __slots__ = ("left", "site")

    def __init__(self, site: Site) -> None:
        self.site = site
        self.left = 20

    @unseen
    def __getitem__(self, callee: Any) -> Any:
        self.left -= 1
        if self.left < 0:
            self.site.value = self.site.bound = True
        return self.site.other[callee]
