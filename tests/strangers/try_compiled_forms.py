"""Differentiates, in compiled code, the forms of functions that numba compiles, and compares what
becomes of them with the table: by function, for each form the outcome, null where numba does not
compile the call itself.

python -m tests.strangers.try_compiled_forms                    what differs from the table
python -m tests.strangers.try_compiled_forms --only numpy.cov   of these alone
python -m tests.strangers.try_compiled_forms --write            renews the table
"""

import json
import sys

import numba
import numpy as np

from tests.strangers.derivative_trials import judged
from tests.strangers.differentiable_functions import FORMS
from tests.strangers.function_trials import COMPILED_OUTCOMES, compiled_share, exists, program_of
from tests.strangers.stranger_trials import command_options


def numba_has(form, *args):
    """Whether numba compiles a form, and computes what numpy does."""
    try:
        return np.allclose(numba.njit(form)(*args), form(*args))
    except Exception:  # of many classes, some of them Python's
        return False


def tried(form, *args):
    """The outcome of a form in compiled code; None if numba does not compile the form."""
    return judged(program_of(form, args), "compiled", *args) if numba_has(form, *args) else None


def main():
    options = command_options(__doc__.partition("\n\n")[0])
    before = json.loads(COMPILED_OUTCOMES.read_text()) if COMPILED_OUTCOMES.exists() else {}
    found = dict(before)
    for path in options.only or FORMS:
        if exists(path):
            found[path] = [tried(form, *args) for form, *args in FORMS[path]]
            if before.get(path) != found[path] or options.only:
                print(path, found[path], flush=True)
    found = {path: found[path] for path in FORMS}
    print("right, of the forms that numba compiles: {} of {}".format(*compiled_share(found)))
    if options.write:
        rows = [f" {json.dumps(path)}: {json.dumps(row)}" for path, row in found.items()]
        COMPILED_OUTCOMES.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    return int(any(str(said).startswith("wrong") for row in found.values() for said in row))


if __name__ == "__main__":
    sys.exit(main())
