"""Progress of a long batch or search: a progress bar, or a callback."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from inversion.errors import MissingPackage, WrongArguments
from overlay.core.location import caller

__all__ = ["Progress", "Report", "SearchProgress", "reported"]

Report = Callable[[int, int], object]
"""Callback with the number of rows done, and of all rows."""

Progress = bool | Report


@contextmanager
def reported(progress: Progress, total: int, name: str) -> Generator[Report | None, None, None]:
    """The callback for finished rows; None if there is none. A bar is closed at the end.

    progress: ``True`` for a bar by tqdm; or a function of the numbers of finished rows and of all
    rows. Raises MissingPackage if tqdm is not installed.
    """
    if progress is True:
        with _bar(total, name, "row") as bar:
            yield lambda done, _: bar.update(done - bar.n)
    else:
        yield _told(progress, "done, total")


class SearchProgress:
    """Progress of a search of unknown length.

    progress: ``True`` for a bar by tqdm that counts the branches found and the steps taken; or a
    function of both numbers. limit: the largest number of branches. The bar is shown from the first
    step on. Raises MissingPackage if tqdm is not installed.
    """

    def __init__(self, progress: Progress, limit: int | None, name: str) -> None:
        self._bar: Any = None
        self._tell: Report | None = None
        if progress is True:
            self._bar = _bar(limit, name, "branch")
        else:
            self._tell = _told(progress, "found, steps")

    def __call__(self, found: int, steps: int) -> None:
        """Report the number of branches found, and of steps taken."""
        if self._bar is not None:
            self._bar.set_postfix(steps=steps, refresh=False)
            self._bar.update(found - self._bar.n)
        elif self._tell is not None:
            self._tell(found, steps)

    def close(self) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.close()


def _told(progress: Progress, takes: str) -> Report | None:
    """The callback; None if there is none."""
    if progress is False or progress is None:
        return None
    if callable(progress):
        return progress
    raise WrongArguments(
        f"progress is True, False, or a function of two numbers, not {progress!r}",
        where=caller(),
        help=f"give progress=True, or progress=lambda {takes}: ...",
    )


def _bar(total: int | None, name: str, unit: str) -> Any:
    try:
        tqdm: Any = importlib.import_module("tqdm.auto").tqdm
    except ModuleNotFoundError as error:
        raise MissingPackage(
            "progress=True shows a bar by tqdm, which is not installed",
            where=caller(),
            help='pip install "overlay-dispatch[progress]", or give a function of two numbers',
        ) from error
    return tqdm(total=total, desc=name, unit=unit, unit_scale=True)
