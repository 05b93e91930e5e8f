"""The differences that are inherent, each with its reason.

A row holds for one module and the tests that match a pattern (``*`` stands for anything), in the
first half; or for one function, in the second. A row that explains nothing any more is reported.
"""

import re
from typing import NamedTuple

ALL = "3.11 3.12 3.13"


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


_PICKLED = "the C object holds the rewritten function, which pickles as nothing importable"
_FRAME = "reads its caller's frame, and a class called in a context is one frame deeper"
_COUNTED = "the counting method is its caller"

# tests of typing that make type variables, which ask what module they are made in
_MADE_IN_A_MODULE = (
    "CollectionsCallableTests.test_pickle*",
    "TypingCallableTests.test_pickle*",
    "GenericTests.test_immutability_by_copy_and_pickle*",
    "TypeVarTuplePicklingTests.test_*",
)
_TYPING = [
    *(Row("test_typing", what, _FRAME, "3.11") for what in _MADE_IN_A_MODULE),
]

UNCHANGED: list[Row] = [
    Row("test_asyncio.test_futures", "PyFutureTests.test_future_source_traceback", _FRAME),
    Row("test_asyncio.test_tasks", "PyTask_*.test_task_source_traceback", _FRAME),
    Row("test_builtin", "BuiltinTest.test_*_pickle", _PICKLED),
]

REACHED: list[Row] = [
    Row("test_collections", "collections:namedtuple", _COUNTED),
    Row("test_collections", "TestNamedTuple.test_factory", _COUNTED),
    *_TYPING,
]
