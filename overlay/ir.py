"""The representation that a compiler plugin looks at and edits: one function, as its calls.

A plugin is given an ``IR`` by ``before_inference`` and ``after_inference``, and a ``Call`` by
``infer`` and ``inline``. Nothing else of the compiler need be known. ``read`` gives the IR of any
function, to look at. Importing this module does not import numba.

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
    """What stands for the constant of something that is known only when the program runs."""

    UNKNOWN = enum.auto()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown.UNKNOWN


@dataclass(frozen=True)
class Variable:
    """A variable of a function: one of the program, or one that holds a step of an expression."""

    name: str


@dataclass(frozen=True)
class Call:
    """A call in a function: of a callable, or by an operator (``a + b`` is one of
    ``operator.add``).

    target: what the program calls, or UNKNOWN. args, kwargs: the arguments; None in ``args`` for
    ``*rest`` of an unknown length. result: the variable that takes the result.
    where: ``file:line``. caller: the function in which the call stands.
    types: of the positional arguments, as signatures have them; None before types are known.
    result_type: the type of the result; None before it is known.
    constants: the values of positional arguments that are known, UNKNOWN for others.
    metadata: of the context, as ``IR.metadata``.
    inlined: whether the callee's body is to take the place of the call; None where nobody has
    said so.
    native: the call as numba represents it, for what is not here.
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
    """A function on its way through the compiler, before its types are known or after.

    Edits change it in place. Where an argument or a value is asked for, give a ``Variable`` of
    the function, or anything else as a constant. Each edit raises OverlayError where it cannot
    be done, and then changes nothing.
    """

    function: Callable[..., Any]
    # what ``Plugin.interpreter`` of the active plugins gave
    interpretation: Any = None
    # that of the context for which the function is compiled; UNKNOWN where only types are
    # inferred, for values that the running program will say
    metadata: Any = None

    # ---- the interpretation in force ----

    @property
    def analysis(self) -> Run | None:
        """This function analysed in the interpretation in force, a ``Domain`` of
        ``overlay.analysis``, with what the types of its arguments say: the result, and each call.
        None where no such interpretation is in force, and where its code cannot be analysed."""
        return None

    def analysed(self, call: Call) -> Step | None:
        """One call in that analysis, with abstract arguments and result. None as there, and for
        a call that is never reached."""
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

    # ---- looking ----

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
        """The same as numba's own type."""

    @abstractmethod
    def is_used(self, variable: Variable) -> bool:
        """Whether anything reads a variable."""

    @abstractmethod
    def __str__(self) -> str:
        """The function, a statement a line."""

    # ---- editing ----

    @abstractmethod
    def replace(
        self,
        call: Call,
        target: Any,
        *args: Any,
        kwargs: Mapping[str, Any] | None = None,
    ) -> Call:
        """Call ``target`` with these arguments in place of a call. The result takes the place of
        the call's: once types are known it is converted to that type."""

    @abstractmethod
    def set_result(self, call: Call, value: Any) -> None:
        """Put a value in place of a call, which is not made any more."""

    @abstractmethod
    def delete(self, call: Call) -> None:
        """Do not make a call of which the result is not used; for others see ``set_result``."""

    @abstractmethod
    def insert_before(self, call: Call, target: Any, *args: Any) -> Variable:
        """Call ``target`` just before a call; the variable that holds what it gives."""

    @abstractmethod
    def insert_after(self, call: Call, target: Any, *args: Any) -> Variable:
        """The same just after a call, so that ``call.result`` can be among the arguments."""

    @abstractmethod
    def insert_first(self, target: Any, *args: Any) -> Variable:
        """The same where the function begins: its arguments can be among the arguments."""

    @abstractmethod
    def return_instead(self, raised: RaisePoint, value: Any) -> None:
        """Return a value where the function raises: once types are known it is converted to
        ``result_type``."""


def read(function: Callable[..., Any], *types: Any) -> IR:
    """The IR of a function outside any context, to look at: with the types that follow from
    those of its arguments, where they are given.

    types: Python types as in signatures, or numba's. Raises NotCompilable where numba cannot
    read the function.
    """
    return late_binding.read_ir.load()(function, types)
