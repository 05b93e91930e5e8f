"""The cost of the first use of functions in a context, on modules of the standard library."""

import argparse
import configparser
import difflib
import fractions
import json
import pprint
import shlex
import statistics
import sys
import textwrap
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from types import CodeType

from common.timing import seconds

import overlay
from overlay import Context, MethodTable

__all__ = ["FirstUse", "first_uses"]

HOME = overlay.__file__.removesuffix("__init__.py")
TEXT = "It was a bright cold day in April, and the clocks were striking thirteen. " * 4
DATA = {"name": ["a", "b", {"c": [1, 2.5, None, True]}], "text": TEXT, "numbers": list(range(40))}


@dataclass(frozen=True)
class FirstUse:
    """seconds: the time of the first run above a later one. lines: of the functions that ran."""

    name: str
    seconds: float
    lines: int


def uses_difflib():
    one, other = TEXT.split(), TEXT.replace("cold", "warm").split()[3:]
    list(difflib.unified_diff(one, other)), list(difflib.ndiff(one[:9], other[:9]))
    difflib.get_close_matches("april", one)
    difflib.HtmlDiff().make_table(one[:4], other[:4])


def uses_textwrap():
    for line in textwrap.wrap(TEXT, 40):
        textwrap.indent(textwrap.dedent(f"  {line}"), "> ")
    textwrap.shorten(TEXT, 30)


def uses_json():
    json.loads(json.dumps(DATA, indent=2, sort_keys=True))
    json.JSONDecoder(object_hook=dict).decode(json.dumps(DATA))


def uses_configparser():
    parser = configparser.ConfigParser()
    parser.read_string("[one]\na = 1\nb = %(a)s2\n[two]\nc: yes\n  more\n# note\n")
    parser["three"] = {"d": "4"}
    parser.set("one", "e", "5")
    parser.getint("one", "b"), parser.items("one"), parser.has_option("two", "c")
    parser.remove_section("two")
    parser.write(open_nowhere())


def uses_argparse():
    parser = argparse.ArgumentParser(prog="prog", description=TEXT)
    parser.add_argument("files", nargs="*", help="what to read")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("-v", "--verbose", action="count", default=0)
    group.add_argument("-q", "--quiet", action="store_true")
    commands = parser.add_argument_group("more")
    commands.add_argument("--level", type=int, choices=[1, 2, 3], metavar="N")
    parser.parse_args(["-vv", "--level=2", "one", "two"])
    parser.format_help()


def uses_pprint():
    pprint.pformat(DATA, width=30)
    pprint.pformat({1, 2, 3}), pprint.isreadable(DATA), pprint.saferepr(DATA)


def uses_urllib():
    parts = urllib.parse.urlsplit("https://user@example.org:80/a/b;c?d=e&f=g%20h#i")
    urllib.parse.urljoin(parts.geturl(), "../x?y"), parts.port
    urllib.parse.urlencode(urllib.parse.parse_qs(parts.query), doseq=True)
    shlex.join(shlex.split("a 'b c' \"d\" e\\ f"))


def uses_numbers():
    values = [fractions.Fraction(i, 7) for i in range(1, 9)]
    statistics.mean(values), statistics.stdev(values), statistics.quantiles(values)
    statistics.linear_regression(values, values[::-1])
    statistics.NormalDist(0, 1).inv_cdf(0.2), values[0].limit_denominator(3), round(values[0], 3)


SCENARIOS = (
    uses_difflib,
    uses_textwrap,
    uses_json,
    uses_configparser,
    uses_argparse,
    uses_pprint,
    uses_urllib,
    uses_numbers,
)


def open_nowhere():
    class Nowhere:
        def write(self, text):
            return len(text)

    return Nowhere()


def codes_run(run: Callable[[], object]) -> list[CodeType]:
    """The code objects of the program that run, each once."""
    found: dict[int, CodeType] = {}

    def profile(frame, event, _):
        if event == "call" and not frame.f_code.co_filename.startswith(HOME):
            found[id(frame.f_code)] = frame.f_code

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return list(found.values())


def lines_of(codes: list[CodeType]) -> int:
    """The number of source lines in the code objects, each line once."""
    spanned = {
        (code.co_filename, line)
        for code in codes
        for last in [max((end for *_, end in code.co_lines() if end), default=0)]
        for line in range(code.co_firstlineno, last + 1)
    }
    return len(spanned)


def first_use(scenario: Callable[[], None], table: MethodTable) -> FirstUse:
    """Measure the first use in a new context; the scenario must not have run in a context
    before."""
    scenario()  # its native imports and caches are no cost of ours
    lines = lines_of(codes_run(scenario))
    context = Context(table)
    first = seconds(lambda: context(scenario), process_time)
    later = min(seconds(lambda: context(scenario), process_time) for _ in range(3))
    return FirstUse(scenario.__name__.removeprefix("uses_"), first - later, lines)


def first_uses(table: MethodTable) -> list[FirstUse]:
    """The first uses of all scenarios, after set-up of the engine itself."""
    Context(table)(seconds, int)
    return [first_use(scenario, table) for scenario in SCENARIOS]
