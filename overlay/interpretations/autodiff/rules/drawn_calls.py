"""Sample calls of rules: arguments with randomly drawn floats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from overlay.interpretations.autodiff.rules.array_rule import Sample

__all__ = ["DrawnArgument", "call", "complexes", "floats", "positive", "spread"]


@dataclass(frozen=True)
class DrawnArgument:
    """An argument that is drawn: an array of this shape, or a number."""

    shape: tuple[int, ...]
    kind: str

    def __call__(self, rng: Any) -> Any:
        drawn = rng.normal(size=self.shape)
        if self.kind == "spread":
            order = rng.permutation(np.size(drawn)).reshape(self.shape)
            drawn = 0.5 + (order + rng.uniform(0.0, 0.4, self.shape)) / 2
        elif self.kind == "complexes":
            drawn = drawn + 1j * rng.normal(size=self.shape)
        elif self.kind == "positive":
            drawn = abs(drawn) + 0.5
        if self.shape:
            return drawn
        return complex(drawn) if self.kind == "complexes" else float(drawn)


def floats(*shape: int) -> DrawnArgument:
    """An array of floats, or one float."""
    return DrawnArgument(shape, "floats")


def complexes(*shape: int) -> DrawnArgument:
    """An array of complex numbers, or one complex number."""
    return DrawnArgument(shape, "complexes")


def positive(*shape: int) -> DrawnArgument:
    """An array of floats above 0.5, or one such float."""
    return DrawnArgument(shape, "positive")


def spread(*shape: int) -> DrawnArgument:
    """An array of positive floats no two of which are close."""
    return DrawnArgument(shape, "spread")


def call(*args: Any, **named: Any) -> Sample:
    """A sample with these arguments, of which each ``DrawnArgument`` is drawn, also in lists and
    tuples."""

    def drawn(x: Any, rng: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return type(x)(drawn(part, rng) for part in x)
        return x(rng) if isinstance(x, DrawnArgument) else x

    def sample(rng: Any) -> tuple[Any, ...]:
        given = tuple(drawn(x, rng) for x in args)
        keywords = {name: drawn(x, rng) for name, x in named.items()}
        return (*given, keywords) if keywords else given

    return sample
