"""Greatest common divisors, binomial coefficients, factorials and square roots of integers.

numba supports only gcd of these: inverses of programs with the others are interpreted.
"""

from __future__ import annotations

import math

from primitives.domains import Bool, Integer, Integers
from primitives.errors import NoSolution
from primitives.integers.exact import plus, times
from primitives.integers.integer_kinds import Natural
from primitives.relation import parametric, relation

__all__ = ["comb", "factorial", "gcd", "isqrt"]

MOST = 1023
Small = Integers(0, MOST)

# ---- greatest common divisor --------------------------------------------------------------


def coprime_from(m: int, n: int) -> int:
    """The first integer from m upwards that has no divisor in common with n."""
    while math.gcd(m, n) != 1:
        if n == 0:  # only 1 and -1 are coprime to 0
            return 1
        m = plus(m, 1)
    return m


def with_divisor(ret: int, b: int, m: int) -> int:
    """A multiple of ``ret``, by m or the next larger factor, whose greatest common divisor with b
    is ``ret``; 0 if ``ret`` is 0.
    """
    if ret < 0:
        raise NoSolution("a greatest common divisor is not negative")
    if ret == 0:
        if b != 0:
            raise NoSolution("only 0 and 0 have the greatest common divisor 0")
        return 0
    if b % ret != 0:
        raise NoSolution("the known integer is not a multiple of the divisor")
    return times(coprime_from(m, b // ret), ret)


def pair_with_divisor(ret: int, m: int, n: int) -> tuple[int, int]:
    """The multiples of ``ret`` by m and by the first integer from n on that is coprime to m."""
    b = times(coprime_from(n, m), ret)
    return with_divisor(ret, b, m), b


def multiple(a: int, ret: int) -> int:
    """The factor by which an argument is a multiple of ``ret``."""
    return a // ret if ret else 0


gcd = relation(
    math.gcd, int, int, "return = gcd(a, b)", codomain=Natural,
    ret=lambda a, b: math.gcd(a, b),
    a=parametric(with_divisor, m=Integer, recover=lambda ret, a: (multiple(a, ret),)),
    b=parametric(
        lambda ret, a, m: with_divisor(ret, a, m), m=Integer,
        recover=lambda ret, b: (multiple(b, ret),),
    ),
    ab=parametric(
        pair_with_divisor, m=Integer, n=Integer,
        recover=lambda ret, a, b: (multiple(a, ret), multiple(b, ret)),
    ),
)  # fmt: skip

# ---- combinations -------------------------------------------------------------------------


def things(ret: int, k: int) -> int:
    """The n of which there are ``ret`` ways to choose k, both at least 1; or -1."""
    n, found = k, 1
    while found < ret and n < MOST:
        n += 1
        found = times(found, n) // (n - k)
    return n if found == ret else -1


def upper(ret: int, k: int, free: int) -> int:
    """The n of which there are ``ret`` ways to choose k; of several, the one near ``free``."""
    if not 0 <= k <= MOST or ret < 0:
        raise NoSolution("binomial coefficients are solved for up to 1023 things")
    if k == 0:
        if ret != 1:
            raise NoSolution("the number of ways to choose 0 things is 1")
        return free
    if ret == 0:
        return free % k
    n = things(ret, k)
    if n < 0:
        raise NoSolution("no binomial coefficient has this value")
    return n


def lower(ret: int, n: int, mirrored: bool, free: int) -> int:
    """The k for which there are ``ret`` ways to choose k of n; ``mirrored``: the larger one."""
    if not 0 <= n <= MOST or ret < 0:
        raise NoSolution("binomial coefficients are solved for up to 1023 things")
    if ret == 0:
        if n == MOST:
            raise NoSolution("binomial coefficients are solved for up to 1023 things")
        return n + 1 + free % (MOST - n)
    k, found = 0, 1
    while found < ret and k < n // 2:
        found = times(found, n - k) // (k + 1)
        k += 1
    if found != ret:
        raise NoSolution("no binomial coefficient has this value")
    return n - k if mirrored else k


def both(ret: int, v: int, free: int) -> tuple[int, int]:
    """A pair whose k is v, or the next smaller one for which there is an n."""
    if ret < 0:
        raise NoSolution("a binomial coefficient is not negative")
    if v == 0 and ret == 1:
        return free, 0
    k = max(v, 1)
    while k > 1 and ret > 0 and things(ret, k) < 0:
        k -= 1
    return upper(ret, k, free), k


comb = relation(
    math.comb, int, int, "return = comb(n, k)", domain={"n": Small, "k": Small}, codomain=Natural,
    n=parametric(upper, free=Small, recover=lambda n: (n,)),
    k=parametric(
        lower, mirrored=Bool, free=Small,
        recover=lambda n, k: (2 * k > n, k - n - 1 if k > n else 0),
    ),
    nk=parametric(both, v=Small, free=Small, recover=lambda n, k: (k, n)),
)  # fmt: skip

# ---- factorial and root -------------------------------------------------------------------


def factorial_of(ret: int, one: bool) -> int:
    """The integer whose factorial is ``ret``; for 1, the factorial of 0 and 1, ``one`` chooses."""
    if ret == 1:
        return 1 if one else 0
    n, found = 1, 1
    while found < ret and n < MOST:
        n += 1
        found = times(found, n)
    if found != ret:
        raise NoSolution("it is not the factorial of an integer up to 1023")
    return n


def rooted(ret: int, offset: int) -> int:
    """The integer at an offset, modulo their number, among those with integer root ``ret``."""
    if ret < 0:
        raise NoSolution("a root is not negative")
    return plus(times(ret, ret), offset % (2 * ret + 1))


factorial = relation(
    math.factorial, int, "return = factorial(a)", domain=Small, codomain=Integers(1),
    a=parametric(factorial_of, one=Bool, recover=lambda a: (a == 1,)),
)  # fmt: skip
isqrt = relation(
    math.isqrt, int, "return = isqrt(a)", domain=Natural, codomain=Natural,
    a=parametric(rooted, offset=Natural, recover=lambda ret, a: (a - ret * ret,)),
)  # fmt: skip
