"""Runs the tests of packages from PyPI natively and in contexts, and compares outcomes and counts.

python -m scripts.package_tests more-itertools==11.1.0 --keep docs/report/kept/packages.json

A package's sources are downloaded and unpacked, and its tests run there unchanged: natively, and
under ``pytest --overlay`` with a table that is never reached, and with one that has methods for a
few functions of the package, which count and call the next. A further run counts native starts of
these functions. Exits with 1 where an outcome or a count differs.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from scripts.kept_figures import keep

ROOT = Path(__file__).parents[1]
PIP = ("-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:")


class Chosen(NamedTuple):
    """Settings for a package: functions to count, its tests, and the requirements of these."""

    functions: str
    tests: str = "tests"
    needs: str = ""


PACKAGES = {
    "attrs": Chosen(
        "attr._make:attrs attr._make:attrib attr.validators:instance_of "
        "attr._make:_ClassBuilder.build_class attr.validators:_InstanceOfValidator.__call__",
    ),
    "boltons": Chosen(
        "boltons.iterutils:remap boltons.iterutils:default_enter boltons.strutils:slugify "
        "boltons.urlutils:parse_url boltons.dictutils:OrderedMultiDict.__getitem__",
    ),
    "cachetools": Chosen(
        "cachetools:Cache.__setitem__ cachetools.keys:hashkey cachetools:LRUCache.__getitem__",
    ),
    "idna": Chosen("idna.core:encode idna.core:check_label idna.core:ulabel"),
    "inflection": Chosen(
        "inflection:camelize inflection:pluralize inflection:singularize inflection:underscore",
        tests="test_inflection.py",
    ),
    "itsdangerous": Chosen(
        "itsdangerous.encoding:want_bytes itsdangerous.signer:Signer.sign "
        "itsdangerous.signer:Signer.derive_key",
        needs="freezegun",
    ),
    "jinja2": Chosen(
        "jinja2.environment:Template.render jinja2.parser:Parser.parse_expression "
        "jinja2.lexer:TokenStream.__next__ jinja2.nodes:Node.__init__ "
        "jinja2.runtime:Context.resolve",
        needs="trio",
    ),
    "markupsafe": Chosen(
        "markupsafe:Markup.__new__ markupsafe:Markup.__add__ markupsafe:Markup.join "
        "markupsafe._native:_escape_inner",
    ),
    "more-itertools": Chosen(
        "more_itertools.recipes:take more_itertools.more:chunked more_itertools.more:first "
        "more_itertools.more:peekable.__next__ more_itertools.more:consumer",
    ),
    "mpmath": Chosen(
        "mpmath.libmp.libmpf:mpf_add mpmath.libmp.libmpf:mpf_mul mpmath.libmp.libmpf:from_man_exp "
        "mpmath.libmp.libmpf:to_str",
        tests="mpmath/tests/test_basic_ops.py mpmath/tests/test_functions.py "
        "mpmath/tests/test_calculus.py mpmath/tests/test_matrices.py mpmath/tests/test_linalg.py",
    ),
    "pyparsing": Chosen(
        "pyparsing.core:ParserElement.parse_string pyparsing.core:ParserElement.copy "
        "pyparsing.core:Literal.__init__ pyparsing.results:ParseResults.__getitem__",
        needs="railroad-diagrams",
    ),
    "simpleeval": Chosen(
        "simpleeval:SimpleEval._eval simpleeval:SimpleEval.eval simpleeval:safe_power",
    ),
    "tinydb": Chosen(
        "tinydb.table:Table.insert tinydb.queries:QueryInstance.__call__ "
        "tinydb.table:Table.search tinydb.storages:touch",
    ),
    "tomlkit": Chosen(
        "tomlkit.parser:Parser.parse tomlkit.items:item tomlkit.source:Source.inc",
    ),
    "toolz": Chosen(
        "toolz.itertoolz:first toolz.dicttoolz:merge toolz.functoolz:curry.__init__ "
        "toolz.functoolz:Compose.__call__ toolz.functoolz:identity",
        tests="toolz",
    ),
    "wrapt": Chosen(
        "wrapt.decorators:decorator wrapt.patches:wrap_function_wrapper wrapt.patches:resolve_path",
    ),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", nargs="+", help="such as more-itertools==11.1.0")
    parser.add_argument("--keep", type=Path, help="a file for the figures, for docs/report.md")
    parser.add_argument("--functions", default="", help="those to count, as module:qualified.name")
    asked = parser.parse_args()
    found = {package: compared(package, asked.functions) for package in asked.packages}
    if asked.keep:
        keep(asked.keep, packages=found)
    return int(any(each["differ"] or each["other counts"] for each in found.values()))


def compared(package, functions=""):
    """The number of tests, those with another outcome in a context, and the calls of functions
    natively and in a context."""
    chosen = PACKAGES.get(package.partition("==")[0], Chosen(""))
    chosen = chosen._replace(functions=functions or chosen.functions)
    with tempfile.TemporaryDirectory() as folder:
        sources = unpacked(package, Path(folder))
        install(chosen.needs, Path(folder) / "needed")
        natively, _ = outcomes(sources, chosen)
        runs = {
            name: outcomes(sources, chosen, "--overlay", f"package_contexts:{name}")
            for name in ("unreached", "natively", "counted")
        }
    differ = {
        name: [natively.get(name), *(found.get(name) for found, _ in runs.values())]
        for name in sorted(natively.keys() | {test for found, _ in runs.values() for test in found})
        if any(found.get(name) != natively.get(name) for found, _ in runs.values())
    }
    calls, inside = runs["natively"][1], runs["counted"][1]
    passed, failed = (
        sum(each in kinds for each in natively.values())
        for kinds in (("passed",), ("failure", "error"))
    )
    counts = {name: [calls[name], inside.get(name)] for name in calls}
    other = {name: found for name, found in counts.items() if found[0] != found[1]}
    print(
        f"{package}: {len(natively)} tests, {passed} pass and {failed} fail natively, "
        f"{len(differ)} differ; "
        f"{sum(calls.values())} calls of {len(calls)} functions, {len(other)} counts differ",
        flush=True,
    )
    print(*(f"    {name}: {found}" for name, found in {**differ, **other}.items()), sep="\n")
    return {
        "tests": len(natively),
        "passed natively": passed,
        "failed natively": failed,
        "differ": list(differ) if natively else ["no tests"],
        "calls": calls,
        "other counts": list(other) if any(calls.values()) else ["no calls"],
    }


def unpacked(package, folder):
    """The folder of a package's sources, downloaded and unpacked."""
    subprocess.run([sys.executable, *PIP, "-d", str(folder), package], check=True)
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as sources:
        sources.extractall(folder, filter="data")
    [found] = [path for path in folder.iterdir() if path.is_dir()]
    return found


def install(needs, folder):
    """Install requirements of tests into a separate folder."""
    if needs:
        command = ("-m", "pip", "install", "-q", "--target", str(folder), *needs.split())
        subprocess.run([sys.executable, *command], check=True)


def outcomes(sources, chosen, *options):
    """The outcome of each test (passed, failed or skipped), and the calls of each function in
    tests."""
    report, counts = sources.parent / "outcomes.xml", sources.parent / "counts.json"
    report.unlink(missing_ok=True)
    counts.write_text("{}")
    paths = (
        *(sources, sources / "src", sources.parent / "needed"),
        *(ROOT / "scripts", ROOT / "tests/conformance", os.environ.get("PYTHONPATH", "")),
    )
    given = {"PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONHASHSEED": "0"}
    given |= {"COUNTED": chosen.functions, "COUNTS": str(counts)}
    plugins = ("-p", "package_contexts", "-p", "no:cacheprovider", "--hypothesis-seed=0")
    subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-n", "0", f"--junitxml={report}"),
            *(*plugins, "-o", "addopts=", *options, *chosen.tests.split()),
        ],
        cwd=sources,
        env={**os.environ, **given},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    cases = ElementTree.parse(report).iter("testcase") if report.exists() else ()
    found = {f"{case.get('classname')}::{case.get('name')}": outcome(case) for case in cases}
    return found, json.loads(counts.read_text())


def outcome(case):
    kinds = [child.tag for child in case if child.tag in ("failure", "error", "skipped")]
    return kinds[0] if kinds else "passed"


if __name__ == "__main__":
    sys.exit(main())
