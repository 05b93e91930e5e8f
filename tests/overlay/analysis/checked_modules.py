"""Entries of modules of the standard library on which the checker is tried, with arguments."""

from __future__ import annotations

import ast
import functools
import importlib
from collections.abc import Callable
from typing import Any

__all__ = ["ENTRIES", "PUBLISHED", "named", "type_of"]

_TEXT = "It was the best of times, it was the worst of times, it was the age of wisdom."
_LINES = ["one\n", "two\n", "three\n", "four\n"]
_OTHERS = ["zero\n", "one\n", "tree\n", "four\n"]
_NUMBERS = [1.5, 2.25, 3.0, 4.75, 9.5]
_CSV = "name,age\nann,31\nbob,27\neve,45\n"
_CONFIG = "[paths]\nhome = /tmp\nlib = %(home)s/lib\n[other]\nflag = yes\n"
_TOML = 'title = "x"\n[owner]\nage = 3\ntimes = [1, 2.5, true]\nborn = 1979-05-27T07:32:00Z\n'
_SOURCE = "def f(a, b=2, *c, **d):\n    return [a + b for x in c if x] or {'k': (1, not a)}\n"


Entry = tuple[str, Callable[[Any], Any], Callable[[Any], tuple[Any, ...]]]


def _entry(path: str, *args: Any) -> Entry:
    """A function of a module by its path, with its arguments."""

    def function(module: Any) -> Any:
        return functools.reduce(getattr, path.split("."), module)

    return path, function, lambda module: args


def _method(path: str, made: tuple[Any, ...], *args: Any) -> Entry:
    """A method, with the arguments that its object is made with, and its own."""
    cls, _, name = path.rpartition(".")
    return (
        path,
        lambda module: getattr(getattr(module, cls), name),
        lambda module: (getattr(module, cls)(*made), *args),
    )


# By module: the path of a function, how it is found in the module, and its arguments.
ENTRIES: dict[str, tuple[Entry, ...]] = {
    "textwrap": (
        _entry("wrap", _TEXT, 20),
        _entry("dedent", "  a\n   b\n  c\n"),
        _entry("shorten", _TEXT, 30),
        _entry("indent", _TEXT, "> "),
    ),
    "statistics": (
        _entry("mean", _NUMBERS),
        _entry("stdev", _NUMBERS),
        _entry("quantiles", _NUMBERS),
        _entry("linear_regression", _NUMBERS, _NUMBERS),
        _entry("multimode", [1, 2, 2, 3, 3]),
        _entry("NormalDist", 0.0, 1.0),
        _method("NormalDist.inv_cdf", (0.0, 1.0), 0.25),
    ),
    "fractions": (
        _entry("Fraction", "3/4"),
        _entry("Fraction", 6, 4),
        _method("Fraction.limit_denominator", (355, 113), 10),
        _method("Fraction.__format__", (1, 3), ".3f"),
        _method("Fraction.__pow__", (2, 3), 2),
    ),
    "colorsys": (
        _entry("rgb_to_hls", 0.2, 0.4, 0.6),
        _entry("hls_to_rgb", 0.2, 0.4, 0.6),
        _entry("rgb_to_hsv", 0.2, 0.4, 0.6),
        _entry("hsv_to_rgb", 0.2, 0.4, 0.6),
        _entry("yiq_to_rgb", 0.2, 0.4, 0.6),
    ),
    "difflib": (
        _entry("get_close_matches", "appel", ["ape", "apple", "peach"]),
        _entry("context_diff", _LINES, _OTHERS),
        _method("SequenceMatcher.get_opcodes", (None, "abxcd", "abcd")),
    ),
    "heapq": (
        _entry("nsmallest", 2, [5, 1, 4]),
        _entry("nlargest", 2, [5, 1, 4]),
        _entry("merge", [1, 4], [2, 3]),
    ),
    "locale": (
        _entry("format_string", "%d %s", (1234, "x")),
        _entry("normalize", "de_DE"),
        _entry("delocalize", "1,5"),
    ),
    "calendar": (
        _method("TextCalendar.formatmonth", (), 2024, 2),
        _method("HTMLCalendar.formatmonth", (), 2024, 2),
        _entry("monthrange", 2024, 2),
        _method("Calendar.yeardatescalendar", (), 2024, 3),
    ),
    "string": (
        _entry("capwords", "the quick brown fox"),
        _method("Template.substitute", ("$who likes $what",), {"who": "tim", "what": "pie"}),
        _method("Formatter.vformat", (), "{0} {1!r:>4}", (1, 2), {"a": 1}),
    ),
    "shlex": (
        _entry("split", "a 'b c' --d=\"e\""),
        _entry("quote", "it's"),
        _entry("join", ["a b", "c"]),
    ),
    "fnmatch": (
        _entry("fnmatchcase", "data.txt", "*.[a-z]xt"),
        _entry("filter", ["a.py", "b.txt"], "*.py"),
        _entry("translate", "a[!b-d]*?.txt"),
    ),
    "posixpath": (
        _entry("join", "/a", "b/c"),
        _entry("relpath", "/a/b/c", "/a/d"),
        _entry("commonpath", ["/a/b", "/a/c"]),
        _entry("splitext", "x.tar.gz"),
        _entry("expandvars", "$HOME/${USER}/x"),
        _entry("realpath", "/tmp/../usr"),
    ),
    "json.decoder": (
        _method("JSONDecoder.decode", (), '{"a": [1, 2.5, null, "x\\n"]}'),
        _entry("py_scanstring", 'abc\\u00e9\\n" x', 0),
    ),
    "json.encoder": (
        _entry("py_encode_basestring_ascii", "caf\u00e9 \U0001f600"),
        _method("JSONEncoder.encode", (), "text"),
    ),
    "csv": (
        _method("Sniffer.sniff", (), _CSV),
        _method("Sniffer.has_header", (), _CSV),
    ),
    "configparser": (
        _method("ConfigParser.read_string", (), _CONFIG),
        _method("ConfigParser.add_section", (), "new"),
        _method("ConfigParser.read_dict", (), {"s": {"a": "1"}}),
    ),
    "ast": (
        _entry("literal_eval", "{'a': [1, 2, -3j], 'b': (None, True)}"),
        _entry("dump", ast.parse(_SOURCE)),
        _entry("get_docstring", ast.parse('"""doc"""')),
        _entry("unparse", ast.parse(_SOURCE)),
    ),
    "tomllib._parser": (_entry("loads", _TOML),),
    "random": (
        _method("Random.sample", (), [1, 2, 3, 4], 2),
        _method("Random.choices", (), [1, 2, 3, 4]),
        _method("Random.gauss", (), 0.0, 1.0),
        _method("Random.betavariate", (), 1.5, 2.5),
        _method("Random.triangular", (), 0.0, 1.0),
        _method("Random.randrange", (), 10),
        _method("Random.vonmisesvariate", (), 0.5, 2.0),
    ),
    "_pydecimal": (
        _method("Decimal.__add__", ("1.5",), 2),
        _method("Decimal.sqrt", ("2",)),
        _method("Decimal.__format__", ("1234.5",), ",.2f"),
        _entry("Decimal", "3.25"),
    ),
    "dataclasses": (
        _entry("make_dataclass", "Point", ["x", "y"]),
        _entry("field"),
    ),
}


# By module: entries of packages that others have published, by their path, with arguments.
PUBLISHED: dict[str, tuple[Entry, ...]] = {
    "packaging.version": (_entry("parse", "1.2.3rc1"), _entry("Version", "1.2.3")),
    "packaging.specifiers": (_entry("SpecifierSet", ">=1.0,<2"),),
    "packaging.requirements": (_entry("Requirement", "numpy>=1.2; python_version<'3.9'"),),
    "packaging.markers": (_entry("Marker", "python_version<'3.9'"),),
    "packaging.utils": (_entry("parse_wheel_filename", "a-1.0-py3-none-any.whl"),),
    "iniconfig": (_entry("IniConfig", "x.ini"),),
    "cycler": (_entry("cycler", "a", [1]),),
    "platformdirs": (_entry("user_cache_dir", "a"),),
    "pluggy": (_entry("PluginManager", "a"),),
    "idna": (_entry("encode", "abc"),),
    "click": (_entry("style", "a"),),
    "sortedcontainers": (_entry("SortedList", [3, 1]),),
    "parso": (_entry("parse", "a=1"),),
    "fsspec.utils": (_entry("infer_storage_options", "s3://a/b"),),
    "charset_normalizer.utils": (_entry("is_accentuated", "a"),),
    "dateutil.parser": (_entry("parse", "2020-01-01"),),
    "multipledispatch": (_entry("dispatch", int),),
}


def named(name: str) -> Any:
    """A module by its name."""
    return importlib.import_module(name)


def type_of(value: Any) -> Any:
    """The type of an argument as the checker takes it: of a builtin container, with its items'."""
    kind = type(value)
    if kind in (list, set) and value:
        return kind[type_of(next(iter(value)))]
    if kind is tuple:
        return tuple[tuple(map(type_of, value))]
    if kind is dict and value:
        key, item = next(iter(value.items()))
        return dict[type_of(key), type_of(item)]
    return kind
