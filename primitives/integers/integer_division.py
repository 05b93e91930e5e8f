"""Division with remainder, absolute values and conversions of the mathematical integers.

Integers have any size when interpreted. Compiled they have 64 bits, and the solvers refuse to
go beyond: they raise NoSolution where the machine would wrap.
"""

from __future__ import annotations

import operator

from primitives.domains import Bool, Integer, Integers
from primitives.errors import NoSolution
from primitives.floats.arithmetic import divisor_at_most, minus, plus, times
from primitives.relation import parametric, relation

__all__ = [
    "Exponent",
    "Natural",
    "NonZeroInteger",
    "Size",
    "abs_int",
    "floordiv_int",
    "int_of_bool",
    "int_of_int",
    "mod_int",
]

MOST = 1023
Natural = Integers(0)
Size = Integers(1)
NonZeroInteger = Integers(without=(0,))
Exponent = Integers(0, MOST)


def magnitude(a: int) -> int:
    """The absolute value."""
    return minus(0, a) if a < 0 else a


# ---- division with remainder --------------------------------------------------------------


def quotient(a: int, b: int) -> int:
    """a // b, refused where the machine would wrap."""
    if b == 0:
        raise NoSolution("nothing is divided by 0")
    return minus(0, a) if b == -1 else a // b


def remainder(a: int, b: int) -> int:
    """a % b."""
    if b == 0:
        raise NoSolution("nothing is divided by 0")
    return a % b


def dividend(k: int, b: int, rest: int) -> int:
    """What divided by b gives k and leaves ``rest``."""
    if k < 0:  # the product alone may need more than 64 bits
        return plus(times(k + 1, b), minus(rest, b))
    return plus(times(k, b), rest)


def divisor_sizes(ret: int, a: int) -> tuple[int, int]:
    """The smallest and the largest size of a divisor for which a // b is ``ret``.

    The largest is 0 where there is none.
    """
    size = magnitude(a)
    if ret == 0:  # a divisor larger than a, of the same sign
        return plus(size, 1), 0
    if size == 0:
        raise NoSolution("0 divided by anything is 0")
    if ret == -1:  # a divisor at least as large as a, of the other sign
        return size, 0
    if ret > 0:
        low, high = (1 if ret >= size else size // (ret + 1) + 1), size // ret
    else:
        low, high = (size - 1) // minus(0, ret) + 1, (size - 1) // (-1 - ret)
    if low > high:
        raise NoSolution("no divisor gives this quotient")
    return low, high


def divisor(ret: int, a: int, step: int, negative: bool) -> int:
    """The divisor of this step, counted around from the smallest, for which a // b is ``ret``.

    ``negative`` is its sign where a is 0.
    """
    low, high = divisor_sizes(ret, a)
    size = plus(low, step if high == 0 else step % (high - low + 1))
    opposite = negative if a == 0 else (a < 0) == (ret >= 0)
    return minus(0, size) if opposite else size


def is_remainder(ret: int, b: int) -> bool:
    """Whether division by b can leave ``ret``."""
    return 0 <= ret < b or b < ret <= 0


def dividend_by_remainder(ret: int, b: int, k: int) -> int:
    """What divided by b gives k and leaves ``ret``."""
    if not is_remainder(ret, b):
        raise NoSolution("a remainder lies between 0 and the divisor")
    return dividend(k, b, ret)


def signed(ret: int, size: int, negative: bool) -> int:
    """A divisor of this size which leaves ``ret``: it has its sign, or any where it is 0."""
    return minus(0, size) if ret < 0 or (ret == 0 and negative) else size


def modulus(ret: int, a: int, size: int, negative: bool) -> int:
    """A divisor near this size for which a % b is ``ret``: it divides their difference.

    The largest not above ``size``, or the smallest that is larger than ``ret``.
    """
    whole, least = magnitude(minus(a, ret)), magnitude(ret)
    if whole == 0:
        return signed(ret, max(size, plus(least, 1)), negative)
    if whole <= least:
        raise NoSolution("no divisor leaves this remainder")
    found = divisor_at_most(whole, size, 1)
    if found <= least:
        found = whole // divisor_at_most(whole, whole // (least + 1), 1)
    return signed(ret, found, negative)


def dividend_and_modulus(ret: int, k: int, excess: int, negative: bool) -> tuple[int, int]:
    """A divisor so much larger than ``ret``, and what divided by it gives k and leaves that."""
    b = signed(ret, plus(magnitude(ret), excess), negative)
    return dividend(k, b, ret), b


floordiv_int = relation(
    operator.floordiv, int, int, "return = a // b", domain={"b": NonZeroInteger},
    ret=quotient,
    a=parametric(  # the offset is the remainder
        lambda ret, b, offset: dividend(ret, b, remainder(offset, b)), offset=Integer,
        recover=lambda a, b: (a % b,), determined_if=lambda b: b == 1 or b == -1,
    ),
    b=parametric(
        divisor, step=Natural, negative=Bool,
        recover=lambda ret, a, b: (abs(b) - divisor_sizes(ret, a)[0], b < 0),
    ),
    ab=parametric(
        lambda ret, v, offset: (dividend(ret, v, remainder(offset, v)), v),
        v=NonZeroInteger, offset=Integer,
        recover=lambda a, b: (b, a % b),
    ),
)  # fmt: skip
mod_int = relation(
    operator.mod, int, int, "return = a % b", domain={"b": NonZeroInteger},
    ret=remainder,
    a=parametric(  # k is the quotient
        dividend_by_remainder, k=Integer, recover=lambda a, b: (a // b,),
    ),
    b=parametric(
        modulus, size=Size, negative=Bool,
        recover=lambda b: (abs(b), b < 0),
    ),
    ab=parametric(
        dividend_and_modulus, k=Integer, excess=Size, negative=Bool,
        recover=lambda ret, a, b: (a // b, abs(b) - abs(ret), b < 0),
    ),
)  # fmt: skip

# ---- sizes and conversions ----------------------------------------------------------------


def signed_size(ret: int, negative: bool) -> int:
    """The integer of this size and sign."""
    if ret < 0:
        raise NoSolution("an absolute value is not negative")
    return -ret if negative else ret


def truth_of(ret: int) -> bool:
    """The truth value that an integer stands for."""
    if ret != 0 and ret != 1:
        raise NoSolution("a truth value is 0 or 1")
    return ret == 1


abs_int = relation(
    abs, int, "return = abs(a)", codomain=Natural,
    ret=magnitude,
    a=parametric(signed_size, negative=Bool, recover=lambda a: (a < 0,)),
)  # fmt: skip
int_of_int = relation(
    int, int, "return = int(a)",
    ret=lambda a: a,
    a=lambda ret: ret,
)  # fmt: skip
int_of_bool = relation(
    int, bool, "return = int(a)", returns=int, codomain=Integers(0, 1),
    ret=lambda a: 1 if a else 0,
    a=truth_of,
)  # fmt: skip
