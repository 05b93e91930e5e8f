"""Relations of the mathematical integers, and of numpy's words.

``integer_kinds`` holds the differences between the kinds; ``exact`` the sums and products of
integers, which compiled code refuses beyond 64 bits; ``integer_table`` lists the relations, from
``integer_arithmetic``, ``division`` and ``divmod``, ``ordering``, ``bits``, ``shifts``,
``xorshift`` and ``conversion``, and, of integers alone, in ``integer_powers`` and
``number_theory``.
``modular_powers``: powers modulo an integer: roots and discrete logarithms.
"""
