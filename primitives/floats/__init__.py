"""Relations of floats.

``arithmetic``: sums, products and quotients of floats, and float().
``catalogued``: the modules with relations of the catalogue's functions, and spellings of these
functions.
``comparison``: comparisons of floats, and ``where``.
``exponential``: exponentials, logarithms and the square root.
``extremes``: minimum and maximum of two floats, and clipping.
``gamma``: the gamma function and its log-absolute value, solved numerically on every branch.
``hyperbolic``: hyperbolic functions.
``powers``: powers and roots of floats, reciprocals, and scaling by powers of two.
``remainders``: floor quotients and remainders of floats.
``rounding``: rounding of floats: down, up, towards 0, and to the nearest whole number.
``signs``: absolute values and signs of floats.
``special``: the error functions.
``tolerance``: tolerances of solvers of floats: equality up to rounding, and steps beyond a bound.
``trigonometric``: trigonometric functions and angles.
``vector_maths``: elementary functions that LLVM can vectorise: without branches, calls or tables.
"""
