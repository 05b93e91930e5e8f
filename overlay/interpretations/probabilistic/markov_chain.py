"""The states of a Markov chain."""

from __future__ import annotations

from typing import Any

import numpy as np

from overlay.core.markup import code, listed, sheet, shown_value
from overlay.core.public_names import hides
from overlay.core.short_repr import counted
from overlay.interpretations.probabilistic.errors import refuse_unknown

__all__ = ["Chain"]


@hides("note", "note_many")
class Chain:
    """The choices after each step of a chain.

    ``chain[name]`` is an array of the values of one choice, masked where a run has no such
    choice; it raises UnknownSite if no run has it.

    Parameters
    ----------
    values : dict
        The initial values of the choices, by name.

    Attributes
    ----------
    accepted : int
        The number of accepted steps.
    reruns : int
        The number of steps for which the whole program ran.
    divergent : int
        The number of trajectories of ``hmc`` that diverged.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Bernoulli, metropolis_hastings, sample
    >>> chain = metropolis_hastings(lambda: sample("x", Bernoulli(1.0)), steps=3)
    >>> len(chain), chain.names, chain["x"].tolist()
    (3, ('x',), [True, True, True])
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self.steps = self.accepted = self.reruns = self.divergent = 0
        self._now = dict(values)
        self._changes: dict[str, list[tuple[int, Any]]] = {}
        for name, value in values.items():
            self._changes[name] = [(0, value)]

    def note(self, change: dict[str, Any] | tuple[str, Any] | None) -> None:
        """Add a step.

        Parameters
        ----------
        change : dict, (str, value) or None
            All choices after the step, or the changed choice with its value; None if nothing
            changed.
        """
        place = self.steps
        self.steps += 1
        if change is None:
            return
        self.accepted += 1
        if isinstance(change, tuple):
            name, value = change
            self._now[name] = value
            self._changes[name].append((place, value))
            return
        for name in self._now.keys() - change.keys():
            self._changes[name].append((place, _NONE))
        for name, value in change.items():
            if name not in self._now or self._now[name] is not value:
                self._changes.setdefault(name, []).append((place, value))
        self._now = dict(change)

    def note_many(self, steps: int, changes: dict[str, tuple[list[int], list[Any]]]) -> None:
        """Add some steps.

        Parameters
        ----------
        steps : int
            The number of steps.
        changes : dict
            For each changed choice the numbers of the steps, from 0, and the values after them.
        """
        for name, (places, values) in changes.items() if steps else ():
            self.accepted += len(places)
            self._now[name] = values[-1]
            self._changes[name] += [
                (self.steps + k, v) for k, v in zip(places, values, strict=True)
            ]
        self.steps += steps

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the choices of any step."""
        return tuple(self._changes)

    def __len__(self) -> int:
        return self.steps

    def __getitem__(self, name: str) -> Any:
        if name not in self._changes:
            refuse_unknown(name, self._changes, "chain[...]")
        changes = self._changes[name]
        known = [value for _, value in changes if value is not _NONE]
        parts = np.asarray(known)  # of values that are arrays or tuples, too
        values = np.empty((self.steps, *parts.shape[1:]), dtype=parts.dtype)
        missing = np.ones(values.shape, dtype=bool)
        ends = [*(place for place, _ in changes[1:]), self.steps]
        for (start, value), end in zip(changes, ends, strict=True):
            missing[start:end] = value is _NONE
            if value is not _NONE:
                values[start:end] = value
        return np.ma.masked_array(values, missing) if missing.any() else values

    def __repr__(self) -> str:
        choices = counted(len(self.names), "choice")
        return f"<Chain of {counted(self.steps, 'step')}, {self.accepted} accepted, {choices}>"

    def _repr_html_(self) -> str:
        choices = listed(("choice", "last", "mean", "deviation"), self.names, self._summary)
        more = f"{self.steps} steps, {self.accepted} accepted, {self.reruns} reruns"
        return sheet(
            "chain", "", more + (f", {self.divergent} divergent" if self.divergent else ""), choices
        )

    def _summary(self, name: str) -> tuple[object, ...]:
        """The cells of a choice: its last value; of numbers the mean and standard deviation."""
        last = self._changes[name][-1][1]
        cells = code(name), "" if last is _NONE else shown_value(last)
        values = self[name]
        if not self.steps or values.ndim > 1 or values.dtype.kind not in "biuf":
            return *cells, "", ""
        return *cells, f"{values.mean():.6g}", f"{values.std():.6g}"


class _None:
    """The class of the marker for a choice that a run does not have."""


_NONE = _None()
