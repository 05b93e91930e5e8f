"""Compiled code on disk: the code stored for an entry from Python, and the test of its validity.

The key of the code covers the surroundings, the types, the function and the tables. The helpers
that it depends on are known only after compilation, so a manifest is stored with it: the steps to
repeat the compilation's reads of the program, and a digest of them. The code is valid in a process
where the repeated reads give this digest.
"""

from __future__ import annotations

import hashlib
import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from overlay.code.digest import NotHashable
from overlay.code.fingerprint import ENTERED, MENTIONED, code_of_file
from overlay.compiled.basis import Basis, Generated
from overlay.compiled.cache.reads import ContextReads
from overlay.compiled.glue import GLUE
from overlay.compiled.numba.fingerprint_kinds import KINDS, surroundings
from overlay.compiled.numba.held_bodies import compiled_of_kernel, is_kernel
from overlay.compiled.numba.numba_types import Type, is_held, type_held
from overlay.compiled.numba.object_code import dumped, loaded
from overlay.compiled.sharing import report_of
from overlay.compiled.traces import moved
from overlay.core.cache_folder import CacheEntry, Folder, warn
from overlay.core.errors import OverlayError
from overlay.core.location import location_of, name_of
from overlay.core.target import lookup

if TYPE_CHECKING:
    from overlay.compiled.numba.dispatchers import InnerDispatcher
    from overlay.compiled.numba.python_entries import EntryDispatcher
    from overlay.compiled.world import World

__all__ = ["Keeping"]


@dataclass(frozen=True)
class Manifest:
    """Steps to repeat a compilation's reads of the program.

    steps: how each function is read, in order of encounter. generated: the results of generated
    methods, each by table and row, with the types that it was given. chosen: the functions that
    chose an implementation for numba. files: file names of functions without a readable file, by
    which errors name them.
    """

    steps: tuple[int, ...]
    generated: tuple[tuple[tuple[int, int], tuple[Any, ...]], ...]
    chosen: tuple[str, ...]
    files: tuple[str, ...]
    digest: str


class Keeping:
    """Stores the code that one entry from Python compiles. hits, misses: by argument types."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.hits: Counter[tuple[Type, ...]] = Counter()
        self.misses: Counter[tuple[Type, ...]] = Counter()

    def compile(
        self,
        entry: EntryDispatcher,
        world: World,
        inner: InnerDispatcher,
        args: tuple[Type, ...],
        further: tuple[Any, ...],
        sig: Any,
    ) -> None:
        """Give ``inner``, which ``entry`` enters in ``world``, code for these types: load it from
        disk, or compile and store it. sig: the signature that numba is called with.
        """
        if args in inner.overloads and args in inner.on_disk:
            return
        wanted = WantedCode(entry, world, inner, args, further)
        safe = self.folder.is_safe()
        if safe and args not in inner.overloads and self._found(wanted):
            self.hits[args] += 1
            return
        self.misses[args] += 1
        inner.compile(sig)
        if safe:
            inner.on_disk.add(args)
            self._keep(wanted)

    def _found(self, wanted: WantedCode) -> bool:
        try:
            key = wanted.key()
        except NotHashable:
            return False  # reported once the code has been compiled
        for entry in self.folder.entries(key):
            try:
                manifest: Manifest = pickle.loads(entry.manifest)
                reads = wanted.again(manifest)
                if reads is None:
                    continue
                with report_of(wanted.inner, wanted.args, "loaded from disk"):
                    wanted.take_over(entry, _token(key, manifest), manifest, reads)
            except NotHashable as error:
                self.folder.refuse(entry.path, str(error))
            except Exception as error:  # from a pickle: a class that is gone, for example
                self.folder.refuse(entry.path, f"{type(error).__name__}: {error}")
            else:
                self.folder.used(entry)
                return True
        return False

    def _keep(self, wanted: WantedCode) -> None:
        try:
            kept = wanted.kept()
            if kept is None:
                return
            key, manifest, payload = kept
            written = _pickled(manifest)
        except NotHashable as error:
            function = wanted.entry.function
            warn(
                f"the compiled code of {name_of(function)} [{location_of(function)}] is not stored "
                f"on disk: {error}",
                f"{error.help}, or leave cache=True out" if error.help else "leave cache=True out",
            )
            return
        except Exception as error:  # a failure to store code must not affect the program
            warn(f"compiled code is not stored on disk: {type(error).__name__}: {error}", "")
            return
        self.folder.put(key, manifest.digest, written, payload)


def _token(key: str, manifest: Manifest) -> str:
    """Identity of the code: names in its machine code contain it."""
    return hashlib.sha256(f"{key} {manifest.digest}".encode()).hexdigest()[:32]


def _pickled(manifest: Manifest) -> bytes:
    try:
        return pickle.dumps(manifest, pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        raise NotHashable(
            "a type that a generated method is given",
            f"cannot be pickled: {error}",
            "define the classes that are dispatched on in a module",
        ) from error


class WantedCode:
    """A request for code: of a function, in a world, for types.

    args: the types that it is compiled for. further: its other dependencies: the number of
    arguments given, and the type of the result where one is requested.
    """

    def __init__(
        self,
        entry: EntryDispatcher,
        world: World,
        inner: InnerDispatcher,
        args: tuple[Type, ...],
        further: tuple[Any, ...],
    ) -> None:
        self.entry = entry
        self.world = world
        self.inner = inner
        self.args = args
        self.further = further

    # ---- dependencies ----

    def _reads(self, how: Callable[[FunctionType, int], int]) -> ContextReads:
        reads = ContextReads(how, KINDS, is_held, type_held)
        reads.write(*surroundings())
        reads.value((self.args, self.further, sorted(self.entry.options.items())))
        reads.value(self.entry.function)
        reads.context(self.entry.engine.context)
        return reads

    def key(self) -> str:
        """The key of its code: all dependencies that are known before compilation."""
        return self._reads(lambda _, number: MENTIONED if number else ENTERED).digest()

    def again(self, manifest: Manifest) -> ContextReads | None:
        """Repeat the reads of a manifest; None where their digest differs."""
        steps = manifest.steps
        try:
            reads = self._reads(lambda _, n: steps[n] if n < len(steps) else MENTIONED)
            reads.read()
            for place, stored in manifest.generated:
                method, hints = reads.method_at(place), tuple(map(reads.hint_of, stored))
                # a method may depend on the tables in force
                method.table.chosen_compiled(method, (), self.world.tables)
                reads.generated(method, hints, method.implementation(hints))
            for name in manifest.chosen:
                _read_chooser(reads, name)
        except (NotHashable, LookupError, OverlayError):
            return None
        return reads if reads.digest() == manifest.digest else None

    def kept(self) -> tuple[str, Manifest, bytes] | None:
        """The key, the manifest and the serialized code, after compilation; None where the program
        has changed since. Raises NotHashable where another process could not check a dependency."""
        code = self.inner.overloads[self.args]
        self._reads(lambda _function, _number: MENTIONED).value(code.signature.return_type)
        bases = self.inner.codes[self.args].basis.all_below()
        if any(basis.crosses_barrier for basis in bases):
            raise NotHashable("the code", "enters contexts that are known only at run time", "")
        functions = [r.function for basis in bases for r in basis.readings.values()]
        originals = {id(function) for function in functions}
        reads = self._reads(lambda f, n: ENTERED if n == 0 or id(f) in originals else MENTIONED)
        reads.read()
        for method, hints, made in (each for basis in bases for each in basis.generated):
            if reads.holds_method(method):
                reads.generated(method, hints, made)
        chosen = dict.fromkeys(_chooser_of(each) for each in _not_met(functions, reads))
        for name in chosen:
            _read_chooser(reads, name)
        digest = reads.digest()
        if self._is_past(reads):
            return None
        asked = tuple(reads.asked)
        files = _without_file(reads)
        manifest = Manifest(tuple(reads.steps), asked, tuple(chosen), files, digest)
        key = self.key()
        payload = dumped(
            code,
            _token(key, manifest),
            enters_methods=self.inner.enters_methods,
            linked=[code, *_linked(bases)],
        )
        return key, manifest, payload

    def _worlds(self) -> Iterator[World]:
        """The worlds that the code may enter."""
        for engine in self.entry.engine.linked.all_inside():
            yield from engine._worlds.values()

    def _is_past(self, reads: ContextReads) -> bool:
        """Whether the program may have changed in what was read since the code was compiled."""
        engine = self.entry.engine
        if engine.rebound() or not engine.holds(self.world):
            return True
        if any(world.watch.altered(reads.copied.values()) for world in self._worlds()):
            raise NotHashable(
                "an array or a list that compiled code reads",
                "has changed since it was compiled",
                "change no constants of compiled code",
            )
        return False

    # ---- code from disk ----

    def take_over(
        self, entry: CacheEntry, token: str, manifest: Manifest, reads: ContextReads
    ) -> None:
        """Install code from disk in the dispatcher, and watch its reads in the world."""
        namespace = self.inner.original.__globals__
        code, enters_methods = loaded(entry.payload, token, self.args, namespace)
        for table in reads.tables:
            table.listen(self.entry.engine)
        for old, new in zip(manifest.files, _without_file(reads), strict=True):
            moved(old, new)
        readings = [self.world.watch.add(function) for function in reads.entered]
        made = [Generated(*each) for each in reads.made]
        self.inner.take_from_disk(self.args, code, enters_methods, readings, made)


# ---- compiled code ------------------------------------------------------------------------


def _linked(bases: list[Basis]) -> list[Any]:
    """The compiled code of functions and kernels that was linked to that of a function."""
    kernels = [thing for basis in bases for thing in basis.kept if is_kernel(thing)]
    codes = [code.result for basis in bases for code in basis.codes]
    return codes + [each for kernel in kernels for each in compiled_of_kernel(kernel)]


def _not_met(functions: list[FunctionType], reads: ContextReads) -> list[FunctionType]:
    """The functions that were not encountered in reading the program."""
    met = {id(function) for function in reads.entered}
    return [each for each in functions if id(each) not in met and not _is_glue(each)]


def _is_glue(function: FunctionType) -> bool:
    """Whether a function is one of the engine's own, derived from functions that are read."""
    module = str(function.__module__)
    return function.__code__.co_filename == GLUE or f"{module}.".startswith("overlay.")


def _chooser_of(function: FunctionType) -> str:
    """The ``"module:name"`` of the function that chose this one as an implementation."""
    name = f"{function.__module__}:{function.__qualname__.partition('.<locals>')[0]}"
    chooser: Any = None
    if all(part.isidentifier() for part in name.partition(":")[2].split(".")):
        chooser = lookup(name)
    if type(chooser) is not FunctionType or function.__code__ not in _codes(chooser.__code__):
        raise NotHashable(
            f"{name_of(function)} [{location_of(function)}]",
            "is reached by a path that another process cannot follow",
            "refer to it by a name in the function that calls it",
        )
    return name


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _read_chooser(reads: ContextReads, name: str) -> None:
    """Read a function that chooses implementations, and the module that registers it."""
    chooser = lookup(name)
    if type(chooser) is not FunctionType:
        raise NotHashable(name, "is not there", "")
    try:
        with open(chooser.__code__.co_filename, "rb") as file:
            source = hashlib.sha256(file.read()).digest()
    except OSError as error:
        raise NotHashable(name, "has no source to read", "") from error
    reads.write("chosen", name, source)
    reads.function(chooser, deep=True)
    reads.read()


def _without_file(reads: ContextReads) -> tuple[str, ...]:
    codes = [function.__code__ for function in reads.entered]
    return tuple(code.co_filename for code in codes if not code_of_file(code))
