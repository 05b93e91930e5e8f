"""Tries the programs of strangers, and compares what becomes of them with the table.

python -m tests.strangers.try_strangers                  what differs from the table
python -m tests.strangers.try_strangers --only scara bs  of these alone
python -m tests.strangers.try_strangers --write          renews the table
"""

import sys
import time

from tests.strangers.stranger_trials import TABLE, command_options, programs, table, tried, write


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
    accepted = [outcome for outcome in found.values() if not outcome.refused]
    answered = [outcome for outcome in accepted if outcome.without_theta == "answered"]
    exact = [outcome for outcome in accepted if outcome.recovered == "exact"]
    wrong = [outcome for outcome in accepted if outcome.wrong]
    print(
        f"{len(found)} programs: {len(accepted)} accepted, of these {len(answered)} answered "
        f"without θ, {len(exact)} recovered exactly, {len(wrong)} wrong"
    )
    if options.write:
        write({**before, **found}.values())
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
