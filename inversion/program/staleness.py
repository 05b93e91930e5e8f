"""Whether what a function was read from has changed since: names, attributes, code, tables."""

from __future__ import annotations

from typing import Any

from inversion.program.statements import Program
from overlay import Context
from overlay.code.record import Reading, attribute_held, is_same

__all__ = ["Watch"]


class Watch:
    """Remembers what the functions of a program read when it was made, and the attributes of
    objects that stand in it as constants; listens to a context's tables."""

    def __init__(self, program: Program, context: Context | None) -> None:
        self._readings = [Reading(function) for function in program.functions]
        self._attributes = program.attributes
        self._changed = False
        for table in context.tables if context is not None else ():
            table.listen(self)

    def table_changed(self, target: Any) -> None:
        """Called by the tables."""
        self._changed = True

    @property
    def changed(self) -> bool:
        """Whether anything has changed, at any time that this was asked."""
        self._changed = (
            self._changed
            or any(reading.changed() for reading in self._readings)
            or any(
                not is_same(attribute_held(thing, name), value)
                for thing, name, value in self._attributes
            )
        )
        return self._changed

    @property
    def outdated(self) -> bool:
        """The same, or the contents of an array or list that was read. Looks at all of these."""
        self._changed = self.changed or any(reading.altered() for reading in self._readings)
        return self._changed
