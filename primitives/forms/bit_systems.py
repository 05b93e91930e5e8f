"""Systems over bits: results whose bits are sums, modulo 2, of bits of the inputs.

Masks, shifts, rotations, exclusive or, parity and steps of shift registers have this form, and so
has every composition of them. It is solved by elimination over the field of two elements: the
solutions are an affine space, a particular solution plus any sum of independent others.

A form is an integer: its lowest bit is a constant, and bit ``i + 1`` says whether bit i of the
inputs, numbered consecutively, is added.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from primitives.domains import Bool, Domain, Integers
from primitives.errors import NoSolution
from primitives.relation import RETURN, Mode, Relation

__all__ = ["BitForms", "BitInput", "BitSystem", "bit_system", "parity"]

MOST_AT_ONCE = 32
"""The largest number of bits that one coordinate chooses."""


class BitForms(NamedTuple):
    """The forms of the bits of an integer, lowest first, and of all bits above them."""

    low: tuple[int, ...]
    sign: int


class BitInput(NamedTuple):
    """An input: its type, the number of its bits without the sign, and whether it has a sign."""

    kind: type
    width: int
    signed: bool

    @property
    def size(self) -> int:
        """The number of its bits."""
        return self.width + self.signed

    @property
    def domain(self) -> Domain:
        """The values of these bits."""
        if self.kind is bool:
            return Bool
        low = -(1 << self.width) if self.signed else 0
        return Integers(low, (1 << self.width) - 1, kind=self.kind)

    def bits(self, value: Any) -> int:
        """The bits of a value, as a number that is not negative. Raises NoSolution."""
        number = int(value)
        if number >> self.width not in ((0, -1) if self.signed else (0,)):
            raise NoSolution("the known value has more bits than its domain")
        return number & ((1 << self.size) - 1)

    def value(self, bits: int) -> Any:
        """The value with these bits."""
        if self.signed and bits >> self.width:
            bits -= 1 << self.size
        return self.kind(bits)


class BitSystem(Relation):
    """The relation of results whose bits are forms of the bits of the inputs.

    inputs: in order; results: type and forms of each. Each set of inputs has a mode, created on
    first use, whose coordinates are the bits that the results leave open.
    """

    def __init__(
        self, inputs: tuple[BitInput, ...], results: tuple[tuple[type, BitForms], ...]
    ) -> None:
        names = tuple(f"x{i}" for i in range(len(inputs)))
        several = len(results) > 1
        outputs = tuple(f"r{i}" for i in range(len(results))) if several else (RETURN,)
        kinds = tuple(kind for kind, _ in results)
        super().__init__(
            self._forward,
            tuple(each.kind for each in inputs),
            f"{', '.join(outputs)} = bits({', '.join(names)})",
            domain={name: each.domain for name, each in zip(names, inputs, strict=True)},
            codomain=None,
            returns=kinds if several else kinds[0],
            where=None,
        )
        self.inputs, self.results = inputs, results
        self.whole = True
        self.modes[frozenset(outputs)] = Mode(outputs, self._forward, names, {})
        for unknown in (*((name,) for name in names), names):
            self.mode(unknown)

    @property
    def identity(self) -> Any:
        """A key that is equal for systems with the same forms."""
        return BitSystem, self.inputs, self.results

    @property
    def name(self) -> str:
        """The name in generated code."""
        return "bits"

    def _forward(self, *values: Any) -> Any:
        """The results for these inputs."""
        known = 1 | _joined(self.inputs, values) << 1
        found: list[Any] = []
        for kind, forms in self.results:
            number = sum(parity(form & known) << i for i, form in enumerate(forms.low))
            number -= parity(forms.sign & known) << len(forms.low)
            found.append(kind(number))
        return tuple(found) if len(found) > 1 else found[0]

    def mode(self, unknown: Iterable[str]) -> Mode | None:
        wanted = frozenset(unknown)
        if wanted not in self.modes and wanted and wanted <= set(self.axes):
            self.modes[wanted] = self._made(wanted)
        return self.modes.get(wanted)

    def _made(self, wanted: frozenset[str]) -> Mode:
        own = [i for i, name in enumerate(self.axes) if name in wanted]
        solver = _Elimination(self.inputs, self.results, own)
        names = tuple(self.axes[i] for i in own)
        others = tuple(name for name in self.axes if name not in wanted)
        coordinates: Mapping[str, Domain] = {
            "bits" if not i else f"bits_{i + 1}": Integers(0, (1 << count) - 1)
            for i, count in enumerate(solver.chosen)
        }
        return Mode(
            names, solver.solve, (*self.outputs, *others, *coordinates), coordinates,
            solver.recover if coordinates else None, names if coordinates else (),
        )  # fmt: skip


@functools.cache
def bit_system(
    inputs: tuple[BitInput, ...], results: tuple[tuple[type, BitForms], ...]
) -> BitSystem:
    """The relation of these forms; cached."""
    return BitSystem(inputs, results)


def parity(bits: int) -> int:
    """The sum of the bits, modulo 2."""
    return bits.bit_count() & 1


def _joined(inputs: Sequence[BitInput], values: Sequence[Any]) -> int:
    """The bits of several inputs, numbered consecutively."""
    found = at = 0
    for each, value in zip(inputs, values, strict=True):
        found |= each.bits(value) << at
        at += each.size
    return found


class _Elimination:
    """Solver of forms for the inputs at some positions.

    rows: the rows of the reduced system: the bit that each determines, the open bits that it adds,
    and the equations of which it is the sum. checks: sums of equations in which no unknown is left.
    open: the bits that are chosen. chosen: how many of them each coordinate chooses.
    """

    def __init__(
        self,
        inputs: Sequence[BitInput],
        results: Sequence[tuple[type, BitForms]],
        own: Sequence[int],
    ) -> None:
        starts = [sum(each.size for each in inputs[:i]) for i in range(len(inputs))]
        self.own = [inputs[i] for i in own]
        self.others = [each for i, each in enumerate(inputs) if i not in own]
        self.results = results
        self.moves = [
            _moves(each.size for each in self.own),
            _moves(each.size for each in self.others),
        ]
        self.known: list[int] = []  # for each equation the form of the other inputs
        equations: list[int] = []  # and the bits of the unknown ones
        for _, forms in results:
            for form in (*forms.low, forms.sign):
                parts: list[list[int]] = [[], []]
                for i, each in enumerate(inputs):
                    bits = form >> (starts[i] + 1) & ((1 << each.size) - 1)
                    parts[i not in own].append(bits)
                unknown, rest = (
                    sum(bits << at for bits, at in zip(part, moves, strict=True))
                    for part, moves in zip(parts, self.moves, strict=True)
                )
                equations.append(unknown)
                self.known.append(rest << 1 | form & 1)
        self.checks: list[int] = []
        self.rows = self._reduced(equations)
        pivots = {row[0] for row in self.rows}
        count = sum(each.size for each in self.own)
        self.open = [at for at in range(count) if at not in pivots]
        left = len(self.open)
        self.chosen = [min(MOST_AT_ONCE, left - at) for at in range(0, left, MOST_AT_ONCE)]

    def _reduced(self, equations: Sequence[int]) -> list[tuple[int, int, int]]:
        rows: list[tuple[int, int, int]] = []
        for number, bits in enumerate(equations):
            combination = 1 << number
            for pivot, others, sums in rows:
                if bits >> pivot & 1:
                    bits ^= others | 1 << pivot
                    combination ^= sums
            if not bits:
                self.checks.append(combination)
                continue
            pivot = (bits & -bits).bit_length() - 1  # so that the high bits are open, and small
            rest = bits ^ 1 << pivot
            rows = [
                (at, others ^ 1 << pivot ^ rest, sums ^ combination)
                if others >> pivot & 1
                else (at, others, sums)
                for at, others, sums in rows
            ]
            rows.append((pivot, rest, combination))
        return rows

    def solve(self, *given: Any) -> Any:
        """The unknown inputs, from all results, the other inputs, and the coordinates."""
        values, rest = given[: len(self.results)], given[len(self.results) :]
        known = 1 | _joined(self.others, rest[: len(self.others)]) << 1
        wanted = at = 0
        for value, (_, forms) in zip(values, self.results, strict=True):
            number, size = int(value), len(forms.low)
            if number >> size not in (0, -1):
                raise NoSolution("the result has more bits than it can have")
            wanted |= (number & ((2 << size) - 1)) << at
            at += size + 1
        for i, form in enumerate(self.known):
            wanted ^= parity(form & known) << i
        if any(parity(check & wanted) for check in self.checks):
            raise NoSolution("no bits have these sums")
        found = self._opened(rest[len(self.others) :])
        for pivot, others, sums in self.rows:
            found |= (parity(others & found) ^ parity(sums & wanted)) << pivot
        answers = [
            each.value(found >> at & ((1 << each.size) - 1))
            for each, at in zip(self.own, self.moves[0], strict=True)
        ]
        return tuple(answers) if len(answers) > 1 else answers[0]

    def _opened(self, coordinates: Sequence[int]) -> int:
        """The bits that coordinates choose, each at its position."""
        found = at = 0
        for value, count in zip(coordinates, self.chosen, strict=True):
            for i in range(count):
                found |= (int(value) >> i & 1) << self.open[at + i]
            at += count
        return found

    def recover(self, *values: Any) -> tuple[int, ...]:
        """The coordinates for which ``solve`` returns these inputs."""
        bits, at = _joined(self.own, values), 0
        found: list[int] = []
        for count in self.chosen:
            places = self.open[at : at + count]
            found.append(sum((bits >> place & 1) << i for i, place in enumerate(places)))
            at += count
        return tuple(found)


def _moves(counts: Iterable[int]) -> list[int]:
    """The first bit of each of several numbers with these counts of bits."""
    found = [0]
    for count in counts:
        found.append(found[-1] + count)
    return found[:-1]
