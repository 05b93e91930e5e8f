"""Machine code is bound to the function that was compiled for it, whatever others bear its name.

LLVM's engine has one table of symbols for all modules of a process.
"""

import math
import os
import subprocess
import sys

import numpy as np
import pytest

from overlay import Context

# too large to be inlined, and with two arguments that it ignores
HELPER = "def helper(a, b, c):\n    s = {start}\n" + "".join(
    f"    if c > {i}.5: s = s * math.sin(s + {i}) + math.exp(-c * {i}) / (1.0 + s * s)\n"
    for i in range(40)
)
PROGRAMS = """
def with_address(x, k):
    return helper(x * 2, x, x + 1) + helper(3.0, 4.0, x) + FAR[k]

def without(x):
    return helper(x * 2, x, x + 1) + helper(x, x, x)
"""


def programs(start=0.0):
    names = {"math": math, "FAR": np.arange(300_000.0), "__name__": "programs"}
    exec(HELPER.format(start=start) + "    return s\n" + PROGRAMS, names)
    return names


def has_helper(compiled):
    """Whether the module of a compiled function has the helper as a function of its own."""
    lines = next(iter(compiled.inspect_llvm().values())).splitlines()
    return any(line.startswith("define") and "6helper" in line for line in lines)


def test_a_function_whose_ignored_arguments_were_dropped_is_not_called_by_others():
    """Code that holds an address of this process is optimised as one whole."""
    names = programs()
    first = Context().jit(names["with_address"])
    second = Context().jit(names["without"])  # of one world with ``first``, whose helper it calls
    assert first(1.5, 2) == pytest.approx(names["with_address"](1.5, 2), rel=1e-12)
    assert second(1.5) == pytest.approx(names["without"](1.5), rel=1e-12)
    assert has_helper(first)
    assert has_helper(second)


KEPT = """
import sys
from overlay import Context
from tests.overlay.compiled.test_symbols import has_helper, programs

kept = Context().jit(programs()["without"], cache=True)
print(repr(kept(1.5)), sum(kept.stats.cache_hits.values()))
if sys.argv[1:]:  # a helper of the name that the first process gave to its own
    other = programs(2.5)
    compiled = Context().jit(other["without"])
    print(repr(compiled(1.5)), repr(other["without"](1.5)), has_helper(compiled))
"""


def test_functions_in_code_on_disk_are_not_called_by_others(tmp_path):
    def run(*args):
        done = subprocess.run(
            [sys.executable, "-c", KEPT, *args],
            capture_output=True,
            text=True,
            env={**os.environ, "OVERLAY_CACHE_DIR": str(tmp_path)},
        )
        assert done.returncode == 0, done.stderr
        return [line.split() for line in done.stdout.splitlines()]

    ((made, hits),) = run()
    (found, later_hits), (compiled, plain, separate) = run("other")
    assert (hits, later_hits, separate) == ("0", "1", "True")
    assert found == made
    assert float(compiled) == pytest.approx(float(plain), rel=1e-12) != float(found)
