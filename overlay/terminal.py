"""What the command lines have in common."""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from typing import Any

__all__ = ["USAGE", "command_name", "common_options", "described", "print_json", "report"]

USAGE = 2
"""The exit code of a command that cannot do what it was asked for."""


def command_name(package: str) -> str:
    """How a package's command line was called: as a script of its own, or by ``-m``."""
    script = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    return package if script == package else f"python -m {package}"


def described(examples: str) -> dict[str, Any]:
    """Arguments of a parser whose help ends with examples, as they are laid out."""
    return {
        "epilog": f"examples:\n{examples.rstrip()}",
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }


def common_options() -> argparse.ArgumentParser:
    """A parser to inherit from."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--json", action="store_true", help="print JSON, for scripts")
    parser.add_argument(
        "--traceback", action="store_true", help="show where an error was raised, for bug reports"
    )
    return parser


def report(package: str, asked: argparse.Namespace, error: BaseException) -> int:
    """Print an error, without its traceback unless that was asked for; the exit code."""
    if asked.traceback:
        traceback.print_exception(error)
    else:
        print(f"{command_name(package)}: {error}", file=sys.stderr)
    return USAGE


def print_json(value: Any) -> None:
    """Print a value; what JSON has no form for is written as Python writes it."""
    print(json.dumps(value, indent=2, ensure_ascii=False, default=_plain))


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else repr(value)
