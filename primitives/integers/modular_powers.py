"""Powers modulo an integer, ``pow(a, e, n)``: roots and discrete logarithms, all of them.

The modulus is factored: by trial division, then by the rho method (Pollard 1975, Brent 1980), with
the strong test of Miller and Rabin for primes. A root is found modulo each power of a prime, in the
cyclic group of units there, and put together by the Chinese remainder theorem. A logarithm is found
in steps of the prime factors of the order (Pohlig and Hellman 1978), each by baby and giant steps
(Shanks 1971). Computations of too many steps are refused.

numba does not compile ``pow`` of three integers: inverses of programs with it are interpreted.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from primitives.domains import Integer, Integers
from primitives.errors import NoSolution, TooHard
from primitives.integers.integer_kinds import Natural
from primitives.relation import parametric, relation

__all__ = ["factors", "logarithm", "power_modulo", "roots"]

TRIED = 4096
"""Divisors up to this are tried before the rho method."""
MOST_STEPS = 200_000
"""The largest number of steps of the rho method, and of baby and giant steps."""
MOST_BITS = 128
"""The largest number of bits of a power whose modulus is searched for."""
MOST_ROOTS = 65_536
"""The largest number of roots modulo n that are numbered."""
WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
"""Bases of the strong test, which decide numbers below 3.3e24; larger ones are probable primes."""


# ---- factors ------------------------------------------------------------------------------


@functools.lru_cache(maxsize=256)
def factors(n: int) -> Mapping[int, int]:
    """The exponent of each prime factor of a positive integer. Raises TooHard.

    >>> factors(360)
    {2: 3, 3: 2, 5: 1}
    """
    found: dict[int, int] = {}
    for p in itertools.chain((2,), range(3, TRIED, 2)):
        if p * p > n:
            break
        while n % p == 0:
            found[p] = found.get(p, 0) + 1
            n //= p
    waiting = [n] if n > 1 else []
    while waiting:
        part = waiting.pop()
        if _is_prime(part):
            found[part] = found.get(part, 0) + 1
        else:
            divisor = _divisor(part)
            waiting += [divisor, part // divisor]
    return dict(sorted(found.items()))


def _is_prime(n: int) -> bool:
    if n < TRIED * TRIED:
        return all(n % p for p in range(2, math.isqrt(n) + 1))
    twos = ((n - 1) & (1 - n)).bit_length() - 1
    for base in WITNESSES:
        found = pow(base, (n - 1) >> twos, n)
        if found in (1, n - 1):
            continue
        for _ in range(twos - 1):
            found = found * found % n
            if found == n - 1:
                break
        else:
            return False
    return True


def _divisor(n: int) -> int:
    """A divisor of a composite number that is neither 1 nor n. Raises TooHard."""
    whole = math.isqrt(n)
    if whole * whole == n:
        return whole
    steps = 0
    for shift in itertools.count(1):
        slow = fast = 2
        while True:
            product = 1
            before = slow, fast
            for _ in range(128):
                slow = (slow * slow + shift) % n
                fast = (fast * fast + shift) % n
                fast = (fast * fast + shift) % n
                product = product * abs(slow - fast) % n
            steps += 128
            found = math.gcd(product, n)
            if found == n:  # one at a time
                slow, fast = before
                found = 1
                while found == 1:
                    slow = (slow * slow + shift) % n
                    fast = (fast * fast + shift) % n
                    fast = (fast * fast + shift) % n
                    found = math.gcd(slow - fast, n)
            if 1 < found < n:
                return found
            if found == n:
                break
            if steps > MOST_STEPS:
                raise TooHard(
                    f"{n} is not factored, which its roots and logarithms need",
                    help="give smaller numbers, or those whose factors are small",
                )
    raise AssertionError("shifts do not end")


# ---- logarithms ---------------------------------------------------------------------------


def _order(a: int, n: int) -> int:
    """The order of a unit modulo n."""
    order = 1
    for p, count in factors(n).items():
        order = math.lcm(order, (p - 1) * p ** (count - 1))
    for p in factors(order):
        while order % p == 0 and pow(a, order // p, n) == 1 % n:
            order //= p
    return order


def _logarithm(base: int, value: int, order: int, n: int) -> int | None:
    """The exponent of a unit of this order that gives a value; None if there is none."""
    found, modulus = 0, 1
    for p, count in factors(order).items():
        size = p**count
        own, wanted = pow(base, order // size, n), pow(value, order // size, n)
        step = pow(own, size // p, n)  # of order p
        exponent = 0
        for place in range(count):
            rest = wanted * pow(own, -exponent, n) % n
            digit = _giant_steps(step, pow(rest, size // p ** (place + 1), n), p, n)
            if digit is None:
                return None
            exponent += digit * p**place
        found += modulus * ((exponent - found) * pow(modulus, -1, size) % size)
        modulus *= size
    return found if pow(base, found, n) == value % n else None


def _giant_steps(base: int, value: int, order: int, n: int) -> int | None:
    size = math.isqrt(order) + 1
    if size > MOST_STEPS:
        raise TooHard(
            f"a logarithm modulo {n} takes too many steps, as {order} divides the order",
            help="the largest prime factor of the order may have 35 bits",
        )
    places: dict[int, int] = {}
    found = 1 % n
    for small in range(size):
        places.setdefault(found, small)
        found = found * base % n
    back = pow(found, -1, n)
    for large in range(size):
        if value in places:
            return large * size + places[value]
        value = value * back % n
    return None


@functools.lru_cache(maxsize=1024)
def logarithm(base: int, value: int, n: int) -> tuple[int, int]:
    """The first exponent from 0 on that gives a value, and the distance of all others; 0 if there
    are none. Raises NoSolution and TooHard.

    >>> logarithm(3, 13, 17), logarithm(2, 4, 8), logarithm(2, 0, 8)
    ((4, 16), (2, 0), (3, 1))
    """
    if not 0 <= value < n:
        raise NoSolution("a remainder lies between 0 and the divisor")
    units = n
    while math.gcd(base, units) > 1:
        units //= math.gcd(base, units)
    order = _order(base, units)
    tail = 0  # the powers before they repeat
    while pow(base, tail, n) != pow(base, tail + order, n):
        if pow(base, tail, n) == value:
            return tail, 0
        tail += 1
    found = _logarithm(base, value % units, order, units)
    if found is not None:
        found = tail + (found - tail) % order
        if pow(base, found, n) == value:
            return found, order
    raise NoSolution("no power is congruent to the result")


# ---- roots --------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1024)
def roots(value: int, e: int, n: int) -> Sequence[int]:
    """All numbers from 0 to n - 1 whose power is congruent to a value, in ascending order. Raises
    NoSolution and TooHard.

    >>> roots(1, 2, 8), roots(2, 3, 7 * 9)
    ((1, 3, 5, 7), ())
    """
    if not 0 <= value < n:
        return ()
    if e == 0:
        return range(n) if value == 1 % n else ()
    found, modulus = [0], 1
    for p, count in factors(n).items():
        size = p**count
        own = list(itertools.islice(_roots_of(value % size, e, p, count), MOST_ROOTS + 1))
        if len(own) * len(found) > MOST_ROOTS:
            raise TooHard(
                f"more than {MOST_ROOTS} roots modulo {n} would have to be numbered",
                help="restrict the program to a smaller modulus",
            )
        back = pow(modulus, -1, size) if size > 1 else 0
        found = [x + modulus * ((y - x) * back % size) for x in found for y in own]
        modulus *= size
    return tuple(sorted(found))


def _roots_of(value: int, e: int, p: int, count: int) -> Iterator[int]:
    """The roots modulo a power of a prime."""
    size = p**count
    if value == 0:
        if e > 0:
            yield from range(0, size, p ** -(-count // e))
        return
    places = 0  # of p in the value
    while value % p == 0:
        value //= p
        places += 1
    if places and (e < 0 or places % e):
        return
    own = places // e if places else 0
    narrow = p ** (count - places)
    lifted = p ** (places - own)
    for unit in _unit_roots(value, e, p, count - places):
        for more in range(lifted):
            yield p**own * (unit + narrow * more)


def _unit_roots(value: int, e: int, p: int, count: int) -> Iterator[int]:
    """The roots of a unit modulo a power of a prime, which are units."""
    size = p**count
    if p > 2 or count < 3:
        yield from _cyclic_roots(value, e, (p - 1) * p ** (count - 1), size, 1)
        return
    # the units are the powers of 5, and their negatives
    for sign in (1, -1):
        power = value * sign ** (e & 1) % size
        if power % 4 == 1:
            yield from _cyclic_roots(power, e, size >> 2, size, sign)


def _cyclic_roots(value: int, e: int, order: int, n: int, sign: int) -> Iterator[int]:
    """The roots in a cyclic group of units modulo n of this order, times a sign."""
    shared = math.gcd(e, order)
    common = 1  # the part of the order whose primes divide the exponent
    for p, count in factors(order).items():
        common *= p**count if shared % p == 0 else 1
    rest = order // common
    first = pow(value, common * pow(common, -1, rest), n) if rest > 1 else 1 % n
    root = pow(first, pow(e, -1, rest), n) if rest > 1 else 1 % n
    own = value * pow(first, -1, n) % n
    generator = _generator(common, rest, n)
    exponent = _logarithm(generator, own, common, n)
    if exponent is None or exponent % shared:
        return
    period = common // shared
    start = exponent // shared * pow(e // shared, -1, period) % period if period > 1 else 0
    found = root * pow(generator, start, n) * sign % n
    step = pow(generator, period, n)
    for _ in range(shared):
        yield found
        found = found * step % n


def _generator(common: int, rest: int, n: int) -> int:
    """A unit of order ``common``, in the cyclic group of order ``common * rest``."""
    if common == 1:
        return 1 % n
    for tried in itertools.count(5 if n & 7 == 0 else 2):
        if math.gcd(tried, n) == 1:
            found = pow(tried, rest, n)
            if pow(found, common, n) == 1 and all(
                pow(found, common // p, n) != 1 for p in factors(common)
            ):
                return found
    raise AssertionError("a cyclic group has a generator")


# ---- the relation -------------------------------------------------------------------------


def _base_of(ret: int, e: int, n: int, k: int) -> int:
    """The k-th integer, from 0 on, whose power is congruent to ``ret``."""
    found = roots(ret, e, n)
    if not found:
        raise NoSolution("no power is congruent to the result")
    return found[k % len(found)] + n * (k // len(found))


def _number_of(ret: int, a: int, e: int, n: int) -> tuple[int]:
    """The number of a solution among all; for an integer between solutions, that of the
    next one.
    """
    found = roots(ret, e, n)
    return (a // n * len(found) + bisect.bisect_left(found, a % n),)


def _exponent_of(ret: int, a: int, n: int, k: int) -> int:
    """The k-th exponent, counted from the first non-negative one."""
    first, distance = logarithm(a % n, ret, n)
    if k and not distance:
        raise NoSolution("only one exponent leads to the result")
    if k < 0 and math.gcd(a, n) > 1:
        raise NoSolution("a base with a divisor in common with the modulus has no negative powers")
    return first + k * distance


def _exponent_number(ret: int, a: int, e: int, n: int) -> tuple[int]:
    first, distance = logarithm(a % n, ret, n)
    return ((e - first) // distance if distance else 0,)


def _differences(ret: int, a: int, e: int) -> Sequence[int] | None:
    """The moduli for which a power is congruent to ``ret``; None if all moduli above
    ``ret`` are.
    """
    if abs(a).bit_length() * abs(e) > MOST_BITS:
        raise TooHard(
            f"the power {e} is too large to factor, which its modulus needs",
            help="give the modulus, or smaller exponents",
        )
    # for a negative power, n divides ret * a**-e - 1
    apart = abs(a**e - ret) if e >= 0 else abs(ret * a**-e - 1)
    if apart == 0:
        return None
    found = [1]
    for p, count in factors(apart).items():
        if len(found) * (count + 1) > MOST_ROOTS:
            raise TooHard(f"{apart} has more than {MOST_ROOTS} divisors")
        found = [divisor * p**i for divisor in found for i in range(count + 1)]
    return sorted(divisor for divisor in found if divisor > ret)


def _modulus_of(ret: int, a: int, e: int, k: int) -> int:
    """The k-th modulus, in ascending order."""
    found = _differences(ret, a, e)
    if ret < 0:
        raise NoSolution("a remainder lies between 0 and the divisor")
    if found is None:
        return ret + 1 + k
    if not 0 <= k < len(found):
        raise NoSolution("no other modulus has this remainder")
    return found[k]


def _modulus_number(ret: int, a: int, e: int, n: int) -> tuple[int]:
    found = _differences(ret, a, e)
    return (n - ret - 1 if found is None else bisect.bisect_left(found, n),)


def _all_of(ret: int, above: int, v: int, k: int) -> tuple[int, int, int]:
    if ret < 0:
        raise NoSolution("a remainder lies between 0 and the divisor")
    n = ret + 1 + above
    return _base_of(ret, v, n, k), v, n


def _pair_of(ret: int, n: int, v: int, k: int) -> tuple[int, int]:
    return _base_of(ret, v, n, k), v


def _pair_number(ret: int, a: int, e: int, n: int) -> tuple[int, int]:
    return e, *_number_of(ret, a, e, n)


def _all_numbers(ret: int, a: int, e: int, n: int) -> tuple[int, int, int]:
    return n - ret - 1, e, *_number_of(ret, a, e, n)


power_modulo = relation(
    pow, int, int, int, "return = pow(a, e, n)", domain={"n": Integers(1)}, codomain=Natural,
    edges="negative exponents only of units; a base may be negative",
    a=parametric(_base_of, k=Integer, recover=_number_of),
    e=parametric(_exponent_of, k=Integer, recover=_exponent_number),
    ae=parametric(_pair_of, v=Integer, k=Integer, recover=_pair_number),
    n=parametric(_modulus_of, k=Natural, recover=_modulus_number),
    aen=parametric(_all_of, above=Natural, v=Integer, k=Integer, recover=_all_numbers),
)  # fmt: skip
