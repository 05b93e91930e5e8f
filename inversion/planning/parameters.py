"""The free choices of an inverse: named, typed coordinates."""

from __future__ import annotations

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
from overlay.core.errors import closest, near_names
from overlay.core.location import caller
from overlay.core.public_names import hides
from overlay.core.short_repr import counted, cut, short_repr
from primitives import Domain

__all__ = ["Coordinates", "Parameter", "ParameterSpace"]


@hides("key", "label", "variable")
@dataclass(frozen=True)
class Parameter:
    """One parameter of an inverse: a degree of freedom, with the domain of its values.

    Attributes
    ----------
    name : str
        The name of the coordinate of θ.
    domain : Domain
        The values that it may take.
    line : str
        ``file:line`` of the statement that leaves the choice.
    rounding_only : bool
        Whether it matters only where rounding maps several arguments to one result.
    label : Label
        The parts from which the name is made.
    key : str
        Its name in generated code; ``""`` if that is ``name``.

    Examples
    --------
    >>> from inversion import invert
    >>> (sign,) = invert(lambda x: x * x, float).parameters
    >>> sign.name, sign.domain
    ('negative_x', Bool)
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
    """The parameters of an inverse, in the order of θ: a sequence of ``Parameter``.

    It depends only on the program and the types of its arguments, not on values.

    Attributes
    ----------
    repeats : bool
        Whether a coordinate has a value for each iteration of a loop.

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
        """The structured dtype of a record of θ: a field for each coordinate."""
        return np.dtype([(p.name, p.domain.dtype) for p in self])

    @property
    def optional(self) -> bool:
        """Whether every coordinate matters only for rounding."""
        return all(parameter.rounding_only for parameter in self)

    def default(self) -> tuple[Any, ...]:
        """The θ with the default of every coordinate, a tuple."""
        return tuple(parameter.domain.default for parameter in self)

    @property
    def dimensions(self) -> int:
        """The number of numbers in θ. It is ``len``, unless a coordinate is an array or has a value
        for each iteration of a loop.
        """
        return sum(size_of(parameter.domain) for parameter in self)

    def from_unit(self, u: Sequence[float] | NDArray[Any]) -> tuple[Any, ...]:
        """Map a point of the unit cube to θ; a uniform random point gives a sample.

        Parameters
        ----------
        u : sequence of float
            ``dimensions`` numbers in [0, 1].

        Returns
        -------
        tuple
            θ.

        Raises
        ------
        WrongArguments
            There are not ``dimensions`` numbers.
        OutsideDomain
            A number is outside [0, 1].
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
        """Collect several θ in a structured array.

        Parameters
        ----------
        thetas : sequence of tuple or record
            The θ, one for each row.

        Returns
        -------
        ndarray
            A one-dimensional array of ``dtype``.

        Raises
        ------
        WrongArguments
            A θ has the wrong number of coordinates.
        OutsideDomain
            A value is outside its domain.
        """
        rows = [self.filled(self.normal(theta)) for theta in thetas]
        return np.array(rows, dtype=self.dtype)

    def filled(self, theta: tuple[Any, ...]) -> tuple[Any, ...]:
        """Extend the choices that a loop repeats to all iterations, with their defaults.

        Parameters
        ----------
        theta : tuple
            A complete θ, whose repeated choices may be shorter tuples.

        Returns
        -------
        tuple
            The extended θ.
        """
        if not self.repeats:
            return theta
        return tuple(filled(p.domain, value) for p, value in zip(self, theta, strict=True))

    def compiled(self, theta: tuple[Any, ...]) -> tuple[Any, ...]:
        """Convert θ to the form that compiled code takes.

        Parameters
        ----------
        theta : tuple
            A complete θ.

        Returns
        -------
        tuple
            θ, with an array for each choice that a loop repeats.
        """
        if not self.repeats:
            return theta
        return tuple(
            np.array(value, dtype=p.domain.dtype.base) if isinstance(p.domain, Repeated) else value
            for p, value in zip(self, self.filled(theta), strict=True)
        )

    def sample(self, rng: np.random.Generator, size: int | None = None) -> Any:
        """Draw a random θ, or an array of them.

        ``primitives.domains`` states the distribution for each kind of domain.

        Parameters
        ----------
        rng : numpy.random.Generator
            The random number generator.
        size : int, optional
            The number of records; by default one tuple is returned.

        Returns
        -------
        tuple or ndarray
            θ; with ``size`` a structured array of ``dtype``.
        """
        if size is None:
            return tuple(parameter.domain.sample(rng) for parameter in self)
        records = np.empty(size, dtype=self.dtype)
        for parameter in self:
            records[parameter.name] = parameter.domain.sample(rng, size)
        return records

    def normal(self, theta: Any) -> tuple[Any, ...]:
        """Convert θ, a tuple or a record, to a tuple of native values.

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
        """The coordinates that a user gives, by name, as native values.

        Parameters
        ----------
        theta
            A tuple or a record of all coordinates, a dict of some, or the value of the only one.

        Raises
        ------
        WrongArguments
            A name is unknown, or the number of values is wrong.
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
        """Return whether θ is the value of the only coordinate, outside a tuple or record."""
        if isinstance(theta, (np.void, np.ndarray)) and theta.dtype.names:
            return False
        if not isinstance(theta, (tuple, list)):
            return True
        (parameter,) = self._parameters
        in_tuple = len(theta) == 1 and parameter.domain.contains(theta[0])
        return not in_tuple and parameter.domain.contains(theta)

    def check_known(self, names: Iterable[str]) -> None:
        """Raise WrongArguments for a name that no coordinate has, with the nearest ones."""
        for name in names:
            if name in self.names:
                continue
            near = near_names(str(name), self.names)
            raise WrongArguments(
                f"θ has no coordinate {name!r}",
                where=caller(),
                notes=closest(near),
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
        """Raise WrongArguments unless a record has a field for each coordinate, in any order."""
        if set(fields) != set(self.names):
            raise WrongArguments(
                f"θ has {counted(len(self), 'coordinate')} ({', '.join(self.names)}); "
                f"the record has the fields {', '.join(fields)}",
                where=caller(),
                help="use the dtype inv.parameters.dtype",
            )

    def wrong(self, given: Any, numbers: int | None = None) -> WrongArguments:
        """The error for a wrong number of coordinates.

        given: the number given, or the object that is not a θ. numbers: the required number, if the
        elements of arrays count.
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
            help="give all as a tuple or a record of inv.parameters.dtype, or some by name: the "
            "call searches for the others",
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
        help="give a value of this domain; inv.parameters.sample(rng) draws a θ",
    )


class Coordinates:
    """The coordinates of a mode, collected from the plans inside it, by name.

    axes: names that are taken. domains: the domain of each coordinate. labels: the labels of
    coordinates that come from parameters of plans.
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
