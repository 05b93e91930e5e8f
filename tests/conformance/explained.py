"""The inherent differences, each with its reason.

A row holds for one module and the tests that match a pattern (``*`` matches anything), in the first
half; or for one function, in the second. A row that no longer explains a difference is reported.
"""

import re
from typing import NamedTuple

ALL = "3.12 3.13 3.14 3.15"


class Row(NamedTuple):
    """One explained difference.

    what: a pattern for tests of the module, or for the functions counted in it.
    sometimes: it need not show in each run.
    """

    module: str
    what: str
    reason: str
    versions: str = ALL
    sometimes: bool = False

    def holds(self, module: str, what: str) -> bool:
        """Whether the row is about this test or function."""
        pattern = ".*".join(map(re.escape, self.what.split("*")))
        return module == self.module and re.fullmatch(pattern, what, re.DOTALL) is not None


_LIMIT = "comes to the limit of recursion, where the profiler comes to it, too"
_CALLER = "asks for its caller, which is the method that counts"

# Tests that take no part where functions are counted, by a part of their ids, each with its reason.
NOT_COUNTED = {
    "ecursi": _LIMIT,
    "_depth": _LIMIT,
    "deeply_nested": _LIMIT,
    "SystemRandom": "uses numbers that the system draws, which no seed repeats",
    "test_sort_unorderable_values": "sorts objects by their addresses",
    "test_unique_composite": "its threads race for making a member, which makes further calls",
    "test_pdb_set_trace": "natively it meets the profiler",
    "NewType": _CALLER,
    "_deprecation_for": _CALLER,
    "TestNamedTuple.test_factory": _CALLER,
    "TestSpecial.test_empty_globals": _CALLER,
}

UNCHANGED: list[Row] = []

_EMPTY = "a test hands empty variables to the threads that it starts, and these win"

REACHED: list[Row] = [
    Row("test_decimal", f"test.test_decimal:P.{name}", _EMPTY, "3.14 3.15")
    for name in ("Context.__init__", "Decimal._round_half_even")
]
