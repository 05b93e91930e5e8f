"""plum's generic functions in compiled code: resolved by plum, on types, when compiled."""

from overlay.plum_methods import is_function, is_result, resolved

__all__ = ["is_function", "is_result", "resolved"]
