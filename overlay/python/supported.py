"""The Python versions that the engine knows. This module runs on any."""

from __future__ import annotations

import sys

from overlay.errors import UnsupportedPython

__all__ = ["SUPPORTED", "require_supported"]

SUPPORTED = ((3, 11), (3, 12), (3, 13))


def require_supported(version: tuple[int, int] = sys.version_info[:2]) -> None:
    """Raise UnsupportedPython for a version whose instructions are not known."""
    cpython = sys.implementation.name == "cpython"
    if version in SUPPORTED and cpython:
        return
    known = ", ".join(f"{major}.{minor}" for major, minor in SUPPORTED)
    name = "Python" if cpython else sys.implementation.name
    raise UnsupportedPython(
        f"overlays in ordinary code are not supported on {name} {version[0]}.{version[1]}",
        notes=[("supported", f"CPython {known}")],
        help="run on a supported version, compile with ctx.jit, or declare functions generic",
    )
