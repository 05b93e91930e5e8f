"""Writes figures that docs/report.md quotes, but that take too long to measure with it."""

import json
import platform
from datetime import UTC, datetime


def keep(path, **figures):
    """Write figures to a file, with the date and the version of Python."""
    header = {"date": datetime.now(UTC).strftime("%Y-%m-%d"), "python": platform.python_version()}
    path.write_text(json.dumps({**header, **figures}, indent=1) + "\n")
