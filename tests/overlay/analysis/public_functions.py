"""Public functions of modules, on which the checker is tried with arguments of any type.

``python -m tests.overlay.analysis.public_functions MODULE...`` prints what it finds in them.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import sys
import time
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from overlay.analysis import Finding, Interpreter
from overlay.analysis.abstract_values import TOP
from overlay.analysis.checked_types import CheckedTypes
from overlay.analysis.program_checks import findings_of
from overlay.core.errors import NotCompilable, OverlayError

__all__ = ["STANDARD", "TRUE", "findings_in", "public_functions"]

STANDARD = (
    "abc",
    "bisect",
    "keyword",
    "token",
    "stat",
    "linecache",
    "genericpath",
    "contextlib",
    "copyreg",
    "colorsys",
    "fnmatch",
    "heapq",
    "opcode",
    "operator",
    "reprlib",
    "sched",
    "shlex",
    "string",
    "struct",
    "tempfile",
    "timeit",
    "types",
    "weakref",
    "base64",
    "bdb",
    "binascii",
    "calendar",
    "cmd",
    "code",
    "codecs",
    "codeop",
    "copy",
    "csv",
    "glob",
    "getopt",
    "getpass",
    "gettext",
    "hashlib",
    "hmac",
    "html",
    "imaplib",
    "ipaddress",
    "locale",
    "mimetypes",
    "netrc",
    "nturl2path",
    "numbers",
    "optparse",
    "pathlib",
    "pkgutil",
    "platform",
    "plistlib",
    "poplib",
    "posixpath",
    "pprint",
    "profile",
    "pstats",
    "py_compile",
    "pyclbr",
    "queue",
    "quopri",
    "random",
    "secrets",
    "selectors",
    "shelve",
    "shutil",
    "signal",
    "smtplib",
    "socket",
    "socketserver",
    "ssl",
    "statistics",
    "stringprep",
    "symtable",
    "sysconfig",
    "tabnanny",
    "textwrap",
    "threading",
    "tokenize",
    "trace",
    "traceback",
    "tracemalloc",
    "tty",
    "uuid",
    "wave",
    "webbrowser",
    "xmlrpc.client",
    "zipfile",
    "zipimport",
    "argparse",
    "ast",
    "configparser",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "dis",
    "doctest",
    "enum",
    "fractions",
    "functools",
    "inspect",
    "json",
    "json.decoder",
    "logging",
    "http.client",
    "http.cookies",
    "pickle",
    "pickletools",
    "subprocess",
    "tarfile",
    "typing",
    "unittest.case",
    "unittest.mock",
    "urllib.parse",
    "urllib.request",
)


# By path: a word of the message of a true error. A base class lacks what its subclasses define;
# a module is not there on this system; a name is not imported, in some versions.
TRUE = {
    "optparse.OptionContainer": "_create_option_list",
    "getpass.win_getpass": "msvcrt",
    "sysconfig.expand_makefile_vars": "_findvar1_rx",
}
# the analyses of functions below each of them: what lies deeper is not followed
_MOST = 60


def public_functions(module: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The functions and classes of a module, and the methods of its classes, that are public and
    are defined there."""
    for name, value in sorted(vars(module).items()):
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if isinstance(value, (FunctionType, type)):
            yield name, value
        if isinstance(value, type):
            for of, method in sorted(vars(value).items()):
                plain = getattr(method, "__func__", method)
                if type(plain) is FunctionType and not of.startswith("_"):
                    yield f"{name}.{of}", plain


def findings_in(name: str) -> Iterator[tuple[str, Finding]]:
    """The findings below the public functions of a module, if it is there."""
    try:
        module = importlib.import_module(name)
    except ImportError:
        return
    for path, function in public_functions(module):
        with contextlib.suppress(NotCompilable, OverlayError):
            given = [TOP] * _required(function)
            runs = Interpreter(CheckedTypes(), limit=_MOST).enter(function, *given)[1]
            for finding in findings_of(runs):
                yield f"{name}.{path}", finding


def _required(function: Any) -> int:
    """The number of positional arguments that a function has."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return 0
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


if __name__ == "__main__":
    for each in sys.argv[1:] or STANDARD:
        begun = time.monotonic()
        for where, finding in findings_in(each):
            print(where, finding, sep="\n", flush=True)
        print(f"{each}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
