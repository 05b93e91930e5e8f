"""Relations of whole expressions, which can be solved once the uses of a variable are collected.

``bit_systems``: results whose bits are sums, modulo 2, of bits of the inputs. ``congruences``:
integers multiplied, shifted and then reduced, as one relation. ``fractions``: fractions of
polynomials of degree at most two, in one variable whose uses are collected. ``integer_systems``:
systems of linear equations in integers: several sums of the same integers, with constant factors.
``polar``: the products of a radius with the cosine and the sine of one angle. ``quadratics``:
quadratic polynomials of one integer whose uses are collected.
"""
