"""Both forms of a batch, interpreted and compiled: each test runs with both."""

import contextlib

import pytest

from inversion.running.rows import RowsInverse
from overlay import NotCompilable
from overlay.core.background import Later


@pytest.fixture(params=["interpreted", "compiled"])
def form(request, monkeypatch):
    """Make batches run in one form."""
    if request.param == "interpreted":
        monkeypatch.setattr(Later, "is_made", False)
    else:
        fill = RowsInverse._fill

        def compiled(self, *args):
            if not self._is_changed():
                with contextlib.suppress(NotCompilable):  # then it is interpreted
                    self.compile()
            fill(self, *args)

        monkeypatch.setattr(RowsInverse, "_fill", compiled)
    return request.param
