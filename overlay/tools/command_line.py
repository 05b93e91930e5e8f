"""The command line: ``python -m overlay run``, ``explain``, ``check``, ``cache`` and ``doctor``."""

from __future__ import annotations

import argparse
import atexit
import itertools
import sys
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from overlay.contexts.context import Context
from overlay.core.cache_folder import Folder
from overlay.core.errors import OverlayError
from overlay.core.outline import Rows
from overlay.core.short_repr import counted
from overlay.tools.named import named_context, named_function, named_hint, named_type
from overlay.tools.terminal import (
    command_name,
    common_options,
    described,
    find_modules_here,
    parsed,
    print_json,
    report,
    show,
    version_option,
)

if TYPE_CHECKING:
    from overlay.analysis import Finding
    from overlay.inspect.explanation import ExplainedSite
    from overlay.tools.doctor import Diagnosis
    from overlay.tools.whole_programs import MainProgram

__all__ = ["main"]

_EXAMPLES = """\
  contexts.py, a file of yours:  ctx = overlay.Context(table)

  %(prog)s run --context contexts:ctx script.py 10
  %(prog)s run --context contexts:ctx --report -m package.module
  %(prog)s explain --context contexts:ctx statistics:fmean list
  %(prog)s check textwrap:wrap str int
  %(prog)s cache --clear
  %(prog)s doctor

"%(prog)s run --help" and so on have more. Exit codes: that of the program (run), 0 on success,
1 where there is a finding (check) or a failure (doctor), 2 for wrong usage."""
_RUN = """\
  %(prog)s --context contexts:ctx script.py 10       as "python script.py 10"
  %(prog)s --context contexts:ctx -m timeit "2 + 2"  as "python -m timeit"
  %(prog)s --context contexts:ctx                    a console in the context"""
_EXPLAIN = """\
  %(prog)s --context contexts:ctx colorsys:rgb_to_hls float float float
  %(prog)s --context contexts:ctx --json statistics:fmean list"""
_CHECK = """\
  %(prog)s statistics:mean "list[float]"
  %(prog)s --context contexts:ctx --json module:Class.method module:Class "int | None"

Exit codes: 0 without findings, 1 with findings, 2 for wrong usage."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, by default with this process's arguments, and return the exit code."""
    find_modules_here("overlay")
    asked = parsed(_parser(), arguments)
    try:
        command = asked.command(asked)
    except Exception as error:  # only the named modules have run so far
        return report("overlay", asked, error)
    return command()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=command_name("overlay"),
        description="Run, explain or check a program in a context.",
        **described(_EXAMPLES),
    )
    version_option(parser)
    names = "run | explain | check | cache | doctor"
    commands = parser.add_subparsers(required=True, metavar=names)
    common = common_options()
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument(
        "--context",
        required=True,
        metavar="package.module:name",
        help="the Context to use, such as contexts:ctx",
    )
    run = commands.add_parser(
        "run", parents=[shared], help="run an unmodified program", **described(_RUN)
    )
    run.add_argument("--traceback", action="store_true", help="show where overlay raised an error")
    run.add_argument("--report", action="store_true", help="print ctx.report() at the end")
    run.add_argument(
        "--strict", action="store_true", help="raise an error where a call has lost the context"
    )
    run.add_argument(
        "-m",
        dest="module",
        nargs=argparse.REMAINDER,
        help="a module and its arguments, in place of a script",
    )
    run.add_argument(
        "script",
        nargs=argparse.REMAINDER,
        metavar="script.py [ARG]",
        help="the program and its arguments; without one, a console",
    )
    run.set_defaults(command=_run)
    explain = commands.add_parser(
        "explain",
        parents=[shared, common],
        help="show the method that each call resolves to",
        **described(_EXPLAIN),
    )
    explain.add_argument("function", metavar="package.module:function")
    explain.add_argument(
        "types", nargs="*", default=[], metavar="TYPE", help="float, numpy.float64, m:Class"
    )
    explain.add_argument("--depth", type=int, help="the number of levels of calls to follow")
    explain.add_argument("--everything", action="store_true", help="show every function in full")
    explain.set_defaults(command=_explain)
    _add_check(commands, common)
    _add_upkeep(commands, common)
    return parser


def _add_upkeep(commands: Any, common: argparse.ArgumentParser) -> None:
    cache = commands.add_parser(
        "cache", parents=[common], help="list the compiled code that is stored on disk"
    )
    cache.add_argument(
        "--clear", action="store_true", help="remove all compiled code from the folder"
    )
    cache.set_defaults(command=_cache)
    doctor = commands.add_parser(
        "doctor", parents=[common], help="test what works in this environment, and list its folders"
    )
    doctor.set_defaults(command=_doctor)


def _add_check(commands: Any, common: argparse.ArgumentParser) -> None:
    check = commands.add_parser(
        "check",
        parents=[common],
        help="find names, attributes and calls that certainly fail",
        **described(_CHECK),
    )
    check.add_argument(
        "--context", metavar="package.module:name", help="the Context in which the call is made"
    )
    check.add_argument("function", metavar="package.module:function")
    check.add_argument(
        "types", nargs="*", default=[], metavar="TYPE",
        help="float, m:Class, list[str], object; by default from annotations",
    )  # fmt: skip
    check.set_defaults(command=_check)


# Each command first looks up its arguments, and then returns the function that does the work.


def _context(asked: argparse.Namespace, **changes: bool) -> Context:
    context = named_context(asked.context)
    asked_for: Any = {name: True for name, on in changes.items() if on}
    return context.replace(**asked_for) if asked_for else context


def _run(asked: argparse.Namespace) -> object:
    context = _context(asked, strict=asked.strict, count_calls=asked.report)
    try:
        program = _program(asked)
    except SyntaxError as error:  # Python itself ends like this
        traceback.print_exception(error.with_traceback(None))
        return lambda: 1

    def run() -> int:
        if asked.report:
            atexit.register(lambda: show(context.report(), file=sys.stderr))
        program.run(context)
        return 0

    return run


def _program(asked: argparse.Namespace) -> MainProgram:
    from overlay.tools.whole_programs import MainProgram

    if asked.module is not None:
        if not asked.module:
            raise OverlayError("-m names no module", help="write -m package.module [ARG]")
        return MainProgram.of_module(*asked.module)
    return MainProgram.of_script(*asked.script) if asked.script else MainProgram.of_console()


def _explain(asked: argparse.Namespace) -> object:
    context = _context(asked)
    function = named_function(asked.function)
    types = [named_type(name) for name in asked.types]

    def explain() -> int:
        found = context.explain(function, *types, depth=asked.depth)
        if asked.json:
            print_json([_as_json(site) for site in found])
        else:
            show(found.outline(everything=asked.everything))
        return 0

    return explain


def _check(asked: argparse.Namespace) -> object:
    from overlay.analysis import check

    context = None if asked.context is None else named_context(asked.context)
    function = named_function(asked.function)
    found = check(function, *map(named_hint, asked.types), context=context)

    def told() -> int:
        if asked.json:
            print_json([_finding_as_json(finding) for finding in found])
        else:
            show(*(found or [found]))
        return 1 if found else 0

    return told


def _finding_as_json(finding: Finding) -> dict[str, Any]:
    return {
        "where": finding.where,
        "function": finding.name,
        "kind": finding.kind,
        "message": finding.message,
        "candidates": list(finding.candidates),
        "path": [{"where": where, "function": name} for where, name in finding.path],
    }


def _as_json(site: ExplainedSite) -> dict[str, Any]:
    return {
        "call": site.text,
        "target": site.target,
        "file": site.place.file,
        "line": site.place.line,
        "status": site.status,
        "methods": [str(method) for method in site.methods],
        "untaken": [str(method) for method in site.untaken],
        "note": site.note,
    }


def _cache(asked: argparse.Namespace) -> object:
    def cache() -> int:
        folder = Folder.of()
        removed = folder.clear() if asked.clear else None
        found: dict[str, Any] = {
            "path": str(folder.path),
            "functions": len(folder.files()),
            "bytes": folder.size(),
        }
        if asked.json:
            print_json(found if removed is None else {**found, "removed": removed})
        elif removed is not None:
            show(f"{folder.path}: removed {counted(removed, 'function')}")
        else:
            show(_cache_rows(**found))
        return 0

    return cache


def _cache_rows(path: str, functions: int, bytes: int) -> Rows:
    row = path, counted(functions, "function"), counted(bytes, "byte")
    return Rows("Compiled code on disk", ("folder", "functions", "size"), (row,), ", ")


def _diagnosed(title: str, found: Sequence[Diagnosis]) -> Rows:
    """The rows of one part of the installation, one for each diagnosis."""
    rows = (
        (
            each.name,
            each.state if each.state != "works" or each.part == "engines" else "",
            each.told,
            f"help: {each.remedy}" if each.remedy else "",
        )
        for each in found
    )
    return Rows(title, ("", "state", "found", "remedy"), tuple(rows), "; ")


def _doctor(asked: argparse.Namespace) -> object:
    from overlay.tools.doctor import diagnoses

    def doctor() -> int:
        found: list[Diagnosis] = []
        for title, part in itertools.groupby(diagnoses(), lambda each: each.part):
            for each in [list(part)] if sys.stdout.isatty() else ([one] for one in part):
                found += each
                if not asked.json:
                    show(_diagnosed(title, each))  # a line at once: numba takes seconds
        if asked.json:
            print_json([each._asdict() for each in found])
        return int(any(each.state == "fails" for each in found))

    return doctor
