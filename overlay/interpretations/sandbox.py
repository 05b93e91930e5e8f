"""A sandbox that refuses chosen calls of a program, under any name. It is no protection against
malicious code: see ``docs/tools.md``.

>>> import pathlib
>>> from overlay.interpretations.sandbox import Refused, Sandbox
>>> try:
...     Sandbox()(pathlib.Path("notes.txt").write_text, "hello")
... except Refused as error:
...     print(error.call.name)
open
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from overlay import Context, MethodTable, OverlayError, nonoverlay
from overlay.contexts.rules_alone import runs_alone
from overlay.core.location import caller
from overlay.core.markup import code, listed, place, sheet
from overlay.core.public_names import completes
from overlay.core.short_repr import counted, one_line, short_repr
from overlay.core.target import describe, lookup

__all__ = [
    "CODE",
    "FILES",
    "NETWORK",
    "PROCESSES",
    "Refused",
    "RefusedCall",
    "Sandbox",
]
__dir__ = completes(__all__)


def _present(*names: str) -> tuple[str, ...]:
    """The names of targets that exist on this platform, or may exist once their module is
    imported."""
    return tuple(n for n in names if n.partition(":")[0] not in sys.modules or lookup(n))


PROCESSES = _present(
    *("os:system", "os:popen", "os:fork", "os:forkpty", "os:kill", "os:killpg", "os:abort"),
    *("os:_exit", "_posixsubprocess:fork_exec"),
    *("os:execv", "os:execve", "os:posix_spawn", "os:posix_spawnp", "subprocess:Popen.__init__"),
    "multiprocessing.process:BaseProcess.start",
)
"""Targets that start and end processes."""
FILES = _present(
    *("builtins:open", "os:open", "io:FileIO", "io:open_code", "os:truncate", "os:chmod"),
    *("os:chown", "os:link", "os:symlink", "os:mkdir", "os:rmdir", "os:remove", "os:unlink"),
    *("os:rename", "os:replace", "os:utime", "os:mknod", "os:mkfifo"),
    # functions that open files in C, or that C code calls
    *("numpy:save", "numpy:savez", "numpy:savez_compressed", "numpy:savetxt", "numpy:fromfile"),
    *("numpy:ndarray.tofile", "numpy:ndarray.dump", "sqlite3:connect", "sqlite3:Connection"),
)
"""Targets that open, create, change and remove files."""
NETWORK = _present("socket:socket.__init__", "_socket:socket", "socket:getaddrinfo")
"""Targets that access the network."""
CODE = _present(
    "builtins:eval", "builtins:exec", "builtins:compile", "ctypes:CDLL.__init__", "ctypes:CDLL"
)
"""Targets that run code built at run time, or load C libraries."""


@dataclass(frozen=True)
class RefusedCall:
    """A refused call.

    Attributes
    ----------
    name : str
        The name of the function.
    arguments : str
        Its arguments, as shown.
    where : str or None
        ``file:line`` of the call.

    Examples
    --------
    >>> from overlay.interpretations.sandbox import RefusedCall
    >>> RefusedCall("os.system", "'ls'", "program.py:3").name
    'os.system'
    """

    name: str
    arguments: str
    where: str | None


class Refused(OverlayError, PermissionError):
    """A program called a function that its sandbox refuses.

    Attributes
    ----------
    call : RefusedCall
        The call.

    Examples
    --------
    >>> import os
    >>> from overlay.interpretations.sandbox import Sandbox
    >>> Sandbox()(os.system, "ls")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    overlay.interpretations.sandbox.Refused: os.system('ls') is refused
    """

    @runs_alone
    def __init__(self, call: RefusedCall) -> None:
        super().__init__(
            f"{call.name}({call.arguments}) is refused",
            where=call.where,
            help=f"if the program may call it: Sandbox(allow=[{call.name}])",
        )
        self.call = call


class Sandbox:
    """Runs programs; calls of some targets raise ``Refused``.

    The sandbox also holds in threads that the program starts, and for calls that C code makes:
    ``open`` creates an ``io.FileIO``.

    Parameters
    ----------
    refuse : iterable
        Targets, or names such as ``"os:system"``; by default PROCESSES, FILES, NETWORK and CODE.
    allow : iterable
        Targets to leave out.

    Attributes
    ----------
    calls : list of RefusedCall
        The refused calls, including those whose error the program caught.
    context : Context
        The context of the runs.

    Examples
    --------
    >>> from overlay.interpretations.sandbox import Sandbox
    >>> Sandbox(allow=["builtins:eval"])(eval, "1 + 1")
    2
    """

    def __init__(
        self,
        refuse: Iterable[Any] = PROCESSES + FILES + NETWORK + CODE,
        *,
        allow: Iterable[Any] = (),
    ) -> None:
        self.calls: list[RefusedCall] = []
        table = MethodTable("sandbox")
        for target in refuse:
            table.overlay(target)(self._refusal(target))
        for target in allow:
            table.remove(target)
        self.context = Context(table, strict=True)

    def __repr__(self) -> str:
        refused = counted(len(self.context.tables[0]), "refused target")
        return short_repr("Sandbox", f"{refused}, {counted(len(self.calls), 'refused call')}")

    def _repr_html_(self) -> str:
        refused = counted(len(self.context.tables[0]), "refused target")
        calls = listed(
            ("refused call", "where"),
            self.calls,
            lambda call: (code(f"{call.name}({call.arguments})"), place(call.where or "?")),
        )
        more = f"{refused}, {counted(len(self.calls), 'refused call')}"
        return sheet("sandbox", "", more, calls)

    def __call__(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run a function in the sandbox.

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

        Raises
        ------
        Refused
            The program called a refused target, and did not catch the error.
        """
        return self.context(f, *args, **kwargs)

    @runs_alone
    def wrap(self, f: Callable[..., Any], /) -> Callable[..., Any]:
        """A function that runs in the sandbox.

        Parameters
        ----------
        f : callable
            The function.

        Returns
        -------
        callable
            ``f`` in the sandbox.
        """
        return self.context.wrap(f)

    def _refusal(self, target: Any) -> Callable[..., Any]:
        refuse = nonoverlay(self._refuse)

        def refused(*args: Any, **kwargs: Any) -> Any:
            refuse(target, args, kwargs)

        return refused

    def _refuse(self, target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> NoReturn:
        shown = [one_line(value) for value in args]
        shown += [f"{name}={one_line(value)}" for name, value in kwargs.items()]
        name = describe(target).replace(":", ".").removeprefix("builtins.")
        call = RefusedCall(name.removesuffix(".__init__"), ", ".join(shown), caller())
        self.calls.append(call)
        raise Refused(call)
