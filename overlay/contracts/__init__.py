"""Checks for authors of plugins: the contracts that a plugin declares, tried on programs.

``plugin_contracts``: ``check_plugin``, and the error that it raises.
``sample_programs``: the programs that every plugin is tried on.
``watching_plugins``: plugins around the one that is checked, which see what it does to calls,
types and modules.
"""

from overlay.contracts.plugin_contracts import BrokenContract, CheckedPlugin, check_plugin
from overlay.core.public_names import completes

__all__ = ["BrokenContract", "CheckedPlugin", "check_plugin"]
__dir__ = completes(__all__)
