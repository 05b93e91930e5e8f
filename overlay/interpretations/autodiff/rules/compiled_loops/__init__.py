"""Maps of cotangents for compiled code, as loops, which numba compiles fast; its
own forms of the functions of numpy that the other maps are made of take seconds, or are missing.

``matrix_loops``: pullbacks of decompositions and other functions of one matrix.
``number_loops``: pullbacks of interpolation, differences and integrals, of roots, and of numbers
    between bounds.
``order_loops``: pullbacks of functions that order elements, and of those between them: quantiles.
``product_loops``: pullbacks of products of vectors and matrices, of convolutions and of powers.
``reduction_loops``: pullbacks of reductions of all elements of an array, and of sums so far.
"""
