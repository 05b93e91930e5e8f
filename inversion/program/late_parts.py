"""Late-bound parts: what programs ask of the parts of inversion above them, which register it.

``inversion/__init__.py``, which knows all parts, binds the loaders.
"""

from __future__ import annotations

from overlay.core.late_binding import LateBound

__all__ = ["plans", "renderers"]

renderers: LateBound[None] = LateBound()
"""The registration of what shows programs, plans, inverses and solutions."""
plans: LateBound[object] = LateBound()
"""The registration of what plans structured statements."""
