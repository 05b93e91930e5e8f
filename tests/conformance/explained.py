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
    columns: ``context``, ``implicit``, or both. sometimes: it need not show in each run.
    """

    module: str
    what: str
    reason: str
    versions: str = ALL
    columns: str = "context implicit"
    sometimes: bool = False

    def holds(self, module: str, what: str, column: str) -> bool:
        """Whether it speaks of this."""
        pattern = ".*".join(map(re.escape, self.what.split("*")))
        there = module == self.module and column in self.columns.split()
        return there and re.fullmatch(pattern, what, re.DOTALL) is not None


_PICKLED = "the C object holds what stands for a function, which pickles as nothing importable"
_OWN_CACHE = "a cached function has a cache of its own in a context, and unpickling is outside"
_OBJECTS = "counts the objects of the whole process, and the engine makes some"
_HIDDEN = (
    "asks for the variable of a comprehension in a module or class: code with such a hidden "
    "variable cannot be made from Python"
)
_LOOKED_UP = "asking who takes part looks up the attribute, and its __eq__ changes the class"
_VECTORCALL = "C code gives the function another entry, which the rewritten one does not have"
_COUNTED = "the counting method is its caller"

# Tests that no run takes part in, by the end of their ids, each with its reason.
LEFT_OUT = {
    "ExceptionTests.test_recursion_in_except_handler": "sets the recursion limit to its own depth, "
    "where the first call of a C function in a context needs a frame, and leaves it so",
}

_CACHED = [
    Row("test_typing", "SpecialAttrsTests.test_special_attrs*", _OWN_CACHE, columns="implicit"),
    Row("test_typing", "*.test_*_unpickling_unpacked_*", _OWN_CACHE, columns="implicit"),
]

UNCHANGED: list[Row] = [
    Row("test_builtin", "BuiltinTest.test_*_pickle", _PICKLED),
    Row("test_call", "TestPEP590.test_setvectorcall", _VECTORCALL, "3.12 3.13", "implicit"),
    Row("test_descr", "ClassPropertiesAndMethods.test_slots", _OBJECTS, sometimes=True),
    Row("test_descr", "*.test_type_lookup_mro_reference", _LOOKED_UP, columns="implicit"),
    *(
        Row("test_itertools", f"TestBasicOps.test_{name}", _PICKLED, columns="implicit")
        for name in ("dropwhile", "filter", "filterfalse", "groupby", "starmap", "takewhile")
    ),
    Row("test_listcomps", "ListComprehensionTest.test_frame_locals*", _HIDDEN, "3.12 3.13"),
    Row("test_listcomps", "ListComprehensionTest.test_iter_var_available*", _HIDDEN, "3.12 3.13"),
    Row("test_pickle", "*.test_compat_pickle*", _PICKLED, columns="implicit"),
    *_CACHED,
]

_IMPORTED = "modules that a test imports run their own code natively"
_NAMESPACE = "the names of a class body are stored by C code where its namespace is not a dict"
_PROFILED = "natively the profiler is in the way"
_SET = "the set looks for an equal element by itself"

REACHED: list[Row] = [
    *(
        Row("test_dataclasses", f"dataclasses:{name}", _IMPORTED, columns="implicit")
        for name in ("dataclass", "_process_class", "field", "Field.__init__")
    ),
    Row("test_enum", "enum:_EnumDict.__setitem__", _NAMESPACE, columns="implicit"),
    Row("test_statistics", "*:py_statistics.NormalDist.__eq__", _SET, columns="implicit"),
    Row(
        "test_doctest",
        "test_doctest.test_pdb_set_trace*",
        "natively they meet the profiler",
        "3.13",
    ),
    Row("test_collections", "collections:namedtuple", _COUNTED),
    Row("test_collections", "TestNamedTuple.test_factory", _COUNTED),
    *_CACHED,
]
