"""Intervals as numbers in programs."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from overlay import Context, nonoverlay, sets, tables_in_force
from overlay.catalogue import FUNCTIONS
from overlay.contexts.rules_alone import as_c_calls, rules_alone
from overlay.core.in_force import methods_run_natively, runs_natively
from overlay.core.interpreted_values import underlying
from overlay.core.jitted import is_of_numba
from overlay.core.late_binding import LateBound
from overlay.core.public_names import hides
from overlay.interpretations.intervals.errors import Undecided
from overlay.sets import Bounds

__all__ = [
    "EMPTY",
    "ENTIRE",
    "Interval",
    "bounds_of",
    "objects_in",
    "objects_of",
    "outside",
    "shown",
]

_NUMBERS = (int, float, Fraction, np.integer, np.floating)


# C code calls __array__ while these functions are targets
_array: Any = nonoverlay(np.array)
_empty: Any = nonoverlay(np.empty)


@methods_run_natively
class Interval(sets.Interval):
    """An interval as a number that programs compute with.

    Operators and functions of ``math`` return intervals that contain every result, in a program
    that ``enclose`` runs and elsewhere. Elsewhere, points at which they are undefined, as in 1 /
    0, are left out. ``==``, ``<`` and the like compare numbers: they raise Undecided unless the
    answer is the same for all. ``x.equals(y)`` compares intervals.

    Parameters
    ----------
    low, high : float, int, Fraction or str
        The bounds, both included; ``Interval(x)`` contains one number. They are rounded outwards
        to floats; text such as "0.1" is read as a decimal number.

    Examples
    --------
    >>> from overlay.interpretations.intervals import Interval
    >>> Interval(1, 2) * Interval(-3, 4)
    Interval(-6.0, 8.0)
    >>> Interval("0.1").low < Interval("0.1").high
    True
    """

    __slots__ = ()
    __overlay_underlying__ = "low"

    # ---- number protocol ----

    @property
    @runs_natively
    def __class__(self) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """float in a program, as ``isinstance``, patterns and ``singledispatch`` read it, in C code
        too. ``type(x)`` and ``hasattr`` have methods there."""
        return float if _in_program() else type(self)

    @property
    def real(self) -> Interval:
        """The interval itself."""
        return self

    @property
    def imag(self) -> float:
        """0.0, as for any real number."""
        return 0.0

    def conjugate(self) -> Interval:
        """The interval itself."""
        return self

    def item(self) -> Interval:
        """The interval itself, as of a number of numpy."""
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(float, name):
            raise AttributeError(f"an interval has no attribute {name!r}", name=name, obj=self)
        raise Undecided(f"float.{name} of {shown(self)}: no enclosure is known of it")

    def __hash__(self) -> int:
        if _in_program():
            raise Undecided(f"in a set or dict {shown(self)} would be found by its hash")
        raise TypeError("unhashable type: 'Interval': its equality is a question about numbers")

    def __getitem__(self, index: Any) -> Any:
        if _in_program():
            raise TypeError("an interval is a number, and has no items: take .low and .high")
        return self.bounds[index]

    def __bool__(self) -> bool:
        return _run(bool, self)

    def __float__(self) -> float:
        raise Undecided(
            f"{shown(self)} is given to code that takes a float, and is not known to hold its "
            "results",
            help="in a program that enclose runs, give the function a method for intervals; of a "
            "single number, take .low",
        )

    def __int__(self) -> int:
        return _run(int, self)

    def __index__(self) -> int:
        if self.low == self.high == math.floor(self.low):
            return int(self.low)
        raise Undecided(f"which integer {shown(self)} is, for code that takes no interval")

    def __complex__(self) -> complex:
        return complex(float(self))

    def __round__(self, *digits: int) -> Any:
        return _run(round, self, *digits)

    def __iter__(self) -> Any:
        if _in_program():
            raise TypeError("an interval is a number, and has no items: take .low and .high")
        return iter(self.bounds)

    def __len__(self) -> int:
        if _in_program():
            raise TypeError("an interval is a number, and has no length: take .width")
        return 2

    def __str__(self) -> str:
        return self.__format__("")

    def __format__(self, form: str) -> str:
        """Format the bounds; in a program the number, if its text is the same for all numbers."""
        if not _in_program():
            return shown(self, form)
        low, high = (format(bound, form) for bound in self.bounds)
        if low == high and not self.is_empty:
            return low
        raise Undecided(f"which text numbers in {shown(self)} have")

    def _repr_latex_(self) -> str:
        return f"$[{self.low!r}, {self.high!r}]$"

    # ---- items of object arrays ----

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if dtype is not None and np.dtype(dtype) != np.dtype(object):
            return _array(float(self), dtype=dtype)
        found = _empty((), dtype=object)
        found.fill(self)
        return found

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **named: Any) -> Any:
        if any(map(np.iscomplexobj, args)):
            _refuse_complex(ufunc.__name__, args)
        read = ufunc.nin if method == "__call__" else 0  # the others may be written to
        items = [objects_of(one) for one in args[:read]]
        items += [one.__array__() if isinstance(one, Interval) else one for one in args[read:]]
        run = getattr(ufunc, method)
        try:
            found = _run(run, *items, **named)
            # a number of numpy arrives as an array without axes
            of_number = any(isinstance(one, (np.ndarray, np.generic)) for one in args)
            is_number = isinstance(found, np.ndarray) and not found.shape and "out" not in named
            return found.item() if of_number and is_number else found
        except Exception as error:  # numba's own, of a kernel that it would compile for objects
            if not (isinstance(error, TypeError) or is_of_numba(error)):
                raise
            nonoverlay(run)(
                *map(underlying, args)
            )  # where numbers are refused, too, with the same error
            raise Undecided(
                f"{ufunc.__name__} of {', '.join(map(shown, _intervals(args)))}: it is "
                "compiled code of which no enclosure is known",
                help="in a program that enclose runs, give the function a method for intervals",
            ) from error


numbers.Number.register(Interval)


def _intervals(args: Any) -> list[Interval]:
    return [one for one in args if isinstance(one, Interval)]


@runs_natively
def _number_of(x: Any) -> Any:
    """The number of Python for one of numpy, whose operators would pass it to numpy again; any
    other value unchanged. A number that is no float is the interval around it."""
    if isinstance(x, Fraction):
        return Interval(x)
    if not isinstance(x, np.generic):
        return x
    exact: Any = x.item()
    if not hasattr(exact, "dtype"):
        return exact
    near = float(exact)  # a longdouble has no number of Python
    if near == exact or math.isnan(near):
        return near
    return Interval(Fraction(*exact.as_integer_ratio()))


def objects_of(x: Any) -> Any:
    """An argument of a function of arrays as an object array: intervals and numbers of Python."""
    if isinstance(x, Interval):
        return x.__array__()
    found = _array(x, dtype=object)
    if any(isinstance(item, np.generic) for item in found.flat):
        return objects_in([_number_of(item) for item in found.flat], found.shape)
    return found


def objects_in(items: list[Any], shape: tuple[int, ...]) -> Any:
    """An object array of these items."""
    found = _empty(shape, dtype=object)
    for place, item in zip(np.ndindex(shape), items, strict=True):
        found[place] = item
    return found


def shown(x: Interval, form: str = "") -> str:
    """The text of an interval: its bounds."""
    return "empty" if x.is_empty else f"[{format(x.low, form)}, {format(x.high, form)}]"


def bounds_of(value: Any) -> Bounds:
    """The bounds of an interval, or of one number."""
    return (value if isinstance(value, Interval) else Interval(value)).bounds


EMPTY = Interval(*sets.EMPTY)
"""Interval without numbers."""
ENTIRE = Interval(*sets.ENTIRE)
"""Interval of all real numbers."""
outside: LateBound[Context] = LateBound()
"""The context in which operators run outside of programs."""


def _in_program() -> bool:
    """Whether a program runs on intervals, in any nesting of contexts."""
    return outside.load().tables[0] in tables_in_force()


def _run(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Call a function of intervals from C code, with the rules of the running program."""
    if _in_program():
        run: Any = nonoverlay(rules_alone())
        return run(function, *args, **named)
    return as_c_calls(outside.load(), function, *args, **named)


def _refuse_complex(name: str, args: Sequence[Any]) -> NoReturn:
    given = " and ".join(shown(x) if isinstance(x, Interval) else str(x) for x in args)
    raise Undecided(
        f"{name} of {given}: there are no intervals of complex numbers",
        help="compute with the real and the imaginary part, each a real number: instead of "
        "abs(x + 1j * y), write math.hypot(x, y)",
    )


def _method(function: Callable[..., Any], swapped: bool = False) -> Callable[..., Any]:
    def method(self: Interval, *others: Any) -> Any:
        if any(isinstance(other, (complex, np.complexfloating)) for other in others):
            _refuse_complex(function.__name__, (*others, self) if swapped else (self, *others))
        if not all(isinstance(other, (Interval, *_NUMBERS)) for other in others):
            return NotImplemented
        given = [_number_of(x) for x in others]
        return _run(function, *given, self) if swapped else _run(function, self, *given)

    return method


BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
for _name in (*BINARY, *COMPARISONS, "neg", "pos", "abs"):
    setattr(Interval, f"__{_name}__", _method(getattr(operator, _name)))
for _name in BINARY:
    setattr(Interval, f"__r{_name}__", _method(getattr(operator, _name), swapped=True))
for _name in ("floor", "ceil", "trunc"):
    setattr(Interval, f"__{_name}__", _method(getattr(math, _name)))
# methods that numpy calls on the items of object arrays
ITEMS = {
    **{name: getattr(math, name) for name in ("fabs", "floor", "ceil", "trunc")},
    **{spelling.__name__: f.function for f in FUNCTIONS for spelling in f.numpy},
}
for _name, _of_math in ITEMS.items():
    setattr(Interval, _name, _method(_of_math))
hides("item", *ITEMS)(Interval)
