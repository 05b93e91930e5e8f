"""Abstract interpretation: proofs about programs, without running them.

>>> from overlay.analysis import array, prove
>>> def total(values):
...     found = 0.0
...     for i in range(len(values)):
...         found += values[i]
...     return found / len(values)
>>> [(site.kind, site.proved) for site in prove(total, array("n")).sites]
[('index', True), ('divisor', False)]

A custom domain is a subclass of ``Domain``: a lattice with a method table of transfer functions.
``Interpreter`` runs a function over it.

``interpreter``, ``execution``, ``fixed_point`` and ``abstract_state`` analyse the bodies that
``overlay.code`` reads over a ``lattice``, and give ``runs``. ``resolution``, ``static_dispatch``
and ``entered_bodies`` find the functions that run in a call.
Intervals: ``interval_domain``, ``interval_arithmetic``, ``interval_containers``,
``abstract_values``, ``machine_numbers``, ``element_access``, and ``proofs``, which uses them.
Types: ``kinds``, ``kind_functions``, and ``call_arguments``, which uses them to check calls.
The checker, ``program_checks``, runs over ``checked_types``: types with constants and
``object_contents``, of which ``content_rules``, ``builtin_results``, ``object_attributes``,
``attribute_names``, ``special_methods``, ``protocol_types``, ``protocol_checks``,
``generator_managers``, ``keyword_names``, ``step_rules`` and ``unpacked_arguments`` are parts.
"""

from typing import TYPE_CHECKING

from overlay.core.late_binding import lazy_names

if TYPE_CHECKING:
    from overlay.analysis.abstract_values import Number, array, floats, integers
    from overlay.analysis.call_arguments import CallError, CallErrors, check_calls
    from overlay.analysis.interpreter import Interpreter
    from overlay.analysis.interval_domain import Intervals
    from overlay.analysis.lattice import Domain, Lattice
    from overlay.analysis.program_checks import CheckerPlugin, Finding, Findings, check
    from overlay.analysis.proofs import Proofs, Site, prove, sites
    from overlay.analysis.runs import Run, Step

__all__ = [
    "CallError",
    "CallErrors",
    "CheckerPlugin",
    "Domain",
    "Finding",
    "Findings",
    "Interpreter",
    "Intervals",
    "Lattice",
    "Number",
    "Proofs",
    "Run",
    "Site",
    "Step",
    "array",
    "check",
    "check_calls",
    "floats",
    "integers",
    "prove",
    "sites",
]

# imported on first access: some need readable code, and intervals are of use on a Python version
# whose code cannot be read
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "abstract_values": ("Number", "array", "floats", "integers"),
        "call_arguments": ("CallError", "CallErrors", "check_calls"),
        "interpreter": ("Interpreter",),
        "interval_domain": ("Intervals",),
        "lattice": ("Domain", "Lattice"),
        "program_checks": ("CheckerPlugin", "Finding", "Findings", "check"),
        "proofs": ("Proofs", "Site", "prove", "sites"),
        "runs": ("Run", "Step"),
    },
)
