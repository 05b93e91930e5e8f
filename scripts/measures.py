"""Measures the structure of the packages, and limits each measure: it may fall and not rise.

python -m scripts.measures --ways
python -m scripts.measures --check --ways
python -m scripts.measures --keep --ways
python -m scripts.measures --raise "fan-out-overlay=why it has to be"

The limits are in scripts/measures.toml. Product files are measured as they are in the folder, if
git knows them. The packages are not imported; with --ways they are run, in a separate Python
process.
"""

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from scripts.structure import (
    PACKAGES,
    Definition,
    Structure,
    by_last_name,
    is_product,
    package_of,
    read,
)
from scripts.three_ways import TEXTS

ROOT = Path(__file__).parents[1]
HELD = "scripts/measures.toml"
HEAD = """\
# What scripts/measures.py holds: each may fall and not rise. "make measures" prints them,
# "python -m scripts.measures --keep --ways" writes lower ones, --raise higher ones with a reason.
"""
MOST_METHODS = 25
MOST_LINES = 60
WAYS_PYTHON = (3, 13)  # the version for which numbers of files are limited
CACHES = ("XDG_CACHE_HOME", "OVERLAY_CACHE_DIR", "NUMBA_CACHE_DIR")
SHOWN = 20  # limit on the places that a failure names


@dataclass(frozen=True)
class Measure:
    """A number, with the things counted.

    ``found`` has a text with the place, ``file:line``, for each thing that counts. ``before`` has
    the keys of things that do not count, and would not be new if they did.
    """

    name: str
    value: int
    what: str
    remedy: str
    found: dict[object, str] = field(default_factory=dict)
    before: frozenset[object] = frozenset()
    listing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Held:
    """Limit of a measure; if it was raised, the former limit, and why."""

    most: int
    was: int | None = None
    why: str = ""

    def lowered(self, value: int) -> "Held":
        """The limit lowered to a value; the reason is dropped where it is no longer needed."""
        needed = self.was is not None and value > self.was
        return Held(value, self.was, self.why) if needed else Held(value)

    def raised(self, value: int, why: str) -> "Held":
        """The limit raised to a value, with the reason appended to the former ones."""
        was = self.most if self.was is None else self.was
        return Held(value, was, f"{self.why}; {why}" if self.why else why)

    def __str__(self) -> str:
        if self.was is None:
            return str(self.most)
        why = json.dumps(self.why, ensure_ascii=False)
        return f"{{ most = {self.most}, was = {self.was}, why = {why} }}"


class Failed(Exception):
    """The measures cannot be taken or written; the text says why."""


# ---- the measures -----------------------------------------------------------------------------


def measured(texts: dict[str, str]) -> list[Measure]:
    """All measures but those of the three ways, of files given by their paths."""
    structure = read({path: text for path, text in texts.items() if is_product(path)})
    return [
        *of_cycles(structure),
        *of_fans(structure),
        *of_methods(structure),
        *of_names(structure),
        of_long_functions(structure),
        of_exclusions(texts.get("pyproject.toml", "")),
    ]


def of_cycles(structure: Structure) -> list[Measure]:
    """Modules in import cycles by package, and the largest cycle."""
    remedy = "cut the import, or have what both need in a module below them"
    cycles = structure.cycles()
    pairs = frozenset(each.pair for each in structure.imports)

    def found(cycles: list[list[str]], package: str = "") -> dict[object, str]:
        """The imports come first: a new one has made the others part of a cycle."""
        texts: dict[object, str] = {}
        for cycle in cycles:
            for each in structure.imports:
                if {*each.pair} <= {*cycle}:
                    texts.setdefault(each.pair, str(each))
        for cycle in cycles:
            for name in cycle:
                if not package or package_of(name) == package:
                    place = f"{structure.modules[name]}:1"
                    texts[name] = f"{place}: {name} is in a cycle of {len(cycle)} modules"
        return texts

    def modules_of(package: str) -> int:
        return sum(package_of(name) == package for cycle in cycles for name in cycle)

    each_package = [
        Measure(
            f"cycles-{package}",
            modules_of(package),
            f"modules of {package} in import cycles",
            remedy,
            found(cycles, package),
            pairs,
        )
        for package in PACKAGES
    ]
    largest = cycles[0] if cycles else []
    lazy = [each for each in structure.imports if {*each.pair} <= {*largest} and each.inside]
    listing = (
        *textwrap.wrap(", ".join(largest), 96, break_on_hyphens=False),
        *([f"{len(lazy)} imports in it are inside functions:"] if largest else []),
        *(f"  {each}" for each in lazy),
    )
    what = "modules in the largest import cycle"
    last = Measure(
        "cycle-largest", len(largest), what, remedy, found(cycles[:1]), pairs, listing=listing
    )
    return [*each_package, last]


def of_fans(structure: Structure) -> list[Measure]:
    """The most modules that import one, and that one imports, by package."""
    importers, imported = structure.importers(), structure.imported()
    pairs = frozenset(each.pair for each in structure.imports)
    kinds = (
        (
            "fan-in",
            importers,
            1,
            "import",
            "let fewer modules know it, or split it by who needs what",
        ),
        (
            "fan-out",
            imported,
            0,
            "are imported by",
            "move a part with its imports out of the module",
        ),
    )
    found: list[Measure] = []
    for kind, others, side, verb, remedy in kinds:
        for package in PACKAGES:
            names = sorted(name for name in structure.modules if package_of(name) == package)
            top = max(names, key=lambda name: len(others[name]), default="")
            texts: dict[object, str] = {}
            for each in structure.imports:
                if each.pair[side] == top:
                    texts.setdefault(each.pair, str(each))
            what = f"modules that {verb} {top or 'one'}, the most of {package}"
            value = len(others.get(top, ()))
            found.append(Measure(f"{kind}-{package}", value, what, remedy, texts, pairs))
    return found


def of_methods(structure: Structure) -> list[Measure]:
    """Classes of many methods, and the largest."""
    remedy = "have a class of its own for what some of the methods share"
    large = [each for each in structure.classes if len(each.methods) > MOST_METHODS]
    large.sort(key=lambda each: (-len(each.methods), each.place))
    texts = {
        (each.module, each.name): f"{each.place}: {each.name} has {len(each.methods)} methods"
        for each in large
    }
    first = max(structure.classes, key=lambda each: len(each.methods), default=None)
    if first is None:
        what, count, methods = "methods of the largest class", 0, {}
    else:
        what, count = f"methods of {first.name}, the largest class", len(first.methods)
        methods = {
            (first.module, first.name, method): f"{first.place}: {first.name}.{method}"
            for method in first.methods
        }
    return [
        Measure(
            "classes-large",
            len(large),
            f"classes of more than {MOST_METHODS} methods",
            remedy,
            {**texts},
            listing=(*texts.values(),),
        ),
        Measure("class-largest", count, what, remedy, {**methods}),
    ]


def of_names(structure: Structure) -> list[Measure]:
    """Names shared by several classes, or by several modules."""
    modules = [
        Definition(name, name, f"{path}:1", 0) for name, path in sorted(structure.modules.items())
    ]
    found: list[Measure] = []
    for kind, plural, definitions in (
        ("class", "classes", structure.classes),
        ("module", "modules", modules),
    ):
        names = by_last_name([each for each in definitions if each.last != "__main__"])
        texts = {
            (each.module, each.name): f"{each.place}: {kind} {name}, also {_others(each, group)}"
            for name, group in names.items()
            for each in group
        }
        listing = tuple(
            f"{name}: {', '.join(each.place for each in group)}" for name, group in names.items()
        )
        what = f"names that stand for more than one {kind}"
        remedy = f"give the {kind} a name that no other has, or make one of both"
        counts = (
            (f"{kind}-names-twice", len(names), what, listing),
            (f"{plural}-of-one-name", len(texts), f"{plural} whose name another has", ()),
        )
        for name, value, what, shown in counts:
            found.append(Measure(name, value, what, remedy, {**texts}, listing=shown))
    return found


def _others(one: Definition, group: list[Definition]) -> str:
    places = [each.place for each in group if each is not one]
    return ", ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")


def of_long_functions(structure: Structure) -> Measure:
    """Functions of many lines, from ``def`` to the end, without the docstring."""
    long = [each for each in structure.functions if each.lines > MOST_LINES]
    texts = {
        (each.module, each.name): f"{each.place}: {each.name} has {each.lines} lines"
        for each in sorted(long, key=lambda each: (-each.lines, each.place))
    }
    return Measure(
        "functions-long",
        len(long),
        f"functions of more than {MOST_LINES} lines, without the docstring",
        "make a function of a part that has a name",
        {**texts},
        listing=(*texts.values(),),
    )


def of_exclusions(project: str) -> Measure:
    """Entries that strict typing excludes."""
    settings = tomllib.loads(project).get("tool", {}).get("pyright", {})
    lines = project.splitlines()
    texts = {
        entry: f"pyproject.toml:{_line_of(entry, lines)}: {entry}"
        for entry in settings.get("exclude", [])
    }
    return Measure(
        "typing-excluded",
        len(texts),
        "entries that strict typing leaves out",
        "annotate the module, and take its entry out",
        {**texts},
    )


def _line_of(entry: str, lines: list[str]) -> int:
    return next((i for i, line in enumerate(lines, 1) if f'"{entry}"' in line), 1)


# ---- the three ways ---------------------------------------------------------------------------


def of_ways(root: Path) -> list[Measure]:
    """The number of files that each call runs through, the first time and the second."""
    found: list[Measure] = []
    for way, text in TEXTS.items():
        for time, files in entered(way, root).items():
            texts = {place.rpartition(":")[0]: f"{place}: {function}" for place, function in files}
            found.append(
                Measure(
                    f"files-{way}-{time}",
                    len(texts),
                    f"files that {text} runs through, {time}",
                    "call what does it directly, or have in one file what is done in turn",
                    {**texts},
                    listing=(*texts.values(),),
                )
            )
    return found


def entered(way: str, root: Path) -> dict[str, list[tuple[str, str]]]:
    """Places and names of the functions through which a call enters files, in a new Python."""
    command = [sys.executable, "-m", "scripts.three_ways", way, str(root.resolve())]
    with tempfile.TemporaryDirectory() as folder:  # with empty caches
        ours = ("PYTHON", "NUMBA", "OVERLAY", "INVERSION", "COVERAGE")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        settings = {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"}
        caches = dict.fromkeys(CACHES, folder)
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env={**kept, **settings, **caches},
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"{TEXTS[way]} has not ended after 300 s") from None
    if done.returncode:
        last = "\n".join(done.stderr.splitlines()[-4:])
        raise Failed(f"{TEXTS[way]} cannot be run (make builds the part in C):\n{last}")
    files = json.loads(done.stdout)
    if not files["first"]:
        raise Failed(f"{TEXTS[way]} ran through no file in {root}")
    return files


# ---- files, now and at the last change of the limits -------------------------------------------


def texts_of(root: Path) -> dict[str, str]:
    """The source files that git knows, or all if it knows none, and pyproject.toml."""
    names = _git(root, "ls-files", "-z").decode().split("\0")
    paths = [name for name in names if is_product(name)]
    if not paths:
        files = (path for package in PACKAGES for path in (root / package).rglob("*"))
        paths = [path.relative_to(root).as_posix() for path in files]
    asked = [*filter(is_product, paths), "pyproject.toml"]
    return {path: (root / path).read_text() for path in asked if (root / path).is_file()}


def as_held(root: Path) -> dict[str, bytes]:
    """The files at the last change of the limits, if git has them."""
    commit = _git(root, "log", "-1", "--format=%H", "--", HELD).decode().strip()
    archive = _git(root, "archive", "--format=tar", commit) if commit else b""
    if not archive:
        return {}
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files:
            content = files.extractfile(member) if member.isfile() else None
            if content is not None:
                found[member.name] = content.read()
    return found


def before(root: Path, ways: bool) -> dict[str, Measure]:
    """The measures at the last change of the limits, as far as available."""
    files = as_held(root)
    texts = {path: content.decode() for path, content in files.items() if _is_measured(path)}
    found = measured(texts) if texts else []
    if found and ways:
        with tempfile.TemporaryDirectory() as folder:
            for path, content in files.items():
                if package_of(path) in PACKAGES or path == "overlay_dispatch.py":
                    target = Path(folder, path)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(content)
            for built in root.glob("overlay/_native/*.so"):
                Path(folder, built.relative_to(root)).symlink_to(built)
            with contextlib.suppress(Failed):  # the C part may have changed since
                found += of_ways(Path(folder))
    return {each.name: each for each in found}


def _is_measured(path: str) -> bool:
    return is_product(path) or path == "pyproject.toml"


def _git(root: Path, *command: str) -> bytes:
    """The output of a git command; empty where it fails."""
    try:
        done = subprocess.run(["git", *command], cwd=root, capture_output=True, check=False)
    except OSError:
        return b""
    return b"" if done.returncode else done.stdout


# ---- limits -----------------------------------------------------------------------------------


def held_in(root: Path) -> dict[str, Held]:
    """The limits, by the names of measures."""
    path = root / HELD
    table = tomllib.loads(path.read_text()) if path.exists() else {}
    return {
        name: Held(**value) if isinstance(value, dict) else Held(value)
        for name, value in table.items()
    }


def write(root: Path, held: dict[str, Held]) -> None:
    """Write the limits, one a line."""
    lines = (f"{name} = {each}\n" for name, each in sorted(held.items()))
    (root / HELD).parent.mkdir(exist_ok=True)
    (root / HELD).write_text(HEAD + "".join(lines))


def risen(measures: Iterable[Measure], held: dict[str, Held]) -> list[Measure]:
    """The measures above their limits."""
    return [each for each in measures if each.name in held and each.value > held[each.name].most]


def check(root: Path, measures: list[Measure]) -> int:
    """Print the measures that have risen, the new things in them and a remedy; 1 if any has."""
    held = held_in(root)
    higher = risen(measures, held)
    is_way = [each.name.startswith("files-") for each in higher]
    earlier = before(root, any(is_way)) if higher else {}
    for each in higher:
        print(f"{each.name} was {held[each.name].most} and is {each.value}: {each.what}")
        for line in what_is_new(each, earlier.get(each.name)):
            print(f"  {line}")
        print(f"  help: {each.remedy}")
        print(f"  or: python -m scripts.measures --raise {each.name}=REASON\n")
    missing = [each.name for each in measures if each.name not in held]
    if missing:
        print(f"not held: {', '.join(missing)}")
        print(f"  help: python -m scripts.measures --keep writes them to {HELD}")
    lower = [each for each in measures if each.name in held and each.value < held[each.name].most]
    for each in lower:
        print(f"{each.name} was {held[each.name].most} and is {each.value}, which is lower")
    if lower:
        print("  python -m scripts.measures --keep lowers the bar")
    if not higher and not missing:
        print(f"{len(measures)} measures of the structure, none higher than in {HELD}")
    return int(bool(higher or missing))


def what_is_new(measure: Measure, earlier: Measure | None) -> list[str]:
    """The things that count now and did not before; all of them, where the former ones are
    unknown."""
    known = {*earlier.found, *earlier.before} if earlier else set()
    lines = [text for key, text in measure.found.items() if key not in known]
    title = "new" if lines and earlier else "all that count (git has none to compare with)"
    lines = lines or [*measure.found.values()]
    left = [f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    return [f"{title}:", *(f"  {line}" for line in [*lines[:SHOWN], *left])]


def keep(root: Path, measures: list[Measure], reasons: dict[str, str], *, ways: bool) -> int:
    """Write lower limits, and higher ones with a reason; 1 if others are higher."""
    held = held_in(root)
    higher = {each.name: each for each in risen(measures, held)}
    for name in reasons:
        if name not in higher:
            also = " (the files of the three ways need --ways)" if name.startswith("files-") else ""
            raise Failed(f"{name} is not higher than what is held{also}")
    names = {each.name for each in measures}
    kept = {name: each for name, each in held.items() if name in names or _is_way(name, ways)}
    for each in measures:
        before = held.get(each.name)
        if before is None:
            kept[each.name] = Held(each.value)
        elif each.value < before.most:
            kept[each.name] = before.lowered(each.value)
        elif each.name in reasons:
            kept[each.name] = before.raised(each.value, reasons[each.name])
    write(root, kept)
    for name in sorted({*held, *kept}):
        if held.get(name) != kept.get(name):
            print(f"{name}: {held.get(name, 'nothing')} → {kept.get(name, 'nothing')}")
    refused = [each for name, each in higher.items() if name not in reasons]
    for each in refused:
        print(f"{each.name} was {held[each.name].most} and is {each.value}: not written")
        print(f"  help: python -m scripts.measures --raise {each.name}=REASON")
    return int(bool(refused))


def _is_way(name: str, measured: bool) -> bool:
    """Whether a measure belongs to the ways, and these were not measured."""
    return name.startswith("files-") and not measured


# ---- the command ------------------------------------------------------------------------------


def report(root: Path, texts: dict[str, str], measures: list[Measure]) -> None:
    """Print all measures, then the things counted."""
    held = held_in(root)
    for each in measures:
        bar = held.get(each.name)
        most = "" if bar is None or bar.most == each.value else f", held at {bar.most}"
        reason = f", raised from {bar.was}: {bar.why}" if bar and bar.was is not None else ""
        print(f"{each.value:6}  {each.what}  [{each.name}{most}{reason}]")
    lines: dict[str, int] = defaultdict(int)
    for path, text in texts.items():
        if is_product(path):
            lines[package_of(path)] += text.count("\n")
    each_package = ", ".join(f"{lines[package]} in {package}" for package in PACKAGES)
    print(f"{sum(lines.values()):6}  lines, not held: {each_package}")
    for each in measures:
        if each.listing:
            print(f"\n{each.what}: {each.value}")
            print("\n".join(f"  {line}" for line in each.listing))


def reason(text: str) -> tuple[str, str]:
    """Parse ``NAME=reason`` into both parts."""
    name, _, why = text.partition("=")
    if not name.strip() or not why.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=reason")
    return name.strip(), why.strip()


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="fail where a measure has risen")
    parser.add_argument("--keep", action="store_true", help=f"write lower ones to {HELD}")
    parser.add_argument(
        "--raise",
        dest="reasons",
        type=reason,
        action="append",
        metavar="NAME=REASON",
        help="keep, and write this one though it is higher",
    )
    parser.add_argument("--ways", action="store_true", help="run the three ways, too")
    asked = parser.parse_args(arguments)
    reasons, texts = dict(asked.reasons or ()), texts_of(root)
    keeps = asked.keep or bool(reasons)
    is_held = sys.version_info[:2] == WAYS_PYTHON
    ways = asked.ways and (is_held or not (asked.check or keeps))
    if asked.ways and not ways:
        print(f"left out: the three ways, held for Python {'.'.join(map(str, WAYS_PYTHON))} alone")
    try:
        measures = [*measured(texts), *(of_ways(root) if ways else ())]
        if keeps:
            return keep(root, measures, reasons, ways=ways)
    except Failed as failed:
        print(failed)
        return 1
    if asked.check:
        return check(root, measures)
    report(root, texts, measures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
