"""Source of adjoints: operands, and templates of pullbacks that are filled in."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from overlay.interpretations.autodiff.reverse.needs import Needs, every
from overlay.interpretations.autodiff.reverse.operands import LiftedFunction
from overlay.interpretations.autodiff.reverse.reverse_program import (
    KnownBefore,
    ReverseCall,
    ReverseValue,
    Span,
)
from overlay.kernels import local_array

__all__ = ["RETURNS", "AdjointWriter", "Form"]

_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Form:
    """The form of an adjoint. adds: whether it adds to arrays passed to it. shares: whether other
    threads add to these at once. is_for_kernel: whether it may create no arrays except local ones.
    is_compiled: whether numba compiles it."""

    adds: bool = False
    shares: bool = False
    is_for_kernel: bool = False
    is_compiled: bool = False


RETURNS = Form()


class AdjointWriter:
    """Writes the source of one adjoint.

    lines: the source so far. space: its namespace. made: a description of the first array that it
    creates, and its line. views: the calls that return part of an array that is never written to,
    by that part. locals: the calls that create local arrays. kept: the calls whose results are
    stored, with names.
    """

    def __init__(self, lifted: LiftedFunction, needs: Needs, form: Form) -> None:
        self.lifted = lifted
        self.needs = needs
        self.form = form
        self.made: tuple[str, str] | None = None
        calls = [op for op in every(lifted.region) if isinstance(op, ReverseCall)]
        self.views = {op.out: op for op in calls if _is_window(op)}
        self.locals = {op.out: op for op in calls if op.pullback.function is local_array}
        self.lines: list[str] = []
        self.space: dict[str, Any] = {}
        self.depth = 1
        self.where = ""
        self.count = 0
        self.shared: set[ReverseValue] = set()  # to whose adjoints other threads add at once
        self.elements: list[str] = []  # pending lines that add to elements of adjoints
        self.sums: set[tuple[Any, ReverseValue]] = set()  # statements that add to carried variables
        self.gathered: set[ReverseCall] = set()  # reads whose adjoints a loop gathers in a number
        self.kept = {
            op: f"kept_{i}"
            for i, op in enumerate(
                op for op in every(lifted.region) if isinstance(op, ReverseCall) and op.is_kept
            )
        }

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def block(self, header: str) -> Generator[None]:
        """An indented block."""
        self.line(header)
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.line("pass")
        self.depth -= 1

    def makes(self, what: str, where: str = "") -> None:
        """Note that the adjoint creates an array, or a list."""
        self.made = self.made or (what, where)

    # ---- operands ----

    def text(self, operand: Any) -> str:
        """The source of an operand."""
        match operand:
            case ReverseValue():
                return operand.name
            case tuple():
                return "(" + "".join(f"{self.text(part)}, " for part in operand) + ")"
            case Span():
                start, stop, step = (_bound(part, self) for part in operand.parts)
                return f"{start}:{stop}" + (f":{step}" if step else "")
            case KnownBefore(value=float() as value):
                return _float(value)
            case KnownBefore(value=complex() as value):
                return f"complex({_float(value.real)}, {_float(value.imag)})"
            case KnownBefore(value=value):
                return _literal(value)
            case _:
                raise AssertionError(operand)

    def hold(self, pullback: Any) -> str:
        """A name for the function that a pullback calls."""
        stem = f"by_{getattr(pullback.function, '__name__', 'function')}"
        name, count = stem, 1
        while self.space.setdefault(name, pullback.rule) is not pullback.rule:
            count += 1
            name = f"{stem}_{count}"
        return name

    def index(self, operand: Any) -> str:
        if isinstance(operand, tuple):
            return ", ".join(map(self.text, operand))
        return self.text(operand)

    def filled(
        self, template: str, call: ReverseCall, names: dict[str, str], *, copies: bool = True
    ) -> str:
        """A template of a pullback, filled in for a call."""

        def replaced(match: re.Match[str]) -> str:
            name = match[1]
            if name in names:
                return names[name]
            if name == "r":
                return call.out.name
            first, _, item = name.partition("_")
            if first.startswith("b"):
                return f"d_{call.args[int(first[1:])].name}"
            arg: Any = call.args[int(first)]
            if copies:
                arg = call.copies.get(int(first), arg)
            arg = arg[int(item)] if item else arg
            before, after = template[: match.start()], template[match.end() :]
            is_index = before.endswith("[") and after.startswith("]")
            return self.index(arg) if is_index else self.text(arg)

        return _FIELD.sub(replaced, template)


def _is_window(op: ReverseCall) -> bool:
    """Whether a call returns part of an array that is never written to: its adjoint is then that
    part of the array's adjoint."""
    if op.pullback.function is not operator.getitem or not op.pullback.is_view:
        return False
    return op.out.matters and not any(memory.is_own for memory in op.reads)


def _bound(part: Any, writer: AdjointWriter) -> str:
    return "" if part == KnownBefore(None) else writer.text(part)


def _float(value: float) -> str:
    if math.isnan(value):
        return "math.nan"
    if math.isinf(value):
        return "math.inf" if value > 0 else "(-math.inf)"
    return repr(float(value)) if value >= 0 else f"({float(value)!r})"


def _literal(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value)) if value >= 0 else f"({int(value)})"
    if isinstance(value, tuple):
        return "(" + "".join(f"{_literal(part)}, " for part in value) + ")"
    return repr(value)
