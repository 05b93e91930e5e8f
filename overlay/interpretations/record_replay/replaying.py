"""Replays recorded runs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from overlay import Context, MethodTable, OverlayError, nonoverlay
from overlay.contexts.rules_alone import in_program, runs_alone
from overlay.core.location import caller
from overlay.core.target import lookup
from overlay.interpretations.record_replay.recorded_data import from_data
from overlay.interpretations.record_replay.recording import (
    Adapter,
    adapter_of,
    described_arguments,
)

__all__ = ["ReplayMismatch", "replay"]


class ReplayMismatch(OverlayError):
    """A program made other calls than were recorded.

    Examples
    --------
    >>> import os, random, tempfile
    >>> from overlay.interpretations.record_replay import record, replay
    >>> with tempfile.TemporaryDirectory() as folder:  # doctest: +IGNORE_EXCEPTION_DETAIL
    ...     path = os.path.join(folder, "run.json")
    ...     drawn = record(path, [random.random], random.random)
    ...     replay(path, abs, -1)
    Traceback (most recent call last):
    overlay.interpretations.record_replay.replaying.ReplayMismatch: the program ended without a call
    """


@runs_alone
def replay(
    path: str | os.PathLike[str],
    f: Callable[..., Any],
    /,
    *args: Any,
    adapters: Mapping[str, Adapter] | None = None,
    **kwargs: Any,
) -> Any:
    """Run a function with the results that ``record`` has written to a file, without calling the
    recorded functions.

    Parameters
    ----------
    path : path-like
        The file.
    f : callable
        The function to run.
    *args, **kwargs
        Its arguments.
    adapters : mapping of str to Adapter, or None
        By name, the adapters that were given to ``record``.

    Returns
    -------
    object
        The result of ``f``.

    Raises
    ------
    ReplayMismatch
        ``f`` calls the functions in another order, with other arguments, or more or less often.
    OverlayError
        The file is no recorded run.

    Examples
    --------
    >>> import os, tempfile, time
    >>> from overlay.interpretations.record_replay import record, replay
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.json")
    ...     then = record(path, [time.time], time.time)
    ...     replay(path, time.time) == then
    True
    """
    recorded = _read(path)
    player = _Player(recorded, adapters or {})
    try:
        result = in_program(Context(player.table), f, *args, **kwargs)
    except ReplayMismatch:
        raise
    except Exception:
        player.check()
        raise
    player.check()
    player.check_end()
    return result


def _read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a recorded run. Raises OverlayError if the file is none."""
    with open(path, encoding="utf-8") as file:
        try:
            found = json.load(file)
        except ValueError:
            found = None
    if not isinstance(found, dict) or not {"functions", "calls"} <= found.keys():
        raise OverlayError(
            f"{os.fspath(path)!r} is not a recorded run",
            where=caller(),
            help="pass the path of a file that record(path, functions, f, ...) has written",
        )
    return cast("dict[str, Any]", found)


class _Player:
    """A method table whose methods return the recorded results."""

    def __init__(self, recorded: dict[str, Any], adapters: Mapping[str, Adapter]) -> None:
        self.calls: list[dict[str, Any]] = recorded["calls"]
        self.next = 0
        self.mismatch: ReplayMismatch | None = None
        self.table = MethodTable("replaying")
        for name in recorded["functions"]:
            adapter = adapters.get(name) or adapter_of(name)
            self.table.overlay(name)(self._method(name, adapter))

    def _method(self, name: str, adapter: Adapter | None) -> Callable[..., Any]:
        give = nonoverlay(self._give)

        def replayed(*args: Any, **kwargs: Any) -> Any:
            return give(name, adapter, args, kwargs)

        return replayed

    def _give(
        self, name: str, adapter: Adapter | None, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        arguments = described_arguments(args, kwargs)
        if self.next == len(self.calls):
            raise self._refused(f"{_shown(name, arguments)} is called after the recorded run ended")
        call = self.calls[self.next]
        if (call["call"], call["arguments"]) != (name, json.loads(json.dumps(arguments))):
            was = _shown(call["call"], call["arguments"])
            raise self._refused(f"{_shown(name, arguments)} is called where {was} was recorded")
        self.next += 1
        if "error" in call:
            raise _error_of(call)
        result = from_data(call["result"])
        return result if adapter is None else adapter.from_data(result)

    def _refused(self, what: str) -> ReplayMismatch:
        place = self.calls[min(self.next, len(self.calls) - 1)] if self.calls else {}
        error = ReplayMismatch(
            what,
            where=caller(),
            notes=[
                ("recorded", f"call {self.next + 1} of {len(self.calls)}, {place.get('where')}")
            ],
            help="the program, its input or its environment has changed: record it again",
        )
        self.mismatch = self.mismatch or error
        return error

    def check(self) -> None:
        """Raise the mismatch that the program has caught, if any."""
        if self.mismatch is not None:
            raise self.mismatch

    def check_end(self) -> None:
        """Raise ReplayMismatch if recorded calls are left."""
        if self.next < len(self.calls):
            call = self.calls[self.next]
            raise ReplayMismatch(
                f"the program ended without {_shown(call['call'], call['arguments'])}",
                where=call["where"],
                notes=[("calls", f"{self.next} of {len(self.calls)} were made")],
                help="the program or its input has changed: record it again",
            )


def _shown(name: str, arguments: Sequence[Any]) -> str:
    return f"{name}({', '.join(map(json.dumps, arguments))})"


def _error_of(call: dict[str, Any]) -> Exception:
    found = lookup(call["error"])
    if not (isinstance(found, type) and issubclass(found, Exception)):
        raise OverlayError(
            f"the recorded run raised {call['error']}, which is no exception that is imported",
            where=call["where"],
            help="import its module before the replay",
        )
    return found(*from_data(call["values"]))
