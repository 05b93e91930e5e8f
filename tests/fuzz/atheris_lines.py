"""Command lines drawn by atheris, which looks for words that reach more of the code.

    python -m tests.fuzz.atheris_lines --runs 20000 --seed 1 --json figures.json

What fails is printed and kept as by fuzz.py, and does not end the search. Says so where atheris,
of the extra "fuzz", is not installed.
"""

import argparse
import importlib
import importlib.util
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.fuzz import command_lines, fuzz

READ_WORDS = [
    *(
        "overlay.tools.command_line",
        "overlay.tools.named",
        "overlay.tools.terminal",
        "overlay.tools.whole_programs",
    ),
    "inversion.inverse_command",
]
SEPARATOR = "\n"


def main():
    asked = parsed()
    if importlib.util.find_spec("atheris") is None:
        print("command lines by atheris: left out, since it is not installed")
        return 0
    if asked.searching:
        search(asked)
    command = [sys.executable, "-m", "tests.fuzz.atheris_lines", *sys.argv[1:], "--searching"]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    found = json.loads(asked.json.read_text()) if asked.json.exists() else {}
    if not found.get("cases"):
        print(done.stderr, file=sys.stderr)
        return 1
    said = ", ".join(f"{key} {n}" for key, n in found["reached"].items())
    print(f"command lines by atheris: {found['cases']}, {len(found['failed'])} failed\n    {said}")
    return int(bool(found["failed"]))


def search(asked):
    """Search in this process, which atheris ends."""
    import atheris

    # numba compiles others of our functions, which it cannot once they are instrumented
    with atheris.instrument_imports(include=READ_WORDS):
        for name in READ_WORDS:
            importlib.import_module(name)
    found = Search(asked)
    with tempfile.TemporaryDirectory() as folder:
        for number, words in enumerate(command_lines.SEEDS):
            Path(folder, str(number)).write_text(SEPARATOR.join(words))
        limits = [f"-runs={asked.runs}", f"-seed={asked.seed}", "-max_len=300", "-verbosity=0"]
        atheris.Setup([sys.argv[0], *limits, folder], found.tried)
        atheris.Fuzz()


def parsed():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--json", type=Path, default=fuzz.ROOT / "build/proof/atheris.json", help="for the figures"
    )
    parser.add_argument("--searching", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


class Search:
    """Counter of the outcomes of lines; the figures are written at intervals, because the process
    ends in C.
    """

    def __init__(self, asked):
        self.asked = asked
        self.reached = Counter()
        self.failed = {}

    def tried(self, data):
        """One line that atheris has drawn."""
        package, *words = data.decode(errors="replace").replace("\0", "").split(SEPARATOR)
        case = {"package": "inversion" if package == "inversion" else "overlay", "arguments": words}
        try:
            self.reached += command_lines.check(case)
        except Exception as error:
            why = fuzz.described(error)
            if why not in self.failed:
                self.failed[why] = case
                print(f"{why}\n    {json.dumps(case)}", flush=True)
        if self.reached.total() + 20 >= self.asked.runs or self.reached.total() % 500 == 0:
            self.write()

    def write(self):
        """The figures so far."""
        cases = self.reached.total() + len(self.failed)
        figures = {
            "seed": self.asked.seed,
            "cases": cases,
            "reached": dict(self.reached.most_common()),
            "failed": [{"why": why, "case": case} for why, case in self.failed.items()],
        }
        self.asked.json.parent.mkdir(parents=True, exist_ok=True)
        self.asked.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
