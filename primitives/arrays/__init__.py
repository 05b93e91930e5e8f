"""Arrays of known shape: their types, their domains, and the relations between them.

``array_laws``: the law checker for relations of arrays.
``array_table``: relations of array functions, made for the types of their arguments.
``axes``: arrays as rows along one axis, in the shape (before, along, after), and operations along
it.
``cumulative``: cumulative sums and products, differences, sorting.
``domain``: arrays of one shape: their type, and their domain.
``elimination``: small linear systems by elimination: without a library, so that it compiles
quickly.
``linear``: products with matrices and vectors, ``solve``, ``inv``.
``reductions``: sums, products and extremes of arrays: all elements of a row but one are free.
"""
