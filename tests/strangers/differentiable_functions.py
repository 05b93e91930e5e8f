"""The functions of numpy and scipy that autograd and JAX differentiate, with arguments for each.

``AUTOGRAD`` and ``JAX`` are the lists: for each module the names that autograd has derivatives of,
and the public names of JAX's module of that name. ``FORMS`` has the calls by which a function is
tried: all its arguments are active. Names of the lists that are not in ``FORMS`` are in ``ALIASES``
or, with a word of the reason, in ``WITHOUT``.
"""

import numpy as np
import scipy.integrate
import scipy.linalg
import scipy.signal
import scipy.special
import scipy.stats

# HIPS/autograd at bff107b8: numpy_vjps.py, numpy_wrapper.py, linalg.py, fft.py and scipy/
AUTOGRAD = {
    "numpy": """
        abs absolute add amax amin angle append arccos arccosh arcsin arcsinh arctan arctan2 arctanh
        array array_split astype atleast_1d atleast_2d atleast_3d broadcast_to clip column_stack
        concatenate conj conjugate cos cosh cross cumsum deg2rad degrees diag diagonal diff divide
        dot dsplit einsum exp exp2 expand_dims expm1 fabs fliplr flipud fmax fmin full gradient
        hsplit hstack hypot imag inner kron linspace log log10 log1p log2 logaddexp logaddexp2
        matmul max maximum mean min minimum mod moveaxis msort multiply nan_to_num negative pad
        partition power prod rad2deg radians ravel real real_if_close reciprocal remainder repeat
        reshape roll rollaxis rot90 row_stack select sin sinc sinh sort split sqrt square squeeze
        stack std subtract sum swapaxes tan tanh tensordot tile trace transpose tril triu
        true_divide var vsplit vstack where""",
    "numpy.linalg": "cholesky det eig eigh inv norm pinv slogdet solve svd",
    "numpy.fft": "fft fft2 fftn fftshift ifft ifft2 ifftn ifftshift irfft irfft2 irfftn rfft rfft2"
    " rfftn",
    "scipy.special": """
        beta betainc betaln digamma erf erfc erfcinv erfinv expit gamma gammainc gammaincc gammaln
        gammasgn i0 i1 iv ive j0 j1 jn logit logsumexp multigammaln polygamma psi rgamma y0 y1
        yn""",
    "scipy.stats": """
        beta.cdf beta.logpdf beta.pdf chi2.cdf chi2.logpdf chi2.pdf dirichlet.logpdf dirichlet.pdf
        gamma.cdf gamma.logpdf gamma.pdf multivariate_normal.entropy multivariate_normal.logpdf
        multivariate_normal.pdf norm.cdf norm.logcdf norm.logpdf norm.logsf norm.pdf norm.sf
        poisson.cdf poisson.logpmf poisson.pmf t.cdf t.logcdf t.logpdf t.pdf""",
    "scipy.integrate": "odeint",
    "scipy.linalg": "solve_banded solve_sylvester solve_triangular sqrtm",
    "scipy.signal": "convolve",
}
# jax-ml/jax at cec06d11: jax/numpy/__init__.py, linalg.py, fft.py and jax/scipy/special.py
JAX = {
    "numpy": """
        abs absolute acos acosh add all allclose amax amin angle any append apply_along_axis
        apply_over_axes arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin
        argpartition argsort argwhere around array array_equal array_equiv array_repr array_split
        array_str asarray asin asinh astype atan atan2 atanh atleast_1d atleast_2d atleast_3d
        average bartlett bfloat16 bincount bitwise_and bitwise_count bitwise_invert
        bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman block
        bool bool_ broadcast_arrays broadcast_shapes broadcast_to can_cast cbrt cdouble ceil
        character choose clip column_stack complex128 complex64 complex_ complexfloating
        ComplexWarning compress concat concatenate conj conjugate convolve copy copysign corrcoef
        correlate cos cosh count_nonzero cov cross csingle cumprod cumsum cumulative_prod
        cumulative_sum deg2rad degrees delete diag diag_indices diag_indices_from diagflat diagonal
        diff digitize divide divmod dot double dsplit dstack dtype e ediff1d einsum einsum_path
        empty empty_like equal euler_gamma exp exp2 expand_dims expm1 extract eye fabs
        fill_diagonal finfo flatnonzero flexible flip fliplr flipud float16 float32 float64 float_
        float_power floating floor floor_divide fmax fmin fmod frexp from_dlpack frombuffer
        fromfile fromfunction fromiter frompyfunc fromstring full full_like gcd generic geomspace
        get_printoptions gradient greater greater_equal hamming hanning heaviside histogram
        histogram2d histogram_bin_edges histogramdd hsplit hstack hypot i0 identity iinfo imag
        index_exp indices inexact inf inner insert int16 int32 int64 int8 int_ integer interp
        intersect1d invert isclose iscomplex iscomplexobj isdtype isfinite isin isinf isnan
        isneginf isposinf isreal isrealobj isscalar issubdtype iterable ix_ kaiser kron lcm ldexp
        left_shift less less_equal lexsort linspace load log log10 log1p log2 logaddexp logaddexp2
        logical_and logical_not logical_or logical_xor logspace mask_indices matmul
        matrix_transpose matvec max maximum mean median meshgrid mgrid min minimum mod modf
        moveaxis multiply nan nan_to_num nanargmax nanargmin nancumprod nancumsum nanmax nanmean
        nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ndim negative
        newaxis nextafter nonzero not_equal number object_ ogrid ones ones_like outer packbits pad
        partition percentile permute_dims pi piecewise place poly polyadd polyder polydiv polyfit
        polyint polymul polysub polyval positive pow power printoptions prod promote_types ptp put
        put_along_axis quantile rad2deg radians ravel ravel_multi_index real reciprocal remainder
        repeat reshape resize result_type right_shift rint roll rollaxis roots rot90 round save
        savez searchsorted select set_printoptions setdiff1d setxor1d shape sign signbit
        signedinteger sin sinc single sinh size sort sort_complex spacing split sqrt square squeeze
        stack std subtract sum swapaxes take take_along_axis tan tanh tensordot tile top_k trace
        transpose trapezoid tri tril tril_indices tril_indices_from trim_zeros triu triu_indices
        triu_indices_from true_divide trunc ufunc uint uint16 uint32 uint64 uint8 union1d unique
        unique_all unique_counts unique_inverse unique_values unpackbits unravel_index
        unsignedinteger unstack unwrap vander var vdot vecdot vecmat vsplit vstack where zeros
        zeros_like c_ r_ s_""",
    "numpy.linalg": """
        cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm
        matrix_power matrix_rank matrix_transpose multi_dot norm outer pinv qr slogdet solve svd
        svdvals tensordot tensorinv tensorsolve trace vecdot vector_norm""",
    "numpy.fft": """
        fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn
        rfft rfft2 rfftfreq rfftn""",
    "scipy.special": """
        bernoulli bessel_jn beta betainc betaln boxcox boxcox1p comb dawsn digamma entr erf erfc
        erfcx erfinv exp1 expi expit expn factorial fresnel gamma gammainc gammaincc gammaln
        gammasgn hyp1f1 hyp2f1 i0 i0e i1 i1e kl_div log_ndtr log_softmax loggamma logit logsumexp
        lpmn lpmn_values multigammaln ndtr ndtri owens_t poch polygamma rel_entr sici softmax
        spence sph_harm_y wofz xlog1py xlogy zeta""",
}
ALIASES = {
    **{f"numpy.{name}": f"numpy.{of}" for name, of in {
        "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "amax": "max", "amin": "min",
        "around": "round", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
        "atan2": "arctan2", "atanh": "arctanh", "bitwise_invert": "invert",
        "bitwise_left_shift": "left_shift", "bitwise_not": "invert",
        "bitwise_right_shift": "right_shift", "concat": "concatenate", "conj": "conjugate",
        "mod": "remainder", "permute_dims": "transpose", "pow": "power", "true_divide": "divide",
    }.items()},
    "scipy.special.psi": "scipy.special.digamma", "scipy.special.jn": "scipy.special.jv",
}  # fmt: skip
"""Other names of a function, which is tried and counted once."""
WITHOUT = {
    # no derivative
    "boolean": """numpy: all allclose any array_equal array_equiv equal greater greater_equal
        isclose iscomplex iscomplexobj isfinite isin isinf isnan isneginf isposinf isreal isrealobj
        isscalar iterable less less_equal logical_and logical_not logical_or logical_xor not_equal
        signbit""",
    "integer": """numpy: argmax argmin argpartition argsort argwhere bitwise_and bitwise_count
        bitwise_or bitwise_xor count_nonzero digitize flatnonzero gcd invert lcm left_shift lexsort
        nanargmax nanargmin ndim nonzero packbits ravel_multi_index right_shift searchsorted shape
        size unpackbits unravel_index unique_counts unique_inverse
        numpy.linalg: matrix_rank scipy.special: bernoulli""",
    "step": """numpy: ceil floor floor_divide heaviside rint round sign spacing trunc
        scipy.special: gammasgn""",
    "rounding": "numpy: nextafter",
    "set": "numpy: intersect1d setdiff1d setxor1d union1d unique unique_all unique_values",
    "constant": """numpy: arange bartlett blackman diag_indices diag_indices_from empty empty_like
        eye fromfunction hamming hanning identity indices ix_ mask_indices ones ones_like tri
        tril_indices tril_indices_from triu_indices triu_indices_from zeros zeros_like
        histogram_bin_edges numpy.fft: fftfreq rfftfreq""",
    # no function of numbers
    "type": """numpy: bfloat16 bool bool_ can_cast cdouble character complex128 complex64 complex_
        complexfloating csingle double dtype finfo flexible float16 float32 float64 float_ floating
        generic iinfo inexact int16 int32 int64 int8 int_ integer isdtype issubdtype number object_
        promote_types result_type signedinteger single ufunc uint uint16 uint32 uint64 uint8
        unsignedinteger ComplexWarning""",
    "value": "numpy: e euler_gamma inf nan newaxis pi",
    "text": "numpy: array_repr array_str get_printoptions printoptions set_printoptions",
    "file": "numpy: from_dlpack frombuffer fromfile fromstring load save savez",
    "indexing": "numpy: c_ index_exp mgrid ogrid r_ s_",
    "meta": "numpy: broadcast_shapes einsum_path frompyfunc fromiter",
    "absent": """numpy: msort row_stack sort_complex top_k
        scipy.special: bessel_jn lpmn lpmn_values""",
}
"""The reasons why names of the lists are not tried, and the names. "absent" has those of which
numpy or scipy has no such function any more, or only one of complex numbers."""


X, Y, Z = 0.62, 1.37, 2.31
V = np.array([0.31, 0.74, 0.52])
U = np.array([0.83, 0.27, 0.61])
W = np.array([1.7, 2.6, 1.2])
L = np.array([0.9, 0.35, 0.6, 0.15, 0.75, 0.5])
K = np.array([0.4, -0.3, 0.8, 0.6])
COLUMN = np.array([[0.45], [0.66]])
A = np.array([[0.9, 0.25, 0.4], [0.35, 1.1, 0.15]])
B = np.array([[0.2, 0.7], [0.55, 0.3], [0.85, 0.1]])
S = np.array([[1.9, 0.3, -0.4], [0.2, 1.4, 0.5], [-0.3, 0.6, 2.3]])
P = S @ S.T + np.diag(np.array([0.5, 1.0, 2.0]))
C = np.linspace(0.2, 1.3, 24).reshape(2, 3, 4) ** 1.5
WHOLE = np.array([2, 0, 1])
CHOICE = np.array([0, 1, 1])
MASK = np.array([True, False, True])
PLACES = np.array([[1], [2]])
POINTS = np.array([0.0, 0.5, 1.0])
TIMES = np.array([0.0, 0.4, 0.9])
COMPLEX = 0.3 + 0.8j

# fmt: off
FORMS = {
    # elementwise functions of numpy
    **{f"numpy.{name}": form for name, form in {
        "absolute":     [(lambda x: np.absolute(x), V - 0.5)],
        "add":          [(lambda x, y: np.add(x, y), V, COLUMN)],
        "angle":        [(lambda x, y: np.angle(x + 1j * y), V, U)],
        "arccos":       [(lambda x: np.arccos(x), V)],
        "arccosh":      [(lambda x: np.arccosh(x), W)],
        "arcsin":       [(lambda x: np.arcsin(x), V)],
        "arcsinh":      [(lambda x: np.arcsinh(x), V)],
        "arctan":       [(lambda x: np.arctan(x), V)],
        "arctan2":      [(lambda x, y: np.arctan2(x, y), V, COLUMN)],
        "arctanh":      [(lambda x: np.arctanh(x), V)],
        "cbrt":         [(lambda x: np.cbrt(x), V)],
        "clip":         [(lambda x: np.clip(x, 0.4, 0.6), V), (lambda x: np.clip(x, 0.4, None), V)],
        "conjugate":    [(lambda x: np.conjugate(x), V)],
        "copysign":     [(lambda x, y: np.copysign(x, y), V, U - 0.5)],
        "cos":          [(lambda x: np.cos(x), V)],
        "cosh":         [(lambda x: np.cosh(x), V)],
        "deg2rad":      [(lambda x: np.deg2rad(x), V)],
        "degrees":      [(lambda x: np.degrees(x), V)],
        "divide":       [(lambda x, y: np.divide(x, y), V, COLUMN)],
        "divmod":       [(lambda x, y: np.divmod(x, y)[1], W, V)],
        "exp":          [(lambda x: np.exp(x), V)],
        "exp2":         [(lambda x: np.exp2(x), V)],
        "expm1":        [(lambda x: np.expm1(x), V)],
        "fabs":         [(lambda x: np.fabs(x), V - 0.5)],
        "float_power":  [(lambda x, y: np.float_power(x, y), V, COLUMN)],
        "fmax":         [(lambda x, y: np.fmax(x, y), V, COLUMN)],
        "fmin":         [(lambda x, y: np.fmin(x, y), V, COLUMN)],
        "fmod":         [(lambda x, y: np.fmod(x, y), W, V)],
        "frexp":        [(lambda x: np.frexp(x)[0], W)],
        "hypot":        [(lambda x, y: np.hypot(x, y), V, COLUMN)],
        "i0":           [(lambda x: np.i0(x), V)],
        "imag":         [(lambda x: np.imag(x * (0.3 + 0.8j)), V)],
        "ldexp":        [(lambda x: np.ldexp(x, WHOLE), V)],
        "log":          [(lambda x: np.log(x), V)],
        "log10":        [(lambda x: np.log10(x), V)],
        "log1p":        [(lambda x: np.log1p(x), V)],
        "log2":         [(lambda x: np.log2(x), V)],
        "logaddexp":    [(lambda x, y: np.logaddexp(x, y), V, COLUMN)],
        "logaddexp2":   [(lambda x, y: np.logaddexp2(x, y), V, COLUMN)],
        "maximum":      [(lambda x, y: np.maximum(x, y), V, COLUMN)],
        "minimum":      [(lambda x, y: np.minimum(x, y), V, COLUMN)],
        "modf":         [(lambda x: np.modf(x)[0], W)],
        "multiply":     [(lambda x, y: np.multiply(x, y), V, COLUMN)],
        "nan_to_num":   [(lambda x: np.nan_to_num(x), V)],
        "negative":     [(lambda x: np.negative(x), V)],
        "positive":     [(lambda x: np.positive(x), V)],
        "power":        [(lambda x, y: np.power(x, y), V, COLUMN), (lambda x: np.power(x, 3), V)],
        "rad2deg":      [(lambda x: np.rad2deg(x), V)],
        "radians":      [(lambda x: np.radians(x), V)],
        "real":         [(lambda x: np.real(x), V)],
        "real_if_close": [(lambda x: np.real_if_close(x), V)],
        "reciprocal":   [(lambda x: np.reciprocal(x), V)],
        "remainder":    [(lambda x, y: np.remainder(x, y), W, V)],
        "sin":          [(lambda x: np.sin(x), V)],
        "sinc":         [(lambda x: np.sinc(x), V)],
        "sinh":         [(lambda x: np.sinh(x), V)],
        "sqrt":         [(lambda x: np.sqrt(x), V)],
        "square":       [(lambda x: np.square(x), V)],
        "subtract":     [(lambda x, y: np.subtract(x, y), V, COLUMN)],
        "tan":          [(lambda x: np.tan(x), V)],
        "tanh":         [(lambda x: np.tanh(x), V)],
        "unwrap":       [(lambda x: np.unwrap(x), W * 3)],
        # shapes, parts and joins
        "append":       [(lambda x, y: np.append(x, y), V, U)],
        "array":        [(lambda x: np.array(x), A), (lambda x, y: np.array([x, y]), X, Y)],
        "array_split":  [(lambda x: np.array_split(x, 2)[1], V)],
        "asarray":      [(lambda x: np.asarray(x), A), (lambda x, y: np.asarray([x, y]), X, Y)],
        "astype":       [(lambda x: np.astype(x, np.float64), V)],
        "atleast_1d":   [(lambda x: np.atleast_1d(x), V), (lambda x: np.atleast_1d(x), X)],
        "atleast_2d":   [(lambda x: np.atleast_2d(x), V)],
        "atleast_3d":   [(lambda x: np.atleast_3d(x), A)],
        "block":        [(lambda x, y: np.block([x, y]), V, U)],
        "broadcast_arrays": [(lambda x, y: np.broadcast_arrays(x, y)[1], V, COLUMN)],
        "broadcast_to": [(lambda x: np.broadcast_to(x, (2, 3)), V)],
        "choose":       [(lambda x, y: np.choose(CHOICE, (x, y)), V, U)],
        "column_stack": [(lambda x, y: np.column_stack((x, y)), V, U)],
        "compress":     [(lambda x: np.compress(MASK, x), V)],
        "concatenate":  [(lambda x, y: np.concatenate((x, y)), V, U),
                         (lambda x, y: np.concatenate((x, y), axis=1), A, COLUMN)],
        "copy":         [(lambda x: np.copy(x), A)],
        "delete":       [(lambda x: np.delete(x, 1), V)],
        "diag":         [(lambda x: np.diag(x), V), (lambda x: np.diag(x, 1), S)],
        "diagflat":     [(lambda x: np.diagflat(x), V)],
        "diagonal":     [(lambda x: np.diagonal(x), S)],
        "dsplit":       [(lambda x: np.dsplit(x, 2)[1], C)],
        "dstack":       [(lambda x, y: np.dstack((x, y)), V, U)],
        "expand_dims":  [(lambda x: np.expand_dims(x, 1), V)],
        "extract":      [(lambda x: np.extract(MASK, x), V)],
        "fill_diagonal": [(lambda x: filled_diagonal(x), S)],
        "flip":         [(lambda x: np.flip(x), V), (lambda x: np.flip(x, axis=1), A)],
        "fliplr":       [(lambda x: np.fliplr(x), A)],
        "flipud":       [(lambda x: np.flipud(x), A)],
        "full":         [(lambda x: np.full(3, x), X)],
        "full_like":    [(lambda x: np.full_like(V, x), X)],
        "hsplit":       [(lambda x: np.hsplit(x, 3)[1], C)],
        "hstack":       [(lambda x, y: np.hstack((x, y)), V, U)],
        "insert":       [(lambda x, y: np.insert(x, 1, y), V, X)],
        "matrix_transpose": [(lambda x: np.matrix_transpose(x), A)],
        "meshgrid":     [(lambda x, y: np.meshgrid(x, y)[1], V, U)],
        "moveaxis":     [(lambda x: np.moveaxis(x, 0, 2), C)],
        "pad":          [(lambda x: np.pad(x, 1), V), (lambda x: np.pad(x, 1, mode="edge"), V)],
        "place":        [(lambda x, y: placed(x, y), V, U)],
        "put":          [(lambda x, y: put(x, y), V, X)],
        "put_along_axis": [(lambda x, y: put_along(x, y), A, X)],
        "ravel":        [(lambda x: np.ravel(x), A)],
        "repeat":       [(lambda x: np.repeat(x, 2), V), (lambda x: np.repeat(x, 2, axis=1), A)],
        "reshape":      [(lambda x: np.reshape(x, (3, 2)), A)],
        "resize":       [(lambda x: np.resize(x, (2, 4)), V)],
        "roll":         [(lambda x: np.roll(x, 1), V), (lambda x: np.roll(x, 1, axis=1), A)],
        "rollaxis":     [(lambda x: np.rollaxis(x, 2), C)],
        "rot90":        [(lambda x: np.rot90(x), A)],
        "select":       [(lambda x, y: np.select([x > 0.5, y > 0.5], [x, y], 0.2), V, U)],
        "split":        [(lambda x: np.split(x, 3)[1], L)],
        "squeeze":      [(lambda x: np.squeeze(x), COLUMN)],
        "stack":        [(lambda x, y: np.stack((x, y)), V, U),
                         (lambda x, y: np.stack((x, y), axis=1), V, U)],
        "swapaxes":     [(lambda x: np.swapaxes(x, 0, 1), A)],
        "take":         [(lambda x: np.take(x, WHOLE), V),
                         (lambda x: np.take(x, WHOLE, axis=1), A)],
        "take_along_axis": [(lambda x: np.take_along_axis(x, np.argsort(x, axis=1), axis=1), A)],
        "tile":         [(lambda x: np.tile(x, 2), V)],
        "transpose":    [(lambda x: np.transpose(x), A),
                         (lambda x: np.transpose(x, (2, 0, 1)), C)],
        "tril":         [(lambda x: np.tril(x), S), (lambda x: np.tril(x, -1), S)],
        "trim_zeros":   [(lambda x: np.trim_zeros(x), V)],
        "triu":         [(lambda x: np.triu(x), S), (lambda x: np.triu(x, 1), S)],
        "unstack":      [(lambda x: np.unstack(x)[1], A)],
        "vsplit":       [(lambda x: np.vsplit(x, 2)[1], A)],
        "vstack":       [(lambda x, y: np.vstack((x, y)), V, U)],
        "where":        [(lambda x, y: np.where(x > 0.5, x, y), V, U),
                         (lambda x, y: np.where(V > 0.5, x, y), V, COLUMN)],
        # sums, products and other reductions
        "apply_along_axis": [(lambda x: np.apply_along_axis(np.sum, 0, x), A)],
        "apply_over_axes": [(lambda x: np.apply_over_axes(np.sum, x, (0, 2)), C)],
        "average":      [(lambda x: np.average(x), V),
                         (lambda x, y: np.average(x, axis=1, weights=y), A, U)],
        "corrcoef":     [(lambda x, y: np.corrcoef(x, y), V, U)],
        "cov":          [(lambda x, y: np.cov(x, y), V, U)],
        "cumprod":      [(lambda x: np.cumprod(x), V), (lambda x: np.cumprod(x, axis=1), A)],
        "cumsum":       [(lambda x: np.cumsum(x), V), (lambda x: np.cumsum(x, axis=1), A)],
        "cumulative_prod": [(lambda x: np.cumulative_prod(x), V)],
        "cumulative_sum": [(lambda x: np.cumulative_sum(x), V)],
        "max":          [(lambda x: np.max(x), V), (lambda x: np.max(x, axis=1), A)],
        "mean":         [(lambda x: np.mean(x), A), (lambda x: np.mean(x, axis=1), A),
                         (lambda x: np.mean(x, axis=1, keepdims=True), A)],
        "median":       [(lambda x: np.median(x), V), (lambda x: np.median(x, axis=1), A)],
        "min":          [(lambda x: np.min(x), V), (lambda x: np.min(x, axis=1), A)],
        "nancumprod":   [(lambda x: np.nancumprod(x), V)],
        "nancumsum":    [(lambda x: np.nancumsum(x), V)],
        "nanmax":       [(lambda x: np.nanmax(x), V), (lambda x: np.nanmax(x, axis=1), A)],
        "nanmean":      [(lambda x: np.nanmean(x), V), (lambda x: np.nanmean(x, axis=1), A)],
        "nanmedian":    [(lambda x: np.nanmedian(x), V), (lambda x: np.nanmedian(x, axis=1), A)],
        "nanmin":       [(lambda x: np.nanmin(x), V), (lambda x: np.nanmin(x, axis=1), A)],
        "nanpercentile": [(lambda x: np.nanpercentile(x, 30.0), V)],
        "nanprod":      [(lambda x: np.nanprod(x), V), (lambda x: np.nanprod(x, axis=1), A)],
        "nanquantile":  [(lambda x: np.nanquantile(x, 0.3), V)],
        "nanstd":       [(lambda x: np.nanstd(x), V), (lambda x: np.nanstd(x, axis=1), A)],
        "nansum":       [(lambda x: np.nansum(x), V), (lambda x: np.nansum(x, axis=1), A)],
        "nanvar":       [(lambda x: np.nanvar(x), V), (lambda x: np.nanvar(x, axis=1), A)],
        "partition":    [(lambda x: np.partition(x, 1), V)],
        "percentile":   [(lambda x: np.percentile(x, 30.0), V)],
        "prod":         [(lambda x: np.prod(x), V), (lambda x: np.prod(x, axis=1), A)],
        "ptp":          [(lambda x: np.ptp(x), V), (lambda x: np.ptp(x, axis=1), A)],
        "quantile":     [(lambda x: np.quantile(x, 0.3), V),
                         (lambda x: np.quantile(x, 0.3, axis=1), A)],
        "sort":         [(lambda x: np.sort(x), V), (lambda x: np.sort(x, axis=0), A)],
        "std":          [(lambda x: np.std(x), V), (lambda x: np.std(x, axis=1, ddof=1), A)],
        "sum":          [(lambda x: np.sum(x), A), (lambda x: np.sum(x, axis=1), A),
                         (lambda x: np.sum(x, axis=1, keepdims=True), A)],
        "trace":        [(lambda x: np.trace(x), S), (lambda x: np.trace(x, 1), S)],
        "trapezoid":    [(lambda x: np.trapezoid(x), V), (lambda x, y: np.trapezoid(x, y), V, W)],
        "var":          [(lambda x: np.var(x), V), (lambda x: np.var(x, axis=1, ddof=1), A)],
        # products
        "convolve":     [(lambda x, y: np.convolve(x, y), K, V),
                         (lambda x, y: np.convolve(x, y, "same"), K, V)],
        "correlate":    [(lambda x, y: np.correlate(x, y), K, V)],
        "cross":        [(lambda x, y: np.cross(x, y), V, U)],
        "dot":          [(lambda x, y: np.dot(x, y), V, U), (lambda x, y: np.dot(x, y), A, B)],
        "einsum":       [(lambda x, y: np.einsum("ij,jk->ik", x, y), A, B),
                         (lambda x, y: np.einsum("i,i->", x, y), V, U)],
        "inner":        [(lambda x, y: np.inner(x, y), V, U)],
        "kron":         [(lambda x, y: np.kron(x, y), V, U)],
        "matmul":       [(lambda x, y: np.matmul(x, y), A, B), (lambda x, y: x @ y, A, V)],
        "matvec":       [(lambda x, y: np.matvec(x, y), A, V)],
        "outer":        [(lambda x, y: np.outer(x, y), V, U)],
        "tensordot":    [(lambda x, y: np.tensordot(x, y, axes=1), A, B)],
        "vdot":         [(lambda x, y: np.vdot(x, y), V, U)],
        "vecdot":       [(lambda x, y: np.vecdot(x, y), V, U)],
        "vecmat":       [(lambda x, y: np.vecmat(x, y), V, B)],
        # numerical functions
        "bincount":     [(lambda x: np.bincount(WHOLE, weights=x), V)],
        "diff":         [(lambda x: np.diff(x), L), (lambda x: np.diff(x, axis=0), A),
                         (lambda x: np.diff(x, 2), L)],
        "ediff1d":      [(lambda x: np.ediff1d(x), L)],
        "geomspace":    [(lambda x, y: np.geomspace(x, y, 5), X, Z)],
        "gradient":     [(lambda x: np.gradient(x), L)],
        "histogram":    [(lambda x: np.histogram(V, 2, weights=x)[0], U)],
        "histogram2d":  [(lambda x: np.histogram2d(V, U, 2, weights=x)[0], W)],
        "histogramdd":  [(lambda x: np.histogramdd(V, 2, weights=x)[0], U)],
        "interp":       [(lambda x, y: np.interp(x, POINTS, y), V, W)],
        "kaiser":       [(lambda x: np.kaiser(5, x), Z)],
        "linspace":     [(lambda x, y: np.linspace(x, y, 5), X, Z)],
        "logspace":     [(lambda x, y: np.logspace(x, y, 5), X, Y)],
        "piecewise":    [(lambda x: np.piecewise(x, [x < 0.5, x >= 0.5], [np.sin, np.cos]), V)],
        "poly":         [(lambda x: np.poly(x), V)],
        "polyadd":      [(lambda x, y: np.polyadd(x, y), V, K)],
        "polyder":      [(lambda x: np.polyder(x), K)],
        "polydiv":      [(lambda x, y: np.polydiv(x, y)[0], K, V)],
        "polyfit":      [(lambda x, y: np.polyfit(x, y, 1), V, U)],
        "polyint":      [(lambda x: np.polyint(x), K)],
        "polymul":      [(lambda x, y: np.polymul(x, y), V, K)],
        "polysub":      [(lambda x, y: np.polysub(x, y), V, K)],
        "polyval":      [(lambda x, y: np.polyval(x, y), K, V)],
        "roots":        [(lambda x: np.real(np.roots(x))[:1], np.array([1.0, -3.0, 2.0, 0.1]))],
        "vander":       [(lambda x: np.vander(x), V)],
    }.items()},
    # linear algebra
    **{f"numpy.linalg.{name}": form for name, form in {
        "cholesky":     [(lambda x: np.linalg.cholesky(x @ x.T), S)],
        "cond":         [(lambda x: np.linalg.cond(x), S)],
        "cross":        [(lambda x, y: np.linalg.cross(x, y), V, U)],
        "det":          [(lambda x: np.linalg.det(x), S)],
        "diagonal":     [(lambda x: np.linalg.diagonal(x), S)],
        "eig":          [(lambda x: np.real(np.linalg.eig(x)[0]), P)],
        "eigh":         [(lambda x: np.linalg.eigh(x + x.T)[0], S),
                         (lambda x: np.square(np.linalg.eigh(x + x.T)[1]), S)],
        "eigvals":      [(lambda x: np.real(np.linalg.eigvals(x)), P)],
        "eigvalsh":     [(lambda x: np.linalg.eigvalsh(x + x.T), S)],
        "inv":          [(lambda x: np.linalg.inv(x), S)],
        "lstsq":        [(lambda x, y: np.linalg.lstsq(x, y)[0], B, V)],
        "matmul":       [(lambda x, y: np.linalg.matmul(x, y), A, B)],
        "matrix_norm":  [(lambda x: np.linalg.matrix_norm(x), A)],
        "matrix_power": [(lambda x: np.linalg.matrix_power(x, 3), S)],
        "matrix_transpose": [(lambda x: np.linalg.matrix_transpose(x), A)],
        "multi_dot":    [(lambda x, y: np.linalg.multi_dot([x, y, x]), A, B)],
        "norm":         [(lambda x: np.linalg.norm(x), V),
                         (lambda x: np.linalg.norm(x, axis=1), A),
                         (lambda x: np.linalg.norm(x, 1), V)],
        "outer":        [(lambda x, y: np.linalg.outer(x, y), V, U)],
        "pinv":         [(lambda x: np.linalg.pinv(x), A)],
        "qr":           [(lambda x: np.linalg.qr(x)[1], S), (lambda x: np.linalg.qr(x)[0], S)],
        "slogdet":      [(lambda x: np.linalg.slogdet(x)[1], S)],
        "solve":        [(lambda x, y: np.linalg.solve(x, y), S, V)],
        "svd":          [(lambda x: np.linalg.svd(x, compute_uv=False), A),
                         (lambda x: np.square(np.linalg.svd(x)[0]), A)],
        "svdvals":      [(lambda x: np.linalg.svdvals(x), A)],
        "tensordot":    [(lambda x, y: np.linalg.tensordot(x, y, axes=1), A, B)],
        "tensorinv":    [(lambda x: np.linalg.tensorinv(x, 1), S)],
        "tensorsolve":  [(lambda x, y: np.linalg.tensorsolve(x, y), S, V)],
        "trace":        [(lambda x: np.linalg.trace(x), S)],
        "vecdot":       [(lambda x, y: np.linalg.vecdot(x, y), V, U)],
        "vector_norm":  [(lambda x: np.linalg.vector_norm(x), V)],
    }.items()},
    **{f"numpy.fft.{name}": form for name, form in {
        "fft":          [(lambda x: np.real(np.fft.fft(x) * COMPLEX), K)],
        "fft2":         [(lambda x: np.real(np.fft.fft2(x) * COMPLEX), A)],
        "fftn":         [(lambda x: np.real(np.fft.fftn(x) * COMPLEX), A)],
        "fftshift":     [(lambda x: np.fft.fftshift(x), V)],
        "hfft":         [(lambda x: np.fft.hfft(x * COMPLEX), K)],
        "ifft":         [(lambda x: np.real(np.fft.ifft(x) * COMPLEX), K)],
        "ifft2":        [(lambda x: np.real(np.fft.ifft2(x) * COMPLEX), A)],
        "ifftn":        [(lambda x: np.real(np.fft.ifftn(x) * COMPLEX), A)],
        "ifftshift":    [(lambda x: np.fft.ifftshift(x), V)],
        "ihfft":        [(lambda x: np.real(np.fft.ihfft(x) * COMPLEX), K)],
        "irfft":        [(lambda x: np.fft.irfft(x * COMPLEX), K)],
        "irfft2":       [(lambda x: np.fft.irfft2(x * COMPLEX), A)],
        "irfftn":       [(lambda x: np.fft.irfftn(x * COMPLEX), A)],
        "rfft":         [(lambda x: np.real(np.fft.rfft(x) * COMPLEX), K)],
        "rfft2":        [(lambda x: np.real(np.fft.rfft2(x) * COMPLEX), A)],
        "rfftn":        [(lambda x: np.real(np.fft.rfftn(x) * COMPLEX), A)],
    }.items()},
    **{f"scipy.special.{name}": form for name, form in {
        "beta":         [(lambda x, y: scipy.special.beta(x, y), V, COLUMN)],
        "betainc":      [(lambda x: scipy.special.betainc(1.4, 2.3, x), V)],
        "betaln":       [(lambda x, y: scipy.special.betaln(x, y), V, COLUMN)],
        "boxcox":       [(lambda x, y: scipy.special.boxcox(x, y), V, COLUMN)],
        "boxcox1p":     [(lambda x, y: scipy.special.boxcox1p(x, y), V, COLUMN)],
        "comb":         [(lambda x, y: scipy.special.comb(x, y), W, V)],
        "dawsn":        [(lambda x: scipy.special.dawsn(x), V)],
        "digamma":      [(lambda x: scipy.special.digamma(x), V)],
        "entr":         [(lambda x: scipy.special.entr(x), V)],
        "erf":          [(lambda x: scipy.special.erf(x), V)],
        "erfc":         [(lambda x: scipy.special.erfc(x), V)],
        "erfcinv":      [(lambda x: scipy.special.erfcinv(x), V)],
        "erfcx":        [(lambda x: scipy.special.erfcx(x), V)],
        "erfinv":       [(lambda x: scipy.special.erfinv(x), V)],
        "exp1":         [(lambda x: scipy.special.exp1(x), V)],
        "expi":         [(lambda x: scipy.special.expi(x), V)],
        "expit":        [(lambda x: scipy.special.expit(x), V)],
        "expn":         [(lambda x: scipy.special.expn(2, x), V)],
        "factorial":    [(lambda x: scipy.special.factorial(x), V)],
        "fresnel":      [(lambda x: scipy.special.fresnel(x)[0], V)],
        "gamma":        [(lambda x: scipy.special.gamma(x), V)],
        "gammainc":     [(lambda x: scipy.special.gammainc(1.4, x), V)],
        "gammaincc":    [(lambda x: scipy.special.gammaincc(1.4, x), V)],
        "gammaln":      [(lambda x: scipy.special.gammaln(x), V)],
        "hyp1f1":       [(lambda x: scipy.special.hyp1f1(1.4, 2.3, x), V)],
        "hyp2f1":       [(lambda x: scipy.special.hyp2f1(1.4, 2.3, 3.1, x), V)],
        "i0":           [(lambda x: scipy.special.i0(x), V)],
        "i0e":          [(lambda x: scipy.special.i0e(x), V)],
        "i1":           [(lambda x: scipy.special.i1(x), V)],
        "i1e":          [(lambda x: scipy.special.i1e(x), V)],
        "iv":           [(lambda x: scipy.special.iv(1.4, x), V)],
        "ive":          [(lambda x: scipy.special.ive(1.4, x), V)],
        "j0":           [(lambda x: scipy.special.j0(x), V)],
        "j1":           [(lambda x: scipy.special.j1(x), V)],
        "jv":           [(lambda x: scipy.special.jv(1.4, x), V)],
        "kl_div":       [(lambda x, y: scipy.special.kl_div(x, y), V, COLUMN)],
        "log_ndtr":     [(lambda x: scipy.special.log_ndtr(x), V)],
        "log_softmax":  [(lambda x: scipy.special.log_softmax(x), V),
                         (lambda x: scipy.special.log_softmax(x, axis=1), A)],
        "loggamma":     [(lambda x: scipy.special.loggamma(x), V)],
        "logit":        [(lambda x: scipy.special.logit(x), V)],
        "logsumexp":    [(lambda x: scipy.special.logsumexp(x), V),
                         (lambda x: scipy.special.logsumexp(x, axis=1, keepdims=True), A)],
        "multigammaln": [(lambda x: scipy.special.multigammaln(x, 2), W)],
        "ndtr":         [(lambda x: scipy.special.ndtr(x), V)],
        "ndtri":        [(lambda x: scipy.special.ndtri(x), V)],
        "owens_t":      [(lambda x, y: scipy.special.owens_t(x, y), V, COLUMN)],
        "poch":         [(lambda x, y: scipy.special.poch(x, y), V, COLUMN)],
        "polygamma":    [(lambda x: scipy.special.polygamma(1, x), V)],
        "rel_entr":     [(lambda x, y: scipy.special.rel_entr(x, y), V, COLUMN)],
        "rgamma":       [(lambda x: scipy.special.rgamma(x), V)],
        "sici":         [(lambda x: scipy.special.sici(x)[0], V)],
        "softmax":      [(lambda x: scipy.special.softmax(x), V),
                         (lambda x: scipy.special.softmax(x, axis=1), A)],
        "spence":       [(lambda x: scipy.special.spence(x), V)],
        "sph_harm_y":   [(lambda x, y: np.real(scipy.special.sph_harm_y(2, 1, x, y)), V, U)],
        "wofz":         [(lambda x: np.real(scipy.special.wofz(x)), V)],
        "xlog1py":      [(lambda x, y: scipy.special.xlog1py(x, y), V, COLUMN)],
        "xlogy":        [(lambda x, y: scipy.special.xlogy(x, y), V, COLUMN)],
        "y0":           [(lambda x: scipy.special.y0(x), V)],
        "y1":           [(lambda x: scipy.special.y1(x), V)],
        "yn":           [(lambda x: scipy.special.yn(2, x), V)],
        "zeta":         [(lambda x: scipy.special.zeta(2.4, x), V)],
    }.items()},
    **{f"scipy.stats.{name}": form for name, form in {
        "beta.cdf":     [(lambda x: scipy.stats.beta.cdf(x, 1.4, 2.3), V)],
        "beta.logpdf":  [(lambda x, a, b: scipy.stats.beta.logpdf(x, a, b), V, W, U)],
        "beta.pdf":     [(lambda x, a, b: scipy.stats.beta.pdf(x, a, b), V, W, U)],
        "chi2.cdf":     [(lambda x: scipy.stats.chi2.cdf(x, 2.3), V)],
        "chi2.logpdf":  [(lambda x: scipy.stats.chi2.logpdf(x, 2.3), V)],
        "chi2.pdf":     [(lambda x: scipy.stats.chi2.pdf(x, 2.3), V)],
        "dirichlet.logpdf": [(lambda a: scipy.stats.dirichlet.logpdf(V / 1.57, a), W)],
        "dirichlet.pdf": [(lambda a: scipy.stats.dirichlet.pdf(V / 1.57, a), W)],
        "gamma.cdf":    [(lambda x: scipy.stats.gamma.cdf(x, 2.3), V)],
        "gamma.logpdf": [(lambda x, a: scipy.stats.gamma.logpdf(x, a), V, W)],
        "gamma.pdf":    [(lambda x, a: scipy.stats.gamma.pdf(x, a), V, W)],
        "multivariate_normal.entropy":
            [(lambda x: scipy.stats.multivariate_normal.entropy(V, x @ x.T), S)],
        "multivariate_normal.logpdf":
            [(lambda x, m: scipy.stats.multivariate_normal.logpdf(x, m, P), V, U)],
        "multivariate_normal.pdf":
            [(lambda x, m: scipy.stats.multivariate_normal.pdf(x, m, P), V, U)],
        "norm.cdf":     [(lambda x, m, s: scipy.stats.norm.cdf(x, m, s), V, U, W)],
        "norm.logcdf":  [(lambda x, m, s: scipy.stats.norm.logcdf(x, m, s), V, U, W)],
        "norm.logpdf":  [(lambda x, m, s: scipy.stats.norm.logpdf(x, m, s), V, U, W)],
        "norm.logsf":   [(lambda x, m, s: scipy.stats.norm.logsf(x, m, s), V, U, W)],
        "norm.pdf":     [(lambda x, m, s: scipy.stats.norm.pdf(x, m, s), V, U, W)],
        "norm.sf":      [(lambda x, m, s: scipy.stats.norm.sf(x, m, s), V, U, W)],
        "poisson.cdf":  [(lambda x: scipy.stats.poisson.cdf(WHOLE, x), W)],
        "poisson.logpmf": [(lambda x: scipy.stats.poisson.logpmf(WHOLE, x), W)],
        "poisson.pmf":  [(lambda x: scipy.stats.poisson.pmf(WHOLE, x), W)],
        "t.cdf":        [(lambda x, m, s: scipy.stats.t.cdf(x, 4.2, m, s), V, U, W)],
        "t.logcdf":     [(lambda x, m, s: scipy.stats.t.logcdf(x, 4.2, m, s), V, U, W)],
        "t.logpdf":     [(lambda x, d, m, s: scipy.stats.t.logpdf(x, d, m, s), V, W, U, W)],
        "t.pdf":        [(lambda x, d, m, s: scipy.stats.t.pdf(x, d, m, s), V, W, U, W)],
    }.items()},
    "scipy.integrate.odeint":
        [(lambda y: scipy.integrate.odeint(decay, y, TIMES, rtol=1e-12, atol=1e-12), U)],
    "scipy.linalg.solve_banded":
        [(lambda x, y: scipy.linalg.solve_banded((1, 1), x, y), S, V)],
    "scipy.linalg.solve_sylvester":
        [(lambda x, y: scipy.linalg.solve_sylvester(x, x, y), S, P)],
    "scipy.linalg.solve_triangular":
        [(lambda x, y: scipy.linalg.solve_triangular(x, y, lower=True), S, V)],
    "scipy.linalg.sqrtm": [(lambda x: scipy.linalg.sqrtm(x), P)],
    "scipy.signal.convolve": [(lambda x, y: scipy.signal.convolve(x, y), K, V)],
}
# fmt: on
"""By the path of a function its forms: calls of it, each with the arguments."""


def filled_diagonal(x):
    own = np.copy(x)
    np.fill_diagonal(own, 0.5)
    return own


def placed(x, y):
    own = np.copy(x)
    np.place(own, MASK, y)
    return own


def put(x, y):
    own = np.copy(x)
    np.put(own, 1, y)
    return own


def put_along(x, y):
    own = np.copy(x)
    np.put_along_axis(own, PLACES, y, axis=1)
    return own


def decay(y, t):
    return -y * (1.0 + t)
