"""Functions that the source of adjoints calls, and functions that are lifted instead of others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = [
    "add_at",
    "any_of",
    "cofactors",
    "deviation",
    "element_moved_back",
    "every_of",
    "filtered",
    "larger",
    "largest",
    "logarithm",
    "mapped",
    "mapped_pairs",
    "median",
    "moved_back",
    "moved_back_to_number",
    "never",
    "no_places",
    "norm",
    "onto_1",
    "onto_2",
    "onto_many",
    "places_of",
    "polynomial",
    "product_in_order",
    "product_of",
    "products_so_far",
    "smaller",
    "smallest",
    "tiled",
    "total_of",
    "variance",
]


def never(zero: Any) -> Any:
    """False for 0.0; a compiler that knows only types cannot know that."""
    return zero > 0.0


def onto_1(change: Any, like: Any) -> Any:
    """The adjoint of a vector of the shape of ``like``, from the adjoint of its broadcast."""
    if change.shape[0] == like.shape[0]:
        return change
    return np.sum(change) * np.ones(1)


def onto_2(change: Any, like: Any) -> Any:
    """The adjoint of a matrix of the shape of ``like``, from the adjoint of its broadcast."""
    if like.shape[0] == 1 and change.shape[0] != 1:
        change = np.reshape(np.sum(change, axis=0), (1, change.shape[1]))
    if like.shape[1] == 1 and change.shape[1] != 1:
        change = np.reshape(np.sum(change, axis=1), (change.shape[0], 1))
    return change


def onto_many(change: Any, like: Any) -> Any:
    """The adjoint of an array of the shape of ``like``, from the adjoint of its broadcast."""
    for axis in range(len(like.shape)):
        if like.shape[axis] == 1 and change.shape[axis] != 1:
            change = np.expand_dims(np.sum(change, axis=axis), axis)
    return change


def add_at(into: Any, index: Any, change: Any) -> None:
    """Add to elements of an array; repeated indices accumulate."""
    taken = np.arange(into.size).reshape(into.shape)[index]
    flat = into.reshape(into.size)
    changes = change.reshape(change.size)
    places = taken.reshape(taken.size)
    for i in range(len(places)):
        flat[places[i]] = flat[places[i]] + changes[i]
    into[:] = flat.reshape(into.shape)


def places_of(a: Any) -> Any:
    """The places of the numbers of an array, from 1; a function that moves numbers moves these.
    They are floats, for which numba has compiled the function already."""
    return np.arange(1.0, a.size + 1.0).reshape(a.shape)


def no_places(a: Any) -> Any:
    """The places of constants: 0."""
    return np.zeros(a.shape)


def moved_back(d: Any, places: Any, like: Any) -> Any:
    """The cotangent of an array whose numbers were moved to where their places are now."""
    order = np.ravel(places).astype(np.int64)
    return np.bincount(order, np.ravel(d), like.size + 1)[1:].reshape(like.shape)


def element_moved_back(d: Any, place: Any, like: Any) -> Any:
    """The cotangent of an array of which one number was taken."""
    found = np.zeros(like.size + 1)
    found[int(place)] = d
    return found[1:].reshape(like.shape)


def moved_back_to_number(d: Any, places: Any) -> Any:
    """The cotangent of a number that was copied to where its place, 1, is now."""
    return np.sum(d * (places == 1))


def cofactors(a: Any) -> Any:
    """The derivative of the determinant of a matrix, by its singular values: it may be singular."""
    u, s, vh = np.linalg.svd(a)
    others = np.ones(len(s))
    for i in range(len(s)):
        for j in range(len(s)):
            if j != i:
                others[i] = others[i] * s[j]
    return np.linalg.det(u) * np.linalg.det(vh) * ((u * others) @ vh)


# ---- replacements of functions of numpy ---------------------------------------------------


def norm(a: Any) -> Any:
    return np.sqrt(np.sum(a * a))


def variance(a: Any, ddof: Any = 0) -> Any:
    deviation = a - np.mean(a)
    return np.sum(deviation * deviation) / (a.size - ddof)


def deviation(a: Any, ddof: Any = 0) -> Any:
    return np.sqrt(variance(a, ddof))


def product_of(a: Any) -> Any:
    total = 1.0
    for each in np.ravel(a):
        total = total * each
    return total


def largest(a: Any) -> Any:
    return np.ravel(a)[np.argmax(a)]


def smallest(a: Any) -> Any:
    return np.ravel(a)[np.argmin(a)]


def larger(a: Any, b: Any) -> Any:
    return b if b > a else a


def smaller(a: Any, b: Any) -> Any:
    return b if b < a else a


def product_in_order(a: Any) -> Any:
    total = 1.0
    for each in a:
        total = total * each
    return total


def products_so_far(a: Any) -> Any:
    items = np.ravel(a)
    found = np.zeros(len(items))
    total = 1.0
    for i in range(len(items)):
        total = total * items[i]
        found[i] = total
    return found


def median(a: Any) -> Any:
    items = np.sort(np.ravel(a))
    middle = len(items) // 2
    if len(items) % 2 == 1:
        return items[middle]
    return (items[middle - 1] + items[middle]) / 2.0


def polynomial(p: Any, x: Any) -> Any:
    total = 0.0 * x
    for each in p:
        total = total * x + each
    return total


def tiled(a: Any, count: Any) -> Any:
    return np.ravel(np.outer(np.ones(count), a))


def logarithm(a: Any, b: Any) -> Any:
    return math.log(a) / math.log(b)


# ---- replacements of builtin functions ----------------------------------------------------


def mapped(function: Any, items: Any) -> Any:
    for each in items:
        yield function(each)


def mapped_pairs(function: Any, items: Any, others: Any) -> Any:
    for each, other in zip(items, others, strict=False):
        yield function(each, other)


def filtered(function: Any, items: Any) -> Any:
    for each in items:
        if function(each):
            yield each


def total_of(items: Any, start: Any) -> Any:
    total = start
    for each in items:
        total = total + each
    return total


def any_of(items: Any) -> Any:
    found = False
    for each in items:
        if each:
            found = True
    return found


def every_of(items: Any) -> Any:
    found = True
    for each in items:
        if not each:
            found = False
    return found
