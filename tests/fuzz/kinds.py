"""The kinds of fuzzing: each draws a case for a seed, and checks it.

``draw(seed)`` returns a case that JSON can represent. ``check(case)`` counts what was reached, and
raises if something is wrong. ``count`` is the number of cases in a short campaign.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fuzz import (
    cache_files,
    callable_kinds,
    command_lines,
    inverse_programs,
    method_tables,
    nonsense_plugins,
    number_programs,
    program_edits,
    python_programs,
)

__all__ = ["KINDS", "Kind"]


@dataclass(frozen=True)
class Kind:
    """One kind. count: the number of cases in a short campaign."""

    draw: Callable[[int], dict[str, Any]]
    check: Callable[[dict[str, Any]], Counter]
    count: int


KINDS = {
    "python programs": Kind(python_programs.draw, python_programs.check, 300),
    "callables": Kind(callable_kinds.draw, callable_kinds.check, 300),
    "numeric programs": Kind(number_programs.draw, number_programs.check, 40),
    "inverses": Kind(inverse_programs.draw, inverse_programs.check, 300),
    "tables": Kind(method_tables.draw, method_tables.check, 2000),
    "edits": Kind(program_edits.draw, program_edits.check, 100),
    "cache files": Kind(cache_files.draw, cache_files.check, 100),
    "plugins": Kind(nonsense_plugins.draw, nonsense_plugins.check, 200),
    "command lines": Kind(command_lines.draw, command_lines.check, 1000),
}
