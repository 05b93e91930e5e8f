"""IR for compiler plugins: the calls of one function, to inspect and edit.

A plugin is given an ``IR`` by ``before_inference`` and ``after_inference``, and a ``Call`` by
``infer`` and ``inline``. Nothing else of the compiler need be known. ``read`` gives the IR of any
function, to inspect. Importing this module does not import numba.

>>> import math
>>> from overlay.ir import read
>>> def height(angle):
...     return 2 * math.sin(angle)
>>> [call.target for call in read(height).calls()]
[<built-in function sin>, <built-in function mul>]
>>> (call,) = read(height, float).calls(math.sin)
>>> call.types, call.result_type
((<class 'float'>,), <class 'float'>)
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from overlay.core import late_binding

if TYPE_CHECKING:
    from overlay.analysis.runs import Run, Step

__all__ = ["IR", "UNKNOWN", "Call", "RaisePoint", "Unknown", "Variable", "read"]


class Unknown(enum.Enum):
    """Type of ``UNKNOWN``: the constant of a value that is known only at run time."""

    UNKNOWN = enum.auto()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown.UNKNOWN


@dataclass(frozen=True)
class Variable:
    """A variable of a function: of the program, or for an intermediate result of an expression."""

    name: str


@dataclass(frozen=True)
class Call:
    """A call in a function: of a callable, or through an operator (``a + b`` is a call of
    ``operator.add``).

    target: the callee in the program, or UNKNOWN. args, kwargs: the arguments; None in ``args`` for
    ``*rest`` of an unknown length. result: the variable that takes the result.
    where: ``file:line``. caller: the function that contains the call.
    types: of the positional arguments, as signatures have them; None before types are known.
    result_type: the type of the result; None before it is known.
    constants: the values of positional arguments that are known, UNKNOWN for others.
    metadata: of the context, as ``IR.metadata``.
    inlined: whether the callee's body replaces the call; None if undecided.
    native: the call as numba represents it, for details that are not here.
    """

    target: Any
    args: tuple[Variable | None, ...]
    kwargs: Mapping[str, Variable]
    result: Variable
    where: str
    caller: Callable[..., Any]
    types: tuple[Any, ...] | None = None
    result_type: Any = None
    constants: tuple[Any, ...] = ()
    inlined: bool | None = None
    metadata: Any = None
    native: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class RaisePoint:
    """A place where a function is left by an exception that its source raises.

    where: ``file:line``. native: the statement as numba represents it, for what is not here.
    """

    where: str
    native: Any = field(default=None, repr=False, compare=False)


class IR(ABC):
    """A function during compilation, before or after type inference.

    Edits change it in place. For an argument or a value, give a ``Variable`` of the function, or
    anything else as a constant. An edit that is not possible raises OverlayError, and changes
    nothing.
    """

    function: Callable[..., Any]
    # the result of ``Plugin.interpreter`` of the active plugins
    interpretation: Any = None
    # of the context for which the function is compiled; where only types are inferred, UNKNOWN for
    # values that are set at run time
    metadata: Any = None

    # ---- the interpretation in force ----

    @property
    def analysis(self) -> Run | None:
        """The analysis of this function in the interpretation in force, a ``Domain`` of
        ``overlay.analysis``, from the types of its arguments: the result, and each call. None where
        no such interpretation is in force, and where its code cannot be analysed."""
        return None

    def analysed(self, call: Call) -> Step | None:
        """One call in that analysis, with abstract arguments and result. None where there is no
        analysis, and for a call that is never reached."""
        return None

    # ---- the function ----

    @property
    def name(self) -> str:
        """The function's qualified name."""
        return getattr(self.function, "__qualname__", repr(self.function))

    @property
    @abstractmethod
    def arguments(self) -> tuple[Variable, ...]:
        """Its parameters."""

    @property
    @abstractmethod
    def is_typed(self) -> bool:
        """Whether types are known."""

    @property
    @abstractmethod
    def result_type(self) -> Any:
        """The type of what it returns, as a signature has it; None before types are known."""

    @property
    @abstractmethod
    def where(self) -> str:
        """``file:line`` of its definition."""

    # ---- inspecting ----

    @abstractmethod
    def calls(self, *targets: Any) -> tuple[Call, ...]:
        """Its calls in the order of the source: all, or those of these targets. A call that an
        edit has removed or replaced is no longer among them."""

    @abstractmethod
    def raises(self) -> tuple[RaisePoint, ...]:
        """Where it raises, in the order of the source; not in a ``try`` whose handlers catch it."""

    @abstractmethod
    def constant(self, variable: Variable) -> Any:
        """The value of a variable where the source says it (a literal, a global, a closure's
        variable, an attribute of a module, a tuple of these), else UNKNOWN."""

    @abstractmethod
    def type_of(self, variable: Variable) -> Any:
        """The type of a variable as a signature has it; None before types are known."""

    @abstractmethod
    def numba_type_of(self, variable: Variable) -> Any:
        """The numba type of a variable; None before types are known."""

    @abstractmethod
    def is_used(self, variable: Variable) -> bool:
        """Whether anything reads a variable."""

    @abstractmethod
    def __str__(self) -> str:
        """The function as text, one statement a line."""

    # ---- editing ----

    @abstractmethod
    def replace(
        self,
        call: Call,
        target: Any,
        *args: Any,
        kwargs: Mapping[str, Any] | None = None,
    ) -> Call:
        """Replace a call by one of ``target`` with these arguments. Its result replaces the old
        one: once types are known it is converted to that type."""

    @abstractmethod
    def set_result(self, call: Call, value: Any) -> None:
        """Replace a call by a value; the call is not made any more."""

    @abstractmethod
    def delete(self, call: Call) -> None:
        """Remove a call whose result is not used; for others see ``set_result``."""

    @abstractmethod
    def insert_before(self, call: Call, target: Any, *args: Any) -> Variable:
        """Insert a call of ``target`` before a call. Return the variable of its result."""

    @abstractmethod
    def insert_after(self, call: Call, target: Any, *args: Any) -> Variable:
        """Insert a call of ``target`` after a call, whose ``result`` can be among the arguments.
        Return the variable of its result."""

    @abstractmethod
    def insert_first(self, target: Any, *args: Any) -> Variable:
        """Insert a call of ``target`` at the start of the function, whose parameters can be among
        the arguments. Return the variable of its result."""

    @abstractmethod
    def return_instead(self, raised: RaisePoint, value: Any) -> None:
        """Return a value where the function raises: once types are known it is converted to
        ``result_type``."""


def read(function: Callable[..., Any], *types: Any) -> IR:
    """The IR of a function outside any context, to inspect, with the types that follow from those
    of its arguments, where they are given.

    types: Python types as in signatures, or numba's. Raises NotCompilable where numba cannot
    read the function.
    """
    return late_binding.read_ir.load()(function, types)
