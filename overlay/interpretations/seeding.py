"""Reproducible runs of programs that use global generators of random numbers.

>>> import random
>>> from overlay.interpretations.seeding import seeded
>>> def throws():
...     return [random.randint(1, 6) for _ in range(5)]
>>> seeded(1)(throws) == seeded(1)(throws) != seeded(2)(throws)
True
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from overlay import Context, MethodTable, call_next, nonoverlay
from overlay.contexts.rules_alone import in_program, runs_alone
from overlay.core.public_names import completes

__all__ = ["Seeding", "seeded"]
__dir__ = completes(__all__)

_drawn: Any = random.random
_drawn_by_numpy: Any = np.random.rand
# The global generators behind the functions of the two modules.
_SHARED = {"_python": _drawn.__self__, "_numpy": _drawn_by_numpy.__self__}
_BITS = 32
# Constructors of generators, bit generators and seed sequences; without a seed they use entropy.
_MAKERS = (
    *(np.random.default_rng, np.random.RandomState, np.random.SeedSequence, np.random.MT19937),
    *(np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64),
)


class Seeding:
    """Runs programs with random numbers that are determined by a seed.

    Each run starts from the seed. The functions of ``random`` and ``numpy.random`` draw from
    generators of the run, and generators that the program creates without a seed get one. The
    global generators are neither read nor changed. An object serves one run at a time.

    Parameters
    ----------
    seed : int
        The seed.

    Examples
    --------
    >>> import random
    >>> from overlay.interpretations.seeding import Seeding
    >>> run = Seeding(1)
    >>> run(random.random) == run(random.random)
    True
    """

    @runs_alone
    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._begin()
        table = MethodTable(f"seeded with {seed}")
        for target, method in self._methods():
            table.overlay(target)(method)
        self._context = Context(table)

    def __repr__(self) -> str:
        return f"Seeding({self.seed})"

    @runs_alone
    def __call__(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run a function from the seed.

        Parameters
        ----------
        f : callable
            The function to run.
        *args, **kwargs
            Its arguments.

        Returns
        -------
        object
            Its result.
        """
        self._begin()
        return in_program(self._context, f, *args, **kwargs)

    @runs_alone
    def wrap(self, f: Callable[..., Any], /) -> Callable[..., Any]:
        """A function of which each call starts from the seed.

        Parameters
        ----------
        f : callable
            The function.

        Returns
        -------
        callable
            ``f`` with the seed.
        """
        return functools.wraps(f)(functools.partial(self, f))

    def _begin(self) -> None:
        self._seeds = random.Random(self.seed)
        self._python = random.Random(self._next_seed())
        self._numpy = np.random.RandomState(self._next_seed())

    def _next_seed(self) -> int:
        return self._seeds.getrandbits(_BITS)

    # ---- methods of the table ----

    def _methods(self) -> Iterator[tuple[Any, Callable[..., Any]]]:
        """The targets with their methods."""
        for own, kind, names in (
            ("_python", random.Random, _names_of(random.Random, random)),
            ("_numpy", np.random.RandomState, _names_of(np.random.RandomState, np.random)),
        ):
            for name in names:
                yield getattr(kind, name), self._drawing(own, name)
            yield kind.seed, self._seeding(own)
        yield np.random.seed, self._seeding_all()
        for function in (np.random.ranf, np.random.sample):
            yield function, self._sampling()
        for maker in _MAKERS:
            yield maker, self._making()

    @property
    def _with_seed(self) -> Callable[..., Any]:
        """Adds a seed to arguments that have none, without dispatch."""
        return nonoverlay(functools.partial(_with_seed, self._next_seed))

    def _of_run(self, own: str, name: str) -> Callable[..., Any]:
        """A method of a generator of the run, called without dispatch."""

        def draw(*args: Any, **kwargs: Any) -> Any:
            return getattr(getattr(self, own), name)(*args, **kwargs)

        return nonoverlay(draw)

    def _drawing(self, own: str, name: str) -> Callable[..., Any]:
        draw, shared = self._of_run(own, name), _SHARED[own]

        def drawn(generator: Any, /, *args: Any, **kwargs: Any) -> Any:
            if generator is shared:
                return draw(*args, **kwargs)
            return call_next(generator, *args, **kwargs)

        return drawn

    def _seeding(self, own: str) -> Callable[..., Any]:
        seed, shared, with_seed = self._of_run(own, "seed"), _SHARED[own], self._with_seed

        def seeded(generator: Any, /, *args: Any, **kwargs: Any) -> Any:
            if isinstance(generator, random.SystemRandom):
                return call_next(generator, *args, **kwargs)
            args, kwargs = with_seed(args, kwargs)
            if generator is shared:
                return seed(*args, **kwargs)
            return call_next(generator, *args, **kwargs)

        return seeded

    def _seeding_all(self) -> Callable[..., Any]:
        seed, with_seed = self._of_run("_numpy", "seed"), self._with_seed

        def seeded(*args: Any, **kwargs: Any) -> Any:
            args, kwargs = with_seed(args, kwargs)
            seed(*args, **kwargs)

        return seeded

    def _sampling(self) -> Callable[..., Any]:
        draw = self._of_run("_numpy", "random_sample")

        def sampled(*args: Any, **kwargs: Any) -> Any:
            return draw(*args, **kwargs)

        return sampled

    def _making(self) -> Callable[..., Any]:
        with_seed = self._with_seed

        def made(*args: Any, **kwargs: Any) -> Any:
            args, kwargs = with_seed(args, kwargs)
            return call_next(*args, **kwargs)

        return made


def seeded(seed: int) -> Seeding:
    """Make a ``Seeding``: ``seeded(0)(f, ...)`` runs ``f`` with random numbers determined by the
    seed.

    Parameters
    ----------
    seed : int
        The seed.

    Returns
    -------
    Seeding
        An object that runs programs from the seed.

    Examples
    --------
    >>> import random
    >>> from overlay.interpretations.seeding import seeded
    >>> seeded(1)(random.random) == seeded(2)(random.random)
    False
    """
    return Seeding(seed)


def _names_of(kind: type, module: Any) -> list[str]:
    """The methods of a generator that its module offers as functions, except ``seed``."""
    return [n for n in dir(kind) if n[0] != "_" and n != "seed" and hasattr(module, n)]


def _with_seed(
    next_seed: Callable[[], int], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments, with a seed in the place of the first where neither it nor a keyword gives
    one."""
    named = [name for name in ("a", "x", "seed", "entropy") if kwargs.get(name) is not None]
    if named or (args and args[0] is not None):
        return args, kwargs
    rest = {n: v for n, v in kwargs.items() if n not in ("a", "x", "seed", "entropy")}
    return (next_seed(), *args[1:]), rest
