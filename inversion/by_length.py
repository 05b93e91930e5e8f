"""Inverses of functions that iterate over strings, bytes or lists of unknown length.

There is one plan for each length; its unknowns are the items. To find the length of an argument,
the function runs on arguments of each length: its result has to be as long as the known one. If a
function splits a string at separator characters (marks), as ``split`` does, the plan also depends
on their positions: a template holds the marks, with None for all other characters.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from inversion.errors import NoSolution, NotInvertible, WrongArguments
from inversion.inverse import Inverse, check_bounds
from inversion.lifting.lifter import Template
from inversion.planning.parameters import Parameter, ParameterSpace
from inversion.program.trees import Node, Tree
from inversion.running.progress import Progress
from inversion.solving.solutions import Solutions
from overlay.core.location import caller
from primitives import Domain, Integers
from primitives.domains import ByteStrings, Strings, domain_of
from primitives.relation import RETURN
from primitives.sequences.lists import Lists, is_list

__all__ = ["InverseByLength", "by_length"]

MOST_MADE = 40
"""The largest number of plans that one call makes or tries."""
MOST_RUNS = 20_000
"""The largest number of times that one call runs the function to find a length."""
LONGEST = 64
"""The longest argument that is tried if the result has no length."""
MOST_MARKS = 8
"""The largest number of marks in one argument."""
SAMPLES = ("az", "09", "AZ", "af", "  ")
"""Pairs of characters with which arguments are filled."""

Shapes = Mapping[str, Template]
Make = Callable[[Shapes, set[str]], Inverse]


def by_length(
    function: Callable[..., Any],
    inputs: Sequence[tuple[str, Tree]],
    known: Sequence[str],
    domains: Mapping[str, Domain],
    make: Make,
) -> InverseByLength | None:
    """The inverse of a function with a plan for each length of its arguments; None if no argument
    has a length, or if the first lengths have no plan.
    """
    names = [n for n, tree in inputs if not isinstance(tree, Node) and _has_length(tree)]
    if not names:
        return None
    lengths = Lengths(function, inputs, names, known, domains)
    marks: set[str] = set()
    tried: set[tuple[Template, ...]] = set()
    for _ in range(2):  # a second time, with the marks that the first plans found
        for shapes in itertools.islice(lengths.first(marks), 3):
            key = tuple(shapes.values())
            if key in tried:
                continue
            tried.add(key)
            try:
                first = make(shapes, marks)
            except NotInvertible:
                continue
            return InverseByLength(first, shapes, lengths, make, marks)
        if not marks:
            break
    return None


def _has_length(kind: Any) -> bool:
    return kind in (str, bytes) or is_list(kind)


class InverseByLength(Inverse):
    """An inverse with a plan for each length of strings, bytes and lists among the arguments.

    θ begins with the length, or the template, of each of these arguments that is unknown. The
    coordinates of the plan follow. Plans are cached.
    """

    def __init__(
        self, first: Inverse, shapes: Shapes, lengths: Lengths, make: Make, marks: set[str]
    ) -> None:
        super().__init__(first.definition, first.request)
        self._lengths = lengths
        self._make = make
        self._marks = marks
        self._made: dict[tuple[Template, ...], Inverse | None] = {tuple(shapes.values()): first}

    @property
    def parameters(self) -> ParameterSpace:
        """The lengths of the unknown arguments; in θ the coordinates of the plan follow them."""
        where = self._definition.where
        return ParameterSpace(
            [Parameter(f"length_of_{n}", Integers(0, None), where) for n in self._lengths.unknown]
        )

    def at(self, *templates: int | Template) -> Inverse:
        """The inverse for arguments of these lengths, or with these templates.

        Parameters
        ----------
        *templates : int or sequence
            The length, or the template, of each string, bytes and list among the arguments, in
            order.

        Returns
        -------
        Inverse
            The inverse.

        Raises
        ------
        NotInvertible
            The function cannot be inverted for these lengths.

        Examples
        --------
        >>> from inversion import invert
        >>> def turned(text: str):
        ...     return "".join(chr((ord(c) - 97 + 13) % 26 + 97) for c in text)
        >>> invert(turned).at(3)("nop")
        ('abc',)
        """
        every = tuple((None,) * t if isinstance(t, int) else tuple(t) for t in templates)
        if len(every) != len(self._lengths.names):
            raise WrongArguments(
                f"at takes a length for each of {', '.join(self._lengths.names)}; "
                f"{len(every)} {'was' if len(every) == 1 else 'were'} given",
                where=caller(),
                help="give the length of each of these arguments, in this order",
            )
        found = self._made.get(every)
        if found is None:
            shapes = dict(zip(self._lengths.names, every, strict=True))
            found = self._made[every] = self._make(shapes, self._marks)
        return found

    def __call__(self, *values: Any, theta: Any = None, **named: Any) -> tuple[Any, ...]:
        """The unknown axes for known values, as of any inverse; see ``Inverse``.

        Without θ the call searches for the lengths. It begins with those for which the result of
        the function is as long as the known one.
        """
        count = len(self.known) - sum(axis in named for axis in self.known)
        if len(values) == count + 1 and theta is None:
            values, theta = values[:-1], values[-1]
        if len(values) != count:
            raise WrongArguments(
                f"{self!r} takes {', '.join(self.known)}, and θ", where=caller(),
                help="give each known value once, in this order",
            )  # fmt: skip
        given = dict(zip(self.known, values, strict=False))
        given |= {axis: value for axis, value in named.items() if axis in self.known}
        rest = {name: value for name, value in named.items() if name not in self.known}
        values = tuple(given[axis] for axis in self.known)
        if theta is not None:
            theta = tuple(theta) if isinstance(theta, (tuple, list)) else (theta,)
            count = len(self._lengths.unknown)
            inverse = self.at(*self._lengths.of(given, theta[:count], self._marks))
            return inverse(*values, theta[count:], **rest) if theta[count:] else inverse(*values)
        refused: NoSolution | WrongArguments | None = None
        for inverse in self._plans(given):
            try:
                return inverse(*values, **rest)
            except (NoSolution, WrongArguments) as error:  # the result may have another length
                refused = error
        raise NoSolution(
            f"no solution of {self.origin.name} was found for the lengths that were tried",
            where=self.origin.where,
            notes=[] if refused is None else [("the last", refused.asked)],
            help="declare the lengths of the arguments, as in "
            f"domain={{{self._lengths.example}}}, or give them as θ, as recover has them",
            searched=f"{MOST_MADE} lengths at most",
        )

    def _plans(self, given: Mapping[str, Any]) -> Iterator[Inverse]:
        """The plans that may have a solution for known values, the most likely ones first."""
        seen: set[tuple[Template, ...]] = set()
        for shapes in self._lengths.likely(given, self._marks):
            key = tuple(shapes.values())
            if key in seen:
                continue
            seen.add(key)
            if len(seen) > MOST_MADE:
                return
            if key not in self._made:
                try:
                    self._made[key] = self._make(shapes, self._marks)
                except NotInvertible:
                    self._made[key] = None
            found = self._made[key]
            if found is not None:
                yield found

    def recover(self, *args: Any) -> tuple[Any, ...]:
        """The θ for which the inverse returns these inputs: the lengths or templates of those that
        are unknown, then the coordinates of the plan.
        """
        given = dict(zip(self.axes.inputs, args, strict=True))
        templates = self._lengths.of(given, (), self._marks)
        inverse = self.at(*templates)
        again = self._lengths.of(given, (), self._marks)  # making a plan may find more marks
        if again != templates:
            templates, inverse = again, self.at(*again)
        pairs = zip(self._lengths.names, templates, strict=True)
        lengths = (
            template if any(item is not None for item in template) else len(template)
            for name, template in pairs
            if name in self._lengths.unknown
        )
        return (*lengths, *inverse.recover(*args))

    def solutions(
        self,
        *known: Any,
        limit: int | None = None,
        timeout: float | None = None,
        progress: Progress = False,
    ) -> Solutions:
        """All solutions with arguments of likely lengths, one length after the other; see
        ``Inverse``. The status says that other lengths are not ruled out.
        """
        check_bounds(limit, timeout)
        plans = self._plans(dict(zip(self.known, known, strict=True)))
        return Solutions(self, known, limit, timeout, progress, plans)


class Lengths:
    """The arguments of a function that have lengths, with runs of the function on them.

    names: the names of these arguments. unknown: those that are not known.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        inputs: Sequence[tuple[str, Tree]],
        names: Sequence[str],
        known: Sequence[str],
        domains: Mapping[str, Domain],
    ) -> None:
        self.function = function
        self.kinds = dict(inputs)
        self.names = list(names)
        self.unknown = [name for name in names if name not in known]
        self.domains = domains

    @property
    def example(self) -> str:
        """The declaration of the length of an unknown argument, for messages."""
        name = (self.unknown or self.names)[0]
        kind = self.kinds[name]
        declared = {str: "Strings('abc', 8, 8)", bytes: "ByteStrings(8, 8)"}
        return f"{name!r}: {declared.get(kind, 'Lists(Real, 8)')}"

    def of(
        self, given: Mapping[str, Any], chosen: Sequence[Any], marks: set[str]
    ) -> tuple[Template, ...]:
        """The templates of all arguments that have lengths: of the given ones, and those chosen."""
        left = iter(chosen)
        found: list[Template] = []
        for name in self.names:
            if name in given:
                found.append(tuple(_mark(item, marks) for item in given[name]))
            else:
                template = next(left)
                found.append((None,) * template if isinstance(template, int) else template)
        return tuple(found)

    def first(self, marks: set[str]) -> Iterator[Shapes]:
        """Shapes for which the function runs, the shortest first."""
        count = len(self.names)
        for least in (2, 1):  # one item shows less of the function than several
            for size in range(least, LONGEST):
                sizes = [self._allowed(name, size) for name in self.names]
                shapes = {n: (None,) * k for n, k in zip(self.names, sizes, strict=True)}
                if self._results(shapes, {}):
                    yield shapes
        if marks:
            for total in range(3, 4 * count + 20):
                for template in _marked(total, marks, 2000):
                    shapes = dict.fromkeys(self.names, template)
                    if self._results(shapes, {}):
                        yield shapes
        for size in (2, 1):
            yield {name: (None,) * self._allowed(name, size) for name in self.names}

    def _allowed(self, name: str, size: int) -> int:
        low, high = self._bounds(name)
        return max(low, size if high is None else min(size, high))

    def _bounds(self, name: str) -> tuple[int, int | None]:
        domain = self.domains.get(name)
        if isinstance(domain, (Strings, ByteStrings)):
            return domain.low, domain.high
        if isinstance(domain, Lists) and domain.length is not None:
            return domain.length, domain.length
        return 0, None

    def likely(self, given: Mapping[str, Any], marks: set[str]) -> Iterator[Shapes]:
        """Shapes of the unknown arguments; first those for which the result of the function is as
        long as the known one, and agrees with it.
        """
        wanted = given.get(RETURN)
        most = LONGEST if size_of(wanted) is None else 2 * (size_of(wanted) or 0) + 16
        runs = 0
        later: list[Shapes] = []
        sizes: list[tuple[int, ...]] = []
        ranges = [self._range(name, most) for name in self.unknown]
        every = sorted(itertools.product(*ranges), key=sum) if len(ranges) > 1 else None
        for chosen in every or itertools.product(*ranges):
            runs += 1
            if runs > MOST_RUNS:
                break
            shapes = dict(zip(self.names, self.of(given, chosen, marks), strict=True))
            fit = self._fit(shapes, given, wanted)
            if fit is None:
                later.append(shapes)
            elif fit:
                sizes.append(chosen)
                yield shapes
            elif marks and self._is_as_long(shapes, given, wanted):
                sizes.insert(0, chosen)
            elif marks:
                sizes.append(chosen)
        if marks and len(self.unknown) == 1:
            for (size,) in sizes or list(itertools.product(*ranges)):
                for template in _marked(size, marks, MOST_RUNS):
                    runs += 1
                    if runs > MOST_RUNS:
                        return
                    shapes = dict(zip(self.names, self.of(given, (template,), marks), strict=True))
                    if self._fit(shapes, given, wanted):
                        yield shapes
        yield from later

    def _range(self, name: str, most: int) -> range:
        low, high = self._bounds(name)
        return range(max(low, 1), (max(most, low) if high is None else high) + 1)

    def _fit(self, shapes: Shapes, given: Mapping[str, Any], wanted: Any) -> bool | None:
        """Return whether the known result is possible for these shapes; None if the function runs
        on none of the sample arguments.
        """
        pairs = self._results(shapes, given)
        if not pairs:
            return None
        if RETURN not in given:
            return True
        return any(_may_be(one, other, wanted) for one, other in pairs)

    def _is_as_long(self, shapes: Shapes, given: Mapping[str, Any], wanted: Any) -> bool:
        """Return whether results for these shapes are as long as the known one."""
        return any(size_of(one) == size_of(wanted) for one, _ in self._results(shapes, given))

    def _results(self, shapes: Shapes, given: Mapping[str, Any]) -> list[tuple[Any, Any]]:
        """The results for pairs of sample arguments of these shapes, where the function runs on
        both.
        """
        found: list[tuple[Any, Any]] = []
        for pair in SAMPLES:
            try:
                one, other = (self._run(shapes, given, letter) for letter in pair)
            except Exception:  # of the function, for arguments that it does not accept
                continue
            found.append((one, other))
        return found

    def _run(self, shapes: Shapes, given: Mapping[str, Any], letter: str) -> Any:
        args: list[Any] = []
        for name, kind in self.kinds.items():
            if name in given:
                args.append(given[name])
            elif name in shapes:
                args.append(self._sample(name, kind, shapes[name], letter))
            else:
                domain = self.domains.get(name) or domain_of(kind)
                if domain is None:
                    raise TypeError
                args.append(domain.default)
        return self.function(*args)

    def _sample(self, name: str, kind: Any, template: Template, letter: str) -> Any:
        domain = self.domains.get(name)
        if kind is str:
            if isinstance(domain, Strings) and domain.alphabet and letter not in domain.alphabet:
                letter = domain.alphabet[0] if letter < "M" else domain.alphabet[-1]
            return "".join(letter if item is None else item for item in template)
        if kind is bytes:
            return bytes(ord(letter) if item is None else item for item in template)
        element = domain.element if isinstance(domain, Lists) else domain_of(kind.element)
        assert element is not None
        return [element.default if item is None else item for item in template]


def size_of(value: Any) -> int | None:
    """The length of a result; None if it has none."""
    return len(value) if isinstance(value, (str, bytes, bytearray, list, tuple)) else None


def _may_be(one: Any, other: Any, wanted: Any) -> bool:
    """Return whether a known result is possible for arguments of the same shape as two that ran: it
    has their length, and agrees with the items that both results have in common.
    """
    sizes = [size_of(value) for value in (one, other, wanted)]
    if sizes[2] is None or sizes[0] != sizes[1]:
        return sizes[0] == sizes[1] or sizes[2] is not None
    if sizes[0] != sizes[2]:
        return False
    return not isinstance(wanted, bytes) or all(
        c == w for a, b, w in zip(one, other, wanted, strict=True) if (c := a) == b
    )


def _mark(item: Any, marks: set[str]) -> Any:
    return item if isinstance(item, str) and item in marks else None


def _marked(size: int, marks: set[str], most: int) -> Iterator[Template]:
    """Templates of one length with marks, those with few marks first."""
    found = (
        tuple(dict(zip(places, chosen, strict=True)).get(i) for i in range(size))
        for count in range(1, min(size, MOST_MARKS) + 1)
        for places in itertools.combinations(range(size), count)
        for chosen in itertools.product(sorted(marks), repeat=count)
    )
    return itertools.islice(found, most)
