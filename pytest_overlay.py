"""The option ``--overlay`` of pytest. It stands outside the package so that pytest, which loads
it first of all, does not import the package before a test suite's own import hooks are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--overlay``."""
    parser.getgroup("overlay").addoption(
        "--overlay",
        metavar="package.module:name",
        help="run each test, its fixtures and its doctests under this overlay.Context",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Registers the rest where the option is given."""
    name = config.getoption("--overlay")
    if name is not None:
        import overlay_dispatch

        overlay_dispatch.check("overlay")
        from overlay.tools.pytest_plugin import OverlayPlugin

        config.pluginmanager.register(OverlayPlugin(config, name), "overlay-run")
