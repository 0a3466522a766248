"""Local polynomial estimators (the paper's section on them; problem LP, LocalPoly, MaxErr).

Certified form: ridge regression on the orthonormal basis of the cell, V = Phi^T Phi + I, weights w = Phi V^-1 phi(x),
always defined. For any weights whatever, over all f of norm at most B,

    bias(x) = B sqrt(K(x,x) - 2 w^T k_x + w^T K_F w)

is exact, and for all x in the cell, all times and adaptive designs at once

    err(x) = bias(x) + sigma sqrt(phi^T V^-1 phi) sqrt(2 log(1/delta_F) + log det V).

(The lemma that the paper quotes is for a design fixed in advance and one x.)
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from quadrat.arrays import Array, ArrayLike, as_points, as_vector
from quadrat.confidence.assumptions import Assumptions
from quadrat.confidence.legendre import LegendreBasis
from quadrat.errors import InvalidInput
from quadrat.partition import Cell

__all__ = ["LocalPolynomial"]


class LocalPolynomial:
    """A ridge polynomial fitted to the observations in one cell, frozen; descendants of the cell go on using it.

    When Algorithm 2 refines a cell by a polynomial (flag 2), the children may hold no data: LocalPoly(F, D, x_F) can
    only mean the parent's data and estimator, at the child's centre. A child's bound is `upper(child)`.

    Cost: O(N^2 p) once for N observations and p = C(D + k, k) polynomials; O(N (D + p)) a point.

    Parameters
    ----------
    cell
        From a family fixed before the data.
    X, y
        All observations in the cell, shapes (N, D) and (N,); replicates one by one. None at all is allowed.
    degree
        k: 0, 1, 2, ...
    assumptions
        Kernel, B and sigma.
    delta
        This cell's share: `DeltaBudget.polynomial(degree, depth)`.
    """

    def __init__(
        self, cell: Cell, X: ArrayLike, y: ArrayLike, *, degree: int, assumptions: Assumptions, delta: float
    ) -> None:
        if not 0 < delta < 1:
            raise InvalidInput(f"delta: expected a probability in (0, 1), got {delta!r}")
        self.cell = cell
        self.assumptions = assumptions
        self.delta = delta
        self.basis = LegendreBasis(cell, degree)
        self.x = as_points(X, dimension=cell.dimension, name="X")
        values = as_vector(y, length=len(self.x), name="y")
        if len(self.x) and not cell.contains(self.x).all():
            raise InvalidInput(f"X: expected points inside the cell {cell}, got some outside")
        self._phi = self.basis(self.x)
        self._V = cho_factor(self._phi.T @ self._phi + np.eye(len(self.basis)))
        self._coefficients = np.asarray(cho_solve(self._V, self._phi.T @ values))
        # w^T K_F w = phi^T V^-1 (Phi^T K Phi) V^-1 phi: the middle is small and computed once
        self._middle = np.zeros((len(self.basis), len(self.basis)))
        if len(self.x):
            self._middle = self._phi.T @ (assumptions.kernel(self.x) @ self._phi)
        logdet = 2 * float(np.log(np.diagonal(self._V[0])).sum())
        self._noise = assumptions.noise * float(np.sqrt(2 * np.log(1 / delta) + logdet))

    @property
    def degree(self) -> int:
        """k."""
        return self.basis.degree

    def estimate(self, X: ArrayLike) -> Array:
        """Return the fitted polynomial at the rows of X, shape (m,)."""
        return self.basis(X) @ self._coefficients

    def error(self, X: ArrayLike) -> Array:
        """Return err(x) = bias + noise at the rows of X, shape (m,): |f - estimate| <= err."""
        return self.bias(X) + self.noise_error(X)

    def bias(self, X: ArrayLike) -> Array:
        """Return the largest |f(x) - sum_i w_i f(x_i)| over the ball, shape (m,)."""
        points = as_points(X, dimension=self.cell.dimension, name="X")
        solved = np.asarray(cho_solve(self._V, self.basis(points).T)).T  # rows V^-1 phi(x)
        variance = self.assumptions.kernel.variance
        square, size = np.full(len(points), variance), np.full(len(points), variance)
        if len(self.x):
            cross = 2 * np.einsum("ip,ip->i", self.assumptions.kernel(points, self.x) @ self._phi, solved)
            own = np.einsum("ip,pq,iq->i", solved, self._middle, solved)
            square += own - cross
            size += own + np.abs(cross)
        # A difference of larger terms: what rounding may have taken away is given back.
        rounding = 64 * np.finfo(np.float64).eps * size
        return np.asarray(self.assumptions.norm_bound * np.sqrt(np.maximum(square, 0.0) + rounding))

    def noise_error(self, X: ArrayLike) -> Array:
        """Return sigma sqrt(phi^T V^-1 phi) sqrt(2 log(1/delta) + log det V), shape (m,)."""
        phi = self.basis(X)
        leverage = np.einsum("ip,ip->i", phi, np.asarray(cho_solve(self._V, phi.T)).T)
        return np.asarray(self._noise * np.sqrt(leverage))

    def upper(self, child: Cell) -> float:
        """Bound max f over a cell inside this one: estimate and err at its centre, plus omega(half its diagonal)."""
        return float((self.estimate(child.centre) + self.error(child.centre))[0]) + self.assumptions.half_variation(
            child
        )

    def lower(self, child: Cell) -> float:
        """Bound min f over a cell inside this one from below."""
        return float((self.estimate(child.centre) - self.error(child.centre))[0]) - self.assumptions.half_variation(
            child
        )

    def largest_error(self, corners: int = 64) -> float:
        """Return the largest err over the centre and at most `corners` corners.

        It sets how finely Algorithm 2 refines (r tilde), hence speed; no bound rests on it.
        """
        return float(self.error(np.vstack([self.cell.centre, *self.cell.corners(corners)])).max())
