"""Differentiates the programs of strangers, and compares what becomes of them with the table.

python -m tests.strangers.try_derivatives               what differs from the table
python -m tests.strangers.try_derivatives --only p01    of these alone
python -m tests.strangers.try_derivatives --write       renews the table
python -m tests.strangers.try_derivatives --keep docs/report/kept/derivative_programs.json
                                                        the counts, for the report
"""

import json
import sys

from scripts.kept_figures import keep
from tests.strangers.derivative_trials import FIRST, TABLE, counts, programs, table, tried, ways
from tests.strangers.stranger_trials import command_options


def main():
    options = command_options(__doc__.partition("\n")[0])
    before = table() if TABLE.exists() else {}
    found = {}
    for name, program in programs().items():
        if options.only and name not in options.only:
            continue
        found[name] = {way: tried(program, way) for way in ways}
        for way, said in found[name].items():
            if before.get(name, {}).get(way) != said or options.only:
                print(f"{name} {way:9} {said}", flush=True)
    print(", ".join(f"{name} {count}" for name, count in counts(found).items()))
    if options.keep:
        runs = {"first run": table(FIRST), "now": found}
        keep(options.keep, runs={name: counts(each) for name, each in runs.items()})
    if options.write:
        rows = [f" {json.dumps(n)}: {json.dumps(row)}" for n, row in {**before, **found}.items()]
        TABLE.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    return int(counts(found)["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())
