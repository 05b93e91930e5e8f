"""Command-line options of benchmarks of programs."""

import argparse
from pathlib import Path

__all__ = ["options", "parser_for"]


def parser_for(text: str | None) -> argparse.ArgumentParser:
    """A parser for a benchmark with this docstring, to which options can be added."""
    parser = argparse.ArgumentParser(description=(text or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=9, help="runs of each variant (9)")
    parser.add_argument("--smallest", action="store_true", help="to see that it runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    return parser


def options(text: str | None) -> argparse.Namespace:
    """The command-line options of a benchmark without options of its own."""
    return parser_for(text).parse_args()
