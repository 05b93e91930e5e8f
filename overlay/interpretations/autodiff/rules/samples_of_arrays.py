"""Samples of calls of functions of arrays, for the tests of their rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from overlay.interpretations.autodiff.rules.array_rule import Sample

__all__ = ["call", "complexes", "reals", "spread"]


class Drawn:
    """An argument that is drawn anew for each sample: an array, or a number if its shape is
    ``()``."""

    def __init__(self, kind: str, shape: int | tuple[int, ...]) -> None:
        self.kind, self.shape = kind, shape

    def draw(self, rng: Any) -> Any:
        if self.kind == "spread":  # different from one another and from zero
            size = rng.normal(size=self.shape).size
            values = (rng.permutation(size) + rng.uniform(0.6, 1.0, size)) / 2 + 0.2
            return values.reshape(self.shape)
        found = np.asarray(rng.normal(size=self.shape))
        if self.kind == "complex":
            found = found + 1j * rng.normal(size=self.shape)
        return found if self.shape else found.item()


def reals(*shape: int) -> Any:
    """An array of real numbers."""
    return Drawn("real", shape)


def complexes(*shape: int) -> Any:
    """An array of complex numbers."""
    return Drawn("complex", shape)


def spread(*shape: int) -> Any:
    """An array of positive numbers no two of which are close."""
    return Drawn("spread", shape)


def call(*args: Any, **named: Any) -> Sample:
    """A call with these arguments, also in lists and tuples."""

    def sample(rng: Any) -> tuple[Any, ...]:
        def drawn(x: Any) -> Any:
            if isinstance(x, Drawn):
                return x.draw(rng)
            if type(x) in (list, tuple):
                return type(x)(drawn(part) for part in x)
            return x

        given = [drawn(arg) for arg in args]
        return (*given, {name: drawn(x) for name, x in named.items()})

    return sample
