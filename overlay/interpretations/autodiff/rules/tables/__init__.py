"""Tables of rules, one for each family of functions, with one line for each function.

``applications``: rules of functions of numpy that apply a function of Python to parts of arrays.
``arithmetic``: rules of the operators, for numbers and elementwise for arrays.
``axis_reductions``: rules of sums, means, products, extremes and variances along axes.
``choices``: rules of functions that select elements of arrays, insert and delete them.
``comparisons``: rules of functions that compare arrays with others, find values in them, and format
    them.
``compiled_maps``: the maps of cotangents of compiled code, by function.
``complex_parts``: rules of parts, absolute values and angles of complex numbers.
``decompositions``: rules of decompositions of matrices: by eigenvalues, by singular values, QR and
    Cholesky.
``differencing``: rules of differences, gradients, interpolation and weighted counts.
``distinct_values``: rules of functions that treat arrays as sets.
``extremes``: rules of signs, absolute values, extremes and selections.
``fourier``: rules of discrete Fourier transforms.
``layouts``: rules of functions that change the axes of arrays, and the order along them.
``linear_algebra``: rules of inverses, determinants, solutions of linear systems and matrix
    products.
``norms``: rules of norms of vectors and matrices.
``numerical``: rules of numpy's other elementwise functions.
``order_statistics``: rules of functions that order elements, and of medians and quantiles.
``padding``: the rule of np.pad.
``pieces``: rules of functions that join arrays and split them.
``placing``: rules of functions of numpy that write into an array.
``polynomials``: rules of polynomials by their coefficients.
``powers``: rules of powers, of numbers and elementwise of arrays.
``products``: rules of products of arrays.
``ranges``: rules of functions that make arrays of numbers between bounds, and of powers.
``rounding``: rules of piecewise constant functions.
``scipy_distributions``: rules of the densities and distribution functions of ``scipy.stats``.
``scipy_fourier``: rules of the Fourier, cosine and sine transforms of ``scipy.fft``.
``scipy_images``: rules of the linear filters of ``scipy.ndimage``.
``scipy_integration``: rules of integrals and of solutions of differential equations.
``scipy_interpolation``: rules of the interpolations of ``scipy.interpolate``.
``scipy_linear_algebra``: rules of the functions of ``scipy.linalg``.
``scipy_matrices``: rules of norms, banded systems and special matrices of ``scipy.linalg``.
``scipy_optimization``: rules of roots, minima and fits, by the implicit function theorem.
``scipy_reductions``: rules of the functions of ``scipy.special`` that reduce arrays.
``scipy_signals``: rules of the convolutions and linear filters of ``scipy.signal``.
``scipy_several_results``: rules of functions of ``scipy.special`` of several or complex results.
``scipy_special``: rules of the elementwise functions of ``scipy.special``.
``shapes``: rules of functions that move, repeat, join and select elements of arrays.
``whole_parts``: rules of functions that split numbers into a whole part and the rest, and of
    roundings.
"""
