"""Writes the figures that docs/report.md keeps, since they take too long to measure with it."""

import json
import platform
from datetime import UTC, datetime


def keep(path, **figures):
    """Write figures to a file, with their day and the version of Python."""
    header = {"date": datetime.now(UTC).strftime("%Y-%m-%d"), "python": platform.python_version()}
    path.write_text(json.dumps({**header, **figures}, indent=1) + "\n")
