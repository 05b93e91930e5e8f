"""Pullbacks of functions that order elements, and of those between them: quantiles."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "nan_median_back",
    "nan_percentile_back",
    "nan_percentile_place_back",
    "nan_quantile_back",
    "nan_quantile_place_back",
    "partition_back",
    "percentile_back",
    "percentile_place_back",
    "quantile_back",
    "quantile_place_back",
]


def _places_of_numbers(flat: Any) -> Any:
    """The places of the elements that are not nan."""
    found = np.zeros(flat.size, np.int64)
    count = 0
    for i in range(flat.size):
        if not np.isnan(flat[i]):
            found[count] = i
            count += 1
    return found[:count]


def _chosen(flat: Any, places: Any, n: Any) -> Any:
    """The place of element ``n`` in order, by Hoare's selection, which moves the places."""
    low, high = 0, places.size - 1
    while low < high:
        pivot = flat[places[(low + high) // 2]]
        i, j = low, high
        while i <= j:
            while flat[places[i]] < pivot:
                i += 1
            while pivot < flat[places[j]]:
                j -= 1
            if i <= j:
                moved = places[i]
                places[i] = places[j]
                places[j] = moved
                i += 1
                j -= 1
        if n <= j:
            high = j
        elif n >= i:
            low = i
        else:
            break
    return places[n]


def _between(flat: Any, places: Any, share: Any) -> Any:
    """The places of the elements before and after a quantile, and the share of the second."""
    last = places.size - 1
    at = share * last
    low = min(int(at), last)
    before = _chosen(flat, places, low)
    after = _chosen(flat, places, min(low + 1, last))
    return before, after, at - low


def _by_elements(d: Any, a: Any, places: Any, flat: Any, share: Any) -> Any:
    found = np.zeros(flat.size)
    if places.size > 0:
        before, after, part = _between(flat, places, share)
        found[before] += d * (1.0 - part)
        found[after] += d * part
    return found.reshape(a.shape)


def _by_place(d: Any, places: Any, flat: Any, share: Any) -> Any:
    before, after, _ = _between(flat, places, share)
    return d * (flat[after] - flat[before]) * (places.size - 1)


def quantile_back(d: Any, ret: Any, a: Any, q: Any) -> Any:
    flat = np.ravel(a)
    return _by_elements(d, a, np.arange(flat.size), flat, q)


def quantile_place_back(d: Any, ret: Any, a: Any, q: Any) -> Any:
    flat = np.ravel(a)
    return _by_place(d, np.arange(flat.size), flat, q)


def percentile_back(d: Any, ret: Any, a: Any, q: Any) -> Any:
    flat = np.ravel(a)
    return _by_elements(d, a, np.arange(flat.size), flat, q / 100.0)


def percentile_place_back(d: Any, ret: Any, a: Any, q: Any) -> Any:
    flat = np.ravel(a)
    return _by_place(d, np.arange(flat.size), flat, q / 100.0) / 100.0


def nan_quantile_back(d: Any, ret: Any, a: Any, q: Any) -> Any:
    flat = np.ravel(a)
    return _by_elements(d, a, _places_of_numbers(flat), flat, q)


def nan_quantile_place_back(d: Any, ret: Any, a: Any, q: Any) -> Any:
    flat = np.ravel(a)
    return _by_place(d, _places_of_numbers(flat), flat, q)


def nan_percentile_back(d: Any, ret: Any, a: Any, q: Any) -> Any:
    flat = np.ravel(a)
    return _by_elements(d, a, _places_of_numbers(flat), flat, q / 100.0)


def nan_percentile_place_back(d: Any, ret: Any, a: Any, q: Any) -> Any:
    flat = np.ravel(a)
    return _by_place(d, _places_of_numbers(flat), flat, q / 100.0) / 100.0


def nan_median_back(d: Any, ret: Any, a: Any) -> Any:
    flat = np.ravel(a)
    return _by_elements(d, a, _places_of_numbers(flat), flat, 0.5)


def partition_back(d: Any, ret: Any, a: Any, kth: Any) -> Any:
    found = np.zeros(a.size)
    flat, moved, changes = np.ravel(a), np.ravel(ret), np.ravel(d)
    length = a.shape[a.ndim - 1]
    for start in range(0, flat.size, length):
        # numba and numpy put the elements in different places: equal ones belong together
        before = np.argsort(flat[start : start + length])
        after = np.argsort(moved[start : start + length])
        for k in range(length):
            found[start + before[k]] = changes[start + after[k]]
    return found.reshape(a.shape)
