"""The maps of cotangents of compiled code, by function: for its data parameters, the loops that
replace the map of its row, or that stand beside the function that defines it.

They take the forms of calls that numba compiles: a call that they do not take keeps the other map.
"""

import numpy as np

from overlay.interpretations.autodiff.rules.loops import (
    matrix_loops,
    number_loops,
    order_loops,
    product_loops,
    reduction_loops,
)

__all__ = ["COMPILED_MAPS"]

# fmt: off
COMPILED_MAPS = {
    # reductions of all elements
    np.ptp: {"a": reduction_loops.ptp_back},
    np.average: {"a": reduction_loops.average_back,
                 "weights": reduction_loops.average_weights_back},
    np.cumsum: {"a": reduction_loops.cumsum_back},
    np.nanmax: {"a": reduction_loops.extreme_back},
    np.nanmin: {"a": reduction_loops.extreme_back},
    np.nansum: {"a": reduction_loops.nan_sum_back},
    np.nanmean: {"a": reduction_loops.nan_mean_back},
    np.nanvar: {"a": reduction_loops.nan_var_back},
    np.nanstd: {"a": reduction_loops.nan_std_back},
    np.nanprod: {"a": reduction_loops.nan_prod_back},
    np.nancumsum: {"a": reduction_loops.nan_cumsum_back},
    np.nancumprod: {"a": reduction_loops.nan_cumprod_back},
    np.cov: {"m": reduction_loops.cov_first_back, "y": reduction_loops.cov_second_back},
    np.corrcoef: {"x": reduction_loops.corrcoef_first_back,
                  "y": reduction_loops.corrcoef_second_back},
    # orders
    np.quantile: {"a": order_loops.quantile_back, "q": order_loops.quantile_place_back},
    np.percentile: {"a": order_loops.percentile_back, "q": order_loops.percentile_place_back},
    np.nanquantile: {"a": order_loops.nan_quantile_back,
                     "q": order_loops.nan_quantile_place_back},
    np.nanpercentile: {"a": order_loops.nan_percentile_back,
                       "q": order_loops.nan_percentile_place_back},
    np.nanmedian: {"a": order_loops.nan_median_back},
    np.partition: {"a": order_loops.partition_back},
    # products
    np.vdot: {"a": product_loops.vdot_first_back, "b": product_loops.vdot_second_back},
    np.cross: {"a": product_loops.cross_first_back, "b": product_loops.cross_second_back},
    np.kron: {"a": product_loops.kron_first_back, "b": product_loops.kron_second_back},
    np.convolve: {"a": product_loops.convolve_first_back,
                  "v": product_loops.convolve_second_back},
    np.correlate: {"a": product_loops.correlate_first_back,
                   "v": product_loops.correlate_second_back},
    np.vander: {"x": product_loops.vander_back},
    # numbers
    np.diff: {"a": number_loops.diff_back},
    np.ediff1d: {"ary": number_loops.ediff1d_back},
    **{getattr(np, name): {"y": number_loops.trapezoid_back,
                           "x": number_loops.trapezoid_places_back,
                           "dx": number_loops.trapezoid_step_back}
       for name in ("trapezoid", "trapz") if hasattr(np, name)},
    np.unwrap: {"p": number_loops.unwrap_back},
    np.interp: {"x": number_loops.interp_back, "xp": number_loops.interp_places_back,
                "fp": number_loops.interp_values_back},
    np.roots: {"p": number_loops.roots_back},
    np.linspace: {"start": number_loops.linspace_first_back,
                  "stop": number_loops.linspace_last_back},
    np.logspace: {"start": number_loops.logspace_first_back,
                  "stop": number_loops.logspace_last_back},
    np.geomspace: {"start": number_loops.geomspace_first_back,
                   "stop": number_loops.geomspace_last_back},
    # matrices
    np.trace: {"a": matrix_loops.trace_back},
    np.linalg.slogdet: {"a": matrix_loops.slogdet_back},
    np.linalg.cholesky: {"a": matrix_loops.cholesky_back},
    np.linalg.qr: {"a": matrix_loops.qr_back},
    np.linalg.eigh: {"a": matrix_loops.eigh_back},
    np.linalg.eigvalsh: {"a": matrix_loops.eigvalsh_back},
    np.linalg.eig: {"a": matrix_loops.eig_back},
    np.linalg.eigvals: {"a": matrix_loops.eigvals_back},
    np.linalg.svd: {"a": matrix_loops.svd_back},
    np.linalg.cond: {"x": matrix_loops.cond_back},
    np.linalg.matrix_power: {"a": matrix_loops.matrix_power_back},
    np.linalg.pinv: {"a": matrix_loops.pinv_back},
    np.linalg.lstsq: {"a": matrix_loops.lstsq_first_back, "b": matrix_loops.lstsq_second_back},
    np.linalg.norm: {"x": matrix_loops.norm_back},
}
# fmt: on
