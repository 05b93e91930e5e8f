"""Common parts of the command lines."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import signal
import sys
import traceback
from collections.abc import Generator, Sequence
from importlib import metadata
from typing import Any, TextIO

from overlay.core.errors import OverlayError
from overlay.core.location import is_ours, shown

__all__ = [
    "USAGE",
    "command_name",
    "common_options",
    "described",
    "drawn",
    "find_modules_here",
    "find_modules_in_working_folder",
    "parsed",
    "print_json",
    "report",
    "show",
    "told",
    "version_option",
]

USAGE = 2
"""The exit code of a command that cannot be carried out."""


def command_name(package: str) -> str:
    """The name a package's command line was started by: its own script, or ``python -m``."""
    script = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    return package if script == package else f"python -m {package}"


def find_modules_here(package: str) -> None:
    """Put the working directory on ``sys.path`` when started as a script, as ``python -m`` does."""
    if command_name(package) == package and not sys.flags.safe_path:
        if sys.path[0] == os.path.dirname(os.path.realpath(sys.argv[0])):
            del sys.path[0]  # where scripts are installed
        find_modules_in_working_folder()


def find_modules_in_working_folder() -> None:
    """Put the working directory first on ``sys.path``, as ``python -m`` does, if it is missing."""
    if not sys.flags.safe_path and not {"", os.getcwd()} & set(sys.path):
        sys.path.insert(0, os.getcwd())


def parsed(parser: argparse.ArgumentParser, arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments. Types, ``asked.types``, may also follow options."""
    asked, left = parser.parse_known_args(arguments)
    if left and (not hasattr(asked, "types") or any(each.startswith("-") for each in left)):
        parser.error(f"unrecognized arguments: {' '.join(left)}")
    if left:
        asked.types = [*asked.types, *left]
    return asked


def version_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--version`` to a command line."""
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version, and stop")


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        try:
            version = metadata.version("overlay-dispatch")
        except metadata.PackageNotFoundError:
            version = "of a folder that is not installed"
        show(f"overlay-dispatch {version}, Python {sys.version.split()[0]}")
        parser.exit()


def described(examples: str) -> dict[str, Any]:
    """Keyword arguments of a parser whose help ends with examples, laid out as written."""
    return {
        "epilog": f"examples:\n{examples.rstrip()}",
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }


def common_options() -> argparse.ArgumentParser:
    """A parent parser with the options that several commands share."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--json", action="store_true", help="print JSON, for scripts")
    parser.add_argument(
        "--traceback", action="store_true", help="show where an error was raised, for bug reports"
    )
    return parser


def report(package: str, asked: argparse.Namespace, error: Exception) -> int:
    """Print an error, with its traceback if ``--traceback`` was given, and return the exit code."""
    if asked.traceback:
        traceback.print_exception(error)
    else:
        print(f"{command_name(package)}: {told(error)}", file=sys.stderr)
    return USAGE


def told(error: Exception) -> OverlayError:
    """An error as it is shown to the user; for one raised by other modules, with the line that
    raised it."""
    if isinstance(error, OverlayError):
        if error.where is not None and _is_command(error.where.rpartition(":")[0]):
            error.where = None
        return error
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not is_ours(frame.filename) and not frame.filename.startswith("<frozen")
    ]
    if isinstance(error, SyntaxError) and error.filename is not None:
        where, text = shown(error.filename, error.lineno), error.msg
    else:
        where = shown(frames[-1].filename, frames[-1].lineno) if frames else None
        text = str(error)
    name = type(error).__name__
    asked = f"{name}: {text}" if text else name
    return OverlayError(asked, where=where, help="--traceback shows how it got there")


def _is_command(file: str) -> bool:
    """Whether a file is the one that started the command, and none of the user's."""
    return file == "<frozen runpy>" or os.path.realpath(file) == os.path.realpath(sys.argv[0])


def show(*outlines: object, file: TextIO | None = None) -> None:
    """Print objects: as rich draws them in a terminal, which knows its width and ``NO_COLOR``, and
    elsewhere as text. file: by default the standard output."""
    stream = file or sys.stdout
    with _reader_may_stop(stream):
        if not stream.isatty():
            for each in outlines:
                print(each, file=stream, flush=True)
            return
        from rich.console import Console

        console = Console(file=stream)
        for each in outlines:
            console.print(each, markup=False, emoji=False, highlight=False)


def drawn(shown: object, width: int | None, *, colours: bool) -> str:
    """An object as a terminal of a width shows it; as text where there is none."""
    if width is None:
        return str(shown)
    from rich.console import Console

    console = Console(file=io.StringIO(), width=width, force_terminal=colours, no_color=not colours)
    with console.capture() as captured:
        console.print(shown, markup=False, emoji=False, highlight=False)
    return captured.get().rstrip("\n")


def print_json(value: Any) -> None:
    """Print a value as JSON; objects without a JSON form are written as their ``repr``."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=_plain)
    with _reader_may_stop(sys.stdout):
        print(text, flush=True)


@contextlib.contextmanager
def _reader_may_stop(stream: TextIO) -> Generator[None]:
    """End the command without a traceback where what reads its output has ended, as ``head`` does
    after some lines. The exit code is the one that shells give a program that SIGPIPE ends."""
    try:
        yield
    except BrokenPipeError:
        # What is left in the buffer is written once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        sys.exit(128 + signal.SIGPIPE)


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else repr(value)
