"""Local polynomials as the paper prints them: problem (LP), LocalPoly and MaxErr. Nothing here is certified.

The minimum-norm weights that reproduce all polynomials of degree k are ordinary least squares,
w = Phi (Phi^T Phi)^-1 phi(z). They exist if and only if the points determine a polynomial, rank Phi = C(D + k, k);
more than (k+2)^D points, as the paper asks for, do not ensure that (40 points on a circle, k = 2: rank 5 of 6).
"""

from __future__ import annotations

import numpy as np

from quadrat._core.arrays import Array, ArrayLike, as_points, as_vector
from quadrat.confidence.budget import as_probability
from quadrat.confidence.legendre import LegendreBasis
from quadrat.errors import InvalidInput
from quadrat.partition import Cell

__all__ = ["interpolation_weights", "local_poly", "max_err"]


def interpolation_weights(cell: Cell, X: ArrayLike, z: ArrayLike, degree: int) -> Array:
    """Return the weights that LocalPoly uses at the rows of z, shape (m, N): problem (LP), or the plain average.

    The average serves below (k+2)^D points, as printed, and where the points do not determine a polynomial.

    Parameters
    ----------
    cell
        E.
    X
        The observed points in it, shape (N, D).
    z
        Where to estimate, shape (m, D).
    degree
        k >= 0.

    Returns
    -------
    Array
        Shape (m, N); the rows sum to 1.

    Examples
    --------
    >>> interpolation_weights(Cell.unit(1), [[0.0], [0.5], [1.0], [1.0]], [[1.0]], 1).round(2).tolist()
    [[-0.09, 0.18, 0.45, 0.45]]
    """
    points = as_points(X, dimension=cell.dimension, name="X")
    targets = as_points(z, dimension=cell.dimension, name="z")
    n = len(points)
    if n == 0:
        raise InvalidInput("X: expected at least one observation in the cell, got none")
    solved = _inverse_gram(cell, points, degree)
    if solved is None:
        return np.full((len(targets), n), 1 / n)
    basis, inverse = solved
    return basis(targets) @ inverse @ basis(points).T


def local_poly(cell: Cell, X: ArrayLike, y: ArrayLike, z: ArrayLike, degree: int) -> Array:
    """Return LocalPoly(E, D, z): the estimate sum_i w_i y_i at the rows of z, shape (m,).

    Parameters
    ----------
    cell
        E.
    X
        The observed points in it, shape (N, D).
    y
        What was observed, shape (N,).
    z
        Where to estimate, shape (m, D).
    degree
        k >= 0.

    Returns
    -------
    Array
        Shape (m,), in the units of y.

    Examples
    --------
    >>> local_poly(Cell.unit(1), [[0.0], [0.3], [0.6], [1.0]], [0.0, 0.3, 0.6, 1.0], [[0.8]], 1).round(2).tolist()
    [0.8]
    """
    weights = interpolation_weights(cell, X, z, degree)
    return weights @ as_vector(y, length=weights.shape[1], name="y")


def max_err(
    cell: Cell, X: ArrayLike, *, degree: int, smoothness: float, constant: float, noise: float, delta: float
) -> float:
    """Return MaxErr, the largest error bound over the cell as printed.

    That is (1 + ||w||_1) L (sqrt(D) r)^(k + alpha) + sigma ||w||_2 sqrt(2 log(2/delta)) with the weights at x.
    For k <= 1 and D <= 12 both norms are convex in x and the maximum is at a corner. Otherwise they are bounded by
    ||w||_2^2 <= lambda_max((Phi^T Phi)^-1) sum_a prod (2 a_i + 1) and ||w||_1 <= sqrt(N) ||w||_2.

    Parameters
    ----------
    cell, X
        The cell and the observations in it, shape (N, D).
    degree, smoothness
        k and k + alpha.
    constant
        L.
    noise, delta
        sigma, and the probability of failure at a single x.

    Returns
    -------
    float
        In the units of the values.

    Examples
    --------
    >>> grid = [[i / 10] for i in range(11)]
    >>> round(max_err(Cell.unit(1), grid, degree=1, smoothness=2.0, constant=0.1, noise=0.1, delta=0.05), 2)
    0.41
    """
    points = as_points(X, dimension=cell.dimension, name="X")
    dimension = cell.dimension
    tail = noise * np.sqrt(2 * np.log(2 / as_probability(delta)))
    approximation = constant * (np.sqrt(dimension) * cell.longest_side) ** smoothness
    if not len(points):
        return float("inf")
    solved = _inverse_gram(cell, points, degree)
    if solved is None:
        return float(2 * approximation + tail / np.sqrt(len(points)))
    if degree <= 1 and dimension <= 12:
        weights = interpolation_weights(cell, points, np.array(list(cell.corners(2**dimension))), degree)
        one, two = np.abs(weights).sum(1), np.linalg.norm(weights, axis=1)
        return float(((1 + one) * approximation + two * tail).max())
    basis, inverse = solved
    largest = np.sqrt(np.linalg.eigvalsh(inverse)[-1] * _largest_square(basis))
    return float((1 + np.sqrt(len(points)) * largest) * approximation + largest * tail)


def _largest_square(basis: LegendreBasis) -> float:
    """sum_a prod_i (2 a_i + 1): the largest value of ||phi(x)||^2, reached at a corner."""
    return float(np.prod(2 * basis.exponents + 1, axis=1).sum())


def _inverse_gram(cell: Cell, points: Array, degree: int) -> tuple[LegendreBasis, Array] | None:
    """(Phi^T Phi)^-1, or None where LocalPoly falls back to the average."""
    basis = LegendreBasis(cell, degree)
    if len(points) <= (degree + 2) ** cell.dimension:
        return None
    phi = basis(points)
    if np.linalg.matrix_rank(phi) < len(basis):
        return None
    return basis, np.asarray(np.linalg.inv(phi.T @ phi), dtype=np.float64)
