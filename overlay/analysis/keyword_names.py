"""Keys that dicts certainly hold, by which they are unpacked as keywords of a call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from overlay.analysis.kind_functions import Kinds
from overlay.analysis.object_contents import ObjectContents
from overlay.analysis.unpacked_arguments import python_function
from overlay.code.read_bodies import signature_of_code
from overlay.core.errors import near_names

__all__ = ["HeldNames"]


class HeldNames:
    """The keys that dicts certainly hold, by the place that makes them.

    Code that is not analysed may take keys out of a dict that it has: nothing is known of it, nor
    of one from which other code takes keys. The dict that a call gathers its keywords in is no
    other code's.
    """

    def __init__(self, contents: ObjectContents) -> None:
        self._contents = contents
        self._names: dict[Any, frozenset[str]] = {}
        self._gathered: set[Any] = set()
        self._lessened: set[Any] = set()

    def add(self, made: Any, names: Iterable[str]) -> None:
        """Note the keys of a dict that is made."""
        for site in made.sites or ():
            self._names[site] = frozenset(names)

    def gather(self, container: Any, other: Any) -> None:
        """Note that the keywords of a call are gathered from another dict, too."""
        sites = container.sites if isinstance(container, Kinds) else None
        for site in sites or ():
            self._gathered.add(site)
            self._names[site] = self._names.get(site, frozenset()) | self.of(other)

    def lessen(self, value: Any) -> None:
        """Note that keys are taken out of a dict."""
        if isinstance(value, Kinds):
            self._lessened |= value.sites or frozenset()

    def of(self, value: Any) -> frozenset[str]:
        """The keys that a value certainly holds."""
        sites = value.sites if isinstance(value, Kinds) else None
        found = [self._of_site(site) for site in sites or ()]
        return frozenset.intersection(*found) if found else frozenset()

    def _of_site(self, site: Any) -> frozenset[str]:
        whole = self._contents.follows(frozenset({site})) and site not in self._lessened
        return (
            self._names.get(site, frozenset()) if site in self._gathered or whole else frozenset()
        )

    def unexpected(self, function: Any, mapping: Any) -> tuple[Any, str, tuple[str, ...]] | None:
        """The function in Python, which a call enters, that does not take a keyword which is
        certainly unpacked, with that and the nearest of its own; None where there is none."""
        entered = python_function(function)
        if entered is None:
            return None
        plain, _ = entered
        parameters = signature_of_code(plain).parameters
        if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            return None
        placed = {n for n, p in parameters.items() if p.kind is p.POSITIONAL_ONLY}
        for name in sorted(self.of(mapping)):
            if name not in parameters or name in placed:
                return plain, name, near_names(name, parameters)
        return None
