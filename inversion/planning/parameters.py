"""The free choices of an inverse: named, typed coordinates."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inversion.errors import OutsideDomain, WrongArguments
from inversion.planning.repeated import Repeated, filled, size_of
from inversion.program.shown import html_of
from inversion.program.statements import renumbered
from inversion.program.variable_names import Label
from overlay.core.location import caller
from overlay.core.public_names import hides
from overlay.core.short_repr import cut, short_repr
from primitives import Domain

__all__ = ["Coordinates", "Parameter", "ParameterSpace"]


@hides("key", "label", "variable")
@dataclass(frozen=True)
class Parameter:
    """One free choice: a native value from a domain.

    Attributes
    ----------
    name
        The name of the coordinate.
    domain
        The values that it may take.
    line
        ``file:line`` of the statement it is for.
    rounding_only
        Whether it matters only where rounding maps several arguments to one result.
    label
        The parts of its name.
    key
        Its name in generated code, "" for ``name``.
    """

    name: str
    domain: Domain
    line: str
    rounding_only: bool = False
    label: Label = field(default=Label("", "", ""), compare=False)
    key: str = field(default="", compare=False)

    def __repr__(self) -> str:
        return short_repr("Parameter", f"{self.name}: {self.domain!r}", self.line)

    @property
    def variable(self) -> str:
        """The name in generated code."""
        return self.key or self.name

    def __str__(self) -> str:
        return f"{self.name}: {self.domain!r}   {self.line}"


@hides(*("check_known", "check_names", "chosen", "counted", "filled", "normal", "repeats", "wrong"))
class ParameterSpace:
    """The coordinates of an inverse, in the order of θ.

    The layout depends on the program and the argument types alone.

    Attributes
    ----------
    repeats
        Whether a coordinate holds a value for each iteration of a loop.

    Examples
    --------
    >>> from inversion import invert
    >>> space = invert(lambda x: x * x, float).parameters
    >>> space.names, space.default()
    (('negative_x',), (False,))
    """

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._parameters = tuple(parameters)
        self.repeats = any(isinstance(p.domain, Repeated) for p in self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self._parameters)

    def __getitem__(self, index: int) -> Parameter:
        return self._parameters[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ParameterSpace) and self._parameters == other._parameters

    def __hash__(self) -> int:
        return hash(self._parameters)

    def __repr__(self) -> str:
        return f"ParameterSpace({cut(', '.join(f'{p.name}: {p.domain!r}' for p in self))})"

    def _repr_html_(self) -> str:
        return html_of(self)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the coordinates."""
        return tuple(parameter.name for parameter in self)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The structured dtype of a record of one θ."""
        return np.dtype([(p.name, p.domain.dtype) for p in self])

    @property
    def optional(self) -> bool:
        """Whether θ is optional: each coordinate matters only for rounding."""
        return all(parameter.rounding_only for parameter in self)

    def default(self) -> tuple[Any, ...]:
        """The θ with the default of every coordinate."""
        return tuple(parameter.domain.default for parameter in self)

    @property
    def dimensions(self) -> int:
        """The number of numbers in a θ: ``len``, unless a choice is repeated in a loop, or is of an
        array.
        """
        return sum(size_of(parameter.domain) for parameter in self)

    def from_unit(self, u: Sequence[float] | NDArray[Any]) -> tuple[Any, ...]:
        """The θ for a point of the unit cube of ``dimensions``; a uniform point gives a sample.

        Raises
        ------
        WrongArguments
            The point has another number of dimensions.
        """
        if len(u) != self.dimensions:
            raise self.wrong(len(u), self.dimensions)
        values: list[Any] = []
        rest = list(map(float, u))
        for domain in (parameter.domain for parameter in self):
            own, rest = rest[: size_of(domain)], rest[size_of(domain) :]
            values.append(domain.from_unit(own if domain.dtype.shape else own[0]))
        return tuple(values)

    def records(self, thetas: Sequence[Any]) -> np.ndarray[Any, Any]:
        """An array of records of ``dtype``, from several θ, each a tuple or a record."""
        rows = [self.filled(self.normal(theta)) for theta in thetas]
        return np.array(rows, dtype=self.dtype)

    def filled(self, theta: tuple[Any, ...]) -> tuple[Any, ...]:
        """A θ whose repeated choices have a value for every iteration."""
        if not self.repeats:
            return theta
        return tuple(filled(p.domain, value) for p, value in zip(self, theta, strict=True))

    def compiled(self, theta: tuple[Any, ...]) -> tuple[Any, ...]:
        """A θ as compiled code takes it: repeated choices as arrays."""
        if not self.repeats:
            return theta
        return tuple(
            np.array(value, dtype=p.domain.dtype.base) if isinstance(p.domain, Repeated) else value
            for p, value in zip(self, self.filled(theta), strict=True)
        )

    def sample(self, rng: np.random.Generator, size: int | None = None) -> Any:
        """A random θ, a tuple; with ``size`` an array of records of ``dtype``.

        Unbounded domains follow the distributions that ``primitives.domains`` states.

        Parameters
        ----------
        rng
            The generator that it is drawn from.
        size
            The number of records; None for one tuple.
        """
        if size is None:
            return tuple(parameter.domain.sample(rng) for parameter in self)
        records = np.empty(size, dtype=self.dtype)
        for parameter in self:
            records[parameter.name] = parameter.domain.sample(rng, size)
        return records

    def normal(self, theta: Any) -> tuple[Any, ...]:
        """θ as a tuple of native values, from a tuple or a record.

        Raises
        ------
        WrongArguments
            The number of coordinates is wrong.
        OutsideDomain
            A value is outside its domain.
        """
        values = self.counted(theta)
        return tuple(_member(p, value) for p, value in zip(self, values, strict=True))

    def chosen(self, theta: Any) -> dict[str, Any]:
        """The given coordinates, by name, as native values.

        Parameters
        ----------
        theta
            A tuple or a record of all, a dict of some, or the value alone of a single parameter.

        Raises
        ------
        WrongArguments
            A name is unknown, with the nearest known ones, or the number of values is wrong.
        OutsideDomain
            A value is outside its domain.
        """
        if isinstance(theta, Mapping):
            self.check_known(theta)
            return {p.name: _member(p, theta[p.name]) for p in self if p.name in theta}
        if len(self) == 1 and self._is_alone(theta):
            return {self.names[0]: _member(self[0], theta)}
        return dict(zip(self.names, self.normal(theta), strict=True))

    def _is_alone(self, theta: Any) -> bool:
        """Whether a θ is the value of the only coordinate, not in a tuple or record."""
        if isinstance(theta, (np.void, np.ndarray)) and theta.dtype.names:
            return False
        if not isinstance(theta, (tuple, list)):
            return True
        (parameter,) = self._parameters
        in_tuple = len(theta) == 1 and parameter.domain.contains(theta[0])
        return not in_tuple and parameter.domain.contains(theta)

    def check_known(self, names: Iterable[str]) -> None:
        """Raise WrongArguments for a name of no coordinate, with the nearest ones."""
        for name in names:
            if name in self.names:
                continue
            near = difflib.get_close_matches(str(name), self.names, 3, 0.5)
            raise WrongArguments(
                f"θ has no coordinate {name!r}",
                where=caller(),
                notes=[("nearest", ", ".join(near))] if near else [],
                help=f"the coordinates are {', '.join(self.names)}"
                if len(self)
                else "there are no parameters: leave θ out",
            )

    def counted(self, theta: Any) -> tuple[Any, ...]:
        """θ as a tuple with the right number of values."""
        if isinstance(theta, (np.void, np.ndarray)) and theta.shape == () and theta.dtype.names:
            self.check_names(theta.dtype.names)
            return tuple(_native(theta[name]) for name in self.names)
        if not isinstance(theta, (tuple, list)) or len(theta) != len(self):
            raise self.wrong(len(theta) if isinstance(theta, (tuple, list)) else theta)
        return tuple(theta)

    def check_names(self, fields: Sequence[str]) -> None:
        """Raise WrongArguments unless a record has these coordinates as fields, in any order."""
        if set(fields) != set(self.names):
            raise WrongArguments(
                f"θ has {len(self)} coordinates ({', '.join(self.names)}); "
                f"the record has the fields {', '.join(fields)}",
                where=caller(),
                help="use the dtype inv.parameters.dtype",
            )

    def wrong(self, given: Any, numbers: int | None = None) -> WrongArguments:
        """The error for a wrong number of coordinates. numbers: the count with the elements of
        arrays.

        given: the number given, or the object that is no θ.
        """
        count = len(self) if numbers is None else numbers
        number = f"{count} coordinate" + ("s" if count != 1 else "")
        is_count = isinstance(given, int) and not isinstance(given, bool)
        got = (
            f"{given} {'was' if given == 1 else 'were'} given"
            if is_count
            else f"{given!r} is neither a tuple of them nor a record"
        )
        return WrongArguments(
            f"θ has {number} ({', '.join(self.names)}); {got}",
            where=caller(),
            notes=[("parameter", str(parameter)) for parameter in self],
            help="give some by name, or all as a tuple or a record of inv.parameters.dtype; those "
            "that are not given are searched for",
        )


def _native(value: Any) -> Any:
    """The field of a record as a Python object."""
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value


def _member(parameter: Parameter, value: Any) -> Any:
    """Convert a coordinate's value to its own type. Raises OutsideDomain."""
    try:
        if parameter.domain.contains(value):
            return parameter.domain.cast(value)
    except OverflowError:  # an integer beyond all floats
        pass
    raise OutsideDomain(
        f"θ.{parameter.name} = {value!r} is outside {parameter.domain!r}",
        where=caller(),
        notes=[("parameter", str(parameter))],
        help="inv.parameters.sample(rng) and .from_unit(u) stay inside",
    )


class Coordinates:
    """The coordinates of a mode, collected from the plans inside it, by name.

    axes: names that are taken. domains: of each coordinate. labels: of the coordinates that come
    from parameters of plans.
    """

    def __init__(self, axes: Iterable[str]) -> None:
        self.axes = frozenset(axes)
        self.domains: dict[str, Domain] = {}
        self.labels: dict[str, Label] = {}

    def add(self, wanted: str, domain: Domain, label: Label | None = None) -> str:
        """Add a coordinate; returns its name."""
        # a free variable inside has the name of an axis here
        wanted = f"free_{wanted}" if wanted in self.axes else wanted
        name = renumbered(wanted, {*self.domains, *self.axes})
        self.domains[name] = domain
        if label is not None:
            self.labels[name] = label
        return name

    def of(self, parameters: Iterable[Parameter]) -> dict[str, str]:
        """The coordinate for each parameter of a plan, by the parameter's name."""
        return {p.name: self.add(p.name, p.domain, p.label) for p in parameters}
