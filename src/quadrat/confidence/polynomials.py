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

from quadrat._core.arrays import Array, ArrayLike, as_points, as_vector
from quadrat.confidence.assumptions import Assumptions
from quadrat.confidence.budget import as_probability
from quadrat.confidence.legendre import LegendreBasis
from quadrat.errors import InvalidInput
from quadrat.gp import Observations
from quadrat.partition import Cell

__all__ = ["LocalPolynomial"]


class LocalPolynomial:
    """A ridge polynomial fitted to the observations in one cell, frozen; descendants of the cell go on using it.

    When Algorithm 2 refines a cell by a polynomial (flag 2), the children may hold no data: LocalPoly(F, D, x_F) can
    only mean the parent's data and estimator, at the child's centre. A child's bound is `upper(child)`.

    Cost, for N distinct points and p = C(D + k, k) polynomials: O(N p^2) once, O(N (N + p)) a point.

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

    Examples
    --------
    >>> from quadrat.kernels import Matern
    >>> given = Assumptions(Matern(2.5, 1.0), norm_bound=1.0, noise=0.01)
    >>> x = np.linspace(0.25, 0.49, 30)[:, None]
    >>> line = LocalPolynomial(Cell([0.25], [0.5]), x, 0.2 * x[:, 0], degree=1, assumptions=given, delta=0.01)
    >>> line.estimate([[0.4]]).round(2).tolist(), bool(line.error([[0.4]])[0] < 0.1)
    ([0.08], True)
    """

    def __init__(
        self, cell: Cell, X: ArrayLike, y: ArrayLike, *, degree: int, assumptions: Assumptions, delta: float
    ) -> None:
        self.cell = cell
        self.assumptions = assumptions
        self.delta = as_probability(delta)
        self.basis = LegendreBasis(cell, degree)
        points = as_points(X, dimension=cell.dimension, name="X")
        values = as_vector(y, length=len(points), name="y")
        if len(points) and not cell.contains(points).all():
            raise InvalidInput(f"X: expected points inside the cell {cell}, got some outside")
        # Replicates share their weight, so only their number and mean matter; merged, sums stay short and exact.
        merged = Observations.merge(points, values)
        self.x, self._y, self._count = merged.x, merged.y, merged.count
        self._phi = self.basis(self.x)
        self._V = cho_factor(self._phi.T @ (self._count[:, None] * self._phi) + np.eye(len(self.basis)))
        logdet = 2 * float(np.log(np.diagonal(self._V[0])).sum())
        self._noise = assumptions.noise * float(np.sqrt(2 * np.log(1 / delta) + logdet))

    def weights(self, X: ArrayLike) -> Array:
        """Return what each distinct observed point counts in the estimate at the rows of X, shape (m, N)."""
        solved = np.asarray(cho_solve(self._V, self.basis(X).T))
        return ((self._count[:, None] * self._phi) @ solved).T

    def estimate(self, X: ArrayLike) -> Array:
        """Return the fitted polynomial at the rows of X, shape (m,)."""
        return self.weights(X) @ self._y

    def error(self, X: ArrayLike) -> Array:
        """Return err(x) = bias + noise at the rows of X, shape (m,): |f - estimate| <= err."""
        return self.bias(X) + self.noise_error(X)

    def bias(self, X: ArrayLike) -> Array:
        """Return the largest |f(x) - sum_i w_i f(x_i)| over the ball at the rows of X, shape (m,)."""
        points = as_points(X, dimension=self.cell.dimension, name="X")
        kernel = self.assumptions.kernel
        w = self.weights(points)
        square = np.full(len(points), kernel.variance)
        if len(self.x):
            square += np.einsum("ij,ij->i", w @ kernel(self.x) - 2 * kernel(points, self.x), w)
        # A difference of terms as large as s^2 (1 + ||w||_1)^2: what rounding may have taken away is given back.
        rounding = 8 * np.finfo(np.float64).eps * (8 + len(self.x))
        size = kernel.variance * (1 + np.abs(w).sum(1)) ** 2
        return np.asarray(self.assumptions.norm_bound * np.sqrt(np.maximum(square, 0.0) + rounding * size))

    def noise_error(self, X: ArrayLike) -> Array:
        """Return sigma sqrt(phi^T V^-1 phi) sqrt(2 log(1/delta) + log det V) at the rows of X, shape (m,)."""
        phi = self.basis(X)
        leverage = np.einsum("ip,ip->i", phi, np.asarray(cho_solve(self._V, phi.T)).T)
        return np.asarray(self._noise * np.sqrt(leverage))

    def upper(self, child: Cell) -> float:
        """Bound max f over a `child`, a cell in this one: estimate and err at its centre, plus omega(half diagonal)."""
        at_centre = float((self.estimate(child.centre) + self.error(child.centre))[0])
        return at_centre + self.assumptions.half_variation(child)

    def largest_error(self, corners: int = 64) -> float:
        """Return the largest err over the centre and at most `corners` corners.

        It sets how finely Algorithm 2 refines (r tilde), hence speed; no bound rests on it.
        """
        return float(self.error(np.vstack([self.cell.centre, *self.cell.corners(corners)])).max())
