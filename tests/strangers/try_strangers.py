"""Tries the programs of strangers, and compares what becomes of them with the table.

python -m tests.strangers.try_strangers                  what differs from the table
python -m tests.strangers.try_strangers --only scara bs  of these alone
python -m tests.strangers.try_strangers --write          renews the table
python -m tests.strangers.try_strangers --keep docs/report/kept/programs_to_invert.json
                                                         the counts, for the report
"""

import sys
import time

from scripts.kept_figures import keep
from tests.strangers.stranger_trials import (
    FIRST,
    TABLE,
    command_options,
    counts,
    programs,
    table,
    tried,
    write,
)


def main():
    options = command_options(__doc__.partition("\n")[0])
    before = table() if TABLE.exists() else {}
    found = {}
    for name, program in programs().items():
        if options.only and name not in options.only:
            continue
        begin = time.perf_counter()
        found[name] = outcome = tried(program)
        mark = " " if before.get(name) == outcome else "*"
        said = outcome.refused or f"{outcome.without_theta}; {outcome.recovered} {outcome.wrong}"
        print(f"{mark} {name:20} {time.perf_counter() - begin:6.1f} s  {said}", flush=True)
    print(", ".join(f"{name} {count}" for name, count in counts([*found.values()]).items()))
    if options.keep:
        runs = {"first run": [*table(FIRST).values()], "now": [*found.values()]}
        keep(options.keep, runs={name: counts(each) for name, each in runs.items()})
    if options.write:
        write({**before, **found}.values())
    return int(any(outcome.wrong for outcome in found.values()))


if __name__ == "__main__":
    sys.exit(main())
