"""Tables of rules, one for each family of functions, with one line for each function.

``arithmetic``: rules of the operators, for numbers and elementwise for arrays.
``extremes``: rules of signs, absolute values, extremes and selections.
``numerical``: rules of numpy's other elementwise functions.
``powers``: rules of powers, of numbers and elementwise of arrays.
``rounding``: rules of piecewise constant functions.
``scipy_special``: rules of the elementwise functions of ``scipy.special``.
"""
