"""Records runs."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from types import BuiltinMethodType
from typing import Any, NamedTuple, NoReturn

from overlay import Context, MethodTable, OverlayError, call_next, nonoverlay
from overlay.contexts.rules_alone import in_program, runs_alone
from overlay.core.location import caller
from overlay.core.target import canonical, describe, lookup
from overlay.interpretations.record_replay.recorded_data import NotRecordable, to_data

__all__ = ["Adapter", "adapter_of", "described_arguments", "record"]

Functions = Iterable[Any] | Mapping[Any, "Adapter | None"]

# whether this thread or task is inside a recorded call
_inside: ContextVar[bool] = ContextVar("inside", default=False)


class Adapter(NamedTuple):
    """Conversions for results of a function that are not data.

    Attributes
    ----------
    to_data : callable
        Converts a result to data, when recording.
    from_data : callable
        Converts data to the value that the program gets, when recording and replaying.

    Examples
    --------
    >>> from overlay.interpretations.record_replay import Adapter
    >>> Adapter(str, int).from_data("3")
    3
    """

    to_data: Callable[[Any], Any]
    from_data: Callable[[Any], Any]


def _contents(file: Any) -> Any:
    with file:
        if not file.readable():
            raise NotRecordable(
                "a file that is written to cannot be recorded",
                help="record calls of open(...) for reading only",
            )
        return file.read()


def _file(contents: Any) -> Any:
    return io.StringIO(contents) if isinstance(contents, str) else io.BytesIO(contents)


class _Answer(io.BytesIO):
    """A replayed response of ``urllib.request.urlopen``: its body, ``status`` and ``url``."""

    status: int
    url: str


def _answer_to(answer: Any) -> tuple[Any, ...]:
    with answer:
        return answer.read(), getattr(answer, "status", None), getattr(answer, "url", None)


def _answer_back(parts: Any) -> _Answer:
    answer = _Answer(parts[0])
    _, answer.status, answer.url = parts
    return answer


_ADAPTERS = {
    "io:open": Adapter(_contents, _file),
    "urllib.request:urlopen": Adapter(_answer_to, _answer_back),
}


@runs_alone
def record(
    path: str | os.PathLike[str],
    functions: Functions,
    f: Callable[..., Any],
    /,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Run a function, and write the results and exceptions of calls of some functions to a file.

    The file is written even if ``f`` raises.

    Parameters
    ----------
    path : path-like
        The file.
    functions : iterable or mapping
        Targets, or names such as ``"random:random"``; a dict gives some an ``Adapter``. Files
        that are read (``open``) and responses of ``urllib.request.urlopen`` have one.
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
    NotRecordable
        A result is not data, or a call changes its arguments.
    OverlayError
        A function cannot be found by name.

    Examples
    --------
    >>> import os, random, tempfile
    >>> from overlay.interpretations.record_replay import record, replay
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "run.json")
    ...     drawn = record(path, [random.random], random.random)
    ...     replay(path, random.random) == drawn
    True
    """
    recorder = _Recorder(functions)
    try:
        return in_program(Context(recorder.table), f, *args, **kwargs)
    finally:
        found = {"version": 1, "functions": [*recorder.adapters], "calls": recorder.calls}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)


class _Recorder:
    """A method table whose methods record the results of calls."""

    def __init__(self, functions: Functions) -> None:
        if callable(functions) or isinstance(functions, str):
            raise OverlayError(
                f"the functions to record are not in a list: {functions!r}",
                where=caller(),
                help="record(path, [function, ...], f, ...)",
            )
        given = functions if isinstance(functions, Mapping) else dict.fromkeys(functions)
        self.adapters = {_name_of(target): adapter for target, adapter in given.items()}
        self.calls: list[dict[str, Any]] = []
        self.table = MethodTable("recording")
        for name, adapter in self.adapters.items():
            self.table.overlay(name)(self._method(name, adapter or adapter_of(name)))

    def _method(self, name: str, adapter: Adapter | None) -> Callable[..., Any]:
        begin, keep = nonoverlay(self._begin), nonoverlay(self._keep)
        keep_error = nonoverlay(self._keep_error)

        def recorded(*args: Any, **kwargs: Any) -> Any:
            if _inside.get():
                return call_next(*args, **kwargs)
            call = begin(name, args, kwargs)
            token = _inside.set(True)
            try:
                result = call_next(*args, **kwargs)
            except Exception as error:
                keep_error(call, args, kwargs, error)
                raise
            finally:
                _inside.reset(token)
            return keep(call, args, kwargs, result, adapter)

        return recorded

    def _begin(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        call: dict[str, Any] = {"call": name, "where": caller()}
        call["arguments"] = described_arguments(args, kwargs)
        self.calls.append(call)
        return call

    def _keep(
        self,
        call: dict[str, Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        result: Any,
        adapter: Adapter | None,
    ) -> Any:
        try:
            _check_unchanged(call, args, kwargs)
            if adapter is not None:
                data = adapter.to_data(result)
                call["result"] = to_data(data)
                return adapter.from_data(data)
            call["result"] = to_data(result)
        except NotRecordable as error:
            self._refuse(call, error)
        return result

    def _refuse(self, call: dict[str, Any], error: NotRecordable) -> NoReturn:
        self.calls.remove(call)
        error.where, error.notes = call["where"], (("call", call["call"]),)
        raise error

    def _keep_error(
        self,
        call: dict[str, Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        error: Exception,
    ) -> None:
        try:
            _check_unchanged(call, args, kwargs)
        except NotRecordable as refused:
            self._refuse(call, refused)
        kind = type(error)
        call["error"] = f"{kind.__module__}:{kind.__qualname__}"
        try:
            call["values"] = to_data(list(_made_of(error)))
        except NotRecordable:
            call["values"] = to_data(_message_of(error))


def _made_of(error: Exception) -> Sequence[Any]:
    """The arguments that recreate the exception, a file's name among them."""
    made: Any = error.__reduce__()
    return made[1] if isinstance(made, tuple) and made[0] is type(error) else error.args


def _message_of(error: Exception) -> list[str]:
    """The message of an exception; empty where its ``__str__`` raises."""
    try:
        return [str(error)]
    except Exception:
        return []


def adapter_of(name: str) -> Adapter | None:
    """The built-in adapter of a function, or None."""
    target = lookup(name)
    for known, adapter in _ADAPTERS.items():
        if name == known or (target is not None and lookup(known) is target):
            return adapter
    return None


def described_arguments(args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """Arguments as data, for comparison; those that are not data are represented by their type."""
    return [_described(value) for value in args] + [
        [name, _described(value)] for name, value in sorted(kwargs.items())
    ]


def _check_unchanged(
    call: Mapping[str, Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Raise NotRecordable if a call has changed its arguments."""
    if described_arguments(args, kwargs) != call["arguments"]:
        raise NotRecordable(
            "a call that changes its arguments cannot be recorded: a replay "
            "returns its result, and does not repeat the change",
            help="record a function further in, such as one that returns what is written, or one "
            "further out, which makes the argument itself",
        )


def _described(value: Any) -> Any:
    try:
        return to_data(value)
    except NotRecordable:
        return {"type": type(value).__qualname__}


def _name_of(target: Any) -> str:
    """The name by which a target can be looked up."""
    if isinstance(target, str):
        return target
    found = canonical(target)
    holder: Any = getattr(found, "__objclass__", found)
    name = f"{getattr(holder, '__module__', None)}:{getattr(found, '__qualname__', '')}"
    if isinstance(found, BuiltinMethodType) and name.startswith("None:"):
        # a method of an object that its module stores, such as random.random
        name = f"{type(found.__self__).__module__}:{found.__name__}"
    if name.startswith("None:") or lookup(name) is not found:
        raise OverlayError(
            f"{describe(target)} cannot be found by its name in another run",
            where=caller(),
            help="name it: record(path, ['package.module:name'], ...)",
        )
    return name
