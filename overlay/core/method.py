"""Methods: one implementation of a target for one signature."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from overlay.core.checking import checked
from overlay.core.errors import OverlayError
from overlay.core.location import location_of
from overlay.core.own_builtins import __builtins__
from overlay.core.public_names import hides
from overlay.core.signature import (
    NO_VARARGS,
    MethodParameters,
    depends_on,
    loaded_types,
    most_dependent,
    plum_signature,
    refusal,
    translate,
)
from overlay.core.target import describe, positional_names, signature_of

if TYPE_CHECKING:
    from overlay.core.table import MethodTable

__all__ = ["Method", "Methods"]

_serials = itertools.count()


@hides(
    *("adapted", "declared", "depends_on", "hints", "placed", "registered", "serial", "shape"),
    *("signature", "unresolved", "written"),
)
class Method:
    """One implementation of a target for one signature.

    Attributes
    ----------
    table
        The table that the method was added to.
    target
        The target; its name while the module is not imported.
    function
        The registered function. For a generated method it takes the argument *types* and returns
        the implementation.
    precedence
        Breaks ties between equally specific methods; the higher one wins.
    generated
        Whether it is a generated method.
    where
        ``file:line`` of the function.
    serial
        Order of registration.
    placed
        The serial of the method that it has replaced, or its own.

    Examples
    --------
    >>> import math
    >>> from overlay import MethodTable
    >>> table = MethodTable("zeros")
    >>> @table.overlay(math.sin)
    ... def sin(x: float) -> float:
    ...     return 0.0
    >>> (method,) = table.methods(math.sin)
    >>> method.function(1.0), method.generated, method.precedence
    (0.0, False, 0)
    """

    def __init__(
        self,
        table: MethodTable,
        target: Any,
        function: Callable[..., Any],
        precedence: int,
        generated: bool,
    ) -> None:
        self.table = table
        self.target = target
        self.function = function
        self.precedence = precedence
        self.generated = generated
        self.serial = self.placed = next(_serials)
        self.where = location_of(function)
        self._parameters = MethodParameters.of(function, self.where)
        self._signatures: dict[Hashable, Any] = {}
        self._shapes: dict[Hashable, tuple[Any, ...]] = {}
        if not self._parameters.unresolved:
            _ = self.shape

    def __repr__(self) -> str:
        return f"<Method {self}>"

    def __str__(self) -> str:
        return f"{describe(self.target)}{self._parameters}   {self.where}"

    def implementation(self, types: Sequence[Any]) -> Callable[..., Any]:
        """The function to run for arguments of these types; a generated method makes it.

        Parameters
        ----------
        types : sequence of type
            The types of the arguments.

        Returns
        -------
        callable
            The registered function, or the function that a generated method made for the types.

        Raises
        ------
        OverlayError
            A generated method returned something that is not callable.

        Examples
        --------
        >>> import math
        >>> from overlay import MethodTable
        >>> table = MethodTable("zeros")
        >>> @table.generated(math.sin)
        ... def sin_of(kind):
        ...     return lambda x: kind(0)
        >>> (method,) = table.methods(math.sin)
        >>> method.implementation([int])(3)
        0
        """
        if not self.generated:
            return self.function
        made = self.function(*types)
        if not callable(made):
            raise OverlayError(
                f"the generated method {self} returned {made!r}, which is not callable",
                where=self.where,
                help="return the function that implements the target for these types",
            )
        return made

    def adapted(
        self, run: Callable[..., Any], function: Callable[..., Any], count: int
    ) -> Callable[..., Any]:
        """``run`` adapted to calls with ``count`` positional arguments.

        Positional arguments for keyword-only parameters are passed by name. For a table made with
        ``check=True``, arguments and result are checked.

        Parameters
        ----------
        run : callable
            An engine's form of ``function``.
        function : callable
            An implementation of the method.
        count : int
            The number of positional arguments.

        Returns
        -------
        callable
            ``run`` itself where nothing has to be adapted.
        """
        if self.table.check:
            run = checked(run, function, self)
        moved = () if self.generated else self.parameters.moved(count, self._of_target())
        if not moved:
            return run
        own = count - len(moved)

        def by_name(*args: Any, **kwargs: Any) -> Any:
            return run(*args[:own], **dict(zip(moved, args[own:], strict=True)), **kwargs)

        return by_name

    def _of_target(self) -> tuple[str, ...]:
        needed = self.parameters.keyword_only and not isinstance(self.target, str)
        return positional_names(signature_of(self.target)) if needed else ()

    @property
    def parameters(self) -> MethodParameters:
        """The method's parameters; read again where an annotation was undefined at first."""
        if self._parameters.unresolved:
            self._parameters = MethodParameters.of(self.function, self.where)
            if self._parameters.unresolved:
                raise refusal(self.function, self.target)(self._parameters.unresolved)
        return self._parameters

    @property
    def declared(self) -> MethodParameters:
        """The method's parameters, some of whose annotations may still be undefined."""
        return self._parameters

    def _translate(self, hint: Any) -> Any:
        if hint is NO_VARARGS:
            return hint
        return translate(hint, refusal(self.function, self.target), checked=self.table.check)

    @property
    def unresolved(self) -> bool:
        """Whether an annotation contains a name that is still undefined."""
        return self._parameters.unresolved is not None

    @property
    def written(self) -> Any:
        """The unevaluated annotations where one is undefined yet, else the method itself."""
        if not self.unresolved:
            return self
        named = self._parameters.keyword_only.values()
        return [(p.hint, p.required) for p in (*self._parameters.positional, *named)]

    @property
    def shape(self) -> tuple[Any, ...]:
        """The signature as compared between methods of one target: translated annotations, names,
        and which parameters are required.
        """
        parameters = self.parameters
        key = loaded_types()
        if key not in self._shapes:
            self._shapes[key] = (
                tuple((self._translate(p.hint), p.required) for p in parameters.positional),
                self._translate(parameters.varargs),
                tuple((p.name, self._translate(p.hint)) for p in parameters.keyword_only.values()),
                self._translate(parameters.var_keyword),
            )
        return self._shapes[key]

    @property
    def hints(self) -> list[Any]:
        """The translated annotations of all parameters."""
        parameters = self.parameters
        each = (*parameters.positional, *parameters.keyword_only.values())
        rest = parameters.varargs, parameters.var_keyword
        hints = [*(p.hint for p in each), *(hint for hint in rest if hint is not NO_VARARGS)]
        return list(map(self._translate, hints))

    @property
    def depends_on(self) -> str:
        """The part of the arguments that decides whether they match: one of ``DEPENDENCES``."""
        return most_dependent(map(depends_on, self.hints))

    def signature(self, count: int, names: Sequence[str] = ()) -> Any | None:
        """The plum signature for a call of this shape.

        Parameters
        ----------
        count : int
            The number of positional arguments.
        names : sequence of str
            The keywords given besides.

        Returns
        -------
        plum.Signature or None
            The signature; None where the method does not fit the call.

        Examples
        --------
        >>> import math
        >>> from overlay import MethodTable
        >>> table = MethodTable("zeros")
        >>> @table.overlay(math.sin)
        ... def sin(x: float) -> float:
        ...     return 0.0
        >>> (method,) = table.methods(math.sin)
        >>> len(method.signature(1).types), method.signature(2) is None
        (1, True)
        """
        key = count, tuple(names), loaded_types()
        if key not in self._signatures:
            self._signatures[key] = self._make_signature(count, names)
        return self._signatures[key]

    def registered(self, count: int, names: Sequence[str] = ()) -> Any | None:
        """The plum signature as plum registers and compares it: without separate positions for
        the arguments that ``*args`` takes. The parameters are those of ``signature``.
        """
        most = len(self.parameters.positional)
        if names or count <= most or not self.parameters.uses_varargs(count):
            return self.signature(count, names)
        return self.signature(most)

    def _make_signature(self, count: int, names: Sequence[str]) -> Any | None:
        hints = self.parameters.bind(count, names, self._of_target())
        if hints is None:
            return None
        open_ended = not names and self.parameters.uses_varargs(count)
        return plum_signature(
            [self._translate(hint) for hint in hints],
            self._translate(self.parameters.varargs) if open_ended else NO_VARARGS,
            self.precedence,
        )


class Methods(list[Method]):
    """The methods of a target, in the order in which they were added. Immutable: adding a method
    makes another list.
    """

    # the modules imported, and the index of each signature among the methods while these were
    # imported
    _known: tuple[Hashable, dict[Any, int]] | None = None

    def adding(self, method: Method) -> Methods:
        """A list with one more method, which replaces one of the same signature."""
        made, places = Methods(self), self._places()
        if places is None or not _can_be_key(method):
            at = next((i for i, old in enumerate(self) if _are_same(old, method)), len(self))
        else:
            at = places.setdefault(method.shape, len(self))
            made._known, self._known = self._known, None
        if at == len(self):
            made.append(method)
            return made
        if self[at].precedence == method.precedence:
            method.placed = self[at].placed
        made[at] = method
        return made

    def _places(self) -> dict[Any, int] | None:
        """The index of each signature; None where one of them cannot be a key."""
        if self._known is None or self._known[0] != loaded_types():
            if not all(map(_can_be_key, self)):
                return None
            self._known = loaded_types(), {self[i].shape: i for i in reversed(range(len(self)))}
        return self._known[1]


def _can_be_key(method: Method) -> bool:
    """Whether the method's signature is resolved and hashable."""
    if method.unresolved:
        return False
    try:
        hash(method.shape)
    except TypeError:
        return False
    return True


def _are_same(one: Method, other: Method) -> bool:
    """Whether two methods of a target have the same signature."""
    if one.written == other.written:
        return True
    return not one.unresolved and not other.unresolved and one.shape == other.shape
