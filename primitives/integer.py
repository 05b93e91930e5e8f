"""Division with remainder, powers, absolute values and conversions of the mathematical integers.

Integers have any size when interpreted. Compiled they have 64 bits, and the solvers refuse to
go beyond: they raise NoSolution where the machine would wrap. Exponents go up to 1023.
"""

from __future__ import annotations

import operator

from primitives.arithmetic import HIGHEST, divisor_at_most, minus, plus, times
from primitives.domains import Bool, Integer, Integers
from primitives.errors import NoSolution
from primitives.kernels import compiled_form
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
    "power_int",
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
        recover=lambda a, b: (a % b,), unless=lambda b: b == 1 or b == -1,
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

# ---- powers -------------------------------------------------------------------------------


def power(a: int, b: int) -> int:
    """a ** b for b from 0, refused where the machine would wrap."""
    if b < 0:
        raise NoSolution("a negative exponent gives no integer")
    return a**b


@compiled_form(power)
def power_64(a: int, b: int) -> int:
    if b < 0:
        raise NoSolution("a negative exponent gives no integer")
    found = 1
    for _ in range(b):
        found = times(found, a)
    return found


def reaches(base: int, exponent: int, n: int) -> bool:
    """Whether base ** exponent is at least n; all are at least 1."""
    return base**exponent >= n


@compiled_form(reaches)
def reaches_64(base: int, exponent: int, n: int) -> bool:
    found = 1
    for _ in range(exponent):
        if found >= n:
            return True
        if found > HIGHEST // base:
            return True
        found *= base
    return found >= n


def root(n: int, exponent: int) -> int:
    """The smallest integer whose power is at least n; both are at least 1."""
    if exponent == 1:
        return n
    low, high = 1, 2
    while not reaches(high, exponent, n):
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        if reaches(middle, exponent, n):
            high = middle
        else:
            low = middle + 1
    return low


def is_power(n: int, base: int, exponent: int) -> bool:
    """Whether base ** exponent is n; all are at least 1."""
    if base == 1:
        return n == 1
    count = 0
    while count < exponent and n % base == 0:
        n = n // base
        count += 1
    return count == exponent and n == 1


def base_of(ret: int, b: int, negative: bool, free: int) -> int:
    """The integer whose power is ``ret``; ``free`` where b is 0."""
    if b < 0:
        raise NoSolution("a negative exponent gives no integer")
    if b == 0:
        if ret != 1:
            raise NoSolution("a power with exponent 0 is 1")
        return free
    if ret == 0:
        return 0
    if ret < 0 and b % 2 == 0:
        raise NoSolution("an even power is not negative")
    found = root(magnitude(ret), b)
    if not is_power(magnitude(ret), found, b):
        raise NoSolution("it is not such a power of an integer")
    return -found if (negative if b % 2 == 0 else ret < 0) else found


def exponent_of(ret: int, a: int, free: int) -> int:
    """The exponent for which a to its power is ``ret``; of several the one near ``free``."""
    if -1 <= a <= 1:
        return exponent_of_unit(ret, a, free)
    if ret == 0:
        raise NoSolution("a power is 0 where its base is")
    count = 0
    while ret % a == 0:
        ret = ret // a
        count += 1
    if ret != 1 or count > MOST:
        raise NoSolution("it is not a power of the base, with an exponent up to 1023")
    return count


def exponent_of_unit(ret: int, a: int, free: int) -> int:
    """The same where a is -1, 0 or 1, whose powers repeat themselves."""
    if a == 1 and ret == 1:
        return free
    if a == 0 and ret == 1:
        return 0
    if a == 0 and ret == 0:
        return max(free, 1)
    if a == -1 and (ret == 1 or ret == -1):
        return free - free % 2 + (0 if ret == 1 else 1)
    raise NoSolution("it is not a power of the base")


def base_and_exponent(ret: int, v: int, negative: bool, free: int) -> tuple[int, int]:
    """A pair with this power, whose exponent is the nearest to v on the way to 1."""
    if ret == 1 and v == 0:
        return free, 0
    exponent, size = max(v, 1), magnitude(ret)
    while exponent > 1:
        odd = exponent % 2 == 1
        if size <= 1 and (odd or ret >= 0):
            break
        if (odd or ret > 0) and is_power(size, root(size, exponent), exponent):
            break
        exponent -= 1
    return base_of(ret, exponent, negative, free), exponent


power_int = relation(
    operator.pow, int, int, "return = a ** b", domain={"b": Exponent},
    ret=power,
    a=parametric(  # the sign counts where b is even, the free base where b is 0
        base_of, negative=Bool, free=Integer,
        recover=lambda a: (a < 0, a), unless=lambda b: b % 2 == 1,
    ),
    b=parametric(
        exponent_of, free=Exponent,
        recover=lambda b: (b,), unless=lambda a: abs(a) > 1,
    ),
    ab=parametric(
        base_and_exponent, v=Exponent, negative=Bool, free=Integer,
        recover=lambda a, b: (b, a < 0, a),
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
