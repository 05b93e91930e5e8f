"""How far a long batch has come: a bar, or a function that is told."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from inversion.errors import MissingPackage, WrongArguments
from overlay.location import caller

__all__ = ["Progress", "Report", "reported"]

Report = Callable[[int, int], object]
"""Takes how many rows are done, and how many there are."""

Progress = bool | Report


@contextmanager
def reported(progress: Progress, total: int, name: str) -> Generator[Report | None, None, None]:
    """What is told of rows that are done; None where nobody asked. A bar is closed at the end.

    progress: ``True`` for a bar by tqdm; a function that takes the numbers of rows done and of all.
    Raises MissingPackage where tqdm is not installed.
    """
    if progress is True:
        with _bar(total, name) as bar:
            yield lambda done, _: bar.update(done - bar.n)
    elif progress is False or progress is None:
        yield None
    elif callable(progress):
        yield progress
    else:
        raise WrongArguments(
            f"progress is True, False, or a function of two numbers, not {progress!r}",
            where=caller(),
            help="give progress=True, or progress=lambda done, total: ...",
        )


def _bar(total: int, name: str) -> Any:
    try:
        tqdm: Any = importlib.import_module("tqdm.auto").tqdm
    except ModuleNotFoundError as error:
        raise MissingPackage(
            "progress=True shows a bar by tqdm, which is not installed",
            where=caller(),
            help='pip install "overlay-dispatch[progress]", or give a function of two numbers',
        ) from error
    return tqdm(total=total, desc=name, unit="row", unit_scale=True)
