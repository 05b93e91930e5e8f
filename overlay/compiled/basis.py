"""The basis of compiled code: all queries to the world that its compilation has made."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from overlay.core.table import Method, MethodTable
from overlay.core.target import INPLACE, key_of_target
from overlay.generics import plum_methods
from overlay.plugins.plugin import identity

if TYPE_CHECKING:
    from overlay.code.record import FunctionReads
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.sharing import CompilingFrame
    from overlay.compiled.world import World

__all__ = [
    "Basis",
    "CompiledCode",
    "Generated",
    "Holder",
    "MethodsOfTarget",
    "Place",
    "entered_by",
    "place_of",
    "world_at",
]


class MethodsOfTarget(NamedTuple):
    """The methods of one target in the tables of a world, and its own.

    methods: of each table that has some, in order; where the target is ``+=``, also those of ``+``.
    own: of a plum or ``generic`` function.
    """

    target: Any
    key: Hashable
    methods: tuple[tuple[tuple[Method, ...], ...], ...]
    own: tuple[Any, ...]

    @classmethod
    def of(cls, target: Any, tables: tuple[MethodTable, ...]) -> MethodsOfTarget:
        plain = INPLACE.get(id(target))
        targets = (target,) if plain is None else (target, plain[0])
        found = (tuple(table.find(each) for each in targets) for table in tables)
        own = plum_methods.methods_of(target)
        return cls(target, key_of_target(target), tuple(m for m in found if any(m)), own)

    def same(self, other: MethodsOfTarget) -> bool:
        """Whether calls of the target lead to equal methods."""
        return (
            self.methods == other.methods
            and len(self.own) == len(other.own)
            and all(map(lambda a, b: a is b, self.own, other.own))
        )


class Generated(NamedTuple):
    """Result of a generated method for some argument types."""

    method: Method
    hints: tuple[Any, ...]
    implementation: Any


@dataclass(frozen=True)
class Elsewhere:
    """Reference to the world of another context, or with other options, that code enters."""

    engine: CompiledContext
    key: Hashable
    options: Mapping[str, Any] = field(compare=False)


BARE: Final = "bare"  # the world of nonoverlay
Place = Elsewhere | str | None


def place_of(world: World, seen_from: World) -> Place:
    """The reference to a world, for code of another one."""
    if world is seen_from:
        return None
    return BARE if world.is_bare else Elsewhere(world.engine, world.key, world.options)


def world_at(place: Place, seen_from: World) -> World:
    if place is None:
        return seen_from
    return seen_from.bare if isinstance(place, str) else place.engine.world(place.options)


class Basis:
    """All facts that the code of a function depends on, or of several that call one another.

    views: by place and target. below: the bases of the code that it calls. readings: the reads of
    the program. generated: the results of generated methods. context: the one that the code is
    bound to, where it depends on more of it than metadata and state. kept: objects whose addresses
    are in the code. codes: the code itself. is_private: it is not valid anywhere else.
    crosses_barrier: it enters contexts known only at run time. frame: the compilation, until the
    last of the functions is finished.
    """

    def __init__(self, frame: CompilingFrame | None) -> None:
        self.frame = frame
        self.joined: Basis | None = None
        self.views: dict[tuple[Place, Hashable], MethodsOfTarget] = {}
        self.below: dict[tuple[Place, Basis], None] = {}
        self.readings: dict[int, FunctionReads] = {}
        self.generated: list[Generated] = []
        self.context: CompiledContext | None = None
        self.metadata: tuple[Hashable, ...] = ()
        self.state: tuple[Any, ...] = ()
        self.plugins: tuple[Hashable, ...] = ()
        self.kept: list[Any] = []
        self.codes: list[CompiledCode] = []
        self.is_private = self.crosses_barrier = False

    @classmethod
    def of_disk(cls, readings: Iterable[FunctionReads], generated: Iterable[Generated]) -> Basis:
        """Make the basis of code from another process; the key and manifest of the code on disk
        cover its other dependencies."""
        made = cls(None)
        made.readings = {id(reading): reading for reading in readings}
        made.generated = list(generated)
        made.is_private = True
        return made

    def all_below(self) -> list[Basis]:
        """This basis, and those of all code that its code calls."""
        found: list[Basis] = [self]
        seen = {id(self)}
        for basis in found:
            for _, each in basis.below:
                if id(each) not in seen:
                    seen.add(id(each))
                    found.append(each)
        return found

    def whole(self) -> Basis:
        """The basis of the cycle that this one was merged into."""
        return self if self.joined is None else self.joined.whole()

    def join(self, other: Basis, *, same_world: bool) -> None:
        """Merge the basis of a function in the same cycle."""
        other.joined, other.frame = self, None
        self.views |= other.views
        self.below |= other.below
        self.readings |= other.readings
        self.generated += other.generated
        self.context = self.context or other.context
        self.metadata = self.metadata or other.metadata
        self.state = self.state or other.state
        self.kept += other.kept
        self.codes += other.codes
        self.is_private |= other.is_private or not same_world
        self.crosses_barrier |= other.crosses_barrier

    def is_same_in(self, world: World) -> bool:
        """Whether this basis is the same in a world, without those of the code below."""
        context = world.engine.context
        return (
            not (self.is_private or self.frame is not None)
            and (self.context is None or self.context is world.engine)
            and self.plugins == tuple(map(identity, world.plugins))
            and (not self.metadata or self.metadata == (context.metadata_key, world.is_bare))
            and (not self.state or (self.state[0] is context.state and not world.is_bare))
            and all(
                view.same(world_at(place, world).view_of(view.target))
                for (place, _), view in self.views.items()
            )
            and not any(reading.outdated() for reading in self.readings.values())
        )


def entered_by(bases: Iterable[Basis]) -> Iterator[CompiledContext]:
    """The other contexts that code with these bases enters, or has asked for methods."""
    for basis in bases:
        for place, _ in (*basis.below, *basis.views):
            if isinstance(place, Elsewhere):
                yield place.engine


class CompiledCode:
    """The code of one function for some types of its arguments.

    key: distinguishes it from other code of the function. result: numba's compile result.
    release: called when the code is collected.
    """

    def __init__(
        self,
        function: FunctionType,
        key: Hashable,
        result: Any,
        basis: Basis,
        enters_methods: bool,
        release: Callable[[], None],
    ) -> None:
        self.function = function
        self.key = key
        self.result = result
        self.enters_methods = enters_methods
        self.is_private = False
        self._basis = basis
        weakref.finalize(self, release).atexit = False

    @property
    def basis(self) -> Basis:
        return self._basis.whole()


class Holder:
    """Interface to the code of one function in a world, by the types of its arguments."""

    world: World
    original: Any
    codes: dict[tuple[Any, ...], CompiledCode]

    def key_of(self, args: tuple[Any, ...]) -> Hashable:
        """Key that distinguishes the code for these types from other code of the function, in any
        world.
        """
        raise NotImplementedError

    def compiles(self, function: Any) -> bool:
        """Whether numba knows the compiled function under this identity."""
        raise NotImplementedError
