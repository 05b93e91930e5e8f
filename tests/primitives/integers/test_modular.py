"""Squares modulo 2**64: all roots of a word, and no others."""

import numpy as np
import pytest
import typeguard

from inversion import NoSolution, invert
from primitives.integers.integer_arithmetic import root_choice, word_root

WORDS = [0, 1, 4, 9, 16, 17, 2**32, 2**62, 2**62 + 2**63, 2**63, 33, 4 * 17, 2**60 * 9, 2**64 - 7]


@pytest.mark.parametrize("square", WORDS)
def test_what_is_answered_squares_to_the_word(square):
    wanted = np.uint64(square)
    roots = set()
    for negative in (False, True):
        for high in (0, 1, 5, 2**64 - 1):
            try:
                with np.errstate(over="ignore"):
                    root = word_root(wanted, negative, np.uint64(high))
            except NoSolution:
                continue
            assert int(root) ** 2 % 2**64 == square
            roots.add(int(root))
    twos = (square & -square).bit_length() - 1
    assert bool(roots) == (square == 0 or (twos % 2 == 0 and (square >> twos) % 8 == 1))


def test_every_root_is_reached_by_a_choice():
    rng = np.random.default_rng(0)
    roots = rng.integers(0, 2**64, 300, dtype=np.uint64, endpoint=False)
    shifted = roots << rng.integers(0, 64, 300, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for root in (*roots, *shifted, np.uint64(0), np.uint64(2**63), np.uint64(2**31)):
            assert word_root(root * root, *root_choice(root)) == root


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_words_are_squared_modulo_their_width(kind):
    with typeguard.suppress_type_checks():
        inverse = invert(lambda x: x * x, kind)
    roots = [kind(3), kind(2**32 + 1), kind(2**62 + 5), kind(2**63 - 1)]
    with np.errstate(over="ignore"):
        for root in roots:
            assert inverse(root * root, inverse.recover(root)) == (root,)
            assert inverse.compile()(root * root, inverse.recover(root)) == (root,)
    with pytest.raises(NoSolution):
        inverse(kind(3), (False, 0))
