"""Sample calls of rules: arguments with floats that are drawn anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from overlay.interpretations.autodiff.rules.array_rule import Sample

__all__ = ["Drawn", "call", "complexes", "floats", "positive"]


@dataclass(frozen=True)
class Drawn:
    """An argument that is drawn: an array of this shape, or a number."""

    shape: tuple[int, ...]
    kind: str

    def __call__(self, rng: Any) -> Any:
        drawn = rng.normal(size=self.shape)
        if self.kind == "complexes":
            drawn = drawn + 1j * rng.normal(size=self.shape)
        elif self.kind == "positive":
            drawn = abs(drawn) + 0.5
        if self.shape:
            return drawn
        return complex(drawn) if self.kind == "complexes" else float(drawn)


def floats(*shape: int) -> Drawn:
    """An array of floats, or one float."""
    return Drawn(shape, "floats")


def complexes(*shape: int) -> Drawn:
    """An array of complex numbers, or one complex number."""
    return Drawn(shape, "complexes")


def positive(*shape: int) -> Drawn:
    """An array of floats above 0.5, or one such float."""
    return Drawn(shape, "positive")


def call(*args: Any, **named: Any) -> Sample:
    """A sample with these arguments, in which all that is ``Drawn`` is drawn, also in lists and
    tuples."""

    def drawn(x: Any, rng: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return type(x)(drawn(part, rng) for part in x)
        return x(rng) if isinstance(x, Drawn) else x

    def sample(rng: Any) -> tuple[Any, ...]:
        given = tuple(drawn(x, rng) for x in args)
        keywords = {name: drawn(x, rng) for name, x in named.items()}
        return (*given, keywords) if keywords else given

    return sample
