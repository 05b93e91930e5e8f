"""The differences that are inherent, each with its reason.

A row holds for one module and the tests that match a pattern (``*`` stands for anything), in the
first half; or for one function, in the second. A row that explains nothing any more is reported.
"""

import re
from typing import NamedTuple

ALL = "3.12 3.13"


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
        """Whether it speaks of this."""
        pattern = ".*".join(map(re.escape, self.what.split("*")))
        return module == self.module and re.fullmatch(pattern, what, re.DOTALL) is not None


_OWN_CACHE = "a cached function has a cache of its own in a context"
_OBJECTS = "counts the objects of the whole process, and the engine makes some"
_COUNTED = "the counting method is its caller"

# Tests that no run takes part in, by the end of their ids, each with its reason.
LEFT_OUT = {
    "ExceptionTests.test_recursion_in_except_handler": "sets the recursion limit to its own depth, "
    "where the first call of a C function in a context needs a frame, and leaves it so",
}

UNCHANGED: list[Row] = [
    Row("test_descr", "ClassPropertiesAndMethods.test_slots", _OBJECTS, sometimes=True),
]

_IMPORTED = "modules that a test imports run their own code natively"
_BY_ADDRESS = "sorts objects by their addresses, which differ from run to run"

REACHED: list[Row] = [
    *(
        Row("test_dataclasses", f"dataclasses:{name}", _IMPORTED)
        for name in ("dataclass", "_process_class", "field", "Field.__init__")
    ),
    Row("test_enum", "enum:_EnumDict.__setitem__", _COUNTED),
    Row("test_pprint", "pprint:_safe_key.__lt__", _BY_ADDRESS, sometimes=True),
    Row(
        "test_doctest",
        "test_doctest.test_pdb_set_trace*",
        "natively they meet the profiler",
        "3.13",
    ),
    Row("test_collections", "collections:namedtuple", _COUNTED),
    Row("test_collections", "TestNamedTuple.test_factory", _COUNTED),
    Row("test_typing", "typing:_type_check", _OWN_CACHE),
    Row("test_typing", "typing:_GenericAlias.__init__", _OWN_CACHE),
]
