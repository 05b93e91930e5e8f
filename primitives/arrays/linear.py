"""Linear maps: products with matrices and vectors, ``solve``, ``inv``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from primitives.arrays.domain import Arrays, array_of, element_of, is_array, shape_of
from primitives.domains import Complex, NonNegative, Real
from primitives.errors import NoSolution
from primitives.relation import Relation, parametric, relation

__all__ = ["inverted", "nearest_solution", "product", "solved"]

SINGULAR = 1e-12
"""Relative threshold: singular values smaller than this times the largest count as 0."""


# ---- solving ------------------------------------------------------------------------------


def least_change(a: Any, missing: Any) -> Any:
    """The least-squares solution x of ``a @ x = missing``, of minimum norm."""
    return np.linalg.lstsq(a, missing, SINGULAR)[0]


def nearest_solution(a: Any, wanted: Any, near: Any) -> Any:
    """The least-squares solution x of ``a @ x = wanted`` that is closest to ``near``."""
    return np.ascontiguousarray(near + least_change(a, wanted - a @ near))


def square_solution(a: Any, wanted: Any, near: Any) -> Any:
    """The solution x of ``a @ x = wanted``, by LU decomposition; if ``a`` is singular, the
    least-squares solution closest to ``near``.
    """
    found = near
    # if only rounding keeps a pivot from 0, the solution for a generic vector is huge
    trial = np.cos(np.arange(a.shape[0]) ** 2.0)
    try:
        size = np.abs(np.linalg.solve(a, trial)).max() * np.abs(a).max()
        found = np.linalg.solve(a, wanted)
    except Exception:
        size = np.inf
    if size * SINGULAR <= 1.0:
        return np.ascontiguousarray(found)
    return nearest_solution(a, wanted, near)


def projected(ret: float, b: Any, near: Any) -> Any:
    """The vector closest to ``near`` whose product with b is ``ret``."""
    size = (b * b).sum()
    if size == 0:
        if ret != 0:
            raise NoSolution("the product with a vector of zeros is 0")
        return near.copy()
    return near + b * ((ret - (b * near).sum()) / size)


def of_length(ret: float, near: Any) -> Any:
    """The vector in the direction of ``near`` whose product with itself is ``ret``."""
    size = (near * near).sum()
    if ret < 0 or (size == 0 and ret != 0):
        raise NoSolution(
            "the product of a vector with itself is not negative, and 0 only for a vector of zeros"
        )
    return near * np.sqrt(ret / size) if ret != 0 else np.zeros_like(near)


def squared_length(a: Any, target: Any = np.dot) -> Relation | None:
    """The relation of ``a @ a`` for a vector of floats; the direction is free."""
    if len(shape_of(a)) != 1 or element_of(a) is not float:
        return None
    return relation(
        target, a, "return = a @ a", returns=float, low_information=True, codomain=NonNegative,
        ret=lambda a: (a * a).sum(),
        a=parametric(of_length, near=Arrays(Real, shape_of(a)), recover=lambda a: (a,)),
    )  # fmt: skip


# ---- products -----------------------------------------------------------------------------


def product(a: Any, b: Any, target: Any = operator.matmul) -> Relation | None:
    """The relation of ``a @ b``, ``np.matmul`` and ``np.dot`` for vectors and matrices of floats,
    and of complex numbers if one operand is constant.

    a, b: types; one may be a constant array, which is then not an axis of the relation. None for
    other shapes and types.
    """
    shapes = [x.shape if isinstance(x, np.ndarray) else shape_of(x) for x in (a, b)]
    if any(len(shape) not in (1, 2) for shape in shapes) or shapes[0][-1] != shapes[1][0]:
        return None
    constant = isinstance(a, np.ndarray) or isinstance(b, np.ndarray)
    elements = [_element(x) for x in (a, b)]
    if not set(elements) <= ({float, complex} if constant else {float}):
        return None
    element = complex if complex in elements else float
    result = (*shapes[0][:-1], *shapes[1][1:])
    returns = array_of(element, result) if result else element
    if isinstance(a, np.ndarray):
        return _constant_left(a, b, returns, target)
    if isinstance(b, np.ndarray):
        return _constant_right(a, b, returns, target)
    if not result:
        return _inner(a, b, target)
    return _of_two(a, b, returns, target)


def _element(x: Any) -> type | None:
    """The type of the elements of a constant, or of arrays of a type."""
    if isinstance(x, np.ndarray):
        return {"f": float, "c": complex}.get(x.dtype.kind) if x.dtype.itemsize >= 8 else None
    return element_of(x)


def _inner(a: Any, b: Any, target: Any) -> Relation:
    near = Arrays(Real, shape_of(a))
    return relation(
        target, a, b, "return = a @ b", returns=float, low_information=True,
        ret=lambda a, b: (a * b).sum(),
        a=parametric(
            lambda ret, b, near: projected(ret, b, near), near=near, recover=lambda a: (a,)
        ),
        b=parametric(
            lambda ret, a, near: projected(ret, a, near), near=near, recover=lambda b: (b,)
        ),
        ab=parametric(
            lambda ret, near, v: (projected(ret, v, near), v), near=near, v=near,
            recover=lambda a, b: (a, b),
        ),
    )  # fmt: skip


def _of_two(a: Any, b: Any, returns: Any, target: Any) -> Relation:
    """The relation of a product of two variable matrices: one is solved for from the other."""
    shape_a, shape_b = shape_of(a), shape_of(b)
    two_a, two_b = (1, *shape_a)[-2:], (*shape_b, 1)[:2]
    result, table = shape_of(returns), (two_a[0], two_b[1])

    def solve_b(ret: Any, a: Any, near: Any) -> Any:
        wanted, around = ret.reshape(table), near.reshape(two_b)
        matrix = a.reshape(two_a)
        if two_a[0] == two_a[1]:
            return square_solution(matrix, wanted, around).reshape(shape_b)
        return nearest_solution(matrix, wanted, around).reshape(shape_b)

    def solve_a(ret: Any, b: Any, near: Any) -> Any:
        wanted = np.ascontiguousarray(ret.reshape(table).T)
        around = np.ascontiguousarray(near.reshape(two_a).T)
        matrix = np.ascontiguousarray(b.reshape(two_b).T)
        if two_b[0] == two_b[1]:
            found = square_solution(matrix, wanted, around)
        else:
            found = nearest_solution(matrix, wanted, around)
        return np.ascontiguousarray(found.T).reshape(shape_a)

    return relation(
        target, a, b, "return = a @ b", returns=returns, low_information=two_a[0] < two_a[1],
        ret=lambda a, b: np.ascontiguousarray(np.dot(a, b)).reshape(result),
        a=parametric(
            solve_a, near=Arrays(Real, shape_a), recover=lambda a: (a,),
            rounding_only=two_b[0] <= two_b[1],
        ),
        b=parametric(
            solve_b, near=Arrays(Real, shape_b), recover=lambda b: (b,),
            rounding_only=two_a[0] >= two_a[1],
        ),
    )  # fmt: skip


def _constant_left(a: NDArray[Any], b: Any, returns: Any, target: Any) -> Relation:
    return _map(np.atleast_2d(a), b, returns, target, transposed=False)


def _constant_right(a: Any, b: NDArray[Any], returns: Any, target: Any) -> Relation:
    return _map(np.atleast_2d(b.T), a, returns, target, transposed=True)


class _Tables(NamedTuple):
    """Conversions that turn the factor of a constant matrix into a matrix on its right, a table.

    columns: of a table. table: converts an argument to a table. untabled: its inverse. wanted:
    converts a result to a table. forward: the result for an argument.
    """

    columns: int
    table: Callable[[Any], Any]
    untabled: Callable[[Any], Any]
    wanted: Callable[[Any], Any]
    forward: Callable[[Any], Any]


def _tables(matrix: NDArray[Any], x: Any, returns: Any, transposed: bool) -> _Tables:
    shape, result = shape_of(x), shape_of(returns)
    columns = 1 if len(shape) == 1 else (shape[0] if transposed else shape[1])
    high, wide = (matrix.shape[0], columns), (matrix.shape[1], columns)
    turn = _turned if transposed and len(shape) == 2 else _same
    inner, outer = (wide[::-1], high[::-1]) if turn is _turned else (wide, high)

    def table(x: Any) -> Any:
        return turn(x.reshape(inner))

    def untabled(x: Any) -> Any:
        return turn(x).reshape(shape)

    def known(ret: Any) -> Any:
        return turn(ret.reshape(outer))

    def known_number(ret: float) -> Any:
        return np.full(high, ret)

    def forward(x: Any) -> Any:
        return turn(matrix @ table(x)).reshape(result)

    def forward_number(x: Any) -> Any:
        return (matrix @ table(x))[0, 0]

    if not result:
        return _Tables(columns, table, untabled, known_number, forward_number)
    return _Tables(columns, table, untabled, known, forward)


def _map(m: NDArray[Any], x: Any, returns: Any, target: Any, *, transposed: bool) -> Relation:
    """The relation of ``m @ x``, or ``x @ m.T``, for a constant m. Its parameters are coordinates
    in the null space of m; results outside the range of m are refused by the check.
    """
    of_complex = element_of(x) is complex
    matrix = np.ascontiguousarray(m, dtype=np.complex128 if of_complex else m.dtype)
    columns, table, untabled, wanted, forward = _tables(matrix, x, returns, transposed)
    if matrix.dtype.kind == "c" and not of_complex:  # real unknowns: each part is an equation
        matrix, wanted = np.ascontiguousarray(np.vstack((m.real, m.imag))), _parts_of(wanted)
    left, sizes, right = np.linalg.svd(matrix)
    rank = int((sizes > SINGULAR * sizes[0]).sum())
    open_ = matrix.shape[1] - rank
    null = np.ascontiguousarray(right[rank:].conj().T)
    back = np.ascontiguousarray((right[:rank].conj().T / sizes[:rank]) @ left[:, :rank].conj().T)
    across = np.ascontiguousarray(null.conj().T)
    choice = (open_,) if len(shape_of(x)) == 1 else (open_, columns)

    def by_lu(ret: Any) -> Any:
        return untabled(np.ascontiguousarray(np.linalg.solve(matrix, wanted(ret))))

    def by_pseudoinverse(ret: Any) -> Any:
        return untabled(_refined(matrix, back, wanted(ret)))

    def with_null(ret: Any, null_space: Any) -> Any:
        found = _refined(matrix, back, wanted(ret))
        return untabled(found + null @ null_space.reshape((open_, columns)))

    def chosen(x: Any) -> Any:
        found = across @ table(x)
        return (np.ascontiguousarray(found).reshape(choice),)

    solution: Any = by_lu if rank == matrix.shape[0] == matrix.shape[1] else by_pseudoinverse
    if open_:
        solution = parametric(
            with_null, null_space=Arrays(Complex if of_complex else Real, choice), recover=chosen
        )
    equation = f"return = {'times_matrix' if transposed else 'matrix_times'}(x)"
    made = relation(
        target, x, equation, returns=returns, low_information=rank < matrix.shape[1],
        ret=forward, x=solution,
    )  # fmt: skip
    if rank < matrix.shape[0]:
        made.modes[frozenset("x")] = replace(made.modes[frozenset("x")], overdetermined=True)
    return made


def _parts_of(wanted: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The conversion to a table of the real parts, with the imaginary parts below."""

    def parts(ret: Any) -> Any:
        table = wanted(ret)
        return np.concatenate((table.real, table.imag))

    return parts


def _same(table: Any) -> Any:
    return table


def _turned(table: Any) -> Any:
    return np.ascontiguousarray(table.T)


def _refined(matrix: Any, back: Any, wanted: Any) -> Any:
    """The minimum-norm solution, improved by one step of iterative refinement."""
    found = back @ wanted
    return found + back @ (wanted - matrix @ found)


# ---- of square matrices -------------------------------------------------------------------


def solved(a: Any, b: Any) -> Relation | None:
    """The relation of ``np.linalg.solve``; b is the matrix times the solution. a: a type, or a
    constant.
    """
    if isinstance(a, np.ndarray) and is_array(b) and element_of(b) is float:
        return _solved_by_constant(a, b)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return None
    shapes = shape_of(a), shape_of(b)
    regular = len(shapes[0]) == 2 and shapes[0][0] == shapes[0][1] == shapes[1][0]
    if not (is_array(a) and is_array(b) and regular and element_of(a) is element_of(b) is float):
        return None
    return relation(
        np.linalg.solve, a, b, "return = solve(a, b)", returns=b,
        ret=lambda a, b: np.linalg.solve(a, b),
        b=lambda ret, a: np.dot(a, ret),
    )  # fmt: skip


def _solved_by_constant(a: NDArray[Any], b: Any) -> Relation | None:
    matrix = np.ascontiguousarray(a, dtype=np.float64)
    if matrix.shape != (shape_of(b)[0],) * 2:
        return None
    return relation(
        np.linalg.solve, b, "return = solved_by_matrix(b)",
        ret=lambda b: np.ascontiguousarray(np.linalg.solve(matrix, b)),
        b=lambda ret: matrix @ ret,
    )  # fmt: skip


def inverted(a: Any) -> Relation | None:
    """The relation of ``np.linalg.inv``, which is its own inverse."""
    shape = shape_of(a)
    if len(shape) != 2 or shape[0] != shape[1] or element_of(a) is not float:
        return None
    return relation(
        np.linalg.inv, a, "return = inv(a)",
        ret=lambda a: np.linalg.inv(a), a=lambda ret: np.linalg.inv(ret),
    )  # fmt: skip
