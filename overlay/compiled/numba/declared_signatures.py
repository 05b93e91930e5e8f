"""Declarations of ``@njit`` and ``@cfunc``: signatures that a function is limited to, and the
types of its variables.

Code of a world keeps to them as numba's own code does: arguments are converted to those of the
signature that numba's rules choose, the result to the one that it names.
"""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from numba.core import errors, sigutils, types
from numba.core.ccallback import CFunc
from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import Signature, make_concrete_template, signature

from overlay.compiled.numba.numba_types import Type, is_dispatcher
from overlay.core.target import is_below

__all__ = ["NOTHING", "Callback", "Declarations", "callback_of", "declared_by"]


class Declarations(NamedTuple):
    """The signatures that a function is limited to, and the types of its variables.

    results: by the types of the arguments, in the order of the declaration, the type of the
    result, or None where it is inferred. variables: by name.
    """

    results: Mapping[tuple[Type, ...], Type | None]
    variables: Mapping[str, Type]

    @property
    def is_limited(self) -> bool:
        """Whether there is nothing beside the signatures."""
        return bool(self.results)

    def chosen(self, typing: Any, args: Sequence[Type]) -> tuple[Type, ...]:
        """The arguments of the signature that a call with these has, as numba chooses it."""
        given = tuple(args)
        if given in self.results:
            return given
        template = make_concrete_template("declared", "declared", self.signatures())
        found = template(typing).apply(given, {})
        if found is None:
            raise errors.TypingError(self.no_match(given))
        return tuple(found.args)

    def signatures(self) -> list[Signature]:
        """numba's form of the signatures; a result that is inferred is undefined."""
        return [signature(r or types.undefined, *args) for args, r in self.results.items()]

    def asked(self, args: tuple[Type, ...]) -> Any:
        """What numba is asked to compile for the arguments of one of the signatures."""
        returned = self.results[args]
        return args if returned is None else signature(returned, *args)

    def no_match(self, args: Sequence[Type]) -> str:
        """numba's message for arguments that no signature takes, with the signatures."""
        shown = "; ".join(
            f"({', '.join(map(str, each))}) -> {returned or 'inferred'}"
            for each, returned in self.results.items()
        )
        given = ", ".join(map(str, args))
        return f"No matching definition for argument type(s) {given}; declared are {shown}"

    def key(self) -> tuple[Any, ...]:
        """What tells code that keeps to these declarations from other code of a function."""
        return tuple(self.results.items()), tuple(sorted(self.variables.items()))


NOTHING: Final = Declarations({}, {})


def declared_by(function: Any) -> Declarations:
    """The declarations of a function of the program: none of one that Python made."""
    function = callback_of(function) or function
    if isinstance(function, Callback):
        return Declarations(function.declared, function.locals)
    if not is_dispatcher(function):
        return NOTHING
    variables = getattr(function, "locals", None) or {}
    return Declarations({} if function._can_compile else _signatures_of(function), variables)


def _signatures_of(dispatcher: Any) -> dict[tuple[Type, ...], Type | None]:
    """The signatures of a dispatcher that compiles no more. numba counts what it was asked for,
    in the form in which that was said: one without a result is told from the rest by this."""
    asked: dict[tuple[Type, ...], Type | None] = {}
    for each in (*dispatcher._cache_hits, *dispatcher._cache_misses):
        args, returned = sigutils.normalize_signature(each)
        asked.setdefault(tuple(args), returned)
    return {
        args: asked.get(args, code.signature.return_type)
        for args, code in dispatcher.overloads.items()
        if not code.objectmode
    }


class Callback(CPUDispatcher):
    """The function of a ``@cfunc``, as a dispatcher that is limited to its signature.

    callback: what ``@cfunc`` made, as long as it is there.
    """

    def __init__(self, callback: CFunc) -> None:
        made = callback._compiler
        options = {**made.targetoptions, "nopython": True}
        self.callback = weakref.ref(callback)
        super().__init__(callback._pyfunc, locals=made.locals, targetoptions=options)
        self.declared = {tuple(callback._sig.args): callback._sig.return_type}


_callbacks: weakref.WeakKeyDictionary[CFunc, Callback] = weakref.WeakKeyDictionary()


def callback_of(value: Any) -> Callback | None:
    """The function of what ``@cfunc`` made; None for anything else."""
    if not is_below(type(value), CFunc):
        return None
    found = _callbacks.get(value)
    if found is None:
        found = _callbacks[value] = Callback(value)
    return found
